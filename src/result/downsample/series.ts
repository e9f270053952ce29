import type { ColumnTable } from "arquero";
import { ProbelabError } from "../../base/error.js";
import { grouped } from "../../base/text.js";
import type { Value } from "../result.js";
import { valueKey } from "../json.js";

/** The rows of one series, by x. */
export interface SeriesRows {
  /** The value of the series column; undefined where the table has one series only. */
  readonly key: unknown;
  /** Row numbers of the table. Rows of equal x stand in the table's order. */
  readonly rows: Int32Array;
  /** True where these are all rows of the table, in its order: then `rows` is made when it is read. */
  readonly whole?: true;
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
  if (series === undefined) return x.length === 0 ? [] : lineOf(undefined, x, y);
  if (table.column(series) === undefined) {
    throw new ProbelabError(
      `Can't find the series column ${JSON.stringify(series)}: the table has ${table.columnNames().join(", ")}.`,
    );
  }
  const { numbers, keys } = numberKeys(table, series);
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
    .map((line) => (isAscending(line.x) ? line : sorted(line.key, line.rows, x, y)));
}

/** The number of each row's value among the different values of a column. */
function numberKeys(table: ColumnTable, name: string): { numbers: Int32Array; keys: Value[] } {
  const keys: Value[] = [];
  const found = new Map<unknown, number>();
  const numberOf = (key: Value): number => {
    const same = valueKey(key);
    const known = found.get(same) ?? keys.length;
    if (known < keys.length) return known;
    found.set(same, known);
    keys.push(key);
    return known;
  };
  const numbers = new Int32Array(table.numRows());
  const column = table.column(name) as Partial<DictionaryColumn>;
  if (!isMoved(table) && typeof column.groups === "function") {
    // An Arrow dictionary has numbered its values already.
    const { keys: own, get, size } = column.groups([name]);
    const renumbered = new Int32Array(size).fill(-1);
    for (let row = 0; row < numbers.length; row++) {
      const key = own[row]!;
      if (renumbered[key]! < 0) renumbered[key] = numberOf(get[0]!(key));
      numbers[row] = renumbered[key]!;
    }
  } else {
    const values = valuesInOrder(table, name);
    for (let row = 0; row < numbers.length; row++) numbers[row] = numberOf(values[row]);
  }
  return { numbers, keys };
}

/** A column that Arquero made of an Arrow dictionary. */
interface DictionaryColumn {
  groups(names: string[]): {
    keys: ArrayLike<number>;
    get: ((key: number) => Value)[];
    size: number;
  };
}

const isMoved = (table: ColumnTable): boolean => table.isFiltered() || table.isOrdered();

/** The rows of a table without series: its own arrays, where they are in order. */
function lineOf(key: unknown, x: Float64Array, y: Float64Array): SeriesRows[] {
  // Ascending from a finite x to a finite one: all are.
  if (isAscending(x) && isFinite(x[0]!) && isFinite(x.at(-1)!)) {
    const all = (): Int32Array => Int32Array.from({ length: x.length }, (_, row) => row);
    let rows: Int32Array | undefined;
    return [
      {
        key,
        whole: true,
        x,
        y,
        get rows() {
          return (rows ??= all());
        },
      },
    ];
  }
  const rows = new Int32Array(x.length);
  let size = 0;
  for (let row = 0; row < x.length; row++) if (isFinite(x[row]!)) rows[size++] = row;
  return size === 0 ? [] : [sorted(key, rows.subarray(0, size), x, y)];
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
  let last = x.length > 0 ? x[0]! : 0;
  for (let i = 1; i < x.length; i++) {
    const value = x[i]!;
    if (!(value >= last)) return false;
    last = value;
  }
  return last === last;
}

