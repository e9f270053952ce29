import { type Agent, request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as secureRequest, type Agent as SecureAgent } from "node:https";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { grouped } from "../base/text.js";
import { AnswerError, refusal } from "./server-error.js";

/** Where a ClickHouse server's HTTP interface is, and what every request to it carries. */
interface Place {
  /** With the path of a proxy before the server. */
  readonly url: string;
  readonly database: string;
  /** Those that name the user. */
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent | SecureAgent;
  /** True asks for answers by gzip: a setting, which not every user may send. */
  readonly compressed: boolean;
}

/** A request: what stands in its URL, and its body. */
interface Post {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly contentType?: string | undefined;
  /** Default 64 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A whole answer, in a buffer of its own that is aligned for typed arrays. */
interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Options of an agent: a server closes connections that nobody uses for some seconds. */
export const KEPT = { keepAlive: true, maxSockets: 8, timeout: 2_000 } as const;

/** Sends requests over connections that stay open. */
export class HttpServer {
  readonly #place: Place;
  #used = performance.now();

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Sends a request and reads the whole answer.
   *
   * @throws ServerError for ClickHouse's own error, an AnswerError for another status and for too long
   *   an answer, the signal's reason where it stopped the request, Node's error where the connection breaks.
   */
  post({ parameters, body, contentType, maxBytes = 2 ** 26, signal }: Post): Promise<Posted> {
    const { url, database, headers, agent, compressed } = this.#place;
    this.#closeStale();
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const values = new URLSearchParams({ ...parameters, database });
      if (compressed) values.set("enable_http_compression", "1");
      const call = (url.startsWith("https:") ? secureRequest : request)(
        `${url}?${values.toString()}`,
        {
          method: "POST",
          agent,
          maxHeaderSize: 2 ** 20,
          headers: {
            ...headers,
            "User-Agent": "probelab",
            ...(contentType !== undefined && { "Content-Type": contentType }),
            ...(compressed && { "Accept-Encoding": "gzip" }),
          },
        },
      );
      const stop = () => {
        reject(signal?.reason as Error);
        call.destroy();
      };
      signal?.addEventListener("abort", stop, { once: true });
      call.on("close", () => signal?.removeEventListener("abort", stop));
      call.on("error", reject);
      call.on("response", (answer) => {
        const { statusCode: status = 200, headers } = answer;
        const refused = status !== 200 || headers["x-clickhouse-exception-code"] !== undefined;
        collect(answer, refused ? 2 ** 20 : maxBytes, (error, body) => {
          if (refused) reject(refusal(status, headers, Buffer.from(body).toString("utf8")));
          else if (error) reject(error);
          else resolve({ headers, body });
        });
      });
      call.end(body);
    });
  }

  close(): void {
    this.#place.agent.destroy();
  }

  /** True while a connection is open and free. */
  get connected(): boolean {
    const sockets = Object.values(this.#place.agent.freeSockets).flat();
    return sockets.some((socket) => socket !== undefined && !socket.destroyed);
  }

  /** A long loop keeps the timers waiting that close connections before the server does. */
  #closeStale(): void {
    const { freeSockets } = this.#place.agent;
    const now = performance.now();
    if (now - this.#used > KEPT.timeout) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    }
    this.#used = now;
  }
}

/** Hands on the bytes of an answer, or those until it broke and why. */
function collect(
  answer: IncomingMessage,
  maxBytes: number,
  done: (error: Error | undefined, body: Uint8Array) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  const end = (error?: Error) => {
    const whole = new Uint8Array(size);
    let offset = 0;
    for (const part of parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    done(error, whole);
  };
  const packed = answer.headers["content-encoding"] === "gzip";
  const stream = packed ? pipeline(answer, createGunzip(), () => undefined) : answer;
  stream.on("data", (part: Buffer) => {
    if (size + part.length > maxBytes) {
      stream.destroy(
        new AnswerError(
          `sends more than ${grouped(maxBytes)} bytes`,
          "Aggregate in the query, take a shorter range, or raise connect({ limits: { maxMemory } })",
          "TOO_MANY_ROWS_OR_BYTES",
        ),
      );
      return;
    }
    size += part.length;
    parts.push(part);
  });
  stream.on("error", end);
  stream.on("end", () => end());
}
