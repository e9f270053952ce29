import { greatest, smallest } from "../base/statistics.js";
import type { MeasureColumn } from "../result/origin.js";
import { nextBucket, type Bucket } from "../time/bucket.js";
import { stepOf } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import type { Rows } from "./rows.js";
import { fitNames, fittedLabel, heading, label, uniqueLabels, wrap } from "./render/label.js";
import type { Annotation, Options } from "./options.js";
import { LABEL_SIZE, type VegaLiteSpec } from "./render/theme.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { timeTicks, zoneExpression } from "./ticks.js";
import { HOUR } from "../time/span.js";

/** Pixels of a label along time. */
const TIME_LABEL_WIDTH = 62;
/** A vertical axis with its title above the plot, without a line. */
export const TITLE_ABOVE = {
  titleAngle: 0,
  titleAlign: "left",
  titleAnchor: "end",
  titleBaseline: "bottom",
  titleX: 0,
  titleY: -8,
  domain: false,
  ticks: false,
};

/** The first and last x shown: the data's (`end` of the last bar), and of annotations beside it. */
export function xDomain(
  { roles, xs, every }: Rows,
  range: TimeRange | undefined,
  annotations: readonly Annotation[],
  end?: number,
): readonly [number, number] {
  const ends = range && ([range.start.getTime(), range.end.getTime()] as const);
  const [first, last] = [xs[0], xs.at(-1)].map(Number) as [number, number];
  // Without a row the axis shows the time that was asked for.
  if (xs.length === 0) return (roles.xKind === "time" && ends) || [0, 1];
  if (roles.xKind === "category") return [0, 1];
  if (roles.xKind === "number") return [first, end ?? last];
  const bucketEnd =
    every === undefined
      ? last
      : nextBucket(new Date(last), every, range?.timeZone ?? "UTC").getTime();
  // Another column of times, birthdays say, has nothing to do with the range.
  const within = ends !== undefined && last >= ends[0] && first <= ends[1];
  const earliest = within ? Math.min(first, ends[0]) : first;
  const latest = Math.max(last, bucketEnd, within ? ends[1] : last);
  const inside = annotations
    .map(({ time }) => time.getTime())
    .filter((time) => time >= earliest && time <= latest);
  const domain = [Math.min(first, ...inside), Math.max(end ?? last, ...inside)] as const;
  if (end !== undefined || first !== last) return domain;
  // A lone instant has no width: it is drawn in the middle of two hours, or of more for what is noted beside it.
  const half = Math.max(HOUR, first - domain[0], domain[1] - first);
  return [first - half, first + half];
}

/** The horizontal channel without its field. Bars' second x would give a second domain. */
export function xChannel(
  rows: Rows,
  { xLabel, xType, edges }: Options,
  domain: readonly [number, number],
  timeZone: string,
  width: number,
  bars: boolean,
  measure?: MeasureColumn,
): VegaLiteSpec {
  const { roles, xs, every } = rows;
  const log = xType === "log";
  const own = xLabel !== undefined && { title: xLabel };
  if (roles.xKind === "number") {
    const x = {
      type: "quantitative",
      scale: log
        ? { type: "log", nice: false, padding: 10 }
        : { zero: false, nice: false, padding: 0 },
      axis: {
        title: measure === undefined ? heading(roles.x) : columnTitle(measure),
        grid: false,
        ...numberLabels(roles.x, xs.map(Number)),
        ...(log && logLabels(xs.map(Number), ",~r", width / 3)),
        ...(measure?.unit === "share" && { format: "~%" }),
        ...own,
      },
    };
    return edges ? edgesChannel(x, edges) : x;
  }
  if (roles.xKind === "category") {
    const labels = [...categoryLabels(rows).values()];
    const room = width / labels.length;
    // Of hours and numbers some say which the others are.
    const isDense = room < LABEL_SIZE + 2 && rows.unordered !== true;
    const upright = isDense || labels.every((text) => textWidth(text, LABEL_SIZE) + 6 <= room);
    return {
      type: "nominal",
      sort: labels,
      scale: { domain: labels, paddingInner: 0.2, paddingOuter: 0.1 },
      axis: {
        title: heading(roles.x),
        ...(upright ? { labelAngle: 0 } : { labelAngle: -40, ...shortLabels(labels, 160) }),
        ...(isDense && { labelOverlap: true }),
        domain: true,
        ticks: false,
        ...own,
      },
    };
  }
  return {
    type: "temporal",
    scale: { type: "utc", nice: false, padding: 0, ...(!bars && { domain: [...domain] }) },
    axis: { ...timeAxis(domain, timeZone, width, every), ...own },
  };
}

/** The labels of numbers along x: years without a comma, whole numbers without a fraction. */
function numberLabels(name: string, numbers: readonly number[]): VegaLiteSpec {
  const isWhole = numbers.every(Number.isInteger);
  const isYear = isWhole && /year$/i.test(name);
  return {
    ...(isWhole && { tickMinStep: 1 }),
    // Vega takes the digits of a label from the step, which a lone number has not.
    ...((isYear || numbers.length === 1) && { format: isYear ? "d" : "," }),
  };
}

