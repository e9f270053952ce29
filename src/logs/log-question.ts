import { answerOrigin, type Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { boundsSql } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import { tableBounds } from "../query/source.js";
import { and, print, raw, sql, type PrintedSql } from "../query/sql.js";
import type { Origin } from "../result/origin.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { logConditions, logFilterText, type LogFilter } from "./log-filter.js";
import { logNotes, logTable } from "./log-table.js";
import { checkPriorities } from "./priority.js";

/** What every question on the logs takes. */
export interface LogOptions extends LogFilter {
  /** The time to ask about, half-open: `last("1 hour")` or `between(a, b)`. */
  readonly range: TimeRange;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** The options, checked against the table. */
export interface AskedLogs {
  readonly range: TimeRange;
  readonly table: TableInfo;
  readonly filter: LogFilter;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** FROM and WHERE: the table bounded on its sort key in its own type, and filtered. */
  readonly source: PrintedSql;
}

/** Checks a question before anything is asked but the table's columns. */
export async function checkLogQuestion(
  database: Database,
  options: LogOptions,
  action: string,
): Promise<AskedLogs> {
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

/** A whole number from 1, or Infinity. */
export function checkLimit(limit: number): number {
  if (limit === Infinity || (Number.isSafeInteger(limit) && limit >= 1)) return limit;
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
