import type { ColumnTable } from "arquero";
import { createHash } from "node:crypto";
import { valueKey, type Value } from "./json.js";

/**
 * A new table of these columns, of the class of an existing one: whoever has a table has loaded
 * arquero, so importing probelab need not.
 */
export function newTable(like: ColumnTable, columns: readonly [string, unknown][]): ColumnTable {
  const Table = like.constructor as typeof ColumnTable;
  const data = Object.fromEntries(columns) as ConstructorParameters<typeof ColumnTable>[0];
  return new Table(
    data,
    columns.map(([name]) => name),
  );
}

/** Rows of a table, by their numbers there, as a table; in the order of `rows`. */
export function pickRows(table: ColumnTable, rows: ArrayLike<number>): ColumnTable {
  const plain = table.ungroup();
  const indices =
    plain.isFiltered() || plain.isOrdered()
      ? Array.from(rows, (row) => plain.indices()[row]!)
      : Array.from(rows);
  return plain.unorder().reify(indices);
}

/** By its shape: a notebook's Arquero may be another copy than ours. */
export function isArqueroTable(value: unknown): value is ColumnTable {
  if (typeof value !== "object" || value === null) return false;
  const { numRows, columnNames, getter, objects } = value as Partial<ColumnTable>;
  return [numRows, columnNames, getter, objects].every((method) => typeof method === "function");
}

/** A column's values in row order. */
export function columnValues(table: ColumnTable, name: string): Value[] {
  const get = table.getter(name);
  return Array.from({ length: table.numRows() }, (_, row) => get(row) as Value);
}

const LONG_TEXT = 1000;

/** One text per row, equal where the rows' values in these columns are. */
export function rowKeys(table: ColumnTable, names: readonly string[]): string[] {
  // A long text, copied into the key of each of its rows, would take seconds and gigabytes.
  const hashes = new Map<string, string>();
  const shortened = (value: Value): Value => {
    if (typeof value !== "string" || value.length < LONG_TEXT) return value;
    const hash = hashes.get(value) ?? createHash("sha256").update(value).digest("base64");
    hashes.set(value, hash);
    return hash;
  };
  const columns = names.map((name) => columnValues(table, name).map(shortened));
  return Array.from({ length: table.numRows() }, (_, row) =>
    rowKey(columns.map((column) => column[row])),
  );
}

/** One text for equal values; null and the text "null" differ. */
export function rowKey(values: readonly Value[]): string {
  return JSON.stringify(
    values.map((value) => {
      const key = valueKey(value);
      return typeof key === "bigint" ? [`${key}`] : key;
    }),
  );
}

/** The numbers of the rows of each key, in order. */
export function rowsByKey<Key>(keys: readonly Key[]): Map<Key, number[]> {
  const rows = new Map<Key, number[]>();
  keys.forEach((key, row) => {
    const same = rows.get(key);
    if (same) same.push(row);
    else rows.set(key, [row]);
  });
  return rows;
}

/** The name, or one like it that no column has. */
export function unusedName(taken: readonly string[], wanted: string): string {
  let name = wanted;
  while (taken.includes(name)) name += "_";
  return name;
}
