import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "undici";
import { checkOptions, refuseUnknown, type Rule, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { grouped, shownValue } from "../../base/text.js";
import { TestList, type TestListEntry } from "./test-list.js";

/** The list to fetch, and its limits. */
export interface FetchOptions {
  /** The API's address, without `/api/v1`. @default `PROBELAB_API` */
  readonly baseUrl?: string;
  /** Two letters, such as `IT`. */
  readonly country: string;
  /** Seconds that an attempt may take, up to its last byte. @default 30 */
  readonly timeoutSeconds?: number;
  /** Attempts after the first. @default 3 */
  readonly retries?: number;
  /** Stops the request. */
  readonly signal?: AbortSignal;
}

const PATH = "/api/v1/test-list/urls";
/** The longest wait that a server's `Retry-After` gets; a poll can't wait for more. */
const LONGEST_WAIT_SECONDS = 60;
const MOST_ANSWERED = 20_000_000;

/** A failure that the next attempt may not meet. */
class Passing extends Error {
  constructor(
    message: string,
    readonly waitSeconds = 0,
  ) {
    super(message);
  }
}

const number = (least: number, most: number): Rule => ({
  fits: (value) => Number(value) >= least && Number(value) <= most,
  pass: `a number from ${least} to ${most}`,
});
const checked: Rule = { fits: () => true, pass: "" };
const OPTIONS: Rules<FetchOptions> = {
  baseUrl: checked,
  country: checked,
  timeoutSeconds: number(0.001, 86_400),
  retries: number(0, 100),
  signal: checked,
};

/** `testLists.fetch`: see {@link testLists}. */
export async function fetchTestList(options: FetchOptions): Promise<TestList> {
  refuseUnknown(options, Object.keys(OPTIONS), "fetch a test list");
  const country = checkCountry(options.country);
  const base = checkBaseUrl(options.baseUrl);
  const action = `fetch the test list of ${country}`;
  checkOptions(options, OPTIONS, action);
  const { timeoutSeconds = 30, retries = 3, signal } = options;
  const parameters = { country_code: country, debug: "True" };
  const url = new URL(`${base}${PATH}?${new URLSearchParams(parameters).toString()}`);
  for (let attempt = 1; ; attempt++) {
    const askedAt = new Date();
    try {
      const { body, bytesRead } = await getJson(url, action, timeoutSeconds, signal);
      const source = `${url.origin}${url.pathname}`;
      const entries = readAnswer(body, action);
      return await TestList.of(country, entries, { source, parameters, bytesRead, askedAt });
    } catch (error) {
      if (signal?.aborted) throw interrupted(action, error);
      if (!(error instanceof Passing)) throw error;
      if (attempt > retries) {
        const times = attempt === 1 ? "once" : `${attempt} times`;
        throw new ProbelabError(
          `Can't ${action}: tried ${times}, ${error.message}. Check that ${url.origin} answers, or try later.`,
          { cause: error },
        );
      }
      // Half of the wait is random, so that several clients don't come back together.
      const backoff = 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      const wait = Math.min(Math.max(backoff, error.waitSeconds), LONGEST_WAIT_SECONDS);
      await sleep(wait * 1000, undefined, signal && { signal }).catch((cause: unknown) => {
        throw interrupted(action, cause);
      });
    }
  }
}

/** A country code in capitals. @throws ProbelabError for anything but two letters. */
export function checkCountry(country: unknown): string {
  if (typeof country === "string" && /^[a-z]{2}$/i.test(country)) return country.toUpperCase();
  throw new ProbelabError(
    `Can't fetch the test list of ${shownValue(country)}: pass a country of two letters, such as "IT".`,
  );
}

/** The address without a slash at its end. @throws ProbelabError for anything but http(s), or with a user. */
export function checkBaseUrl(baseUrl: string | undefined = process.env["PROBELAB_API"]): string {
  const url = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || /@|\/\//.test(url.pathname)) {
    // The value isn't quoted: it may hold a password.
    throw new ProbelabError(
      `Can't fetch a test list from ${baseUrl ? "that address" : "nowhere"}: pass the API's address as baseUrl (or PROBELAB_API), such as "https://api.example.org".`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ProbelabError(
      `Can't fetch a test list with a user or password in the address of ${url.host}: leave them out, the endpoint needs none.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** Makes one attempt, through the proxy of the environment. */
async function getJson(
  url: URL,
  action: string,
  timeoutSeconds: number,
  signal: AbortSignal | undefined,
) {
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
    let bytesRead = 0;
    // Unpacked bytes are counted: a small packed body may hold gigabytes.
    for await (const part of response.body ?? []) {
      bytesRead += (part as Uint8Array).length;
      if (bytesRead > MOST_ANSWERED) {
        throw new ProbelabError(
          `Can't ${action}: the answer is larger than 20,000,000 bytes. Check that ${url.origin} is the API's address.`,
        );
      }
      parts.push(part as Uint8Array);
    }
    return { body: parsed(Buffer.concat(parts)), bytesRead };
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
      `Can't ${action}: ${url.origin} redirects to ${base ?? "an unreadable address"}, and redirects are not followed. Pass that baseUrl if it is the right one.`,
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
      `Can't ${action}: the answer is of type ${type.slice(0, 80)}, not JSON. Check that ${url.origin} is the API's address.`,
    );
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8").replace(/^\uFEFF/, ""));
  } catch {
    throw new Passing(`the answer of ${grouped(body.length)} bytes is not whole JSON`);
  }
}

/** The entries of an answer: `results`, an array of objects with a string `url` each. */
function readAnswer(body: unknown, action: string): TestListEntry[] {
  const { results } = (body ?? {}) as { readonly results?: unknown };
  if (!Array.isArray(results)) {
    throw new ProbelabError(
      `Can't ${action}: the answer has no array "results". Check that the baseUrl is the API's.`,
    );
  }
  const wrong = results.findIndex(
    (entry: unknown) => typeof (entry as { url?: unknown } | null)?.url !== "string",
  );
  if (wrong < 0) return results as TestListEntry[];
  throw new ProbelabError(
    `Can't ${action}: entry ${wrong + 1} of ${results.length} has no string url: ${shownValue(results[wrong])}. Report it to the service's operators.`,
  );
}

function interrupted(action: string, cause: unknown): ProbelabError {
  return new ProbelabError(`Can't ${action}: it was interrupted, run it again.`, {
    cause,
    code: "ABORTED",
  });
}
