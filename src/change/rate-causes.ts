import { cuboidsOf, sumOver, sumsBy, sumsIn, type Cuboid, type Leaves } from "./cuboids.js";
import { middleOf } from "./order.js";
import { greedy, type Found, type Score } from "./search.js";
import { priceOf, USUAL } from "./thresholds.js";

/** A rate of each leaf, before and after: `part` of `all` rows, or a sum over them. */
export interface RateLeaves extends Leaves {
  readonly allBefore: Float64Array;
  readonly partBefore: Float64Array;
  readonly allAfter: Float64Array;
  readonly partAfter: Float64Array;
  /** Variances of the parts; missing for a share, where they follow from it. */
  readonly spreadBefore?: Float64Array;
  readonly spreadAfter?: Float64Array;
  /** A rate that moved by less than this part of itself is ordinary; default 5 %. */
  readonly usual?: number;
}

/** What each row of an element weighs against what it explains: half. */
const BREADTH = 0.5;
/** Rows of the whole's rate that an element's own rate of before is mixed with. */
const PRIOR_ROWS = 5;
/** The least part of the change that a cause after the first explains. */
const LEAST_PART = 0.2;
/** The least part of the change that must be left for a cause after the first. */
const LEAST_LEFT = 0.1;
/** Standard errors from which the whole moved; below, its parts may cancel. */
const MOVED = 2;
/** Fewer groups can't tell how much rates scatter. */
const LEAST_GROUPS = 12;
/** Groups as noisy as rows drawn alone that are taken as seen: pairs overlap, so that few tell less than they seem to. */
const PRIOR_GROUPS = 10;
/** The median of a chi-squared. */
const CHI_SQUARED = 0.4549;

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
  const columns = columnsOf(given);
  const whole = columns.map((column) => sumOver(column));
  const [n0, s0, n1, s1] = whole as [number, number, number, number];
  const excess = s1 - (n1 * s0) / n0;
  if (!(n0 > 0 && n1 > 0) || excess === 0) return { causes: [], noise: 1 };
  const test = { given, rate: s0 / n0, noise: 1 };
  const out = new Uint8Array(given.allBefore.length);
  let causes: readonly Found[] = [];
  // The noise is that of rows that no cause explains, known once causes are found.
  for (const known of [undefined, out]) {
    test.noise = dispersion(test, cuboids, columns, known);
    const moved = given.spreadAfter === undefined && Math.abs(standardErrors(test, whole)) >= MOVED;
    out.fill(0);
    causes = greedy(
      given,
      cuboids,
      rateScore(test, cuboids, columns, moved ? excess : undefined),
      out,
    );
    if (causes.length === 0) break;
  }
  return { causes, noise: test.noise };
}

interface Test {
  readonly given: RateLeaves;
  /** Of the whole, before. */
  readonly rate: number;
  noise: number;
}

/** @param excess what the whole has beyond its rate of before; undefined where that is chance. */
function rateScore(
  test: Test,
  cuboids: readonly Cuboid[],
  columns: readonly Float64Array[],
  excess: number | undefined,
): Score {
  const { rate, given } = test;
  const { usual = USUAL } = given;
  const all = sumOver(given.allAfter);
  let left = excess ?? 1;
  let first = true;
  return {
    columns,
    best(at, sums, above) {
      const cuboid = cuboids[at]!;
      const [n0, s0, n1, s1] = sums as [Float64Array, Float64Array, Float64Array, Float64Array];
      const price = priceOf(cuboids.length, cuboid.groups);
      let [best, score] = [-1, above];
      if (excess !== undefined && Math.abs(left) <= LEAST_LEFT * Math.abs(excess)) return undefined;
      for (let group = 0; group < cuboid.groups; group += 1) {
        // What is left of a group whose leaves are out is rounding.
        if (n1[group]! < 1e-3) continue;
        const own = (s0[group]! + PRIOR_ROWS * rate) / (n0[group]! + PRIOR_ROWS);
        const beyond = s1[group]! - n1[group]! * own;
        if (Math.abs(beyond) < usual * n1[group]! * Math.abs(own)) continue;
        let explains = 0;
        if (excess !== undefined) {
          const part = beyond / excess;
          if (!first && part < LEAST_PART) continue;
          // Of causes after the first also those that are wide for what they explain.
          explains = part - (BREADTH * n1[group]!) / all + (first ? 0 : 1);
          if (!(explains > score)) continue;
        }
        const z = standardErrors(
          test,
          sums.map((of) => of[group]!),
        );
        // The tail of a normal distribution is thinner than its density.
        const tail = (z * z) / 2 + Math.log(Math.max(1, Math.PI * z * z * 0.5)) / 2;
        const chance = tail - price;
        if (chance < 0 || (excess === undefined && !(chance > score))) continue;
        score = excess === undefined ? chance : explains;
        best = group;
      }
      return best < 0 ? undefined : { group: best, score };
    },
    taken(_, [n0, s0, n1, s1]) {
      left -= s1! - (n1! * (s0! + PRIOR_ROWS * rate)) / (n0! + PRIOR_ROWS);
      first = false;
    },
  };
}

