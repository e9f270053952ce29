import { ProbelabError } from "../base/error.js";
import { greatest } from "../base/statistics.js";
import { textOf } from "../base/text.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { categoryLabels, namesRoom, rowsHeight } from "./axes.js";
import { NONE, type Rows, type Point } from "./rows.js";
import {
  bucketRow,
  CATEGORY_WIDTH,
  intervalLayer,
  type Kind,
  type Plot,
  layerData,
} from "./plot.js";
import { flag, INTERVAL, oneOf, PLOT_RULES, type Options } from "./options.js";
import { LABEL_SIZE, type VegaLiteSpec } from "./render/theme.js";
import { withoutRest } from "./rest.js";
import { MOST_CATEGORIES } from "./roles.js";
import { bucketEnds, shares, sizes, stacked } from "./stack.js";

/** Bars along time, as wide as their buckets, or one for each category; series are stacked, or stand beside each other in a category. */
export const BAR: Kind = {
  name: "bar",
  title: "Bar chart",
  faded: "faded",
  options: {
    ...PLOT_RULES,
    stack: oneOf("sum", "normalize", false),
    horizontal: flag,
    sort: oneOf("value", "given"),
    interval: INTERVAL,
  },
  ...sizes("bars"),
  categories: true,
  extent: "interval",
  bucketEnds: (rows, timeZone) => bucketEnds(rows, timeZone),
  order: inOrder,
  arrange: (given, options) => {
    const isPlain = given.series.length === 0 && given.panel === undefined;
    const rows = withoutRest(given, options, isPlain ? ["x"] : []);
    const sorted = { ...rows, xs: inOrder(rows, options) };
    if (options.stack === "normalize") return shares(sorted);
    return isDodged(sorted, options) ? sorted : stacked(sorted, false);
  },
  size: (rows, options) =>
    isHorizontal(rows, options) ? { width: 560, height: heightOf(rows, options) } : {},
  horizontal: isHorizontal,
  layers,
};

/** True if bars of categories are horizontal: as the option says, else where a name doesn't fit below an upright bar. */
function isHorizontal(rows: Rows, { horizontal }: Options): boolean {
  if (rows.roles.xKind === "category") {
    const names = [...categoryLabels(rows).values()];
    return horizontal ?? names.some((name) => textWidth(name, LABEL_SIZE) > CATEGORY_WIDTH);
  }
  if (horizontal !== true) return false;
  throw new ProbelabError(
    `Can't draw horizontal bars along ${JSON.stringify(rows.roles.x)}: only bars of categories can be horizontal; leave horizontal out, or take a column of text as x.`,
  );
}

/** Pixels of the height of horizontal bars. */
function heightOf(rows: Rows, options: Options): number {
  const bars = isDodged(rows, options) ? rows.series.length : 1;
  return rowsHeight([...categoryLabels(rows).values()], bars, namesRoom(options.place));
}

/** True if several series stand beside each other: what can't be added up does. */
function isDodged({ series, roles }: Rows, { stack }: Options): boolean {
  const apart = stack === undefined ? roles.measure?.additive === false : stack === false;
  return series.length > 1 && apart;
}

