import {
  cuboidsOf,
  elementOf,
  leavesOf,
  sumOver,
  sumsBy,
  sumsIn,
  type Cuboid,
  type Element,
  type Leaves,
} from "./cuboids.js";
import { middleOf } from "./order.js";

/** A rate (a share, a mean) of each leaf, before and after: `part` of `all` rows, or a sum over them. */
export interface RateLeaves extends Leaves {
  readonly allBefore: Float64Array;
  readonly partBefore: Float64Array;
  readonly allAfter: Float64Array;
  readonly partAfter: Float64Array;
  /** Variance of one row's value; missing for a share, where it follows from the share. */
  readonly variance?: number;
}

/** An element whose rate changed. */
export interface RateCause extends Element {
  /** Its leaves that no cause before it has. */
  readonly leaves: readonly number[];
  /** What it has after beyond its own rate of before, in the unit of `part`. */
  readonly excess: number;
  /** Standard errors that its rate moved. */
  readonly z: number;
}

/** What each row of an element weighs against what it explains: half. */
const BREADTH = 0.5;
/** Rows of the whole's rate that an element's own rate of before is mixed with. */
const PRIOR_ROWS = 5;
/** The least part of the change that a cause after the first explains. */
const LEAST_PART = 0.2;
/** The least part of the change that must be left for a cause after the first. */
const LEAST_REST = 0.1;
/** A rate that moved by less than this part of itself is ordinary. */
const USUAL = 0.05;
/** Standard errors from which the whole's own change is certain. */
const CERTAIN = 4;
/** What a cause's likelihood ratio must exceed besides the logarithm of how many there are to choose from. */
const CAUTION = 4.5;
const MOST_CAUSES = 10;

/**
 * The elements (values of dimensions, and combinations of them) that made a rate change.
 *
 * An element explains the part e of the whole's excess: what it has beyond its own rate of before.
 * The one with the greatest e − w / 2 is a cause, where w is its part of the rows: a wide element
 * is worth naming only where it explains more than its width does. Adtributor (R. Bhagwan and
 * others, NSDI 2014) ranks by e and by surprise; the weight ½ stands between "all of the excess"
 * (0) and "the greatest lift" (1). Its leaves are taken out, and further ones found while one holds
 * a fifth of the change and a rest is to explain. Where the whole's change is chance, the elements
 * with the greatest likelihood ratio are causes, as parts may cancel. Each cause must be beyond chance: a binomial
 * (or given) variance, times the dispersion of the other leaves, with a penalty for the choice.
 */
