import type { Cells } from "./cells.js";

/**
 * At most `most` of the points: each cell keeps up to the same number of its own, evenly spaced in
 * their order, so that cells with few keep all. The lowest and highest x and y stay.
 *
 * @returns point numbers, in no order.
 */
export function thinCells(
  cells: Cells,
  x: Float64Array,
  y: Float64Array,
  most: number,
): Int32Array {
  const kept = new Set<number>();
  for (const values of most >= 8 ? [x, y] : []) {
    let low = 0;
    let high = 0;
    for (let i = 1; i < values.length; i++) {
      if (values[i]! < values[low]!) low = i;
      if (values[i]! > values[high]!) high = i;
    }
    if (values.length > 0) kept.add(low).add(high);
  }
  // The extremes may come on top of their cells' own share.
  const share = largestShare(cells.count, most - kept.size);
  const seen = new Int32Array(cells.count.length);
  for (let i = 0; i < cells.cellOf.length; i++) {
    const cell = cells.cellOf[i]!;
    const count = cells.count[cell]!;
    const turn = seen[cell]!++;
    const part = Math.min(share, count);
    // Point number `turn` is the first of its cell that reaches a further whole part.
    if (Math.floor((turn * part) / count) !== Math.floor(((turn - 1) * part) / count)) kept.add(i);
  }
  return Int32Array.from(kept);
}

/** The largest number of points a cell may keep; at least 1 where the cells themselves fit. */
function largestShare(counts: Int32Array, most: number): number {
  let low = 0;
  let high = counts.reduce((a, b) => Math.max(a, b), 0);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const sum = counts.reduce((total, count) => total + Math.min(count, middle), 0);
    if (sum <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
