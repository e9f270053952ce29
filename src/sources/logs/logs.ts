import { refuseUnknown } from "../../base/check-options.js";
import type { Database } from "../../database/database.js";
import type { By } from "../../query/ask.js";
import { cubeSource } from "../../query/cube.js";
import { count, rate, type Measure } from "../../query/measure.js";
import type { GroupedRow } from "../../query/row-types.js";
import type { Result } from "../../result/result.js";
import type { Bucket } from "../../time/bucket.js";
import { askLog, GROUPED_OPTIONS, lineSource, type LogGroup, type LogGroupOptions } from "./ask.js";
import { bursts, type BurstOptions } from "./bursts.js";
import { follow, type FollowOptions, type LogLine } from "./follow.js";
import { checkIn, type CheckInOptions, type LogForms } from "./forms.js";
import type { LogColumn, LogOptions } from "./lines.js";
import { search, type SearchOptions } from "./search.js";
import { submissions, type SubmissionRow } from "./submissions.js";

type Every = Bucket | "auto" | "all";

/** A found line; the message is null where the table holds NULL. */
type FoundLine = Omit<LogLine, "message"> & { readonly message: string | null };

type BurstRow = {
  t: Date;
  identifier: string | null;
  messages: number;
  usual: number;
  score: number;
};

type CheckInMeasures = { lists: Measure<number> } & Record<
  "hundred" | "fewest" | "q10" | "q50" | "q90" | "most",
  Measure
>;

/**
 * Questions on the log table `logs`, each bounded in time on its sort key, `__REALTIME_TIMESTAMP`.
 *
 * All throw a ProbelabError without a range, for unknown columns and options, where the table or a
 * column that is needed is missing, and for errors of the server.
 */
