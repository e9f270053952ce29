import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";
import { withLock } from "../files/with-lock.js";
import { writeWhole } from "../files/write-whole.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { changes, CHURN, WINDOW, type Changes } from "./churn.js";
import { checkBaseUrl, checkCountry, fetchTestList, type FetchLimits } from "./fetch.js";
import { COUNTRY_WIDE } from "./test-list.js";

/** One poll of one country; `churn` is null where it failed or there was nothing to compare with. */
export interface Poll {
  readonly at: string;
  readonly country: string;
  /** Percent, 0 to 100. */
  readonly churn: number | null;
  /** Why there is no number. */
  readonly why?: string | undefined;
}

/** What a watch remembers over its restarts; times in ISO 8601, UTC. */
export interface WatchState {
  readonly version: 1;
  readonly baseUrl: string;
  /** The first 100 URLs of the last good poll, by country. */
  readonly lists: Readonly<
    Record<string, { readonly at: string; readonly urls: readonly string[] }>
  >;
  /** The polls of the last day, oldest first. */
  readonly polls: readonly Poll[];
}

/** What to watch. */
export interface WatchOptions extends FetchLimits {
  readonly baseUrl?: string;
  readonly countries: readonly string[];
  /** Seconds from one poll to the next; default 600. */
  readonly everySeconds?: number;
  /** File that keeps the state over restarts. */
  readonly state: string;
  /** Told the state that it goes on from. */
  readonly onStart?: (state: WatchState) => void;
  /** Told about each poll, with what changed where there was something to compare with. */
  readonly onPoll?: (poll: Poll, changed: Changes | null) => void;
  /** Told once all countries were polled and the state is on disk. */
  readonly onRound?: (state: WatchState) => void | Promise<void>;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

const DAY = 86_400_000;
/** A list that is older than so many steps is nothing to compare with: the number would span them all. */
const OLDEST_STEPS = 3;

/** The state before the first poll. */
export function newState(baseUrl: string): WatchState {
  return { version: 1, baseUrl, lists: {}, polls: [] };
}

/**
 * Polls the test lists of countries until `signal` is aborted, and tells the churn against the poll
 * before. A failed poll has no number, and the next good one is compared with the last good one,
 * unless that is more than three steps ago. After a restart it goes on where it was: the first poll
 * is made when it is due.
 *
 * @throws ProbelabError where an option can't be used or the state can't be read or written.
 */
export async function watchTestLists(options: WatchOptions): Promise<void> {
  const { everySeconds = 600 } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  const countries = [...new Set(options.countries.map(checkCountry))];
  if (countries.length === 0 || !(everySeconds >= 1 && everySeconds <= DAY / 1000)) {
    throw new ProbelabError(
      `Can't watch ${countries.length} countries every ${everySeconds} s: name at least one country and a step from 1 s to a day.`,
    );
  }
  await withLock(
    `${options.state}.lock`,
    () => pollRounds({ ...options, baseUrl, countries }, everySeconds * 1000),
    0,
    `Can't watch with the state in ${options.state}: another watch uses it. End that one, or name another file with --state.`,
  );
}

async function pollRounds(
  options: WatchOptions & { readonly baseUrl: string },
  step: number,
): Promise<void> {
  const { baseUrl, countries, signal } = options;
  let state = await readState(options.state, baseUrl);
  options.onStart?.(state);
  const last = Math.max(0, ...state.polls.map(({ at }) => Date.parse(at)));
  let due = Math.max(Date.now(), Math.min(last + step, Date.now() + step));
  for (;;) {
    await sleep(due - Date.now(), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    for (const country of countries) {
      const at = new Date().toISOString();
      const polled = await pollOnce(state.lists[country], { country, baseUrl, at, step }, options);
      if (polled === null) return;
      const { changed, why, urls } = polled;
      const churn =
        changed && (100 * (changed.added.length + changed.removed.length)) / changed.union;
      const poll = { at, country, churn, ...(why !== undefined && { why }) };
      const recent = state.polls.filter((each) => Date.parse(each.at) >= Date.parse(at) - DAY);
      const lists = urls ? { ...state.lists, [country]: { at, urls } } : state.lists;
      state = { ...state, lists, polls: [...recent, poll] };
      options.onPoll?.(poll, changed);
      await writeWhole(options.state, `${JSON.stringify(state)}\n`);
    }
    await options.onRound?.(state);
    // Steps that a long poll ran over are left out, not made up for.
    due += step * Math.max(1, Math.ceil((Date.now() - due) / step));
  }
}

/** What a poll found: the first URLs, what changed, or why that can't be told; null where the watch was ended. */
async function pollOnce(
  before: WatchState["lists"][string] | undefined,
  { country, baseUrl, at, step }: { country: string; baseUrl: string; at: string; step: number },
  options: WatchOptions,
): Promise<{ urls?: readonly string[]; changed: Changes | null; why?: string } | null> {
  try {
    const { entries } = await fetchTestList({ ...options, baseUrl, country });
    const urls = entries.slice(0, WINDOW).map(({ url }) => url);
    const changed = changes(before?.urls.map((url) => ({ url })) ?? [], entries);
    const age = before === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
    const why =
      before === undefined
        ? "the first poll, nothing to compare with"
        : age > (OLDEST_STEPS + 0.5) * step
          ? `the last good poll was at ${before.at}, too long ago to compare with`
          : changed.union === 0
            ? "both lists are empty"
            : undefined;
    return why === undefined ? { urls, changed } : { urls, changed: null, why };
  } catch (error) {
    if (options.signal.aborted) return null;
    if (!(error instanceof ProbelabError)) throw error;
    return { changed: null, why: error.message };
  }
}

/**
 * Reads a watch's state; a new one where there is no file.
 *
 * @throws ProbelabError where the file is no such state, or of a watch of another API.
 */
export async function readState(path: string, baseUrl: string): Promise<WatchState> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new ProbelabError(
      `Can't read the state of the watch in ${path}: ${error.message}. Name another file with --state.`,
      { cause: error },
    );
  });
  if (text === null) return newState(baseUrl);
  const { z } = await import("zod");
  const schema = z.object({
    version: z.literal(1),
    baseUrl: z.string(),
    lists: z.record(z.string(), z.object({ at: z.iso.datetime(), urls: z.array(z.string()) })),
    polls: z.array(
      z.object({
        at: z.iso.datetime(),
        country: z.string(),
        churn: z.number().nullable(),
        why: z.string().optional(),
      }),
    ),
  });
  let data: WatchState;
  try {
    data = schema.parse(JSON.parse(text));
  } catch (error) {
    throw new ProbelabError(
      `Can't read the state of the watch in ${path}: it is no such state. Name another file with --state, or remove it to start anew.`,
      { cause: error },
    );
  }
  if (data.baseUrl !== baseUrl) {
    throw new ProbelabError(
      `Can't go on with the state in ${path}: it belongs to a watch of ${data.baseUrl}, not of ${baseUrl}. Name another file with --state.`,
    );
  }
  return data;
}

/**
 * The polls of the last day as a Result: `t`, `country`, `churn` in percent, null (a gap) where a
 * poll failed or had nothing to compare with.
 */
export async function churnResult({ polls, baseUrl }: WatchState, now: Date): Promise<Result> {
  const aq = await import("arquero");
  const country = polls.map((poll) => poll.country);
  const churn = polls.map((poll) => poll.churn);
  const failed = churn.filter((value) => value === null).length;
  const gaps = `${failed} of ${polls.length} polls have no number: they are gaps.`;
  return new Result(aq.table({ t: polls.map(({ at }) => new Date(at)), country, churn }), {
    sql: "",
    parameters: {},
    range: between(new Date(now.getTime() - DAY), now),
    source: baseUrl,
    server: "",
    rowsRead: polls.length,
    bytesRead: 0,
    seconds: 0,
    askedAt: now,
    columns: {
      dimensions: [{ name: "country", order: [...new Set(country)].sort() }],
      measures: [CHURN],
    },
    reductions: [],
    notes: [...(failed === 0 ? [] : [gaps]), COUNTRY_WIDE],
  });
}
