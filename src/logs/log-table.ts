import type { Database } from "../database/database.js";
import { unknownColumn, type TableInfo } from "../database/table-info.js";
import { ProbelabError } from "../base/error.js";
import { raw, type Sql } from "../query/sql.js";

/** Short names of a log line's fields, as options and results have them, and their columns. */
export const LOG_COLUMNS = {
  identifier: "SYSLOG_IDENTIFIER",
  priority: "PRIORITY",
  host: "host",
  message: "message",
} as const;

/** A field of a log line; `priority` and `host` only where the table has them. */
export type LogField = keyof typeof LOG_COLUMNS;

/** What the server says of the log table; asked once. */
export function logTable(database: Database): Promise<TableInfo> {
  return database.table("logs");
}

/**
 * What the reader of every answer must know of the table. Lines of a merging engine are counted as
 * they are held, and that is said: unlike a measurement, a line has no identity, so what such a table
 * merges may be two lines that say the same; and FINAL would have the newest few lines read them all.
 */
export function logNotes({ name, engine, merges, notes }: TableInfo): string[] {
  if (!merges) return [...notes];
  return [
    `${name} is a ${engine}: lines that it will merge in the background are counted each, so the numbers may fall by themselves.`,
    ...notes,
  ];
}

/** The fields that the table has, in the order of a line. */
export function fieldsOf(table: TableInfo): LogField[] {
  return (Object.keys(LOG_COLUMNS) as LogField[]).filter((field) =>
    table.columns.has(LOG_COLUMNS[field]),
  );
}

/**
 * The column of a field, or of a column's own name.
 *
 * @throws ProbelabError where the table has no such column.
 */
export function columnOf(name: string, table: TableInfo): string {
  const column = Object.hasOwn(LOG_COLUMNS, name) ? LOG_COLUMNS[name as LogField] : name;
  if (table.columns.has(column)) return column;
  if (column === name && !Object.hasOwn(LOG_COLUMNS, name)) {
    throw unknownColumn(name, table.name, table.columns);
  }
  throw new ProbelabError(
    `Can't use ${name}: ${table.name} has no column ${column}. It has ${[...table.columns.keys()].join(", ")}; leave ${name} out.`,
  );
}

/** The column of a field, or of a column's own name, as conditions and groups take it. */
export function logColumn(name: string, table: TableInfo): { sql: Sql; type: string } {
  const column = columnOf(name, table);
  return { sql: raw(table.column(column)), type: table.columns.get(column) ?? "" };
}

/** SQL for a field of a line as text; null where a line has none. */
export function fieldText(field: LogField, table: TableInfo): string {
  return `toString(${table.column(columnOf(field, table))})`;
}

/** SQL for the message of a line, empty where the table holds NULL. */
export function messageText(table: TableInfo): string {
  return `ifNull(${fieldText("message", table)}, '')`;
}

/** SQL for an instant, to the millisecond, of SQL for a raw time of the table. */
export function instantSql(raw: string, { time }: TableInfo): string {
  return `toDateTime64(${time.dateTime(raw)}, 3, 'UTC')`;
}
