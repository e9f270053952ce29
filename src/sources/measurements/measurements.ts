import type { Database } from "../../database/database.js";
import type { By } from "../../query/ask.js";
import { cubeSource } from "../../query/cube.js";
import type { ExploreOptions } from "../../query/explore.js";
import type { Measure } from "../../query/measure.js";
import type { GroupedRow, QuantileMeasures } from "../../query/row-types.js";
import type { Result } from "../../result/result.js";
import type { Bucket } from "../../time/bucket.js";
import { histogram, type HistogramOptions, type HistogramRow } from "./histogram.js";
import * as questions from "./questions.js";
import { askedTable, type QuestionSource } from "./questions.js";
import type {
  DuplicateOptions,
  FirstSeenOptions,
  MeasurementColumn,
  MeasurementOptions,
  RunColumn,
  RunOptions,
  RunQuantileOptions,
} from "./questions.js";
import { values, type ValuesOptions, type ValuesRow } from "./values.js";

type Every = Bucket | "auto" | "all";
type Names = By<MeasurementColumn>;
type RunNames = By<RunColumn>;
type Levels = readonly number[];
/** The default dimension of `summary`; a deployment that declares other columns may not have it. */
type Versions = ["software_name", "software_version"];

/** An answer whose row the compiler knows by the question's dimensions, bucket and measures. */
type Grouped<B, E, M> = Result<GroupedRow<B, E, M>>;

/** Measures that are counts. */
type Counts<Name extends string> = Record<Name, Measure<number>>;

/** The measures of `counts` and `durations`. */
type RunMeasures<L extends Levels> = Counts<"runs" | "measurements"> & {
  single_share: Measure;
} & QuantileMeasures<L>;

/** A question on runs with quantiles. */
type QuantileQuestion = <
  const B extends RunNames = [],
  const E extends Every | undefined = Every | undefined,
  const L extends Levels = [0.1, 0.5, 0.9],
>(
  options: RunQuantileOptions<B, L> & { readonly every?: E },
) => Promise<Grouped<B, E, RunMeasures<L>>>;