/** The labels of an axis of names, of at most so many pixels. */
export function shortLabels(names: readonly string[], width: number): VegaLiteSpec {
  const labelExpr = fittedLabel(names, fitNames(names, width, LABEL_SIZE));
  // They are cut so that they differ: Vega is to cut none.
  return { labelLimit: 0, ...(labelExpr !== undefined && { labelExpr }) };
}

/** Bins up to this many times as wide as the narrowest are drawn along a linear axis, others along a logarithmic one. */
const MOST_WIDTHS = 20;

/** How many times as wide as the narrowest bin between these edges the widest is. */
export function widestBin(edges: readonly number[]): number {
  const widths = edges.slice(1).map((edge, at) => edge - edges[at]!);
  return widths.length === 0 ? 1 : greatest(widths) / smallest(widths);
}

/** True for edges so far apart that they are drawn along a logarithmic axis. */
export const isWide = (edges: readonly number[]): boolean => widestBin(edges) > MOST_WIDTHS;

/** A channel of bins, labelled at their edges. */
function edgesChannel(x: VegaLiteSpec, edges: readonly number[]): VegaLiteSpec {
  const above = edges.filter((edge) => edge !== 0).map(Math.abs);
  return {
    ...x,
    scale: {
      // It holds zero too, at which many histograms begin.
      ...(isWide(edges) && { type: "symlog", constant: smallest(above) }),
      domain: edges.length > 1 ? [edges[0], edges.at(-1)] : [0, 1],
      ...{ nice: false, zero: false, padding: 0 },
    },
    axis: {
      ...(x["axis"] as VegaLiteSpec),
      values: edges,
      labelExpr: `(${JSON.stringify(Object.fromEntries(edges.map((edge, at) => [edge, edgeLabels(edges)[at]])))})[datum.value]`,
      labelOverlap: "greedy",
      labelSeparation: 4,
      labelFlush: false,
    },
  };
}

/** Edges with as many digits as tell them apart. */
function edgeLabels(edges: readonly number[]): string[] {
  for (let digits = 6; digits < 17; digits++) {
    const labels = edges.map((edge) =>
      edge.toLocaleString("en-US", { maximumSignificantDigits: digits }),
    );
    if (new Set(labels).size === edges.length) return labels;
  }
  return edges.map(String);
}

/** An axis along time, in the range's zone, whatever the zone of the process. */
export function timeAxis(
  domain: readonly [number, number],
  timeZone: string,
  width: number,
  every?: Bucket,
): VegaLiteSpec {
  // One more than the spaces between them.
  const most = Math.max(5, 1 + Math.floor(width / TIME_LABEL_WIDTH));
  const { at, major, format, majorFormat } = timeTicks(domain, timeZone, most, every);
  const text = (form: string): string => zoneExpression("datum.value", form, timeZone, domain);
  const twoLines = `indexof([${major.join(",")}], +datum.value) < 0 ? ${text(format)} : [${text(format)}, ${text(majorFormat)}]`;
  return {
    title: `${every === undefined ? "Time" : stepTitle(every)} (${timeZone})`,
    // Vega tells Dates apart by their seconds, but numbers whole.
    values: at.length === 2 && at[1]! - at[0]! < 1_000 ? { expr: JSON.stringify(at) } : at,
    labelExpr: majorFormat === "" ? text(format) : twoLines,
    labelAngle: 0,
    labelFlush: true,
    labelOverlap: "greedy",
    labelSeparation: 6,
    grid: false,
    // Above the areas and bars, whose outlines would cover it.
    zindex: 1,
    labelPadding: 4,
    titlePadding: 6,
  };
}

/** `Day`, `15 minutes`, `Week from Monday`. */
function stepTitle(every: Bucket): string {
  const name = every.charAt(0).toUpperCase() + every.slice(1);
  return stepOf(every).unit === "week" ? `${name} from Monday` : name;
}

/** Labels of the places along x, where they are categories. */
export function categoryLabels(rows: Rows): Map<number | string, string> {
  const labels = uniqueLabels(rows.xs, rows.roles.xOf ?? rows.roles.x);
  return new Map(rows.xs.map((x, index) => [x, labels[index] ?? ""]));
}

/** The vertical channel without its field. */
export function yChannel(
  rows: Rows,
  { yType, yZero: zero = true, yLabel, yFormat, stack }: Options,
  height: number,
): VegaLiteSpec {
  const values = rows.points.flatMap(({ y, low, high, top }) =>
    low === undefined ? [y, top ?? null] : [y, low, high ?? null],
  );
  const log = yType === "log";
  return {
    type: "quantitative",
    scale: {
      ...(log ? { type: "log", nice: false } : { zero }),
      ...(stack === "normalize" && { domain: [0, 1] }),
    },
    axis: {
      title: yLabel ?? measureTitle(rows),
      ...(log
        ? logLabels(values, yFormat ?? ",~r", height)
        : { labelExpr: valueLabel(rows.roles.measure?.unit, values, yFormat) }),
      ...TITLE_ABOVE,
      // A marker at the edge of the plot ends before it.
      labelPadding: 10,
      tickCount: Math.max(2, Math.round(height / (log ? 30 : 50))),
    },
  };
}

