import { emptyExtremes, findExtremes } from "./extremes.js";

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
  const found = emptyExtremes();
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
