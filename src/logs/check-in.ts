import { refuseUnknown } from "../check-options.js";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../error.js";
import { count, quantile, share, type Measure } from "../query/measure.js";
import { bind, raw, sql } from "../query/sql.js";
import type { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { logTable, columnOf } from "./log-table.js";
import type { LogOptions } from "./log-question.js";
import { askLogLines, LOG_FILTER_OPTIONS } from "./rates.js";

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
const OPTIONS = [...LOG_FILTER_OPTIONS, "range", "signal", "every", "length"];

/** `lab.logs.checkIn`: see {@link Logs.checkIn}. */
export async function checkIn(database: Database, options: CheckInOptions): Promise<Result> {
  refuseUnknown(options, OPTIONS, "count check-in lists");
  const urls = (level: number, label: string) =>
    quantile(level, "urls", { label: `URLs in a check-in list, ${label}` });
  return question(database, options, [], {
    lists: LISTS,
    hundred: share({ urls: 100 }, { label: "Share of lists with 100 URLs" }),
    fewest: urls(0, "fewest"),
    q10: urls(0.1, "10th percentile"),
    q50: urls(0.5, "median"),
    q90: urls(0.9, "90th percentile"),
    most: urls(1, "most"),
  });
}

/** `lab.logs.checkInLengths`: see {@link Logs.checkInLengths}. */
export async function checkInLengths(
  database: Database,
  options: CheckInLengthOptions,
): Promise<Result> {
  refuseUnknown(options, [...OPTIONS, "top"], "count check-in lists");
  return question(database, options, ["urls"], { lists: LISTS });
}

const LISTS = count({ label: "Check-in lists", unit: "lists" });

async function question(
  database: Database,
  options: CheckInLengthOptions,
  by: readonly string[],
  measures: Readonly<Record<string, Measure<unknown>>>,
): Promise<Result> {
  const { length = LENGTH, every = "hour", ...rest } = options;
  if (typeof length !== "string" || !/(^|[^\\])\((?!\?)/.test(length)) {
    throw new ProbelabError(
      `Can't find the lengths of check-in lists by ${JSON.stringify(length)}: pass a pattern with the number in brackets, such as length: "(\\\\d+) URLs".`,
    );
  }
  const table = await logTable(database);
  const message = raw(table.column(columnOf("message", table)));
  const urls = sql`toUInt32OrNull(extract(${message}, ${bind("length", "String", length)}))`;
  return askLogLines(
    database,
    { ...rest, every, by },
    measures,
    { action: "count check-in lists" },
    {
      only: [sql`match(${message}, ${bind("length", "String", length)})`, sql`isNotNull(${urls})`],
      computed: {
        urls: {
          sql: sql`assumeNotNull(${urls})`,
          type: "UInt32",
          label: "URLs in a check-in list",
          unit: "URLs",
        },
      },
      many: "lists",
    },
  );
}
