import { ProbelabError } from "../base/error.js";
import { zoneOf, type Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { annotationLayers } from "./annotations.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { drawRows, type Drawing } from "./draw-rows.js";
import { facetDrawings, panelSize, panelsSpec, panelView } from "./facets.js";
import { foldMeasures } from "./fold-measures.js";
import { frame, type ChartKind, type Frame } from "./frame.js";
import { cleanText, counted } from "../base/text.js";
import {
  checkChartOptions,
  type ChartOptions,
  type DrawOptions,
  type VegaLiteSpec,
} from "./options.js";
import { originRecord } from "./origin-record.js";
import type { ChartRows } from "./save.js";
import {
  chartSentences,
  describe,
  noDataSentence,
  subtitleLine,
  titleSentence,
  wrap,
} from "./sentences.js";
import { chartSeries } from "./series.js";
import { NOTES_MARK } from "./render/svg.js";
import { SCHEMA, THEMES, themeConfig } from "./theme.js";

const NO_DATA_SIZE = 13;
const NO_DATA_LINE = 18;

/** A chart of a Result: its Vega-Lite specification. @throws ProbelabError where it can't be drawn truthfully. */
export function resultChart(of: RowsGiven, kind: ChartKind, given: ChartOptions): Chart {
  const asked = resultOf(of, `chart.${kind.name}`);
  const recorded = checkChartOptions(given, kind.takes);
  const { result, options } =
    kind.prepare?.(asked, recorded) ?? foldMeasures(asked, kind, recorded);
  if (kind.sized && (options.zero === false || options.yScale === "log")) {
    throw new ProbelabError(
      `Can't draw ${kind.drawn} without zero on the axis: their size would mislead; use chart.line or chart.points.`,
    );
  }
  const { origin } = result;
  const drawn = options.facet === undefined ? alone : inPanels;
  const { drawing, named, body, view, sentences, widest, lies, rows } = drawn(
    result,
    kind,
    options,
  );
  const title = cleanText(options.title ?? titleSentence(named, origin), 300);
  const told = chartSentences(drawing, origin, options.title !== undefined, kind.faded, [
    ...sentences,
    ...(kind.tells?.(drawing, origin) ?? []),
    ...(options.zero === false ? ["The vertical axis does not begin at zero."] : []),
  ]);
  const theme = THEMES[options.theme ?? "light"];
  // Where no place is kept for the notes' mark, all of them are in the subtitle.
  const { lines, notes } =
    view === undefined ? { lines: wrap(told, widest, 12), notes: [] } : subtitleLine(told, widest);
  const subtitle = [...wrap([cleanText(options.subtitle ?? "", 2_000)], widest, 12), ...lines];
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    description: describe(drawing, origin, title, kind.title, told),
    usermeta: {
      probelab: originRecord(origin, [...drawing.sentences, ...sentences]),
      ...(notes.length > 0 && { notes }),
    },
    background: theme.background,
    padding: 12,
    title: {
      text: wrap([title], widest, 16, 700),
      ...(subtitle.length > 0 && { subtitle }),
      ...(lies && { frame: "bounds" }),
    },
    ...body,
    ...(view !== undefined &&
      notes.length > 0 && { layer: [...view.layer, notesMark(view, notes)] }),
    config: themeConfig(theme),
  };
  return new Chart(spec, asked, rows, { mark: kind.name, options: recorded });
}

/** The plot of a chart, or its panels. */
interface Drawn {
  readonly drawing: Drawing;
  /** The same, as its title tells what tells its parts apart. */
  readonly named: Drawing;
  readonly body: VegaLiteSpec;
  /** Missing where there is no place for a mark that tells notes. */
  readonly view?: Frame & { readonly layer: readonly VegaLiteSpec[] };
  readonly sentences: readonly string[];
  /** Pixels of the title's lines: it may reach over the legend. */
  readonly widest: number;
  readonly lies: boolean;
  readonly rows: ChartRows;
}

const LEGEND = 90;

