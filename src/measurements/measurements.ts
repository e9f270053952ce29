import type { Database } from "../database/database.js";
import type { Result } from "../result/result.js";
import { counts } from "./counts.js";
import { duplicates, type DuplicateOptions } from "./duplicates.js";
import type { MeasurementOptions } from "./question.js";
import type { RunOptions } from "./run-cells.js";
import { runDurations, runs, summary } from "./run-questions.js";

/** Questions on the measurement table `fastpath`, each bounded in time. */
export interface Measurements {
  /**
   * How many measurements: columns `t` (start of the bucket), the dimensions of `by`, `measurements`. A bucket without measurements is a zero.
   *
   * @example
   * await lab.measurements.counts({
   *   range: last("3 months"), every: "week", by: "software_version", top: 6,
   *   where: { software_name: "probe-android-unattended" },
   * });
   */
  counts(options: MeasurementOptions): Promise<Result>;
  /**
   * How many runs, and how many measurements in each: columns `t`, the dimensions, `runs`,
   * `measurements` (of all those runs), `single` (share of runs with one measurement, 0 to 1) and
   * the quantiles of measurements per run, `q10`, `q50`, `q90`. A bucket without a run has 0 runs
   * and null quantiles: a gap. A run belongs to the bucket in which it starts.
   */
  runs(options: RunOptions): Promise<Result>;
  /**
   * How long runs take: as `runs`, with quantiles of the duration in seconds. A run's duration is
   * the last measurement_start_time of its report_id minus the first; a run of one measurement
   * lasts 0 s (`singles: "drop"` leaves those out). Quantiles are exact and interpolate linearly
   * (R-7 of Hyndman and Fan, 1996, as NumPy and d3).
   *
   * @example
   * await lab.measurements.runDurations({
   *   range: last("3 months"), every: "week", by: "software_version",
   *   where: { test_name: "web_connectivity", software_version: prefix("3.8") },
   * });
   */
  runDurations(options: RunOptions): Promise<Result>;
  /**
   * The table per version: for each software_name and software_version (or `by`), `runs`,
   * `measurements`, `single`, `measurements_per_run` (median), `seconds_per_measurement` (median
   * over runs of two or more, of duration / (measurements − 1)) and duration quantiles in seconds,
   * `q10`, `q30`, `q50`, `q70`, `q90`. All groups unless `top` is given.
   */
  summary(options: RunOptions): Promise<Result>;
  /**
   * How many measurements the table holds more than once: columns `t`, the dimensions,
   * `measurements` (each once), `rows`, `duplicated` (measurements with more than one row) and
   * `share` (of rows that are surplus, 0 to 1). Rows are one measurement by measurement_uid, or
   * where they are equal in every column. A measurement belongs to the bucket of its first row.
   */
  duplicates(options: DuplicateOptions): Promise<Result>;
}

/** The questions, bound to a database. */
export function measurementsOf(database: Database): Measurements {
  return {
    counts: (options) => counts(database, options),
    runs: (options) => runs(database, options),
    runDurations: (options) => runDurations(database, options),
    duplicates: (options) => duplicates(database, options),
    summary: (options) => summary(database, options),
  };
}
