import { findExtremes, noExtremes } from "../../src/result/downsample/m4.js";

/** What peers pick rows by, to compare with; each loses peaks or shapes that `auto` keeps. */
export const PEERS = {
  lttb,
  minMaxLttb,
  minMax: (_x: Float64Array, y: Float64Array, count: number) => minMax(y, count),
};

/**
 * The lowest and the highest row of each bucket, the buckets holding equally many rows. A bucket
 * without a finite y keeps its first row, so that the gap stays.
 *
 * @param count most rows to keep, at least 1; 2 a bucket.
 * @returns row numbers, ascending.
 */
export function minMax(y: Float64Array, count: number): Int32Array {
  const length = y.length;
  const buckets = Math.max(1, Math.floor(count / 2));
  if (length <= count) return Int32Array.from({ length }, (_, row) => row);
  const rows = new Int32Array(2 * buckets);
  const found = noExtremes();
  let size = 0;
  for (let bucket = 0, from = 0; bucket < buckets; bucket++) {
    const to = Math.floor(((bucket + 1) * length) / buckets);
    findExtremes(y, from, to, found);
    if (found.first < 0) rows[size++] = found.firstGap;
    else {
      const { lowest, highest } = found;
      rows[size++] = Math.min(lowest, highest);
      if (lowest !== highest) rows[size++] = Math.max(lowest, highest);
    }
    from = to;
  }
  return rows.subarray(0, Math.min(size, count));
}

/**
 * Largest triangle, three buckets: of each bucket the row that spans the largest triangle with the
 * row kept before and the mean of the bucket after. Can lose the global maximum.
 *
 * A bucket without a finite y keeps its first row, so that the gap stays.
 *
 * Source: Steinarsson, Downsampling Time Series for Visual Representation, 2013.
 *
 * @param x ascending, finite. @param y as long as x. @param count rows to keep, at least 3.
 * @returns row numbers, ascending.
 */
export function lttb(x: Float64Array, y: Float64Array, count: number): Int32Array {
  const length = x.length;
  if (length <= count) return Int32Array.from({ length }, (_, row) => row);
  if (count < 3) return Int32Array.of(0, length - 1).subarray(0, Math.max(0, count));
  const rows = new Int32Array(count);
  const every = (length - 2) / (count - 2);
  const mean: Mean = { x: 0, y: 0 };
  let kept = 0;
  for (let bucket = 0, from = 1; bucket < count - 2; bucket++) {
    const to = Math.min(length - 1, Math.floor((bucket + 1) * every) + 1);
    const after = Math.min(length, Math.floor((bucket + 2) * every) + 1);
    meanOf(x, y, to, after, mean);
    const row = largestTriangle(x, y, from, to, kept, mean);
    rows[bucket + 1] = row;
    // A gap is no corner of a triangle.
    if (Number.isFinite(y[row]!)) kept = row;
    from = to;
  }
  rows[count - 1] = length - 1;
  return rows;
}

interface Mean {
  x: number;
  y: number;
}

function meanOf(x: Float64Array, y: Float64Array, from: number, to: number, out: Mean): void {
  let sumX = 0;
  let sumY = 0;
  for (let i = from; i < to; i++) {
    sumX += x[i]!;
    sumY += y[i]!;
  }
  out.x = sumX / (to - from);
  out.y = sumY / (to - from);
  if (!Number.isFinite(out.y)) out.y = finiteMean(y, from, to);
}

function finiteMean(y: Float64Array, from: number, to: number): number {
  let sum = 0;
  let count = 0;
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(y[i]!)) continue;
    sum += y[i]!;
    count++;
  }
  return count > 0 ? sum / count : 0;
}

function largestTriangle(
  x: Float64Array,
  y: Float64Array,
  from: number,
  to: number,
  kept: number,
  mean: Mean,
): number {
  const x0 = x[kept]!;
  const y0 = Number.isFinite(y[kept]!) ? y[kept]! : mean.y;
  const dx = x0 - mean.x;
  const dy = mean.y - y0;
  let best = -1;
  let row = from;
  for (let i = from; i < to; i++) {
    // Infinity and NaN give an area that is not above `best` and below Infinity.
    const area = Math.abs(dx * (y[i]! - y0) - (x0 - x[i]!) * dy);
    if (area > best && area < Infinity) {
      best = area;
      row = i;
    }
  }
  return row;
}

/**
 * LTTB over the lowest and highest rows of 2 × `count` buckets: nearly LTTB's choice, faster.
 *
 * Source: Van Der Donckt et al., MinMaxLTTB, IEEE VIS 2023, with their preselection ratio of 4.
 *
 * @param x ascending, finite. @param y as long as x. @param count rows to keep, at least 3.
 * @returns row numbers, ascending.
 */
export function minMaxLttb(x: Float64Array, y: Float64Array, count: number): Int32Array {
  if (x.length <= 4 * count) return lttb(x, y, count);
  const inner = minMax(y.subarray(1, y.length - 1), 4 * count);
  const chosen = new Int32Array(inner.length + 2);
  for (let i = 0; i < inner.length; i++) chosen[i + 1] = inner[i]! + 1;
  chosen[chosen.length - 1] = x.length - 1;
  const someX = new Float64Array(chosen.length);
  const someY = new Float64Array(chosen.length);
  for (let i = 0; i < chosen.length; i++) {
    someX[i] = x[chosen[i]!]!;
    someY[i] = y[chosen[i]!]!;
  }
  return lttb(someX, someY, count).map((row) => chosen[row]!);
}
