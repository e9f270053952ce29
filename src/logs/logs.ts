import type { Database } from "../database/database.js";
import type { Result } from "../result/result.js";
import { bursts, type BurstOptions } from "./bursts.js";
import {
  checkIn,
  checkInLengths,
  type CheckInLengthOptions,
  type CheckInOptions,
} from "./check-in.js";
import { follow, type FollowOptions, type LogLine } from "./follow.js";
import type { LogForms } from "./forms.js";
import { patterns, type PatternOptions } from "./patterns.js";
import type { By } from "../query/ask.js";
import type { Measure } from "../query/measure.js";
import type { DimensionNames, GroupedRow } from "../query/row-types.js";
import type { Bucket } from "../time/bucket.js";
import type { LogColumn } from "./log-filter.js";
import { cubeSource } from "../query/cube.js";
import { askOwnLogs, logLines, rates, type LogGroupOptions } from "./rates.js";
import { search, type SearchOptions } from "./search.js";
import { submissions, type SubmissionOptions, type SubmissionRow } from "./submissions.js";

type Every = Bucket | "auto" | "all";

/** A found line; `priority` and `host` where the table has them. */
type FoundLine = {
  t: Date;
  identifier: string | null;
  priority?: string | null;
  host?: string | null;
  message: string | null;
};

type BurstRow<By> = { t: Date; messages: number; usual: number; score: number } & {
  [Name in DimensionNames<By> & string]: string | null;
};

type PatternRow = {
  identifier: string | null;
  pattern: string;
  messages: number;
  first: Date;
  last: Date;
  example: string;
};

type CheckInMeasures = { lists: Measure<number> } & Record<
  "hundred" | "fewest" | "q10" | "q50" | "q90" | "most",
  Measure
>;

