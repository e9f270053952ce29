import { type ClickHouseClient, parseError } from "@clickhouse/client";
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { durationText } from "../time/span.js";
import { trackPending } from "../base/pending-work.js";
import { grouped } from "../base/text.js";
import type { Connection } from "./connection.js";
import { formOf } from "./long-values.js";
import { AnswerError, firstSentence, isConnectionLoss } from "./server-error.js";
import { type ServerProgress, watchQuery } from "../base/watch-query.js";

/** A request of one question. */
interface Request {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** From sending until the last byte of the answer. */
  readonly seconds: number;
  readonly maxBytes: number;
  /** True for a question too small to break a server down: it is asked again however late the connection fails. */
  readonly small?: boolean;
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
const WHOLE = { wait_end_of_query: 1, buffer_size: String(64 * 2 ** 20) } as const;

/** Repeats of a question, after random waits of up to 0.2 and 0.8 s. */
const RETRIES = 2;
const RETRY_WAIT = 200;
/** A question that isn't small is asked again only where the connection failed within so many milliseconds. */
const RETRY_WITHIN = 5_000;

/**
 * Sends a question and reads its whole answer. Where the connection fails before an answer begins,
 * it is asked again, a few times and within its time: it only reads.
 *
 * @throws AnswerError for a late, too large or refused answer, an AbortError where the signal
 *   stopped it, what the client throws where the connection breaks, ClickHouse's error as its own.
 */
export function send(connection: Connection, request: Request): Promise<Received> {
  return trackPending(() => sent(connection, request));
}

async function sent(connection: Connection, request: Request): Promise<Received> {
  if (request.signal?.aborted) throw stopped();
  const late = new AbortController();
  const timer = globalThis.setTimeout(() => late.abort(), request.seconds * 1000);
  const signal = AbortSignal.any([late.signal, ...(request.signal ? [request.signal] : [])]);
  const { sql, parameters } = request;
  const form = formOf(sql, parameters);
  const run = async (client: ClickHouseClient, id: string, retries: number): Promise<Received> => {
    // The client never hears of a signal that was aborted before, as while the server was asked who it is.
    signal.throwIfAborted();
    const result = await client.exec({
      query: form ? "" : sql,
      ...(form && {
        values: Readable.from([form.body]),
        http_headers: { "Content-Type": form.contentType },
      }),
      query_params: form ? {} : { ...parameters },
      query_id: id,
      clickhouse_settings: { ...request.settings, ...WHOLE },
      abort_signal: signal,
      ignore_error_response: true,
    });
    const { http_status_code: status = 200, response_headers: headers } = result;
    const { stream } = result;
    if (status !== 200 || headers["x-clickhouse-exception-code"] !== undefined) {
      const body = await collect(stream, 2 ** 20, signal).catch(() => new Uint8Array());
      throw refusal(status, headers, Buffer.from(body).toString("utf8"));
    }
    const { read_rows, read_bytes, result_rows } = result.summary ?? {};
    return {
      named: headers["x-clickhouse-query-id"] === id,
      retries,
      body: await collect(stream, request.maxBytes, signal),
      rowsRead: Number(read_rows ?? 0),
      bytesRead: Number(read_bytes ?? 0),
      resultRows: result_rows === undefined ? undefined : Number(result_rows),
    };
  };
  const attempt = async (retries: number): Promise<Received> => {
    const client = await connection.client();
    const id = randomUUID();
    const began = Date.now();
    try {
      return await watchQuery(
        id,
        () => run(client, id, retries),
        () => serverProgress(client, id),
      );
    } catch (error) {
      // A question that ran for a while may be why the server broke down.
      const waited = Date.now() - began;
      if (!isConnectionLoss(error)) throw error;
      if (waited > RETRY_WITHIN && request.small !== true) {
        throw new AnswerError(
          `closed the connection after ${durationText(waited)}, before an answer`,
          "Either the server ended, or what stands before it (a proxy, a load balancer) closes connections on which nothing passes for so long: raise its idle limit, allow send_progress_in_http_headers in the user's profile, or take a shorter range",
          "CONNECTION_CLOSED",
        );
      }
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
    if (!late.signal.aborted) throw error;
    throw new AnswerError(
      `gave no whole answer within ${request.seconds} s`,
      "Check that the server is up and not overloaded; or take a shorter range, a coarser bucket or more filters, or raise connect({ limits: { maxSeconds } })",
      // Not the server's own TIMEOUT_EXCEEDED, after which parts of the range are asked: it may hang.
      "NO_ANSWER",
    );
  } finally {
    clearTimeout(timer);
  }
}

function stopped(): DOMException {
  return new DOMException("The question was stopped.", "AbortError");
}

/** All bytes of a stream, in a buffer of its own that is aligned for typed arrays. */
async function collect(
  stream: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // The client lets go of the signal once it has the answer's headers.
  const stop = () => stream.destroy(stopped());
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) {
        throw new AnswerError(
          `sends more than ${grouped(maxBytes)} bytes`,
          "Aggregate in the query, take a shorter range, or raise connect({ limits: { maxMemory } })",
          "TOO_MANY_ROWS_OR_BYTES",
        );
      }
      parts.push(part);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** ClickHouse's own error where it is one; else the HTTP status, for what stands before the server. */
function refusal(status: number, headers: Headers, text: string): Error {
  const error = parseError(text.slice(0, 2 ** 16));
  if ("type" in error) return error;
  if (/^(Poco::Exception|Code: \d)/.test(text)) {
    const long = /too long|too large|limit exceeded/i.test(text);
    return new AnswerError(
      `refused the request: ${firstSentence(text)}`,
      long ? "Give shorter texts or shorter lists" : "Check what was asked",
      undefined,
    );
  }
  const named = `answered with HTTP status ${status} (${STATUS_CODES[status] ?? "unknown"})`;
  return new AnswerError(named, statusRemedy(status, headers), `HTTP_${status}`);
}

function statusRemedy(status: number, headers: Headers): string {
  if (status === 429 || status === 502 || status === 503 || status === 504) {
    const after = String(headers["retry-after"] ?? "");
    const when = /^\d+$/.test(after) ? ` in ${after} s` : " later";
    return `The server, or what stands before it, is overloaded or down: ask again${when}`;
  }
  const place = String(headers["location"] ?? "");
  if (status >= 300 && status < 400 && URL.canParse(place)) {
    return `It points to ${new URL(place).origin}: give the URL that it really has`;
  }
  if (status === 401 || status === 403 || status === 407) {
    return "Check the user and password, and that a proxy lets you through";
  }
  if (status === 413 || status === 414 || status === 431) {
    return "Give shorter texts or shorter lists, or have the proxy before the server allow them";
  }
  const path = status === 404 ? "; behind a proxy's path it is https://host/path/database" : "";
  return `Check that its URL is that of ClickHouse's HTTP interface (usually port 8123, or 8443 with https)${path}`;
}

/**
 * Asks for the progress of a query by its id; undefined if it isn't running. A user that
 * may not read system.processes gets an error.
 */
async function serverProgress(
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
