/** Columns to each side that a spike must stand out from. */
const REACH = 4;

/**
 * Marks the corners that stand out: above or below all that the line does in the columns beside
 * them, by more than half the height it covers there and at least 2 pixels; a corner that is the
 * extreme of its column only. Highest first, at most `most`.
 *
 * @param columns the pixel column of each corner, ascending. @param y heights in pixels.
 * @param marks set to 1 for each spike.
 */
export function markSpikes(
  columns: Int32Array,
  y: Float64Array,
  most: number,
  marks: Uint8Array,
): void {
  const starts: number[] = [];
  for (let i = 0; i < columns.length; i++) {
    if (i === 0 || columns[i] !== columns[i - 1]) starts.push(i);
  }
  const lowest = Int32Array.from(starts);
  const highest = Int32Array.from(starts);
  starts.forEach((start, group) => {
    const end = starts[group + 1] ?? columns.length;
    for (let i = start + 1; i < end; i++) {
      if (y[i]! < y[lowest[group]!]!) lowest[group] = i;
      if (y[i]! > y[highest[group]!]!) highest[group] = i;
    }
  });
  const found: { corner: number; height: number }[] = [];
  for (let group = 0; group < starts.length; group++) {
    let low = Infinity;
    let high = -Infinity;
    for (let other = group - REACH; other <= group + REACH; other++) {
      if (other === group || other < 0 || other >= starts.length) continue;
      low = Math.min(low, y[lowest[other]!]!);
      high = Math.max(high, y[highest[other]!]!);
    }
    const enough = Math.max(2, (high - low) / 2);
    const above = y[highest[group]!]! - high;
    const below = low - y[lowest[group]!]!;
    if (above > enough) found.push({ corner: highest[group]!, height: above });
    if (below > enough) found.push({ corner: lowest[group]!, height: below });
  }
  found.sort((a, b) => b.height - a.height || a.corner - b.corner);
  for (const { corner } of found.slice(0, most)) marks[corner] = 1;
}
