import type { Database } from "../database/database.js";
import { boundsSql } from "../database/time-column.js";
import { formatRange } from "../time/time-range.js";
import type { AskedLogs } from "./log-question.js";
import { columnOf } from "./log-table.js";
import { prioritySql } from "./priority.js";

/** Says why an answer is empty: nothing in the range, or nothing that matches, and which programs it holds. */
export async function whyNoLines(
  database: Database,
  asked: Pick<AskedLogs, "table" | "range" | "filter">,
): Promise<string> {
  const { table, range, filter } = asked;
  const bounds = boundsSql(table.time, range);
  const without = filter.priority === undefined ? "0" : `isNull(${prioritySql(table)})`;
  const programs = await database.rows<{ program: string | null; all: string; without: string }>(
    `SELECT toString(${table.column(columnOf("identifier", table))}) AS program,
  sum(count()) OVER () AS all, sum(countIf(${without})) OVER () AS without
FROM ${table.from}
WHERE ${bounds.sql}
GROUP BY program
ORDER BY count() DESC, program
LIMIT 9`,
    bounds.parameters,
    "see which lines there are",
  );
  const span = formatRange(range);
  const [first] = programs;
  if (first === undefined) return `${table.name} holds no line from ${span}.`;
  const used = ["identifier", "host", "priority", "contains", "matches"] as const;
  const filters = used.filter((option) => filter[option] !== undefined);
  const shown = programs.slice(0, 8).map(({ program }) => program || "no named program");
  const more = programs.length > 8 ? " and others" : "";
  const [all, none] = [first.all, first.without].map((n) => Number(n).toLocaleString("en-US"));
  const unread = none === "0" ? "" : ` ${none} of the ${all} lines have no priority of 0 to 7.`;
  return `No line from ${span} matches ${filters.length > 0 ? `the filter by ${filters.join(" and ")}` : "the question"}; there are lines of ${shown.join(", ")}${more}.${unread}`;
}
