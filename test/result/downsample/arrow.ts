import { fromArrow, table, type ColumnTable } from "arquero";

export { escape, op, table } from "arquero";

/** A table that is backed by Arrow columns, as answers from the database are. */
export function arrowTable(columns: Record<string, unknown[]>): ColumnTable {
  return fromArrow(table(columns).toArrowIPC());
}
