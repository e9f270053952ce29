import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import type { Value } from "../result/result.js";
import { valueKey } from "../result/json.js";

/** The rows of one series, by x. */
export interface SeriesRows {
  /** The value of the series column; undefined where the table has one series only. */
  readonly key: unknown;
  /** Row numbers of the table. Rows of equal x stand in the table's order. */
  readonly rows: Int32Array;
  /** x of these rows, ascending and finite. */
  readonly x: Float64Array;
  /** y of these rows; NaN or infinite where the line has a gap. */
  readonly y: Float64Array;
}

/** Rows by series in the order of their first row, sorted by x; those without a finite x left out. */
export function splitSeries(
  table: ColumnTable,
  series: string | undefined,
  x: Float64Array,
  y: Float64Array,
): SeriesRows[] {
  if (series !== undefined && table.column(series) === undefined) {
    throw new ProbelabError(
      `Can't find the series column ${JSON.stringify(series)}: the table has ${table.columnNames().join(", ")}.`,
    );
  }
  const read = series === undefined ? () => undefined : table.getter(series);
  const found = new Map<unknown, { key: unknown; rows: number[] }>();
  for (let row = 0; row < x.length; row++) {
    if (!isFinite(x[row]!)) continue;
    const key = read(row) as Value;
    const same = valueKey(key);
    const known = found.get(same);
    if (known) known.rows.push(row);
    else found.set(same, { key, rows: [row] });
  }
  return [...found.values()].map(({ key, rows }) => sorted(key, Int32Array.from(rows), x, y));
}

function sorted(key: unknown, rows: Int32Array, x: Float64Array, y: Float64Array): SeriesRows {
  const found = take(x, rows);
  if (isAscending(found)) return { key, rows, x: found, y: take(y, rows) };
  const ordered = rows.slice().sort((a, b) => x[a]! - x[b]! || a - b);
  return { key, rows: ordered, x: take(x, ordered), y: take(y, ordered) };
}

function take(values: Float64Array, rows: Int32Array): Float64Array {
  const some = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) some[i] = values[rows[i]!]!;
  return some;
}

function isAscending(x: Float64Array): boolean {
  for (let i = 1; i < x.length; i++) if (!(x[i]! >= x[i - 1]!)) return false;
  return true;
}

/**
 * A column as numbers, in the order of the table's rows: Dates as milliseconds since 1970 (`dates`
 * says so), what is missing as NaN.
 *
 * @throws ProbelabError when the table has no such column or it holds text.
 */
export function numericColumn(
  table: ColumnTable,
  name: string,
): {
  readonly values: Float64Array;
  readonly dates: boolean;
} {
  if (table.column(name) === undefined) {
    throw new ProbelabError(
      `Can't find the column ${JSON.stringify(name)}: the table has ${table.columnNames().join(", ") || "no columns"}.`,
    );
  }
  const values = new Float64Array(table.numRows());
  const read = table.getter(name);
  let dates = false;
  for (let row = 0; row < values.length; row++) {
    const value = read(row) as Value;
    if (typeof value === "number") values[row] = value;
    else if (value instanceof Date) {
      values[row] = value.getTime();
      dates = true;
    } else if (typeof value === "bigint" || typeof value === "boolean") values[row] = Number(value);
    else if (value === null || value === undefined) values[row] = NaN;
    else {
      throw new ProbelabError(
        `Can't read ${JSON.stringify(value)} in the column ${JSON.stringify(name)} as a number or a time: take a column of numbers or Dates.`,
      );
    }
  }
  return { values, dates };
}

/** The column of heights: on a log scale what is zero or below is NaN, in a copy. */
export function heightColumn(
  table: ColumnTable,
  name: string,
  yType: "linear" | "log" = "linear",
): Float64Array {
  const { values } = numericColumn(table, name);
  return yType === "linear" ? values : values.map((value) => (value > 0 ? value : NaN));
}

/** Lowest and highest x of all series; 0 and 0 where there are none. */
export function extent(series: readonly SeriesRows[]): [number, number] {
  if (series.length === 0) return [0, 0];
  let [start, end] = [Infinity, -Infinity];
  for (const { x } of series) {
    start = Math.min(start, x[0]!);
    end = Math.max(end, x.at(-1)!);
  }
  return [start, end];
}

/** A whole number from 1 to `most`. @throws ProbelabError for anything else. */
export function checkCount(value: unknown, name: string, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) {
    return value;
  }
  throw new ProbelabError(
    `Can't downsample with ${name}: ${String(value)}; pass a whole number from 1 to ${grouped(most)}.`,
  );
}
