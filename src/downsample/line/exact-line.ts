import { emptyExtremes, findExtremes } from "../kernels/extremes.js";
import { keepExtremes } from "../kernels/m4.js";
import { nextColumn, type PixelAxis } from "../kernels/pixel-axis.js";

/**
 * M4 that also keeps the gaps inside a pixel column where they can be seen: where the values before
 * and after it have no height in common. More than 4 rows a column only there.
 *
 * @param x ascending, finite. @param y NaN or infinite in a gap.
 * @returns row numbers, ascending; each gap as one of its rows.
 */
export function exactLine(x: Float64Array, y: Float64Array, axis: PixelAxis): Int32Array {
  let rows: Int32Array = new Int32Array(Math.min(x.length, 6 * (axis.columns + 1)));
  const found = emptyExtremes();
  let size = 0;
  for (let from = 0, guess = 1; from < x.length;) {
    const to = nextColumn(x, from, axis, guess);
    findExtremes(y, from, to, found);
    const { first, last, firstGap, lastGap } = found;
    if (first < 0 && size > 0 && !Number.isFinite(y[rows[size - 1]!]!)) {
      // The gap goes on: it has its row already.
    } else if (firstGap < 0 || first < 0 || lastGap < first || firstGap > last) {
      size = keepExtremes(found, rows, size);
    } else {
      const room = size + 2 * (to - from) + 6 * (axis.columns + 1);
      if (rows.length < room) rows = grow(rows, room);
      size = keepRuns(y, from, to, rows, size);
    }
    guess = to - from;
    from = to;
  }
  return rows.subarray(0, size);
}

function keepRuns(
  y: Float64Array,
  from: number,
  to: number,
  rows: Int32Array,
  start: number,
): number {
  const pending = emptyExtremes();
  const run = emptyExtremes();
  let size = start;
  let gap = -1;
  for (let i = from; i < to;) {
    if (!Number.isFinite(y[i]!)) {
      if (gap < 0) gap = i;
      i++;
      continue;
    }
    let end = i + 1;
    while (end < to && Number.isFinite(y[end]!)) end++;
    findExtremes(y, i, end, run);
    const seen =
      pending.first >= 0 &&
      (y[run.lowest]! > y[pending.highest]! || y[run.highest]! < y[pending.lowest]!);
    if (pending.first < 0 || seen) {
      if (seen) size = keepExtremes(pending, rows, size);
      if (gap >= 0) rows[size++] = gap;
      Object.assign(pending, run);
    } else {
      if (y[run.lowest]! < y[pending.lowest]!) pending.lowest = run.lowest;
      if (y[run.highest]! > y[pending.highest]!) pending.highest = run.highest;
      pending.last = run.last;
    }
    gap = -1;
    i = end;
  }
  size = keepExtremes(pending, rows, size);
  if (gap >= 0) rows[size++] = gap;
  return size;
}

function grow(rows: Int32Array, length: number): Int32Array {
  const larger = new Int32Array(length);
  larger.set(rows);
  return larger;
}
