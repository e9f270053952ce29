import { emptyExtremes, findExtremes } from "../kernels/extremes.js";

/** The lowest and the highest row of a series, or its first row where no y is finite. */
export function extremeRows(y: Float64Array): Int32Array {
  if (y.length === 0) return new Int32Array(0);
  const found = emptyExtremes();
  findExtremes(y, 0, y.length, found);
  const { first, lowest, highest } = found;
  if (first < 0) return Int32Array.of(0);
  if (lowest === highest) return Int32Array.of(lowest);
  return Int32Array.of(Math.min(lowest, highest), Math.max(lowest, highest));
}
