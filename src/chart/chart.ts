import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import type { Finding } from "../change/finding.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { readInstant } from "../time/instant.js";
import { AREA } from "./area.js";
import { BAR } from "./bar.js";
import { changeChart, drawChange, evidenceChart } from "./finding/change.js";
import type { Chart } from "./chart-value.js";
import { exploreChart } from "./explore/explore.js";
import { HEATMAP } from "./heatmap.js";
import { HISTOGRAM } from "./histogram.js";
import { LINE } from "./line.js";
import {
  type Annotation,
  type AreaOptions,
  type BarOptions,
  type ChangeChartOptions,
  type ColumnOf,
  type DotOptions,
  type DotPlotOptions,
  type ExploreChartOptions,
  type HeatmapOptions,
  type HistogramChartOptions,
  type LineOptions,
  type Recipe,
} from "./options.js";
import type { VegaLiteSpec } from "./render/theme.js";
import { DOT } from "./dot.js";
import { DOT_PLOT } from "./dot-plot.js";
import { resultChart } from "./spec.js";
import { vegaLiteChart } from "./vega-lite.js";

/**
 * Charts of a Result: `chart.line(counts)`. Each is a value that draws nothing until it is shown
 * (the last expression of a cell) or saved. x, y, colors and title follow from the Result; what
 * the chart leaves out, and buckets that the range covers only in part, stand in its subtitle.
 * Whatever comes in, fewer than 5,000 rows are drawn.
 *
 * A value has the same color in every chart of a notebook; beyond 24 values of a column colors come again. "other" is
 * grey. The option `colors` sets others. Charts are light; the option `theme: "dark"` is for dark notebooks
 * (a spec of your own takes `background` and `config`).
 *
 * Rows of your own are drawn too: an Arquero table, or plain objects, `chart.line([{ t, runs }])`. Dates
 * are times, numbers are drawn along them, text tells series apart; they have no range and no SQL, and
 * the subtitle says that they are your own rows. An Arquero table made of a Result's keeps what is
 * still true of its origin.
 */
