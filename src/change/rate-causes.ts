import { cuboidsOf, sumOver, sumsBy, sumsIn, type Cuboid, type Leaves } from "./cuboids.js";
import { greedy, type Found, type Score } from "./search.js";
import {
  ALIKE,
  ALL,
  BREADTH,
  LEAST_BEYOND,
  LEAST_GROUPS,
  LEAST_LEFT,
  LEAST_PART,
  LEAST_RATE,
  MOST_TELLING,
  PRIOR_GROUPS,
  PRIOR_ROWS,
  USUAL,
  WHOLE_MOVED,
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
  /** Variances of the parts; missing for a share and a mean, where they follow from it. */
  readonly spreadBefore?: Float64Array;
  readonly spreadAfter?: Float64Array;
  /** A rate that moved by less than this part of itself is ordinary; default 5 %. */
  readonly usual?: number;
  /** How many times the variance of rows drawn alone is usual, where few groups tell it. */
  readonly usualNoise: number;
}

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

export interface RateCauses {
  readonly causes: readonly Found[];
  /** By how much the variance of a group's rate by these dimensions is that of rows drawn alone. */
  readonly noiseOf: (dimensions: readonly number[]) => number;
  /** The least by which the rate of a value with such a part of the rows would have had to move to be found. */
  readonly least: (part: number) => number;
}

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
): RateCauses {
  const { allBefore, partBefore, allAfter, partAfter, spreadBefore, spreadAfter } = given;
  const spreads = spreadBefore && spreadAfter ? [spreadBefore, spreadAfter] : [];
  const columns = [
    ...[allBefore, partBefore, allAfter, partAfter, usualParts(given)],
    ...spreads,
  ] as Sums<Float64Array>;
  const whole = columns.map((column) => sumOver(column!)) as Sums<number>;
  const [n0, s0, n1, s1] = whole;
  const excess = s1 - (n1 * s0) / n0;
  const out = new Uint8Array(allBefore.length);
  const key = (dimensions: readonly number[]) => [...dimensions].sort().join();
  const places = new Map(cuboids.map(({ dimensions }, at) => [key(dimensions), at]));
  let causes: readonly Found[] = [];
  let noise = cuboids.map(() => given.usualNoise);
  const most = () => noise.reduce((a, b) => Math.max(a, b), 1);
  if (n0 > 0 && n1 > 0) {
    // The noise is that of rows that no cause explains, known once causes are found.
    for (const last of [false, true]) {
      noise = dispersion(given, s0 / n0, cuboids, columns, out);
      // Run sizes are compared by one noise: else a program is named in place of the release that nearly all its rows are of.
      if (spreads.length > 0) noise = noise.fill(Math.min(...noise));
      const error = standardErrors(whole, most(), given.variation);
      const moved = spreads.length === 0 && Math.abs(error) >= WHOLE_MOVED ? excess : undefined;
      out.fill(0);
      causes = greedy(given, cuboids, rateScore(given, noise, cuboids, columns, moved), out);
      if (moved !== undefined && causes.length > 0) {
        const at = places.get(key(causes[0]!.dimensions))!;
        const scaled = alike(given, cuboids, at, columns, out);
        if (scaled !== undefined) {
          return { ...rateCauses({ ...given, partBefore: scaled }, cuboids), causes: [] };
        }
      }
      if (causes.length === 0 || last) break;
    }
  }
  const noiseOf = (dimensions: readonly number[]) => noise[places.get(key(dimensions))!] ?? most();
  const [single = { groups: 1 }] = cuboids;
  const least = (part: number) => {
    const bar = Math.sqrt(2 * priceOf(cuboids.length, single.groups));
    const variance = spreadOf(given, s0 / n0) * noiseOf([0]) * (1 / n0 + 1 / n1);
    const usual = Math.max(given.usual ?? USUAL, LEAST_RATE / part) * (s0 / n0);
    return Math.max(bar * Math.sqrt(variance / part), usual);
  };
  return { causes, noiseOf, least };
}

/**
 * The parts of before with all odds (of a mean: all rates) times the whole's factor, if that fits the
 * groups of this cuboid much better than the causes do: where all failures double, the part that fails
 * most gains most. Else undefined.
 *
 * @param out marks the leaves of the causes.
 */
