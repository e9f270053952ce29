import { ProbelabError } from "../base/error.js";
import { redact } from "../base/redact.js";
import { cleanText } from "../base/text.js";
import type { Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result, Value } from "../result/result.js";
import { heading, label, wrap } from "./render/label.js";
import { originRecord } from "./render/origin.js";
import type { ChartRows } from "./render/save.js";
import { BESIDE_PLOT, type SpecFor } from "./render/screens.js";
import { SCHEMA, themeConfig, THEMES, type ThemeName, type VegaLiteSpec } from "./render/theme.js";
import { annotationLayers } from "./annotations.js";
import { namesRoom, namesWidth } from "./axes.js";
import { Chart } from "./chart-value.js";
import { resultOf } from "./check-result.js";
import type { Point } from "./rows.js";
import { panelRows, panelLayout, panelsSpec, panelView, type Panels } from "./facets.js";
import { plotOf, type Kind, type Plot, type Prepared } from "./plot.js";
import { checkChartOptions, type Options } from "./options.js";
import { chartSentences, describe, noDataSentence, titleSentence } from "./sentences.js";
import { foldMeasures } from "./work-table.js";

const NO_DATA_SIZE = 13;
const NO_DATA_LINE = 18;
const LEGEND = 90;

/** A chart of a Result. @throws ProbelabError where it can't be drawn truthfully. */
export function resultChart(of: RowsGiven, kind: Kind, given: object): Chart {
  const source = resultOf(of, `chart.${kind.name}`);
  const checked = checkChartOptions(given, kind.options);
  const {
    result,
    options,
    kind: own = kind,
  }: Prepared = kind.prepare?.(source, checked) ?? foldMeasures(source, kind, checked);
  const { spec, data, screen, colors } = drawnResult(result, own, options);
  const drawn = { ...given, colors: { ...checked.colors, ...colors } };
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
  readonly remarks?: readonly string[];
}

/** The spec of a chart of a Result, the rows that it draws, its specs for screens, and the colors of its series. */
export function drawnResult(result: Result, kind: Kind, options: Options, said?: ChartText) {
  if (kind.sizes && (options.yZero === false || options.yType === "log")) {
    throw new ProbelabError(
      `Can't draw ${kind.noun} without zero on the axis: their size would mislead; use chart.line or chart.dot.`,
    );
  }
  const drawn = panelRows(result, kind, options);
  const screen: SpecFor = (place) => {
    if (place === undefined) return drawnSpec(result, kind, options, drawn, said, true).spec;
    if (options.width !== undefined) return undefined;
    const own: Options = { ...options, place, legend: "bottom" };
    return drawnSpec(result, kind, own, drawn, said, true).spec;
  };
  const data = rowsDrawn(drawn, options);
  return { ...drawnSpec(result, kind, options, drawn, said, false), data, screen };
}

/** The spec of a Result's rows, in one view or in panels, with all that stands around them. @param live adds what only a pointer meets. */
function drawnSpec(
  result: Result,
  kind: Kind,
  options: Options,
  drawn: Panels,
  said: ChartText | undefined,
  live: boolean,
): { spec: VegaLiteSpec; colors: Plot["colors"] } {
  const { origin } = result;
  const rows = drawn.all;
  const { plot, body, widest, sentences } = plotted(result, drawn, kind, options, live);
  const { colors, horizontal } = plot;
  const axis = horizontal ? "horizontal" : "vertical";
  const remarks = chartSentences(rows, origin, kind.faded, [
    ...(said?.remarks ?? []),
    ...sentences,
    ...(kind.notes?.(rows, origin) ?? []),
    ...(options.yZero === false ? [`The ${axis} axis does not begin at zero.`] : []),
  ]);
  const { x, xKind } = rows.roles;
  const across =
    kind.isAgainst === true && xKind === "number"
      ? (origin.columns.measures.find(({ name }) => name === x)?.label ?? heading(x))
      : undefined;
  const spec = wholeSpec(origin, {
    ...{ body, widest, bounds: horizontal },
    title: options.title ?? said?.title ?? titleSentence(rows, widest, across),
    theme: options.theme,
    subtitle: [options.subtitle ?? "", said?.first ?? "", remarks.join(" ")],
    described: (text) =>
      said
        ? cleanText(`${text}. ${said.sentence}`, 4_000)
        : describe(rows, origin, text, kind.title, remarks),
    reductions: [...(said?.remarks ?? []), ...rows.sentences, ...sentences],
  });
  return { spec, colors };
}

/** The layers of a view whose legend keeps the series that is clicked, and fades the others. */
function withLegend(layers: VegaLiteSpec[], series: string | undefined): VegaLiteSpec[] {
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
  return series === undefined ? layers : layers.map(fading);
}

