import { greatest } from "../base/statistics.js";
import { rowsByKey } from "../result/arquero-table.js";
import { zoneOf, type MeasureColumn, type Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { stepOf } from "../time/step.js";
import {
  categoryLabels,
  horizontalChannels,
  measureTitle,
  xChannel,
  xDomain,
  namesRoom,
  yChannel,
} from "./axes.js";
import type { Rows, Point } from "./rows.js";
import { fitNames, fittedLabel, formatInstantIso, heading, words } from "./render/label.js";
import { PLOT, type Options } from "./options.js";
import {
  LEGEND_LABEL,
  LEGEND_SIZE,
  LEGEND_SYMBOL,
  THEMES,
  type Theme,
  type VegaLiteSpec,
} from "./render/theme.js";
import type { RowsKind } from "./roles.js";
import { BESIDE_PLOT } from "./render/screens.js";
import { seriesColors, seriesShapes } from "./series.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { zoneExpression } from "./ticks.js";

/** Pixels of the widest place of a category. */
export const CATEGORY_WIDTH = 90;

/** A kind of chart: its name and how it is drawn. A new kind is a file that makes one. */
export interface Kind extends RowsKind {
  /** The first words of the description for screen readers: `Line chart`. */
  readonly title: string;
  /** The look of incomplete buckets: `dashed`. */
  readonly faded: string;
  /** True where its title along numbers is "y against x". */
  readonly isAgainst?: boolean;
  /** Where the bucket of each x ends, for a kind that is wider than its points. */
  bucketEnds?(this: void, rows: Rows, timeZone: string): Plot["bucketEnds"];
  /** What it draws in place of the Result given, and in place of itself. */
  prepare?(this: void, result: Result, options: Options): Prepared;
  /** Changes the points before they are drawn: shares, another order, all cells. */
  arrange?(this: void, rows: Rows, options: Options, origin: Origin): Rows;
  /** The order of its categories. */
  order?(this: void, rows: Rows, options: Options): Rows["xs"];
  /** Its default size, where it differs from that of most charts. */
  size?(this: void, rows: Rows, options: Options): { width?: number; height?: number };
  /** Notes on reading it, a sentence each. */
  notes?(this: void, rows: Rows, origin: Origin): string[];
  /** True if its bars are horizontal. */
  horizontal?(this: void, rows: Rows, options: Options): boolean;
  /** Its layers of Vega-Lite. @throws ProbelabError where they would mislead. */
  layers(this: void, plot: Plot): VegaLiteSpec[];
  /** An unseen layer with a tooltip for the row under the pointer, where its marks have none. @param name of its parameter. */
  hover?(this: void, plot: Plot, name: string): VegaLiteSpec | undefined;
}

export interface Prepared {
  readonly result: Result;
  readonly options: Options;
  readonly kind?: Kind;
}

/** The names of a spec's fields. */
interface Fields {
  readonly x: string;
  readonly y: string;
  readonly series?: string;
  readonly low: string;
  readonly high: string;
}

/** The sizes, scales, channels and texts of a view, as plain data: what the layers of all kinds share. */
export interface Plot {
  readonly rows: Rows;
  readonly options: Options;
  /** True if the bars are horizontal: x is the vertical axis then. */
  readonly horizontal: boolean;
  readonly timeZone: string;
  readonly theme: Theme;
  readonly width: number;
  readonly height: number;
  readonly domain: readonly [number, number];
  /** Where the bucket of each x ends, of bars, cells and steps. */
  readonly bucketEnds: ReadonlyMap<number, number> | undefined;
  /** Encoding channels. */
  readonly x: VegaLiteSpec;
  readonly y: VegaLiteSpec;
  readonly color: VegaLiteSpec;
  /** The colour of each series, by its label. */
  readonly colors: Readonly<Record<string, string>>;
  readonly shape?: VegaLiteSpec;
  readonly tooltip: readonly VegaLiteSpec[];
  readonly fields: Fields;
  /** The labels of categories. */
  readonly names?: ReadonlyMap<number | string, string>;
  /** What a layer with tooltips computes: the text of a row's time as field `when`, in the range's zone. */
  readonly transform: readonly VegaLiteSpec[];
}

/** The channels of a chart of a Result. */
export function plotOf(result: Result, rows: Rows, kind: Kind, options: Options): Plot {
  const { roles, series, xs } = rows;
  const { range, columns } = result.origin;
  const theme = THEMES[options.theme ?? "light"];
  const size = kind.size?.(rows, options);
  // A wider bar says no more: few categories need less width.
  const few = roles.xKind === "category" && xs.length > 0;
  const wide = few ? Math.min(PLOT.width, Math.max(320, xs.length * CATEGORY_WIDTH)) : PLOT.width;
  const horizontal = kind.horizontal?.(rows, options) ?? false;
  const taken = BESIDE_PLOT + (horizontal ? namesRoom(options.place) : 0);
  const most = Math.max(60, (options.place ?? Infinity) - taken);
  const { width = Math.min(size?.width ?? wide, most), height = size?.height ?? PLOT.height } =
    options;
  const timeZone = zoneOf(result.origin);
  const bucketEnds = kind.bucketEnds?.(rows, timeZone);
  const end = bucketEnds && [...bucketEnds.values()].at(-1);
  const fields = specFields(rows);
  const names = roles.xKind === "category" ? categoryLabels(rows) : undefined;
  const domain = xDomain(rows, range, options.annotations ?? [], end);
  const along = columns.measures.find(({ name }) => name === roles.x);
  const labels = series.map(({ label }) => label);
  const colors = seriesColors(series, theme, options.colors, rows.seriesName);
  const bySeries = (look: readonly string[], legend: VegaLiteSpec): VegaLiteSpec => ({
    field: fields.series,
    type: "nominal",
    scale: { domain: labels, range: look },
    legend: {
      title: seriesTitle(roles),
      ...legendLabels(labels, width, options.legend),
      ...legend,
    },
  });
  const when = whenExpression(rows, fields, timeZone, domain);
  const extras = extraTexts(rows, options, columns.measures);
  const transform = [
    ...(when === undefined ? [] : [{ calculate: when, as: "when" }]),
    ...extras.flatMap(({ calculate, field }) => (calculate ? [{ calculate, as: field }] : [])),
  ];
  const x = {
    field: fields.x,
    ...xChannel(rows, options, domain, timeZone, width, end !== undefined, along),
  };
  const y = { field: fields.y, ...yChannel(rows, options, height) };
  return {
    rows,
    options,
    horizontal,
    timeZone,
    theme,
    width,
    height,
    domain,
    bucketEnds,
    fields,
    ...(names && { names }),
    ...(horizontal ? horizontalChannels(x, y, [...names!.values()], options, width) : { x, y }),
    color:
      fields.series === undefined
        ? { value: theme.series[0] }
        : bySeries(colors, { symbolOpacity: 1 }),
    colors: Object.fromEntries(labels.map((label, at) => [label, colors[at]!])),
    ...(fields.series !== undefined && { shape: bySeries(seriesShapes(series), {}) }),
    tooltip: [
      ...tooltipChannel(rows, fields, timeZone, options),
      ...extras.map(({ field, title }) => ({ field, type: "nominal", title })),
    ],
    transform,
  };
}

/** The data of a layer with tooltips. */
export function layerData(plot: Plot, points: readonly Point[], row = specRow): VegaLiteSpec {
  const { transform } = plot;
  const values = points.map((point) => row(point, plot));
  return { data: { values }, ...(transform.length > 0 && { transform }) };
}

// A longer legend is taller than the plot.
const MOST_BESIDE = 12;

/** The labels of a legend; one below the plot has as many columns as fit. */
function legendLabels(
  values: readonly string[],
  width: number,
  place = values.length > MOST_BESIDE ? "bottom" : "right",
): VegaLiteSpec {
  const below = place === "bottom";
  const labels = fitNames(values, below ? width - LEGEND_SYMBOL : LEGEND_LABEL, LEGEND_SIZE);
  const longest = greatest(labels.map((text) => textWidth(text, LEGEND_SIZE)));
  const columns = Math.max(1, Math.floor(width / (Math.ceil(longest) + LEGEND_SYMBOL)));
  const labelExpr = fittedLabel(values, labels);
  return {
    values,
    ...(labelExpr !== undefined && { labelExpr }),
    ...(below && { orient: "bottom", columns: Math.min(columns, values.length) }),
  };
}

/** A row of a spec's data: times in ISO 8601, a label for the series, null for a gap. */
export function specRow(point: Point, { rows, fields, names }: Plot): VegaLiteSpec {
  const { roles, series } = rows;
  return {
    [fields.x]:
      roles.xKind === "time" ? formatInstantIso(Number(point.x)) : (names?.get(point.x) ?? point.x),
    ...(fields.series !== undefined && { [fields.series]: series[point.series]?.label ?? "" }),
    [fields.y]: point.y,
    ...(point.from !== undefined && { from: formatInstantIso(point.from) }),
    ...(point.top !== undefined && point.y !== null && { top: point.top }),
    ...(point.low !== undefined && { [fields.low]: point.low, [fields.high]: point.high ?? null }),
    ...point.extra,
  };
}

/** The row of a bar, a cell or a step, with the end and the middle of its bucket. */
export function bucketRow(point: Point, plot: Plot): VegaLiteSpec {
  const from = Number(point.x);
  const end = plot.bucketEnds?.get(from);
  if (end === undefined) return specRow(point, plot);
  const [until, middle] = [end, (from + end) / 2].map((at) =>
    plot.rows.roles.xKind === "time" ? formatInstantIso(at) : at,
  );
  return { ...specRow(point, plot), end: until, middle };
}

/** The points of each series, in their order. */
export function pointsBySeries(points: readonly Point[]): Map<number, Point[]> {
  const rows = rowsByKey(points.map(({ series }) => series));
  return new Map([...rows].map(([series, own]) => [series, own.map((row) => points[row]!)]));
}

/** The values between two gaps, or the only ones of their series, which no line or area shows. */
export function standingAlone(points: readonly Point[]): Point[] {
  return [...pointsBySeries(points).values()].flatMap((own) =>
    own.filter(
      ({ y }, at) =>
        y !== null && [own[at - 1], own[at + 1]].every((next) => (next?.y ?? null) === null),
    ),
  );
}

/** Incomplete buckets at the edges apart; the complete one beside them is in both parts. */
export function splitEdges({ points, xs, incomplete }: Rows): {
  readonly whole: readonly Point[];
  readonly before: readonly Point[];
  readonly after: readonly Point[];
} {
  const complete = xs.filter((x) => !incomplete.has(x));
  if (complete.length === 0) return { whole: [], before: points, after: [] };
  const [first, last] = [complete[0], complete.at(-1)].map(Number) as [number, number];
  const within = (from: number, to: number): Point[] =>
    points.filter(({ x }) => Number(x) >= from && Number(x) <= to);
  return {
    whole: within(first, last),
    before: complete[0] === xs[0] ? [] : within(-Infinity, first),
    after: complete.at(-1) === xs.at(-1) ? [] : within(last, Infinity),
  };
}

/** The interval of each point as a line from end to end, drawn above its mark. */
export function intervalLayer(
  plot: Plot,
  points: readonly Point[],
  row = specRow,
  place: VegaLiteSpec = { x: plot.x, color: plot.color },
): VegaLiteSpec[] {
  const { fields, y, tooltip } = plot;
  const known = points.filter(({ low }) => low !== undefined);
  if (known.length === 0) return [];
  return [
    {
      ...layerData(plot, known, row),
      mark: { type: "rule", strokeWidth: 1.5 },
      encoding: { ...place, y: { ...y, field: fields.low }, y2: { field: fields.high }, tooltip },
    },
  ];
}

// Names that the specs add.
const RESERVED = "rank middle end incomplete other time label rows when top lower upper".split(" ");

// Columns under names that Vega-Lite reads as they are: it takes `a.b` and `a[0]` for paths into
// objects. A name made of letters, digits and _ stays, but for those that objects already have.
function specFields({
  roles,
  seriesName,
  intervalColumns = ["low", "high"],
}: Rows): Plot["fields"] {
  const used = new Set(RESERVED);
  const safe = (name: string): string => {
    let field = name.replace(/\W/g, "_").slice(0, 60) || "_";
    while (used.has(field) || field in Object.prototype) field += "_";
    used.add(field);
    return field;
  };
  const [x, y] = [safe(roles.x), safe(roles.y)];
  const series = seriesName !== undefined && { series: safe(seriesName) };
  return { x, y, ...series, low: safe(intervalColumns[0]), high: safe(intervalColumns[1]) };
}

function seriesTitle({ series: [first = "", ...more] }: Rows["roles"]): string {
  return heading(first, ...more);
}

/** Tooltip of a point: its place, series and value. */
function tooltipChannel(
  rows: Rows,
  fields: Plot["fields"],
  timeZone: string,
  { yFormat, edges }: Options,
): VegaLiteSpec[] {
  const { roles, points, intervalColumns } = rows;
  const values = points.map(({ y }) => y ?? 0);
  const format = yFormat ?? numberFormat(values, roles.measure?.unit);
  const x = heading(roles.x);
  const along =
    roles.xKind === "time"
      ? { field: "when", type: "nominal", title: `${x} (${timeZone})` }
      : { field: fields.x, type: roles.xKind === "number" ? "quantitative" : "nominal", title: x };
  return [
    ...(edges ? [] : [along]),
    ...(fields.series === undefined
      ? []
      : [{ field: fields.series, type: "nominal", title: seriesTitle(roles) }]),
    { field: fields.y, type: "quantitative", title: measureTitle(rows), format },
    ...(points.some(({ top }) => top !== undefined)
      ? [{ field: "top", type: "quantitative", title: `${measureTitle(rows)}, up to`, format }]
      : []),
    ...(intervalColumns ?? []).map((name, at) => ({
      field: at === 0 ? fields.low : fields.high,
      type: "quantitative",
      title: words(name),
      format,
    })),
  ].map((part) => ({ ...part, title: tooltipTitle(part.title) }));
}

// Whole numbers and large ones to the unit at least: who points at a value wants to read it off.
function numberFormat(values: readonly number[], unit: string | undefined): string {
  if (unit === "share") return ".2%";
  if (values.every(Number.isInteger)) return ",d";
  return values.some((value) => Math.abs(value) >= 1_000) ? ",.3~f" : ",.6~r";
}

/** Tooltip fields of the columns beside the points: a measure's numbers as texts, as null has no format. */
function extraTexts(
  { points }: Rows,
  { extras = [] }: Options,
  measures: readonly MeasureColumn[],
): { field: string; title: string; calculate?: string }[] {
  return extras.map((name) => {
    const field = `_${name}`;
    const measure = measures.find((each) => each.name === name);
    if (measure === undefined) return { field, title: tooltipTitle(heading(name)) };
    const values = points.map((point) => Number(point.extra?.[field] ?? 0));
    const written = `format(datum.${field}, "${numberFormat(values, measure.unit)}")`;
    const calculate = `isValid(datum.${field}) ? ${written} : "not known"`;
    return { field: `${field}_`, title: tooltipTitle(measure.label), calculate };
  });
}

// Vega-Lite writes the titles into an expression, escaping a " but not a \ before it. The tooltips
// of notebooks load what is called "image" as a picture, and show a "title" without its name.
export function tooltipTitle(title: string): string {
  return /^(image|title)$/.test(title) ? `'${title}'` : title.replace(/["\\]/g, "'");
}

/** The text of the time, in the range's zone, as a Vega expression. */
function whenExpression(
  { roles, every, xs }: Rows,
  fields: Plot["fields"],
  timeZone: string,
  domain: readonly [number, number],
): string | undefined {
  if (roles.xKind !== "time") return undefined;
  const unit = every && stepOf(every).unit;
  const seconds = every === undefined && xs.some((x) => Number(x) % 60_000 !== 0);
  const clock = unit === undefined || unit === "minute" || unit === "hour" ? " %H:%M" : "";
  const format = `%Y-%m-%d${unit === "second" || seconds ? " %H:%M:%S" : clock}`;
  const instant = `toDate(datum.from || datum[${JSON.stringify(fields.x)}])`;
  return zoneExpression(instant, format, timeZone, domain);
}