export interface Logs {
  /**
   * Finds the newest lines: columns `t` (a Date), `identifier` (the program), `priority` (text, "0" to
   * "7") and `host` where the table has them, `message`.
   *
   * @example
   * await lab.logs.search({ range: last("1 hour"), identifier: "test-helper", contains: "timed out", limit: 10 });
   * await lab.logs.search({ range: last("1 day"), priority: "err", mask: true });
   */
  search(options: SearchOptions): Promise<Result<FoundLine>>;
  /**
   * Counts messages: columns `t` (start of the bucket), the fields of `by`, `messages`, and
   * `per_minute` of the minutes that the range covers. A bucket without messages is a zero.
   *
   * `by: "pattern"` groups messages of one shape: `answered <ip> in <n> ms`, with numbers, addresses,
   * times, ids and country codes replaced.
   *
   * @example
   * chart.line(await lab.logs.rates({ range: last("6 hours"), every: "minute", by: "identifier" }));
   * table(await lab.logs.rates({ range: last("1 hour"), every: "all", by: ["identifier", "pattern"], top: 20 }));
   */
  rates<const B extends By<LogGroup> = [], const E extends Every | undefined = Every | undefined>(
    options: LogGroupOptions<B> & { readonly every?: E },
  ): Promise<Result<GroupedRow<B, E, { messages: Measure<number>; per_minute: Measure<number> }>>>;
  /**
   * Asks `measures` of lines by `every`, `by` and the filters: columns `t`, the dimensions, the
   * measures.
   *
   * @example
   * await lab.logs.ask({
   *   range: last("1 day"), every: "hour", by: "identifier",
   *   measures: { messages: count(), errors: share({ priority: { lte: 3 } }), hosts: countDistinct("host") },
   * });
   */
  ask<
    const M extends Readonly<Record<string, Measure<unknown, LogColumn>>>,
    const B extends By<LogGroup> = [],
    const E extends Every | undefined = Every | undefined,
  >(
    options: LogGroupOptions<B> & { readonly every?: E; readonly measures: M },
  ): Promise<Result<GroupedRow<B, E, M>>>;
  /**
   * Finds minutes that stand out of their own program's usual rate: columns `t`, `identifier`,
   * `messages`, `usual` (median messages of all minutes of the range, silent ones
   * included) and `score`, in the order of time.
   *
   * The score is the distance from the median in spreads. The spread is the median absolute deviation
   * × 1.4826, which one burst doesn't widen (Rousseeuw and Croux, 1993), at least that of a Poisson
   * process of the usual rate and at least one message.
   *
   * @example
   * chart.dot(await lab.logs.bursts({ range: last("1 day"), priority: "err" }));
   */
  bursts(options: BurstOptions): Promise<Result<BurstRow>>;
  /**
   * Yields new lines until interrupted. A line that is stored up to `lateness` after its own time is
   * yielded exactly once, also where many share a time or come out of order; those of one question
   * come in the order of their times.
   *
   * @example
   * for await (const line of lab.logs.follow({ priority: "err" })) console.log(line.t, line.message);
   */
  follow(options?: FollowOptions): AsyncGenerator<LogLine, void, undefined>;
  /**
   * Counts the URLs that check-in returned, from the API's lines: columns `t` (hours), the fields of
   * `by` (`"urls"` is the length of the list), `lists`, `hundred` (share of lists with exactly 100, as
   * nearly all have), and the quantiles of the length `fewest`, `q10`, `q50`, `q90`, `most`. An hour
   * without a list is a gap.
   *
   * @example
   * chart.line(await lab.logs.checkIn({ range: last("1 week") }), { y: "hundred" });
   * table(await lab.logs.checkIn({ range: last("1 week"), every: "all", by: "urls" }), { columns: ["urls", "lists"] });
   */
  checkIn<
    const B extends By<LogGroup | "urls"> = [],
    const E extends Every | undefined = Every | undefined,
  >(
    options: CheckInOptions<B> & { readonly every?: E },
  ): Promise<Result<GroupedRow<B, E, CheckInMeasures>>>;
  /**
   * Compares submitted reports with stored ones: the lines that submit a report (see `LogForms`)
   * against the measurements of that report. A row for each report: `t` (its first submission),
   * `report_id`, `finding`, `measurements` (stored), `detail`. Findings: `unreadable` (no report id), `refused` (answered with an error
   * and not stored), `missing` (accepted and not stored), `country` or `network` (stored with another
   * than in the id), `stored`. Where no line has a known form the answer is empty, and a note says so.
   *
   * @example
   * const reports = await lab.logs.submissions({ range: last("1 day") });
   * reports.rows().filter((row) => row.finding === "missing");
   */
  submissions(options: LogOptions): Promise<Result<SubmissionRow>>;
}

/**
 * Binds the questions to a log database, which is opened with the first of them.
 *
 * @param forms patterns of the deployment's lines.
 */
export function logsOf(
  open: () => Promise<Database>,
  measurements: Database,
  forms: LogForms = {},
): Logs {
  const logs: Logs = {
    search: async (options) => (await search(await open(), options)) as never,
    rates: async (options) => {
      const action = "count log messages";
      refuseUnknown(options, GROUPED_OPTIONS, action);
      const measures = { messages: count(), per_minute: rate(count(), "minute") };
      return (await askLog(await open(), options, measures, action)) as never;
    },
    ask: async (options) => {
      const action = "ask the logs";
      refuseUnknown(options, [...GROUPED_OPTIONS, "measures"], action);
      const { measures, ...rest } = options;
      return (await askLog(await open(), rest, measures, action)) as never;
    },
    bursts: async (options) => (await bursts(await open(), options)) as never,
    follow: (options) => follow(open, options),
    checkIn: async (options) => (await checkIn(await open(), options, forms)) as never,
    submissions: async (options) => submissions(await open(), measurements, options, forms),
  };
  return cubeSource(logs, {
    dimensions: ["identifier", "host", "priority"],
    open: async (range, where) => {
      const database = await open();
      return { database, source: await lineSource(database, range, { where }) };
    },
  });
}