/** A picture, and what stands around its plots. */
interface SpecParts {
  readonly title: string;
  /** Pixels of the title's lines: it may reach over the legend. */
  readonly widest: number;
  /** True if the title is aligned with the names left of the plot. */
  readonly bounds?: boolean;
  /** Paragraphs. */
  readonly subtitle: readonly string[];
  readonly theme: ThemeName | undefined;
  /** Its description, of its whole title. */
  described(this: void, title: string): string;
  /** Rows and values that were left out, a sentence each. */
  readonly reductions: readonly string[];
  readonly body: VegaLiteSpec;
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

/** The plots of a chart: one that has what all share, their spec, the pixels of a title above them, and what annotations say. */
function plotted(
  result: Result,
  { all, each, sentences }: Panels,
  kind: Kind,
  options: Options,
  live: boolean,
): { plot: Plot; body: VegaLiteSpec; widest: number; sentences: readonly string[] } {
  const { annotations = [], place } = options;
  const layout = panelLayout(all, each.length, kind.horizontal?.(all, options) ?? false, options);
  const sized = { ...options, ...layout?.size };
  const common = plotOf(result, all, kind, sized);
  const notes = new Set(sentences);
  let above = 0;
  const views = each.map(({ name, rows }, at) => {
    const own = layout && panelView(plotOf(result, rows, kind, sized), common, at, layout);
    const within = (panel: unknown) => annotations.filter((each) => each.panel === panel);
    const labelled = own
      ? annotationLayers(own, within(rows.panel))
      : annotationLayers(common, annotations);
    const shared = own && annotationLayers(own, within(undefined));
    for (const note of [...labelled.sentences, ...(shared?.sentences ?? [])]) notes.add(note);
    above = Math.max(above, labelled.height);
    const view = own ?? { ...common, y: liftTitle(common.y, above) };
    // In several panels their labels would hide each other, and stand in the lines' tooltips.
    const marks = shared?.layers.filter(({ mark }) => (mark as VegaLiteSpec)["type"] !== "text");
    const layers = [...(marks ?? []), ...labelled.layers];
    return {
      name,
      view,
      layer: viewLayers(view, kind, layers, result.origin, live ? at : undefined),
    };
  });
  const { view: plot, layer } = views[0]!;
  const { width, height, horizontal, names, fields } = plot;
  const legend = all.series.length > 0 ? LEGEND : 0;
  const alone = { width, height, layer: live ? withLegend(layer, fields.series) : layer };
  const widest = layout
    ? layout.columns * (layout.size.width + layout.apart) + legend
    : width + (horizontal ? namesWidth([...names!.values()], namesRoom(place)) : legend);
  return {
    plot,
    body: layout ? panelsSpec(views, layout, above) : alone,
    // No more than a screen's place has.
    widest: place === undefined ? widest : Math.max(place - BESIDE_PLOT, 0),
    sentences: [...notes],
  };
}

/**
 * The layers of a view; where the Result has no row to draw its axes, and why.
 *
 * @param live the number of the view, where its rows follow the pointer.
 */
function viewLayers(
  view: Plot,
  kind: Kind,
  annotations: readonly VegaLiteSpec[],
  origin: Origin,
  live: number | undefined,
): VegaLiteSpec[] {
  const { points } = view.rows;
  const layers = points.length > 0 ? kind.layers(view) : [];
  const { x, y } = view;
  const encoding = view.horizontal ? { x: y, y: x } : { x, y };
  const axes = { data: { values: [] }, mark: "point", encoding };
  const known = points.some((point) => point.y !== null);
  const hover =
    known && live !== undefined ? kind.hover?.(view, `probelab_nearest${live}`) : undefined;
  return [
    ...(layers.length > 0 ? layers : [axes]),
    ...referenceLayers(view),
    ...(hover ? [hover] : []),
    ...annotations,
    ...(known ? [] : [noData(view, origin)]),
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

/** The rows drawn, as a file holds them: with the value of each panel, of bins with their edges. */
function rowsDrawn({ all, each }: Panels, { edges, facet }: Options): ChartRows {
  const { roles, points, series, seriesName, panels } = all;
  const split = panels === undefined ? [] : [facet!];
  const named = seriesName === undefined ? [] : [seriesName];
  const others = Object.keys(points[0]?.extra ?? {});
  const names = others.map((field) => field.slice(1));
  const wide = points.some(({ exact }) => exact !== undefined);
  const banded = points.some(({ top }) => top !== undefined);
  const row = (point: Point): Value[] => {
    const top = banded ? [point.top ?? point.y] : [];
    // A column of one type: all whole numbers as bigint where one of them must be.
    const y = point.exact ?? (wide && Number.isInteger(point.y) ? BigInt(point.y!) : point.y);
    const value = [...named.map(() => series[point.series]?.value), y, ...top];
    const extra = others.map((field) => point.extra?.[field]);
    const x = roles.xKind === "time" ? new Date(point.x) : point.x;
    return edges ? [...extra, ...value] : [x, ...value, ...extra];
  };
  return {
    names: edges
      ? [...split, ...names, ...named, roles.y]
      : [...split, roles.x, ...named, roles.y, ...(banded ? [`${roles.y}_top`] : []), ...names],
    rows: each.flatMap(({ rows }) =>
      rows.points.map((point) => [...split.map(() => rows.panel), ...row(point)]),
    ),
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
