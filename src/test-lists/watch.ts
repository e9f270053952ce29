import { setTimeout as sleep } from "node:timers/promises";
import { ProbelabError } from "../base/error.js";
import { changes, churn, WINDOW, type Changes } from "./churn.js";
import { checkBaseUrl, checkCountry, fetchTestList } from "./fetch.js";
import type { GetLimits } from "./http-get.js";
import { readState, writeState, type Poll, type WatchState } from "./watch-state.js";

/** What to watch. */
export interface WatchOptions extends GetLimits {
  readonly baseUrl?: string;
  readonly countries: readonly string[];
  /** Seconds from one poll to the next; default 600. */
  readonly everySeconds?: number;
  /** File that keeps the state over restarts. */
  readonly state: string;
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

/**
 * Polls the test lists of countries until `signal` is aborted, and tells the churn against the poll
 * before. A failed poll has no number, and the next good one is compared with the last good one,
 * unless that is more than three steps ago. After a restart it goes on where it was: the first poll
 * is made when it is due.
 *
 * @throws ProbelabError where an option can't be used or the state can't be read or written.
 */
export async function watchTestLists(options: WatchOptions): Promise<void> {
  const { everySeconds = 600, signal } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  const countries = [...new Set(options.countries.map(checkCountry))];
  if (countries.length === 0 || !(everySeconds >= 1 && everySeconds <= DAY / 1000)) {
    throw new ProbelabError(
      `Can't watch ${countries.length} countries every ${everySeconds} s: name at least one country and a step from 1 s to a day.`,
    );
  }
  let state = await readState(options.state, baseUrl);
  const step = everySeconds * 1000;
  let due = Math.max(Date.now(), Math.min(lastPoll(state) + step, Date.now() + step));
  for (;;) {
    await sleep(due - Date.now(), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    for (const country of countries) {
      const polled = await pollOnce(state, country, baseUrl, options, step);
      if (polled === null) return;
      state = keep(polled.state, polled.poll);
      options.onPoll?.(polled.poll, polled.changed);
      await writeState(options.state, state);
    }
    await options.onRound?.(state);
    // Steps that a long poll ran over are left out, not made up for.
    due += step * Math.max(1, Math.ceil((Date.now() - due) / step));
  }
}

/** One poll of a country; null where the watch was ended meanwhile. */
async function pollOnce(
  state: WatchState,
  country: string,
  baseUrl: string,
  options: WatchOptions,
  step: number,
): Promise<{ state: WatchState; poll: Poll; changed: Changes | null } | null> {
  const at = new Date().toISOString();
  try {
    const list = await fetchTestList({ ...options, baseUrl, country });
    const before = state.lists[country];
    const urls = list.entries.slice(0, WINDOW).map(({ url }) => url);
    const next = { ...state, lists: { ...state.lists, [country]: { at, urls } } };
    const none = (why: string) => ({
      state: next,
      poll: { at, country, churn: null, why },
      changed: null,
    });
    if (before === undefined) return none("the first poll, nothing to compare with");
    const age = Date.parse(at) - Date.parse(before.at);
    if (age > OLDEST_STEPS * step + step / 2) {
      return none(`the last good poll was at ${before.at}, too long ago to compare with`);
    }
    const old = before.urls.map((url) => ({ url }));
    const value = churn(old, list);
    if (value === null) return none("both lists are empty");
    return { state: next, poll: { at, country, churn: value }, changed: changes(old, list) };
  } catch (error) {
    if (options.signal.aborted) return null;
    if (!(error instanceof ProbelabError)) throw error;
    return { state, poll: { at, country, churn: null, why: error.message }, changed: null };
  }
}

/** The state with one more poll, without those that are older than a day. */
function keep(state: WatchState, poll: Poll): WatchState {
  const oldest = Date.parse(poll.at) - DAY;
  const polls = state.polls.filter(({ at }) => Date.parse(at) >= oldest);
  return { ...state, polls: [...polls, poll] };
}

function lastPoll(state: WatchState): number {
  return Math.max(0, ...state.polls.map(({ at }) => Date.parse(at)));
}
