import { ProbelabError } from "../base/error.js";
import { redact } from "../base/redact.js";
import { cleanText } from "../base/text.js";
import type { Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { heading, label, wrap } from "./render/label.js";
import { originRecord } from "./render/origin.js";
import type { ChartRows } from "./render/save.js";
import { BESIDE_PLOT } from "./render/screens.js";
import { SCHEMA, themeConfig, THEMES, type ThemeName, type VegaLiteSpec } from "./render/theme.js";
import { annotationLayers } from "./annotations.js";
import { namesRoom, namesWidth } from "./axes.js";
import { Chart, type SpecFor } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import { chartRows, type Rows } from "./rows.js";
import { panelRows, panelLayout, panelsSpec, panelView, type Panels } from "./facets.js";
import { plotOf, type Kind, type Plot } from "./plot.js";
import { checkChartOptions, type DrawOptions, type GivenOptions } from "./options.js";
import { chartSentences, describe, noDataSentence, titleSentence } from "./sentences.js";
import { foldMeasures } from "./work-table.js";

const NO_DATA_SIZE = 13;
const NO_DATA_LINE = 18;
const LEGEND = 90;

/** A chart of a Result. @throws ProbelabError where it can't be drawn truthfully. */
export function resultChart(of: RowsGiven, kind: Kind, given: GivenOptions): Chart {
  const source = resultOf(of, `chart.${kind.name}`);
  const checked = checkChartOptions(given, kind.options);
  const { result, options } =
    kind.prepare?.(source, checked) ?? foldMeasures(source, kind, checked);
  const { spec, data, screen, colors } = drawnResult(result, kind, options);
  const drawn = {
    ...given,
    colors: { ...given.colors, ...colors },
  };
  return new Chart(spec, source, data, { mark: kind.name, options: drawn }, screen);
}

/** Title and texts of the picture of a finding. */
export interface ChartText {
  readonly title: string;
  /** For those who can't see it. */
  readonly sentence: string;
  /** The beginning of the subtitle. */
  readonly first: string;
  /** Notes on reading it, and on what isn't in it; a sentence each. */
  readonly remarks: readonly string[];
}

/** The spec of a chart of a Result, the rows that it draws, and its specs for screens. */
export function drawnResult(
  result: Result,
  kind: Kind,
  options: DrawOptions,
  said?: ChartText,
): {
  spec: VegaLiteSpec;
  data: ChartRows;
  screen: SpecFor;
  colors: Plot["colors"];
} {
  if (kind.sizes && (options.yZero === false || options.yType === "log")) {
    throw new ProbelabError(
      `Can't draw ${kind.drawn} without zero on the axis: their size would mislead; use chart.line or chart.dot.`,
    );
  }
  const isFaceted = options.facet !== undefined && result.numRows() > 0;
  const drawn = (isFaceted ? panelRows : arrangedRows)(result, kind, options);
  const drawnIn = (place?: number): DrawnSpec =>
    drawnSpec(
      result,
      kind,
      place === undefined ? options : { ...options, place, legend: "bottom" },
      drawn,
      said,
    );
  const { spec, data, views } = drawnIn();
  return {
    spec,
    data,
    screen: (place) => {
      if (place === undefined) return withHover(spec, kind, views);
      if (options.width !== undefined) return undefined;
      const own = drawnIn(place);
      return withHover(own.spec, kind, own.views);
    },
    colors: views[0]!.view.colors,
  };
}

interface DrawnSpec {
  readonly spec: VegaLiteSpec;
  readonly data: ChartRows;
  readonly views: readonly DrawnView[];
}

/** The spec of a Result's rows, in one view or in panels, with all that stands around them. */
function drawnSpec(
  result: Result,
  kind: Kind,
  options: DrawOptions,
  drawn: Rows | Panels,
  said: ChartText | undefined,
): DrawnSpec {
  const { origin } = result;
  const { rows, views, sentences, ...picture } =
    "each" in drawn ? inPanels(result, drawn, kind, options) : alone(result, drawn, kind, options);
  const remarks = chartSentences(rows, origin, kind.faded, [
    ...(said?.remarks ?? []),
    ...sentences,
    ...(kind.notes?.(rows, origin) ?? []),
    ...(options.yZero === false
      ? [
          `The ${views[0]!.view.horizontal ? "horizontal" : "vertical"} axis does not begin at zero.`,
        ]
      : []),
  ]);
  const { x, xKind } = rows.roles;
  const across =
    kind.isAgainst === true && xKind === "number"
      ? (origin.columns.measures.find(({ name }) => name === x)?.label ?? heading(x))
      : undefined;
  const spec = wholeSpec(origin, {
    ...picture,
    title: options.title ?? said?.title ?? titleSentence(rows, picture.widest, across),
    theme: options.theme,
    subtitle: [options.subtitle ?? "", said?.first ?? "", remarks.join(" ")],
    described: (text) =>
      said
        ? cleanText(`${text}. ${said.sentence}`, 4_000)
        : describe(rows, origin, text, kind.title, remarks),
    reductions: [...(said?.remarks ?? []), ...rows.sentences, ...sentences],
  });
  return { spec, data: picture.data, views };
}

/** A view, and the number of layers that its kind made; annotations, with tooltips of their own, come after them. */
interface DrawnView {
  readonly view: Plot;
  readonly layers: number;
}

/** A spec with the layers that only a pointer meets. */
function withHover(spec: VegaLiteSpec, kind: Kind, views: readonly DrawnView[]): VegaLiteSpec {
  const hovered = (plot: VegaLiteSpec, at: number): VegaLiteSpec => {
    const { view, layers } = views[at]!;
    const known = view.rows.points.some(({ y }) => y !== null);
    const added = known ? kind.hover?.(view, `probelab_nearest${at}`) : undefined;
    if (added === undefined) return plot;
    return { ...plot, layer: (plot["layer"] as VegaLiteSpec[]).toSpliced(layers, 0, added) };
  };
  const panels = spec["concat"] as VegaLiteSpec[] | undefined;
  return panels
    ? { ...spec, concat: panels.map(hovered) }
    : withLegend(hovered(spec, 0), views[0]!.view.fields.series);
}

/** A spec whose legend keeps the series that is clicked, and fades the others. */
function withLegend(spec: VegaLiteSpec, series: string | undefined): VegaLiteSpec {
  if (series === undefined) return spec;
  const param = "probelab_series";
  let bound = false;
  const fading = (layer: VegaLiteSpec): VegaLiteSpec => {
    const { color } = (layer["encoding"] ?? {}) as { color?: VegaLiteSpec };
    if (layer["layer"]) return { ...layer, layer: (layer["layer"] as VegaLiteSpec[]).map(fading) };
    if (color?.["field"] !== series) return layer;
    const { opacity = 1 } = layer["mark"] as { opacity?: number };
    const select = { type: "point", fields: [series], toggle: "true" };
    const params = bound ? {} : { params: [{ name: param, select, bind: "legend" }] };
    bound = true;
    const faded = { condition: { param, value: opacity }, value: 0.15 * opacity };
    const encoding = { ...(layer["encoding"] as object), opacity: faded };
    return { ...layer, ...params, encoding };
  };
  return { ...spec, layer: (spec["layer"] as VegaLiteSpec[]).map(fading) };
}

/** The plots of a picture, and what stands around them. */
interface Picture {
  /** Pixels of the title's lines: it may reach over the legend. */
  readonly widest: number;
  /** True if the title is aligned with the names left of the plot. */
  readonly bounds?: boolean;
  readonly body: VegaLiteSpec;
}

/** Title, texts and theme of a picture. */
interface SpecParts extends Picture {
  readonly title: string;
  /** Paragraphs. */
  readonly subtitle: readonly string[];
  readonly theme: ThemeName | undefined;
  /** Its description, of its whole title. */
  described(this: void, title: string): string;
  /** Rows and values that were left out, a sentence each. */
  readonly reductions: readonly string[];
}

/** A whole specification. */
export function wholeSpec(origin: Origin, around: SpecParts): VegaLiteSpec {
  const { widest, bounds, body } = around;
  const theme = THEMES[around.theme ?? "light"];
  // Broken into lines, a secret no longer reads as one.
  const title = cleanText(redact(around.title), 300);
  const subtitle = around.subtitle.map((text) => cleanText(redact(text), 2_000));
  const lines = subtitle.filter(Boolean).flatMap((text) => wrap(text, widest, 12));
  return {
    $schema: SCHEMA,
    description: around.described(title),
    usermeta: { probelab: originRecord(origin, around.reductions, title) },
    background: theme.background,
    padding: 12,
    title: {
      text: wrap(title, widest, 16, 700),
      ...(lines.length > 0 && { subtitle: lines }),
      ...(bounds && { frame: "bounds" }),
    },
    ...body,
    config: themeConfig(theme),
  };
}

/** The plot of a chart, or its panels. */
interface Drawn extends Picture {
  readonly rows: Rows;
  readonly views: readonly DrawnView[];
  readonly sentences: readonly string[];
  readonly data: ChartRows;
}

function arrangedRows(result: Result, kind: Kind, options: DrawOptions): Rows {
  const found = chartRows(result, kind, options);
  return kind.arrange?.(found, options, result.origin) ?? found;
}

function alone(result: Result, rows: Rows, kind: Kind, options: DrawOptions): Drawn {
  const plot = plotOf(result, rows, kind, options);
  const { layers, height: above, sentences } = annotationLayers(plot, options.annotations ?? []);
  const view = { ...plot, y: liftTitle(plot.y, above) };
  const { width, height, horizontal } = view;
  const layer = viewLayers(view, kind, layers, result.origin);
  const names = horizontal && namesWidth([...view.names!.values()], namesRoom(options.place));
  return {
    rows,
    bounds: horizontal,
    body: { width, height, layer },
    views: [{ view, layers: layer.length - layers.length }],
    sentences,
    widest: titleWidth(width + (names || besideLegend(rows)), options),
    data: rowsDrawn(rows, options),
  };
}

/** Pixels that a title has over the legend. */
const besideLegend = ({ series }: Rows): number => (series.length > 0 ? LEGEND : 0);

/** Pixels of a title's lines: no more than a screen's place has. */
function titleWidth(widest: number, { place }: DrawOptions): number {
  return place === undefined ? widest : Math.max(place - BESIDE_PLOT, 0);
}

/** A panel for each value of a column. */
function inPanels(
  result: Result,
  { all, each, sentences }: Panels,
  kind: Kind,
  options: DrawOptions,
): Drawn {
  const { facet = "", annotations = [] } = options;
  const bounds = kind.horizontal?.(all, options) ?? false;
  const layout = panelLayout(all, each.length, bounds, options);
  const { columns, apart, size } = layout;
  const common = plotOf(result, all, kind, { ...options, ...size });
  const notes: string[] = [];
  let above = 0;
  const views = each.map(({ name, rows }, at) => {
    const own = plotOf(result, rows, kind, { ...options, ...size });
    const view = panelView(own, common, at, layout);
    const within = (panel: unknown) => annotations.filter((each) => each.panel === panel);
    const labelled = annotationLayers(view, within(rows.panel));
    const { layers, sentences: outside } = annotationLayers(view, within(undefined));
    notes.push(...outside);
    above = Math.max(above, labelled.height);
    // Their labels would hide each other, and stand in the lines' tooltips.
    const marks = layers.filter(({ mark }) => (mark as VegaLiteSpec)["type"] !== "text");
    const noted = [...marks, ...labelled.layers];
    const layer = viewLayers(view, kind, noted, result.origin);
    return { name, view, layer, layers: layer.length - noted.length };
  });
  return {
    rows: all,
    body: panelsSpec(views, layout, above),
    views,
    sentences: [...sentences, ...new Set(notes)],
    widest: titleWidth(columns * (size.width + apart) + besideLegend(all), options),
    bounds,
    data: {
      names: [facet, ...rowsDrawn(all, options).names],
      rows: each.flatMap(({ rows }) =>
        rowsDrawn(rows, options).rows.map((row) => [rows.panel, ...row]),
      ),
    },
  };
}

/** The layers of a view; where the Result has no row to draw its axes, and why. */
function viewLayers(
  view: Plot,
  kind: Kind,
  annotations: readonly VegaLiteSpec[],
  origin: Origin,
): VegaLiteSpec[] {
  const { points } = view.rows;
  const layers = points.length > 0 ? kind.layers(view) : [];
  const { x, y } = view;
  const encoding = view.horizontal ? { x: y, y: x } : { x, y };
  const axes = { data: { values: [] }, mark: "point", encoding };
  return [
    ...(layers.length > 0 ? layers : [axes]),
    ...referenceLayers(view),
    ...annotations,
    ...(points.some((point) => point.y !== null) ? [] : [noData(view, origin)]),
  ];
}

/** The line of the option `reference`, its label above its right end. */
function referenceLayers({ options, theme, horizontal }: Plot): VegaLiteSpec[] {
  const { reference } = options;
  if (reference === undefined) return [];
  const along = { datum: reference.value, type: "quantitative" };
  const line = {
    data: { values: [{}] },
    mark: { type: "rule", color: theme.text, strokeDash: [2, 3] },
    encoding: horizontal ? { x: along } : { y: along },
  };
  if (reference.label === undefined) return [line];
  const mark = {
    type: "text",
    text: label(reference.label, 60),
    color: theme.text,
    baseline: "bottom",
    ...(horizontal ? { align: "left", dx: 4 } : { align: "right", dy: -3 }),
  };
  const end = horizontal ? { x: along, y: { value: 0 } } : { x: { value: "width" }, y: along };
  return [line, { data: { values: [{}] }, mark, encoding: end }];
}

/** The rows drawn, as a file holds them; of bins their edges. */
function rowsDrawn({ roles, points, series, seriesName }: Rows, { edges }: DrawOptions): ChartRows {
  const named = seriesName === undefined ? [] : [seriesName];
  const others = Object.keys(points[0]?.beside ?? {});
  const names = others.map((field) => field.slice(1));
  const wide = points.some(({ exact }) => exact !== undefined);
  const banded = points.some(({ top }) => top !== undefined);
  return {
    names: edges
      ? [...names, ...named, roles.y]
      : [roles.x, ...named, roles.y, ...(banded ? [`${roles.y}_top`] : []), ...names],
    rows: points.map((point) => {
      const top = banded ? [point.top ?? point.y] : [];
      // A column of one type: all whole numbers as bigint where one of them must be.
      const y = point.exact ?? (wide && Number.isInteger(point.y) ? BigInt(point.y!) : point.y);
      const value = [...named.map(() => series[point.series]?.value), y, ...top];
      const beside = others.map((field) => point.beside?.[field]);
      const x = roles.xKind === "time" ? new Date(point.x) : point.x;
      return edges ? [...beside, ...value] : [x, ...value, ...beside];
    }),
  };
}

/** The axis with its title above the labels of the annotations. */
function liftTitle(y: VegaLiteSpec, height: number): VegaLiteSpec {
  if (height === 0) return y;
  const axis = y["axis"] as VegaLiteSpec;
  return { ...y, axis: { ...axis, titleY: Number(axis["titleY"]) - height } };
}

/** "No data" and why, in the middle of the plot. */
function noData({ theme, width, rows }: Plot, origin: Origin): VegaLiteSpec {
  const lines = wrap(noDataSentence(origin, rows), Math.min(360, width * 0.8), NO_DATA_SIZE);
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
