import { ProbelabError } from "../base/error.js";
import { textOf } from "../base/text.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { categoryLabels, namesRoom, rowsHeight } from "./axes.js";
import { NONE, type Drawing, type Point } from "./draw-rows.js";
import { bucketRow, CATEGORY_WIDTH, intervalLayer, type ChartKind, type Frame } from "./frame.js";
import type { DrawOptions } from "./options.js";
import { LABEL_SIZE, type VegaLiteSpec } from "./render/theme.js";
import { withoutRest } from "./rest.js";
import { MOST_CATEGORIES } from "./roles.js";
import { bucketEnds, shares, stacked, stackOrder } from "./stack.js";

/** Bars along time, as wide as their buckets, or one for each category; series are stacked, or stand beside each other in a category. */
export const BAR: ChartKind = {
  name: "bar",
  drawn: "bars",
  title: "Bar chart",
  faded: "faded",
  marks: "sizes",
  categories: true,
  ends: (drawing, timeZone) => bucketEnds(drawing, timeZone),
  order: inOrder,
  arrange: (given, options) => {
    const drawing = withoutRestBar(given, options);
    const sorted = { ...drawing, xs: inOrder(drawing, options) };
    return options.stack === "normalize" ? shares(sorted) : sorted;
  },
  size: (drawing, options) =>
    isHorizontal(drawing, options) ? { width: 560, height: heightOf(drawing, options) } : {},
  horizontal: isHorizontal,
  layers,
};

/** Counts without the bar of the rest, where that would make all others too short to read. */
function withoutRestBar(drawing: Drawing, options: DrawOptions): Drawing {
  const { series, panel, restX, xs } = drawing;
  if (series.length > 0 || panel !== undefined) return drawing;
  const kept = withoutRest(drawing, options, [[restX, ({ x }) => x === restX]]);
  return kept === drawing ? drawing : { ...kept, xs: xs.filter((x) => x !== restX) };
}

/** True if bars of categories are horizontal: as the option says, else where a name doesn't fit below an upright bar. */
function isHorizontal(drawing: Drawing, { horizontal }: DrawOptions): boolean {
  if (drawing.roles.xKind === "category") {
    const names = [...categoryLabels(drawing).values()];
    return horizontal ?? names.some((name) => textWidth(name, LABEL_SIZE) > CATEGORY_WIDTH);
  }
  if (horizontal !== true) return false;
  throw new ProbelabError(
    `Can't draw horizontal bars along ${JSON.stringify(drawing.roles.x)}: only bars of categories can be horizontal; leave horizontal out, or take a column of text as x.`,
  );
}

/** Pixels of the height of horizontal bars. */
function heightOf(drawing: Drawing, options: DrawOptions): number {
  const bars = isBeside(drawing, options) ? drawing.series.length : 1;
  return rowsHeight([...categoryLabels(drawing).values()], bars, namesRoom(options.place));
}

/** True if several series stand beside each other: what can't be added up does. */
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
    const added = roles.measure?.additive === false ? Math.max(before ?? y, y) : (before ?? 0) + y;
    sizes.set(x, added);
  }
  const rank = (x: Point["x"]): number =>
    x === restX ? -Infinity : (sizes.get(x) ?? -Number.MAX_VALUE);
  return xs.toSorted((a, b) => rank(b) - rank(a));
}

/** @throws ProbelabError for bars that would mislead, or be too many. */
function check({ drawing, options }: Frame, beside: boolean): void {
  const { roles, series, xs } = drawing;
  const refuse = (what: string, why: string): never => {
    throw new ProbelabError(`Can't ${what}: ${why}.`);
  };
  const isCategory = roles.xKind === "category";
  if (beside && !isCategory) {
    refuse(
      `draw bars of ${series.length} series beside each other along ${JSON.stringify(roles.x)}`,
      "only bars of categories stand so; draw it with chart.line, in panels with facet, or one series with color: null",
    );
  }
  if (isCategory && xs.length > MOST_CATEGORIES) {
    refuse(
      `draw a bar for each of ${xs.length} values of ${JSON.stringify(roles.x)}`,
      `ask for the largest with top: 20, or take at most ${MOST_CATEGORIES}`,
    );
  }
  if (series.length > 1 && !beside && options.interval) {
    refuse(
      "draw intervals on bars that are stacked",
      "they would stand at the wrong height; pass stack: false",
    );
  }
}

