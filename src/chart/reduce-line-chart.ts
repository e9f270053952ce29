import type { ColumnTable } from "arquero";
import { newTable } from "../result/arquero-table.js";
import type { MeasureColumn, TimeColumn } from "../result/origin.js";
import { bucketStart, nextBucket } from "../time/bucket.js";
import { durationText } from "../time/span.js";
import { usualLength } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { lineSentence } from "../result/downsample/downsample.js";
import { reduceLines, type ReducedLine } from "../result/downsample/reduce-lines.js";
import {
  extent,
  heightColumn,
  numericColumn,
  splitSeries,
  type SeriesRows,
} from "../result/downsample/series.js";
import { PLOT, type Options } from "./options.js";
import type { Reduced, Roles, Work } from "./roles.js";

/** The columns of a line. */
interface LineColumns {
  readonly x: string;
  readonly y: string;
  /** Column whose values are the series; without it there is one. */
  readonly series: string | undefined;
}

/**
 * The rows that draw the lines of a Result. Missing buckets become rows: else a line would run straight
 * through a week of none. Of rows whose buckets nobody knows, they are those of the step that most of them have.
 */
export function reduceLineChart(
  { result, lines }: Work,
  { x: along, y, xKind, facet }: Roles,
  { width, height, yType, yZero }: Options,
  maxRows: number,
): Reduced {
  const plan = { x: along, y, series: lines };
  const isTimed = xKind === "time";
  const { table, origin } = result;
  const { time, measures } = origin.columns;
  const missing = measures.find(({ name }) => name === plan.y)?.missing;
  const { range } = origin;
  const fills = time?.name === plan.x && missing !== undefined && range !== undefined;
  const unchanged = { sentences: [], result };
  if (!fills && !isTimed && table.numRows() <= maxRows) return unchanged;
  const x = numericColumn(table, plan.x);
  const split = splitSeries(table, plan.series, x.values, heightColumn(table, plan.y, yType));
  // The picture that rows are thinned for has "other" below, too.
  const below = origin.columns.dimensions.find(({ name }) => name === lines)?.other;
  const isBelow = ({ key }: SeriesRows): number => Number(key === below);
  split.sort((a, b) => isBelow(b) - isBelow(a));
  const steps = new Set<number>();
  const series = split.map((series) => {
    if (fills) return fillMissing(series, time, missing, range);
    const step = isTimed ? usualStep(series.x) : undefined;
    const broken = step === undefined ? series : breakGaps(series, step);
    if (broken !== series) steps.add(step!);
    return broken;
  });
  const gaps = [...steps].slice(0, 1).map(gapSentence);
  const added = series.reduce(
    (sum, filled) => sum + filled.rows.filter((row) => row < 0).length,
    0,
  );
  if (table.numRows() + added <= maxRows) {
    if (added === 0) return unchanged;
    const whole = drawnTable(table, plan, x.dates, series);
    return { sentences: [], gaps, result: result.with(whole.table, origin) };
  }
  const [start, end] = extent(series);
  const plot = {
    ...{ start, end, width: width ?? PLOT.width, height: height ?? PLOT.height },
    ...{ zero: yZero !== false, apart: facet !== undefined, log: yType === "log" },
  };
  const line = reduceLines(series, plot, maxRows, true);
  const { table: reduced, tops } = drawnTable(table, plan, x.dates, series, line.lines);
  const banded = tops.some((top) => top !== undefined);
  const sentences = [
    lineSentence(table.numRows(), reduced.numRows(), line.differs),
    ...(banded ? ["Where values are dense, a band from the lowest to the highest."] : []),
  ];
  return { sentences, gaps, result: result.with(reduced, origin), ...(banded && { tops }) };
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
function withMissing(series: SeriesRows, missing: readonly Missing[]): SeriesRows {
  if (missing.length === 0) return series;
  const size = series.x.length + missing.length;
  const rows = new Int32Array(size).fill(-1);
  const [x, y] = [new Float64Array(size), new Float64Array(size)];
  const copy = (from: number, until: number, to: number): void => {
    rows.set(series.rows.subarray(from, until), to);
    x.set(series.x.subarray(from, until), to);
    y.set(series.y.subarray(from, until), to);
  };
  let from = 0;
  for (const [added, each] of missing.entries()) {
    copy(from, each.place, from + added);
    from = each.place;
    x[from + added] = each.x;
    y[from + added] = each.y;
  }
  copy(from, series.x.length, from + missing.length);
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
  return withMissing(series, gaps);
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
  return withMissing(series, added);
}

/** The rows at the `kept` places of their series, or all, and those of missing buckets, in the table's order. */
function drawnTable(
  table: ColumnTable,
  plan: LineColumns,
  dates: boolean,
  series: readonly SeriesRows[],
  lines?: readonly ReducedLine[],
): { table: ColumnTable; tops: (number | undefined)[] } {
  // A row of a missing bucket stands behind the row before it, and has only these columns.
  const drawn: {
    at: number;
    row?: number;
    top?: number;
    values?: Readonly<Record<string, unknown>>;
  }[] = lines ? [] : Array.from({ length: table.numRows() }, (_, row) => ({ at: row, row }));
  series.forEach((filled, i) => {
    const kept = lines?.[i]?.kept ?? filled.rows.map((_, place) => place);
    for (const [at, place] of kept.entries()) {
      const row = filled.rows[place]!;
      const top = lines?.[i]?.highest[at] ?? place;
      if (row >= 0) {
        if (lines) drawn.push({ at: row, row, ...(top !== place && { top: filled.y[top]! }) });
        continue;
      }
      const before = filled.rows.subarray(0, place).findLast((row) => row >= 0) ?? -1;
      const [x, y] = [filled.x[place]!, filled.y[place]!];
      const values = {
        [plan.x]: dates ? new Date(x) : x,
        [plan.y]: Number.isFinite(y) ? y : null,
        ...(plan.series !== undefined && { [plan.series]: filled.key }),
      };
      drawn.push({ at: before + 0.5, values });
    }
  });
  drawn.sort((a, b) => a.at - b.at);
  const columns = table.columnNames().map((name): [string, unknown[]] => {
    const value = table.getter(name);
    return [
      name,
      drawn.map(({ row, values }) =>
        row === undefined ? (values?.[name] ?? null) : (value(row) as unknown),
      ),
    ];
  });
  return { table: newTable(table, columns), tops: drawn.map(({ top }) => top) };
}
