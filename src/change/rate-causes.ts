import { cuboidsOf, groupedBy, sumOver, sumsIn, type Cuboid, type Leaves } from "./cuboids.js";
import { greedy, type Found, type Score } from "./search.js";
import {
  ALIKE,
  ALIKE_RATIO,
  TOTAL_TOLERANCE,
  LEAST_REST,
  LEAST_RATE,
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
  /** Variances of the parts; missing for a share and a mean, where they follow from it. */
  readonly spreadBefore?: Float64Array;
  readonly spreadAfter?: Float64Array;
  /** A rate that moved by less than this part of itself is ordinary; default 5 %. */
  readonly usual?: number;
  /** Dimensions by which users are told apart, the fewest first; the last are all. Default: all. */
  readonly users?: readonly (readonly number[])[];
  /** How many times the variance of rows drawn alone is usual; 1: they don't come in runs. */
  readonly usualNoise: number;
  /** True to find also what only may have changed: what chance gives once in ten such questions. */
  readonly maybe?: boolean;
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
 * The elements that made a rate change: the one whose own move makes what came likeliest, as in a scan
 * statistic (M. Kulldorff, Communications in Statistics 26 (6), 1997), and again without its rows.
 * Each must be beyond chance, with a price for the choice. Users are independent, not their rows: a
 * binomial (or given) variance counts as many times as their own moves scatter.
 *
 * Of rows that don't come in runs nearly all is beyond chance. There an element explains the part e of
 * the whole's excess with the part w of the rows, and the score is e − w / 2: a wide element is worth
 * naming only where it explains more than its width does. Adtributor (R. Bhagwan and others, NSDI 2014)
 * ranks by e and by surprise; the weight ½ stands between "all of the excess" (0) and "the greatest
 * lift" (1).
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
  const [n0, s0, n1] = whole;
  const out = new Uint8Array(allBefore.length);
  const causes =
    n0 > 0 && n1 > 0 ? greedy(given, cuboids, rateScore(given, cuboids, columns), out) : [];
  const users = usersOf(given);
  const noises = users.map((dimensions) =>
    noiseIn(
      given,
      userMoves(given, columns, dimensions, out).map((column) => sumOver(column)),
    ),
  );
  const noiseOf = (dimensions: readonly number[]) => noises[levelOf(users, dimensions)]!;
  const [first] = causes;
  if (first !== undefined && spreads.length === 0) {
    const error = standardErrors(whole, noiseOf([]), given.variation);
    const scaled =
      Math.abs(error) < CERTAIN / 2 ? undefined : alike(given, cuboids, first, columns, out);
    if (scaled !== undefined) {
      return { ...rateCauses({ ...given, partBefore: scaled }, cuboids), causes: [] };
    }
  }
  const least = (part: number) => {
    const bar = Math.sqrt(2 * priceOf(cuboids.length, cuboids[0]?.groups ?? 1));
    const variance = spreadOf(given, s0 / n0) * noiseOf([]) * (1 / n0 + 1 / n1);
    const usual = Math.max(given.usual ?? PART_TOLERANCE, LEAST_RATE / part) * (s0 / n0);
    return Math.max(bar * Math.sqrt(variance / part), usual);
  };
  return { causes, noiseOf, least };
}

function usersOf({ users, sizes }: RateLeaves): readonly (readonly number[])[] {
  return users ?? [sizes.map((_, dimension) => dimension)];
}

