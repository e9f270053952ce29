import { groupedBy, marked, sumOver, sumsIn, type Cuboid, type Leaves } from "./cuboids.js";
import { greedy, type Found, type Limits, type Score } from "./search.js";
import {
  ALIKE,
  ALIKE_RATIO,
  LEAST_REST,
  MOST_CAUSES,
  ONCE_IN_TEN,
  PRIOR,
  PART_TOLERANCE,
  CERTAIN,
  priceOf,
} from "./thresholds.js";

/** A rate of each leaf, before and after: `part` of `all` rows, or a sum over them. */
export interface RateLeaves extends Leaves {
  readonly allBefore: Float64Array;
  readonly partBefore: Float64Array;
  readonly allAfter: Float64Array;
  readonly partAfter: Float64Array;
  /** Of a mean: the variance of a row's value by the square of its expectation. */
  readonly variation?: number | undefined;
  /** A rate that moved by less than this part of itself is ordinary; default 5 %. */
  readonly usual?: number;
  /** Dimensions by which users are told apart; default: all. */
  readonly users?: readonly number[];
  /** How many times the variance of rows drawn alone is usual; 1: they don't come in runs. */
  readonly usualNoise: number;
}

/** Sums over rows: all and part before, all and part after, and what was usual of the latter. */
type Sums<Value> = [n0: Value, s0: Value, n1: Value, s1: Value, usual: Value];

export interface RateCauses {
  readonly causes: readonly Found[];
  /** Where there are none, what only may have changed: chance gives it once in ten such questions. */
  readonly maybe: Found | undefined;
  /** How many times the variance of rows drawn alone a rate has. */
  readonly noise: number;
  /** Smallest detectable move for a value with this share of rows. */
  readonly least: (part: number) => number;
}

/**
 * The elements that made a rate change, by greedy search: the element with the greatest likelihood ratio
 * (a scan statistic; M. Kulldorff, Communications in Statistics 26 (6), 1997), then again without its rows.
 * Each must be beyond chance, with a price for the choice. Users are independent, not their rows: a
 * binomial (or given) variance counts as many times as their own moves scatter.
 *
 * Of rows that don't come in runs nearly all is beyond chance. There an element explains the part e of
 * the whole's excess with the part w of the rows, and the score is e − w / 2: a wide element is worth
 * naming only where it explains more than its width does. Adtributor (R. Bhagwan and others, NSDI 2014)
 * ranks by e and by surprise; the weight ½ stands between "all of the excess" (0) and "the greatest
 * lift" (1).
 */
export function rateCauses(given: RateLeaves, cuboids: readonly Cuboid[]): RateCauses {
  const { allBefore, partBefore, allAfter, partAfter } = given;
  const columns: Sums<Float64Array> = [
    ...([allBefore, partBefore, allAfter, partAfter] as const),
    usualParts(given),
  ];
  const whole = columns.map((column) => sumOver(column)) as Sums<number>;
  const [n0, s0, n1] = whole;
  const hasRows = n0 > 0 && n1 > 0;
  const search = (noise: number, limits: Limits) =>
    hasRows
      ? greedy(given, cuboids, rateScore(given, cuboids, columns, noise, limits), limits)
      : [];
  // Users scatter as they do beside what moved most.
  const noise = noiseBeside(
    given,
    columns,
    search(given.usualNoise, { most: 1, least: -Infinity }),
  );
  const causes = search(noise, { most: MOST_CAUSES, least: 0 });
  const [first] = causes;
  if (first !== undefined) {
    const error = standardErrors(whole, noise, given.variation);
    const scaled =
      Math.abs(error) < CERTAIN / 2 ? undefined : alike(given, cuboids, first, columns, causes);
    if (scaled !== undefined) {
      return {
        ...rateCauses({ ...given, partBefore: scaled }, cuboids),
        causes: [],
        maybe: undefined,
      };
    }
  }
  const least = (part: number) => {
    const bar = Math.sqrt(2 * priceOf(cuboids.length, cuboids[0]?.groups ?? 1));
    const variance = rowVariance(given.variation, s0 / n0) * noise * (1 / n0 + 1 / n1);
    return Math.max(bar * Math.sqrt(variance / part), ((given.usual ?? PART_TOLERANCE) * s0) / n0);
  };
  const [maybe] = causes.length > 0 ? [] : search(noise, { most: 1, least: ONCE_IN_TEN });
  return { causes, maybe, noise, least };
}

