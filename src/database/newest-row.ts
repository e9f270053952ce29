import type { Database } from "./database.js";
import type { TableInfo } from "./table-info.js";

/**
 * The time of a table's newest row, null where it has none. It looks beyond any range, so only an
 * embedded database may be asked: its parts know their greatest time, which makes it cheap.
 */
export async function newestRow(database: Database, table: TableInfo): Promise<Date | null> {
  const { time } = table;
  const newest = `toUnixTimestamp64Milli(toDateTime64(${time.dateTime(`max(${time.sql})`)}, 3))`;
  const [row] = await database.rows<{ newest: number }>(
    `SELECT ${newest} AS newest FROM ${table.from} HAVING count() > 0`,
  );
  return row === undefined ? null : new Date(Number(row.newest));
}
