import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { columnsPlural } from "../result/column-words.js";
import { isVersionColumn, type DimensionColumn, type TimeColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { buckets, type Bucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import type { AskedDimension } from "./dimension.js";
import type { Fit } from "./merge-rows.js";
import { ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";

/** A grouped question, checked. */
interface AskedGroups {
  readonly action: string;
  readonly range: TimeRange;
  /** Null where the range is one bucket. */
  readonly every: Bucket | null;
  readonly dimensions: readonly AskedDimension[];
  /** How many values of each dimension were to keep their name, and how many can. */
  readonly top: number;
  readonly fit: Fit;
  /** True if values beyond the top are merged; false leaves them out. */
  readonly other: boolean;
  readonly measures: readonly PlannedMeasure[];
  /** Plural name of the source's rows: "measurements". */
  readonly many: string;
}

/** The rows of an answer, and what they mean. */
interface GroupedRows {
  readonly table: ColumnTable;
  readonly time: TimeColumn | undefined;
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
 *
 * @throws ProbelabError where the server began a bucket elsewhere (`bucketSql` says where they
 *   begin): no row is ever left out, or counted in another bucket, without a word.
 */
export async function groupedRows(
  rows: readonly AnswerRow[],
  question: AskedGroups,
): Promise<GroupedRows> {
  const aq = await import("arquero");
  const { action, range, every, dimensions, measures } = question;
  const { groups, values } = readGroups(rows, question);
  const spans = every === null ? [{ ...range }] : buckets(range, every);
  const cellOf = (start: Date, group: string) => `${every === null ? "" : +start} ${group}`;
  const found = new Map<string, AnswerRow>();
  const starts = new Set(spans.map(({ start }) => +start));
  for (const row of rows) {
    const start = every === null ? range.start : new Date(Number(row["_t"]));
    if (!starts.has(+start)) {
      throw new ProbelabError(
        `Can't ${action} by ${every} in ${range.timeZone}: the database begins a bucket at ${formatInstant(start, range.timeZone)}, where none begins. Take another every, or timeZone "UTC".`,
      );
    }
    found.set(cellOf(start, groupKey(row, dimensions)), row);
  }
  if (found.size > 0 && spans.length * groups.length > MOST_GROUPED_ROWS) {
    throw new ProbelabError(
      `Can't ${action} in ${spans.length} buckets for ${groups.length} groups: take a coarser every, a shorter range or a smaller top.`,
    );
  }
  const columns: Record<string, Value[]> = {};
  if (every !== null) columns["t"] = [];
  for (const { name } of [...dimensions, ...measures]) columns[name] = [];
  for (const { start, end } of found.size === 0 ? [] : spans) {
    const covered = Math.min(+end, +range.end) - Math.max(+start, +range.start);
    for (const group of groups) {
      const row = found.get(cellOf(start, group.key));
      columns["t"]?.push(start);
      dimensions.forEach(({ name }, index) => columns[name]?.push(group.values[index] ?? null));
      measures.forEach(({ name, missing, value }) => {
        columns[name]?.push(row ? value(row, covered / 60_000) : missing === "zero" ? 0 : null);
      });
    }
  }
  return {
    table: aq.table(columns),
    time: every === null ? undefined : timeColumn("t", every, range),
    dimensions: values.map(({ column }) => column),
    reductions: restSentences(question, values),
  };
}

/** A column of bucket starts, and which of them the range covers only in part. */
export function timeColumn(name: string, every: Bucket, range: TimeRange): TimeColumn {
  const incomplete = buckets(range, every).filter(({ complete }) => !complete);
  return { name, every, incomplete: incomplete.map(({ start }) => start) };
}

/** Names the buckets that the range covers only in part. */
export function incompleteNotes(time: TimeColumn | undefined, { timeZone }: TimeRange): string[] {
  if (time === undefined || time.incomplete.length === 0) return [];
  const starts = time.incomplete.map((start) => formatInstant(start, timeZone)).join(" and ");
  const single = time.incomplete.length === 1;
  return [
    `The ${bucketNoun(time.every, !single)} of ${starts} ${single ? "is" : "are"} covered only in part by the range.`,
  ];
}

/** One group of a question: a value per dimension. */
interface Group {
  readonly key: string;
  /** As the answer has them, for their order. */
  readonly raw: readonly (string | null)[];
  readonly values: readonly (string | null)[];
  /** The place of each value: 1 is the largest of its dimension, 0 holds its merged values. */
  readonly places: readonly number[];
}

/** What is known of the values of a dimension. */
interface Values {
  readonly column: DimensionColumn;
  readonly other: string;
  /** Numbers of values before any were merged, and of those that keep their name. */
  readonly total: number;
  readonly kept: number;
  /** Rows of the source that have a merged value. */
  readonly restRows: number;
}

/** The key of a group in an answer: the place of each value, or the value where all are kept. */
function groupKey(row: AnswerRow, dimensions: readonly AskedDimension[]): string {
  return dimensions
    .map(({ natural }, at) => String(row[`${natural ? "_d" : "_p"}${at}`] as string))
    .join(" ");
}

function readGroups(rows: readonly AnswerRow[], { dimensions, other }: AskedGroups) {
  const found = new Map<string, Omit<Group, "values">>();
  const totals = dimensions.map(() => 0);
  const restRows = dimensions.map(() => 0);
  for (const row of rows) {
    const key = groupKey(row, dimensions);
    const places = dimensions.map(({ natural }, at) => (natural ? 1 : Number(row[`_p${at}`])));
    places.forEach((place, at) => {
      totals[at] = Math.max(totals[at]!, Number(row[`_h${at}`] ?? 0));
      if (place === 0) restRows[at]! += Number(row[ROWS]);
    });
    if (found.has(key)) continue;
    const raw = dimensions.map(
      ({ natural }, at) => (row[`${natural ? "_d" : "_k"}${at}`] as string | null) ?? null,
    );
    found.set(key, { key, places, raw });
  }
  const all = [...found.values()];
  const shown = all.filter(({ places }) => other || !places.includes(0));
  const values = dimensions.map((dimension, at): Values => {
    const { name, of, natural, compare } = dimension;
    const rest = shown.some(({ places }) => places[at] === 0);
    const named = new Map(
      shown.flatMap(({ raw, places }) => (places[at] === 0 ? [] : [[raw[at]!, places[at]!]])),
    );
    const ordered = [...named].sort(
      ([a, x], [b, y]) => (compare === undefined ? 0 : compareRaw(a, b, compare)) || x - y,
    );
    const order = ordered.map(([raw]) => labelOf(dimension, raw));
    const label =
      ["other", "other (rest)"].find((text) => !order.includes(text)) ?? "other (all the rest)";
    return {
      column: {
        name,
        order: rest ? [...order, label] : order,
        ...(rest && { other: label }),
        ...(of !== undefined && { of }),
        // Versions are known by their column's name.
        ...(compare !== undefined && !isVersionColumn(name) && { ordered: true as const }),
      },
      other: label,
      total: natural ? 0 : totals[at]!,
      kept: natural ? 0 : new Set(all.map(({ places }) => places[at]!).filter(Boolean)).size,
      restRows: restRows[at]!,
    };
  });
  const groups = shown
    .map((group): Group => ({
      ...group,
      values: group.raw.map((value, at) =>
        group.places[at] === 0 ? values[at]!.other : labelOf(dimensions[at]!, value),
      ),
    }))
    .sort((a, b) => compareGroups(a, b, dimensions));
  return { groups, values };
}

function labelOf({ label }: AskedDimension, raw: string | null): string | null {
  return raw === null ? null : label(raw);
}

/** Versions by component, hours and bins by number, others by size; what is merged last. */
function compareGroups(a: Group, b: Group, dimensions: readonly AskedDimension[]): number {
  for (const [at, { compare }] of dimensions.entries()) {
    const [x, y] = [a.places[at]!, b.places[at]!];
    const rest = Number(x === 0) - Number(y === 0);
    const order = rest || (compare === undefined ? 0 : compareRaw(a.raw[at]!, b.raw[at]!, compare));
    if (order !== 0 || x !== y) return order || x - y;
  }
  return 0;
}

function compareRaw(
  a: string | null,
  b: string | null,
  compare: (x: string, y: string) => number,
): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

/** A sentence on the merged values of each dimension; before them, where fewer are kept than were asked for, why. */
function restSentences({ many, other, top, fit }: AskedGroups, values: readonly Values[]) {
  const cut = values.filter(({ total, kept }) => total > kept);
  const sentences = cut.map(({ column: { name }, other: label, total, kept, restRows }) => {
    const top = `Top ${grouped(kept)} of ${grouped(total)} ${columnsPlural([name])} by ${many}`;
    const more = `${grouped(total - kept)} more`;
    const rows = `${grouped(restRows)} ${restRows === 1 ? many.replace(/s$/, "") : many}`;
    return other ? `${top}; ${label}: ${more}.` : `${top}; left out: ${more}, with ${rows}.`;
  });
  if (fit.top === top || cut.length === 0) return sentences;
  return [
    `The top ${grouped(fit.top)} of each dimension instead of ${grouped(top)}, for at most ${grouped(fit.most)} rows: a coarser every, a shorter range or fewer dimensions keep more.`,
    ...sentences,
  ];
}