/**
 * The parts of before with all odds (of a mean: all rates) times the whole's factor, if that fits the
 * groups of this cuboid much better than the causes do: where all failures double, the part that fails
 * most gains most. Else undefined.
 */
function alike(
  { variation }: RateLeaves,
  cuboids: readonly Cuboid[],
  { dimensions }: Found,
  columns: Sums<Float64Array>,
  causes: readonly Found[],
): Float64Array | undefined {
  const at = cuboids.findIndex((one) => one.dimensions.join() === dimensions.join());
  const [n0, s0, n1, s1] = columns.map((column) => sumOver(column)) as Sums<number>;
  const share = variation === undefined && s0 <= n0 && s1 <= n1 ? 1 : 0;
  const factor = (s1 / (n1 - share * s1)) * ((n0 - share * s0) / s0);
  const scaled = (parts: Float64Array, rows: Float64Array) =>
    parts.map((part, at) =>
      part > 0 ? (factor * part) / (1 + (share * (factor - 1) * part) / rows[at]!) : 0,
    );
  const sumsOf = (out?: Uint8Array) =>
    columns.map((column) => sumsIn(cuboids[at]!.parts, column, cuboids[at]!.groups, out));
  const misfit = (sums: readonly Float64Array[]) =>
    sums[2]!.reduce((sum, n1, group) => {
      const own = sums.map((of) => of[group]!) as Sums<number>;
      return n1 < 1e-3 ? sum : sum + standardErrors(own, 1, variation) ** 2;
    }, 0);
  const [N0, S0, N1, S1, usual] = sumsOf() as Sums<Float64Array>;
  const all = [N0, scaled(S0, N0), N1, S1, scaled(usual, N1)];
  return ALIKE * misfit(all) < misfit(sumsOf(marked(columns[0].length, causes)))
    ? scaled(columns[1], columns[0])
    : undefined;
}

function rateScore(
  { usual = PART_TOLERANCE, usualNoise, variation }: RateLeaves,
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
  noise: number,
  { least }: Limits,
): Score {
  const left = columns.map((column) => sumOver(column)) as Sums<number>;
  const [n0, s0, rows, parts] = left;
  const excess = parts - (rows * s0) / n0;
  // Of rows that don't come in runs nearly all is beyond chance.
  const byExcess =
    usualNoise === 1 &&
    variation === undefined &&
    Math.abs(standardErrors(left, noise, variation)) >= CERTAIN / 2;
  let first = true;
  return {
    columns: columns,
    best(at, sums, above) {
      const { groups } = cuboids[at]!;
      const price = priceOf(cuboids.length, groups);
      let [best, score] = [-1, above];
      for (let group = 0; group < groups; group += 1) {
        const n1 = sums[2]![group]!;
        // What is left of a group whose leaves are out is rounding.
        if (n1 < 1e-3 || n1 > (1 - PART_TOLERANCE) * left[2]) continue;
        const own = columns.map((_, column) => sums[column]![group]!) as Sums<number>;
        const expected = expectedOf(own);
        const beyond = own[3] - expected;
        if (Math.abs(beyond) < usual * expected) continue;
        const square = standardErrors(own, noise, variation) ** 2;
        // The tail of a normal distribution is thinner than its density.
        const tail = square / 2 + Math.log(Math.max(1, Math.PI * square * 0.5)) / 2;
        const likelier = tail - price;
        const part = beyond / excess;
        if (byExcess && (likelier < least || (!first && part < LEAST_REST))) continue;
        const worth = byExcess ? part - (ALIKE_RATIO * n1) / rows + (first ? 0 : 1) : likelier;
        if (worth > score) [score, best] = [worth, group];
      }
      return best < 0 ? undefined : { group: best, score };
    },
    taken(_, sums) {
      sums.forEach((sum, at) => (left[at]! -= sum));
      first = false;
    },
  };
}

