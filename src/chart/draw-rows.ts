import { MOST_ROWS } from "../base/limits.js";
import { ProbelabError } from "../base/error.js";
import { reduceForChart } from "../downsample/reduce-for-chart.js";
import type { Bucket } from "../time/bucket.js";
import type { DimensionColumn } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { valueKey } from "../result/json.js";
import { chartRoles, type MarkType, type Roles } from "./roles.js";
import type { ChartOptions } from "./options.js";
import { textOf } from "./label.js";
import { chartSeries, MOST_SERIES, seriesDimension, type Series } from "./series.js";
import { sharedPlaces } from "./shared-places.js";
import { workTable } from "./work-table.js";

/** One point to draw. */
export interface Point {
  /** Milliseconds since the epoch, a number, or a text. */
  readonly x: number | string;
  /** null is a gap. */
  readonly y: number | null;
  /** Index into the series. */
  readonly series: number;
  /** How many rows a bin holds, where points were binned. */
  readonly count?: number;
}

/** What is drawn of a Result, before any look is decided. */
export interface Drawing {
  readonly roles: Roles;
  /** In the order of x. */
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** Column of the series, where there is one. */
  readonly seriesName?: string;
  /** Buckets (or categories) along x, each once, in order. */
  readonly xs: readonly (number | string)[];
  /** The step of the buckets as drawn: coarser than asked for where they were regrouped. */
  readonly every?: Bucket;
  /** Those of `xs` that the range covers only in part. */
  readonly incomplete: ReadonlySet<number | string>;
  /** The category that holds all values beyond the top ones. */
  readonly restX?: string;
  /** What was left out or merged for this chart. */
  readonly sentences: readonly string[];
}

// Edges and markers may repeat a few rows of each series.
const SPARE_ROWS = 4;

/** The points of a chart, fewer than 5,000. @throws ProbelabError where they can't be drawn truthfully. */
export function drawRows(result: Result, mark: MarkType, options: ChartOptions): Drawing {
  const roles = chartRoles(result, mark, options);
  const work = workTable(result, roles);
  const shared = sharedPlaces(work.result, roles, mark, work.series);
  const values = work.series === undefined ? [] : work.result.column(work.series);
  const spare = SPARE_ROWS * Math.min(MOST_SERIES, new Set(values.map(valueKey)).size || 1);
  const reduced = reduceForChart(work.result, {
    mark,
    x: roles.x,
    y: roles.y,
    ...(work.series !== undefined && { series: work.series }),
    width: options.width ?? 1000,
    height: options.height ?? 300,
    maxRows: MOST_ROWS - spare,
    yScale: options.yScale ?? "linear",
  });
  const { columns } = reduced.result.origin;
  const read = (name: string | undefined): Value[] =>
    name === undefined ? [] : reduced.result.column(name);
  const [xs, ys, keys, counts] = [roles.x, roles.y, work.series, reduced.countColumn].map(read) as [
    Value[],
    Value[],
    Value[],
    Value[],
  ];
  const dimension = seriesDimension(columns, work.series, keys);
  const series = chartSeries(keys, dimension);
  if (series.length > MOST_SERIES) {
    throw new ProbelabError(
      `Can't tell ${series.length} series of ${JSON.stringify(work.series)} apart in one chart: ask for the largest with top: 6, or take at most ${MOST_SERIES}.`,
    );
  }
  const index = new Map(series.map(({ value }, at) => [valueKey(value), at]));
  const points: Point[] = [];
  const left = { infinite: 0, placeless: 0, low: 0 };
  for (const [row, value] of xs.entries()) {
    const x = place(value, roles.xKind);
    if (x === undefined) {
      left.placeless++;
      continue;
    }
    let y = ys[row] === null || ys[row] === undefined ? NaN : Number(ys[row]);
    if (y === Infinity || y === -Infinity) left.infinite++;
    if (options.yScale === "log" && y <= 0) {
      left.low++;
      y = NaN;
    }
    points.push({
      x,
      y: Number.isFinite(y) ? y : null,
      series: index.get(valueKey(keys[row])) ?? 0,
      ...(reduced.countColumn !== undefined && { count: Number(counts[row]) }),
    });
  }
  if (roles.xKind !== "category") points.sort((a, b) => Number(a.x) - Number(b.x));
  const along = seriesDimension(columns, roles.x, xs);
  const rest = along?.other;
  const time = roles.x === columns.time?.name ? columns.time : undefined;
  return {
    roles,
    points,
    series,
    ...(work.series !== undefined && { seriesName: work.series }),
    xs: roles.xKind === "category" ? categories(xs, along) : [...new Set(points.map(({ x }) => x))],
    ...(time && { every: time.every }),
    ...(rest !== undefined && { restX: rest }),
    incomplete: new Set(time?.incomplete.map((start) => start.getTime())),
    sentences: [
      ...work.sentences,
      // Bins count what they hold.
      ...(reduced.countColumn === undefined ? shared : []),
      ...reduced.sentences,
      ...leftOut(left.infinite, "infinite value", ""),
      ...leftOut(left.low, "value", " of zero or below"),
      ...leftOut(left.placeless, "row", ` without ${roles.x}`),
    ],
  };
}

/** The categories in the order of their dimension, the rest last. */
function categories(
  xs: readonly Value[],
  dimension: Pick<DimensionColumn, "order"> | undefined,
): string[] {
  return [
    ...new Set(chartSeries(xs, dimension).map(({ value }) => String(place(value, "category")))),
  ];
}

function leftOut(number: number, thing: string, which: string): string[] {
  if (number === 0) return [];
  return [`${count(number, thing, `${thing}s`)}${which} left out.`];
}

/** The number with its noun. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

function place(value: Value, kind: Roles["xKind"]): number | string | undefined {
  if (kind === "category") return value === null || value === undefined ? "(none)" : textOf(value);
  if (value === null || value === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
