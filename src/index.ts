/**
 * All that a notebook imports from "probelab".
 *
 * @module Reference
 */
export { connect, type ConnectOptions, type Lab } from "./lab/connect.js";
export type { AnomaliesVerdict } from "./lab/anomalies.js";
export { anomalies, type AnomaliesFinding } from "./change/anomalies.js";
export type { Finding } from "./change/finding.js";
export type { ReleaseFinding, ReleaseOptions } from "./change/release.js";
export { openSnapshot, type Snapshot } from "./snapshot/snapshot.js";
export { ProbelabError } from "./base/error.js";
export { change } from "./result/change.js";
export { Result, type Value } from "./result/result.js";
export type { ColumnTable } from "arquero";
export type { Origin } from "./result/origin.js";
export { between, last, type TimeRange } from "./time/time-range.js";
export type { Bucket } from "./time/bucket.js";
export { prefix, type Prefix, type Where } from "./query/where.js";
export {
  count,
  countDistinct,
  max,
  mean,
  min,
  quantile,
  rate,
  ratio,
  share,
  sum,
  type Measure,
  type ShareWithInterval,
} from "./query/measure.js";
export { bins, hourOfDay, versionPart, weekday, type Dimension } from "./query/dimension.js";
export type { By, GroupOptions } from "./query/ask.js";
export type { ExploreOptions } from "./query/explore.js";
export type { Measurements, Runs } from "./measurements/measurements.js";
export type {
  MeasurementColumn,
  MeasurementOptions,
  RunColumn,
  RunOptions,
  RunQuantileOptions,
} from "./measurements/questions.js";
export { parseReportId, type ReportId } from "./measurements/report-id.js";
export type { Logs } from "./logs/logs.js";
export type { LogColumn, LogOptions } from "./logs/lines.js";
export type { SubmissionRow } from "./logs/submissions.js";
export type { LogLine } from "./logs/follow.js";
export type { Priority } from "./logs/priority.js";
export { maskAddresses } from "./mask/mask.js";
export type { HelperVerdict } from "./test-helpers/failures.js";
export type { HelperRow } from "./test-helpers/instances.js";
export type { InstanceRow, Rotation } from "./test-helpers/rotation.js";
export { testHelpers, type TestHelpers } from "./test-helpers/test-helpers.js";
export type { Changes, ChurnRow } from "./test-lists/churn.js";
export type { TestList } from "./test-lists/test-list.js";
export { testLists } from "./test-lists/test-lists.js";
export { rows } from "./query/rows.js";
export type { QueryOptions } from "./query/free-query.js";
export type { Limits } from "./database/limits.js";
export { credentials } from "./credentials/credentials.js";
export { alert, type AlertReport } from "./watch/alert/alert.js";
export type { AlertLinks, AlertMessage } from "./watch/alert/channels.js";
export { downsample, type DownsampleOptions } from "./downsample/downsample.js";
export { chart } from "./chart/chart.js";
export type { Chart } from "./chart/chart-value.js";
export type {
  Annotation,
  AreaOptions,
  BarOptions,
  ChangeChartOptions,
  ChartOptions,
  DotOptions,
  HeatmapOptions,
  HistogramChartOptions,
  LineOptions,
} from "./chart/options.js";
export { table } from "./chart/table.js";
export { show } from "./notebook/show.js";
export { severity } from "./incident/severity.js";
export { postmortem, type Postmortem } from "./incident/postmortem.js";
export type { PostmortemFields } from "./incident/record.js";
export { tiers, type TierGraph, type TierOptions } from "./tiers/tiers.js";
export { explain, type ExplainOptions, type Explanation } from "./change/explain.js";
export {
  changePoints,
  type ChangePoints,
  type ChangePointsOptions,
} from "./change/change-points.js";
export { compare, type CompareOptions, type RangeComparison } from "./change/compare.js";
