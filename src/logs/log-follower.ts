import type { Database } from "../database/database.js";
import type { Value } from "../result/result.js";
import { logFilterSql, type LogFilter } from "./log-filter.js";
import { columnOf, fieldsOf, logTable } from "./log-table.js";
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

/** What to follow, and how late a line may be stored. */
export interface FollowerOptions {
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
    const condition = logFilterSql(filter, table);
    const from = time.bound(this.#horizon);
    const bound = `${time.sql} >= {from:${from.type}}`;
    const columns = fields.map((field) => {
      const text = `toString(${table.column(columnOf(field, table))})`;
      return `${field === "message" ? `ifNull(${text}, '')` : text} AS _${field}`;
    });
    const question = {
      sql: `SELECT toString(${time.sql}) AS _raw, toDateTime64(${time.dateTime(time.sql)}, 3, 'UTC') AS _t, ${columns.join(", ")}, count() AS _n
FROM ${table.from}
WHERE ${bound}${condition ? ` AND ${condition.sql}` : ""}
GROUP BY ${time.sql}, ${fields.map((field) => `_${field}`).join(", ")}
ORDER BY ${time.sql}`,
      parameters: { from: from.value, ...condition?.parameters },
      action: "follow the logs",
      signal,
    };
    const ask = async () => {
      if (filter.priority !== undefined) {
        const lines = { sql: bound, parameters: { from: from.value } };
        await checkPriorities(this.#database, table, lines);
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