/** Questions on the log table `logs`, each bounded in time on its sort key, `__REALTIME_TIMESTAMP`. */
export interface Logs {
  /**
   * The newest lines that match: columns `t` (a Date), `identifier` (the program), `priority` (text,
   * "0" to "7") and `host` where the table has them, `message`.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * await lab.logs.search({ range: last("1 hour"), identifier: "test-helper", contains: "timed out", limit: 10 });
   * await lab.logs.search({ range: last("1 day"), priority: "err", mask: true });
   */
  search(options: SearchOptions): Promise<Result<FoundLine>>;
  /**
   * How many messages: columns `t` (start of the bucket), the fields of `by`, `messages` and
   * `per_minute` (of the minutes that the range covers). A bucket without messages is a zero.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * chart.line(await lab.logs.rates({ range: last("6 hours"), every: "minute", by: "identifier" }));
   */
  rates<const B extends By<LogColumn> = [], const E extends Every = "auto">(
    options: LogGroupOptions<B> & { readonly every?: E },
  ): Promise<Result<GroupedRow<B, E, { messages: Measure<number>; per_minute: Measure<number> }>>>;
  /**
   * Any question on the lines: `measures` by `every`, `by`, `where` and the filters of lines.
   * Columns `t`, the dimensions, the measures.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * await lab.logs.ask({
   *   range: last("1 day"), every: "hour", by: "identifier",
   *   measures: { messages: count(), errors: share({ priority: { atMost: 3 } }), hosts: distinct("host") },
   * });
   */
  ask<
    const M extends Readonly<Record<string, Measure<unknown, LogColumn>>>,
    const B extends By<LogColumn> = [],
    const E extends Every = "auto",
  >(
    options: LogGroupOptions<B> & { readonly every?: E; readonly measures: M },
  ): Promise<Result<GroupedRow<B, E, M>>>;
  /**
   * The minutes that stand out of their own program's usual rate: columns `t`, `identifier` (or the
   * fields of `by`), `messages`, `usual` (median messages of all minutes of the range, silent ones
   * included) and `score`, in the order of time.
   *
   * The score is how many spreads a minute lies above the median; the spread is the median absolute
   * deviation × 1.4826 (which one burst doesn't widen; Rousseeuw and Croux, 1993), at least that of
   * a Poisson process of the usual rate and at least one message.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * const bursts = await lab.logs.bursts({ range: last("1 day"), priority: "err" });
   * chart.points(bursts);
   */
  bursts<const B extends NonNullable<BurstOptions["by"]> | ["identifier"] = ["identifier"]>(
    options: BurstOptions & { readonly by?: B },
  ): Promise<Result<BurstRow<B>>>;
  /**
   * Messages grouped by program and shape (numbers, addresses, times, ids and country codes
   * replaced, as `messageShape`): columns `identifier`, `pattern`, `messages`, `first` and `last`
   * (Dates) and `example`, the first message of that shape; the commonest first.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * table(await lab.logs.patterns({ range: last("1 hour"), priority: "warning", mask: true }));
   */
  patterns(options: PatternOptions): Promise<Result<PatternRow>>;
  /**
   * New lines as they come, until interrupted: each that is stored up to `lateness` after its own
   * time exactly once, also where many share a time or come out of order; those of one question in
   * the order of their times.
   *
   * A lost server is asked again, with waits of up to 30 seconds, until it answers; `onOutage` (or
   * console.warn) is told. What was stored meanwhile is given then, each line once.
   *
   * @throws ProbelabError when a question fails for another reason, such as a missing table.
   * @example
   * for await (const line of lab.logs.follow({ priority: "err" })) console.log(line.t, line.message);
   */
  follow(options?: FollowOptions): AsyncGenerator<LogLine, void, undefined>;
  /**
   * How many URLs check-in returned, from the API's lines: columns `t` (hours), `lists`, `hundred`
   * (share of lists with exactly 100, as nearly all have), `fewest`, `q10`, `q50`, `q90`, `most`.
   * An hour without a list is a gap.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * chart.line(await lab.logs.checkIn({ range: last("1 week") }), { y: "hundred" });
   */
  checkIn<const E extends Every = "hour">(
    options: CheckInOptions & { readonly every?: E },
  ): Promise<Result<GroupedRow<[], E, CheckInMeasures>>>;
  /**
   * The same as a distribution: columns `t`, `urls` (the length, the commonest `top` and "other"), `lists`.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * chart.area(await lab.logs.checkInLengths({ range: last("1 week", { now: lab.now }), top: 5 }));
   */
  checkInLengths<const E extends Every = "hour">(
    options: CheckInLengthOptions & { readonly every?: E },
  ): Promise<Result<GroupedRow<"urls", E, { lists: Measure<number> }>>>;
  /**
   * What probes claim against what is stored: the lines that submit a report (`LogForms`: the
   * collector's `POST /report/<id>`, access lines of nginx and Apache, JSON, or a pattern of your
   * own) against the measurements of that report. Where no line has such a form the answer is empty
   * and its note says so: nothing can be told then. A row for each report: `t` (its first submission), `report_id`,
   * `finding`, `measurements` (stored), `claimed_cc`, `stored_cc`, `claimed_asn`, `stored_asn`,
   * `detail`. Findings: `unreadable` (no report id), `refused` (answered with an error and not
   * stored), `missing` (accepted and not stored), `country` or `network` (stored with another than
   * the id says), `stored`.
   *
   * @throws ProbelabError without a range, for unknown columns and options, where the log table or a
   *   column that is needed is missing, or as the server says.
   * @example
   * const reports = await lab.logs.submissions({ range: last("1 day") });
   * reports.rows().filter((row) => row.finding === "missing");
   */
  submissions(options: SubmissionOptions): Promise<Result<SubmissionRow>>;
}

/**
 * The questions, on a database that is opened when the first of them is asked.
 *
 * @param forms how the deployment's lines look.
 */
export function logsOf(
  open: () => Promise<Database>,
  measurements: Database,
  forms: LogForms = {},
): Logs {
  const asked: Logs = {
    search: async (options) => (await search(await open(), options)) as never,
    bursts: async (options) => (await bursts(await open(), options)) as never,
    patterns: async (options) => (await patterns(await open(), options)) as never,
    follow: (options) => follow(open, options),
    rates: async (options) => (await rates(await open(), options)) as never,
    ask: async (options) => (await askOwnLogs(await open(), options)) as never,
    checkIn: async (options) => (await checkIn(await open(), options, forms)) as never,
    checkInLengths: async (options) =>
      (await checkInLengths(await open(), options, forms)) as never,
    submissions: async (options) => submissions(await open(), measurements, options, forms),
  };
  return cubeSource(asked, {
    dimensions: ["identifier", "host", "priority"],
    open: async (range, where) => {
      const database = await open();
      return {
        database,
        source: await logLines(database, range, { where: where }),
      };
    },
  });
}
