import { ProbelabError } from "../base/error.js";
import { zoneOf, type Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import { annotationLayers } from "./annotations.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { drawRows, type Drawing } from "./draw-rows.js";
import { frame, type ChartKind, type Frame } from "./frame.js";
import { cleanText } from "../base/text.js";
import { checkChartOptions, type ChartOptions, type VegaLiteSpec } from "./options.js";
import { originRecord } from "./origin-record.js";
import type { ChartRows } from "./save.js";
import { describe, noDataSentence, subtitleSentences, titleSentence, wrap } from "./sentences.js";
import { SCHEMA, THEMES, themeConfig } from "./theme.js";

const NO_DATA_SIZE = 13;
const NO_DATA_LINE = 18;

/** A chart of a Result: its Vega-Lite specification. @throws ProbelabError where it can't be drawn truthfully. */
export function resultChart(rows: RowsGiven, kind: ChartKind, given: ChartOptions): Chart {
  const result = resultOf(rows, `chart.${kind.name}`);
  const options = checkChartOptions(given);
  if (kind.sized && (options.zero === false || options.yScale === "log")) {
    throw new ProbelabError(
      `Can't draw ${kind.drawn} without zero on the axis: their size would mislead; use chart.line or chart.points.`,
    );
  }
  const { origin } = result;
  const drawing = drawRows(result, kind, options);
  const plot = frame(result, drawing, options, kind.end?.(drawing, zoneOf(origin)));
  const annotations = annotationLayers(plot, options.annotations ?? []);
  const view = { ...plot, y: raised(plot.y, annotations.height) };
  const layers = kind.layers(view);
  const title = cleanText(options.title ?? titleSentence(drawing, origin), 300);
  const subtitle = subtitleSentences(drawing, origin, options, kind.faded, [
    ...annotations.sentences,
    ...(options.zero === false ? ["The vertical axis does not begin at zero."] : []),
  ]);
  const theme = THEMES[options.theme ?? "light"];
  // The title may reach over the legend.
  const widest = view.width + (drawing.series.length > 0 ? 90 : 0);
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    description: describe(drawing, origin, title, kind.title),
    usermeta: { probelab: originRecord(origin, drawing.sentences) },
    background: theme.background,
    padding: 12,
    width: view.width,
    height: view.height,
    title: {
      text: wrap([title], widest, 16, 700),
      ...(subtitle.length > 0 && { subtitle: wrap(subtitle, widest, 12) }),
    },
    layer: [
      ...(drawing.points.length > 0 && layers.length > 0 ? layers : [axesAlone(view)]),
      ...annotations.layers,
      ...(drawing.points.some(({ y }) => y !== null) ? [] : [noData(view, origin)]),
    ],
    config: themeConfig(theme),
  };
  return new Chart(spec, result, rowsDrawn(drawing), { mark: kind.name, options });
}

/** The rows of a drawing, as a file holds them. */
export function rowsDrawn({ roles, points, series, seriesName }: Drawing): ChartRows {
  return {
    names: [roles.x, ...(seriesName === undefined ? [] : [seriesName]), roles.y],
    rows: points.map((point) => [
      roles.xKind === "time" ? new Date(point.x) : point.x,
      ...(seriesName === undefined ? [] : [series[point.series]?.value]),
      point.y,
    ]),
  };
}

/** The axis with its title above the labels of the annotations. */
function raised(y: VegaLiteSpec, height: number): VegaLiteSpec {
  const axis = y.axis as VegaLiteSpec;
  return { ...y, axis: { ...axis, titleY: Number(axis.titleY) - height } };
}

/** Where the Result has no row to draw. */
function axesAlone({ x, y }: Frame): VegaLiteSpec {
  return { data: { values: [] }, mark: "point", encoding: { x, y } };
}

/** "No data", with the reason where the Result's first note tells it, in the middle of the plot. */
function noData({ theme, width }: Frame, origin: Origin): VegaLiteSpec {
  const lines = wrap([noDataSentence(origin)], Math.min(360, width * 0.8), NO_DATA_SIZE);
  return {
    data: { values: [{}] },
    mark: {
      type: "text",
      text: lines,
      align: "center",
      baseline: "middle",
      dy: ((1 - lines.length) * NO_DATA_LINE) / 2,
      lineHeight: NO_DATA_LINE,
      fontSize: NO_DATA_SIZE,
      color: theme.muted,
      tooltip: null,
    },
    // Without a place: in the middle.
    encoding: {},
  };
}
