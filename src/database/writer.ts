import type { ClickHouseClient } from "@clickhouse/client";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";
import { openConnection } from "./connection.js";
import { isConnectionLoss, serverError } from "./server-error.js";
import type { DatabaseAddress } from "./address.js";

/** A killed server takes a moment to let go of its lock. */
const REPEATS = 5;

/** A statement that fills 100M rows takes minutes. */
const REQUEST_SECONDS = 6 * 3600;

/** Write access to the embedded database: for the sample service and for loading files only. */
export interface Writer extends AsyncDisposable {
  /** `embedded:DIR`. */
  readonly source: string;
  /** The directory that the embedded server holds. */
  readonly directory: string;
  /** The ClickHouse database that holds the tables. */
  readonly database: string;
  /** Runs one statement that returns nothing; values are bound to `{name:Type}`. */
  command(sql: string, options?: WriteOptions): Promise<void>;
  /** Fills a table with rows in ClickHouse's own form (Native), as `Database.native` gives them. */
  insert(table: string, body: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Runs a small query and returns its rows (numbers beyond 2^53 arrive as text). */
  rows<Row extends object>(sql: string, options?: WriteOptions): Promise<Row[]>;
}

/** Values, settings and cancellation of one statement. */
export interface WriteOptions {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly signal?: AbortSignal;
}

/**
 * Opens the embedded database for writing.
 *
 * @throws ProbelabError for a remote server: its rows belong to the service, probelab only reads them.
 */
export async function openWriter(source: DatabaseAddress): Promise<Writer> {
  if (source.kind !== "embedded") {
    throw new ProbelabError(
      `Can't write to ${source.label}: probelab fills embedded databases only. Name one, such as --into embedded:.probelab.`,
    );
  }
  const connection = openConnection(source, REQUEST_SECONDS, "writer");
  /** Repeats what the server never heard, or where asking again does no harm. */
  const run = async <T>(
    action: string,
    { signal }: WriteOptions,
    mayRepeat: (error: unknown) => boolean,
    task: (client: ClickHouseClient) => Promise<T>,
  ): Promise<T> => {
    for (let repeats = 0; ; repeats++) {
      try {
        return await task(await connection.client());
      } catch (error) {
        // The server may just be ending: what follows goes to its successor.
        if (isConnectionLoss(error)) connection.forget();
        if (repeats === REPEATS || signal?.aborted || !mayRepeat(error)) {
          throw serverError(error, action, connection.label);
        }
        await delay(100 * (repeats + 1));
      }
    }
  };
  const write = (options: WriteOptions, task: (client: ClickHouseClient) => Promise<unknown>) =>
    run("write to the embedded database", options, wasRefused, async (client) => {
      await task(client);
    });
  const request = (query: string, { parameters, settings, signal }: WriteOptions) => ({
    query,
    query_params: { ...parameters },
    clickhouse_settings: { wait_end_of_query: 1 as const, ...settings },
    ...(signal && { abort_signal: signal }),
  });
  try {
    await connection.client();
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    throw error;
  }
  return {
    source: connection.label,
    directory: source.directory,
    database: connection.database,
    command: (sql, options = {}) =>
      write(options, (client) => client.command(request(sql, options))),
    insert: (table, body, options = {}) =>
      write(options, async (client) => {
        const sent = request(`INSERT INTO ${table} FORMAT Native`, options);
        (await client.exec({ ...sent, values: Readable.from([body]) })).stream.resume();
      }),
    rows: <Row extends object>(sql: string, options: WriteOptions = {}) => {
      const settings = { output_format_json_quote_64bit_integers: 0, ...options.settings };
      const sent = { ...request(sql, { ...options, settings }), format: "JSONEachRow" as const };
      return run("read from the embedded database", options, isConnectionLoss, async (client) =>
        (await client.query(sent)).json<Row>(),
      );
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** True where the statement never reached the server, so that it can be sent again. */
function wasRefused(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ECONNREFUSED";
}