/** Questions on the measurement table `fastpath`, each bounded in time. */
export interface Measurements {
  /**
   * Any question: `measures` by `every`, `by` and `where`. Columns `t` (start of the bucket, a Date;
   * not with `every: "all"`), the dimensions of `by` (text or null), the measures.
   *
   * @throws ProbelabError without a range or a measure, for unknown columns and options, and for
   *   measures that a column's type doesn't allow.
   * @example
   * const own = await lab.measurements.ask({
   *   range: last("3 months", { now: lab.now }), every: "day", by: ["probe_cc", "test_name"], top: 10,
   *   measures: { measurements: count(), blocked: share({ anomaly: "t" }), networks: countDistinct("probe_asn") },
   * });
   */
  ask<
    const M extends Readonly<Record<string, Measure<unknown, MeasurementColumn>>>,
    const B extends Names = [],
    const E extends Every | undefined = Every | undefined,
  >(
    options: MeasurementOptions<MeasurementColumn, B> & {
      readonly every?: E;
      readonly measures: M;
    },
  ): Promise<Grouped<B, E, M>>;
  /**
   * Counts measurements: columns `t` (start of the bucket), the dimensions of `by`, `measurements`.
   * A bucket without measurements is a zero.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * await lab.measurements.counts({
   *   range: last("3 months"), every: "week", by: "software_version", top: 6,
   *   where: { software_name: "probe-android-unattended" },
   * });
   */
  counts<const B extends Names = [], const E extends Every | undefined = Every | undefined>(
    options: MeasurementOptions<MeasurementColumn, B> & { readonly every?: E },
  ): Promise<Grouped<B, E, Counts<"measurements">>>;
  /** The same as {@link Runs.durations}. */
  runDurations: Runs["durations"];
  /**
   * Counts measurements that the table holds more than once: columns `t`, the dimensions,
   * `measurements` (each once), `rows`, `duplicated` (measurements with more than one row) and
   * `share` (of rows that are surplus, 0 to 1). Rows are one measurement by measurement_uid, or
   * where they are equal in every column. A measurement belongs to the bucket of its first row.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * await lab.measurements.duplicates({ range: last("1 week", { now: lab.now }), every: "day" });
   */
  duplicates<const B extends Names = [], const E extends Every = "all">(
    options: DuplicateOptions<B> & { readonly every?: E },
  ): Promise<Grouped<B, E, Counts<"measurements" | "rows" | "duplicated"> & { share: Measure }>>;
  /**
   * The cells behind an interactive chart, for `chart.explore`: a row for each bucket and
   * combination of values in which there is anything, fewer than 5,000. Of each dimension the
   * largest values are named, as many as fit (at most 10), the others are "other"; the bucket is the
   * finest that fits. Columns `t`, the dimensions, and `measurements`; of a `share` or `ratio` its
   * `part` and `whole`, which add up, and itself.
   *
   * @throws ProbelabError for a measure whose parts don't add up to it (`countDistinct`, `quantile`, `mean`).
   * @example
   * chart.explore(await lab.measurements.explore({ range, by: ["software_version", "probe_cc", "test_name"] }));
   */
  explore<const B extends Names>(
    options: ExploreOptions<MeasurementColumn, B> & Pick<MeasurementOptions, "dedupe">,
  ): Promise<Result>;
  /**
   * When the first measurement of each group was within the range: the dimensions, `first` (a Date,
   * UTC instant) and `measurements`. All groups unless `top` is given.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * await lab.measurements.firstSeen({ range, by: "software_version", where: { software_name: "probe-cli" } });
   */
  firstSeen<const B extends Names = []>(
    options: FirstSeenOptions<B>,
  ): Promise<Grouped<B, "all", { first: Measure<Date | null> } & Counts<"measurements">>>;
  /**
   * Counts the numbers of a column in bins, as `lab.runs.histogram` does for runs: `measurements` of each bin.
   *
   * @throws ProbelabError for a column that holds no numbers, and for log-spaced bins of negative ones.
   * @example
   * chart.histogram(await lab.measurements.histogram({ range: last("1 week", { now: lab.now }), column: "test_runtime" }));
   */
  histogram<const B extends Names = []>(
    options: HistogramOptions<MeasurementColumn, B>,
  ): Promise<Result<HistogramRow<B, { measurements: Measure<number> }>>>;
  /**
   * The values of a column of numbers along time, measurement by measurement, brought under 5,000
   * rows by the server in one scan: the first, last, lowest and highest of each column of time (M4,
   * Jugel et al., PVLDB 2014), so that a line of them looks as one of all. Columns `t`, `by` where
   * given, and the column itself.
   *
   * @throws ProbelabError for an unknown column or one that holds no numbers.
   * @example
   * chart.line(await lab.measurements.values({ range, y: "test_runtime", by: "test_name", top: 3 }));
   */
  values<const Y extends MeasurementColumn, const B extends MeasurementColumn = never>(
    options: ValuesOptions<Y, B>,
  ): Promise<Result<ValuesRow<Y, B>>>;
}

