import type { Database } from "./database.js";
import type { TableInfo } from "./table-info.js";
import { boundsSql, PLAUSIBLE } from "./time-column.js";

/**
 * The time of a table's newest row, null where it has none; rows in the future are none. It looks
 * beyond any range, so only an embedded database may be asked: where its table is sorted by time,
 * ClickHouse reads only the end of it.
 */
export async function newestRow(database: Database, table: TableInfo): Promise<Date | null> {
  const { time } = table;
  const bounds = boundsSql(time, { start: PLAUSIBLE.start, end: new Date() });
  const where = [bounds.sql, ...(time.usable === null ? [] : [time.usable])].join(" AND ");
  const [row] = await database.rows<{ newest: number }>(
    `SELECT toUnixTimestamp64Milli(toDateTime64(${time.dateTime("_raw")}, 3)) AS newest
FROM (SELECT ${time.sql} AS _raw FROM ${table.from} WHERE ${where} ORDER BY ${time.sql} DESC LIMIT 1)`,
    bounds.parameters,
  );
  return row === undefined ? null : new Date(Number(row.newest));
}
