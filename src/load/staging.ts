import { closeSync, openSync } from "node:fs";
import { ProbelabError } from "../base/error.js";
import { lockFile } from "../base/system-call.js";
import { quoteIdentifier } from "../database/time-column.js";
import type { Writer } from "../database/writer.js";
import { SAMPLE_COMMENT } from "../sample/info.js";
import { LOADABLE_TABLES, type LoadableTable } from "./loadable-table.js";

/** The table aside that a file is read into, before its rows take their place all at once. */
export const STAGED = "loading_rows";
/** The table that is to take the target's place. */
const NEXT = "loading_next";

/** Marks the statements of a load (`log_comment`), so that it, or the next load, can stop them. */
export const LOADING = "loading_statement";

/** How long a load waits for another one's end, in milliseconds. */
const PATIENCE = 2_000;

/** A load's turn, and what it does with the tables aside. */
interface Turn extends AsyncDisposable {
  /** Makes the table aside, empty: as the target is, where it holds rows. */
  create(target: Target): Promise<void>;
  /** Puts the rows aside into the target, all at once. */
  commit(target: Target): Promise<void>;
}

/**
 * Takes the turn to load, one load at a time, after dropping what a load that was killed has left.
 *
 * The turn is a lock on the database's directory, which the system takes back where its holder ends.
 *
 * @returns what gives the turn back, and drops the tables aside.
 * @throws ProbelabError when another load is under way.
 */
export async function takeTurn(writer: Writer): Promise<Turn> {
  const directory = openSync(writer.directory, "r");
  try {
    for (const began = Date.now(); !lockFile(directory);) {
      if (Date.now() - began > PATIENCE) {
        throw new ProbelabError(
          `Can't load into ${writer.source} now: another process is loading into it. Load again when it is done.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await dropLeftovers(writer);
  } catch (error) {
    closeSync(directory);
    throw error;
  }
  return {
    create: (target) => createStaged(writer, target),
    commit: (target) => commit(writer, target),
    async [Symbol.asyncDispose]() {
      // Where the server has gone, or its disk is full, the next load drops what is left.
      await dropLeftovers(writer).catch(() => undefined);
      closeSync(directory);
    },
  };
}

async function dropLeftovers(writer: Writer): Promise<void> {
  await writer.command(`KILL QUERY WHERE Settings['log_comment'] = '${LOADING}' SYNC`);
  const left = (await listTables(writer)).filter(({ name }) => name.startsWith("loading_"));
  for (const { name } of left) await drop(writer, name);
}

async function createStaged(writer: Writer, { name, holds }: Target): Promise<void> {
  const create =
    holds === "rows" ? `CREATE TABLE ${STAGED} AS ${name}` : LOADABLE_TABLES[name].create(STAGED);
  await writer.command(create);
}

/** The table that rows go to, as it was when the load began. */
interface Target {
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

/**
 * The one step that counts is a rename or an exchange of two tables' names, which the Atomic
 * database engine does in one system call: whoever reads, and whatever is killed, finds the table
 * as it was or with all rows. Parts are shared by hard links, so nothing is copied.
 */
async function commit(writer: Writer, target: Target): Promise<void> {
  const { name, holds } = target;
  if (holds === "none") {
    await writer.command(`RENAME TABLE ${STAGED} TO ${name}`);
    return;
  }
  if (holds === "sample") {
    await writer.command(`EXCHANGE TABLES ${STAGED} AND ${name}`);
    await dropSample(writer);
    return;
  }
  await writer.command(`CREATE TABLE ${NEXT} CLONE AS ${name}`);
  await writer.command(`ALTER TABLE ${NEXT} ATTACH PARTITION ALL FROM ${STAGED}`);
  await writer.command(`EXCHANGE TABLES ${NEXT} AND ${name}`);
}

/** Drops the sample's tables; what tells that it is there goes first. */
async function dropSample(writer: Writer): Promise<void> {
  const made = (await listTables(writer))
    .filter(({ name, comment }) => comment === SAMPLE_COMMENT && !name.includes("_making_"))
    .sort((a, b) => Number(b.name === "sample_info") - Number(a.name === "sample_info"));
  for (const { name } of made) {
    await drop(writer, name);
  }
}

async function drop(writer: Writer, table: string): Promise<void> {
  await writer.command(`DROP TABLE IF EXISTS ${quoteIdentifier(table)} SYNC`);
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
