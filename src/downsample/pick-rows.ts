import type { ColumnTable } from "arquero";
import { newTable, pickRows } from "../result/arquero-table.js";

/** A row that is in no table: only these columns have a value, all others are null. */
export interface NewRow {
  /** The row of the table that it stands after; −1 for before all. */
  readonly after: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** `pickRows`, with new rows between them. */
export function pickAndAddRows(
  table: ColumnTable,
  rows: readonly number[],
  added: readonly NewRow[],
): ColumnTable {
  if (added.length === 0) return pickRows(table, rows);
  const all: (number | NewRow)[] = [...rows, ...added];
  const place = (row: number | NewRow): number => (typeof row === "number" ? row : row.after + 0.5);
  all.sort((a, b) => place(a) - place(b));
  const columns = table.columnNames().map((name): [string, unknown[]] => {
    const value = table.getter(name);
    return [
      name,
      all.map((row) =>
        typeof row === "number" ? (value(row) as unknown) : (row.values[name] ?? null),
      ),
    ];
  });
  return newTable(table, columns);
}