type Four = [number, number, number, number];

function columnsOf(given: RateLeaves): Float64Array[] {
  const { allBefore, partBefore, allAfter, partAfter, spreadBefore, spreadAfter } = given;
  const spreads = spreadBefore && spreadAfter ? [spreadBefore, spreadAfter] : [];
  return [allBefore, partBefore, allAfter, partAfter, ...spreads];
}

/**
 * How far a rate moved, in standard errors: of a share the signed root of its deviance, which holds of
 * few rows as well; of other rates by the variances given.
 */
function standardErrors({ rate, noise }: Test, sums: readonly number[]): number {
  const [all0, part0, n1, s1, v0, v1] = sums as [number, number, number, number, number?, number?];
  const n0 = all0 + PRIOR_ROWS;
  const s0 = part0 + PRIOR_ROWS * rate;
  const moved = s1 / n1 - s0 / n0;
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
  test: Test,
  cuboids: readonly Cuboid[],
  columns: readonly Float64Array[],
  out: Uint8Array | undefined,
): number {
  const { given, rate } = test;
  const sums = columns.map((column) => sumsBy(cuboids, column, { out }));
  const spread = (part: number) => Math.max(1e-6, part * (1 - part));
  const values = given.sizes.map((size, dimension) =>
    columns.map((column) => sumsIn(given.codes[dimension]!, column, size)),
  );
  const addSquares = (squares: readonly number[][], cuboid: Cuboid, at: number): void => {
    for (let group = 0; group < cuboid.groups; group += 1) {
      const own = sums.map((of) => of[at]![group]!);
      const [n0, s0, n1, s1, v0, v1] = own as [number, number, number, number, number?, number?];
      const n = Math.min(n0, n1);
      // Groups where fewer than five are expected aren't nearly normal.
      if (n < 10 || (v0 === undefined && n * spread(rate) < 5)) continue;
      squares[0]!.push(standardErrors({ ...test, noise: 1 }, own) ** 2);
      for (const dimension of out === undefined ? cuboid.dimensions : []) {
        const code = given.codes[dimension]![cuboid.example[group]!]!;
        const [N0, S0, N1, S1] = values[dimension]!.map((of) => of[code]!) as Four;
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
  };
  // Leaves tell, where they are large enough; else pairs of values.
  for (const size of given.spreadBefore ? [given.sizes.length, 2] : [given.sizes.length]) {
    const squares: number[][] = [[], ...given.sizes.map(() => [])];
    cuboids.forEach((cuboid, at) => {
      if (cuboid.dimensions.length === size) addSquares(squares, cuboid, at);
    });
    const known = squares.filter(({ length }) => length >= LEAST_GROUPS);
    const noises = known.map((some) => {
      const own = middleOf(Float64Array.from(some)) / CHI_SQUARED;
      return (some.length * own + PRIOR_GROUPS) / (some.length + PRIOR_GROUPS);
    });
    if (noises.length > 0) return Math.max(given.spreadBefore ? 0.01 : 1, Math.min(...noises));
  }
  return 1;
}