/** The values of a column in the order of the table's rows: its own array where it is one, for speed. */
function valuesInOrder(table: ColumnTable, name: string): readonly Value[] {
  const column = table.column(name) as unknown;
  if (Array.isArray(column) && !isMoved(table)) return column as Value[];
  const read = table.getter(name) as (row: number) => Value;
  return Array.from({ length: table.numRows() }, (_, row) => read(row));
}

/**
 * A column as numbers, in the order of the table's rows: Dates as milliseconds since 1970 (`dates`
 * says so), what is missing as NaN. It may be the table's own array: don't write to it.
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
  const column = table.column(name) as unknown;
  if (column === undefined) {
    throw new ProbelabError(
      `Can't find the column ${JSON.stringify(name)}: the table has ${table.columnNames().join(", ") || "no columns"}.`,
    );
  }
  const size = table.numRows();
  if (!isMoved(table)) {
    if (column instanceof Float64Array && column.length === size) {
      return { values: column, dates: false };
    }
    if (isNumberArray(column)) return { values: Float64Array.from(column), dates: false };
    const arrow = arrowNumbers(column as Partial<ArrowColumn>, size);
    if (arrow) return arrow;
  }
  const values = new Float64Array(size);
  const given = valuesInOrder(table, name);
  let dates = false;
  for (let row = 0; row < size; row++) {
    const value = given[row];
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

type NumberArray =
  Float32Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

function isNumberArray(column: unknown): column is NumberArray {
  return (
    ArrayBuffer.isView(column) &&
    !(
      column instanceof DataView ||
      column instanceof BigInt64Array ||
      column instanceof BigUint64Array
    )
  );
}

/** The part of an Arrow column that is read here, as flechette names it. */
interface ArrowColumn {
  readonly type: { readonly typeId: number; readonly unit?: number };
  readonly data: readonly Batch[];
}

interface Batch {
  readonly length: number;
  readonly nullCount: number;
  readonly values?: unknown;
  readonly validity?: Uint8Array;
  /** Of a batch of Dates: the times. */
  readonly source?: unknown;
}

/** Arrow's numbers of its types, and what a timestamp's unit is in milliseconds: s, ms, µs, ns. */
const [ARROW_FLOAT, ARROW_TIMESTAMP] = [3, 10];
const PER_MILLISECOND = [0.001, 1, 1_000, 1_000_000];

/** Floats and times of an Arrow column, from its buffers; undefined for other types. */
function arrowNumbers(
  { type, data }: Partial<ArrowColumn>,
  size: number,
): { values: Float64Array; dates: boolean } | undefined {
  if (!type || !Array.isArray(data)) return undefined;
  const batches = data as readonly Batch[];
  const values = new Float64Array(size);
  const dates = type.typeId === ARROW_TIMESTAMP && batches[0]?.source !== undefined;
  const scale = PER_MILLISECOND[type.unit ?? 1]!;
  let start = 0;
  for (const batch of batches) {
    const { length } = batch;
    const own = batch.values;
    if (dates && own instanceof BigInt64Array) {
      // As two halves: a BigInt a value is slow.
      const halves = new Int32Array(own.buffer, own.byteOffset, 2 * own.length);
      for (let i = 0; i < length; i++) {
        const whole = halves[2 * i + 1]! * 2 ** 32 + (halves[2 * i]! >>> 0);
        values[start + i] = scale === 1 ? whole : Math.trunc(whole / scale);
      }
    } else if (
      type.typeId === ARROW_FLOAT &&
      (own instanceof Float64Array || own instanceof Float32Array)
    ) {
      values.set(own.length === length ? own : own.subarray(0, length), start);
    } else return undefined;
    if (batch.nullCount > 0) {
      if (!batch.validity) return undefined;
      for (let i = 0; i < length; i++) {
        const bits = batch.validity[i >> 3]!;
        if (bits === 255) i |= 7;
        else if (!(bits & (1 << (i & 7)))) values[start + i] = NaN;
      }
    }
    start += length;
  }
  return start === size ? { values, dates } : undefined;
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
