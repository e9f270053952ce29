import { quoteIdentifier } from "../database/time-column.js";
import type { Writer } from "../database/writer.js";
import { SAMPLE_COMMENT } from "../sample/info.js";
import { ProbelabError } from "../base/error.js";
import { LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";
import type { Staging } from "./staging.js";

/** The table that rows go to, as it was when the load began. */
export interface Target {
  readonly name: LoadableTable;
  /** `none`: no such table yet; `sample`: made by the sample service; `rows`: anything else. */
  readonly holds: "none" | "sample" | "rows";
}

/**
 * Looks at the table that is to be loaded.
 *
 * Where a load was killed between taking the sample's place and dropping the rest of the sample,
 * the rest is dropped now.
 *
 * @throws ProbelabError when the database holds the sample service and it is not to be replaced.
 */
export async function findTarget(
  writer: Writer,
  name: LoadableTable,
  replaceSample: boolean,
): Promise<Target> {
  const tables = await listTables(writer);
  const own = tables.find((table) => table.name === name);
  const loaded = tables.some(
    ({ name, comment, rows }) => name in LOADABLE_TABLES && comment !== SAMPLE_COMMENT && rows > 0,
  );
  if (loaded) await dropSample(writer);
  else if (
    !replaceSample &&
    tables.some(({ comment, rows }) => comment === SAMPLE_COMMENT && rows > 0)
  ) {
    throw new ProbelabError(
      `Can't load into ${writer.source}: it holds the sample service, and made rows must not mix with real ones. Load into another directory with --into embedded:DIR, or let the file take the sample's place with --replace-sample.`,
    );
  }
  if (own === undefined || (loaded && own.comment === SAMPLE_COMMENT))
    return { name, holds: "none" };
  return { name, holds: own.comment === SAMPLE_COMMENT ? "sample" : "rows" };
}

/** The CREATE TABLE of a table aside that is like the target. */
export function createLike(target: Target): (name: string) => string {
  return target.holds === "rows"
    ? (name) => `CREATE TABLE ${name} AS ${target.name}`
    : LOADABLE_TABLES[target.name].create;
}

/**
 * Puts the rows aside into the target, all at once.
 *
 * The one step that counts is a rename or an exchange of two tables' names, which the Atomic
 * database engine does in one system call: whoever reads, and whatever is killed, finds the table
 * as it was or with all rows. Parts are shared by hard links, so nothing is copied.
 */
export async function commit(writer: Writer, target: Target, staging: Staging): Promise<void> {
  const { name, holds } = target;
  if (holds === "none") {
    await writer.command(`RENAME TABLE ${staging.table} TO ${name}`);
    return;
  }
  if (holds === "sample") {
    await writer.command(`EXCHANGE TABLES ${staging.table} AND ${name}`);
    await dropSample(writer);
    return;
  }
  await writer.command(`CREATE TABLE ${staging.next} CLONE AS ${name}`);
  await writer.command(`ALTER TABLE ${staging.next} ATTACH PARTITION ALL FROM ${staging.table}`);
  await writer.command(`EXCHANGE TABLES ${staging.next} AND ${name}`);
}

/** Drops the sample's tables; what tells that it is there goes first. */
async function dropSample(writer: Writer): Promise<void> {
  const made = (await listTables(writer))
    .filter(({ name, comment }) => comment === SAMPLE_COMMENT && !name.includes("_making_"))
    .sort((a, b) => Number(b.name === "sample_info") - Number(a.name === "sample_info"));
  for (const { name } of made) {
    await writer.command(`DROP TABLE IF EXISTS ${quoteIdentifier(name)} SYNC`);
  }
}

async function listTables(
  writer: Writer,
): Promise<{ name: string; comment: string; rows: number }[]> {
  const rows = await writer.rows<{ name: string; comment: string; rows: number | string }>(
    `SELECT name, comment, ifNull(total_rows, 0) AS rows FROM system.tables
     WHERE database = {database:String}`,
    { parameters: { database: writer.database } },
  );
  return rows.map((row) => ({ ...row, rows: Number(row.rows) }));
}