/**
 * The labels of a log axis. Where they have no room Vega leaves the largest of each power of ten empty,
 * which of a few powers hides the upper part: there 1, 2, 5 (3, 7) have a label.
 */
function logLabels(values: readonly (number | null)[], form: string, height: number): VegaLiteSpec {
  const drawn = values.filter((value) => value !== null && value > 0) as number[];
  const powers = drawn.length > 0 ? Math.log10(greatest(drawn) / smallest(drawn)) : 0;
  const room = height / powers;
  if (room < 45 || room > 230) return { format: form };
  const digits = room < 130 ? [1, 2, 5] : [1, 2, 3, 5, 7];
  const digit = "round(+slice(format(datum.value, 'e'), 0, 3))";
  return {
    labelExpr: `indexof([${digits.join(",")}], ${digit}) < 0 ? "" : format(datum.value, ${JSON.stringify(form)})`,
  };
}

const NAMES_WIDTH = 280;
const NAME_LINE = 13;

/** Pixels of all names, at least those of a legend. */
export function namesWidth(names: readonly string[], room: number): number {
  const lines = names.flatMap((name) => wrap(name, room, LABEL_SIZE));
  return Math.max(90, ...lines.map((line) => textWidth(line, LABEL_SIZE)));
}

/** Pixels of the names left of horizontal bars: in a screen's place a third of it at most. */
export function namesRoom(place = Infinity): number {
  return Math.min(NAMES_WIDTH, place / 3);
}

/** Pixels of the height of horizontal bars, of so many beside each other for each name. */
export function rowsHeight(names: readonly string[], bars: number, room: number): number {
  const lines = Math.max(1, ...names.map((name) => wrap(name, room, LABEL_SIZE).length));
  const place = Math.max(13 * bars + (bars > 1 ? 10 : 11), NAME_LINE * lines + 11);
  return Math.max(60, names.length * place);
}

/** Encodings of horizontal bars; the chart title names the categories. */
export function horizontalChannels(
  x: VegaLiteSpec,
  y: VegaLiteSpec,
  names: readonly string[],
  { xLabel: title, place }: Options,
  width: number,
): { x: VegaLiteSpec; y: VegaLiteSpec } {
  const { title: measured, labelExpr } = y.axis as VegaLiteSpec;
  const plain = { domain: false, ticks: false };
  const lines = names.map((name) => [name, wrap(name, namesRoom(place), LABEL_SIZE)] as const);
  const own = `(${JSON.stringify(Object.fromEntries(lines))})[datum.value]`;
  // Vega draws the first line in the middle of the bar.
  const several = lines.some(([, { length }]) => length > 1) && {
    labelExpr: own,
    labelOffset: { expr: `(1 - length(${own})) * ${NAME_LINE / 2}` },
  };
  return {
    x: {
      ...x,
      axis: {
        title: title ?? null,
        labelLimit: 0,
        labelPadding: 6,
        ...several,
        ...plain,
      },
    },
    y: { ...y, axis: { title: measured, labelExpr, tickCount: Math.round(width / 80), ...plain } },
  };
}

/** A Vega expression that writes a number of the vertical axis; `format` would give zero the prefix of the other ticks, 0k. */
export function valueLabel(
  unit: string | undefined,
  values: readonly (number | null)[],
  format: string | undefined,
): string {
  if (format !== undefined) return `format(datum.value, ${JSON.stringify(format)})`;
  const share = unit === "share";
  const [number, sign] = share ? ["100 * datum.value", ' + " %"'] : ["datum.value", ""];
  const drawn = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const [least, most] = [smallest(drawn), greatest(drawn)];
  const largest = Math.max(0, most, -least);
  const spread = most > least ? most - least : largest;
  // As many digits as the step of the ticks needs: a billion and four more isn't "1G" at each tick.
  const digits = spread > 0 ? Math.ceil(Math.log10((10 * largest) / spread)) : 1;
  const decimals = Math.ceil(-Math.log10(((share ? 100 : 1) * spread) / 10));
  const form =
    digits > 5
      ? `,.${Math.min(20, Math.max(0, decimals))}~f`
      : largest < 10_000 || share
        ? share
          ? "~r"
          : ",~r"
        : `.${Math.max(3, digits + 1)}~s`;
  return `format(${number}, "${form}")${sign}`;
}

/** The name of the vertical axis: `Run duration, median (s)`, `Measurements per week`. */
export function measureTitle({ roles: { measure, y }, every }: Rows): string {
  if (measure === undefined) return heading(y);
  const per = measure.additive && every !== undefined ? ` per ${every}` : "";
  return `${columnTitle(measure)}${per}`;
}

/** A measure with its unit: `Run duration, median (s)`. */
export function columnTitle({ label: name, unit: given }: MeasureColumn): string {
  const unit = given === "share" ? "%" : given;
  const named = unit === "" || name.toLowerCase().includes(unit.toLowerCase());
  return label(named && unit !== "s" && unit !== "%" ? name : `${name} (${unit})`);
}