/** The first of these sets of dimensions that has all of an element's. */
function levelOf(users: readonly (readonly number[])[], dimensions: readonly number[]): number {
  return users.findIndex((own) => dimensions.every((one) => own.includes(one)));
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
  { dimensions }: Found,
  columns: Sums<Float64Array>,
  out: Uint8Array,
): Float64Array | undefined {
  const at = cuboids.findIndex((one) => one.dimensions.join() === dimensions.join());
  const [n0, s0, n1, s1] = columns.map((column) => sumOver(column!)) as Sums<number>;
  const share = variation === undefined && s0 <= n0 && s1 <= n1 ? 1 : 0;
  const factor = (s1 / (n1 - share * s1)) * ((n0 - share * s0) / s0);
  const scaled = (parts: Float64Array, rows: Float64Array) =>
    parts.map((part, at) =>
      part > 0 ? (factor * part) / (1 + (share * (factor - 1) * part) / rows[at]!) : 0,
    );
  const sumsOf = (out?: Uint8Array) =>
    columns.map((column) => sumsIn(cuboids[at]!.parts, column!, cuboids[at]!.groups, out));
  const misfit = (sums: readonly Float64Array[]) =>
    sums[2]!.reduce((sum, n1, group) => {
      const own = sums.map((of) => of[group]!) as Sums<number>;
      return n1 < 1e-3 ? sum : sum + standardErrors(own, 1, variation) ** 2;
    }, 0);
  const [N0, S0, N1, S1, usual] = sumsOf() as Sums<Float64Array>;
  const all = [N0, scaled(S0, N0), N1, S1, scaled(usual, N1)];
  return ALIKE * misfit(all) < misfit(sumsOf(out)) ? scaled(columns[1], columns[0]) : undefined;
}

function rateScore(
  given: RateLeaves,
  cuboids: readonly Cuboid[],
  columns: Sums<Float64Array>,
): Score {
  const { usual = PART_TOLERANCE, variation, usualNoise, maybe = false } = given;
  const users = usersOf(given);
  const moves = users.map((dimensions) => userMoves(given, columns, dimensions));
  const levels = cuboids.map(
    ({ dimensions }) => columns.length + MOVES * levelOf(users, dimensions),
  );
  const all = [...(columns as Float64Array[]), ...moves.flat()];
  const left = all.map((column) => sumOver(column));
  const movesAt = (level: number, of: (column: number) => number) =>
    Array.from({ length: MOVES }, (_, at) => of(level + at));
  const whole = left.slice(0, columns.length) as Sums<number>;
  const [n0, s0, rows, parts] = whole;
  const excess = parts - (rows * s0) / n0;
  const moved =
    columns.length === 5 && Math.abs(standardErrors(whole, usualNoise, variation)) >= CERTAIN / 2;
  // Where rows come in runs little of the whole is no cause: one user who comes or goes moves as much.
  const inRuns = usualNoise > 1;
  const least = inRuns && !maybe ? LEAST_RATE * parts : 0;
  let [unexplained, first] = [excess, true];
  return {
    columns: all,
    best(at, sums, above) {
      if (moved && Math.abs(unexplained) <= TOTAL_TOLERANCE * Math.abs(excess)) return undefined;
      const { groups } = cuboids[at]!;
      const price = priceOf(cuboids.length, groups, maybe ? ONCE_IN_TEN : undefined);
      const total = movesAt(levels[at]!, (column) => left[column]!);
      let [best, score] = [-1, above];
      for (let group = 0; group < groups; group += 1) {
        const n1 = sums[2]![group]!;
        // What is left of a group whose leaves are out is rounding.
        if (n1 < 1e-3 || n1 > (1 - PART_TOLERANCE) * left[2]!) continue;
        const own = columns.map((_, column) => sums[column]![group]!) as Sums<number>;
        const expected = expectedOf(own);
        const beyond = own[3] - expected;
        if (Math.abs(beyond) < Math.max(usual * expected, least)) continue;
        const part = beyond / excess;
        if (moved && !first && part < LEAST_REST) continue;
        const alone = standardErrors(own, 1, variation) ** 2;
        // All are compared by one noise: that of a test alone is less, and it would be named in place of all.
        const likelier = alone / (2 * usualNoise) - price;
        const worth =
          moved && !inRuns ? part - (ALIKE_RATIO * n1) / rows + (first ? 0 : 1) : likelier;
        if (!(worth > score)) continue;
        const inside = movesAt(levels[at]!, (column) => sums[column]![group]!);
        const square = alone / noiseIn(given, total, inside);
        // The tail of a normal distribution is thinner than its density.
        const tail = square / 2 + Math.log(Math.max(1, Math.PI * square * 0.5)) / 2;
        if (tail < price) continue;
        score = worth;
        best = group;
      }
      return best < 0 ? undefined : { group: best, score };
    },
    taken(_, sums) {
      sums.forEach((sum, at) => (left[at]! -= sum));
      unexplained -= sums[3]! - expectedOf(sums as Sums<number>);
      first = false;
    },
  };
}

