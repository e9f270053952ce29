/**
 * All that a notebook imports from "probelab".
 *
 * @module Reference
 */
export { connect, type ConnectOptions, type Lab } from "./lab/connect.js";
export type { DropFinding, DropOptions } from "./lab/drop.js";
export { alarm, type AlarmFinding, type AlarmOptions } from "./change/alarm.js";
export type { Finding } from "./change/finding.js";
export { forecast, type ForecastOptions } from "./change/forecast.js";
export type { FunnelOptions } from "./change/funnel.js";
export type { ReleaseFinding, ReleaseOptions } from "./change/release-report.js";
export type { ReleaseValue } from "./change/release-values.js";
export type { ValuesOptions, ValuesRow } from "./measurements/values.js";
export {
  openSnapshot,
  type Snapshot,
  type SnapshotMeasurements,
  type SnapshotOptions,
} from "./snapshot/snapshot.js";
export { ProbelabError } from "./base/error.js";
export {
  Result,
  type Computed,
  type Derived,
  type Joined,
  type Renamed,
  type Value,
} from "./result/result.js";
export type { PivotOptions } from "./result/result.js";
export type { ColumnTable } from "arquero";
export type { RowsGiven } from "./result/own-rows.js";
export type {
  DimensionColumn,
  MeasureColumn,
  Origin,
  ResultColumns,
  TimeColumn,
} from "./result/origin.js";
export { between, formatRange, last, type TimeRange } from "./time/time-range.js";
export { autoBucket, buckets, BUCKETS, type Bucket, type RangeBucket } from "./time/bucket.js";
export { prefix, type Prefix } from "./query/prefix.js";
export { compareVersions } from "./result/version-order.js";
export type { Comparison, FilterValue, Match, Where } from "./query/where.js";
export {
  count,
  distinct,
  earliest,
  latest,
  max,
  mean,
  min,
  perMinute,
  quantile,
  ratio,
  share,
  shareHigh,
  shareLow,
  sum,
  type Measure,
  type MeasureOptions,
} from "./query/measure.js";
export { bins, hourOfDay, versionPart, weekday, type Dimension } from "./query/dimension.js";
export type { By, GroupOptions } from "./query/ask.js";
export type { ExploreOptions } from "./query/explore.js";
export type { GroupedRow } from "./query/row-types.js";
export type { Measurements, Runs } from "./measurements/measurements.js";
export type {
  DuplicateOptions,
  FirstSeenOptions,
  MeasurementColumn,
  MeasurementOptions,
  RunColumn,
  RunOptions,
  RunQuantileOptions,
} from "./measurements/questions.js";
export { formatReportId, parseReportId, type ReportId } from "./measurements/report-id.js";
export type { Logs } from "./logs/logs.js";
export type { LogColumn, LogFilter } from "./logs/log-filter.js";
export type { LogOptions } from "./logs/log-question.js";
export type { SearchOptions } from "./logs/search.js";
export type { LogGroupOptions } from "./logs/rates.js";
export type { BurstOptions } from "./logs/bursts.js";
export type { CheckInLengthOptions, CheckInOptions } from "./logs/check-in.js";
export type { LogForms } from "./logs/forms.js";
export type { SubmissionOptions, SubmissionRow } from "./logs/submissions.js";
export type { FollowOptions, LogLine } from "./logs/follow.js";
export { messageShape, type PatternOptions } from "./logs/patterns.js";
export type { Priority } from "./logs/priority.js";
export { maskAddresses } from "./mask/addresses.js";
export type {
  Departure,
  DepartureOptions,
  HelperAlert,
  HelperLinks,
  HelperVerdict,
} from "./test-helpers/departures.js";
export type { FailureRateOptions } from "./test-helpers/failure-rate.js";
export type { HelperRow } from "./test-helpers/instances.js";
export type {
  InstanceRow,
  Rotation,
  RotationOptions,
  RotationRow,
  RotationTurn,
} from "./test-helpers/rotation.js";
export {
  helperDepartures,
  helperTimeline,
  helperVerdict,
  testHelpers,
  type TestHelpers,
} from "./test-helpers/test-helpers.js";
export type { Changes, ChurnRow, Entries } from "./test-lists/churn.js";
export type { FetchOptions } from "./test-lists/fetch.js";
export type { TestList, TestListEntry, TestListRow } from "./test-lists/test-list.js";
export { duplicateUrls, testLists } from "./test-lists/test-lists.js";
export type { Download, DownloadOptions, QueryOptions } from "./query/free-query.js";
export type { ColumnMeaning, NamedDimension } from "./query/named-columns.js";
export type { TableOptions, TablesOptions } from "./database/config.js";
export type { Guard } from "./database/guard.js";
export {
  credentials,
  type CredentialsCheck,
  type CredentialsOptions,
} from "./credentials/credentials.js";
export { alert, type AlertOptions, type AlertReport } from "./watch/alert/alert.js";
export type { AlertLinks, AlertMessage } from "./watch/alert/message.js";
export { checkDeadlines, type DeadlineOptions } from "./watch/deadlines.js";
export { downsample, type DownsampleOptions } from "./downsample/downsample.js";
export { chart } from "./chart/chart.js";
export type { Chart } from "./chart/chart-value.js";
export type { Page } from "./render/page/page.js";
export type {
  Annotation,
  AreaOptions,
  BarOptions,
  ChangeChartOptions,
  ChartMark,
  ChartOptions,
  HeatmapOptions,
  HistogramChartOptions,
  LineOptions,
  PageOptions,
  PointsOptions,
} from "./chart/options.js";
export { table } from "./chart/table.js";
export { show } from "./notebook/show.js";
export type { DuplicateUrl, SampleListOptions, UrlPlace } from "./test-lists/test-lists.js";
export { severity } from "./incident/severities/severity.js";
export type { Severity, SeverityNumber } from "./incident/severities/severities.js";
export type { FactName, FactRule, Facts, Known } from "./incident/severities/suggest.js";
export type { SeveritySuggestion } from "./incident/severities/suggest.js";
export type {
  ChecklistOptions,
  Checklist,
  Demand,
  DemandName,
  DemandState,
  IncidentRecord,
} from "./incident/severities/checklist.js";
export { postmortem } from "./incident/postmortem/postmortem.js";
export type { Action, EvidenceSource, Postmortem } from "./incident/postmortem/postmortem.js";

export type { PostmortemFields } from "./incident/postmortem/fields.js";
export type { SaveOptions } from "./incident/postmortem/folder/save.js";
export { tiers, type TierGraph } from "./tiers/tiers.js";
export type { Component } from "./tiers/graph.js";
export type { PictureOptions } from "./tiers/picture.js";
export type { Reclassified } from "./tiers/reclassify.js";
export type { BrokenRule, Review } from "./tiers/check.js";
export type { TierReport } from "./tiers/report.js";
export type { TierRule } from "./tiers/rules.js";
export { explain, type Cause, type ExplainOptions, type Explanation } from "./change/explain.js";
export {
  changePoints,
  type ChangePoints,
  type ChangePointsOptions,
} from "./change/change-points.js";
export type { GivenAnnotation } from "./change/beginnings.js";
export {
  compare,
  type CompareOptions,
  type RangeComparison,
  type MovedValue,
} from "./change/compare.js";
