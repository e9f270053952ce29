import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import type { Value } from "../result/result.js";
import { valueKey } from "../result/value-key.js";

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

/**
 * Splits rows by series and sorts each by x; rows whose x is not finite are left out. Series come
 * in the order of their first row.
 */
export function splitSeries(
  table: ColumnTable,
  series: string | undefined,
  x: Float64Array,
  y: Float64Array,
): SeriesRows[] {
  if (series === undefined) {
    const whole = wholeTable(x, y);
    return whole.rows.length > 0 ? [whole] : [];
  }
  const { codes, keys } = seriesCodes(table, series);
  const starts = new Int32Array(keys.length + 1);
  for (let row = 0; row < codes.length; row++) {
    if (isFiniteNumber(x[row]!)) starts[codes[row]! + 1]!++;
  }
  for (let code = 0; code < keys.length; code++) starts[code + 1]! += starts[code]!;
  const next = starts.slice();
  const order = new Int32Array(starts[keys.length]!);
  for (let row = 0; row < codes.length; row++) {
    if (isFiniteNumber(x[row]!)) order[next[codes[row]!]!++] = row;
  }
  return keys
    .map((key, code) => gather(key, order.subarray(starts[code], starts[code + 1]), x, y))
    .filter((part) => part.rows.length > 0);
}

/** A number for each value of a column, per row, and the values in the order of their first row. */
export function seriesCodes(
  table: ColumnTable,
  name: string,
): { codes: Int32Array; keys: unknown[] } {
  if (table.column(name) === undefined) {
    throw new ProbelabError(
      `Can't find the series column ${JSON.stringify(name)}: the table has ${table.columnNames().join(", ")}.`,
    );
  }
  const value = table.getter(name);
  const codes = new Int32Array(table.numRows());
  const seen = new Map<unknown, number>();
  const keys: unknown[] = [];
  for (let row = 0; row < codes.length; row++) {
    const key = value(row) as Value;
    const same = valueKey(key);
    let code = seen.get(same);
    if (code === undefined) {
      code = keys.length;
      seen.set(same, code);
      keys.push(key);
    }
    codes[row] = code;
  }
  return { codes, keys };
}

function wholeTable(x: Float64Array, y: Float64Array): SeriesRows {
  const all = new Int32Array(x.length);
  for (let row = 0; row < all.length; row++) all[row] = row;
  // Where x ascends, all are finite if the first and the last are.
  if (isAscending(x) && (x.length === 0 || isFiniteNumber(x[0]! - x.at(-1)!))) {
    return { key: undefined, rows: all, x, y };
  }
  return gather(
    undefined,
    all.filter((row) => isFiniteNumber(x[row]!)),
    x,
    y,
  );
}

function gather(key: unknown, rows: Int32Array, x: Float64Array, y: Float64Array): SeriesRows {
  let sorted = rows;
  let someX = take(x, sorted);
  if (!isAscending(someX)) {
    sorted = rows.slice().sort((a, b) => x[a]! - x[b]! || a - b);
    someX = take(x, sorted);
  }
  return { key, rows: sorted, x: someX, y: take(y, sorted) };
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

function isFiniteNumber(value: number): boolean {
  return value - value === 0;
}