/** The part of the rows of after, had the rate stayed as it was. */
function expectedOf([n0, s0, n1, , usual]: Sums<number>): number {
  return (n1 * s0 + PRIOR * usual) / (n0 + PRIOR);
}

/**
 * How many times the variance of rows drawn alone users' rates have (the dispersion of McCullagh and
 * Nelder, Generalized Linear Models, 1989, 4.5), once what they did together is taken out; of few users
 * as services have it.
 */
function noiseBeside(
  given: RateLeaves,
  columns: Sums<Float64Array>,
  causes: readonly Found[],
): number {
  const { usualNoise, variation, sizes } = given;
  // Rows that aren't in runs are drawn alone.
  if (usualNoise === 1 && variation === undefined) return 1;
  const out = marked(columns[0].length, causes);
  const { parts, groups } = groupedBy(given, given.users ?? sizes.map((_, at) => at));
  const sums = columns.map((column) => sumsIn(parts, column, groups, out));
  let [weights, squares, together, scatter, alone] = [0, 0, 0, 0, 0];
  for (let group = 0; group < groups; group += 1) {
    const [n0, s0, n1, s1] = sums.map((of) => of[group]!) as Sums<number>;
    const many = n0 + n1;
    const weight = (n0 * n1) / many;
    if (!(weight > 1e-3)) continue;
    const moved = weight * (s1 / n1 - s0 / n0);
    weights += weight;
    squares += weight ** 2;
    together += weight * moved;
    scatter += moved ** 2;
    alone += (weight * rowVariance(variation, (s0 + s1) / many) * many) / Math.max(1, many - 1);
  }
  if (!(squares > 1e-6 && alone > 0)) return usualNoise;
  const many = weights ** 2 / squares;
  const seen = (scatter - together ** 2 / squares) / alone;
  return Math.max(usualNoise, (many * seen + PRIOR * usualNoise) / (many + PRIOR));
}

/**
 * How far a rate moved, in standard errors: of a share the signed root of its deviance, which holds of
 * few rows as well; of other rates by their variances.
 */
function standardErrors(sums: Sums<number>, noise: number, variation?: number): number {
  const [all0, part0, n1, s1, usual] = sums;
  const n0 = all0 + PRIOR;
  const s0 = part0 + (PRIOR * usual) / n1;
  const moved = s1 / n1 - s0 / n0;
  if (variation !== undefined || s0 > n0 || s1 > n1) {
    const variance = rowVariance(variation, (s0 + s1) / (n0 + n1)) * (1 / n0 + 1 / n1) * noise;
    return moved / Math.sqrt(variance) || 0;
  }
  const deviance = 2 * (likelihood(s0, n0) + likelihood(s1, n1) - likelihood(s0 + s1, n0 + n1));
  return Math.sign(moved) * Math.sqrt(Math.max(0, deviance) / noise);
}

/** What was usual of each leaf's rows of after: the rate of before of all. */
function usualParts({ allBefore, partBefore, allAfter }: RateLeaves): Float64Array {
  const rate = sumOver(partBefore) / sumOver(allBefore);
  return allAfter.map((rows) => rows * rate);
}

/** Logarithm of the greatest likelihood of a part of n rows. */
function likelihood(part: number, n: number): number {
  const term = (part: number) => (part > 0 ? part * Math.log(part / n) : 0);
  return term(part) + term(n - part);
}

/** The variance of a row drawn alone: of a share, of a ratio beyond 1, or of a mean. */
function rowVariance(variation: number | undefined, rate: number): number {
  if (variation !== undefined) return variation * rate * rate;
  return rate < 1 ? Math.max(1e-6, rate * (1 - rate)) : rate;
}
