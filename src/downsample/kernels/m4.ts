import { emptyExtremes, findExtremes, type Extremes } from "./extremes.js";
import { nextColumn, type PixelAxis } from "./pixel-axis.js";

/**
 * M4: the first, the last, the lowest and the highest row of each pixel column, which draw the
 * same line as all rows do (without anti-aliasing, at that width).
 *
 * Among equal values the earliest row is taken. A y that is NaN or infinite breaks the line: a
 * column keeps the first such row where it holds nothing else, else the first one if it comes before
 * all others and the last one if it comes after them; a gap inside a column is not kept.
 *
 * Source: Jugel, Jerzak, Hackenbroich, Markl: M4, PVLDB 7(10), 2014, with one further column for an
 * x at the very end of the axis.
 *
 * @param x ascending, finite.
 * @param y as long as x.
 * @returns row numbers, ascending: at most 4 a column, 6 where the line has gaps.
 * @example
 * const x = Float64Array.of(0, 1, 2, 3, 4);
 * const y = Float64Array.of(5, 9, 1, 6, 7);
 * m4(x, y, pixelAxis(0, 4, 1)); // Int32Array [0, 1, 2, 3, 4]
 */
export function m4(x: Float64Array, y: Float64Array, axis: PixelAxis): Int32Array {
  const rows = new Int32Array(Math.min(x.length, 6 * (axis.columns + 1)));
  const found = emptyExtremes();
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

/** Appends the rows of one column to `rows`, in order; returns the new size. */
export function keepExtremes(found: Extremes, rows: Int32Array, start: number): number {
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
