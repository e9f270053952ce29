import type { ColumnTable } from "arquero";

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
