import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { columnsPlural } from "../result/column-words.js";
import { isVersionColumn, type DimensionColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import type { AskedBuckets } from "./asked-buckets.js";
import type { AskedDimension } from "./dimension.js";
import type { Fit } from "./merge-rows.js";
import { ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";

/** A grouped question, checked. */
interface AskedGroups {
  readonly action: string;
  readonly buckets: AskedBuckets;
  readonly dimensions: readonly AskedDimension[];
  /** How many values of each dimension were to keep their name, and how many can. */
  readonly top: number;
  readonly fit: Fit;
  /** True if values beyond the top are merged; false leaves them out. */
  readonly other: boolean;
  readonly measures: readonly PlannedMeasure[];
  /** Plural name of the source's rows: "measurements". */
  readonly rowNoun: string;
}

/** The rows of an answer, and what they mean. */
interface GroupedRows {
  readonly table: ColumnTable;
  readonly dimensions: readonly DimensionColumn[];
  /** Sentences on groups that were merged or left out. */
  readonly reductions: readonly string[];
}

/** More rows than this help nobody and would only fill the notebook's memory. */
export const MOST_GROUPED_ROWS = 2_000_000;

/**
 * The rows of a grouped answer (SQL of `questionSql`): columns `t`, the dimensions under their own
 * names, the measures; a row for every bucket and group, with zero where nothing happened and null
 * where nothing is known.
 */
export async function groupedRows(
  rows: readonly AnswerRow[],
  question: AskedGroups,
): Promise<GroupedRows> {
  const aq = await import("arquero");
  const { action, buckets, dimensions, measures } = question;
  const { every, range, spans } = buckets;
  const groups = groupsOf(rows, dimensions);
  const shown = [...groups.values()].filter(({ places }) => question.other || !places.includes(0));
  const named = dimensions.map((dimension, at) => nameValues(dimension, at, shown));
  const ordered = shown
    .sort((a, b) => compareGroups(a, b, dimensions))
    .map(({ key, texts, places }) => ({
      key,
      values: named.map(({ other }, at) =>
        places[at] === 0 ? other : labelOf(dimensions[at]!, texts[at]!),
      ),
    }));
  const found = new Map(spans.map(({ start }) => [+start, new Map<string, AnswerRow>()]));
  for (const row of rows) {
    const start = every === null ? +range.start : Number(row["_t"]);
    found.get(start)!.set(groupKey(row, dimensions), row);
  }
  if (spans.length * ordered.length > MOST_GROUPED_ROWS) {
    throw new ProbelabError(
      `Can't ${action} in ${spans.length} buckets for ${ordered.length} groups: take a coarser every, a shorter range or a smaller top.`,
    );
  }
  const columns: Record<string, Value[]> = every === null ? {} : { t: [] };
  for (const { name } of [...dimensions, ...measures]) columns[name] = [];
  for (const { start, end } of rows.length === 0 ? [] : spans) {
    const covered = Math.min(+end, +range.end) - Math.max(+start, +range.start);
    for (const { key, values } of ordered) {
      const row = found.get(+start)!.get(key);
      if (every !== null) columns["t"]!.push(start);
      dimensions.forEach(({ name }, at) => columns[name]!.push(values[at]));
      for (const { name, missing, value } of measures) {
        columns[name]!.push(row ? value(row, covered / 60_000) : missing === "zero" ? 0 : null);
      }
    }
  }
  return {
    table: aq.table(columns),
    dimensions: named.map(({ column }) => column),
    reductions: restSentences(rows, question, groups, named),
  };
}

/** One group of a question: a value per dimension. */
interface Group {
  readonly key: string;
  /** The values as the answer has them. */
  readonly texts: readonly (string | null)[];
  /** The place of each value: 1 is the largest of its dimension, 0 holds its merged values. */
  readonly places: readonly number[];
}

/** The key of a group in an answer: the place of each value, or the value where all are kept. */
function groupKey(row: AnswerRow, dimensions: readonly AskedDimension[]): string {
  return dimensions
    .map(({ natural }, at) => String(row[`${natural ? "_d" : "_p"}${at}`] as string))
    .join(" ");
}

function groupsOf(rows: readonly AnswerRow[], dimensions: readonly AskedDimension[]) {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const key = groupKey(row, dimensions);
    if (groups.has(key)) continue;
    const places = dimensions.map(({ natural }, at) => (natural ? 1 : Number(row[`_p${at}`])));
    const texts = dimensions.map(
      ({ natural }, at) => (row[`${natural ? "_d" : "_k"}${at}`] as string | null) ?? null,
    );
    groups.set(key, { key, places, texts });
  }
  return groups;
}

/** A dimension's values in the order of a legend, and the name of what is merged. */
function nameValues(dimension: AskedDimension, at: number, groups: readonly Group[]) {
  const { name, of, compare } = dimension;
  const kept = groups.filter(({ places }) => places[at] !== 0);
  const rest = kept.length < groups.length;
  const names = [...new Map(kept.map((group) => [group.texts[at]!, group])).values()]
    .sort((a, b) => compareAt(a, b, at, dimension))
    .map(({ texts }) => labelOf(dimension, texts[at]!));
  const other =
    ["other", "other (rest)"].find((text) => !names.includes(text)) ?? "other (all the rest)";
  const column: DimensionColumn = {
    name,
    order: rest ? [...names, other] : names,
    ...(rest && { other }),
    ...(of !== undefined && { of }),
    // Versions are known by their column's name.
    ...(compare !== undefined && !isVersionColumn(name) && { ordered: true as const }),
  };
  return { column, other };
}

function labelOf({ label }: AskedDimension, text: string | null): string | null {
  return text === null ? null : label(text);
}

function compareGroups(a: Group, b: Group, dimensions: readonly AskedDimension[]): number {
  for (const [at, dimension] of dimensions.entries()) {
    const order = compareAt(a, b, at, dimension);
    if (order !== 0) return order;
  }
  return 0;
}

/** Versions by component, hours and bins by number, others by size; what is merged last. */
function compareAt(a: Group, b: Group, at: number, { compare }: AskedDimension): number {
  const [x, y] = [a.places[at]!, b.places[at]!];
  if (x === 0 || y === 0) return Number(x === 0) - Number(y === 0);
  const [one, two] = [a.texts[at]!, b.texts[at]!];
  const none = Number(one === null) - Number(two === null);
  const order = compare === undefined ? 0 : none || compare(one ?? "", two ?? "");
  return order || x - y;
}

/** A sentence on the merged values of each dimension; before them, where fewer are kept than were asked for, why. */
function restSentences(
  rows: readonly AnswerRow[],
  { dimensions, rowNoun, other, top, fit }: AskedGroups,
  groups: ReadonlyMap<string, Group>,
  named: readonly { readonly other: string }[],
): string[] {
  const sentences = dimensions.flatMap(({ name, natural }, at) => {
    const places = new Set([...groups.values()].map(({ places }) => places[at]));
    const kept = places.size - Number(places.has(0));
    const total = rows.reduce((most, row) => Math.max(most, Number(row[`_h${at}`] ?? 0)), 0);
    if (natural || total <= kept) return [];
    const top = `Top ${grouped(kept)} of ${grouped(total)} ${columnsPlural([name])} by ${rowNoun}`;
    const more = `${grouped(total - kept)} more`;
    if (other) return [`${top}; ${named[at]!.other}: ${more}.`];
    const left = rows.filter((row) => Number(row[`_p${at}`]) === 0);
    const n = left.reduce((sum, row) => sum + Number(row[ROWS]), 0);
    return [
      `${top}; left out: ${more}, with ${grouped(n)} ${n === 1 ? rowNoun.replace(/s$/, "") : rowNoun}.`,
    ];
  });
  if (fit.top === top || sentences.length === 0) return sentences;
  return [
    `The top ${grouped(fit.top)} of each dimension instead of ${grouped(top)}, for at most ${grouped(fit.most)} rows: a coarser every, a shorter range or fewer dimensions keep more.`,
    ...sentences,
  ];
}
