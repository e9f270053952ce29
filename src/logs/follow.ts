import { setTimeout } from "node:timers/promises";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { currentSignal } from "../interrupt/current-signal.js";
import { last } from "../time/time-range.js";
import { refuseUnknown } from "../base/check-options.js";
import type { LogFilter } from "./log-filter.js";
import { LogFollower, type LogLine } from "./log-follower.js";
import { LOG_FILTERS } from "./log-table.js";
import { maskAddresses } from "../mask/addresses.js";

/** What to follow. */
export interface FollowOptions extends LogFilter {
  /** Lines before it are not given; default: the present. */
  readonly since?: Date;
  /** How often the server is asked; default "2 seconds". */
  readonly every?: string;
  /** How long after its own time a line may be stored and still be given; default "1 minute". Each question reads as much. */
  readonly lateness?: string;
  /** True hides e-mail and IP addresses in the messages (default false). */
  readonly mask?: boolean;
  /** Ends it; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
  /** Takes the sentences that say that the server was lost, and that it answers again. Default: console.warn. */
  readonly onOutage?: (sentence: string) => void;
}

const OPTIONS = [
  ...LOG_FILTERS,
  ...["since", "every", "lateness", "mask", "signal", "onOutage"],
] as const;

/** The longest wait until a lost server is asked again, where `every` is not longer still. */
const LONGEST_WAIT = 30_000;

/** `lab.logs.follow`: see {@link Logs.follow}. */
export function follow(
  open: () => Promise<Database>,
  options: FollowOptions = {},
): AsyncGenerator<LogLine, void, undefined> {
  refuseUnknown(options, OPTIONS, "follow the logs");
  // Taken now: the generator's body may run outside of the cell that made it.
  const signal = options.signal ?? currentSignal();
  const since = options.since ?? new Date();
  if (!(since instanceof Date) || Number.isNaN(since.getTime())) {
    throw new ProbelabError(
      "Can't follow the logs since something that is no Date: pass since: new Date(…), or leave it out for the present.",
    );
  }
  const every = milliseconds(options.every ?? "2 seconds");
  const lateness = milliseconds(options.lateness ?? "1 minute");
  // Who follows must learn that the silence is an outage.
  const onOutage = options.onOutage ?? ((sentence: string) => console.warn(sentence));
  return lines(open, { ...options, since, every, lateness, signal, onOutage });
}

type Checked = Omit<FollowOptions, "every" | "lateness" | "signal"> & {
  readonly onOutage: (sentence: string) => void;
  readonly since: Date;
  readonly every: number;
  readonly lateness: number;
  readonly signal: AbortSignal | undefined;
};

async function* lines(
  open: () => Promise<Database>,
  options: Checked,
): AsyncGenerator<LogLine, void, undefined> {
  const { since, every, lateness, mask, signal } = options;
  const now = () => new Date();
  try {
    const database = await open();
    const follower = new LogFollower(database, { filter: options, since, lateness, now, signal });
    // A server that never answered is more likely misspelt than lost.
    let fresh = await follower.poll();
    while (!signal?.aborted) {
      for (const line of fresh) {
        if (signal?.aborted) return;
        yield mask ? { ...line, message: maskAddresses(line.message) } : line;
      }
      await setTimeout(every, undefined, signal && { signal });
      fresh = await pollUntilAnswered(follower, database.source, options);
    }
  } catch (error) {
    // An interrupt is how following ends.
    if (!signal?.aborted) throw error;
  }
}

/** A poll, made again with ever longer waits while the server is away. */
async function pollUntilAnswered(
  follower: LogFollower,
  source: string,
  { every, signal, onOutage }: Checked,
): Promise<LogLine[]> {
  let lost: number | null = null;
  for (let wait = every; ; wait = Math.min(2 * wait, Math.max(every, LONGEST_WAIT))) {
    try {
      const fresh = await follower.poll();
      if (lost !== null) {
        const seconds = Math.round((Date.now() - lost) / 1000);
        onOutage(`${source} answers again after ${seconds} s; lines stored meanwhile follow.`);
      }
      return fresh;
    } catch (error) {
      if (signal?.aborted || !isOutage(error)) throw error;
      if (lost === null) onOutage(`${error.message} Asking again until it answers.`);
      lost ??= Date.now();
      await setTimeout(wait, undefined, signal && { signal });
    }
  }
}

/** Node's codes of a lost connection, and ClickHouse's of a server that ends or has lost its shards. */
const OUTAGES: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EAI_AGAIN", "ENOTFOUND"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENETRESET"],
  // SOCKET_TIMEOUT, NETWORK_ERROR, ABORTED, ALL_CONNECTION_TRIES_FAILED, QUERY_WAS_CANCELLED
  ...["209", "210", "236", "279", "394"],
]);

/** True where asking again may help: the server is away, or a proxy before it says so. */
function isOutage(error: unknown): error is ProbelabError {
  if (!(error instanceof ProbelabError)) return false;
  const { code, message = "" } = (error.cause ?? {}) as { code?: unknown; message?: string };
  if (code !== undefined) return OUTAGES.has(code);
  return /socket hang up|timeout|aborted|\b50[234] (Bad Gateway|Service|Gateway)/i.test(message);
}

function milliseconds(duration: string): number {
  const { start, end } = last(duration, { now: new Date(Date.UTC(2001, 0, 1)) });
  return end.getTime() - start.getTime();
}
