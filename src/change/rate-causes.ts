import { median } from "../base/statistics.js";
import { cuboidsOf, sumOver, sumsBy, sumsIn, type Cuboid, type Leaves } from "./cuboids.js";
import { greedy, type Found, type Score } from "./search.js";
import { CHI_SQUARED, priceOf, USUAL } from "./thresholds.js";

/** A rate of each leaf, before and after: `part` of `all` rows, or a sum over them. */
export interface RateLeaves extends Leaves {
  readonly allBefore: Float64Array;
  readonly partBefore: Float64Array;
  readonly allAfter: Float64Array;
  readonly partAfter: Float64Array;
  /** Of a mean: the variance of a row's value by the square of its expectation. */
  readonly variation?: number;
  /** Variances of the parts; missing for a share and a mean, where they follow from it. */
  readonly spreadBefore?: Float64Array;
  readonly spreadAfter?: Float64Array;
  /** A rate that moved by less than this part of itself is ordinary; default 5 %. */
  readonly usual?: number;
  /** The least factor of the variances given; default 0.01. */
  readonly leastNoise?: number;
}

/** What each row of an element weighs against what it explains: half. */
const BREADTH = 0.5;
/** Rows of the expected rate that an element's own rate of before is mixed with. */
const PRIOR_ROWS = 5;
/** The least part of the change that a cause after the first explains. */
const LEAST_PART = 0.2;
/** The least part of the change that must be left for a cause after the first. */
const LEAST_LEFT = 0.1;
/** Standard errors from which the whole moved; below, its parts may cancel. */
const MOVED = 2;
/** Fewer groups can't tell how much rates scatter. */
const LEAST_GROUPS = 12;
const LEAST_PAIRS = 100;
/** Groups as noisy as rows drawn alone that are taken as seen: pairs overlap, so that few tell less than they seem to. */
const PRIOR_GROUPS = 10;

/** An element with more of the rows is all of them. */
const ALL = 0.98;

/** Sums over rows: all and part before, all and part after, what was usual of the latter, and the parts' variances where they are given. */
type Sums<Value> = [
  n0: Value,
  s0: Value,
  n1: Value,
  s1: Value,
  usual: Value,
  v0?: Value,
  v1?: Value,
];

/**
 * The elements that made a rate change.
 *
 * An element explains the part e of the whole's excess: what it has beyond its own rate of before.
 * The score is e − w / 2, where w is its part of the rows: a wide element is worth naming only where
 * it explains more than its width does. Adtributor (R. Bhagwan and others, NSDI 2014) ranks by e and by
 * surprise; the weight ½ stands between "all of the excess" (0) and "the greatest lift" (1). Where the
 * whole's change is chance, its parts may cancel: there the score is the likelihood ratio, as of counts.
 * Each cause must be beyond chance: a binomial (or given) variance, times the dispersion of other
 * groups, with a price for the choice.
 */
export function rateCauses(
  given: RateLeaves,
  cuboids: readonly Cuboid[] = cuboidsOf(given),
): { readonly causes: readonly Found[]; readonly noise: number } {
  const { allBefore, partBefore, allAfter, partAfter, spreadBefore, spreadAfter } = given;
  const spreads = spreadBefore && spreadAfter ? [spreadBefore, spreadAfter] : [];
  const columns = [
    ...[allBefore, partBefore, allAfter, partAfter, usualParts(given)],
    ...spreads,
  ] as Sums<Float64Array>;
  const whole = columns.map((column) => sumOver(column!)) as Sums<number>;
  const [n0, s0, n1, s1] = whole;
  const excess = s1 - (n1 * s0) / n0;
  if (!(n0 > 0 && n1 > 0) || excess === 0) return { causes: [], noise: 1 };
  const rate = s0 / n0;
  const out = new Uint8Array(allBefore.length);
  let causes: readonly Found[] = [];
  let noise = 1;
  // The noise is that of rows that no cause explains, known once causes are found.
  for (const known of [undefined, out]) {
    noise = dispersion(given, rate, cuboids, columns, known);
    const error = standardErrors(whole, noise, given.variation);
    const moved = spreads.length === 0 && Math.abs(error) >= MOVED ? excess : undefined;
    out.fill(0);
    causes = greedy(given, cuboids, rateScore(given, noise, cuboids, columns, moved), out);
    if (causes.length === 0) break;
  }
  return { causes, noise };
}

