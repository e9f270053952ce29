import type { Database } from "../database/database.js";
import { editDistance } from "../database/table-info.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { formatRange } from "../time/time-range.js";
import { isPrefix, matchesPrefix } from "./prefix.js";
import type { Asked } from "./question.js";

/**
 * Says why an answer is empty: which filter no measurement of the range matches, and what the range
 * holds instead, the nearest values first. Asks only within the range.
 */
export async function explainEmpty(database: Database, asked: Asked): Promise<string> {
  const { table, range } = asked;
  const span = formatRange(range);
  for (const [column, wanted] of Object.entries(asked.where)) {
    const values = await valuesOf(database, asked, column);
    if (values.length === 0) break;
    const list = Array.isArray(wanted) ? (wanted as readonly unknown[]) : [wanted];
    const matches = values.some((value) =>
      list.some((one) =>
        isPrefix(one) ? matchesPrefix(value ?? "", one) : String(one) === String(value),
      ),
    );
    if (matches) continue;
    const shown = list.map((one) => (isPrefix(one) ? `${one.prefix}…` : String(one)));
    const near = nearest(values, shown[0] ?? "").map((value) => JSON.stringify(value));
    return `No measurement from ${span} has ${column} ${shown.join(" or ")}; the range holds ${near.join(", ")}${values.length > near.length ? ` and ${values.length - near.length} more` : ""}.`;
  }
  const filtered = Object.keys(asked.where).length > 0;
  return filtered && (await valuesOf(database, asked, null)).length > 0
    ? `No measurement from ${span} matches all filters at once, though each alone matches some.`
    : `${table.name} holds no measurement from ${span}.`;
}

/** The range's commonest values of a column; with no column, one value if there is any row. */
async function valuesOf(
  database: Database,
  asked: Asked,
  column: string | null,
): Promise<(string | null)[]> {
  const bounds = boundsSql(asked.table.time, asked.range);
  const value = column === null ? "''" : `toString(${quoteIdentifier(column)})`;
  const rows = await database.rows<{ value: string | null }>(
    `SELECT ${value} AS value FROM ${quoteIdentifier(asked.table.name)} WHERE ${bounds.sql} GROUP BY value ORDER BY count() DESC, value LIMIT 1000`,
    bounds.parameters,
  );
  return rows.map((row) => row.value);
}

function nearest(values: readonly (string | null)[], wanted: string): (string | null)[] {
  return values
    .map((value, index) => ({ value, index, distance: editDistance(value ?? "", wanted) }))
    .sort((a, b) => a.distance - b.distance || a.index - b.index)
    .slice(0, 5)
    .map(({ value }) => value);
}