/** The part of the rows of after, had the rate stayed as it was. */
function expectedOf([n0, s0, n1, , usual]: Sums<number>): number {
  return (n1 * s0 + PRIOR * usual) / (n0 + PRIOR);
}

/** How many columns the moves of users have. */
const MOVES = 5;

/**
 * How rates of users moved, each held by the first of its leaves: the weight of the difference of its
 * two rates, the weight's square, that times the difference and times its square, and what the last
 * would be of rows drawn alone. Of sums of these follows how users scatter about what they did together.
 */
function userMoves(
  given: RateLeaves,
  columns: Sums<Float64Array>,
  dimensions: readonly number[],
  out?: Uint8Array,
): Float64Array[] {
  const { parts, groups, example } = groupedBy(given, dimensions);
  const sums = columns.map((column) => sumsIn(parts, column!, groups, out));
  const moves = Array.from({ length: MOVES }, () => new Float64Array(parts.length));
  for (let group = 0; group < groups; group += 1) {
    const [n0, s0, n1, s1, , v0, v1] = sums.map((of) => of[group]!) as Sums<number>;
    const weight = (n0 * n1) / (n0 + n1);
    if (!(weight > 1e-3)) continue;
    const moved = weight * (s1 / n1 - s0 / n0);
    const many = n0 + n1;
    const rate = (s0 + s1) / many;
    const variance =
      v0 === undefined
        ? (weight * spreadOf(given, rate) * many) / Math.max(1, many - 1)
        : weight ** 2 * (v0 / n0 ** 2 + v1! / n1 ** 2);
    const own = [weight, weight ** 2, weight * moved, moved ** 2, variance];
    own.forEach((value, at) => (moves[at]![example[group]!] = value));
  }
  return moves;
}

/**
 * How many times the variance of rows drawn alone users' rates have (the dispersion of McCullagh and
 * Nelder, Generalized Linear Models, 1989, 4.5), once what an element's users, and all others, did
 * together is taken out; of few users as services have it.
 */
function noiseIn(
  { usualNoise, spreadBefore }: RateLeaves,
  total: readonly number[],
  inside: readonly number[] = total.map(() => 0),
): number {
  const rest = total.map((all, at) => all - inside[at]!);
  const about = ([, size, first, second]: readonly number[]) =>
    size! > 1e-6 ? Math.max(0, second! - first! ** 2 / size!) : 0;
  const [weight, size, , , alone] = total;
  // Rows that aren't in runs are drawn alone.
  const drawnAlone = usualNoise === 1 && spreadBefore === undefined;
  if (drawnAlone || !(size! > 1e-6 && alone! > 0)) return usualNoise;
  const many = weight! ** 2 / size!;
  const scatter = (about(inside) + about(rest)) / alone!;
  return Math.max(1, (many * scatter + PRIOR * usualNoise) / (many + PRIOR));
}

/**
 * How far a rate moved, in standard errors: of a share the signed root of its deviance, which holds of
 * few rows as well; of a mean the same of a gamma distribution; of other rates by the variances given.
 */
function standardErrors(sums: Sums<number>, noise: number, variation?: number): number {
  const [all0, part0, n1, s1, usual, v0, v1] = sums;
  const n0 = all0 + PRIOR;
  const s0 = part0 + (PRIOR * usual) / n1;
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
      v0 === undefined ? [pooled * n0, pooled * n1] : [v0 + (v1! * PRIOR) / n1, v1!];
    const variance = (own1 / n1 ** 2 + own0 / n0 ** 2) * noise;
    return variance > 0 ? moved / Math.sqrt(variance) : 0;
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

/** The variance of a row drawn alone. */
function spreadOf({ variation }: Pick<RateLeaves, "variation">, rate: number): number {
  return variation === undefined ? Math.max(1e-6, rate * (1 - rate)) : variation * rate * rate;
}
