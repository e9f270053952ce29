import type { ColumnTable } from "arquero";
import { ProbelabError } from "../../base/error.js";
import { grouped } from "../../base/text.js";
import type { Value } from "../result.js";
import { valueKey } from "../json.js";
import { columnValues } from "../arquero-table.js";

/** The points of one series. */
export interface Line {
  /** The value of the series column; undefined where the table has one series only. */
  readonly key: unknown;
  /** x of these rows, ascending and finite. */
  readonly x: Float64Array;
  /** y of these rows; NaN or infinite where the line has a gap. */
  readonly y: Float64Array;
}

/** The rows of one series, by x. */
export interface SeriesRows extends Line {
  /** Row numbers of the table. Rows of equal x stand in the table's order. */
  readonly rows: Int32Array;
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
  const { numbers, keys } =
    series === undefined
      ? { numbers: new Int32Array(x.length), keys: [undefined] }
      : numberKeys(table, series);
  // Rows are put in their series by counting: one array for all, a part of it for each.
  const places = new Int32Array(keys.length + 1);
  for (let row = 0; row < x.length; row++) {
    if (x[row]! - x[row]! === 0) places[numbers[row]! + 1]!++;
  }
  for (let own = 1; own < places.length; own++) places[own]! += places[own - 1]!;
  const size = places.at(-1)!;
  const [rows, xs, ys] = [new Int32Array(size), new Float64Array(size), new Float64Array(size)];
  for (let row = 0; row < x.length; row++) {
    const across = x[row]!;
    if (across - across !== 0) continue;
    const at = places[numbers[row]!]!++;
    rows[at] = row;
    xs[at] = across;
    ys[at] = y[row]!;
  }
  return keys
    .map((key, own) => {
      const [from, to] = [places[own - 1] ?? 0, places[own]!];
      const part = { rows: rows.subarray(from, to), x: xs.subarray(from, to) };
      return { key, ...part, y: ys.subarray(from, to) };
    })
    .filter((line) => line.rows.length > 0)
    .sort((a, b) => a.rows[0]! - b.rows[0]!)
    .map((line) => {
      if (isAscending(line.x)) return line;
      const ordered = line.rows.toSorted((a, b) => x[a]! - x[b]! || a - b);
      return { key: line.key, rows: ordered, x: take(x, ordered), y: take(y, ordered) };
    });
}

/** The number of each row's value among the different values of a column. */
function numberKeys(table: ColumnTable, name: string): { numbers: Int32Array; keys: Value[] } {
  const keys: Value[] = [];
  const found = new Map<unknown, number>();
  const keyNumber = (key: Value): number => {
    const same = valueKey(key);
    const known = found.get(same);
    if (known !== undefined) return known;
    found.set(same, keys.length);
    return keys.push(key) - 1;
  };
  const numbers = new Int32Array(table.numRows());
  const column = table.column(name) as Partial<DictionaryColumn>;
  if (!isMoved(table) && typeof column.groups === "function") {
    // An Arrow dictionary has numbered its values already; two of its numbers may be one value.
    const { keys: codes, get, rows } = column.groups([name]);
    const renumbered = rows.map((code) => keyNumber(get[0]!(code)));
    for (let row = 0; row < numbers.length; row++) numbers[row] = renumbered[codes[row]!]!;
    return { numbers, keys };
  }
  readValues(table, name, (value, row) => {
    numbers[row] = keyNumber(value);
  });
  return { numbers, keys };
}

/** A column that Arquero made of an Arrow dictionary. */
interface DictionaryColumn {
  groups(names: string[]): {
    keys: ArrayLike<number>;
    get: ((key: number) => Value)[];
    rows: readonly number[];
  };
}

const isMoved = (table: ColumnTable): boolean => table.isFiltered() || table.isOrdered();

function take(values: Float64Array, rows: Int32Array): Float64Array {
  const some = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) some[i] = values[rows[i]!]!;
  return some;
}

/** True for finite numbers none of which is below the one before it. */
export function isAscending(x: Float64Array): boolean {
  let last = -Infinity;
  if (x[0] === last) return false;
  for (let i = 0; i < x.length; i++) {
    const value = x[i]!;
    if (!(value >= last)) return false;
    last = value;
  }
  return last < Infinity;
}

/** Values that are read one after the other: an array, a column, or a batch of Arrow's. */
interface Part {
  readonly length: number;
  at(row: number): Value;
  /** Of a column of Arrow's; of Dates, with the numbers that they are made of. */
  readonly data?: readonly (Part & { readonly source?: Part })[];
}

/** Hands over the values of a column in the order of the table's rows. */
function readValues(
  table: ColumnTable,
  name: string,
  take: (value: Value, row: number) => void,
): void {
  const column: Part = isMoved(table) ? columnValues(table, name) : (table.column(name) as Part);
  // Arrow makes a Date of each number: to make them all takes ten times as long as to read the numbers.
  const parts = column.data?.map((batch) => batch.source ?? batch) ?? [column];
  let row = 0;
  for (const part of parts) {
    if (Array.isArray(part)) for (const value of part) take(value as Value, row++);
    else for (let at = 0; at < part.length; at++) take(part.at(at), row++);
  }
}

/**
 * A column as numbers, in the order of the table's rows: Dates as milliseconds since 1970, what is missing
 * as NaN. It may be the table's own array: don't write to it.
 *
 * @throws ProbelabError when the table has no such column or it holds text.
 */
export function numericColumn(table: ColumnTable, name: string): Float64Array {
  if (table.column(name) === undefined) {
    throw new ProbelabError(
      `Can't find the column ${JSON.stringify(name)}: the table has ${table.columnNames().join(", ") || "no columns"}.`,
    );
  }
  const column = table.column(name) as unknown;
  if (column instanceof Float64Array && !isMoved(table)) return column;
  const values = new Float64Array(table.numRows());
  readValues(table, name, (value, row) => {
    values[row] = typeof value === "number" ? value : numberOf(value, name);
  });
  return values;
}

function numberOf(value: Value, name: string): number {
  if (value === null || value === undefined) return NaN;
  if (value instanceof Date) return value.getTime();
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  throw new ProbelabError(
    `Can't read ${JSON.stringify(value)} in the column ${JSON.stringify(name)} as a number or a time: take a column of numbers or Dates.`,
  );
}

/** The column of heights: on a log scale what is zero or below is NaN, in a copy. */
export function heightColumn(
  table: ColumnTable,
  name: string,
  yType: "linear" | "log" = "linear",
): Float64Array {
  const values = numericColumn(table, name);
  return yType === "linear" ? values : values.map((value) => (value > 0 ? value : NaN));
}

/** Lowest and highest x of all series; 0 and 0 where there are none. */
export function extent(series: readonly Line[]): [number, number] {
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