export const chart = {
  /**
   * Lines along time, one per series; null is a gap.
   * @throws ProbelabError for an unknown column, or more series than can be told apart.
   * @example
   * chart.line(durations, { y: "q50", annotations: [chart.annotation("2026-03-02", "3.10 released")] });
   */
  line<R extends RowsGiven>(rows: R, options: LineOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, LINE, options);
  },
  /**
   * Areas along time, stacked where there are several series: for counts, which can be added up.
   *
   * @example
   * chart.area(await lab.measurements.counts({ range, every: "week", by: "software_version" }));
   */
  area<R extends RowsGiven>(rows: R, options: AreaOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, AREA, options);
  },
  /**
   * Bars along time, as wide as their buckets, or one bar per value of a dimension.
   *
   * @example
   * chart.bar(await lab.measurements.counts({ range, every: "all", by: "probe_cc" }), { horizontal: true });
   */
  bar<R extends RowsGiven>(rows: R, options: BarOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, BAR, options);
  },
  /**
   * A point per row, for two measures or single events.
   *
   * @example
   * chart.dot(await lab.measurements.values({ range, y: "test_runtime", by: "test_name", top: 3 }));
   */
  dot<R extends RowsGiven>(rows: R, options: DotOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, DOT, options);
  },
  /**
   * A dot for each value of a dimension along one scale, with its interval: for rates and medians, whose
   * scale need not begin at zero (`y: { zero: false }`). Several series are dots in one row.
   *
   * @throws ProbelabError for an unknown column, one without names, or more than 60 values.
   * @example
   * const failed = { failed: share({ msm_failure: "t" }, { interval: 0.95 }) };
   * chart.dotPlot(await lab.measurements.ask({ range, every: "all", by: "probe_cc", top: 12, measures: failed }));
   */
  dotPlot<R extends RowsGiven>(rows: R, options: DotPlotOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, DOT_PLOT, options);
  },
  /**
   * A map of cells: two columns across and up, a measure as color. Of a question by time and a
   * dimension, or by two dimensions.
   *
   * A cell without a row is 0 where its question counts; else, as where a value is null, it holds a dot.
   * @throws ProbelabError for an unknown column, more than 60 values up, or 5,000 cells.
   * @example
   * chart.heatmap(await lab.measurements.ask({
   *   range, every: "all", by: [weekday(), hourOfDay()], measures: { measurements: count() },
   * }));
   */
  heatmap<R extends RowsGiven>(rows: R, options: HeatmapOptions<ColumnOf<R>> = {}): Chart {
    return resultChart(rows, HEATMAP, options);
  },
  /**
   * The distribution of numbers: a bar for each bin; for several groups the outline of each one's shares.
   * The rows have a bin each, its ends in the columns `from` and `to`: `lab.runs.histogram` cuts them in the
   * engine. Other figures of the bins, such as the runs up to each edge, are columns of `result.with`,
   * which `chart.bar` and `chart.line` draw.
   *
   * @throws ProbelabError for a Result without bins.
   * @example
   * chart.histogram(await lab.runs.histogram({ range, column: "duration", by: "software_version", top: 3 }));
   */
  histogram(rows: RowsGiven, options: HistogramChartOptions = {}): Chart {
    return resultChart(rows, HISTOGRAM, options);
  },
  /**
   * Draws a Vega-Lite spec of your own over the rows of a Result. Fields are the column names; the rows
   * are the dataset `result`, which replaces the spec's own data. Times are in UTC (in expressions too).
   * 5,000 rows or more are refused: aggregate them in the question. Nothing is loaded from files or
   * addresses.
   *
   * @throws ProbelabError for 5,000 rows or more, a spec that loads something, or a field that is no
   *   column, where the spec makes none of its own.
   * @example
   * chart.vegaLite(counts, { mark: "rect", encoding: { x: { field: "t", timeUnit: "utcday" } } });
   */
  vegaLite(rows: RowsGiven, spec: VegaLiteSpec): Chart {
    return vegaLiteChart(rows, spec);
  },
  /**
   * The picture of a finding: contributions or changes as bars with their intervals (`explain`,
   * `compare`), the series with its changes (`changePoints`), its alarms
   * (`anomalies`), the steps of reports (`lab.funnel`).
   * The finding's sentence stands below the title; all of it in the description.
   *
   * @throws ProbelabError for what is no finding.
   * @example
   * chart.change(await explain(lab.measurements, { before, after }));
   */
  change(finding: Finding, options: ChangeChartOptions = {}): Chart {
    return changeChart(finding, options);
  },
  /**
   * The picture of what is behind a change that `explain` found: of a release the runs and the measurements
   * a run of each version, before and after; of a country, a network or any other part its rows along time
   * against what was expected, what is missing shaded.
   *
   * @throws ProbelabError for what is no finding, or has no such evidence.
   * @example
   * chart.evidence(await explain(lab.measurements, { before, after }));
   */
  evidence(finding: Finding, options: ChangeChartOptions = {}): Chart {
    const drawn = evidenceChart(finding, options);
    if (drawn !== undefined) return drawn;
    throw new ProbelabError(
      `Can't draw the evidence of ${shownValue(finding.headline)}: only what explain finds in a count has some; chart.change draws the finding.`,
    );
  },
  /**
   * Linked views: the series along time, and the values of each dimension as bars, which filter each
   * other. Drag along the time to choose buckets, click bars to choose values; what is shown then
   * stands above, with how it differs from as many buckets before. A double click shows everything
   * again. It works in JupyterLab, Notebook 7, VS Code and on saved pages, offline; elsewhere there
   * is the picture of everything.
   *
   * The Result has time, one to four dimensions, fewer than 5,000 rows, and a measure that adds up or
   * whose parts do (a share, a ratio): `lab.measurements.explore` answers one, of any table.
   *
   * @throws ProbelabError for another Result, and for sums below zero.
   * @example
   * chart.explore(await lab.measurements.explore({ range, by: ["software_version", "probe_cc", "test_name"] }));
   */
  explore(rows: RowsGiven, options: ExploreChartOptions = {}): Chart {
    return exploreChart(rows, options);
  },
  /**
   * A deploy or an incident, for the option `annotations`: a line at a moment, or a band up to `end`.
   * @param time a Date, or a text read in UTC: `"2026-03-02"`, `"2026-03-02T09:00:00Z"`; `end` too.
   * @throws ProbelabError for a time that can't be read, an end that isn't later, or without a label.
   * @example
   * chart.area(counts, { annotations: [chart.annotation("2026-03-02", "3.10 released")] });
   * chart.line(counts, { annotations: [chart.annotation("2026-03-02", "incident", "2026-03-04")] });
   */
  annotation(time: Date | string, label: string, end?: Date | string): Annotation {
    if (typeof label !== "string") {
      throw new ProbelabError(
        `Can't make an annotation with the label ${shownValue(label)}: pass a text, chart.annotation("2026-03-02", "3.10 released").`,
      );
    }
    const start = readInstant(time, "UTC", "time of an annotation");
    if (end === undefined) return Object.freeze({ time: start, label });
    const until = readInstant(end, "UTC", "end of an annotation");
    if (+until <= +start) {
      throw new ProbelabError(
        `Can't make an annotation that ends at ${until.toISOString()}: pass an end after its time, ${start.toISOString()}.`,
      );
    }
    return Object.freeze({ time: start, label, end: until });
  },
};

const KINDS = {
  ...{ line: LINE, area: AREA, bar: BAR, dot: DOT, dotPlot: DOT_PLOT },
  ...{ heatmap: HEATMAP, histogram: HISTOGRAM },
};

/** A chart of a Result, made as another was. @throws ProbelabError where that Result can't be drawn so. */
export function drawRecipe(result: Result, recipe: Recipe): Chart {
  if ("change" in recipe) return drawChange(result, recipe.change, recipe.options);
  if ("explore" in recipe) return exploreChart(result, recipe.explore);
  if ("spec" in recipe) return vegaLiteChart(result, recipe.spec);
  return resultChart(result, KINDS[recipe.mark], recipe.options);
}