/** Questions on the runs of the measurement table: a row a run, the measurements of one report_id. */
export interface Runs {
  /**
   * Any question on runs. Their columns: `start` (a Date), `duration` (seconds), `measurements`,
   * `seconds_per_measurement` (null for a run of one), and every column of the table as the run's
   * first measurement has it. `where` on the first four chooses runs, on a column of the table the
   * measurements that runs are made of.
   *
   * @throws ProbelabError without a range or a measure, for unknown columns and options, and for
   *   measures that a column's type doesn't allow.
   * @example
   * const short = await lab.runs.ask({
   *   range, every: "week", by: "software_version",
   *   measures: { runs: count(), p90: quantile(0.9, "duration"), short: share({ duration: { lt: 60 } }) },
   * });
   */
  ask<
    const M extends Readonly<Record<string, Measure<unknown, RunColumn>>>,
    const B extends RunNames = [],
    const E extends Every | undefined = Every | undefined,
  >(
    options: RunOptions<RunColumn, B> & { readonly every?: E; readonly measures: M },
  ): Promise<Grouped<B, E, M>>;
  /**
   * Counts runs, and the measurements in each: columns `t`, the dimensions, `runs`,
   * `measurements` (of all those runs), `single_share` (share of runs with one measurement, 0 to 1) and
   * the quantiles of measurements per run, `q10`, `q50`, `q90`. A bucket without a run has 0 runs
   * and null quantiles: a gap. A run belongs to the bucket in which it starts. Measurements without
   * a report_id are of no run; a note counts them.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * await lab.runs.counts({ range: last("1 month", { now: lab.now }), every: "week", by: "probe_cc", top: 5 });
   */
  counts: QuantileQuestion;
  /**
   * Durations of runs: as `counts`, with quantiles of the duration in seconds. A run's duration is
   * the last measurement_start_time of its report_id minus the first; a run of one measurement
   * lasts 0 s (`where: { measurements: { gt: 1 } }` leaves those out). Quantiles are exact and
   * interpolate linearly (R-7 of Hyndman and Fan, 1996, as NumPy and d3).
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * await lab.runs.durations({
   *   range: last("3 months"), every: "week", by: "software_version",
   *   where: { test_name: "web_connectivity", software_version: prefix("3.8") },
   * });
   */
  durations: QuantileQuestion;
  /**
   * The table per version: for each software_name and software_version (or `by`), `runs`,
   * `measurements`, `single_share`, `measurements_per_run` (median), `seconds_per_measurement` (median
   * over runs of two or more, of duration / (measurements − 1)) and duration quantiles in seconds,
   * `q10`, `q30`, `q50`, `q70`, `q90`. All groups unless `top` is given.
   *
   * @throws ProbelabError without a range, for unknown columns and options, or as the server says.
   * @example
   * table(await lab.runs.summary({ range: last("1 month", { now: lab.now }) }), { sort: "runs" });
   */
  summary<
    const B extends RunNames | Versions = Versions,
    const E extends Every = "all",
    const L extends Levels = [0.1, 0.3, 0.5, 0.7, 0.9],
  >(
    options: RunQuantileOptions<RunNames, L> & { readonly by?: B; readonly every?: E },
  ): Promise<
    Grouped<
      B,
      E,
      RunMeasures<L> & Record<"measurements_per_run" | "seconds_per_measurement", Measure>
    >
  >;
  /**
   * The same of runs as {@link Measurements.explore} of measurements; a run counts where it starts.
   *
   * @throws ProbelabError for a measure whose parts don't add up to it (`countDistinct`, `quantile`, `mean`).
   * @example
   * chart.explore(await lab.runs.explore({ range, by: ["software_version", "probe_cc"] }));
   */
  explore<const B extends RunNames>(
    options: ExploreOptions<RunColumn, B> & Pick<RunOptions, "dedupe">,
  ): Promise<Result>;
  /**
   * Counts runs by the numbers of a column, in bins that the engine cuts: columns `from` and
   * `to` (a bin is half-open, [from, to)), the dimensions of `by`, and `runs`, exactly, 0 in an empty
   * bin. A row whose `from` or `to` is null holds what is beyond the bins, which only edges of one's
   * own leave. Runs without a number are in none, and a note counts them.
   *
   * @throws ProbelabError for a column that holds no numbers, and for log-spaced bins of negative ones.
   * @example
   * chart.histogram(await lab.runs.histogram({ range, column: "duration" }));
   */
  histogram<const B extends RunNames = []>(
    options: HistogramOptions<RunColumn, B>,
  ): Promise<Result<HistogramRow<B, { runs: Measure<number> }>>>;
}

/** Dimensions that `explain` searches by default. */
export const DIMENSIONS = [
  ...["software_name", "software_version", "probe_cc", "probe_asn", "test_name"],
];

/** The questions, bound to a database. */
export function measurementsOf(database: Database): Measurements {
  return measurementsAsked(askedTable(database));
}

/** The questions on runs, bound to a database. */
export function runsOf(database: Database): Runs {
  return runsAsked(askedTable(database));
}

/** The questions, bound to a table or a snapshot. */
export function measurementsAsked(of: QuestionSource): Measurements {
  return bound<Measurements>(of, "measurements", {
    ask: questions.askOwn,
    counts: questions.counts,
    runDurations: questions.runDurations,
    duplicates: questions.duplicates,
    firstSeen: questions.firstSeen,
    explore: questions.explore,
    histogram,
    values,
  });
}

/** The questions on runs, bound to a table or a snapshot. */
export function runsAsked(of: QuestionSource): Runs {
  return bound<Runs>(of, "runs", {
    ask: questions.askOwn,
    counts: questions.runCounts,
    durations: questions.runDurations,
    summary: questions.summary,
    explore: questions.explore,
    histogram,
  });
}

type Ask = (of: QuestionSource, options: never, room: "measurements" | "runs") => Promise<Result>;

/** Questions of a table or a snapshot, whose rows the compiler knows better than their code does. */
function bound<Questions extends object>(
  of: QuestionSource,
  room: "measurements" | "runs",
  asks: Record<keyof Questions, Ask>,
): Questions {
  const entries = Object.entries<Ask>(asks);
  const questions = entries.map(([name, ask]) => [
    name,
    (options: never) => ask(of, options, room),
  ]);
  return cubeSource(Object.fromEntries(questions) as Questions, {
    dimensions: DIMENSIONS,
    open: async (range, where) => ({
      database: of.database,
      source: await of[room]({ range, where }),
    }),
  });
}
