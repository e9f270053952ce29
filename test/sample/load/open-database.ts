import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWriter } from "../../../src/database/writer.js";
import type { Writer } from "../../../src/database/writer.js";

/** A folder for a test's files and an embedded database of its own in it. */
export interface TestDatabase extends AsyncDisposable {
  readonly writer: Writer;
  readonly folder: string;
  /** Where the database lies. */
  readonly directory: string;
}

export async function openDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "probelab-load-test-"));
  const directory = join(folder, "database");
  const writer = await openWriter({ kind: "embedded", directory, label: "embedded:database" });
  return {
    writer,
    folder,
    directory,
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      // The server writes until it notices that its last user has gone.
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
    },
  };
}

/** Drops all tables: the database as a new one. */
export async function empty(writer: Writer): Promise<void> {
  for (const name of await tableNames(writer)) await writer.command(`DROP TABLE ${name} SYNC`);
}

export async function tableNames(writer: Writer): Promise<string[]> {
  const tables = await writer.rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name",
  );
  return tables.map(({ name }) => name);
}
