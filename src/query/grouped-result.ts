import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { columnsPlural } from "../result/column-words.js";
import { isVersionColumn, type DimensionColumn, type TimeColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { buckets, nextBucket, type Bucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type AnswerRow, type CellValue, type PlannedMeasure } from "./plan.js";

/** A grouped question, checked. */
export interface AskedGroups {
  readonly action: string;
  readonly range: TimeRange;
  /** Null where the range is one bucket. */
  readonly every: Bucket | null;
  readonly dimensions: readonly AskedDimension[];
  /** True if groups beyond the top are merged into a row of their own. */
  readonly other: boolean;
  readonly measures: readonly PlannedMeasure[];
  /** Plural name of the source's rows: "measurements". */
  readonly many: string;
}

/** The rows of an answer, and what they mean. */
export interface GroupedRows {
  readonly table: ColumnTable;
  readonly time: TimeColumn | undefined;
  readonly dimensions: readonly DimensionColumn[];
  /** Sentences on groups that were merged or left out. */
  readonly reductions: readonly string[];
  /** Rows that began where no bucket begins. */
  readonly moved: readonly string[];
}

/** More rows than this help nobody and would only fill the notebook's memory. */
const MOST_ROWS = 2_000_000;

/**
 * The rows of a grouped answer (SQL of `questionSql`): columns `t`, the dimensions under their own
 * names, the measures; a row for every bucket and group, with zero where nothing happened and null
 * where nothing is known.
 */
export async function groupedRows(answer: ColumnTable, cells: AskedGroups): Promise<GroupedRows> {
  const aq = await import("arquero");
  const { range, every, dimensions, measures } = cells;
  const rows = answer.objects() as AnswerRow[];
  const groups = readGroups(rows, cells);
  const starts = every === null ? [null] : buckets(range, every).map(({ start }) => start);
  const { found, moved } = cellsByBucket(rows, cells, starts, (row) => groupKey(row, dimensions));
  if (found.size > 0 && starts.length * groups.ordered.length > MOST_ROWS) {
    throw new ProbelabError(
      `Can't ${cells.action} in ${starts.length} buckets for ${groups.ordered.length} groups: take a coarser every, a shorter range or a smaller top.`,
    );
  }
  const columns: Record<string, Value[]> = {};
  if (every !== null) columns["t"] = [];
  for (const { name } of [...dimensions, ...measures]) columns[name] = [];
  for (const start of found.size === 0 ? [] : starts) {
    for (const group of groups.ordered) {
      const values = found.get(cellKey(start, group.key));
      columns["t"]?.push(start);
      dimensions.forEach(({ name }, index) => columns[name]?.push(group.values[index] ?? null));
      measures.forEach(({ name, missing }, index) => {
        columns[name]?.push(values ? (values[index] ?? null) : missing === "zero" ? 0 : null);
      });
    }
  }
  return {
    table: aq.table(columns),
    time: every === null ? undefined : timeColumn("t", every, range),
    dimensions: dimensionColumns(cells, groups),
    reductions: restSentence(cells, groups),
    moved,
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
  /** True for those that hold the rest. */
  readonly rest: boolean;
  readonly place: number;
}

interface Groups {
  /** In the order of a legend. */
  readonly ordered: readonly Group[];
  readonly otherLabel: string;
  /** Number of ranked groups before the rest was merged. */
  readonly total: number;
  /** Number of groups that keep their name. */
  readonly kept: number;
  readonly hasRest: boolean;
  /** Rows of the source in the rest. */
  readonly restRows: number;
}

/** The key of a group in an answer: its place, and the values that are always kept. */
function groupKey(row: AnswerRow, dimensions: readonly AskedDimension[]): string {
  const natural = dimensions.map(({ natural }, index) => (natural ? row[`_d${index}`] : null));
  return `${Number(row["_place"])} ${JSON.stringify(natural)}`;
}

function readGroups(rows: readonly AnswerRow[], { dimensions, other }: AskedGroups): Groups {
  const found = new Map<string, { place: number; raw: (string | null)[] }>();
  let total = 0;
  let restRows = 0;
  for (const row of rows) {
    const place = Number(row["_place"]);
    total = Math.max(total, Number(row["_highest"]));
    if (place === 0) restRows += Number(row[ROWS]);
    const key = groupKey(row, dimensions);
    if (found.has(key)) continue;
    const raw = dimensions.map(
      ({ natural }, index) => (row[`${natural ? "_d" : "_k"}${index}`] as string | null) ?? null,
    );
    found.set(key, { place, raw });
  }
  const label = (raw: string | null, index: number) =>
    raw === null ? null : (dimensions[index]?.label(raw) ?? raw);
  const named = [...found.values()].filter(({ place }) => place > 0);
  const taken = new Set(named.flatMap(({ raw }) => raw.map(label)));
  const otherLabel =
    ["other", "other (rest)"].find((name) => !taken.has(name)) ?? "other (all the rest)";
  const all = [...found].map(([key, { place, raw }]): Group => {
    const rest = place === 0 && dimensions.some(({ natural }) => !natural);
    const values = raw.map((value, index) =>
      rest && dimensions[index]?.natural !== true ? otherLabel : label(value, index),
    );
    return { key, place, raw, rest, values };
  });
  return {
    ordered: all
      .filter(({ rest }) => other || !rest)
      .sort((a, b) => compareGroups(a, b, dimensions)),
    otherLabel,
    total,
    kept: new Set(all.filter(({ rest }) => !rest).map(({ place }) => place)).size,
    hasRest: all.some(({ rest }) => rest),
    restRows,
  };
}

/** Versions by component, hours and bins by number, a single other dimension by size, several by their text; the rest last. */
function compareGroups(a: Group, b: Group, dimensions: readonly AskedDimension[]): number {
  if (a.rest !== b.rest) return Number(a.rest) - Number(b.rest);
  for (const [index, { compare }] of dimensions.entries()) {
    if (dimensions.length === 1 && compare === undefined) continue;
    const order = compareRaw(a.raw[index] ?? null, b.raw[index] ?? null, compare);
    if (order !== 0) return order;
  }
  return a.place - b.place;
}

function compareRaw(
  a: string | null,
  b: string | null,
  compare: AskedDimension["compare"] = (x, y) => (x < y ? -1 : x > y ? 1 : 0),
): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

function dimensionColumns(cells: AskedGroups, groups: Groups): DimensionColumn[] {
  return cells.dimensions.map(({ name, of, natural, compare }, index) => {
    const raw = new Map(
      groups.ordered
        .filter(({ rest }) => !rest || natural)
        .map(({ values, raw }) => [values[index] ?? null, raw[index] ?? null]),
    );
    const order = [...raw.keys()];
    if (compare !== undefined) {
      order.sort((a, b) => compareRaw(raw.get(a) ?? null, raw.get(b) ?? null, compare));
    }
    const other = groups.otherLabel;
    // Versions are known by their column's name.
    const ordered = {
      ...(of !== undefined && { of }),
      ...(compare !== undefined && !isVersionColumn(name) && { ordered: true as const }),
    };
    return groups.hasRest && cells.other && !natural
      ? { name, order: [...order, other], other, ...ordered }
      : { name, order, ...ordered };
  });
}

function restSentence(cells: AskedGroups, groups: Groups): string[] {
  if (!groups.hasRest) return [];
  const { total, kept, otherLabel } = groups;
  const ranked = cells.dimensions.filter(({ natural }) => !natural).map(({ name }) => name);
  const top = `Top ${grouped(kept)} of ${grouped(total)} ${columnsPlural(ranked)} by ${cells.many}`;
  const more = `${grouped(total - kept)} more`;
  return [
    cells.other
      ? `${top}; ${otherLabel}: ${more}.`
      : `${top}; left out: ${more}, with ${grouped(groups.restRows)} ${groups.restRows === 1 ? cells.many.replace(/s$/, "") : cells.many}.`,
  ];
}

/** The key of a bucket, null for the whole range, and a group. */
export function cellKey(start: Date | null, group: number | string): string {
  return `${start === null ? "" : start.getTime()} ${group}`;
}

/**
 * The measures' values by bucket and group, of an answer with a row for each (`_t`).
 *
 * The server cuts time as `bucketSql` says. Should a row begin elsewhere, since the server
 * knows another history of the zone, it belongs to the bucket that holds its beginning, where
 * measures are added up, and a note says so: no row is ever left out.
 *
 * @param starts of all buckets of the range, in order; `[null]` where the range is one.
 * @throws ProbelabError where a row begins elsewhere and a measure can't be added up.
 */
export function cellsByBucket(
  rows: readonly AnswerRow[],
  groups: Pick<AskedGroups, "action" | "every" | "range" | "measures">,
  starts: readonly (Date | null)[],
  groupOf: (row: AnswerRow) => number | string,
): { found: ReadonlyMap<string, readonly CellValue[]>; moved: readonly string[] } {
  const { action, every, range, measures } = groups;
  const shown = (at: number) => formatInstant(new Date(at), range.timeZone);
  const found = new Map<string, CellValue[]>();
  const times = Float64Array.from(starts, Number);
  const elsewhere = new Set<number>();
  for (const row of rows) {
    const at = every === null ? 0 : Number(row["_t"]);
    const index = lastUpTo(times, at);
    if (times[index] !== at) {
      elsewhere.add(at);
      if (!measures.every(({ additive }) => additive)) {
        throw new ProbelabError(
          `Can't ${action} by ${every} in ${range.timeZone}: the database begins a bucket at ${shown(at)}, where none begins, and quantiles or shares can't be added up. Take another every, or timeZone "UTC".`,
        );
      }
    }
    const start = starts[index] ?? null;
    const key = cellKey(start, groupOf(row));
    const minutes = coveredMinutes(start, every, range);
    const before = found.get(key);
    const values = measures.map(({ value }) => value(row, minutes));
    found.set(
      key,
      before ? values.map((value, i) => Number(before[i] ?? 0) + Number(value ?? 0)) : values,
    );
  }
  return { found, moved: movedNote(elsewhere, every, range) };
}

/** Says that the database began buckets where none begins; nothing where it began none so. */
export function movedNote(
  elsewhere: ReadonlySet<number>,
  every: Bucket | null,
  { timeZone }: TimeRange,
): string[] {
  if (elsewhere.size === 0) return [];
  const amount = grouped(elsewhere.size);
  const first = formatInstant(new Date(Math.min(...elsewhere)), timeZone);
  return [
    `The database begins ${amount} of its buckets where none of ${timeZone} by ${every} begins, the first at ${first}: each is counted in the bucket in which it begins; timeZone "UTC" counts exactly.`,
  ];
}

/** The last of ascending numbers that is at most `value`; the first where none is. */
function lastUpTo(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Minutes of a bucket, or of all, that the range covers. */
function coveredMinutes(start: Date | null, every: Bucket | null, range: TimeRange): number {
  if (every === null || start === null) return (+range.end - +range.start) / 60_000;
  const from = Math.max(+start, +range.start);
  const to = Math.min(+nextBucket(start, every, range.timeZone), +range.end);
  return (to - from) / 60_000;
}