/** @param excess what the whole has beyond its rate of before; undefined where that is chance. */
function rateScore(
  { usual = USUAL, allAfter, variation }: RateLeaves,
  noise: number,
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
  excess: number | undefined,
): Score {
  const all = sumOver(allAfter);
  const beyondOf = ([n0, s0, n1, s1, usual]: Sums<number>) => {
    const own = (s0 + (PRIOR_ROWS * usual) / n1) / (n0 + PRIOR_ROWS);
    return { own, beyond: s1 - n1 * own };
  };
  let left = excess ?? 1;
  let remaining = all;
  let first = true;
  return {
    columns: columns as Float64Array[],
    best(at, sums, above) {
      const cuboid = cuboids[at]!;
      const price = priceOf(cuboids.length, cuboid.groups);
      let [best, score] = [-1, above];
      if (excess !== undefined && Math.abs(left) <= LEAST_LEFT * Math.abs(excess)) return undefined;
      for (let group = 0; group < cuboid.groups; group += 1) {
        const n1 = sums[2]![group]!;
        // What is left of a group whose leaves are out is rounding.
        if (n1 < 1e-3 || n1 > ALL * remaining) continue;
        const four = sums.map((of) => of[group]!) as Sums<number>;
        const { own, beyond } = beyondOf(four);
        if (Math.abs(beyond) < usual * n1 * Math.abs(own)) continue;
        const part = excess === undefined ? 0 : beyond / excess;
        if (excess !== undefined && !first && part < LEAST_PART) continue;
        // Of causes after the first also those that are wide for what they explain.
        const explains = part - (BREADTH * n1) / all + (first ? 0 : 1);
        if (excess !== undefined && !(explains > score)) continue;
        const z = standardErrors(four, noise, variation);
        // The tail of a normal distribution is thinner than its density.
        const tail = (z * z) / 2 + Math.log(Math.max(1, Math.PI * z * z * 0.5)) / 2;
        const chance = tail - price;
        if (chance < 0 || (excess === undefined && !(chance > score))) continue;
        score = excess === undefined ? chance : explains;
        best = group;
      }
      return best < 0 ? undefined : { group: best, score };
    },
    taken(_, sums) {
      left -= beyondOf(sums as Sums<number>).beyond;
      remaining -= sums[2]!;
      first = false;
    },
  };
}

/**
 * How far a rate moved, in standard errors: of a share the signed root of its deviance, which holds of
 * few rows as well; of a mean the same of a gamma distribution; of other rates by the variances given.
 */
function standardErrors(sums: Sums<number>, noise: number, variation?: number): number {
  const [all0, part0, n1, s1, usual, v0, v1] = sums;
  const n0 = all0 + PRIOR_ROWS;
  const s0 = part0 + (PRIOR_ROWS * usual) / n1;
  const moved = s1 / n1 - s0 / n0;
  if (variation !== undefined) {
    if (!(s0 + s1 > 0)) return 0;
    // What is 0 altogether isn't likely without end.
    const term = (part: number, n: number) =>
      -n * Math.log(Math.max(part / n, (1e-6 * (s0 + s1)) / (n0 + n1)));
    const deviance = (2 * (term(s0, n0) + term(s1, n1) - term(s0 + s1, n0 + n1))) / variation;
    return Math.sign(moved) * Math.sqrt(Math.max(0, deviance) / noise);
  }
  if (v0 !== undefined || s0 > n0 || s1 > n1) {
    const pooled = (s0 + s1) / (n0 + n1);
    const [own0, own1] =
      v0 === undefined ? [pooled * n0, pooled * n1] : [v0 + (v1! * PRIOR_ROWS) / n1, v1!];
    const variance = (own1 / n1 ** 2 + own0 / n0 ** 2) * noise;
    return variance > 0 ? moved / Math.sqrt(variance) : 0;
  }
  const deviance = 2 * (likelihood(s0, n0) + likelihood(s1, n1) - likelihood(s0 + s1, n0 + n1));
  return Math.sign(moved) * Math.sqrt(Math.max(0, deviance) / noise);
}

/**
 * What was usual of each leaf's rows of after: the rate of before of its value of the dimension whose
 * values differ most in it. A program that always failed more isn't measured against all others.
 */
