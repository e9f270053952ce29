import { randomBytes } from "node:crypto";
import { quoteIdentifier } from "../database/time-column.js";
import type { Writer } from "../database/writer.js";
import { ProbelabError } from "../base/error.js";
import { isRunning, processMark } from "./process-mark.js";

/** The table aside that a file is read into, and the turn to load: one load at a time. */
export interface Staging extends AsyncDisposable {
  /** The table that the file's rows go into. */
  readonly table: string;
  /** The table that is to take the target's place. */
  readonly next: string;
}

const PREFIX = "loading_";
const TRIES = 5;

/** Marks of the loads of this process that are under way. */
const own = new Set<string>();

/**
 * Makes the table aside, after dropping what loads that were killed have left.
 *
 * The table itself is the turn: its name bears the process that loads, and who sees another
 * process's table that still runs gives way. Every load sees the tables made before it looked, so
 * of two that begin at once at least one gives way.
 *
 * @param create the CREATE TABLE of the table aside, given its name.
 * @throws ProbelabError when another load is under way.
 */
export async function openStaging(
  writer: Writer,
  create: (name: string) => string,
): Promise<Staging> {
  const mark = `${PREFIX}${processMark()}_${randomBytes(4).toString("hex")}`;
  const staging = { table: `${mark}_rows`, next: `${mark}_next` };
  own.add(mark);
  try {
    await takeTurn(writer, mark, () => writer.command(create(staging.table)));
  } catch (error) {
    own.delete(mark);
    throw error;
  }
  return {
    ...staging,
    async [Symbol.asyncDispose]() {
      own.delete(mark);
      try {
        await stopQueries(writer, mark);
        await drop(writer, staging.next);
        await drop(writer, staging.table);
      } catch {
        // The server has gone, or its disk is full; the next load drops what is left.
      }
    },
  };
}

async function takeTurn(writer: Writer, mark: string, create: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await create();
    const other = await dropLeftovers(writer, mark);
    if (other === null) return;
    await drop(writer, `${mark}_rows`);
    if (attempt === TRIES) {
      throw new ProbelabError(
        `Can't load into ${writer.source} now: process ${other} is loading into it. Load again when it is done.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
  }
}

/** Marks a load's own statements, so that it, or the next load, can stop them. */
export function stagingComment(staging: Pick<Staging, "table">): string {
  return staging.table.replace(/_rows$/, "");
}

/** Drops the tables of loads that no longer run; the process of one that does, or null. */
async function dropLeftovers(writer: Writer, mark: string): Promise<number | null> {
  const tables = await writer.rows<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = {database:String} AND startsWith(name, {prefix:String})`,
    { parameters: { database: writer.database, prefix: PREFIX } },
  );
  let running: number | null = null;
  for (const { name } of tables) {
    const other = name.replace(/_(rows|next)$/, "");
    if (other === mark) continue;
    const [pid] = other.slice(PREFIX.length).split("_").map(Number);
    const runs = pid === process.pid ? own.has(other) : isRunning(other.slice(PREFIX.length));
    if (runs) running = pid ?? 0;
    else {
      await stopQueries(writer, other);
      await drop(writer, name);
    }
  }
  return running;
}

async function stopQueries(writer: Writer, comment: string): Promise<void> {
  await writer.command("KILL QUERY WHERE Settings['log_comment'] = {comment:String} SYNC", {
    parameters: { comment },
  });
}

async function drop(writer: Writer, table: string): Promise<void> {
  await writer.command(`DROP TABLE IF EXISTS ${quoteIdentifier(table)} SYNC`);
}
