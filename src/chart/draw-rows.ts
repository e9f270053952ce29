import { ProbelabError } from "../error.js";
import { reduceForChart } from "../downsample/reduce-for-chart.js";
import { bucketStart, buckets, BUCKETS, type Bucket } from "../time/bucket.js";
import type { Result, Value } from "../result/result.js";
import { chartRoles, type MarkType, type Roles } from "./roles.js";
import type { ChartOptions } from "./options.js";
import { textOf } from "./label.js";
import { chartSeries, MOST_SERIES, type Series } from "./series.js";
import { workTable } from "./work-table.js";

/** One point to draw. */
export interface Point {
  /** Milliseconds since the epoch, a number, or a text. */
  readonly x: number | string;
  /** null is a gap. */
  readonly y: number | null;
  /** Index into the series. */
  readonly series: number;
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
  /** What was left out or merged for this chart. */
  readonly sentences: readonly string[];
}

// Edges and markers may repeat a few rows of each series.
const SPARE_ROWS = 4;

/** The points of a chart, fewer than 5,000. @throws ProbelabError where they can't be drawn truthfully. */
export function drawRows(result: Result, mark: MarkType, options: ChartOptions): Drawing {
  const roles = chartRoles(result, mark, options);
  const work = workTable(result, roles);
  const values = work.series === undefined ? [] : work.result.column(work.series);
  const spare = SPARE_ROWS * Math.min(MOST_SERIES, new Set(values).size || 1);
  const reduced = reduceForChart(work.result, {
    mark,
    x: roles.x,
    y: roles.y,
    ...(work.series !== undefined && { series: work.series }),
    width: options.width ?? 1000,
    height: options.height ?? 300,
    maxRows: 4_999 - spare,
    yScale: options.yScale ?? "linear",
  });
  const { table } = reduced;
  const [xs, ys, keys] = [roles.x, roles.y, work.series].map((name) => {
    const getter = name === undefined ? () => undefined : table.getter(name);
    return Array.from({ length: table.numRows() }, (_, row) => getter(row) as Value);
  }) as [Value[], Value[], Value[]];
  const series = chartSeries(
    work.series === undefined ? [] : keys,
    otherOf(work.dimension, keys, values),
  );
  if (series.length > MOST_SERIES) {
    throw new ProbelabError(
      `Can't tell ${series.length} series of ${JSON.stringify(work.series)} apart in one chart: ask for the largest with top: 6, or take at most ${MOST_SERIES}.`,
    );
  }
  const sentences = [...work.sentences, ...reduced.sentences];
  const index = new Map(series.map(({ value }, at) => [value, at]));
  const points: Point[] = [];
  let infinite = 0;
  let placeless = 0;
  for (const [row, value] of xs.entries()) {
    const x = place(value, roles.xKind);
    if (x === undefined) {
      placeless++;
      continue;
    }
    const y = ys[row] === null || ys[row] === undefined ? NaN : Number(ys[row]);
    if (y === Infinity || y === -Infinity) infinite++;
    points.push({ x, y: Number.isFinite(y) ? y : null, series: index.get(keys[row] ?? null) ?? 0 });
  }
  if (infinite > 0)
    sentences.push(`${count(infinite, "infinite value is", "infinite values are")} left out.`);
  if (placeless > 0)
    sentences.push(`${count(placeless, "row", "rows")} without ${roles.x} left out.`);
  if (roles.xKind !== "category") points.sort((a, b) => Number(a.x) - Number(b.x));
  const every = table === work.result.table ? roles.every : regrouped(points, roles.every, result);
  return {
    roles,
    points,
    series,
    ...(work.series !== undefined && { seriesName: work.series }),
    xs: [...new Set(points.map(({ x }) => x))],
    ...(every && { every }),
    incomplete: incompleteOf(result, roles, every),
    sentences,
  };
}

/** The number with its noun. */
export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

/** Where the reduction merged series, what it made of them is in no row that came in. */
function otherOf(
  dimension: { order: readonly (string | null)[]; other?: string } | undefined,
  keys: readonly Value[],
  before: readonly Value[],
): { order: readonly (string | null)[]; other?: string } | undefined {
  if (dimension?.other !== undefined) return dimension;
  const known = new Set(before);
  const other = keys.find((key) => !known.has(key));
  return typeof other === "string" ? { order: dimension?.order ?? [], other } : dimension;
}

function place(value: Value, kind: Roles["xKind"]): number | string | undefined {
  if (kind === "category") return value === null || value === undefined ? "(none)" : textOf(value);
  if (value === null || value === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** The coarsest step whose buckets all of the points begin. */
function regrouped(
  points: readonly Point[],
  every: Bucket | undefined,
  result: Result,
): Bucket | undefined {
  if (every === undefined) return undefined;
  const coarser = BUCKETS.slice(BUCKETS.indexOf(every)).reverse();
  const { timeZone } = result.origin.range;
  const xs = [...new Set(points.map(({ x }) => Number(x)))];
  return coarser.find((bucket) =>
    xs.every((x) => bucketStart(new Date(x), bucket, timeZone).getTime() === x),
  );
}

function incompleteOf(
  { origin }: Result,
  roles: Roles,
  every: Bucket | undefined,
): ReadonlySet<number | string> {
  const { time } = origin.columns;
  if (time === undefined || roles.x !== time.name || every === undefined) return new Set();
  const known = time.incomplete.map((start) =>
    bucketStart(start, every, origin.range.timeZone).getTime(),
  );
  if (every === time.every) return new Set(known);
  const partial = buckets(origin.range, every).filter(({ complete }) => !complete);
  return new Set([...known, ...partial.map(({ start }) => start.getTime())]);
}
