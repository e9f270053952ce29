import { ProbelabError } from "../base/error.js";
import { zoneOf } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { areaLayers } from "./area-spec.js";
import { barEnds, barLayers } from "./bar-spec.js";
import { checkChartOptions } from "./check-options.js";
import { resultOf } from "./check-result.js";
import { Chart, type ChartRows } from "./chart-value.js";
import { drawRows, type Drawing } from "./draw-rows.js";
import { frame, TITLE_Y, type VegaLiteSpec } from "./frame.js";
import { cleanText } from "./label.js";
import { lineLayers } from "./line-spec.js";
import { markLayers } from "./mark-layers.js";
import { noDataLayers } from "./no-data.js";
import type { ChartOptions } from "./options.js";
import { originRecord } from "./origin-record.js";
import { pointsLayers } from "./points-spec.js";
import type { MarkType } from "./roles.js";
import { describe, subtitleSentences, titleSentence, wrap } from "./sentences.js";
import { THEMES, themeConfig } from "./theme.js";

const KINDS = { line: "Line chart", area: "Area chart", bar: "Bar chart", points: "Scatter plot" };
const FADED = { line: "dashed", area: "faded", bar: "faded", points: "hollow" };

/** Vega-Lite 5.6 is what JupyterLab 4 carries; version 6 compiles it as well. */
export const SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json";

/** A chart of a Result: its Vega-Lite specification. @throws ProbelabError where it can't be drawn truthfully. */
export function resultChart(rows: RowsGiven, mark: MarkType, options: ChartOptions): Chart {
  const result = resultOf(rows, `chart.${mark}`);
  checkChartOptions(options);
  checkZero(mark, options);
  const drawing = drawRows(result, mark, options);
  const timeZone = zoneOf(result.origin);
  const plain = frame(
    result,
    drawing,
    options,
    mark === "bar" ? lastEnd(drawing, result) : undefined,
  );
  const marks = markLayers(plain, options.marks ?? [], timeZone);
  const view = marks.height === 0 ? plain : { ...plain, y: raised(plain.y, marks.height) };
  const own = {
    line: () => lineLayers(view),
    area: () => areaLayers(view),
    bar: () => barLayers(view, timeZone),
    points: () => pointsLayers(view),
  }[mark]();
  const title = cleanText(options.title ?? titleSentence(drawing, result.origin), 300);
  const told = {
    ...drawing,
    sentences: [...drawing.sentences, ...marks.sentences, ...cutAxis(options)],
  };
  const subtitle = subtitleSentences(told, result.origin, options, FADED[mark]);
  const theme = THEMES[options.theme ?? "light"];
  // The title may reach over the legend.
  const widest = view.width + (drawing.series.length > 0 ? 90 : 0);
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    description: describe(drawing, result.origin, title, KINDS[mark]),
    usermeta: { probelab: originRecord(result.origin, drawing.sentences) },
    background: theme.background,
    padding: 12,
    width: view.width,
    height: view.height,
    title: {
      text: wrap([title], widest, 16, 700),
      ...(subtitle.length > 0 && { subtitle: wrap(subtitle, widest, 12) }),
    },
    layer: [
      ...(drawing.points.length > 0 && own.length > 0 ? own : [emptyLayer(view)]),
      ...marks.layers,
      ...noDataLayers(view, result.origin),
    ],
    config: themeConfig(theme),
  };
  return new Chart(spec, result, rowsDrawn(drawing), { mark, options });
}

function rowsDrawn({ roles, points, series, seriesName }: Drawing): ChartRows {
  return {
    names: [roles.x, ...(seriesName === undefined ? [] : [seriesName]), roles.y],
    rows: points.map((point) => [
      roles.xKind === "time" ? new Date(point.x) : point.x,
      ...(seriesName === undefined ? [] : [series[point.series]?.value]),
      point.y,
    ]),
  };
}

/** The axis with its title above the labels of the marks. */
function raised(y: VegaLiteSpec, height: number): VegaLiteSpec {
  return { ...y, axis: { ...(y.axis as VegaLiteSpec), titleY: TITLE_Y - height } };
}

function lastEnd(drawing: Drawing, result: Result): number | undefined {
  const last = drawing.xs.at(-1);
  if (drawing.roles.xKind === "category" || last === undefined) return undefined;
  return barEnds(drawing, zoneOf(result.origin)).get(Number(last));
}

/** Axes alone, where the Result has no row to draw. */
function emptyLayer({ x, y }: { x: VegaLiteSpec; y: VegaLiteSpec }): VegaLiteSpec {
  return { data: { values: [] }, mark: "point", encoding: { x, y } };
}

function cutAxis(options: ChartOptions): string[] {
  return options.zero === false ? ["The vertical axis does not begin at zero."] : [];
}

function checkZero(mark: MarkType, options: ChartOptions): void {
  if ((mark === "area" || mark === "bar") && (options.zero === false || options.yScale === "log")) {
    throw new ProbelabError(
      `Can't draw ${mark === "bar" ? "bars" : "an area"} without zero on the axis: their size would mislead; use chart.line or chart.points.`,
    );
  }
}
