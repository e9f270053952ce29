import type { Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import { ProbelabError } from "../error.js";
import { groupedResult } from "../measurements/grouped-result.js";
import { checkTop, dimensionSql, type Asked } from "../measurements/question.js";
import { pickBucket } from "../measurements/pick-bucket.js";
import { topGroupsSql } from "../measurements/top-groups.js";
import type { Result, Value } from "../result/result.js";
import { nextBucket, type Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import { logFilterText } from "./log-filter.js";
import { checkLogQuestion, type AskedLogs, type LogOptions } from "./log-question.js";
import { columnOf, type LogField } from "./log-table.js";
import { whyNoLines } from "./why-no-lines.js";

/** What lines are grouped by: a field of a line, or a column by its own name. */
export type LogDimension = LogField | (string & {});

/** What rates take besides. */
export interface RateOptions extends LogOptions {
  /**
   * The bucket of time; `"all"` makes the whole range one, without the column `t`. Default `"auto"`:
   * minutes, or the finest bucket that keeps the answer under 5,000 rows.
   */
  readonly every?: Bucket | "auto" | "all";
  /** `"identifier"` (the program), `"host"`, `"priority"` or a column, or a list of them. */
  readonly by?: LogDimension | readonly LogDimension[];
  /** How many groups keep their name, the largest first; the rest is "other". Default 6; Infinity keeps all. */
  readonly top?: number;
}

/** `lab.logs.rates`: see {@link Logs.rates}. */
export async function rates(database: Database, options: RateOptions): Promise<Result> {
  const logs = await checkLogQuestion(database, options, "count log messages");
  const asked = groupedLogs(database, logs, options);
  const { every } = asked;
  const { table, range, source } = logs;
  const time = every && bucketSql(table.time.dateTime(table.time.sql), every, range);
  const dimensions = asked.by.map(
    (name, index) => `${dimensionSql(columnOf(name, table))} AS _d${index}`,
  );
  const times = time === null ? [] : [`${time} AS _t`];
  const keys = [...times.map(() => "_t"), ...asked.by.map((_, index) => `_d${index}`)];
  const group = keys.length > 0 ? `GROUP BY ${keys.join(", ")}` : "HAVING _n > 0";
  const cells = `SELECT ${[...times, ...dimensions, "count() AS _n"].join(", ")}
${source.sql}
${group}`;
  const sql = topGroupsSql(cells, asked, "sum(_n)", [{ sql: "sum(_n)", as: "_n" }]);
  const minutes = (t: Value) => coveredMinutes(new Date(Number(t)), every, range);
  return groupedResult(
    database,
    asked,
    { sql, parameters: source.parameters },
    [
      {
        name: "messages",
        label: "Messages",
        unit: "messages",
        additive: true,
        missing: "zero",
        value: (row) => Number(row["_n"]),
      },
      {
        name: "per_minute",
        label: "Messages per minute",
        unit: "messages/min",
        additive: false,
        missing: "zero",
        value: (row) => Number(row["_n"]) / minutes(row["_t"]),
      },
    ],
    "by messages in the range",
    asked.notes,
  );
}

/** A question on logs as the grouping of measurements takes it. */
export function groupedLogs(
  database: Database,
  logs: AskedLogs,
  options: Pick<RateOptions, "every" | "by" | "top">,
): Asked {
  const by = typeof options.by === "string" ? [options.by] : [...(options.by ?? [])];
  for (const [index, name] of by.entries()) {
    columnOf(name, logs.table);
    if (by.indexOf(name) !== index) {
      throw new ProbelabError(`Can't group by ${name} twice: name each field of by once.`);
    }
  }
  const top = checkTop(options.top ?? 6);
  const wanted = options.every ?? "auto";
  const { every, notes } = pickBucket(wanted, logs.range, by.length === 0 ? 1 : top + 1);
  return {
    ...logs,
    every,
    notes,
    by,
    top,
    where: {},
    filter: null,
    filterText: logFilterText(logs.filter),
    distinct: false,
    whyEmpty: () => whyNoLines(database, logs),
  };
}

/** Minutes of a bucket, or of all, that the range covers. */
function coveredMinutes(start: Date, every: Bucket | null, range: TimeRange): number {
  if (every === null) return (range.end.getTime() - range.start.getTime()) / 60_000;
  const from = Math.max(start.getTime(), range.start.getTime());
  const to = Math.min(nextBucket(start, every, range.timeZone).getTime(), range.end.getTime());
  return (to - from) / 60_000;
}
