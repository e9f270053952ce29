import { setTimeout } from "node:timers/promises";
import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import type { Database } from "../../database/database.js";
import { currentSignal } from "../../base/current-signal.js";
import { maskAddresses } from "../../result/mask.js";
import { bind, print, raw, sql } from "../../query/sql.js";
import type { Value } from "../../result/result.js";
import { last } from "../../time/time-range.js";
import {
  fieldsOf,
  fieldText,
  filterConditions,
  fromLines,
  instantSql,
  LOG_FILTERS,
  type LogFilter,
} from "./lines.js";

/** A log line. */
export type LogLine = {
  readonly t: Date;
  /** The program; null where the line names none. */
  readonly identifier: string | null;
  /** Empty where the table holds NULL. */
  readonly message: string;
  /** "0" (emerg) to "7" (debug), where the table has it. */
  readonly priority?: string | null;
  readonly host?: string | null;
};

/** Options of `lab.logs.follow`. */
export interface FollowOptions extends LogFilter {
  /** The time of the first lines, with all lines of that very time. @default the present */
  readonly since?: Date;
  /** Time between two questions. @default "2 seconds" */
  readonly every?: string;
  /** Longest time from a line's own time until it is stored; each question reads as much. @default "1 minute" */
  readonly lateness?: string;
  /** True hides e-mail and IP addresses in the messages. @default false */
  readonly mask?: boolean;
  /** Ends it. @default the interrupt of the running cell */
  readonly signal?: AbortSignal;
}

/** `lab.logs.follow`: see {@link Logs.follow}. */
export function follow(
  open: () => Promise<Database>,
  options: FollowOptions = {},
): AsyncGenerator<LogLine, void, undefined> {
  const own = ["since", "every", "lateness", "mask", "signal"];
  refuseUnknown(options, [...LOG_FILTERS, ...own], "follow the logs");
  const { since = new Date() } = options;
  if (!(since instanceof Date) || Number.isNaN(since.getTime())) {
    throw new ProbelabError(
      "Can't follow the logs since something that is no Date: pass since: new Date(…), or leave it out for the present.",
    );
  }
  const every = milliseconds(options.every ?? "2 seconds");
  const lateness = milliseconds(options.lateness ?? "1 minute");
  // Taken now: the generator's body may run outside of the cell that made it.
  const signal = options.signal ?? currentSignal();
  return following();

  async function* following() {
    try {
      const database = await open();
      const poll = follower(database, { filter: options, since, lateness, signal });
      for (;;) {
        for (const line of await poll()) {
          if (signal?.aborted) return;
          yield options.mask ? { ...line, message: maskAddresses(line.message) } : line;
        }
        await setTimeout(every, undefined, signal && { signal });
      }
    } catch (error) {
      // An interrupt is how following ends.
      if (!signal?.aborted) throw error;
    }
  }
}

function milliseconds(duration: string): number {
  const { start, end } = last(duration, { now: new Date(Date.UTC(2001, 0, 1)) });
  return end.getTime() - start.getTime();
}

/**
 * Makes a function that reads the lines that are new since its last call, the oldest first, each once.
 *
 * A line is known by all its fields; equal lines are counted, since a program may say the same twice
 * in a microsecond. Each call reads back to the present of the one before it minus the lateness (ms): a
 * line that is stored within `lateness` of its own time is given exactly once, in whatever order
 * lines come. Lines behind that are forgotten.
 */
export function follower(
  database: Database,
  options: {
    readonly filter: LogFilter;
    readonly since: Date;
    readonly lateness: number;
    readonly now?: () => Date;
    readonly signal?: AbortSignal | undefined;
  },
): () => Promise<LogLine[]> {
  const { filter, since, lateness, now = () => new Date(), signal } = options;
  /** The given lines by raw time and fields, with their number and time. */
  const given = new Map<string, { readonly count: number; readonly ms: number }>();
  let horizon = since;
  return async () => {
    const begun = now().getTime();
    const table = await database.table("logs");
    const { time } = table;
    const fields = fieldsOf(table);
    const { type, value } = time.bound(horizon);
    const from = [sql`${raw(time.sql)} >= ${bind("from", type, value)}`];
    const conditions = [...from, ...(await filterConditions(database, table, filter, from))];
    const columns = fields.map((field) => `${fieldText(field, table)} AS _${field}`);
    const groups = [time.sql, ...fields.map((field) => `_${field}`)];
    // Equal lines as one.
    const question =
      print(sql`SELECT ${raw(`toString(${time.sql}) AS _raw, ${instantSql(table)} AS _t`)},
  ${raw(columns.join(", "))}, count() AS _n
${fromLines(table, conditions)}
GROUP BY ${raw(groups.join(", "))}
ORDER BY ${raw(time.sql)}`);
    const action = "follow the logs";
    const answer = await database.ask({ ...question, action, signal });
    const fresh: LogLine[] = [];
    for (const row of answer.table.objects() as Record<string, Value>[]) {
      const ms = Number(row["_t"]);
      // In a column of digits, a text that is no time may sort behind the horizon for ever.
      if (ms < horizon.getTime()) continue;
      const key = JSON.stringify([row["_raw"], ...fields.map((field) => row[`_${field}`])]);
      const before = given.get(key)?.count ?? 0;
      const count = Math.max(before, Number(row["_n"]));
      given.set(key, { count, ms });
      const line = { t: row["_t"], ...Object.fromEntries(fields.map((f) => [f, row[`_${f}`]])) };
      for (let n = before; n < count; n++) fresh.push(line as LogLine);
    }
    horizon = new Date(Math.max(since.getTime(), begun - lateness));
    for (const [key, { ms }] of given) if (ms < horizon.getTime()) given.delete(key);
    return fresh;
  };
}
