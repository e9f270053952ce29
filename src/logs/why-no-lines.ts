import type { Database } from "../database/database.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { formatRange } from "../time/time-range.js";
import type { AskedLogs } from "./log-question.js";
import { columnOf } from "./log-table.js";

/** Says why an answer is empty: nothing in the range, or nothing that matches, and which programs it holds. */
export async function whyNoLines(
  database: Database,
  asked: Pick<AskedLogs, "table" | "range" | "filter">,
): Promise<string> {
  const { table, range, filter } = asked;
  const bounds = boundsSql(table.time, range);
  const name = quoteIdentifier(columnOf("identifier", table));
  const programs = await database.rows<{ program: string | null }>(
    `SELECT toString(${name}) AS program FROM ${table.from} WHERE ${bounds.sql} GROUP BY program ORDER BY count() DESC, program LIMIT 9`,
    bounds.parameters,
  );
  const span = formatRange(range);
  if (programs.length === 0) return `${table.name} holds no line from ${span}.`;
  const used = ["identifier", "host", "priority", "contains", "matches"] as const;
  const filters = used.filter((option) => filter[option] !== undefined);
  const shown = programs.slice(0, 8).map(({ program }) => String(program));
  const more = programs.length > 8 ? " and others" : "";
  return `No line from ${span} matches ${filters.length > 0 ? `the filter by ${filters.join(" and ")}` : "the question"}; there are lines of ${shown.join(", ")}${more}.`;
}