/** Categories by size, the largest first and the rest last, where they have no order of their own. */
export function inOrder(rows: Rows, { sort }: Options): Rows["xs"] {
  const { xs, points, roles, restX, unordered } = rows;
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

/** @throws ProbelabError for more categories than there is room for. */
export function refuseMany(xs: Rows["xs"], x: string, what: string): void {
  if (xs.length <= MOST_CATEGORIES) return;
  throw new ProbelabError(
    `Can't draw ${what} for each of ${xs.length} values of ${JSON.stringify(x)}: ask for the largest with top: 20, or take at most ${MOST_CATEGORIES}.`,
  );
}

/** @throws ProbelabError for bars that would mislead, or be too many. */
function check({ rows: { roles, series, xs }, options }: Plot, dodged: boolean): void {
  const isCategory = roles.xKind === "category";
  if (dodged && !isCategory) {
    throw new ProbelabError(
      `Can't draw bars of ${series.length} series beside each other along ${JSON.stringify(roles.x)}: only bars of categories stand so; draw it with chart.line, in panels with facet, or one series with color: null.`,
    );
  }
  if (isCategory) refuseMany(xs, roles.x, "a bar");
  if (series.length > 1 && !dodged && options.interval) {
    throw new ProbelabError(
      "Can't draw intervals on bars that are stacked: they would stand at the wrong height; pass stack: false.",
    );
  }
}

function layers(given: Plot): VegaLiteSpec[] {
  const plot = given.options.text === undefined ? given : padForLabels(given, given.options.text);
  const { fields, theme, width, x, y, color, tooltip, options, horizontal } = plot;
  const ends = plot.bucketEnds;
  const { roles, series, xs, incomplete, restX, intervalColumns: extents } = plot.rows;
  const several = series.length > 1;
  const dodged = isDodged(plot.rows, options);
  check(plot, dodged);
  const isCategory = roles.xKind === "category";
  const { rows } = plot;
  // Rows without a partner, of a join say, belong to no category either.
  const isGrey = ({ x: at }: Point): boolean =>
    series.length === 0 && isCategory && (at === restX || at === NONE);
  const row = (point: Point): VegaLiteSpec => ({
    ...bucketRow(point, plot),
    // The first of the legend is the top of a stack.
    ...(several && { rank: series.length - 1 - point.series }),
    ...(incomplete.has(point.x) && { incomplete: true }),
    ...(isGrey(point) && { other: true }),
  });
  const drawn = rows.points.filter((point) => point.y !== null);
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
  const place = { x, ...(ends ? { x2: { field: "end" } } : dodged && { xOffset: dodge }) };
  const bars = {
    ...layerData(plot, drawn, row),
    mark: {
      type: "bar",
      orient: "vertical",
      stroke: theme.background,
      strokeWidth: ends && width / xs.length > 6 ? 1 : 0,
    },
    encoding: {
      ...place,
      y: { ...y, stack: several && !dodged ? "zero" : null },
      color: { ...condition, ...color },
      ...(several &&
        !dodged && { order: { field: "rank", type: "quantitative", sort: "ascending" } }),
      ...(incomplete.size > 0 && {
        fillOpacity: { condition: { test: "datum.incomplete", value: 0.4 }, value: 1 },
      }),
      tooltip,
    },
  };
  // The interval of each bar stands in its middle.
  const middle = { ...place, ...(ends && { x: { ...x, field: "middle" }, x2: undefined }) };
  const strokes =
    extents === undefined || (several && !dodged)
      ? []
      : intervalLayer(plot, drawn, row, { ...middle, color: { value: theme.text } });
  const texts = options.text === undefined ? [] : [endTexts(plot, options.text, row, place)];
  return [bars, ...strokes, ...texts].map((layer) => (horizontal ? flipAxes(layer) : layer));
}

/** Where the text of a bar stands: right of it, of its interval and of zero, where no name is. */
const rightEnd = ({ y, high }: Point): number => Math.max(0, Number(y), high ?? 0);

/** The text right of each horizontal bar. */
function endTexts(
  plot: Plot,
  text: string,
  row: (point: Point) => VegaLiteSpec,
  place: VegaLiteSpec,
): VegaLiteSpec {
  const { theme, y, tooltip, rows } = plot;
  return {
    ...layerData(plot, rows.points, (point) => ({ ...row(point), end: rightEnd(point) })),
    mark: {
      type: "text",
      baseline: "middle",
      fontSize: LABEL_SIZE,
      color: theme.text,
      align: "left",
      dx: 6,
      text: { expr: `datum._${text}` },
    },
    encoding: { ...place, y: { ...y, field: "end" }, tooltip },
  };
}

/** A plot whose axis leaves room for the texts right of bars. */
function padForLabels(plot: Plot, text: string): Plot {
  const { rows, width, y } = plot;
  const texts = rows.points.map(({ extra }) => textOf(extra?.[`_${text}`] ?? ""));
  const room = greatest(texts.map((each) => textWidth(each, LABEL_SIZE) + 14));
  const least = Math.min(0, ...rows.points.flatMap(({ y, low }) => [Number(y), low ?? 0]));
  const most = Math.max(0, ...rows.points.map(rightEnd));
  const pixel = (most - least || 1) / Math.max(40, width - room - 10);
  const domain = [least - 10 * pixel, most + room * pixel];
  return { ...plot, y: { ...y, scale: { ...(y.scale as object), domain, nice: false } } };
}

/** A layer with its horizontal channels upright and its upright ones horizontal. */
export function flipAxes(layer: VegaLiteSpec): VegaLiteSpec {
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
