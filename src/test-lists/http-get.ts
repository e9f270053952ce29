import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";

/** Limits of a GET. */
export interface GetLimits {
  /** Seconds that one attempt may take, from the request to the last byte; default 30. */
  readonly timeoutSeconds?: number;
  /** Attempts after the first; default 3. */
  readonly retries?: number;
  /** Seconds before the first retry, doubled for each further one; default 1. */
  readonly backoffSeconds?: number;
  /** Most bytes of the body once unpacked; default 20 MB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** What came back. */
export interface JsonAnswer {
  readonly body: unknown;
  readonly bytes: number;
  readonly askedAt: Date;
  readonly answeredAt: Date;
}

const MOST_REDIRECTS = 3;
/** A server may ask for more patience than that; a poll can't wait for it. */
const LONGEST_WAIT_SECONDS = 60;

/** A failure that may be gone at the next attempt. */
class Passing extends Error {
  readonly waitSeconds: number;
  constructor(message: string, waitSeconds = 0) {
    super(message);
    this.waitSeconds = waitSeconds;
  }
}

/**
 * Gets JSON over HTTP or HTTPS, packed with gzip, deflate or brotli or plain.
 *
 * Tried again, with the wait doubled each time (and half of it drawn, so that many don't come back
 * together): no connection, a time-out, a body that ends early or isn't whole JSON, 408, 429, 5xx;
 * `Retry-After` is kept up to a minute. Not tried again: other statuses, another type than JSON, a
 * body that is too large. Up to 3 redirects are followed, on the same host alone and never from
 * https to http.
 *
 * @param action for errors: "fetch the test list of IT".
 * @throws ProbelabError that says what came instead.
 */
export async function getJson(url: URL, action: string, limits: GetLimits): Promise<JsonAnswer> {
  const { retries = 3, backoffSeconds = 1, signal } = limits;
  checkLimits(limits, action);
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(url, action, limits);
    } catch (error) {
      if (signal?.aborted) throw stopped(action, error);
      if (!(error instanceof Passing)) throw error;
      if (attempt >= retries) {
        const times = attempt === 0 ? "" : ` ${attempt + 1} times`;
        throw new ProbelabError(
          `Can't ${action}: tried${times || " once"}, ${error.message}. Look whether ${url.origin} answers, or try later.`,
          { cause: error },
        );
      }
      const doubled = backoffSeconds * 2 ** attempt;
      const wait = Math.max(doubled * (0.5 + Math.random() / 2), error.waitSeconds);
      await sleep(Math.min(wait, LONGEST_WAIT_SECONDS) * 1000, undefined, {
        ...(signal && { signal }),
      }).catch((cause: unknown) => {
        throw stopped(action, cause);
      });
    }
  }
}

/** No timer of Node waits longer than some weeks: it would fire at once. */
const LONGEST_SECONDS = 86_400;

function checkLimits(limits: GetLimits, action: string): void {
  for (const [name, least, most] of [
    ["timeoutSeconds", 0.001, LONGEST_SECONDS],
    ["retries", 0, 100],
    ["backoffSeconds", 0, LONGEST_SECONDS],
    ["maxBytes", 1, 2 ** 29],
  ] as const) {
    const value = limits[name];
    if (value === undefined || (value >= least && value <= most)) continue;
    throw new ProbelabError(
      `Can't ${action} with ${name}: ${String(value)}: pass a number from ${least} to ${most}.`,
    );
  }
}

async function attemptOnce(url: URL, action: string, limits: GetLimits): Promise<JsonAnswer> {
  const { timeoutSeconds = 30, maxBytes = 20_000_000, signal } = limits;
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  const both = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const askedAt = new Date();
  try {
    const response = await follow(url, action, both);
    await checkStatus(response, action);
    const type = response.headers.get("content-type") ?? "none";
    if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
      await response.body?.cancel();
      throw new ProbelabError(
        `Can't ${action}: the answer is of type ${type.slice(0, 80)}, not JSON. Look whether ${url.origin} is the API's address.`,
      );
    }
    const { text, bytes } = await readBody(response, maxBytes, action);
    try {
      return { body: JSON.parse(text) as unknown, bytes, askedAt, answeredAt: new Date() };
    } catch {
      throw new Passing(`the answer of ${bytes.toLocaleString("en-US")} bytes is not whole JSON`);
    }
  } catch (error) {
    if (error instanceof ProbelabError || error instanceof Passing) throw error;
    if (timeout.aborted && signal?.aborted !== true) {
      throw new Passing(`no whole answer within ${timeoutSeconds} s`);
    }
    throw new Passing(reasonOf(error));
  }
}

/** Follows redirects by hand: fetch itself would go to any host. */
async function follow(url: URL, action: string, signal: AbortSignal): Promise<Response> {
  let at = url;
  for (let redirects = 0; ; redirects++) {
    const headers = { accept: "application/json" };
    const response = await fetch(at.href, { headers, signal, redirect: "manual" });
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    const to = URL.canParse(location, at.href) ? new URL(location, at) : null;
    const same = to !== null && to.hostname === at.hostname && /^https?:$/.test(to.protocol);
    // A port of its own may be another's service, unless it is the way from http to https.
    const upgrade = at.protocol === "http:" && to?.protocol === "https:";
    if (to === null || !same || !(upgrade || to.origin === at.origin)) {
      throw new ProbelabError(
        `Can't ${action}: ${at.origin} sends on to ${to?.origin ?? "an address that can't be read"}, and only redirects on the same host are followed. Pass that baseUrl if it is the right one.`,
      );
    }
    if (redirects === MOST_REDIRECTS) {
      throw new ProbelabError(
        `Can't ${action}: ${at.origin} redirected more than ${MOST_REDIRECTS} times. Pass the baseUrl that answers.`,
      );
    }
    at = to;
  }
}

async function checkStatus(response: Response, action: string): Promise<void> {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  await response.body?.cancel();
  if (status === 408 || status === 429 || status >= 500) {
    const after = Number(response.headers.get("retry-after"));
    throw new Passing(`the server answered ${status}`, Number.isFinite(after) ? after : 0);
  }
  throw new ProbelabError(
    `Can't ${action}: the server answered ${status}. Check the baseUrl and the country.`,
  );
}

async function readBody(response: Response, maxBytes: number, action: string) {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // What is counted is unpacked: a small packed body may hold gigabytes.
  for await (const part of response.body ?? []) {
    bytes += (part as Uint8Array).length;
    if (bytes > maxBytes) {
      throw new ProbelabError(
        `Can't ${action}: the answer is larger than ${maxBytes.toLocaleString("en-US")} bytes. Pass a larger maxBytes if it may be.`,
      );
    }
    parts.push(part as Uint8Array);
  }
  return { text: Buffer.concat(parts).toString("utf8"), bytes };
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string };
    message: string;
  };
  return `the connection failed (${cause?.code ?? cause?.message ?? message})`;
}

function stopped(action: string, cause: unknown): ProbelabError {
  return new ProbelabError(`Can't ${action}: it was interrupted, run it again.`, {
    cause,
    code: "ABORTED",
  });
}
