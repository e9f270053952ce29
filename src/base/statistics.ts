/** The median of numbers in any order; NaN without any. */
export function median(values: ArrayLike<number>): number {
  return quantileOf(Float64Array.from(values).sort(), 0.5);
}

/** A quantile of sorted numbers, interpolated linearly (R-7, as NumPy and d3); NaN without any. */
export function quantileOf(sorted: ArrayLike<number>, level: number): number {
  const place = (sorted.length - 1) * level;
  const below = sorted[Math.floor(place)] ?? NaN;
  return below + (place - Math.floor(place)) * ((sorted[Math.ceil(place)] ?? NaN) - below);
}

/** The greatest of numbers; −Infinity without any. `Math.max(...values)` overflows the stack at some 120,000. */
export function greatest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** The least of numbers; Infinity without any. */
export function smallest(values: Iterable<number>): number {
  let fewest = Infinity;
  for (const value of values) fewest = Math.min(fewest, value);
  return fewest;
}