export function rateCauses(given: RateLeaves): readonly RateCause[] {
  const whole = each((column) => Float64Array.of(sumOver(given[column])));
  const [before, after] = [whole.allBefore[0]!, whole.allAfter[0]!];
  const rate = whole.partBefore[0]! / before;
  const excess = whole.partAfter[0]! - after * rate;
  if (!(before > 0 && after > 0) || excess === 0) return [];
  const cuboids = cuboidsOf(given);
  const alike = given.sizes.map((_, dimension) => rowsAlike(given, dimension, { before, rate }));
  const out = new Uint8Array(given.allBefore.length);
  const left = each((column) => given[column].slice());
  const found: RateCause[] = [];
  const noise = dispersion(given, rate);
  let rest = excess;
  const taken = (best: Best): void => {
    const { cuboid, group, z } = best;
    const element = elementOf(given, cuboid, group);
    const leaves = leavesOf(given, element, out);
    for (const leaf of leaves) {
      out[leaf] = 1;
      for (const column of COLUMNS) left[column][leaf] = 0;
    }
    found.push({ ...element, leaves, excess: best.excess, z });
  };
  /** The element with the greatest score, of those beyond chance and what is usual. */
  const greatest = (
    scoreOf: (beyond: number, n1: number, chance: number) => number,
    above: number,
  ): Best | undefined => {
    let best: Best | undefined;
    let most = above;
    const sumsOf = Object.fromEntries(
      COLUMNS.map((column) => [column, sumsBy(cuboids, left[column])]),
    );
    for (const [at, cuboid] of cuboids.entries()) {
      const sums = each((column) => sumsOf[column]![at]!);
      // Values that are alike alone may differ together: of a combination only its own rows tell.
      const likeOthers = cuboid.dimensions.length === 1 ? alike[cuboid.dimensions[0]!]! : 0;
      const price = Math.log(cuboid.groups) + Math.log(cuboids.length) + CAUTION;
      for (let group = 0; group < cuboid.groups; group += 1) {
        const n1 = sums.allAfter[group]!;
        if (!(n1 > 0)) continue;
        const had = sums.allBefore[group]!;
        const own = (sums.partBefore[group]! + PRIOR_ROWS * rate) / (had + PRIOR_ROWS);
        const beyond = sums.partAfter[group]! - n1 * own;
        if (Math.abs(beyond) < USUAL * n1 * Math.abs(own)) continue;
        const limit = scoreOf(beyond, n1, 0);
        if (!(limit > most + 1e-12)) continue;
        const prior = had > 0 ? PRIOR_ROWS : Math.max(PRIOR_ROWS, likeOthers);
        const z = standardErrors(given, sums, group, { rate, noise, prior });
        // The tail of a normal distribution is thinner than its density.
        const tail = (z * z) / 2 + Math.log(Math.max(1, Math.PI * z * z * 0.5)) / 2;
        const chance = tail - price;
        if (chance < 0) continue;
        const score = scoreOf(beyond, n1, chance);
        if (!(score > most + 1e-12)) continue;
        most = score;
        best = { cuboid, group, excess: beyond, z };
      }
    }
    return best;
  };
  // Where parts cancel, each is more than the whole: what they explain is of the largest of them.
  const largest = greatest((beyond) => beyond * Math.sign(excess), 0)?.excess ?? 0;
  const scale = Math.sign(excess) * Math.max(Math.abs(excess), Math.abs(largest));
  while (found.length < MOST_CAUSES && Math.abs(rest) > LEAST_REST * Math.abs(excess)) {
    const first = found.length === 0;
    const best = greatest(
      (beyond, n1) => {
        const part = beyond / scale;
        if (!first && part < LEAST_PART) return -Infinity;
        return part - (BREADTH * n1) / after;
      },
      first ? 0 : -Infinity,
    );
    if (best === undefined) break;
    rest -= best.excess;
    taken(best);
  }
  // Where the whole hardly moved its parts may have, one up and one down: the most certain ones.
  const still = Math.abs(standardErrors(given, whole, 0, { rate, noise })) < CERTAIN;
  if (still) {
    while (found.length < MOST_CAUSES) {
      const best = greatest((_beyond, _n1, chance) => (chance === 0 ? Infinity : chance), 0);
      if (best === undefined) break;
      taken(best);
    }
  }
  return found;
}

/** A group that may be a cause. */
interface Best {
  readonly cuboid: Cuboid;
  readonly group: number;
  readonly excess: number;
  readonly z: number;
}

/**
 * How many rows the rate of the whole is worth for a value of which little was seen before: few where
 * values differ, many where they were alike (the shares as beta-binomial, their correlation within
 * values by the analysis of variance: M. S. Ridout and others, Biometrics 55, 1999).
 */
function rowsAlike(
  { sizes, codes, allBefore, partBefore, variance }: RateLeaves,
  dimension: number,
  { before, rate }: { readonly before: number; readonly rate: number },
): number {
  if (variance !== undefined || !(rate > 0 && rate < 1)) return PRIOR_ROWS;
  const [code, many] = [codes[dimension]!, sizes[dimension]!];
  const [rows, part] = [sumsIn(code, allBefore, many), sumsIn(code, partBefore, many)];
  let [between, squares, values] = [0, 0, 0];
  rows.forEach((n, code) => {
    if (!(n > 0)) return;
    between += ((part[code]! / n - rate) ** 2 * n) / (rate * (1 - rate));
    squares += n * n;
    values += 1;
  });
  const within = (between - (values - 1)) / (before - squares / before);
  return within > 0 ? Math.min(1 / within - 1, before) : before;
}

const COLUMNS = ["allBefore", "partBefore", "allAfter", "partAfter"] as const;
type Column = (typeof COLUMNS)[number];
type Sums = Readonly<Record<Column, Float64Array>>;