function alike(
  { variation }: RateLeaves,
  cuboids: readonly Cuboid[],
  at: number,
  columns: Sums<Float64Array>,
  out: Uint8Array,
): Float64Array | undefined {
  const [n0, s0, n1, s1] = columns.map((column) => sumOver(column!)) as Sums<number>;
  const share = variation === undefined && s0 <= n0 && s1 <= n1 ? 1 : 0;
  const factor = (s1 / (n1 - share * s1)) * ((n0 - share * s0) / s0);
  const scaled = (parts: Float64Array, rows: Float64Array) =>
    parts.map((part, at) =>
      part > 0 ? (factor * part) / (1 + (share * (factor - 1) * part) / rows[at]!) : 0,
    );
  const sumsOf = (out?: Uint8Array) =>
    columns.map((column) => sumsBy(cuboids, column!, { many: at + 1, out })[at]!);
  const misfit = (sums: readonly Float64Array[]) =>
    sums[2]!.reduce((sum, n1, group) => {
      const own = sums.map((of) => of[group]!) as Sums<number>;
      return n1 < 1e-3 ? sum : sum + standardErrors(own, 1, variation) ** 2;
    }, 0);
  const [N0, S0, N1, S1, usual] = sumsOf() as Sums<Float64Array>;
  const all = [N0, scaled(S0, N0), N1, S1, scaled(usual, N1)];
  return ALIKE * misfit(all) < misfit(sumsOf(out)) ? scaled(columns[1], columns[0]) : undefined;
}

