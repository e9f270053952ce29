import { ProbelabError } from "../base/error.js";
import { textWidth } from "../fonts/shipped-font.js";
import { categoryLabels } from "./axes.js";
import type { Drawing, Point } from "./draw-rows.js";
import { intervalLayer } from "./extents.js";
import { specRow, type ChartKind, type Frame } from "./frame.js";
import { formatInstantIso } from "./label.js";
import type { DrawOptions, VegaLiteSpec } from "./options.js";
import { shares, stacked, stackOrder } from "./stack.js";
import { bucketEnds, lastEnd } from "./steps.js";

const MOST_CATEGORIES = 60;
/** Pixels of a category's widest place, and of its name's letters. */
const PLACE = 90;
const NAME_SIZE = 11;
/** Pixels of the narrowest of several bars beside each other. */
const NARROWEST = 2;

/** Bars along time, as wide as their buckets, or one for each category; series are stacked or stand beside each other. */
export const BAR: ChartKind = {
  name: "bar",
  drawn: "bars",
  title: "Bar chart",
  faded: "faded",
  sized: true,
  categories: true,
  takes: ["stack", "horizontal", "sort", "interval"],
  end: (drawing, timeZone) =>
    drawing.roles.xKind === "category" || drawing.xs.length === 0
      ? undefined
      : lastEnd(bucketEnds(drawing, timeZone)),
  order: inOrder,
  arrange: (drawing, options) => {
    const sorted = { ...drawing, xs: inOrder(drawing, options) };
    return options.stack === "share" ? shares(sorted) : sorted;
  },
  size: (drawing, options) =>
    isLying(drawing, options) ? { width: 560, height: lyingHeight(drawing, options) } : {},
  lies: isLying,
  layers,
};

/** Whether bars of categories lie: as the options say, else where a name has no room below an upright one. */
function isLying(drawing: Drawing, { horizontal }: DrawOptions): boolean {
  if (drawing.roles.xKind !== "category") {
    if (horizontal !== true) return false;
    throw new ProbelabError(
      `Can't draw lying bars along ${JSON.stringify(drawing.roles.x)}: only those of categories lie; leave horizontal out, or take a column of text as x.`,
    );
  }
  const names = [...categoryLabels(drawing).values()];
  return horizontal ?? names.some((name) => textWidth(name, NAME_SIZE) > PLACE);
}

/** Room for each bar, and between the categories. */
function lyingHeight(drawing: Drawing, options: DrawOptions): number {
  const bars = isBeside(drawing, options) ? drawing.series.length : 1;
  return Math.max(60, drawing.xs.length * (bars > 1 ? 13 * bars + 10 : 24));
}

/** Whether several series stand beside each other: what can't be added up does. */
function isBeside({ series, roles }: Drawing, { stack }: DrawOptions): boolean {
  const apart = stack === undefined ? roles.measure?.additive === false : stack === false;
  return series.length > 1 && apart;
}

/** Categories by size, the largest first and the rest last, where they have no order of their own. */
function inOrder(drawing: Drawing, { sort }: DrawOptions): Drawing["xs"] {
  const { xs, points, roles, restX, unordered } = drawing;
  const byValue = (sort ?? (unordered ? "value" : "given")) === "value";
  if (!byValue || roles.xKind !== "category") return xs;
  // Of several series: what adds up by its sum, else by the largest.
  const sizes = new Map<Point["x"], number>();
  for (const { x, y } of points) {
    const before = sizes.get(x);
    if (y === null) continue;
    if (before === undefined) sizes.set(x, y);
    else sizes.set(x, roles.measure?.additive === false ? Math.max(before, y) : before + y);
  }
  const rank = (x: Point["x"]): number =>
    x === restX ? -Infinity : (sizes.get(x) ?? -Number.MAX_VALUE);
  return xs.toSorted((a, b) => rank(b) - rank(a));
}