function each(make: (column: Column) => Float64Array): Sums {
  const [allBefore, partBefore] = [make("allBefore"), make("partBefore")];
  return { allBefore, partBefore, allAfter: make("allAfter"), partAfter: make("partAfter") };
}

/**
 * How far an element's rate moved, in standard errors: of a share the signed root of its deviance,
 * which holds of few rows as well; of a mean by the variance of a row.
 */
function standardErrors(
  given: RateLeaves,
  sums: Sums,
  group: number,
  { rate, noise, prior = PRIOR_ROWS }: { rate: number; noise: number; prior?: number },
): number {
  const n0 = sums.allBefore[group]! + prior;
  const n1 = sums.allAfter[group]!;
  const part0 = sums.partBefore[group]! + prior * rate;
  const part1 = sums.partAfter[group]!;
  const moved = part1 / n1 - part0 / n0;
  if (given.variance !== undefined || part0 > n0 || part1 > n1) {
    const pooled = (part0 + part1) / (n0 + n1);
    const variance = (given.variance ?? pooled) * (1 / n1 + 1 / n0) * noise;
    return variance > 0 ? moved / Math.sqrt(variance) : 0;
  }
  const deviance =
    2 * (likelihood(part0, n0) + likelihood(part1, n1) - likelihood(part0 + part1, n0 + n1));
  return Math.sign(moved) * Math.sqrt(Math.max(0, deviance) / noise);
}

/** Logarithm of the greatest likelihood of a part of n rows. */
function likelihood(part: number, n: number): number {
  const term = (part: number) => (part > 0 ? part * Math.log(part / n) : 0);
  return term(part) + term(n - part);
}

/**
 * How much more the leaves' rates vary than rows drawn alone would: the median of their squared
 * standard errors by that of a chi-squared (a robust form of the overdispersion of McCullagh and
 * Nelder, Generalized Linear Models, 1989, 4.5), at least 1. Leaves are measured against what the
 * whole did, and against what their value of each dimension did; the least counts, so that a value
 * with most leaves isn't its own noise.
 */
function dispersion(given: RateLeaves, rate: number): number {
  const { codes, sizes, allBefore, allAfter, partBefore, partAfter } = given;
  const leaves = Array.from(allAfter.keys()).filter((leaf) => {
    const n = Math.min(allBefore[leaf]!, allAfter[leaf]!);
    // Leaves where fewer than five are expected aren't nearly normal.
    return n >= 10 && (given.variance !== undefined || n * rate * (1 - rate) >= 5);
  });
  if (leaves.length < 12) return 1;
  const middle = (squares: readonly number[]) =>
    Math.max(1, middleOf(Float64Array.from(squares)) / 0.4549);
  const least = [
    middle(leaves.map((leaf) => standardErrors(given, given, leaf, { rate, noise: 1 }) ** 2)),
  ];
  for (const [dimension, code] of codes.entries()) {
    const [n0, s0, n1, s1] = [allBefore, partBefore, allAfter, partAfter].map((of) =>
      sumsIn(code, of, sizes[dimension]!),
    ) as [Float64Array, Float64Array, Float64Array, Float64Array];
    const squares = leaves.flatMap((leaf) => {
      const own = code[leaf]!;
      // A leaf that makes up its value tells nothing beside it.
      if (allAfter[leaf]! > n1[own]! / 2) return [];
      const [was, is] = [partBefore[leaf]! / allBefore[leaf]!, partAfter[leaf]! / allAfter[leaf]!];
      const moved = is - was - (s1[own]! / n1[own]! - s0[own]! / n0[own]!);
      const spread = (part: number) => given.variance ?? Math.max(1e-6, part * (1 - part));
      const both = (own: number, of: Float64Array, parts: Float64Array) =>
        spread(parts[own]! / of[own]!);
      const variance = both(own, n0, s0) / allBefore[leaf]! + both(own, n1, s1) / allAfter[leaf]!;
      return variance > 0 ? [(moved * moved) / variance] : [];
    });
    if (squares.length >= 12) least.push(middle(squares));
  }
  return Math.min(...least);
}
