import type { ColumnTable } from "arquero";
import { nextBucket } from "../time/bucket.js";
import { formatInstant } from "../time/time-zone.js";
import type { TimeRange } from "../time/time-range.js";
import { zoneOf, type Origin } from "./origin.js";
import type { Value } from "./result.js";
import { valueKey } from "./value-key.js";

/** Rows, and where they come from. */
interface Rows {
  readonly table: ColumnTable;
  readonly origin: Origin;
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
  const isLeft = (name: string): boolean =>
    names.includes(name) && (rows ? isKept(name, rows) : isSubset(table, before, name));
  const keys = meant.filter(isLeft);
  const whole = keys.length === meant.length;
  const from = rows ?? (whole ? matchRows(before, table, keys) : undefined);
  const left = time && keys.includes(time.name) ? time : undefined;
  const series = dimensions.map(({ name }) => name);
  const covered = from && time ? coverage(before, from, time.name, series) : undefined;
  const edges = covered ?? (left && edgesOf(before, table, left.name));
  const all = from !== undefined && new Set(from).size === before.numRows();
  const span = all ? range : range && coveredRange(range, origin, before, table, edges);
  const incomplete = left?.incomplete.filter(
    (start) => !edges || (+start >= edges.first && +start <= edges.last),
  );
  const gone = (time?.incomplete ?? []).filter((start) => incomplete?.includes(start) !== true);
  const repeated = from !== undefined && new Set(from).size < from.length;
  return {
    ...rest,
    ...(span && { range: span }),
    columns: {
      ...(left && incomplete && { time: { ...left, incomplete } }),
      dimensions: dimensions
        .filter(({ name }) => keys.includes(name))
        .map(({ other, ...dimension }) => {
          const values = new Set(columnValues(table, dimension.name).map((value) => value ?? null));
          return {
            ...dimension,
            order: dimension.order.filter((value) => values.has(value)),
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

/** The origin of rows that the question doesn't give. */
export function withoutQuestion(origin: Origin): Origin {
  const copy: { -readonly [Name in keyof Origin]: Origin[Name] } = { ...origin };
  delete copy.question;
  return copy;
}

/** A column's values in row order. */
export function columnValues(table: ColumnTable, name: string): Value[] {
  const get = table.getter(name);
  return Array.from({ length: table.numRows() }, (_, row) => get(row) as Value);
}

/** One text per row, equal where the rows' values in these columns are. */
export function rowKeys(table: ColumnTable, names: readonly string[]): string[] {
  const columns = names.map((name) => columnValues(table, name));
  return Array.from({ length: table.numRows() }, (_, row) =>
    JSON.stringify(
      columns.map((column) => {
        const key = valueKey(column[row]);
        return typeof key === "bigint" ? [`${key}`] : key;
      }),
    ),
  );
}

function isSubset(table: ColumnTable, of: ColumnTable, name: string): boolean {
  const known = new Set(columnValues(of, name).map(valueKey));
  return columnValues(table, name).every((value) => known.has(valueKey(value)));
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
  const places = new Map<string, number[]>();
  rowKeys(before, by).forEach((key, row) => {
    const same = places.get(key);
    if (same) same.push(row);
    else places.set(key, [row]);
  });
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
}

interface Coverage extends Edges {
  /** Whether a series that is left lost rows between them. */
  readonly holes: boolean;
}

/** Undefined where no row is left. */
function edgesOf(before: ColumnTable, table: ColumnTable, name: string): Edges | undefined {
  const then = extent(columnValues(before, name));
  const now = extent(columnValues(table, name));
  if (!then || !now) return undefined;
  const [first, last] = now;
  return { first, last, cutBefore: first > then[0], cutAfter: last < then[1] };
}

/** Undefined where no row is left, which leaves nothing to say of time. */
function coverage(
  before: ColumnTable,
  from: readonly number[],
  time: string,
  dimensions: readonly string[],
): Coverage | undefined {
  const times = columnValues(before, time).map(Number);
  const series = rowKeys(before, dimensions);
  const left = new Set(from);
  const kept = new Set(from.map((row) => series[row]));
  if (left.size === 0) return undefined;
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
  { columns: { time } }: Origin,
  before: ColumnTable,
  table: ColumnTable,
  edges: Edges | undefined,
): TimeRange | undefined {
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
