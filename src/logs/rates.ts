import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import { boundsSql } from "../database/time-column.js";
import { askSource, GROUP_OPTIONS, type By, type GroupOptions, type Preset } from "../query/ask.js";
import { count, perMinute, type Measure } from "../query/measure.js";
import type { Result } from "../result/result.js";
import { logFilterText, type LogColumn, type LogFilter } from "./log-filter.js";
import { logSource, type LogLines } from "./log-source.js";
import { LOG_FILTERS, logTable } from "./log-table.js";
import { checkPriorities } from "./priority.js";

/** What grouped questions on the logs take. */
export interface LogGroupOptions<B extends By<LogColumn> = By<LogColumn>>
  extends LogFilter, Omit<GroupOptions<LogColumn, B>, "where"> {}

/** Names of the options above. */
const LOG_GROUP_OPTIONS = [...new Set([...GROUP_OPTIONS, ...LOG_FILTERS])];

/** `lab.logs.rates`: see {@link Logs.rates}. */
export async function rates(database: Database, options: LogGroupOptions): Promise<Result> {
  const action = "count log messages";
  refuseUnknown(options, LOG_GROUP_OPTIONS, action);
  return askLogLines(
    database,
    options,
    { messages: count(), per_minute: perMinute(count()) },
    { action },
  );
}

/** `lab.logs.ask`: see {@link Logs.ask}. */
export async function askOwnLogs(
  database: Database,
  options: LogGroupOptions & { readonly measures: Readonly<Record<string, Measure<unknown>>> },
): Promise<Result> {
  const action = "ask the logs";
  refuseUnknown(options, [...LOG_GROUP_OPTIONS, "measures"], action);
  return askLogLines(database, options, options.measures, { action });
}

/** Asks the log lines. */
export function askLogLines(
  database: Database,
  { where, ...options }: LogGroupOptions,
  measures: Readonly<Record<string, Measure<unknown>>>,
  preset: Preset,
  more: Pick<LogLines, "only" | "computed" | "many"> = {},
): Promise<Result> {
  const filter = { ...options, ...(where && { where }) };
  return askSource(
    database,
    async (range) => {
      const table = await logTable(database);
      if (filter.priority !== undefined) {
        await checkPriorities(database, table, boundsSql(table.time, range));
      }
      return logSource(table, { range, filter, ...more });
    },
    options,
    measures,
    { ...preset, filterText: logFilterText(filter) },
  );
}