/** @param excess what the whole has beyond its rate of before; undefined where that is chance. */
function rateScore(
  { usual = USUAL, allAfter, variation, usualNoise }: RateLeaves,
  noise: readonly number[],
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
  excess: number | undefined,
): Score {
  const all = sumOver(allAfter);
  const total = sumOver(columns[3]);
  const beyondOf = ([n0, s0, n1, s1, usual]: Sums<number>) => {
    const own = (s0 + (PRIOR_ROWS * usual) / n1) / (n0 + PRIOR_ROWS);
    return { own, beyond: s1 - n1 * own };
  };
  // Where rows come in runs: what one leaf carries, as one user does, isn't the element's, and little of the whole is no cause.
  const inRuns = usualNoise > 1;
  const clusters = inRuns ? ownMoves(columns) : [];
  const least = inRuns ? LEAST_RATE * total : 0;
  let left = excess ?? 1;
  let remaining = all;
  let first = true;
  return {
    columns: [...(columns as Float64Array[]), ...clusters],
    best(at, sums, above) {
      const cuboid = cuboids[at]!;
      const price = priceOf(cuboids.length, cuboid.groups);
      let [best, score] = [-1, above];
      if (excess !== undefined && Math.abs(left) <= LEAST_LEFT * Math.abs(excess)) return undefined;
      for (let group = 0; group < cuboid.groups; group += 1) {
        const n1 = sums[2]![group]!;
        // What is left of a group whose leaves are out is rounding.
        if (n1 < 1e-3 || n1 > ALL * remaining) continue;
        const four = sums.slice(0, columns.length).map((of) => of[group]!) as Sums<number>;
        const { own, beyond } = beyondOf(four);
        if (Math.abs(beyond) < usual * n1 * Math.abs(own)) continue;
        if (Math.abs(beyond) < least) continue;
        const part = excess === undefined ? 0 : beyond / excess;
        if (excess !== undefined && !first && part < LEAST_PART) continue;
        // Of causes after the first also those that are wide for what they explain.
        const explains = part - (BREADTH * n1) / all + (first ? 0 : 1);
        if (excess !== undefined && !(explains > score)) continue;
        let z = standardErrors(four, noise[at]!, variation);
        if (clusters.length > 0 && z !== 0) {
          const [w, wd, wdd] = sums.slice(columns.length).map((of) => of[group]!);
          const [by, many] = [beyond / n1, n1 ** 2 / w!];
          const own = Math.max(0, wdd! - 2 * by * wd! + by * by * w!);
          const drawn = (beyond / z) ** 2;
          const both = (many * own + PRIOR_GROUPS * drawn) / (many + PRIOR_GROUPS);
          z *= Math.sqrt(drawn / Math.max(drawn, both));
        }
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
 * How the leaves' own moves scatter about that of an element: sums of their squared rows, times the
 * move, times its square: the variance of clusters that are drawn as a whole (K.-Y. Liang and S. Zeger,
 * Biometrika 73 (1), 1986).
 */
function ownMoves([n0, s0, n1, s1, usual]: Sums<Float64Array>): Float64Array[] {
  const squares = n1.map((n) => n * n);
  const moved = n1.map((n, leaf) =>
    n > 0
      ? s1[leaf]! / n - (s0[leaf]! + (PRIOR_ROWS * usual[leaf]!) / n) / (n0[leaf]! + PRIOR_ROWS)
      : 0,
  );
  const first = squares.map((w, leaf) => w * moved[leaf]!);
  return [squares, first, first.map((w, leaf) => w * moved[leaf]!)];
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

/** The variance of a row drawn alone. */
function spreadOf({ variation }: Pick<RateLeaves, "variation">, rate: number): number {
  return variation === undefined ? Math.max(1e-6, rate * (1 - rate)) : variation * rate * rate;
}

/** Levels at which a scatter is read, with the chi-squared's, where so many groups lie beyond. */
const CHI_QUANTILES = [
  [0.5, 0.4549],
  [0.8, 1.642],
  [0.9, 2.706],
  [0.95, 3.841],
  [0.98, 5.412],
] as const;

/**
 * How much more the rates of each cuboid's groups vary than those of rows drawn alone: rows of a run, and
 * of a user, go together (the overdispersion of McCullagh and Nelder, Generalized Linear Models, 1989,
 * 4.5), and wider groups show more of it than leaves. Read from quantiles of the squared standard errors,
 * where a group weighs by its rows; of few groups as of finer ones, or as services are. Groups are measured
 * against what the whole did, and against what their value of each dimension did; the least counts, so
 * that a value with most leaves isn't its own noise.
 */
function dispersion(
  { sizes, codes, variation, usualNoise }: RateLeaves,
  rate: number,
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
  out: Uint8Array,
): number[] {
  const sums = columns.map((column) => sumsBy(cuboids, column!, { out }));
  const values = sizes.map((size, dimension) =>
    columns.map((column) => sumsIn(codes[dimension]!, column!, size, out)),
  );
  const spread = (part: number) => spreadOf({ variation }, part);
  const fewest = variation === undefined ? 5 / spread(rate) : 5 * variation;
  const noise = cuboids.map((): number | undefined => undefined);
  for (let at = cuboids.length - 1; at >= 0; at -= 1) {
    const { dimensions, groups, example } = cuboids[at]!;
    const squares: { square: number; weight: number }[][] = [[], ...sizes.map(() => [])];
    for (let group = 0; group < groups; group += 1) {
      const own = sums.map((of) => of[at]![group]!) as Sums<number>;
      const [n0, s0, n1, s1, , v0, v1] = own;
      const weight = Math.min(n0, n1);
      // Groups where fewer than five are expected aren't nearly normal.
      if (weight < 10 || (v0 === undefined && weight < fewest)) continue;
      squares[0]!.push({ square: standardErrors(own, 1, variation) ** 2, weight });
      for (const dimension of dimensions) {
        const code = codes[dimension]![example[group]!]!;
        const [N0, S0, N1, S1] = values[dimension]!.map((of) => of[code]!) as Sums<number>;
        // A group that makes up its value tells nothing beside it.
        if (n1 > N1 / 2) continue;
        const moved = s1 / n1 - s0 / n0 - (S1 / N1 - S0 / N0);
        const variance =
          v0 === undefined
            ? spread(S0 / N0) / n0 + spread(S1 / N1) / n1
            : v0 / n0 ** 2 + v1! / n1 ** 2;
        if (variance > 0) squares[dimension + 1]!.push({ square: moved ** 2 / variance, weight });
      }
    }
    const finer = cuboids.flatMap((one, other) =>
      other > at && dimensions.every((each) => one.dimensions.includes(each))
        ? (noise[other] ?? [])
        : [],
    );
    const most = finer.length === 0 ? undefined : Math.max(...finer);
    const read = squares.map(scatterOf).filter(({ many }) => many >= LEAST_GROUPS);
    if (read.length === 0) {
      noise[at] = most;
      continue;
    }
    const { many, scatter } = read.reduce((a, b) => (b.scatter < a.scatter ? b : a));
    const prior = most ?? usualNoise;
    const mixed = (many * scatter + PRIOR_GROUPS * prior) / (many + PRIOR_GROUPS);
    noise[at] = Math.max(1, most ?? 0, mixed);
  }
  const known = noise.filter((one) => one !== undefined);
  return noise.map((one) => one ?? Math.max(usualNoise, ...known));
}

/** The scatter of groups, and how many of equal weight would tell as much. */
function scatterOf(groups: readonly { readonly square: number; readonly weight: number }[]) {
  const most = MOST_TELLING * groups.reduce((sum, { weight }) => sum + weight, 0);
  const sorted = groups
    .map(({ square, weight }) => ({ square, weight: Math.min(weight, most) }))
    .sort((a, b) => a.square - b.square);
  const all = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const many = all ** 2 / sorted.reduce((sum, { weight }) => sum + weight ** 2, 0) || 0;
  let [scatter, under] = [0, 0];
  let level = 0;
  for (const { square, weight } of sorted) {
    under += weight;
    while (level < CHI_QUANTILES.length && under >= CHI_QUANTILES[level]![0] * all) {
      const [part, chi] = CHI_QUANTILES[level]!;
      if (many * (1 - part) >= LEAST_BEYOND) scatter = Math.max(scatter, square / chi);
      level += 1;
    }
  }
  return { many, scatter };
}
