import type { ClickHouseClient } from "@clickhouse/client";
import type { ServerProgress } from "../progress/watch-query.js";

/**
 * How far the server is with a query, by its id; undefined when it doesn't run (any more). A user that
 * may not read system.processes gets an error.
 */
export async function serverProgress(
  client: ClickHouseClient,
  queryId: string,
): Promise<ServerProgress | undefined> {
  const result = await client.query({
    query: "SELECT read_rows, total_rows_approx FROM system.processes WHERE query_id = {id:String}",
    query_params: { id: queryId },
    format: "JSONEachRow",
  });
  const [row] = await result.json<{ read_rows: string; total_rows_approx: string }>();
  if (!row) return undefined;
  // 0 where the server doesn't know, as for a view.
  return { rowsRead: Number(row.read_rows), rowsInAll: Number(row.total_rows_approx) || undefined };
}
