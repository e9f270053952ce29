import { join } from "node:path";
import type { WriteOptions, Writer } from "../database/writer.js";
import { withLock } from "../base/files/with-lock.js";

/** Names begin with it. */
const PREFIX = "probelab_aside_";

/** For tables that take the place of others once they are whole. */
export interface Aside {
  /** The table's name aside, for `EXCHANGE TABLES`, which is one atomic step. */
  readonly table: (name: string) => string;
  /** Mark INSERTs, so that the next process can stop those of one that was killed. */
  readonly settings: NonNullable<WriteOptions["settings"]>;
}

/**
 * Works on tables aside, which are gone afterwards. One at a time: the next one drops what a process
 * that was killed has left.
 *
 * @param patience how long to wait for another one, in milliseconds.
 * @throws ProbelabError where another one takes longer than that.
 */
export async function inAside<T>(
  writer: Writer,
  work: (aside: Aside) => Promise<T>,
  patience?: number,
): Promise<T> {
  const { database } = writer;
  const mark = PREFIX + database;
  const clear = async () => {
    await writer.command(`KILL QUERY WHERE Settings['log_comment'] = '${mark}' SYNC`);
    const left = await writer.rows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = {database:String} AND startsWith(name, {prefix:String})",
      { parameters: { database, prefix: PREFIX } },
    );
    for (const { name } of left) await writer.command(`DROP TABLE IF EXISTS ${name} SYNC`);
  };
  const locked = async () => {
    await clear();
    try {
      return await work({
        table: (name) => PREFIX + name,
        settings: { log_comment: mark },
      });
    } finally {
      // If the server is gone or its disk is full, the next one drops what is left.
      await clear().catch(() => undefined);
    }
  };
  return withLock(
    join(writer.directory, `${mark}.lock`),
    locked,
    patience,
    `Can't write to ${writer.source} now: another process is filling it. Try again when it is done.`,
  );
}
