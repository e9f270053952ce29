import { ProbelabError } from "../../base/error.js";

/** A horizontal axis cut into pixel columns of equal width. */
export interface PixelAxis {
  /** x at the left edge of column 0. */
  readonly start: number;
  /** Columns per unit of x; 0 where all x are equal. */
  readonly scale: number;
  /** How many columns; an x at the very end of the axis lies in one further column. */
  readonly columns: number;
}

/** The axis in pixel columns. @throws ProbelabError where it is longer than a number can hold. */
export function pixelAxis(start: number, end: number, columns: number): PixelAxis {
  const span = end - start;
  if (!Number.isFinite(span)) {
    throw new ProbelabError(
      `Can't cut an axis from ${start} to ${end} into pixel columns: leave out the rows with such an x.`,
    );
  }
  const scale = span > 0 ? Math.min(columns / span, Number.MAX_VALUE) : 0;
  return { start, scale, columns };
}

/**
 * The pixel column of an x. ClickHouse computes the same expression in query/m4-sql.ts: keep the order
 * of operations, so that the two round alike.
 */
export function pixelColumn(x: number, axis: PixelAxis): number {
  const column = Math.floor((x - axis.start) * axis.scale);
  return column < 0 ? 0 : column > axis.columns ? axis.columns : column;
}

/**
 * M4: the first, the last, the lowest and the highest row of each pixel column, which draw the
 * same line as all rows do (without anti-aliasing, at that width).
 *
 * Among equal values the earliest row is taken. A y that is NaN or infinite breaks the line: a
 * column keeps the first such row where it holds nothing else, else the first one if it comes before
 * all others and the last one if it comes after them.
 *
 * Source: Jugel, Jerzak, Hackenbroich, Markl: M4, PVLDB 7(10), 2014, with one further column for an
 * x at the very end of the axis.
 *
 * @param x ascending, finite; y is as long.
 * @returns row numbers, ascending: at most 4 a column, 6 where the line has gaps.
 */
export function m4(x: Float64Array, y: Float64Array, axis: PixelAxis): Int32Array {
  const rows = new Int32Array(Math.min(x.length, 6 * (axis.columns + 1)));
  const found = noExtremes();
  let size = 0;
  for (let from = 0, guess = 1; from < x.length;) {
    const to = nextColumn(x, from, axis, guess);
    findExtremes(y, from, to, found);
    size = keepExtremes(found, rows, size);
    guess = to - from;
    from = to;
  }
  return rows.subarray(0, size);
}

/** Rows of one column that a picture needs; −1 where there is none. Reused between columns. */
interface Extremes {
  /** First and last row with a finite y. */
  first: number;
  last: number;
  /** The earliest row of the lowest and of the highest finite y. */
  lowest: number;
  highest: number;
  /** First and last row without a finite y. */
  firstGap: number;
  lastGap: number;
}

/** An empty record for `findExtremes` to fill. */
export function noExtremes(): Extremes {
  return { first: -1, last: -1, lowest: -1, highest: -1, firstGap: -1, lastGap: -1 };
}

/** Fills `out` with the extreme rows of y in [from, to), from < to. */
export function findExtremes(y: Float64Array, from: number, to: number, out: Extremes): void {
  let low = y[from]!;
  let high = low;
  let lowest = from;
  let highest = from;
  let odd = low !== low;
  for (let i = from + 1; i < to; i++) {
    const value = y[i]!;
    if (value > high) {
      high = value;
      highest = i;
    } else if (!(value >= low)) {
      // Lower than all before, or NaN: one rare branch serves both.
      if (value < low) {
        low = value;
        lowest = i;
      } else odd = true;
    }
  }
  if (odd || low === -Infinity || high === Infinity) return findAmongGaps(y, from, to, out);
  out.first = from;
  out.last = to - 1;
  out.lowest = lowest;
  out.highest = highest;
  out.firstGap = -1;
  out.lastGap = -1;
}

function findAmongGaps(y: Float64Array, from: number, to: number, out: Extremes): void {
  let [first, last, lowest, highest, firstGap, lastGap] = [-1, -1, -1, -1, -1, -1];
  let [low, high] = [Infinity, -Infinity];
  for (let i = from; i < to; i++) {
    const value = y[i]!;
    if (value - value !== 0) {
      if (firstGap < 0) firstGap = i;
      lastGap = i;
      continue;
    }
    if (first < 0) first = i;
    last = i;
    if (value < low) [low, lowest] = [value, i];
    if (value > high) [high, highest] = [value, i];
  }
  Object.assign(out, { first, last, lowest, highest, firstGap, lastGap });
}

/** Appends the rows of one column to `rows`; returns the new size. */
function keepExtremes(found: Extremes, rows: Int32Array, start: number): number {
  const { first, last, lowest, highest, firstGap, lastGap } = found;
  let size = start;
  if (first < 0) {
    rows[size++] = firstGap;
    return size;
  }
  if (firstGap >= 0 && firstGap < first) rows[size++] = firstGap;
  rows[size++] = first;
  const early = Math.min(lowest, highest);
  const late = Math.max(lowest, highest);
  if (early > first && early < last) rows[size++] = early;
  if (late > first && late < last && late > early) rows[size++] = late;
  if (last > first) rows[size++] = last;
  if (lastGap > last) rows[size++] = lastGap;
  return size;
}

/** The first row after `from` whose x lies right of the column of `x[from]`; x is ascending. */
function nextColumn(x: Float64Array, from: number, axis: PixelAxis, guess: number): number {
  const end = x.length;
  const column = pixelColumn(x[from]!, axis);
  // Columns hold about as many rows as the one before: look there, then double the step.
  let low = from;
  let step = Math.max(1, guess);
  let high = from + step;
  while (high < end && pixelColumn(x[high]!, axis) <= column) {
    low = high;
    step *= 2;
    high += step;
  }
  if (high > end) high = end;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (pixelColumn(x[middle]!, axis) <= column) low = middle;
    else high = middle;
  }
  return high;
}
