import { ProbelabError } from "../../base/error.js";
import { counted, shownValue } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import type { TableInfo } from "../../database/table-info.js";
import { plainType } from "../../database/time-column.js";
import { and, bind, print, raw, sql, type Sql } from "../../query/sql.js";

/** The names of the priorities 0 to 7, as in journalctl and syslog (RFC 5424, section 6.2.1). */
const PRIORITIES = [
  ...(["emerg", "alert", "crit", "err"] as const),
  ...(["warning", "notice", "info", "debug"] as const),
] as const;

/** A syslog priority by number or name; 0 is the most severe. */
export type Priority = number | (typeof PRIORITIES)[number];

// In lower case: digits, digits as in sd-daemon(3), the names of syslog.h and of RFC 5424. Words of
// other scales ("fatal", "trace") are missing: programs disagree on what they are in syslog's.
const SPELLINGS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    PRIORITIES.flatMap((name, number) =>
      [name, `${number}`, `<${number}>`].map((s) => [s, number]),
    ),
  ),
  ...{ panic: 0, emergency: 0, critical: 2, error: 3, warn: 4, informational: 6 },
};

/**
 * The condition that a line is of a priority or worse. Lines without one (null, an empty text) are left
 * out, as in journalctl.
 *
 * @param column of numbers, digits as text, or names. @param within bounds of the lines in time.
 * @throws ProbelabError for anything but 0 to 7 or a name, and where lines of the range have a value
 *   that is none of syslog's: they would silently be left out, or counted by a scale that runs the other way.
 */
export async function prioritySql(
  database: Database,
  table: TableInfo,
  { column, priority, within }: { column: string; priority: unknown; within: readonly Sql[] },
): Promise<Sql> {
  const least = bind("priority", "UInt8", priorityNumber(priority));
  const value = table.column(column);
  const isNumber = /^(U?Int|Float|Decimal)/.test(plainType(table.columns.get(column) ?? ""));
  const text = `lower(trimBoth(ifNull(toString(${value}), '')))`;
  const names = Object.keys(SPELLINGS).map((name) => `'${name}'`);
  const number = isNumber
    ? value
    : `transform(${text}, [${names.join()}], [${Object.values(SPELLINGS).join()}], 255)`;
  // OpenTelemetry's numbers begin with 1, the mildest; 0 is none.
  const most = /severity_?number/i.test(value) ? 0 : 7;
  const odd = isNumber ? `${value} > ${most}` : `${text} != '' AND ${number} = 255`;
  const question = print(sql`SELECT toString(${raw(value)}) AS value, count() AS lines
FROM ${raw(table.from)}
WHERE ${and(within)} AND ${raw(odd)}
GROUP BY value
ORDER BY lines DESC, value
LIMIT 8`);
  const unknown = await database.rows<{ value: string; lines: string }>(
    question.sql,
    question.parameters,
    "read the log lines' priorities",
  );
  if (unknown.length === 0) return sql`${raw(number)} BETWEEN 0 AND ${least}`;
  const shown = (text: string) => (isNumber ? text : shownValue(text));
  const found = unknown.map(
    ({ value, lines }) => `${shown(value)} (${counted(Number(lines), "line")})`,
  );
  throw new ProbelabError(
    `Can't filter by priority: ${table.name} holds a ${column} that is no syslog priority: ${found.join(", ")}. Leave priority out and ask for the values themselves: lab.logs.ask({ …, where: { ${column}: [${shown(unknown[0]!.value)}] } }). Known are 0 to 7 and ${PRIORITIES.join(", ")}, in upper or lower case.`,
  );
}

function priorityNumber(priority: unknown): number {
  if ([0, 1, 2, 3, 4, 5, 6, 7].includes(priority as number)) return priority as number;
  const spelled = typeof priority === "string" ? priority.trim().toLowerCase() : "";
  if (Object.hasOwn(SPELLINGS, spelled)) return SPELLINGS[spelled]!;
  throw new ProbelabError(
    `Can't use the priority ${shownValue(priority)}: pass 0 (emerg) to 7 (debug), or a name: ${PRIORITIES.join(", ")}.`,
  );
}
