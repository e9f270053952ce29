import { ProbelabError } from "../../base/error.js";
import { grouped } from "../../base/text.js";
import { LOG_COLUMNS } from "../../database/config.js";
import type { Database } from "../../database/database.js";
import { maskAddresses } from "../../result/mask.js";
import { bind, join, raw, sql } from "../../query/sql.js";
import { Result } from "../../result/result.js";
import { fieldsOf, instantSql, Lines, masked, type LogOptions } from "./lines.js";

/** Options of `lab.logs.search`. */
export interface SearchOptions extends LogOptions {
  /** Most lines; Infinity for all. @default 100 */
  readonly limit?: number;
  /** False gives the oldest lines of the range, oldest first. @default true */
  readonly newestFirst?: boolean;
}

/** `lab.logs.search`: see {@link Logs.search}. */
export async function search(database: Database, options: SearchOptions): Promise<Result> {
  const action = "search the logs";
  const lines = await Lines.checked(database, options, action, ["limit", "newestFirst"]);
  const { table } = lines;
  const { limit = 100, newestFirst = true, signal } = options;
  if (limit !== Infinity && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new ProbelabError(
      `Can't take a limit of ${String(limit)}: pass limit: 100, another whole number from 1, or Infinity for all.`,
    );
  }
  const fields = fieldsOf(table);
  const columns = fields.map((field) =>
    raw(`toString(${table.column(LOG_COLUMNS[field])}) AS _${field}`),
  );
  // Ordered by the raw column, the engine reads only until it has enough lines. One more line shows
  // whether there are more.
  const cut = limit === Infinity ? raw("") : sql`\nLIMIT ${bind("limit", "UInt64", limit + 1)}`;
  const question = sql`SELECT ${raw(instantSql(table))} AS _t, ${join(columns)}
${lines.from()}
ORDER BY ${raw(table.time.sql)}${raw(newestFirst ? " DESC" : "")}${cut}`;
  const { table: found, origin } = await lines.ask(question, action, signal);
  const names = Object.fromEntries(fields.map((field) => [`_${field}`, field]));
  const rows = found
    .slice(0, limit)
    .select({ _t: "t", ...names })
    .reify();
  const dimensions = fields
    .filter((field) => field !== "message")
    .map((name) => ({ name, order: [...new Set(rows.array(name) as (string | null)[])] }));
  const more = `The ${newestFirst ? "newest" : "oldest"} ${grouped(limit)} lines; the range holds more that match. Pass a larger limit for them.`;
  const result = new Result(rows, {
    ...origin,
    columns: { dimensions, measures: [] },
    reductions: found.numRows() > limit ? [more] : [],
    notes: [...(rows.numRows() === 0 ? [await lines.whyNone()] : []), ...origin.notes],
  });
  return masked(result, options, maskAddresses);
}
