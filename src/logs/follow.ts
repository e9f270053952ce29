import { setTimeout } from "node:timers/promises";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { Database } from "../database/database.js";
import { currentSignal } from "../interrupt/current-signal.js";
import { maskAddresses } from "../mask/addresses.js";
import { bind, print, raw, sql } from "../query/sql.js";
import type { Value } from "../result/result.js";
import { last } from "../time/time-range.js";
import {
  fieldsOf,
  fieldText,
  filterConditions,
  fromLines,
  instantSql,
  LOG_FILTERS,
  messageText,
  type LogFilter,
} from "./lines.js";

/** A log line. */
export interface LogLine {
  readonly t: Date;
  /** The program; null where the line names none. */
  readonly identifier: string | null;
  /** Empty where the table holds NULL. */
  readonly message: string;
  /** "0" (emerg) to "7" (debug), where the table has it. */
  readonly priority?: string | null;
  readonly host?: string | null;
}

/** Options of `lab.logs.follow`. */
export interface FollowOptions extends LogFilter {
  /** The time of the first lines; default: the present. */
  readonly since?: Date;
  /** Time between two questions; default "2 seconds". */
  readonly every?: string;
  /** Longest time from a line's own time until it is stored; default "1 minute". Each question reads as much. */
  readonly lateness?: string;
  /** True hides e-mail and IP addresses in the messages; default false. */
  readonly mask?: boolean;
  /** Ends it; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
  /** Takes a sentence when the server is lost, and when it answers again; default console.warn. */
  readonly onOutage?: (sentence: string) => void;
}

/** The longest wait until a lost server is asked again, where `every` isn't longer. */
const LONGEST_WAIT = 30_000;

/** `lab.logs.follow`: see {@link Logs.follow}. */
export function follow(
  open: () => Promise<Database>,
  options: FollowOptions = {},
): AsyncGenerator<LogLine, void, undefined> {
  const own = ["since", "every", "lateness", "mask", "signal", "onOutage"];
  refuseUnknown(options, [...LOG_FILTERS, ...own], "follow the logs");
  const since = options.since ?? new Date();
  if (!(since instanceof Date) || Number.isNaN(since.getTime())) {
    throw new ProbelabError(
      "Can't follow the logs since something that is no Date: pass since: new Date(…), or leave it out for the present.",
    );
  }
  return lines(open, {
    ...options,
    since,
    every: milliseconds(options.every ?? "2 seconds"),
    lateness: milliseconds(options.lateness ?? "1 minute"),
    // Taken now: the generator's body may run outside of the cell that made it.
    signal: options.signal ?? currentSignal(),
    onOutage: options.onOutage ?? ((sentence) => console.warn(sentence)),
  });
}

type Checked = Omit<FollowOptions, "every" | "lateness" | "signal"> &
  Required<Pick<FollowOptions, "since" | "onOutage">> & {
    readonly every: number;
    readonly lateness: number;
    readonly signal: AbortSignal | undefined;
  };

async function* lines(
  open: () => Promise<Database>,
  options: Checked,
): AsyncGenerator<LogLine, void, undefined> {
  const { since, every, lateness, mask, signal, onOutage } = options;
  const wait = (ms: number) => setTimeout(ms, undefined, signal && { signal });
  try {
    const database = await open();
    const now = () => new Date();
    const follower = new LogFollower(database, { filter: options, since, lateness, now, signal });
    // A server that never answered is more likely misspelt than lost: the first error is thrown.
    let fresh = await follower.poll();
    for (let lost: number | null = null, pause = every; ;) {
      for (const line of fresh) {
        if (signal?.aborted) return;
        yield mask ? { ...line, message: maskAddresses(line.message) } : line;
      }
      await wait(pause);
      try {
        fresh = await follower.poll();
        if (lost !== null) {
          const seconds = Math.round((Date.now() - lost) / 1000);
          onOutage(
            `${database.source} answers again after ${seconds} s; lines stored meanwhile follow.`,
          );
        }
        [lost, pause] = [null, every];
      } catch (error) {
        if (signal?.aborted || !isOutage(error)) throw error;
        if (lost === null) onOutage(`${error.message} Asking again until it answers.`);
        else pause = Math.min(2 * pause, Math.max(every, LONGEST_WAIT));
        lost ??= Date.now();
        fresh = [];
      }
    }
  } catch (error) {
    // An interrupt is how following ends.
    if (!signal?.aborted) throw error;
  }
}

/** Codes of a lost connection, and of a server that ends or has lost its shards. */
const LOST =
  /^(E(CONN|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND|HOST|NET)\w*|SOCKET_TIMEOUT|NETWORK_ERROR|ABORTED|ALL_CONNECTION_TRIES_FAILED|QUERY_WAS_CANCELLED)$/;