function layers(given: Frame): VegaLiteSpec[] {
  const frame = given.options.text === undefined ? given : padForLabels(given, given.options.text);
  const { ends, fields, theme, width, x, y, color, tooltip, options, horizontal } = frame;
  const { roles, series, xs, incomplete, restX, ends: extents } = frame.drawing;
  const several = series.length > 1;
  const beside = isBeside(frame.drawing, options);
  check(frame, beside);
  const isCategory = roles.xKind === "category";
  const drawing = beside ? frame.drawing : stacked(frame.drawing);
  const { rank, order } = stackOrder(drawing);
  // Rows without a partner, of a join say, belong to no category either.
  const isGrey = ({ x: at }: Point): boolean =>
    series.length === 0 && isCategory && (at === restX || at === NONE);
  const row = (point: Point): VegaLiteSpec => ({
    ...bucketRow(point, frame),
    ...rank(point),
    ...(incomplete.has(point.x) && { incomplete: true }),
    ...(isGrey(point) && { other: true }),
  });
  const drawn = drawing.points.filter((point) => point.y !== null);
  const fell = !several && drawn.some((point) => Number(point.y) < 0);
  const names = isCategory && series.length === 0 ? Object.entries(options.colors ?? {}) : [];
  const tones = [
    ...names.map(([name, value]) => ({
      test: `datum[${JSON.stringify(fields.x)}] === ${JSON.stringify(name)}`,
      value,
    })),
    ...(drawn.some(isGrey) ? [{ test: "datum.other", value: theme.neutral }] : []),
    ...(fell ? [{ test: `datum.${fields.y} < 0`, value: theme.series[5] }] : []),
  ];
  const condition = tones.length > 0 && { condition: tones.length === 1 ? tones[0] : tones };
  const dodge = { field: fields.series, sort: series.map(({ label }) => label) };
  const place = { x, ...(ends ? { x2: { field: "end" } } : beside && { xOffset: dodge }) };
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
      y: { ...y, stack: several && !beside ? "zero" : null },
      color: { ...condition, ...color },
      ...(!beside && order),
      ...(incomplete.size > 0 && {
        fillOpacity: { condition: { test: "datum.incomplete", value: 0.4 }, value: 1 },
      }),
      tooltip,
    },
  };
  // The interval of each bar stands in its middle.
  const middle = { ...place, ...(ends && { x: { ...x, field: "middle" }, x2: undefined }) };
  const strokes =
    extents === undefined || (several && !beside)
      ? []
      : intervalLayer(frame, drawn, row, { ...middle, color: { value: theme.text } });
  const texts = options.text === undefined ? [] : [endTexts(frame, options.text, row, place)];
  return [bars, ...strokes, ...texts].map((layer) => (horizontal ? flipAxes(layer) : layer));
}

/** Where the text of a bar stands: at its end, or at that of its interval. */
const farEnd = ({ y, low, high }: Point): number =>
  Number(y) < 0 ? Math.min(Number(y), low ?? 0) : Math.max(Number(y), high ?? 0);

/** The text at the end of each horizontal bar. */
function endTexts(
  frame: Frame,
  text: string,
  row: (point: Point) => VegaLiteSpec,
  place: VegaLiteSpec,
): VegaLiteSpec {
  const { theme, y, tooltip, drawing } = frame;
  const left = "datum.end < 0";
  return {
    ...frame.data(drawing.points.map((point) => ({ ...row(point), end: farEnd(point) }))),
    mark: {
      type: "text",
      baseline: "middle",
      fontSize: LABEL_SIZE,
      color: theme.text,
      align: { expr: `${left} ? "right" : "left"` },
      dx: { expr: `${left} ? -6 : 6` },
      text: { expr: `datum._${text}` },
    },
    encoding: { ...place, y: { ...y, field: "end" }, tooltip },
  };
}

/** A frame whose axis leaves room for the texts at the ends of bars. */
function padForLabels(frame: Frame, text: string): Frame {
  const { drawing, width, y } = frame;
  const { points } = drawing;
  const room = (negative: boolean): number =>
    points
      .filter((point) => farEnd(point) < 0 === negative)
      .map(({ beside }) => textWidth(textOf(beside?.[`_${text}`] ?? ""), LABEL_SIZE) + 14)
      .reduce((a, b) => Math.max(a, b), 10);
  const reached = points.flatMap(({ y, low, high }) => [Number(y), low ?? 0, high ?? 0]);
  const [least, most] = [Math.min(0, ...reached), Math.max(0, ...reached)];
  const [left, right] = [room(true), room(false)];
  const pixel = (most - least || 1) / Math.max(60, width - left - right);
  const domain = [least - left * pixel, most + right * pixel];
  return { ...frame, y: { ...y, scale: { ...(y.scale as object), domain, nice: false } } };
}

/** A layer with its horizontal channels upright and its upright ones horizontal. */
function flipAxes(layer: VegaLiteSpec): VegaLiteSpec {
  const mark = layer.mark as VegaLiteSpec;
  const encoding = Object.entries(layer.encoding as VegaLiteSpec).map(([name, channel]) => [
    name.replace(/^[xy](?=2?$|Offset$)/, (axis) => (axis === "x" ? "y" : "x")),
    channel,
  ]);
  return {
    ...layer,
    mark: { ...mark, ...(mark.orient !== undefined && { orient: "horizontal" }) },
    encoding: Object.fromEntries(encoding) as object,
  };
}