function layers(frame: Frame): VegaLiteSpec[] {
  const { fields, theme, width, x, y, colour, tooltip, timeZone, options, lies } = frame;
  const { roles, series, xs, incomplete, restX, ends: extents } = frame.drawing;
  const isCategory = roles.xKind === "category";
  const many = series.length > 1;
  const beside = isBeside(frame.drawing, options);
  if (beside && options.stack === undefined && !isCategory) {
    throw new ProbelabError(
      `Can't stack ${JSON.stringify(roles.y)} in bars: its values can't be added up; draw it with chart.line, with stack: false beside each other, or one series with colour: null.`,
    );
  }
  if (isCategory && xs.length > MOST_CATEGORIES) {
    throw new ProbelabError(
      `Can't draw a bar for each of ${xs.length} values of ${JSON.stringify(roles.x)}: ask for the largest with top: 20, or take at most ${MOST_CATEGORIES}.`,
    );
  }
  if (beside && width / xs.length / series.length < NARROWEST && !lies) {
    throw new ProbelabError(
      `Can't draw ${xs.length} times ${series.length} bars beside each other in ${width} pixels: they would be too narrow to see; ask with a coarser every or a smaller top, or draw them with chart.line.`,
    );
  }
  if (many && !beside && options.interval) {
    throw new ProbelabError(
      `Can't draw intervals on bars that are stacked: they would stand at the wrong height; pass stack: false.`,
    );
  }
  const drawing = beside ? frame.drawing : stacked(frame.drawing);
  const { rank, order } = stackOrder(drawing);
  const categories = isCategory ? categoryLabels(drawing) : undefined;
  const ends = isCategory ? undefined : bucketEnds(drawing, timeZone);
  const rest = series.length === 0 ? restX : undefined;
  const instant = (at: number) => (roles.xKind === "time" ? formatInstantIso(at) : at);
  const row = (point: Point): VegaLiteSpec => {
    const from = Number(point.x);
    const end = ends?.get(from) ?? from;
    // Of bars beside each other each has its part of the bucket.
    const part = (at: number): number =>
      beside ? from + ((end - from) * (point.series + at)) / series.length : at === 0 ? from : end;
    return {
      ...specRow(point, frame),
      ...(categories && { [fields.x]: categories.get(point.x) }),
      ...(ends && { end: instant(part(1)), ...(beside && { begin: instant(part(0)) }) }),
      ...rank(point),
      ...(incomplete.has(point.x) && { incomplete: true }),
      ...(point.x === rest && { other: true }),
    };
  };
  const drawn = drawing.points.filter((point) => point.y !== null);
  const place = {
    x: ends && beside ? { ...x, field: "begin" } : x,
    ...(ends && { x2: { field: "end" } }),
    ...(beside &&
      !ends && { xOffset: { field: fields.series, sort: series.map(({ label }) => label) } }),
  };
  const bars = {
    ...frame.data(drawn.map(row)),
    mark: {
      type: "bar",
      orient: "vertical",
      stroke: theme.background,
      strokeWidth: ends && width / xs.length > 6 ? 1 : 0,
    },
    encoding: {
      ...place,
      y: { ...y, stack: many && !beside ? "zero" : null },
      color:
        rest === undefined
          ? colour
          : { condition: { test: "datum.other", value: theme.neutral }, ...colour },
      ...(!beside && order),
      ...(incomplete.size > 0 && {
        fillOpacity: { condition: { test: "datum.incomplete", value: 0.4 }, value: 1 },
      }),
      tooltip,
    },
  };
  const strokes =
    extents === undefined || (many && !beside) ? [] : intervals(frame, drawn, row, place);
  return [bars, ...strokes].map((layer) => (lies ? lying(layer) : layer));
}

/** The interval of each bar, from end to end through its middle. */
function intervals(
  frame: Frame,
  points: readonly Point[],
  row: (point: Point) => VegaLiteSpec,
  { x2, ...place }: VegaLiteSpec,
): VegaLiteSpec[] {
  const middle = x2 === undefined ? place : { ...place, x: { ...frame.x, field: "middle" } };
  return intervalLayer(
    frame,
    points,
    (point) => {
      const { begin, end, ...rest } = row(point);
      const from = begin ?? rest[frame.fields.x];
      if (end === undefined) return rest;
      const [a, b] = [from, end].map((at) =>
        typeof at === "string" ? Date.parse(at) : Number(at),
      );
      const at = (a! + b!) / 2;
      return { ...rest, middle: typeof end === "string" ? formatInstantIso(at) : at };
    },
    { ...middle, color: { value: frame.theme.text } },
  );
}

const TURNED: Readonly<Record<string, string>> = {
  ...{ x: "y", y: "x", x2: "y2", y2: "x2", xOffset: "yOffset" },
};

/** A layer with its horizontal channels upright and its upright ones horizontal. */
function lying(layer: VegaLiteSpec): VegaLiteSpec {
  const encoding = Object.entries(layer.encoding as VegaLiteSpec);
  const mark = layer.mark as VegaLiteSpec;
  return {
    ...layer,
    mark: { ...mark, ...(mark.orient !== undefined && { orient: "horizontal" }) },
    encoding: Object.fromEntries(
      encoding.map(([name, channel]) => [TURNED[name] ?? name, channel]),
    ),
  };
}
