import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import type { PrintedSql } from "../query/sql.js";
import { columnOf } from "./log-table.js";

/** Names of the priorities 0 to 7, as journalctl and syslog (RFC 5424, section 6.2.1) have them. */
export const PRIORITIES = [
  "emerg",
  "alert",
  "crit",
  "err",
  "warning",
  "notice",
  "info",
  "debug",
] as const;

/** A syslog priority by number or name; 0 is the most severe. */
export type Priority = number | (typeof PRIORITIES)[number];

// In lower case: digits, digits as sd-daemon(3) has them, the names of syslog.h and of RFC 5424. Words
// of other scales ("fatal", "trace") are not among them: programs disagree on what they are in syslog's.
const SPELLINGS: ReadonlyMap<string, number> = new Map([
  ...PRIORITIES.flatMap((name, number): [string, number][] =>
    [name, String(number), `<${number}>`].map((spelling) => [spelling, number]),
  ),
  ["panic", 0],
  ["emergency", 0],
  ["critical", 2],
  ["error", 3],
  ["warn", 4],
  ["informational", 6],
]);

/** The number of a priority. @throws ProbelabError for anything but 0 to 7 or a name. */
export function priorityNumber(priority: unknown): number {
  const named = PRIORITIES.indexOf(priority as (typeof PRIORITIES)[number]);
  const number = named >= 0 ? named : priority;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= 7) {
    return number;
  }
  throw new ProbelabError(
    `Can't use the priority ${JSON.stringify(priority) ?? String(priority)}: pass 0 (emerg) to 7 (debug), or a name: ${PRIORITIES.join(", ")}.`,
  );
}

/** SQL for the number of a line's priority, whatever the column's type; null where it is none. */
export function prioritySql(table: TableInfo): string {
  const column = columnOf("priority", table);
  const sql = table.column(column);
  if (isNumber(table.columns.get(column))) return `if(${sql} BETWEEN 0 AND 7, ${sql}, NULL)`;
  const names = [...SPELLINGS.keys()].map((name) => `'${name}'`).join(", ");
  const numbers = [...SPELLINGS.values()].join(", ");
  return `nullIf(transform(${spelling(sql)}, [${names}], [${numbers}], 255), 255)`;
}

/**
 * Refuses to filter lines by priorities that can't be read: they would be left out silently. Lines
 * without a priority (null, an empty text) are no such lines; a filter by priority leaves them out,
 * as journalctl does.
 *
 * @param lines which lines are asked about: a condition on the table's time.
 * @throws ProbelabError that lists the spellings that the lines have.
 */
export async function checkPriorities(
  database: Database,
  table: TableInfo,
  lines: PrintedSql,
): Promise<void> {
  const column = columnOf("priority", table);
  const type = table.columns.get(column);
  const values = [...(type ?? "").matchAll(/'((?:[^'\\]|\\.)*)' = -?\d+/g)].map(([, name]) => name);
  const known = (name: string | undefined) => SPELLINGS.has((name ?? "").trim().toLowerCase());
  if (isNumber(type) || (values.length > 0 && values.every(known))) return;
  const sql = table.column(column);
  const unknown = await database.rows<{ value: string; lines: string; all: string }>(
    `SELECT toString(${sql}) AS value, count() AS lines, sum(count()) OVER () AS all
FROM ${table.from}
WHERE ${lines.sql} AND ${spelling(sql)} != '' AND isNull(${prioritySql(table)})
GROUP BY value
ORDER BY lines DESC, value
LIMIT 9`,
    lines.parameters,
    "read the log lines' priorities",
  );
  const [first] = unknown;
  if (first === undefined) return;
  const found = unknown
    .slice(0, 8)
    .map(({ value, lines: count }) => `${JSON.stringify(value)} (${format(count)})`);
  throw new ProbelabError(
    `Can't filter by priority: ${format(first.all)} lines of ${table.name} have a ${column} that is no syslog priority: ${found.join(", ")}${unknown.length > 8 ? " and others" : ""}. Leave priority out and ask for the values themselves: lab.logs.ask({ …, where: { ${column}: [${JSON.stringify(first.value)}] } }). Read are 0 to 7 and ${PRIORITIES.join(", ")}, in upper or lower case.`,
  );
}

function isNumber(type = ""): boolean {
  return /^(U?Int|Float|Decimal)/.test(plainType(type));
}

function spelling(column: string): string {
  return `lower(trimBoth(ifNull(toString(${column}), '')))`;
}

function format(count: string): string {
  return Number(count).toLocaleString("en-US");
}
