import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Connection } from "./connection.js";
import type { HttpServer } from "./http.js";
import { placeValues } from "./long-values.js";
import { AnswerError, isConnectionLoss } from "./server-error.js";
import { type ServerProgress, watchQuery } from "../progress/watch-query.js";

/** A request of one question. */
interface Request {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** From sending until the last byte of the answer. */
  readonly seconds: number;
  readonly maxBytes: number;
}

/** A whole body, and what the server says of it. */
interface Received {
  readonly body: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
  /** Number of rows the server sent; undefined if it does not say, as behind some proxies. */
  readonly resultRows: number | undefined;
  /** True where the answer names this question; some proxies give questions other names. */
  readonly named: boolean;
  /** Number of repeats after failed connections. */
  readonly retries: number;
}

/**
 * The server keeps the answer, the first 64 MiB of it in memory, until it is whole: an error can't
 * come in the middle of it, and the summary counts all that was read. These are no settings, so
 * that every user may send them.
 */
const WHOLE = { wait_end_of_query: "1", buffer_size: String(64 * 2 ** 20) } as const;

/** Repeats of a question, after random waits of up to 0.2 and 0.8 s. */
const RETRIES = 2;
const RETRY_WAIT = 200;
/** Only where the connection failed within so many milliseconds. */
const RETRY_WITHIN = 5_000;

/**
 * Sends a question and reads its whole answer. Where the connection fails before an answer begins,
 * it is asked again, a few times and within its time: it only reads.
 *
 * @throws AnswerError for a late, too large or refused answer, an AbortError where the signal
 *   stopped it, Node's error where the connection breaks, ClickHouse's as a ServerError.
 */
export async function send(connection: Connection, request: Request): Promise<Received> {
  if (request.signal?.aborted) throw stopped();
  const ending = new AbortController();
  const stop = () => ending.abort();
  const timer = globalThis.setTimeout(stop, request.seconds * 1000);
  request.signal?.addEventListener("abort", stop, { once: true });
  const { signal } = ending;
  const { parameters, body, contentType } = placeValues(request.sql, request.parameters);
  const run = async (server: HttpServer, id: string, retries: number): Promise<Received> => {
    const answer = await server.post({
      parameters: { query_id: id, ...parameters, ...request.settings, ...WHOLE },
      body,
      contentType,
      maxBytes: request.maxBytes,
      signal,
    });
    const { rowsRead, bytesRead, resultRows } = summaryOf(answer.headers);
    const named = answer.headers["x-clickhouse-query-id"] === id;
    return { named, retries, body: answer.body, rowsRead, bytesRead, resultRows };
  };
  const attempt = async (retries: number): Promise<Received> => {
    const server = await connection.server();
    const id = randomUUID();
    const began = Date.now();
    try {
      return await watchQuery(
        id,
        () => run(server, id, retries),
        () => serverProgress(server, id),
      );
    } catch (error) {
      // A question that ran for a while may be why the server broke down.
      if (!isConnectionLoss(error) || Date.now() - began > RETRY_WITHIN) throw error;
      connection.forget();
      if (retries === RETRIES) throw error;
      await setTimeout(Math.random() * RETRY_WAIT * 4 ** retries, undefined, { signal });
      return await attempt(retries + 1);
    }
  };
  try {
    const answer = await attempt(0);
    signal.throwIfAborted();
    return answer;
  } catch (error) {
    if (request.signal?.aborted) throw stopped();
    if (!signal.aborted) throw error;
    throw new AnswerError(
      `gave no whole answer within ${request.seconds} s`,
      "Check that the server is up and not overloaded; or take a shorter range, a coarser bucket or more filters, or raise connect({ limits: { maxSeconds } })",
      "TIMEOUT_EXCEEDED",
    );
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", stop);
  }
}

function stopped(): DOMException {
  return new DOMException("The question was stopped.", "AbortError");
}

/** What the server counted; proxies may leave it out, or give a text of their own. */
function summaryOf(headers: IncomingHttpHeaders) {
  let summary: Readonly<Record<string, string>> = {};
  try {
    summary = JSON.parse(String(headers["x-clickhouse-summary"] ?? "{}")) as typeof summary;
  } catch {
    // Without what it counted the answer is as good.
  }
  const { read_rows, read_bytes, result_rows } = summary;
  return {
    rowsRead: Number(read_rows ?? 0),
    bytesRead: Number(read_bytes ?? 0),
    resultRows: result_rows === undefined ? undefined : Number(result_rows),
  };
}

/**
 * Asks for the progress of a query by its id; undefined if it isn't running. A user that
 * may not read system.processes gets an error.
 */
async function serverProgress(
  server: HttpServer,
  queryId: string,
): Promise<ServerProgress | undefined> {
  const { body } = await server.post({
    parameters: { param_id: queryId },
    body: "SELECT read_rows, total_rows_approx FROM system.processes WHERE query_id = {id:String} FORMAT TSV",
  });
  const [rowsRead, rowsInAll] = Buffer.from(body).toString().trim().split("\t").map(Number);
  // 0 where the server doesn't know, as for a view.
  return rowsRead === undefined || rowsInAll === undefined
    ? undefined
    : { rowsRead, rowsInAll: rowsInAll || undefined };
}
