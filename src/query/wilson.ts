/** Standard normal quantiles of two-sided intervals. */
export const CONFIDENCES = {
  0.9: 1.6448536269514722,
  0.95: 1.959963984540054,
  0.99: 2.5758293035489004,
} as const;

/** The confidence level of an interval. */
export type Confidence = keyof typeof CONFIDENCES;

/**
 * The Wilson score interval of a share: it stays within 0 and 1 and holds the true share about as
 * often as it says, for few trials and rare failures too.
 *
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 * Journal of the American Statistical Association 22 (158), 1927; recommended by L. D. Brown,
 * T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Statistical Science
 * 16 (2), 2001.
 *
 * @returns its ends, 0 to 1; null where nothing was tried.
 * @example
 * wilson(1, 10); // { low: 0.0179, high: 0.4042 }, rounded
 */
export function wilson(
  failed: number,
  tried: number,
  confidence: Confidence = 0.95,
): { low: number; high: number } | null {
  if (!(tried > 0)) return null;
  const z = CONFIDENCES[confidence];
  const share = failed / tried;
  const weight = 1 + (z * z) / tried;
  const middle = (share + (z * z) / (2 * tried)) / weight;
  const half =
    (z / weight) * Math.sqrt((share * (1 - share)) / tried + (z * z) / (4 * tried * tried));
  // Rounding would leave 1e-19 where the interval ends at the edge.
  return {
    low: failed === 0 ? 0 : Math.max(0, middle - half),
    high: failed === tried ? 1 : Math.min(1, middle + half),
  };
}
