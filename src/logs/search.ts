import type { Database } from "../database/database.js";
import { Result } from "../result/result.js";
import {
  askLogs,
  checkLogQuestion,
  limitSql,
  maskedLogs,
  whyNoLines,
  type LogOptions,
} from "./log-question.js";
import { fieldsOf, fieldText, instantSql } from "./log-table.js";

/** What a search takes besides. */
export interface SearchOptions extends LogOptions {
  /** Most lines; default 100, Infinity for all. */
  readonly limit?: number;
  /** False gives the oldest lines of the range, oldest first (default true: the newest, newest first). */
  readonly newestFirst?: boolean;
}

/** `lab.logs.search`: see {@link Logs.search}. */
export async function search(database: Database, options: SearchOptions): Promise<Result> {
  const action = "search the logs";
  const asked = await checkLogQuestion(database, options, action, ["limit", "newestFirst"]);
  const { limit = 100, newestFirst = true } = options;
  const { table, source } = asked;
  const most = limitSql(limit);
  const fields = fieldsOf(table);
  const columns = fields.map((field) => `${fieldText(field, table)} AS _${field}`);
  // Ordered by the raw column: the engine then reads only until it has enough lines.
  const sql = `SELECT ${instantSql(table.time.sql, table)} AS _t, ${columns.join(", ")}
${source.sql}
ORDER BY ${table.time.sql}${newestFirst ? " DESC" : ""}${most.sql}`;
  // One line more tells whether there are more.
  const parameters = { ...source.parameters, ...(most.sql && { limit: limit + 1 }) };
  const { table: found, origin } = await askLogs(database, asked, { sql, parameters });
  const names = Object.fromEntries(fields.map((field) => [`_${field}`, field]));
  const rows = found
    .slice(0, limit)
    .select({ _t: "t", ...names })
    .reify();
  const left = found.numRows() > limit;
  const result = new Result(rows, {
    ...origin,
    columns: {
      dimensions: fields
        .filter((field) => field !== "message")
        .map((name) => ({ name, order: commonestFirst(rows.array(name) as string[]) })),
      measures: [],
    },
    reductions: left
      ? [
          `The ${newestFirst ? "newest" : "oldest"} ${limit.toLocaleString("en-US")} lines; the range holds more that match. Pass a larger limit for them.`,
        ]
      : [],
    notes: [...(rows.numRows() === 0 ? [await whyNoLines(database, asked)] : []), ...origin.notes],
  });
  return maskedLogs(result, options);
}

function commonestFirst(values: readonly (string | null)[]): (string | null)[] {
  const sizes = new Map<string | null, number>();
  for (const value of values) sizes.set(value, (sizes.get(value) ?? 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1]).map(([value]) => value);
}
