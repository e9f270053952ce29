import { lineSentence } from "../result/downsample/downsample.js";
import { reduceLines, type ReducedLine } from "../result/downsample/reduce-lines.js";
import {
  extent,
  heightColumn,
  numericColumn,
  splitSeries,
  type SeriesRows,
} from "../result/downsample/series.js";
import { valueKey } from "../result/json.js";
import type { MeasureColumn, TimeColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { bucketStart, nextBucket } from "../time/bucket.js";
import { durationText } from "../time/span.js";
import { usualLength } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { PLOT, type Options } from "./options.js";
import { chartSeries, seriesDimension } from "./series.js";
import type { DrawnRow, Reduced, Roles, Work } from "./roles.js";

/**
 * The rows that draw the lines of a Result. Missing buckets become rows: else a line would run straight
 * through a week of none. Of rows whose buckets nobody knows, they are those of the step that most of them have.
 */
export function reduceLineChart(
  { result, lines }: Work,
  { x, y, xKind, facet }: Roles,
  { width, height, yType, yZero }: Options,
  maxRows: number,
): Reduced {
  const { table, origin } = result;
  const { time, measures } = origin.columns;
  const missing = measures.find(({ name }) => name === y)?.missing;
  const { range } = origin;
  const isTimed = xKind === "time";
  const fills = time?.name === x && missing !== undefined && range !== undefined;
  const whole = { result, sentences: [] };
  if (!fills && !isTimed && table.numRows() <= maxRows) return whole;
  const split = splitSeries(table, lines, numericColumn(table, x), heightColumn(table, y, yType));
  // The picture that rows are thinned for is drawn in the order of the legend, too, but "other" first.
  const keys = split.map(({ key }) => key as Value);
  const order = chartSeries(keys, seriesDimension(origin.columns, lines, keys));
  const ranks = new Map(order.map(({ value, other }, at) => [valueKey(value), other ? -1 : at]));
  const rank = ({ key }: SeriesRows): number => ranks.get(valueKey(key as Value)) ?? 0;
  split.sort((a, b) => rank(a) - rank(b));
  const steps = new Set<number>();
  const series = split.map((series) => {
    if (fills) return fillMissing(series, time, missing, range);
    const step = isTimed ? usualStep(series.x) : undefined;
    const broken = step === undefined ? series : breakGaps(series, step);
    if (broken !== series) steps.add(step!);
    return broken;
  });
  const gaps = [...steps].slice(0, 1).map(gapSentence);
  const added = series.flatMap((own) => drawnRows(own).filter((row) => row.added));
  if (table.numRows() + added.length <= maxRows) {
    const all = Array.from({ length: table.numRows() }, (_, row) => ({ row }));
    return { ...whole, gaps, drawn: [...all, ...added] };
  }
  const [start, end] = extent(series);
  const plot = {
    ...{ start, end, width: width ?? PLOT.width, height: height ?? PLOT.height },
    ...{ zero: yZero !== false, apart: facet !== undefined, log: yType === "log" },
  };
  const thinned = reduceLines(series, plot, maxRows, true);
  const drawn = series.flatMap((own, i) => drawnRows(own, thinned.lines[i]));
  const banded = drawn.some(({ top }) => top !== undefined);
  const sentences = [
    lineSentence(table.numRows(), drawn.length, thinned.differs),
    ...(banded ? ["Where values are dense, a band from the lowest to the highest."] : []),
  ];
  return { result, sentences, gaps, drawn };
}

/** The rows of a series that are drawn: all, or those that were kept of its line. */
function drawnRows({ rows, x, y }: SeriesRows, line?: ReducedLine): DrawnRow[] {
  const first = rows.find((row) => row >= 0)!;
  return Array.from(line?.kept ?? rows.keys(), (place, i): DrawnRow => {
    const row = rows[place]!;
    if (row < 0) return { row: first, added: { x: x[place]!, y: y[place]! } };
    const highest = line?.highest[i] ?? place;
    return { row, ...(highest !== place && { top: y[highest]! }) };
  });
}

/** How many of the steps between times must be alike for a step that is missing to be seen, and how alike. */
const REGULAR = 2 / 3;
const ALIKE = 0.1;
/** A step this many times as long as usual has a row missing. */
export const LONG_STEP = 1.5;
const MOST_STEPS = 10_000;

/** The step of ascending times that are regular but for some that are missing; undefined of others. */
export function usualStep(x: ArrayLike<number>): number | undefined {
  const every = Math.ceil(x.length / MOST_STEPS);
  const steps: number[] = [];
  for (let i = 1; i < x.length; i += every) {
    if (x[i]! > x[i - 1]!) steps.push(x[i]! - x[i - 1]!);
  }
  if (steps.length < 3) return undefined;
  const usual = steps.sort((a, b) => a - b)[(steps.length - 1) >> 1]!;
  const alike = steps.filter((step) => Math.abs(step - usual) <= ALIKE * usual);
  return alike.length >= REGULAR * steps.length ? usual : undefined;
}

/** Says where lines of such a step have gaps. */
export function gapSentence(step: number): string {
  return `Gaps: no row for more than ${durationText(step)}.`;
}

/** A row that is missing before the one at a place. */
interface Missing {
  readonly place: number;
  readonly x: number;
  readonly y: number;
}

/** The series with what is missing in it, as rows of number −1. */
function withAdded(series: SeriesRows, missing: readonly Missing[]): SeriesRows {
  if (missing.length === 0) return series;
  const size = series.x.length + missing.length;
  const rows = new Int32Array(size).fill(-1);
  const [x, y] = [new Float64Array(size), new Float64Array(size)];
  for (let at = 0, place = 0; at < size; at++) {
    const added = missing[at - place];
    if (added?.place === place) {
      x[at] = added.x;
      y[at] = added.y;
      continue;
    }
    rows[at] = series.rows[place]!;
    x[at] = series.x[place]!;
    y[at] = series.y[place++]!;
  }
  return { key: series.key, rows, x, y };
}

/** A gap wherever a row of the usual step is missing. */
function breakGaps(series: SeriesRows, step: number): SeriesRows {
  const gaps: Missing[] = [];
  for (let place = 1; place < series.x.length; place++) {
    const before = series.x[place - 1]!;
    if (series.x[place]! - before > LONG_STEP * step)
      gaps.push({ place, x: before + step, y: NaN });
  }
  return withAdded(series, gaps);
}

/** Rows where buckets are missing, as few as draw the line: a gap, or zeros at both ends. */
function fillMissing(
  series: SeriesRows,
  time: TimeColumn,
  missing: MeasureColumn["missing"],
  { start: first, end: last, timeZone }: TimeRange,
): SeriesRows {
  // Rows no further apart than this miss no bucket between them.
  const length = usualLength(time.every);
  const { x } = series;
  const isZero = missing === "zero";
  const y = isZero ? 0 : NaN;
  const added: Missing[] = [];
  const startOf = (at: number): Date => bucketStart(new Date(at), time.every, timeZone);
  const after = (at: number): number => +nextBucket(startOf(at), time.every, timeZone);
  /** Fills the buckets from `start` up to, and without, the one that begins at `end`. */
  const fill = (place: number, start: number, end: number): void => {
    if (!(start < end)) return;
    added.push({ place, x: start, y });
    const until = +startOf(end - 1);
    if (isZero && until > start) added.push({ place, x: until, y });
  };
  if (isZero) fill(0, +startOf(+first), x[0]!);
  for (let place = 1; place < x.length; place++) {
    const [before, at] = [x[place - 1]!, x[place]!];
    if (at - before > length) fill(place, after(before), at);
  }
  if (isZero) fill(x.length, after(x.at(-1)!), after(+last - 1));
  return withAdded(series, added);
}