function usualParts({ sizes, codes, allBefore, partBefore, allAfter }: RateLeaves): Float64Array {
  const rate = sumOver(partBefore) / sumOver(allBefore);
  let most = 0;
  let rates: Float64Array = new Float64Array(1).fill(rate);
  let own: Int32Array = new Int32Array(allAfter.length);
  sizes.forEach((size, dimension) => {
    const n = sumsIn(codes[dimension]!, allBefore, size);
    const part = sumsIn(codes[dimension]!, partBefore, size);
    const each = n.map((rows, at) => (part[at]! + PRIOR_ROWS * rate) / (rows + PRIOR_ROWS));
    const spread = each.reduce((sum, value, at) => sum + n[at]! * (value - rate) ** 2, 0) / size;
    if (spread > most) [most, rates, own] = [spread, each, codes[dimension]!];
  });
  return allAfter.map((rows, leaf) => rows * rates[own[leaf]!]!);
}

/** Logarithm of the greatest likelihood of a part of n rows. */
function likelihood(part: number, n: number): number {
  const term = (part: number) => (part > 0 ? part * Math.log(part / n) : 0);
  return term(part) + term(n - part);
}

/**
 * How much more rates vary than rows drawn alone would: the median of the squared standard errors of
 * leaves and pairs of values by that of a chi-squared (a robust form of the overdispersion of
 * McCullagh and Nelder, Generalized Linear Models, 1989, 4.5). They are measured against what the
 * whole did, and against what their value of each dimension did; the least counts, so that a value
 * with most leaves isn't its own noise.
 */
function dispersion(
  { sizes, codes, spreadBefore, variation, leastNoise = 0.01 }: RateLeaves,
  rate: number,
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
  out: Uint8Array | undefined,
): number {
  const sums = columns.map((column) => sumsBy(cuboids, column!, { out }));
  const spread = (part: number) =>
    variation === undefined ? Math.max(1e-6, part * (1 - part)) : variation * part * part;
  let noise = 1;
  // Of a share few pairs overlap too much to tell.
  const leastOf = (size: number) =>
    size < sizes.length && !spreadBefore ? LEAST_PAIRS : LEAST_GROUPS;
  const fewest = variation === undefined ? 5 / spread(rate) : 5 * variation;
  const values = sizes.map((size, dimension) =>
    columns.map((column) => sumsIn(codes[dimension]!, column!, size)),
  );
  // Leaves tell, where they are large enough; else pairs of values.
  for (const size of new Set(spreadBefore ? [sizes.length, 2] : [sizes.length])) {
    const squares: number[][] = [[], ...sizes.map(() => [])];
    cuboids.forEach(({ dimensions, groups, example }, at) => {
      for (let group = 0; group < groups && dimensions.length === size; group += 1) {
        const own = sums.map((of) => of[at]![group]!) as Sums<number>;
        const [n0, s0, n1, s1, , v0, v1] = own;
        const n = Math.min(n0, n1);
        // Groups where fewer than five are expected aren't nearly normal.
        if (n < 10 || (v0 === undefined && n < fewest)) continue;
        squares[0]!.push(standardErrors(own, 1, variation) ** 2);
        for (const dimension of out === undefined ? dimensions : []) {
          const code = codes[dimension]![example[group]!]!;
          const [N0, S0, N1, S1] = values[dimension]!.map((of) => of[code]!) as Sums<number>;
          // A group that makes up its value tells nothing beside it.
          if (n1 > N1 / 2) continue;
          const moved = s1 / n1 - s0 / n0 - (S1 / N1 - S0 / N0);
          const variance =
            v0 === undefined
              ? spread(S0 / N0) / n0 + spread(S1 / N1) / n1
              : v0 / n0 ** 2 + v1! / n1 ** 2;
          if (variance > 0) squares[dimension + 1]!.push(moved ** 2 / variance);
        }
      }
    });
    const noises = squares
      .filter(({ length }) => length >= leastOf(size))
      .map((some) => {
        const own = median(some) / CHI_SQUARED;
        return (some.length * own + PRIOR_GROUPS) / (some.length + PRIOR_GROUPS);
      });
    if (noises.length === 0) continue;
    const least = Math.max(spreadBefore ? leastNoise : 1, Math.min(...noises));
    // Rows of a run scatter together, which wider groups show more of.
    if (spreadBefore) return least;
    noise = Math.max(noise, least);
  }
  return noise;
}
