/**
 * Evenly spaced rows, the first one and the last one among them. Loses every spike between.
 *
 * @returns `count` row numbers, ascending; all rows where there are no more.
 */
export function everyNth(length: number, count: number): Int32Array {
  const size = Math.min(length, Math.max(0, Math.floor(count)));
  const rows = new Int32Array(size);
  const step = size > 1 ? (length - 1) / (size - 1) : 0;
  for (let i = 0; i < size; i++) rows[i] = Math.round(i * step);
  return rows;
}
