import type { Database } from "../database/database.js";
import type { Result } from "../result/result.js";
import { rates, type RateOptions } from "./rates.js";
import { search, type SearchOptions } from "./search.js";

/** Questions on the log table `logs`, each bounded in time on its sort key, `__REALTIME_TIMESTAMP`. */
export interface Logs {
  /**
   * The newest lines that match: columns `t` (a Date), `identifier` (the program), `priority` (text,
   * "0" to "7") and `host` where the table has them, `message`.
   *
   * @example
   * await lab.logs.search({ range: last("1 hour"), identifier: "test-helper", contains: "timed out", limit: 10 });
   * await lab.logs.search({ range: last("1 day"), priority: "err", mask: true });
   */
  search(options: SearchOptions): Promise<Result>;
  /**
   * How many messages: columns `t` (start of the bucket), the fields of `by`, `messages` and
   * `per_minute` (of the minutes that the range covers). A bucket without messages is a zero.
   *
   * @example
   * chart.line(await lab.logs.rates({ range: last("6 hours"), every: "minute", by: "identifier" }));
   */
  rates(options: RateOptions): Promise<Result>;
}

/** The questions, on a database that is opened when the first of them is asked. */
export function logsOf(open: () => Promise<Database>): Logs {
  return {
    search: async (options) => search(await open(), options),
    rates: async (options) => rates(await open(), options),
  };
}
