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
 * OpenTelemetry's severity numbers, 0 (none) to 24, as syslog's priorities. Source: the mapping of
 * severities in https://opentelemetry.io/docs/specs/otel/logs/data-model-appendix/
 */
const OPEN_TELEMETRY = [
  255,
  ...Array<number>(8).fill(7),
  6,
  5,
  5,
  5,
  4,
  4,
  4,
  4,
  3,
  2,
  1,
  1,
  0,
  0,
  0,
  0,
];

/**
 * @throws ProbelabError where numbers of the range are of another scale, such as OpenTelemetry's 1 to 24, in
 *   which small ones are the mildest. Beyond 24 a number stands for none.
 */
async function refuseOtherScale(
  database: Database,
  table: TableInfo,
  column: string,
  within: readonly Sql[],
): Promise<void> {
  const value = raw(table.column(column));
  const { sql: question, parameters } =
    print(sql`SELECT toString(max(${value})) AS most, count() AS lines
FROM ${raw(table.from)}
WHERE ${and(within)} AND ${value} BETWEEN 8 AND 24`);
  const action = "read the log lines' priorities";
  const [found] = await database.rows<{ most: string; lines: number }>(
    question,
    parameters,
    action,
  );
  if (Number(found?.lines ?? 0) === 0) return;
  throw new ProbelabError(
    `Can't filter by priority: ${counted(Number(found!.lines), "line")} of ${table.name} ${Number(found!.lines) === 1 ? "has" : "have"} a ${column} above 7, up to ${found!.most}, so it isn't syslog's scale of 0 to 7. Leave priority out and ask for the numbers themselves: lab.logs.ask({ …, where: { ${column}: { gte: 17 } } }); of OpenTelemetry's severity numbers name the column SeverityNumber in "tables".`,
  );
}

/**
 * The condition that a line is of a priority or worse. Lines without one (null, an empty text) are left
 * out, as in journalctl.
 *
 * @param column of numbers, digits as text, or names. @param within bounds of the lines in time.
 * @throws ProbelabError for anything but 0 to 7 or a name, and where lines of the range have a spelling
 *   that is none of syslog's: they would silently be left out.
 */
export async function prioritySql(
  database: Database,
  table: TableInfo,
  { column, priority, within }: { column: string; priority: unknown; within: readonly Sql[] },
): Promise<Sql> {
  const least = bind("priority", "UInt8", priorityNumber(priority));
  const value = table.column(column);
  if (/^(U?Int|Float|Decimal)/.test(plainType(table.columns.get(column) ?? ""))) {
    if (!/severity_?number/i.test(value)) {
      await refuseOtherScale(database, table, column, within);
      return sql`${raw(value)} BETWEEN 0 AND ${least}`;
    }
    const [numbers, priorities] = [OPEN_TELEMETRY.map((_, at) => at), OPEN_TELEMETRY];
    const number = `transform(toInt64(${value}), [${numbers.join()}], [${priorities.join()}], 255)`;
    return sql`${raw(number)} <= ${least}`;
  }
  const text = `lower(trimBoth(ifNull(toString(${value}), '')))`;
  const names = Object.keys(SPELLINGS).map((name) => `'${name}'`);
  const number = `transform(${text}, [${names.join()}], [${Object.values(SPELLINGS).join()}], 255)`;
  const question = print(sql`SELECT toString(${raw(value)}) AS value, count() AS lines
FROM ${raw(table.from)}
WHERE ${and(within)} AND ${raw(`${text} != '' AND ${number} = 255`)}
GROUP BY value
ORDER BY lines DESC, value
LIMIT 8`);
  const unknown = await database.rows<{ value: string; lines: string }>(
    question.sql,
    question.parameters,
    "read the log lines' priorities",
  );
  const [first] = unknown;
  if (first === undefined) return sql`${raw(number)} <= ${least}`;
  const found = unknown.map(
    ({ value, lines }) => `${shownValue(value)} (${counted(Number(lines), "line")})`,
  );
  throw new ProbelabError(
    `Can't filter by priority: ${table.name} holds a ${column} that is no syslog priority: ${found.join(", ")}. Leave priority out and ask for the values themselves: lab.logs.ask({ …, where: { ${column}: [${shownValue(first.value)}] } }). Known are 0 to 7 and ${PRIORITIES.join(", ")}, in upper or lower case.`,
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
