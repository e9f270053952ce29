/**
 * All that a notebook imports from "probelab".
 *
 * @module Reference
 */
export { connect, type ConnectOptions, type Lab } from "./lab/connect.js";
export type { AnomaliesVerdict } from "./service/anomalies.js";
export { anomalies, type AnomaliesFinding } from "./change/series/anomalies.js";
export type { Finding } from "./change/finding.js";
export type { ReleaseFinding, ReleaseOptions } from "./service/release.js";
export { openSnapshot, type Snapshot } from "./sources/snapshot/snapshot.js";
export { ProbelabError } from "./base/error.js";
export { change } from "./result/bucket-change.js";
export { Result, type Value } from "./result/result.js";
export type { ColumnTable } from "arquero";
export type { Origin } from "./result/origin.js";
export { between, last, type TimeRange } from "./time/time-range.js";
export type { Bucket } from "./time/bucket.js";
export { contains, prefix, type Prefix, type Where } from "./query/where.js";
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
export type { Measurements, Runs } from "./sources/measurements/measurements.js";
export type {
  MeasurementColumn,
  MeasurementOptions,
  RunColumn,
  RunOptions,
  RunQuantileOptions,
} from "./sources/measurements/questions.js";
export { parseReportId, type ReportId } from "./sources/measurements/report-id.js";
export type { Logs } from "./sources/logs/logs.js";
export type { LogColumn, LogOptions } from "./sources/logs/lines.js";
export type { SubmissionRow } from "./sources/logs/submissions.js";
export type { LogLine } from "./sources/logs/follow.js";
export type { Priority } from "./sources/logs/priority.js";
export { maskAddresses } from "./result/mask.js";
export type { HelperVerdict } from "./sources/test-helpers/failures.js";
export type { HelperRow } from "./sources/test-helpers/instances.js";
export type { InstanceRow, Rotation } from "./sources/test-helpers/rotation.js";
export { testHelpers, type TestHelpers } from "./sources/test-helpers/test-helpers.js";
export type { Changes, ChurnRow } from "./sources/test-lists/churn.js";
export type { TestList } from "./sources/test-lists/test-list.js";
export { testLists } from "./sources/test-lists/test-lists.js";
export { rows } from "./query/rows.js";
export type { QueryOptions } from "./query/free-query.js";
export type { Limits } from "./database/limits.js";
export { credentials } from "./database/credentials.js";
export { alert, type AlertReport } from "./watch/alert/alert.js";
export type { AlertLinks, AlertMessage } from "./watch/alert/channels.js";
export { downsample, type DownsampleOptions } from "./result/downsample/downsample.js";
export { chart } from "./chart/chart.js";
export { table, type Chart } from "./chart/page.js";
export type {
  Annotation,
  AreaOptions,
  BarOptions,
  ChangeChartOptions,
  ChartOptions,
  DotOptions,
  DotPlotOptions,
  HeatmapOptions,
  HistogramChartOptions,
  LineOptions,
} from "./chart/options.js";
export { show } from "./kernel/show.js";
export { severity } from "./incident/severity.js";
export { postmortem, type Postmortem } from "./incident/postmortem.js";
export type { PostmortemFields } from "./incident/record.js";
export { tiers, type TierOptions, type TierReview } from "./incident/tiers.js";
export { explain, type ExplainOptions, type Explanation } from "./change/cells/explain.js";
export { changePoints, type ChangePoints } from "./change/series/change-points.js";
export { compare, type CompareOptions, type RangeComparison } from "./change/cells/compare.js";
