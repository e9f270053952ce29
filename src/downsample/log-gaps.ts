/** The values that an axis can show: on a log scale what is zero or below becomes NaN, in a copy. */
export function logGaps(y: Float64Array, yScale: "linear" | "log"): Float64Array {
  if (yScale === "linear") return y;
  return y.map((value) => (value > 0 ? value : NaN));
}
