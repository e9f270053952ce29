import { quoteIdentifier } from "../database/time-column.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";

/** Rows that are compared at most; of more, a share is drawn by their hash. */
const COMPARED_ROWS = 2_000_000;

/**
 * How many of the rows aside are in the table already, equal in every column.
 *
 * Asked of the rows themselves, not of a list of loaded files: it holds however the rows came
 * there, for a file packed anew or in another format, and for one that overlaps another. Of more
 * than 2,000,000 rows a share is compared, drawn by their hash, and the count is an estimate; a
 * file loaded a second time is always found.
 */
export async function countAlreadyThere(
  writer: Writer,
  name: LoadableTable,
  staged: { readonly table: string; readonly rows: number },
  options: Pick<WriteOptions, "signal">,
): Promise<number> {
  const columns = await writer.rows<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}
       AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
    { parameters: { database: writer.database, table: name } },
  );
  const hash = `cityHash64(tuple(${columns.map((column) => quoteIdentifier(column.name)).join(", ")}))`;
  const share = Math.ceil(staged.rows / COMPARED_ROWS);
  const drawn = share === 1 ? "1" : `${hash} % ${share} = 0`;
  const { time } = LOADABLE_TABLES[name];
  const aside = "{staging:Identifier}";
  const bounds =
    time === undefined
      ? "1"
      : `${time.column} >= (SELECT min(${time.column}) FROM ${aside}) AND ${time.column} <= (SELECT max(${time.column}) FROM ${aside})`;
  const [found] = await writer.rows<{ rows: number | string }>(
    `SELECT uniqExact(${hash}) AS rows FROM {table:Identifier}
     WHERE ${bounds} AND ${drawn} AND ${hash} IN (SELECT ${hash} FROM ${aside} WHERE ${drawn})`,
    { ...options, parameters: { table: name, staging: staged.table } },
  );
  return Math.min(Number(found?.rows ?? 0) * share, staged.rows);
}
