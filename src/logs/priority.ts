import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import { counted, grouped, shownValue } from "../base/text.js";
import { print, raw, sql, type Sql } from "../query/sql.js";

/** The names of the priorities 0 to 7, as in journalctl and syslog (RFC 5424, section 6.2.1). */
const PRIORITIES = [
  ...(["emerg", "alert", "crit", "err"] as const),
  ...(["warning", "notice", "info", "debug"] as const),
] as const;

/** A syslog priority by number or name; 0 is the most severe. */
export type Priority = number | (typeof PRIORITIES)[number];

// In lower case: digits, digits as in sd-daemon(3), the names of syslog.h and of RFC 5424. Words of
// other scales ("fatal", "trace") are missing: programs disagree on what they are in syslog's.
const SPELLINGS: ReadonlyMap<string, number> = new Map([
  ...PRIORITIES.flatMap((name, number): [string, number][] =>
    [name, String(number), `<${number}>`].map((spelling) => [spelling, number]),
  ),
  ...Object.entries({ panic: 0, emergency: 0, critical: 2, error: 3, warn: 4, informational: 6 }),
]);

/** The number of a priority. @throws ProbelabError for anything but 0 to 7 or a name. */
export function priorityNumber(priority: unknown): number {
  const named = (PRIORITIES as readonly unknown[]).indexOf(priority);
  const number = named >= 0 ? named : priority;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= 7) {
    return number;
  }
  throw new ProbelabError(
    `Can't use the priority ${shownValue(priority)}: pass 0 (emerg) to 7 (debug), or a name: ${PRIORITIES.join(", ")}.`,
  );
}

/** SQL for the number of a line's priority, in a column of any type; null where it is none. */
export function prioritySql(table: TableInfo, column: string): string {
  const value = table.column(column);
  if (isNumber(table, column)) return `if(${value} BETWEEN 0 AND 7, ${value}, NULL)`;
  const names = [...SPELLINGS.keys()].map((name) => `'${name}'`).join(", ");
  const numbers = [...SPELLINGS.values()].join(", ");
  return `nullIf(transform(${spelling(value)}, [${names}], [${numbers}], 255), 255)`;
}

/**
 * Refuses to filter by priorities that can't be read: their lines would silently be left out. Lines
 * without a priority (null, an empty text) are left out, as in journalctl.
 *
 * @param within bounds of the lines in time.
 * @throws ProbelabError that lists the spellings found.
 */
export async function checkPriorities(
  database: Database,
  table: TableInfo,
  column: string,
  within: Sql,
): Promise<void> {
  if (isNumber(table, column)) return;
  const value = table.column(column);
  const question =
    print(sql`SELECT toString(${raw(value)}) AS value, count() AS lines, sum(count()) OVER () AS all
FROM ${raw(table.from)}
WHERE ${within} AND ${raw(`${spelling(value)} != '' AND isNull(${prioritySql(table, column)})`)}
GROUP BY value
ORDER BY lines DESC, value
LIMIT 8`);
  const unknown = await database.rows<{ value: string; lines: string; all: string }>(
    question.sql,
    question.parameters,
    "read the log lines' priorities",
  );
  const [first] = unknown;
  if (first === undefined) return;
  const found = unknown.map(
    ({ value, lines }) => `${shownValue(value)} (${grouped(Number(lines))})`,
  );
  throw new ProbelabError(
    `Can't filter by priority: ${counted(Number(first.all), "line")} of ${table.name} have a ${column} that is no syslog priority: ${found.join(", ")}. Leave priority out and ask for the values themselves: lab.logs.ask({ …, where: { ${column}: [${shownValue(first.value)}] } }). Known are 0 to 7 and ${PRIORITIES.join(", ")}, in upper or lower case.`,
  );
}

function isNumber(table: TableInfo, column: string): boolean {
  return /^(U?Int|Float|Decimal)/.test(plainType(table.columns.get(column) ?? ""));
}

function spelling(column: string): string {
  return `lower(trimBoth(ifNull(toString(${column}), '')))`;
}