/** True where asking again may help: the server is away, or a proxy before it says so. */
function isOutage(error: unknown): error is ProbelabError {
  if (!(error instanceof ProbelabError)) return false;
  const { code = "", message } = error;
  return (
    LOST.test(code) || /does not answer|connection broke|50[234] (Bad|Service|Gate)/.test(message)
  );
}

function milliseconds(duration: string): number {
  const { start, end } = last(duration, { now: new Date(Date.UTC(2001, 0, 1)) });
  return end.getTime() - start.getTime();
}

interface FollowerOptions {
  readonly filter: LogFilter;
  readonly since: Date;
  /** In milliseconds. */
  readonly lateness: number;
  readonly now: () => Date;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds new lines, each once.
 *
 * A line is known by all its fields; equal lines are counted, since a program may say the same twice
 * in a microsecond. Each poll reads back to the present of the one before it minus the lateness: a
 * line that is stored within `lateness` of its own time is given exactly once, in whatever order
 * lines come. Lines behind that are forgotten.
 *
 * A poll that fails changes nothing. Lines of an outage are stored when the server is back: until a
 * poll begins `lateness` after the first that succeeded again, each reads back to where the outage
 * found the last one.
 */
export class LogFollower {
  readonly #database: Database;
  readonly #options: FollowerOptions;
  /** The given lines by raw time and fields, with their number and time. */
  readonly #given = new Map<string, { readonly count: number; readonly ms: number }>();
  #horizon: Date;
  #failed = false;
  /** The horizon stays until a poll begins after it, in milliseconds since 1970. */
  #heldUntil = -Infinity;

  constructor(database: Database, options: FollowerOptions) {
    this.#database = database;
    this.#options = options;
    this.#horizon = options.since;
  }

  /** Number of different lines in memory: those that a poll may read again. */
  get remembered(): number {
    return this.#given.size;
  }

  /** Reads the lines that are new since the last poll, the oldest first. */
  async poll(): Promise<LogLine[]> {
    const { since, lateness, now } = this.#options;
    const begun = now().getTime();
    const { rows, fields } = await this.#read().catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    if (this.#failed) this.#heldUntil = begun + lateness;
    this.#failed = false;
    const fresh: LogLine[] = [];
    for (const row of rows) {
      // In a column of text, a time that is none may sort behind the horizon for ever.
      if (Number(row["_t"]) < this.#horizon.getTime()) continue;
      const key = JSON.stringify([row["_raw"], ...fields.map((field) => row[`_${field}`])]);
      const before = this.#given.get(key)?.count ?? 0;
      const count = Math.max(before, Number(row["_n"]));
      this.#given.set(key, { count, ms: Number(row["_t"]) });
      const line = { t: row["_t"], ...Object.fromEntries(fields.map((f) => [f, row[`_${f}`]])) };
      for (let n = before; n < count; n++) fresh.push(line as LogLine);
    }
    if (begun >= this.#heldUntil) {
      this.#horizon = new Date(Math.max(since.getTime(), begun - lateness));
    }
    for (const [key, { ms }] of this.#given) {
      if (ms < this.#horizon.getTime()) this.#given.delete(key);
    }
    return fresh;
  }

  /** The lines from the horizon on, equal ones as one. */
  async #read() {
    const { filter, signal } = this.#options;
    const table = await this.#database.table("logs");
    const { time } = table;
    const fields = fieldsOf(table);
    const { type, value } = time.bound(this.#horizon);
    const coarse = (time.coarse?.({ start: this.#horizon }) ?? []).map((part) => `${part} AND `);
    const from = sql`${raw(coarse.join(""))}${raw(time.sql)} >= ${bind("from", type, value)}`;
    const conditions = [from, ...(await filterConditions(this.#database, table, filter, from))];
    const columns = fields.map((field) => {
      return `${field === "message" ? messageText(table) : fieldText(field, table)} AS _${field}`;
    });
    const names = fields.map((field) => `_${field}`);
    const question =
      print(sql`SELECT ${raw(`toString(${time.sql}) AS _raw, ${instantSql(time.sql, table)} AS _t`)},
  ${raw(columns.join(", "))}, count() AS _n
${fromLines({ table, conditions })}
GROUP BY ${raw([time.sql, ...names].join(", "))}
ORDER BY ${raw(time.sql)}`);
    const action = "follow the logs";
    const answer = await this.#database.ask({ ...question, action, signal, whole: true });
    return { rows: answer.table.objects() as Record<string, Value>[], fields };
  }
}
