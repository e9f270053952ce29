import { ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, inject } from "vitest";
import { parseAddress, type DatabaseAddress } from "../../src/database/address.js";
import type { WriteOptions, Writer } from "../../src/database/writer.js";
import { connect, type Lab } from "../../src/index.js";

/** A database in the run's engine. */
export interface OwnDatabase extends AsyncDisposable {
  readonly writer: Writer;
  /** The reader's URL: `connect({ measurements: database.url })`. */
  readonly url: string;
  readonly source: DatabaseAddress;
  /** A lab on it. */
  open(): Promise<Lab>;
}

/** A database for the tests of a file, there before the first and gone after the last. */
export function ownDatabase(): Omit<OwnDatabase, typeof Symbol.asyncDispose> {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await newDatabase();
  });
  afterAll(() => own[Symbol.asyncDispose]());
  return {
    get writer() {
      return own.writer;
    },
    get url() {
      return own.url;
    },
    get source() {
      return own.source;
    },
    open: () => own.open(),
  };
}

/** A new, empty database; `await using` drops it. */
export async function newDatabase(): Promise<OwnDatabase> {
  const engine = inject("engine");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = createClient({ url: engine.url });
  await admin.command({ query: `CREATE DATABASE ${name}` });
  const client = createClient({
    url: new URL(name, engine.url).href,
    request_timeout: 300_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const url = new URL(name, engine.reader).href;
  const end = async () => {
    await client.close();
    await admin.command({ query: `DROP DATABASE ${name}` });
    await admin.close();
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  };
  return {
    url,
    source: parseAddress(url, { root: "/", name: "the test" }),
    open: () => connect({ measurements: url, logs: url }),
    writer: {
      source: name,
      directory: join(tmpdir(), name),
      database: name,
      async command(query, { parameters, settings, signal } = {}) {
        await client.command({
          query,
          query_params: { ...parameters },
          clickhouse_settings: { ...settings },
          ...(signal && { abort_signal: signal }),
        });
      },
      async insert(table, body) {
        const query = `INSERT INTO ${table} FORMAT Native`;
        (await client.exec({ query, values: Readable.from([body]) })).stream.resume();
      },
      async rows<Row extends object>(query: string, options: WriteOptions = {}) {
        const { parameters, settings } = options;
        const answer = await client.query({
          query,
          query_params: { ...parameters },
          clickhouse_settings: { output_format_json_quote_64bit_integers: 0, ...settings },
          format: "JSONEachRow",
        });
        return answer.json<Row>();
      },
      [Symbol.asyncDispose]: end,
    },
    [Symbol.asyncDispose]: end,
  };
}
