import { setTimeout } from "node:timers/promises";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { currentSignal } from "../interrupt/current-signal.js";
import { last } from "../time/time-range.js";
import { refuseUnknown } from "../base/check-options.js";
import type { Value } from "../result/result.js";
import { maskAddresses } from "../mask/addresses.js";
import { and, bind, print, raw, sql } from "../query/sql.js";
import { LOG_FILTERS, logConditions, type LogFilter } from "./log-filter.js";
import { fieldsOf, fieldText, instantSql, logTable, messageText } from "./log-table.js";
import { checkPriorities } from "./priority.js";

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

/** What to follow, and how late a line may be stored. */
interface FollowerOptions {
  readonly filter: LogFilter;
  /** Lines before it are not given. */
  readonly since: Date;
  /** How long after its own time a line may still arrive, in milliseconds. */
  readonly lateness: number;
  /** The present, by which lateness is told. */
  readonly now: () => Date;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds new lines, each once.
 *
 * A line is known by all its fields; equal lines are counted, since a program may say the same twice
 * in a microsecond. Each poll reads what could have come since the one before: from that poll's
 * present minus the lateness. So a line that is stored up to `lateness` after its own time is given
 * exactly once, in whatever order lines come; what was given is forgotten once it lies behind that.
 *
 * A poll that fails changes nothing. Lines of an outage are stored when the server is back, however
 * long it was away: until a poll that began `lateness` after the first that succeeded again, each
 * reads from where the last one before the outage would have read on.
 */
export class LogFollower {
  readonly #database: Database;
  readonly #options: FollowerOptions;
  /** Raw time and other fields of the lines given, to how often and when. */
  readonly #given = new Map<string, { readonly count: number; readonly ms: number }>();
  #horizon: Date;
  #failed = false;
  /** Until a poll begins after it, in milliseconds since 1970, the horizon stays where an outage found it. */
  #heldUntil = -Infinity;

  constructor(database: Database, options: FollowerOptions) {
    this.#database = database;
    this.#options = options;
    this.#horizon = options.since;
  }

  /** How many different lines are kept in mind: those that a poll may read again. */
  get remembered(): number {
    return this.#given.size;
  }

  /** The lines that are new since the last poll, the oldest first. */
  async poll(): Promise<LogLine[]> {
    const { filter, since, lateness, now, signal } = this.#options;
    const begun = now();
    const table = await logTable(this.#database);
    const time = table.time;
    const fields = fieldsOf(table);
    const from = bind("from", time.bound(this.#horizon).type, time.bound(this.#horizon).value);
    const bound = sql`${raw(time.sql)} >= ${from}`;
    const where = print(and([bound, ...logConditions(filter, table)]));
    const columns = fields.map((field) => {
      return `${field === "message" ? messageText(table) : fieldText(field, table)} AS _${field}`;
    });
    const question = {
      sql: `SELECT toString(${time.sql}) AS _raw, ${instantSql(time.sql, table)} AS _t, ${columns.join(", ")}, count() AS _n
FROM ${table.from}
WHERE ${where.sql}
GROUP BY ${time.sql}, ${fields.map((field) => `_${field}`).join(", ")}
ORDER BY ${time.sql}`,
      parameters: where.parameters,
      action: "follow the logs",
      signal,
      whole: true,
    } as const;
    const ask = async () => {
      if (filter.priority !== undefined) {
        await checkPriorities(this.#database, table, print(bound));
      }
      return this.#database.ask(question);
    };
    const { table: found } = await ask().catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    if (this.#failed) this.#heldUntil = begun.getTime() + lateness;
    this.#failed = false;
    const fresh: LogLine[] = [];
    for (const row of found.objects() as Record<string, Value>[]) {
      // As text, a time that is none may sort behind the horizon for ever.
      if (Number(row["_t"]) < this.#horizon.getTime()) continue;
      const key = JSON.stringify([row["_raw"], ...fields.map((field) => row[`_${field}`])]);
      const before = this.#given.get(key)?.count ?? 0;
      const count = Math.max(before, Number(row["_n"]));
      this.#given.set(key, { count, ms: Number(row["_t"]) });
      const line = { t: row["_t"], ...Object.fromEntries(fields.map((f) => [f, row[`_${f}`]])) };
      for (let n = before; n < count; n++) fresh.push(line as LogLine);
    }
    if (begun.getTime() >= this.#heldUntil) {
      this.#horizon = new Date(Math.max(since.getTime(), begun.getTime() - lateness));
    }
    for (const [key, { ms }] of this.#given) {
      if (ms < this.#horizon.getTime()) this.#given.delete(key);
    }
    return fresh;
  }
}
