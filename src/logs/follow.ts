import { setTimeout } from "node:timers/promises";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../error.js";
import { currentSignal } from "../interrupt/current-signal.js";
import { last } from "../time/time-range.js";
import type { LogFilter } from "./log-filter.js";
import { LogFollower, type LogLine } from "./log-follower.js";
import { maskAddresses } from "./mask-addresses.js";

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
}

/** `lab.logs.follow`: see {@link Logs.follow}. */
export function follow(
  open: () => Promise<Database>,
  options: FollowOptions = {},
): AsyncGenerator<LogLine, void, undefined> {
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
  return lines(open, { ...options, since, every, lateness, signal });
}

type Checked = Omit<FollowOptions, "every" | "lateness" | "signal"> & {
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
    const follower = new LogFollower(await open(), {
      filter: options,
      since,
      lateness,
      now,
      signal,
    });
    while (!signal?.aborted) {
      for (const line of await follower.poll()) {
        if (signal?.aborted) return;
        yield mask ? { ...line, message: maskAddresses(line.message) } : line;
      }
      await setTimeout(every, undefined, signal && { signal });
    }
  } catch (error) {
    // An interrupt is how following ends.
    if (!signal?.aborted) throw error;
  }
}

function milliseconds(duration: string): number {
  const { start, end } = last(duration, { now: new Date(Date.UTC(2001, 0, 1)) });
  return end.getTime() - start.getTime();
}
