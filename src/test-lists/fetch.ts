import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "undici";
import { ProbelabError } from "../base/error.js";
import { TestList, type TestListEntry } from "./test-list.js";

/** Limits of a request. */
export interface FetchLimits {
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

/** Which list to fetch, and the limits of it. */
export interface FetchOptions extends FetchLimits {
  /** The API's address, without `/api/v1`; default `PROBELAB_API`. */
  readonly baseUrl?: string;
  /** Two letters, such as `IT`. */
  readonly country: string;
}

const PATH = "/api/v1/test-list/urls";
/** A server may ask for more patience than that; a poll can't wait for it. */
const LONGEST_WAIT_SECONDS = 60;
/** No timer of Node waits longer than some weeks: it would fire at once. */
const LONGEST_SECONDS = 86_400;

/** A failure that may be gone at the next attempt. */
class Passing extends Error {
  readonly waitSeconds: number;
  constructor(message: string, waitSeconds = 0) {
    super(message);
    this.waitSeconds = waitSeconds;
  }
}

/**
 * `testLists.fetch`: see {@link testLists}.
 *
 * Tried again, with the wait doubled each time (and half of it drawn, so that many don't come back
 * together): no connection, a time-out, a body that ends early or isn't whole JSON, 408, 429, 5xx.
 */
export async function fetchTestList(options: FetchOptions): Promise<TestList> {
  const country = checkCountry(options.country);
  const base = checkBaseUrl(options.baseUrl);
  const action = `fetch the test list of ${country}`;
  checkLimits(options, action);
  const { retries = 3, backoffSeconds = 1, signal } = options;
  const parameters = { country_code: country, debug: "True" };
  const url = new URL(`${base}${PATH}?${new URLSearchParams(parameters).toString()}`);
  for (let attempt = 1; ; attempt++) {
    const askedAt = new Date();
    try {
      const { body, bytes } = await getJson(url, action, options);
      const entries = readAnswer(body, action);
      const source = `${url.origin}${url.pathname}`;
      const answeredAt = new Date();
      const origin = { source, parameters, bytesRead: bytes, askedAt, answeredAt };
      return await TestList.of(country, entries, origin);
    } catch (error) {
      if (signal?.aborted) throw stopped(action, error);
      if (!(error instanceof Passing)) throw error;
      if (attempt > retries) {
        const times = attempt === 1 ? "once" : `${attempt} times`;
        throw new ProbelabError(
          `Can't ${action}: tried ${times}, ${error.message}. Look whether ${url.origin} answers, or try later.`,
          { cause: error },
        );
      }
      const drawn = backoffSeconds * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      const wait = Math.min(Math.max(drawn, error.waitSeconds), LONGEST_WAIT_SECONDS);
      await sleep(wait * 1000, undefined, signal && { signal }).catch((cause: unknown) => {
        throw stopped(action, cause);
      });
    }
  }
}

/** A country code in capitals. @throws ProbelabError for anything but two letters. */
export function checkCountry(country: unknown): string {
  if (typeof country === "string" && /^[a-z]{2}$/i.test(country)) return country.toUpperCase();
  throw new ProbelabError(
    `Can't fetch the test list of ${JSON.stringify(country) ?? "undefined"}: pass a country of two letters, such as "IT".`,
  );
}

/** The address without a slash at its end. @throws ProbelabError for another than http(s). */
export function checkBaseUrl(baseUrl: string | undefined = process.env["PROBELAB_API"]): string {
  const url = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /@|\/\//.test(url.pathname)) {
    throw new ProbelabError(
      `Can't fetch a test list from ${baseUrl ? JSON.stringify(baseUrl.replace(/\/\/[^/@]*@/, "//***@")) : "nowhere"}: pass the API's address as baseUrl (or PROBELAB_API), such as "https://api.example.org".`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ProbelabError(
      `Can't fetch a test list with a user or password in the address of ${url.host}: leave them out, the endpoint needs none.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function checkLimits(limits: FetchLimits, action: string): void {
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

/** One attempt, through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. */
async function getJson(url: URL, action: string, limits: FetchLimits) {
  const { timeoutSeconds = 30, maxBytes = 20_000_000, signal } = limits;
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  // Loaded with the first list: most notebooks and commands never ask for one.
  const { Agent, EnvHttpProxyAgent, fetch } = await import("undici");
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const dispatcher = isHere ? new Agent() : new EnvHttpProxyAgent();
  try {
    const response = await fetch(url.href, {
      dispatcher,
      headers: { accept: "application/json" },
      redirect: "manual",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    checkResponse(response, url, action);
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
    return { body: parsed(Buffer.concat(parts)), bytes };
  } catch (error) {
    if (error instanceof ProbelabError || error instanceof Passing) throw error;
    if (timeout.aborted) throw new Passing(`no whole answer within ${timeoutSeconds} s`);
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    throw new Passing(`the connection failed (${cause?.code ?? cause?.message ?? message})`);
  } finally {
    await dispatcher.destroy();
  }
}

function checkResponse({ status, headers }: Response, url: URL, action: string): void {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    const to = URL.canParse(location, url.href) ? new URL(location, url) : null;
    const base = to && `${to.origin}${to.pathname.replace(PATH, "").replace(/\/+$/, "")}`;
    throw new ProbelabError(
      `Can't ${action}: ${url.origin} sends on to ${base ?? "an address that can't be read"}, and redirects are not followed. Pass that baseUrl if it is the right one.`,
    );
  }
  if (status === 408 || status === 429 || status >= 500) {
    const after = Number(headers.get("retry-after"));
    throw new Passing(`the server answered ${status}`, Number.isFinite(after) ? after : 0);
  }
  if (status < 200 || status >= 300) {
    throw new ProbelabError(
      `Can't ${action}: the server answered ${status}. Check the baseUrl and the country.`,
    );
  }
  const type = headers.get("content-type") ?? "none";
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    throw new ProbelabError(
      `Can't ${action}: the answer is of type ${type.slice(0, 80)}, not JSON. Look whether ${url.origin} is the API's address.`,
    );
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8").replace(/^\uFEFF/, ""));
  } catch {
    throw new Passing(
      `the answer of ${body.length.toLocaleString("en-US")} bytes is not whole JSON`,
    );
  }
}

/**
 * The entries of an answer: an object with `results`, an array of objects that each have a string
 * `url`. Other fields are kept.
 */
function readAnswer(body: unknown, action: string): TestListEntry[] {
  const { results } = (body ?? {}) as { readonly results?: unknown };
  if (!Array.isArray(results)) {
    throw new ProbelabError(
      `Can't ${action}: the answer has no array "results". Look whether the baseUrl is the API's.`,
    );
  }
  return results.map((entry: unknown, index) => {
    const isObject = typeof entry === "object" && entry !== null && !Array.isArray(entry);
    if (isObject && typeof (entry as { url?: unknown }).url === "string") {
      return entry as TestListEntry;
    }
    const shown = JSON.stringify(entry);
    throw new ProbelabError(
      `Can't ${action}: entry ${index + 1} of ${results.length} ${isObject ? "has no string url" : "is no object"}: ${shown.length > 120 ? `${shown.slice(0, 119)}…` : shown}. Tell the service's operators.`,
    );
  });
}

function stopped(action: string, cause: unknown): ProbelabError {
  return new ProbelabError(`Can't ${action}: it was interrupted, run it again.`, {
    cause,
    code: "ABORTED",
  });
}
