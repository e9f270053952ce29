import type { Database } from "../database/database.js";
import { grouped } from "../base/text.js";
import { join, raw, sql } from "../query/sql.js";
import { Result } from "../result/result.js";
import {
  askLines,
  checkedLines,
  fieldsOf,
  fieldText,
  fromLines,
  instantSql,
  limitSql,
  masked,
  whyNoLines,
  type LogOptions,
} from "./lines.js";

/** Options of `lab.logs.search`. */
export interface SearchOptions extends LogOptions {
  /** Most lines; default 100, Infinity for all. */
  readonly limit?: number;
  /** False gives the oldest lines of the range, oldest first; default true. */
  readonly newestFirst?: boolean;
}

/** `lab.logs.search`: see {@link Logs.search}. */
export async function search(database: Database, options: SearchOptions): Promise<Result> {
  const action = "search the logs";
  const lines = await checkedLines(database, options, action, ["limit", "newestFirst"]);
  const { table } = lines;
  const { limit = 100, newestFirst = true, signal } = options;
  const fields = fieldsOf(table);
  const columns = fields.map((field) => raw(`${fieldText(field, table)} AS _${field}`));
  // Ordered by the raw column, the engine reads only until it has enough lines. One more line shows
  // whether there are more.
  const question = sql`SELECT ${raw(instantSql(table.time.sql, table))} AS _t, ${join(columns)}
${fromLines(lines)}
ORDER BY ${raw(table.time.sql)}${raw(newestFirst ? " DESC" : "")}${limitSql(limit, 1)}`;
  const { table: found, origin } = await askLines(database, lines, question, { action, signal });
  const names = Object.fromEntries(fields.map((field) => [`_${field}`, field]));
  const rows = found
    .slice(0, limit)
    .select({ _t: "t", ...names })
    .reify();
  const dimensions = fields
    .filter((field) => field !== "message")
    .map((name) => ({ name, order: [...new Set(rows.array(name) as (string | null)[])] }));
  const isCut = found.numRows() > limit;
  const result = new Result(rows, {
    ...origin,
    columns: { dimensions, measures: [] },
    reductions: isCut
      ? [
          `The ${newestFirst ? "newest" : "oldest"} ${grouped(limit)} lines; the range holds more that match. Pass a larger limit for them.`,
        ]
      : [],
    notes: [...(rows.numRows() === 0 ? [await whyNoLines(database, lines)] : []), ...origin.notes],
  });
  return masked(result, options);
}
