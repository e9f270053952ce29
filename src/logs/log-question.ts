import { answerOrigin, type Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { boundsSql } from "../database/time-column.js";
import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { maskAddresses } from "../mask/addresses.js";
import { maskResult } from "../mask/mask-result.js";
import { tableBounds } from "../query/source.js";
import { and, print, raw, sql, type PrintedSql } from "../query/sql.js";
import type { Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import { LOG_FILTERS, logConditions, logFilterText, type LogFilter } from "./log-filter.js";
import { fieldText, logNotes, logTable } from "./log-table.js";
import { checkPriorities, prioritySql } from "./priority.js";

/** What every question on the logs takes. */
export interface LogOptions extends LogFilter {
  /** The time to ask about, half-open: `last("1 hour")` or `between(a, b)`. */
  readonly range: TimeRange;
  /** True hides e-mail and IP addresses in the answer, as `maskAddresses` does (default false). */
  readonly mask?: boolean;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** A question, checked against the table. */
export interface AskedLogs {
  readonly range: TimeRange;
  readonly table: TableInfo;
  readonly filter: LogFilter;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** FROM and WHERE: the table bounded on its sort key in its own type, and filtered. */
  readonly source: PrintedSql;
}

/**
 * Checks a question before anything is asked but the table's columns.
 *
 * @param more the options that it takes beside those of every question.
 */
export async function checkLogQuestion(
  database: Database,
  options: LogOptions,
  action: string,
  more: readonly string[],
): Promise<AskedLogs> {
  refuseUnknown(options, ["range", "mask", "signal", ...LOG_FILTERS, ...more], action);
  const range = checkRange((options as LogOptions | undefined)?.range, action);
  const table = await logTable(database);
  const conditions = [...tableBounds(table, range), ...logConditions(options, table)];
  if (options.priority !== undefined) {
    await checkPriorities(database, table, boundsSql(table.time, range));
  }
  return {
    range,
    table,
    filter: options,
    action,
    signal: options.signal,
    source: print(sql`FROM ${raw(table.from)}\nWHERE ${and(conditions)}`),
  };
}

/** LIMIT of a question as SQL and its parameters: a whole number from 1, or Infinity for none. */
export function limitSql(limit: number): PrintedSql {
  if (limit === Infinity) return { sql: "", parameters: {} };
  if (Number.isSafeInteger(limit) && limit >= 1) {
    return { sql: "\nLIMIT {limit:UInt64}", parameters: { limit } };
  }
  throw new ProbelabError(
    `Can't take a limit of ${String(limit)}: pass limit: 100, another whole number from 1, or Infinity for all.`,
  );
}

/** Asks SQL of a checked question; the answer's table and its origin, the columns' meaning still to tell, and more notes. */
export async function askLogs(database: Database, asked: AskedLogs, question: PrintedSql) {
  const { range, action, signal } = asked;
  const { sql, parameters } = question;
  const filter = logFilterText(asked.filter);
  const answer = await database.ask({ sql, parameters, action, signal });
  const origin: Origin = {
    ...answerOrigin(database, question, range, answer),
    ...(filter !== "" && { filter }),
    columns: { dimensions: [], measures: [] },
    reductions: [],
    notes: logNotes(asked.table),
  };
  return { table: answer.table, origin };
}

/** The answer, its addresses hidden where that is asked for. */
export function maskedLogs(result: Result, { mask = false }: { readonly mask?: boolean }): Result {
  return mask ? maskResult(result, maskAddresses) : result;
}

/** Says why an answer is empty: nothing in the range, or nothing that matches, and which programs it holds. */
export async function whyNoLines(
  database: Database,
  { table, range, filter }: Pick<AskedLogs, "table" | "range" | "filter">,
): Promise<string> {
  const bounds = boundsSql(table.time, range);
  const unread = filter.priority === undefined ? "0" : `isNull(${prioritySql(table)})`;
  const programs = await database.rows<{ program: string | null; all: string; unread: string }>(
    `SELECT ${fieldText("identifier", table)} AS program,
  sum(count()) OVER () AS all, sum(countIf(${unread})) OVER () AS unread
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
  const filters = ["identifier", "host", "priority", "contains", "matches"].filter(
    (option) => filter[option as keyof LogFilter] !== undefined,
  );
  const by = filters.length > 0 ? `the filter by ${filters.join(" and ")}` : "the question";
  const names = programs.slice(0, 8).map(({ program }) => program || "no named program");
  const more = programs.length > 8 ? " and others" : "";
  const [all, none] = [first.all, first.unread].map((n) => Number(n).toLocaleString("en-US"));
  const priorities = none === "0" ? "" : ` ${none} of the ${all} lines have no priority of 0 to 7.`;
  return `No line from ${span} matches ${by}; there are lines of ${names.join(", ")}${more}.${priorities}`;
}
