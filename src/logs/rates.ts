import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import { boundsSql } from "../database/time-column.js";
import { askSource, GROUP_OPTIONS, type By, type GroupOptions } from "../query/ask.js";
import { count, perMinute, type Measure } from "../query/measure.js";
import { daysOnly, NOTHING, tableBounds, type Source } from "../query/source.js";
import { and, raw, sql, type Sql } from "../query/sql.js";
import type { Result } from "../result/result.js";
import type { TimeRange } from "../time/time-range.js";
import {
  LOG_FILTERS,
  logConditions,
  logFilterText,
  type LogColumn,
  type LogFilter,
} from "./log-filter.js";
import { maskedLogs, whyNoLines, type LogOptions } from "./log-question.js";
import { logColumn, logNotes, logTable } from "./log-table.js";
import { checkPriorities } from "./priority.js";

/** What grouped questions on the logs take. */
export interface LogGroupOptions<B extends By<LogColumn> = By<LogColumn>>
  extends LogFilter, Pick<LogOptions, "mask">, Omit<GroupOptions<LogColumn, B>, "where"> {}

/** What a preset adds to the lines that are asked about. */
export interface LogLines {
  /** Conditions, such as "is a check-in". */
  readonly only?: readonly Sql[];
  /** Columns that are computed of a line. */
  readonly computed?: Readonly<
    Record<
      string,
      { readonly sql: Sql; readonly type: string; readonly label: string; readonly unit: string }
    >
  >;
  /** What a row is, where not a message. */
  readonly many?: string;
}

const OPTIONS = [...new Set([...GROUP_OPTIONS, ...LOG_FILTERS, "mask"])];

/** `lab.logs.rates`: see {@link Logs.rates}. */
export async function rates(database: Database, options: LogGroupOptions): Promise<Result> {
  const action = "count log messages";
  refuseUnknown(options, OPTIONS, action);
  const measures = { messages: count(), per_minute: perMinute(count()) };
  return askLogLines(database, options, measures, action);
}

/** `lab.logs.ask`: see {@link Logs.ask}. */
export async function askOwnLogs(
  database: Database,
  options: LogGroupOptions & { readonly measures: Readonly<Record<string, Measure<unknown>>> },
): Promise<Result> {
  const action = "ask the logs";
  refuseUnknown(options, [...OPTIONS, "measures"], action);
  return askLogLines(database, options, options.measures, action);
}

/** Asks the log lines of a range: a row a line, with the fields of a line and the columns of the table. */
export async function askLogLines(
  database: Database,
  { where, ...options }: LogGroupOptions,
  measures: Readonly<Record<string, Measure<unknown>>>,
  action: string,
  lines: LogLines = {},
): Promise<Result> {
  const filter = { ...options, ...(where && { where }) };
  const { onPart } = options;
  const told = onPart && { onPart: (part: Result) => onPart(maskedLogs(part, options)) };
  const result = await askSource(
    database,
    (range) => logLines(database, range, filter, lines),
    { ...options, ...told },
    measures,
    { action, filterText: logFilterText(filter) },
  );
  return maskedLogs(result, options);
}

/** The log lines of a range as a source: a row a line, with the fields of a line and the columns of the table. */
export async function logLines(
  database: Database,
  range: TimeRange,
  filter: LogFilter,
  { only = [], computed = {}, many = "messages" }: LogLines = {},
): Promise<Source> {
  const table = await logTable(database);
  if (filter.priority !== undefined) {
    await checkPriorities(database, table, boundsSql(table.time, range));
  }
  const conditions = [...tableBounds(table, range), ...logConditions(filter, table), ...only];
  return {
    many,
    column: (name) => (Object.hasOwn(computed, name) ? computed[name]! : logColumn(name, table)),
    instant: table.time.dateTime(table.time.sql),
    ...daysOnly(table),
    plain: true,
    from: (only = []) => sql`${raw(table.from)}\nWHERE ${and([...conditions, ...only])}`,
    notes: logNotes(table),
    whyEmpty: async () => ({
      ...NOTHING,
      notes: [await whyNoLines(database, { table, range, filter })],
    }),
    missingValues: () => Promise.resolve(NOTHING),
  };
}