function alone(result: Result, kind: ChartKind, options: DrawOptions): Drawn {
  const found = drawRows(result, kind, options);
  const drawing = kind.arrange?.(found, options, result.origin) ?? found;
  const plot = plotOf(result, drawing, kind, { ...kind.size?.(drawing, options), ...options });
  const annotations = annotationLayers(plot, options.annotations ?? []);
  const view = { ...plot, y: raised(plot.y, annotations.height) };
  const { width, height, lies } = view;
  const layer = viewLayers(view, kind, annotations.layers, result.origin);
  return {
    ...{ drawing, named: drawing, lies },
    body: { width, height, layer },
    ...(!lies && { view: { ...view, layer } }),
    sentences: annotations.sentences,
    widest: width + (drawing.series.length > 0 || lies ? LEGEND : 0),
    rows: rowsDrawn(drawing),
  };
}

/** A panel for each value of a column. */
function inPanels(result: Result, kind: ChartKind, options: DrawOptions): Drawn {
  const { facet = "", annotations: given = [], scales } = options;
  const { all, each, sentences } = facetDrawings(result, kind, options);
  const lying = kind.lies?.(all, options) ?? false;
  const { columns, apart, ...size } = panelSize(all, each.length, lying, options);
  const look = { ...options, ...(lying && kind.size?.(all, options)), ...size };
  const common = plotOf(result, all, kind, look);
  const place = { count: each.length, columns, apart, ...(scales && { scales }) };
  const told: string[] = [];
  const views = each.map(({ name, drawing }, at) => {
    const view = panelView(plotOf(result, drawing, kind, look), common, { at, ...place });
    const { layers, sentences: outside } = annotationLayers(view, given);
    told.push(...outside);
    // The lines; their labels would hide each other, and stand in the first line's tooltip.
    const layer = viewLayers(view, kind, layers.slice(0, 1), result.origin);
    return { name, view, layer };
  });
  const series = [...new Set([...all.roles.series, facet])];
  const [first] = each;
  return {
    drawing: all,
    named: { ...all, series: chartSeries([facet], undefined), roles: { ...all.roles, series } },
    body:
      first === undefined
        ? {
            ...size,
            height: size.height ?? common.height,
            layer: viewLayers(common, kind, [], result.origin),
          }
        : panelsSpec(views, place),
    sentences: [...sentences, ...new Set(told)],
    widest: columns * (size.width + apart) + (all.series.length > 0 ? LEGEND : 0),
    lies: common.lies,
    rows: {
      names: [facet, ...rowsDrawn(all).names],
      rows: each.flatMap(({ value, drawing }) =>
        rowsDrawn(drawing).rows.map((row) => [value, ...row]),
      ),
    },
  };
}

function plotOf(result: Result, drawing: Drawing, kind: ChartKind, options: DrawOptions): Frame {
  const end = kind.end?.(drawing, zoneOf(result.origin), options);
  return frame(result, drawing, options, end, kind.lies?.(drawing, options));
}

function viewLayers(
  view: Frame,
  kind: ChartKind,
  annotations: readonly VegaLiteSpec[],
  origin: Origin,
): VegaLiteSpec[] {
  const { points } = view.drawing;
  const layers = kind.layers(view);
  return [
    ...(points.length > 0 && layers.length > 0 ? layers : [axesAlone(view)]),
    ...annotations,
    ...(points.some(({ y }) => y !== null) ? [] : [noData(view, origin)]),
  ];
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
  if (height === 0) return y;
  const axis = y.axis as VegaLiteSpec;
  return { ...y, axis: { ...axis, titleY: Number(axis.titleY) - height } };
}

/** Where the Result has no row to draw. */
function axesAlone({ x, y }: Frame): VegaLiteSpec {
  return { data: { values: [] }, mark: "point", encoding: { x, y } };
}

/** What the subtitle has no room for, told where the pointer is on its number; files have it below the picture. */
function notesMark({ theme, y }: Frame, notes: readonly string[]): VegaLiteSpec {
  const { titleY } = y.axis as { titleY: number };
  const tooltip = notes.map((_, at) => ({
    field: `note${at}`,
    type: "nominal",
    title: `${at + 1}`,
  }));
  return {
    name: NOTES_MARK,
    data: { values: [Object.fromEntries(notes.map((note, at) => [`note${at}`, note]))] },
    mark: {
      type: "text",
      text: `+ ${counted(notes.length, "note")}`,
      align: "right",
      baseline: "bottom",
      color: theme.muted,
    },
    encoding: { x: { value: "width" }, y: { value: titleY }, tooltip },
  };
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
