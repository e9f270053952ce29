import type { ColumnTable } from "arquero";
import { nextBucket } from "../time/bucket.js";
import { formatRange, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { columnValues, rowKeys, rowsByKey } from "./arquero-table.js";
import { valueKey, type Value } from "./json.js";
import { zoneOf, type Origin } from "./origin.js";

/** How the note on rows that were changed begins. */
export const CHANGED = "The rows were changed after the answer";

/** Rows, and where they come from. */
export interface Rows {
  readonly table: ColumnTable;
  readonly origin: Origin;
}

/** What a verb did: which row before each row is, and the words for it. */
export interface Step {
  readonly rows: readonly number[];
  /** `kept 12 of 40 rows (filter)`; missing where nothing was left out or made. */
  readonly done?: string;
}

/**
 * The origin of rows that were changed: what is still true of it, and a note on what was done, one
 * for all steps: `The rows were changed after the answer: kept 12 of 40 rows (filter); computed
 * column share (derive).`
 */
export function changedOrigin(before: Rows, table: ColumnTable, step?: Step): Origin {
  const origin = stillTrue(before, table, step?.rows);
  const count = before.table.numRows();
  const left = table.numRows();
  const counted = left === count ? [] : [`${left.toLocaleString("en-US")} of ${rowsText(count)}`];
  const parts = step ? (step.done === undefined ? [] : [step.done]) : counted;
  const lost = before.origin.range && origin.range === undefined ? before.origin.range : undefined;
  return withStep(origin, [...parts, ...(lost ? [`asked of ${formatRange(lost)}`] : [])], left);
}

/** The origin with what was done in its note on changed rows; first of the notes where no row is left. */
export function withStep(origin: Origin, done: readonly string[], left: number): Origin {
  const before = origin.notes.find((note) => note.startsWith(CHANGED));
  const others = origin.notes.filter((note) => note !== before);
  const parts = (before?.slice(CHANGED.length).replace(/^: |\.$/g, "") ?? "").split("; ");
  // Of counts that nobody explains only the last tells something.
  const told = parts.filter((part) => part !== "" && !/^[\d,]+ of [\d,]+ rows?$/.test(part));
  const all = [...told, ...done].join("; ");
  const note = `${CHANGED}${all === "" ? "" : `: ${all}`}.`;
  return { ...origin, notes: left === 0 ? [note, ...others] : [...others, note] };
}

/** `40 rows`, `1 row`. */
export function rowsText(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}`;
}

/** The origin of rows that the question doesn't give. */
export function withoutQuestion(origin: Origin): Origin {
  const copy: { -readonly [Name in keyof Origin]: Origin[Name] } = { ...origin };
  delete copy.question;
  return copy;
}

/**
 * What an origin still says truly once its rows became those of `table`: a column keeps its meaning
 * where its values are those of the rows before, the range ends where the rows do, and "a missing
 * row means zero" stays where none was taken out of the middle of a series. The question goes: it
 * gives other rows.
 *
 * @param rows which row before each row of `table` is; without it they are found by what they are
 *   grouped by.
 */
export function stillTrue(
  { table: before, origin }: Rows,
  table: ColumnTable,
  rows?: readonly number[],
): Origin {
  const { range, ...rest } = withoutQuestion(origin);
  const { time, dimensions, measures, kinds } = origin.columns;
  const names = table.columnNames();
  const meant = [...(time ? [time.name] : []), ...dimensions.map(({ name }) => name)];
  const isKept = (name: string, from: readonly number[]): boolean => {
    const [now, then] = [columnValues(table, name), columnValues(before, name)];
    return from.every((row, at) => valueKey(now[at]) === valueKey(then[row]));
  };
  const isSubset = (name: string): boolean => {
    const known = new Set(columnValues(before, name).map(valueKey));
    return columnValues(table, name).every((value) => known.has(valueKey(value)));
  };
  const keys = meant.filter(
    (name) => names.includes(name) && (rows ? isKept(name, rows) : isSubset(name)),
  );
  const whole = keys.length === meant.length;
  const from = rows ?? (whole ? matchRows(before, table, keys) : undefined);
  const repeated = from !== undefined && new Set(from).size < from.length;
  const all = from !== undefined && new Set(from).size === before.numRows();
  const left = time && keys.includes(time.name) ? time : undefined;
  const series = dimensions.map(({ name }) => name);
  const covered = time && from ? coverage(before, from, time.name, series) : undefined;
  const edges = covered ?? (left && edgesOf(before, table, left.name));
  const span = all ? range : range && coveredRange(range, { table: before, origin }, table, edges);
  const incomplete = left?.incomplete.filter(
    (start) => !edges || (+start >= edges.first && +start <= edges.last),
  );
  const gone = (time?.incomplete ?? []).filter((start) => incomplete?.includes(start) !== true);
  return {
    ...rest,
    ...(span && { range: span }),
    columns: {
      ...(left && incomplete && { time: { ...left, incomplete } }),
      dimensions: dimensions
        .filter(({ name }) => keys.includes(name))
        .map(({ other, ...dimension }) => {
          const values = new Set(columnValues(table, dimension.name).map((value) => value ?? null));
          const order = dimension.order.filter((value) => values.has(value));
          return {
            ...dimension,
            order,
            ...(other !== undefined && values.has(other) && { other }),
          };
        }),
      measures: measures
        .filter(({ name }) => whole && from && names.includes(name) && isKept(name, from))
        .map((measure) => ({
          ...measure,
          additive: measure.additive && !repeated,
          missing: covered?.holes === true ? "gap" : measure.missing,
        })),
      ...(kinds && {
        kinds: Object.fromEntries(Object.entries(kinds).filter(([name]) => names.includes(name))),
      }),
    },
    // A chart marks those that are left by itself.
    notes: origin.notes.filter(
      (note) =>
        !note.includes("covered only in part") ||
        !gone.some((start) => note.includes(formatInstant(start, zoneOf(origin)))),
    ),
  };
}

/**
 * Which row before each row is, by what they are grouped by, or, where that doesn't tell rows apart,
 * by all that they hold; undefined where a row is none of them.
 */
function matchRows(
  before: ColumnTable,
  table: ColumnTable,
  keys: readonly string[],
): number[] | undefined {
  const unique = new Set(rowKeys(before, keys)).size === before.numRows();
  const by = unique ? keys : before.columnNames();
  if (!by.every((name) => table.columnNames().includes(name))) return undefined;
  const places = rowsByKey(rowKeys(before, by));
  const rows = rowKeys(table, by).map((key) => {
    const same = places.get(key);
    // Equal rows are taken one after another, the last of them again.
    return (same && same.length > 1 ? same.shift() : same?.[0]) ?? -1;
  });
  return rows.includes(-1) ? undefined : rows;
}

/** Between which times the rows lie that are left, in milliseconds. */
interface Edges {
  readonly first: number;
  readonly last: number;
  /** Whether rows before or after these were left out: of a series that is left, where that is known. */
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
  /** Whether a series that is left lost rows between them, where that is known. */
  readonly holes?: boolean;
}

/** Of rows that nothing matches; undefined where none is left. */
function edgesOf(before: ColumnTable, table: ColumnTable, name: string): Edges | undefined {
  const then = extent(columnValues(before, name));
  const now = extent(columnValues(table, name));
  if (!then || !now) return undefined;
  const [first, last] = now;
  return { first, last, cutBefore: first > then[0], cutAfter: last < then[1] };
}

/** Of rows known by their numbers before; undefined where none is left, which leaves nothing to say of time. */
function coverage(
  before: ColumnTable,
  from: readonly number[],
  time: string,
  dimensions: readonly string[],
): Edges | undefined {
  if (from.length === 0) return undefined;
  const times = columnValues(before, time).map(Number);
  const series = rowKeys(before, dimensions);
  const left = new Set(from);
  const kept = new Set(from.map((row) => series[row]));
  const first = from.reduce((low, row) => Math.min(low, times[row] ?? low), Infinity);
  const last = from.reduce((high, row) => Math.max(high, times[row] ?? high), -Infinity);
  const lost = times.filter((_, row) => !left.has(row) && kept.has(series[row]));
  return {
    first,
    last,
    cutBefore: lost.some((at) => at < first),
    cutAfter: lost.some((at) => at > last),
    holes: lost.some((at) => at >= first && at <= last),
  };
}

function coveredRange(
  range: TimeRange,
  { table: before, origin }: Rows,
  table: ColumnTable,
  edges: Edges | undefined,
): TimeRange | undefined {
  const { time } = origin.columns;
  if (table.numRows() === 0) return range;
  if (time === undefined) return datesLost(before, table) ? undefined : range;
  if (!edges) return undefined;
  const { first, last, cutBefore, cutAfter } = edges;
  const end = nextBucket(new Date(last), time.every, range.timeZone);
  return {
    start: cutBefore && first > +range.start ? new Date(first) : range.start,
    end: cutAfter && end < range.end ? end : range.end,
    timeZone: range.timeZone,
  };
}

/** Whether a column of times that nothing is known of begins later or ends earlier, or has gone. */
function datesLost(before: ColumnTable, table: ColumnTable): boolean {
  const names = table.columnNames();
  return before.columnNames().some((name) => {
    const then = extent(columnValues(before, name));
    if (then === undefined) return false;
    const now = names.includes(name) ? extent(columnValues(table, name)) : undefined;
    return now === undefined || now[0] > then[0] || now[1] < then[1];
  });
}

function extent(values: readonly Value[]): [number, number] | undefined {
  const times = values.flatMap((value) => (value instanceof Date ? [value.getTime()] : []));
  if (times.length === 0) return undefined;
  return times.reduce<[number, number]>(
    ([low, high], at) => [Math.min(low, at), Math.max(high, at)],
    [Infinity, -Infinity],
  );
}
