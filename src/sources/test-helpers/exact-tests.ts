import { createRequire } from "node:module";

// Loaded with the first verdict: importing probelab need not.
const require = createRequire(import.meta.url);

/**
 * Computes Fisher's exact test, one-sided: the chance that at least `failed` of `tried` fail in one
 * group if failures were spread evenly over both. Exact for any counts, also far out in the tail,
 * where a library's `1 - cdf` is rounding (docs/decisions.md).
 *
 * Source: R. A. Fisher, "On the interpretation of χ² from contingency tables, and the calculation
 * of P", Journal of the Royal Statistical Society 85 (1), 1922.
 *
 * @returns p, from 0 to 1; 1 where one of the groups is empty.
 * @example
 * fisherMore(3, 4, 1, 4); // 0.242857…: 17/70, the lady tasting tea with one cup of each wrong
 */
export function fisherMore(
  failed: number,
  tried: number,
  restFailed: number,
  restTried: number,
): number {
  if (tried <= 0 || restTried <= 0) return 1;
  const all = tried + restTried;
  const allFailed = failed + restFailed;
  const least = Math.max(0, allFailed - restTried);
  const most = Math.min(tried, allFailed);
  if (failed <= least) return 1;
  /** P(X = x + 1) / P(X = x). */
  const step = (x: number) =>
    ((tried - x) * (allFailed - x)) / ((x + 1) * (restTried - allFailed + x + 1));
  const chance = (x: number) =>
    Math.exp(logChoose(tried, x) + logChoose(restTried, allFailed - x) - logChoose(all, allFailed));
  // Terms shrink away from the mean: the tail beyond it ends soon, and the other is its complement.
  if (failed > (tried * allFailed) / all) return Math.min(1, tail(failed, most, chance, step, 1));
  return Math.max(0, 1 - tail(failed - 1, least, chance, (x) => 1 / step(x - 1), -1));
}

/**
 * Computes the exact binomial test, one-sided: the chance that at least `failed` of `tried` fail
 * where each fails with the chance `share`.
 *
 * Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
 * case of the binomial", Biometrika 26 (4), 1934.
 *
 * @param share above 0 and below 1.
 * @returns p, from 0 to 1.
 * @example
 * binomialMore(2, 2, 0.1); // 0.01
 */
export function binomialMore(failed: number, tried: number, share: number): number {
  if (failed <= 0) return 1;
  const chance = (x: number) =>
    Math.exp(logChoose(tried, x) + x * Math.log(share) + (tried - x) * Math.log1p(-share));
  const step = (x: number) => ((tried - x) * share) / ((x + 1) * (1 - share));
  if (failed > tried * share) return Math.min(1, tail(failed, tried, chance, step, 1));
  return Math.max(0, 1 - tail(failed - 1, 0, chance, (x) => 1 / step(x - 1), -1));
}

function tail(
  from: number,
  to: number,
  chance: (x: number) => number,
  ratio: (x: number) => number,
  direction: 1 | -1,
): number {
  let term = chance(from);
  let sum = term;
  for (let x = from; x !== to && term > sum * 1e-17; x += direction) sum += term *= ratio(x);
  return sum;
}

function logChoose(n: number, k: number): number {
  const { gammaln } = require("simple-statistics") as { gammaln: (x: number) => number };
  return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1);
}
