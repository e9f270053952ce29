import type { ColumnTable } from "arquero";
import type { Result } from "./result.js";

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

const OWNER = Symbol.for("probelab.owner");

interface Owner {
  readonly table: ColumnTable;
  readonly result: Result<object>;
}

/**
 * Notes in a table's parameters whose rows these are: Arquero hands them on to every table that is
 * made of it. The first Result of a table is its owner.
 */
export function own(table: ColumnTable, result: Result<object>): void {
  if (owner(table)?.table !== table) table.params({ [OWNER]: { table, result } });
}

/** The Result of whose table Arquero made this one, or whose table it is. */
export function ownerOf(table: ColumnTable): Result<object> | undefined {
  return owner(table)?.result;
}

function owner(table: ColumnTable): Owner | undefined {
  return (table.params() as Readonly<Record<symbol, Owner | undefined>> | undefined)?.[OWNER];
}
