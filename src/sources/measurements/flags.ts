import { ProbelabError } from "../../base/error.js";
import { counted, shownValue } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import { plainType, quoteIdentifier } from "../../database/time-column.js";
import { tableBounds } from "../../query/source.js";
import { and, print, raw, sql } from "../../query/sql.js";
import type { Where } from "../../query/where.js";
import type { TimeRange } from "../../time/time-range.js";

/** How services write a flag as text, in lower case. */
const SET = ["t", "true", "1"];
const CLEAR = ["f", "false", "0", ""];
const MOST_SPELLINGS = 20;

/**
 * The condition that a flag is set, in the column's own type and the range's own spellings; null where
 * the table has no such column.
 *
 * @throws ProbelabError where the range holds a value that is neither set nor clear: it would count as no.
 */
export async function isSet(
  database: Database,
  column: string,
  range: TimeRange,
): Promise<Where | null> {
  const table = await database.table("measurements");
  const type = table.columns.get(column);
  if (type === undefined) return null;
  const plain = plainType(type);
  if (plain === "Bool") return { [column]: true };
  if (/^U?Int/.test(plain)) return { [column]: { ne: [0, null] } };
  const { sql: question, parameters } =
    print(sql`SELECT toString(${raw(quoteIdentifier(column))}) AS value, count() AS rows
FROM ${raw(table.from)}
WHERE ${and(tableBounds(table, range))}
GROUP BY value ORDER BY rows DESC LIMIT ${raw(String(MOST_SPELLINGS))}`);
  const action = `read the values of ${column}`;
  const found = await database.rows<{ value: string | null; rows: number }>(
    question,
    parameters,
    action,
  );
  const spelled = (value: string | null) => (value ?? "").trim().toLowerCase();
  const odd = found.filter(({ value }) => ![...SET, ...CLEAR].includes(spelled(value)));
  if (odd.length > 0) {
    const named = odd.map(
      ({ value, rows }) => `${shownValue(value)} (${counted(Number(rows), "row")})`,
    );
    throw new ProbelabError(
      `Can't tell which measurements have ${column}: it holds ${named.slice(0, 5).join(", ")}. Say which value it is: where: { ${column}: ${shownValue(odd[0]!.value)} }.`,
    );
  }
  const set = found.flatMap(({ value }) => (SET.includes(spelled(value)) ? [value!] : []));
  return { [column]: set.length > 0 ? set : "t" };
}
