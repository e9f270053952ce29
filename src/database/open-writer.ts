import type { ClickHouseClient } from "@clickhouse/client";
import { Readable } from "node:stream";
import { ProbelabError } from "../base/error.js";
import { openConnection } from "./connection.js";
import { isConnectionLoss, serverError } from "./server-error.js";
import type { Source } from "./source.js";
import type { WriteOptions, Writer } from "./writer.js";

/** A statement that fills 100M rows takes minutes. */
const REQUEST_SECONDS = 6 * 3600;

/**
 * Opens the embedded database for writing.
 *
 * @throws ProbelabError for a remote server: its rows belong to the service, probelab only reads them.
 */
export async function openWriter(source: Source): Promise<Writer> {
  if (source.kind !== "embedded") {
    throw new ProbelabError(
      `Can't write to ${source.label}: probelab fills embedded databases only. Name one, such as --into embedded:.probelab.`,
    );
  }
  const connection = openConnection(source, REQUEST_SECONDS, "writer");
  const run = async <T>(
    action: string,
    task: (client: ClickHouseClient) => Promise<T>,
    mayRepeat: (error: unknown) => boolean,
  ) => {
    try {
      return await task(await connection.client());
    } catch (error) {
      // Its end may not have been noticed yet: what follows goes to the server's successor.
      if (isConnectionLoss(error)) connection.forget();
      if (!mayRepeat(error)) throw serverError(error, action, connection.label);
    }
    try {
      return await task(await connection.client());
    } catch (error) {
      throw serverError(error, action, connection.label);
    }
  };
  try {
    await connection.client();
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    throw error;
  }
  const request = (sql: string, options: WriteOptions) => ({
    query: sql,
    query_params: { ...options.parameters },
    clickhouse_settings: { wait_end_of_query: 1 as const, ...options.settings },
    ...(options.signal && { abort_signal: options.signal }),
  });
  return {
    source: connection.label,
    directory: source.directory,
    database: connection.database,
    command: (sql, options = {}) =>
      run(
        "write to the embedded database",
        async (client) => {
          await client.command(request(sql, options));
        },
        (error) => wasRefused(error) && options.signal?.aborted !== true,
      ),
    insert: (table, body, options = {}) =>
      run(
        "write to the embedded database",
        async (client) => {
          const { query, ...rest } = request(`INSERT INTO ${table} FORMAT Native`, options);
          const sent = { ...rest, query, values: Readable.from([body]) };
          (await client.exec(sent)).stream.resume();
        },
        (error) => wasRefused(error) && options.signal?.aborted !== true,
      ),
    rows: <Row extends object>(sql: string, options: WriteOptions = {}) =>
      run(
        "read from the embedded database",
        async (client) => {
          const settings = { output_format_json_quote_64bit_integers: 0 as const };
          const { clickhouse_settings, ...rest } = request(sql, options);
          const result = await client.query({
            ...rest,
            format: "JSONEachRow",
            clickhouse_settings: { ...settings, ...clickhouse_settings },
          });
          return await result.json<Row>();
        },
        (error) => isConnectionLoss(error) && options.signal?.aborted !== true,
      ),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** True where the server heard nothing of the statement, so that it can be sent again. */
function wasRefused(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ECONNREFUSED";
}
