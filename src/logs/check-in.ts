import type { Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import { quoteIdentifier } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import { groupedResult, type Measure } from "../measurements/grouped-result.js";
import { topGroupsSql } from "../measurements/top-groups.js";
import type { Result, Value } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { checkLogQuestion, type LogOptions } from "./log-question.js";
import { columnOf } from "./log-table.js";
import { groupedLogs } from "./rates.js";

/** What questions on check-in lists take besides. */
export interface CheckInOptions extends LogOptions {
  /** The bucket of time, as for `rates`; default `"hour"`. */
  readonly every?: Bucket | "auto" | "all";
  /**
   * How a line of the API tells a list's length: a pattern (RE2) whose first bracket is the number;
   * default `^check-in .*?\b(\d+) URLs`.
   */
  readonly length?: string;
}

/** What a distribution takes besides. */
export interface CheckInLengthOptions extends CheckInOptions {
  /** How many lengths keep their own row, the commonest first; the rest is "other". Default 6. */
  readonly top?: number;
}

const LENGTH = "^check-in .*?\\b(\\d+) URLs";

/** `lab.logs.checkIn`: see {@link Logs.checkIn}. */
export async function checkIn(database: Database, options: CheckInOptions): Promise<Result> {
  const { asked, cells, parameters } = await question(database, options, []);
  const sql = topGroupsSql(cells, asked, "sum(_n)", [
    { sql: "sum(_n)", as: "_n" },
    { sql: "sum(_hundreds)", as: "_hundreds" },
    { sql: "quantilesExactInclusiveMerge(0, 0.1, 0.5, 0.9, 1)(_q)", as: "_q" },
  ]);
  const quantile = (index: number, name: string, label: string): Measure => ({
    name,
    label: `URLs in a check-in list, ${label}`,
    unit: "URLs",
    additive: false,
    missing: "gap",
    value: (row) => (row["_q"] as ArrayLike<number>)[index] ?? null,
  });
  return groupedResult(
    database,
    asked,
    { sql, parameters },
    [
      LISTS,
      {
        name: "hundred",
        label: "Share of lists with 100 URLs",
        unit: "share",
        additive: false,
        missing: "gap",
        value: (row) => Number(row["_hundreds"]) / Number(row["_n"]),
      },
      quantile(0, "fewest", "fewest"),
      quantile(1, "q10", "10th percentile"),
      quantile(2, "q50", "median"),
      quantile(3, "q90", "90th percentile"),
      quantile(4, "most", "most"),
    ],
    "by lists in the range",
    asked.notes,
  );
}

/** `lab.logs.checkInLengths`: see {@link Logs.checkInLengths}. */
export async function checkInLengths(
  database: Database,
  options: CheckInLengthOptions,
): Promise<Result> {
  const { asked, cells, parameters } = await question(database, options, ["urls"]);
  const sql = topGroupsSql(cells, asked, "sum(_n)", [{ sql: "sum(_n)", as: "_n" }]);
  return groupedResult(
    database,
    asked,
    { sql, parameters },
    [LISTS],
    "by lists in the range",
    asked.notes,
  );
}

const LISTS: Measure = {
  name: "lists",
  label: "Check-in lists",
  unit: "lists",
  additive: true,
  missing: "zero",
  value: (row: Readonly<Record<string, Value>>) => Number(row["_n"]),
};

async function question(database: Database, options: CheckInLengthOptions, by: readonly string[]) {
  const length = options.length ?? LENGTH;
  if (typeof length !== "string" || !/(^|[^\\])\((?!\?)/.test(length)) {
    throw new ProbelabError(
      `Can't find the lengths of check-in lists by ${JSON.stringify(length)}: pass a pattern with the number in brackets, such as length: "(\\\\d+) URLs".`,
    );
  }
  const logs = await checkLogQuestion(database, options, "count check-in lists");
  const { table, range, source } = logs;
  const { top } = options;
  const grouped = groupedLogs(database, logs, {
    every: options.every ?? "hour",
    ...(top !== undefined && { top }),
  });
  const asked = { ...grouped, by };
  const message = quoteIdentifier(columnOf("message", table));
  const { every } = asked;
  const start = every && bucketSql(table.time.dateTime(table.time.sql), every, range);
  const time = start === null ? "" : `${start} AS _t, `;
  const keys = [...(start === null ? [] : ["_t"]), ...by.map((_, index) => `_d${index}`)];
  const own =
    by.length > 0
      ? "toNullable(toString(_urls)) AS _d0, count() AS _n"
      : "count() AS _n, countIf(_urls = 100) AS _hundreds, quantilesExactInclusiveState(0, 0.1, 0.5, 0.9, 1)(_urls) AS _q";
  const cells = `SELECT ${start === null ? "" : "_t, "}${own}
FROM (
  SELECT ${time}toUInt32OrNull(extract(${message}, {length:String})) AS _found, assumeNotNull(_found) AS _urls
  ${source.sql.replace("\n", "\n  ")} AND match(${message}, {length:String})
)
WHERE isNotNull(_found)
${keys.length > 0 ? `GROUP BY ${keys.join(", ")}` : "HAVING _n > 0"}`;
  return { asked, cells, parameters: { ...source.parameters, length } };
}
