import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWriter } from "../../src/database/open-writer.js";
import { parseSource } from "../../src/database/source.js";
import type { Writer } from "../../src/database/writer.js";

/** An embedded database of its own, which is removed with its directory. */
export async function temporaryWriter(): Promise<Writer> {
  const directory = await mkdtemp(join(tmpdir(), "probelab-sample-"));
  const source = parseSource(`embedded:${directory}`, { root: directory, name: "the test" });
  const writer = await openWriter(source);
  return {
    ...writer,
    async [Symbol.asyncDispose]() {
      await writer[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** The one row that a query gives, its values as numbers. */
export async function numbers(writer: Writer, sql: string): Promise<Record<string, number>> {
  const [row] = await writer.rows<Record<string, unknown>>(sql);
  return Object.fromEntries(Object.entries(row ?? {}).map(([key, value]) => [key, Number(value)]));
}

/** A sum over all rows of a table that no order of rows, but any other row, changes. */
export async function contents(writer: Writer, table: string, columns = "*"): Promise<string> {
  const [row] = await writer.rows<{ sum: string }>(
    `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(${columns})))) AS sum FROM ${table}`,
  );
  return row?.sum ?? "";
}
