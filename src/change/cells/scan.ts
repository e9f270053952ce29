import { greatest } from "../../base/statistics.js";
import {
  cuboids,
  leavesBy,
  leavesIn,
  marked,
  rollUp,
  sums,
  total,
  without,
  type Column,
  type Cuboid,
  type Leaves,
} from "./cube.js";
import {
  BIN,
  CAUTION,
  LEAST_PART,
  LIKELIER,
  MOST_BINS,
  MOST_CAUSES,
  ONCE_IN_TEN,
  ONE_USER,
  PART_TOLERANCE,
  PLACE,
  PRIOR,
  TOTAL_TOLERANCE,
  UNSEEN,
  WIDE,
} from "./thresholds.js";

/**
 * Two counts a leaf, in units whose variance is about their mean, and the exposure that each is of: of a
 * share the rows, of measurements what their runs would hold, of a count the same on both sides. The
 * question is always whether after : before is as the exposures are.
 */
export interface Contrast {
  readonly leaves: Leaves;
  readonly after: Column;
  readonly before: Column;
  readonly exposureAfter: Column;
  readonly exposureBefore: Column;
  /** True if a count is a part of its exposure (binomial). */
  readonly isShare: boolean;
  /** True if rows come one by one: their dispersion is 1. */
  readonly isIndependent: boolean;
  /** The rows of one user are of one of these groups. */
  readonly users: Cuboid;
  /** Those groups by release: the rows of one, which users take or leave as a whole, scatter together. */
  readonly clusters: Cuboid;
  /** True if a group of users is so narrow that what comes from one may be one user's. */
  readonly isNarrow: boolean;
  /** The dispersion before any is seen. */
  readonly usualDispersion: number;
  /** How much an element of these dimensions moves without being a cause. */
  readonly tolerance: (dims: readonly number[]) => number;
}

/** An element (values of some dimensions) whose leaves changed together. */
export interface Found {
  readonly dims: readonly number[];
  readonly codes: readonly number[];
  /** Those of its leaves that nothing found before it has. */
  readonly leaves: readonly number[];
  /** True if some of its leaves are of what was found before. */
  readonly rest: boolean;
  /** Its log-likelihood ratio, and what choosing it costs. */
  readonly gain: number;
  readonly price: number;
}

export interface SearchResult {
  /** Certain ones, in the order they were found. */
  readonly named: readonly Found[];
  /** Those that only may be, the likeliest first, and which of them may be one user's. */
  readonly maybe: readonly Found[];
  readonly oneUser: ReadonlySet<Found>;
  /** What all leaves of no certain cause did, if that is a change. */
  readonly whole: { readonly leaves: readonly number[]; readonly isCertain: boolean } | undefined;
  /** The element whose change alone is as likely as the whole's. */
  readonly rival: Found | undefined;
  /** How many times the variance of independent rows some leaves have. */
  readonly dispersion: (leaves?: readonly number[]) => number;
  /** The variance of after − expected of some leaves together. */
  readonly variance: (leaves: readonly number[]) => number;
}

/** After, before and their exposures. */
type Four<Value> = readonly [a: Value, b: Value, x: Value, y: Value];
type Sums = Four<number>;

const each = <From, To>([a, b, x, y]: Four<From>, of: (one: From) => To): Four<To> => [
  of(a),
  of(b),
  of(x),
  of(y),
];

function columnsOf(given: Contrast): Four<Column> {
  return [given.after, given.before, given.exposureAfter, given.exposureBefore];
}

const xlogy = (x: number, y: number) => (x > 0 ? x * Math.log(y) : 0);

/**
 * Half the deviance of two Poisson counts whose ratio was to be `odds`, given their sum: their
 * log-likelihood ratio. 0 where that is less than `least`, as its chi-squared shows without logarithms.
 */
export function deviance(a: number, b: number, odds: number, least = 0): number {
  const n = a + b;
  const q = odds / (1 + odds);
  if ((a - n * q) ** 2 < least * n * q * (1 - q)) return 0;
  return xlogy(a, a / (n * q)) + xlogy(b, b / (n * (1 - q)));
}

/**
 * The log-likelihood ratio of a : b against the ratios from low to high times x : y (an interval as the
 * null hypothesis: Hodges and Lehmann 1954); of a share with that of the failures, the G² of its table.
 */
function gainOf(
  [a, b, x, y]: Sums,
  [low, high]: readonly [number, number],
  isShare: boolean,
  least = 0,
): number {
  const ratio = (a * y) / (b * x);
  const edge = ratio > high ? high : ratio < low ? low : 0;
  if (edge === 0) return 0;
  const odds = (edge * x) / y;
  if (!isShare) return deviance(a, b, odds, least);
  const rate = b / y;
  const failures = ((x / y) * Math.max(1e-9, 1 - edge * rate)) / (1 - rate);
  return deviance(a, b, odds) + deviance(x - a, y - b, failures);
}

/** By group of users a − E[a] given a + b, and its variance, were the ratio `level` times that of the exposures. */
function residuals([a, b, x, y]: Four<Column>, level: number, isShare: boolean) {
  const [off, variance] = [new Float64Array(a.length), new Float64Array(a.length)];
  for (let at = 0; at < a.length; at += 1) {
    const [n, of] = [a[at]! + b[at]!, x[at]! + y[at]!];
    const q = of > 0 ? (level * x[at]!) / (level * x[at]! + y[at]!) : 0.5;
    off[at] = a[at]! - q * n;
    variance[at] = n * q * (1 - q) * (isShare ? 1 - n / (of + 1e-9) : 1);
  }
  return { off, variance };
}

/** The median of a chi-squared variable, and its lower quartile. */
const [MEDIAN, QUARTILE] = [0.4549, 0.1015];

/**
 * The quasi-Poisson dispersion of each leaf, as groups of the size of its own show it, of users and of
 * users of one release (McCullagh and Nelder, Generalized Linear Models, 1989, 4.5): while causes aren't
 * known, by the median of squares.
 *
 * @param out leaves that show nothing. @param isRobust whether causes may be among the others.
 */
function dispersionOf(given: Contrast, level: number, out: Uint8Array, isRobust: boolean): Column {
  const { users, clusters, isIndependent } = given;
  if (isIndependent) return new Float64Array(users.parts.length).fill(1);
  const own = dispersionIn(users, given, level, out, isRobust);
  if (users === clusters) return own;
  const byRelease = dispersionIn(clusters, given, level, out, isRobust);
  return own.map((n, leaf) => Math.max(n, byRelease[leaf]!));
}

/** The dispersion of each leaf, as these groups show it. */
function dispersionIn(
  groups: Cuboid,
  given: Contrast,
  level: number,
  out: Uint8Array,
  isRobust: boolean,
): Column {
  const { usualDispersion, isShare } = given;
  const columns = each(columnsOf(given), (column) => sums(groups, column, out));
  const { off, variance } = residuals(columns, level, isShare);
  const size = sums(
    groups,
    given.after.map((n, leaf) => n + given.before[leaf]!),
  );
  const sorted = size.filter((n) => n > 0).sort();
  const many = Math.max(1, Math.min(MOST_BINS, Math.floor(sorted.length / BIN)));
  const ends = Array.from({ length: many }, (_, bin) =>
    bin === many - 1 ? Infinity : sorted[Math.floor(((bin + 1) * sorted.length) / many)]!,
  );
  const bins = new Int32Array(size.length);
  size.forEach((n, at) => {
    while (n > ends[bins[at]!]!) bins[at]! += 1;
  });
  const ratios = ends.map((): number[] => []);
  const [squares, variances] = [new Float64Array(many), new Float64Array(many)];
  variance.forEach((own, at) => {
    if (!(own > 1e-6)) return;
    ratios[bins[at]!]!.push(off[at]! ** 2 / own);
    squares[bins[at]!]! += off[at]! ** 2;
    variances[bins[at]!]! += own;
  });
  const shown = ratios.map((own, bin) => {
    const [n, mean] = [own.length, squares[bin]! / variances[bin]! || 0];
    const known = isRobust ? Math.max(PRIOR, BIN - n) : PRIOR;
    const sorted = isRobust ? Float64Array.from(own).sort() : [];
    // Causes raise the mean; users of few rows, all of which fail or none, the median.
    const robust = n < BIN ? sorted[n >> 2]! / QUARTILE : sorted[n >> 1]! / MEDIAN;
    const seen = n > 0 && isRobust ? Math.min(mean, robust) : mean;
    return Math.max(1, (n * seen + known * usualDispersion) / (n + known));
  });
  return Float64Array.from(groups.parts, (group) => shown[bins[group]!]!);
}

interface Fit {
  readonly found: readonly Found[];
  /** What all others did, as a factor: 1 but where the whole changed. */
  readonly level: number;
  readonly rival?: SearchResult["rival"];
}

/** A contrast whose rows are divided by their dispersion, so that they count as independent. */
function effectiveOf(given: Contrast, dispersions: Column) {
  const columns = each(columnsOf(given), (column) =>
    column.map((value, leaf) => value / dispersions[leaf]!),
  );
  const all = each(columns, (column) => total(column));
  // Of what is new a little of all others is expected.
  const prior = given.exposureAfter === given.exposureBefore ? 0 : PRIOR;
  /** The log-likelihood ratio of a change of these sums against `level`. */
  const gain = ([a, b, x, y]: Sums, level: number, tolerance: number, least = 0) =>
    gainOf(
      [a, b + prior * rate, x, y + prior],
      [level * (1 - tolerance), level * (1 + tolerance)],
      given.isShare,
      least,
    );
  const rate = all[1] / all[3] || 0;
  const excess = all[0] - rate * all[2];
  const isFar = Math.abs(excess) > 2 * Math.sqrt(all[0] + all[1]);
  /** The part of the excess that is of some sums. */
  const partOf = ([a, b, x, y]: Sums) => (a - (b * x) / y) / excess;
  // Of rows that come one by one nearly all is beyond chance: what explains most, by its width (Adtributor).
  const isByExcess = given.isShare && given.isIndependent && isFar;
  return { columns, all, gain, partOf, isByExcess };
}

type Effective = ReturnType<typeof effectiveOf>;
const ratioOf = ([a, b, x, y]: Sums) => (a * y) / (b * x);

/** The whole as a change of parts, or of all alike but for parts, whichever explains it better. */
function fit(given: Contrast, dispersions: Column): Fit {
  const effective = effectiveOf(given, dispersions);
  const { all, columns, gain, isByExcess } = effective;
  const price = Math.log(cuboids(given.leaves).length);
  const parts = greedy(given, effective);
  const [first] = parts.found;
  const isChanged = gain(all, 1, TOTAL_TOLERANCE) > price;
  if (!isChanged || ratioOf(all) === Infinity) return parts;
  const sumOf = (leaves: readonly number[]) => each(columns, (column) => total(column, leaves));
  const firstOf = first && sumOf(first.leaves);
  // All of the excess has the width of all rows.
  if (isByExcess && firstOf && effective.partOf(firstOf) - firstOf[2] / all[2] / 2 > 0.5)
    return parts;
  const alike = greedy(given, effective, true);
  if (Math.abs(alike.level - 1) < TOTAL_TOLERANCE) return parts;
  // Those that stayed are exceptions; what moved more than all others is but more of it.
  const stayed = alike.found.filter(({ leaves }) => {
    return Math.abs(Math.log(ratioOf(sumOf(leaves)))) < Math.abs(Math.log(alike.level)) / 2;
  });
  const level = ratioOf(sumOf(without(given.after.length, stayed)));
  const worthOf = (found: readonly Found[], level: number) =>
    likelihoodOf(given, effective, found, level) - found.reduce((sum, one) => sum + one.price, 0);
  if (!isByExcess && worthOf(parts.found, 1) > worthOf(stayed, level) - price) return parts;
  const isAsLikely = first && first.gain > gain(all, 1, PART_TOLERANCE) - LIKELIER;
  return { ...alike, rival: isAsLikely ? first : undefined };
}

/**
 * The element with the greatest log-likelihood ratio beyond its price (extended BIC: Chen and Chen 2008),
 * and again without its leaves. An element must have moved by more than is usual.
 *
 * @param isAlike whether all others changed, too: what they did is ordinary then.
 */
function greedy(given: Contrast, effective: Effective, isAlike = false): Fit {
  const { leaves, tolerance } = given;
  const { isByExcess } = effective;
  const cube = cuboids(leaves);
  // Of a count the exposures are the same on both sides.
  const isFlat = given.exposureAfter === given.exposureBefore;
  const columns = isFlat ? effective.columns.slice(0, 2) : effective.columns;
  const tables = columns.map((column) => rollUp(cube, column));
  const [A = [], B = [], X, Y] = tables;
  const sumsOf = (at: number, group: number): Sums => [
    A[at]![group]!,
    B[at]![group]!,
    X?.[at]![group] ?? 1,
    Y?.[at]![group] ?? 1,
  ];
  const prices = cube.map(({ groups }) => Math.log(cube.length) + Math.log(groups));
  let level = isAlike ? ratioOf(effective.all) : 1;
  /** Of each cuboid the gain of those groups that are worth their price. */
  const gains = cube.map(() => new Map<number, number>());
  const score = (at: number, group: number) => {
    const own = sumsOf(at, group);
    const isEnough = own[2] > 1e-9 && own[0] + own[1] > 0.5 * prices[at]!;
    const gain = isEnough ? effective.gain(own, level, tolerance(cube[at]!.dims), prices[at]) : 0;
    if (gain > prices[at]!) gains[at]!.set(group, gain);
    else gains[at]!.delete(group);
  };
  const scoreAll = () =>
    cube.forEach(({ groups }, at) => {
      for (let group = 0; at > 0 && group < groups; group += 1) score(at, group);
    });
  scoreAll();
  const worthOf = (at: number, group: number, gain: number) => {
    if (!isByExcess) return gain - prices[at]!;
    const own = sumsOf(at, group);
    const [part, isFurther] = [effective.partOf(own), found.length > 0];
    const width = own[2] / effective.all[2];
    return isFurther && part < LEAST_PART ? 0 : part - width / 2 + Number(isFurther);
  };
  const out = new Uint8Array(given.after.length);
  const found: Found[] = [];
  while (found.length < MOST_CAUSES) {
    let best = { at: -1, group: -1, gain: 0, worth: 0 };
    gains.forEach((own, at) => {
      for (const [group, gain] of own) {
        const worth = worthOf(at, group, gain);
        // Elements of equal leaves are named by the fewer dimensions, which come first.
        if (worth > best.worth * (1 + 1e-9) + 1e-9) best = { at, group, gain, worth };
      }
    });
    const { at, group, gain } = best;
    if (at < 0) break;
    const { dims, example, parts } = cube[at]!;
    const all = leavesIn(parts, group);
    const own = all.filter((leaf) => out[leaf] === 0);
    found.push({
      dims,
      codes: dims.map((one) => leaves.codes[one]![example[group]!]!),
      leaves: own,
      rest: own.length < all.length,
      gain,
      price: prices[at]!,
    });
    for (const leaf of own) out[leaf] = 1;
    cube.forEach(({ parts, groups }, place) => {
      const isTouched = new Uint8Array(groups);
      for (const leaf of own) isTouched[parts[leaf]!] = 1;
      columns.forEach((column, which) => {
        const sums = tables[which]![place]!;
        for (const leaf of own) sums[parts[leaf]!]! -= column[leaf]!;
      });
      for (let one = place === 0 ? groups : 0; one < groups; one += 1)
        if (isTouched[one] === 1) score(place, one);
    });
    const now = ratioOf(sumsOf(0, 0)) || 1;
    // What moves by less changes no gain by much.
    if (isAlike && Math.abs(now / level - 1) > PART_TOLERANCE / 10) {
      level = now;
      scoreAll();
    }
  }
  return { found, level };
}

/** The log-likelihood ratio of what was found, and of `level` for all others, against that nothing changed. */
function likelihoodOf(
  { isShare }: Contrast,
  { columns }: Effective,
  found: readonly Found[],
  level: number,
): number {
  const factors = new Float64Array(columns[0].length).fill(level);
  for (const { leaves } of found) {
    const own = ratioOf(each(columns, (column) => total(column, leaves)));
    for (const leaf of leaves) factors[leaf] = own;
  }
  const [A, B, X, Y] = columns;
  const failed = (n: number, rate: number) => xlogy(n, Math.max(1e-9, 1 - rate));
  const of = (a: number, b: number, x: number, y: number, factor: number) => {
    const [p, q] = [(a + b) / (x + y / factor), (a + b) / (factor * x + y)];
    return xlogy(a, p) + xlogy(b, q) + (isShare ? failed(x - a, p) + failed(y - b, q) : 0);
  };
  let sum = 0;
  factors.forEach((factor, leaf) => {
    const [a, b, x, y] = [A[leaf]!, B[leaf]!, X[leaf]!, Y[leaf]!];
    if (factor !== 1 && a + b > 0) sum += of(a, b, x, y, factor) - of(a, b, x, y, 1);
  });
  return sum;
}

/** What was to be expected of leaves by what they were. */
function expectedOf(given: Contrast, leaves: readonly number[]): number {
  const { before, exposureAfter, exposureBefore } = given;
  return (
    total(before, leaves) * (total(exposureAfter, leaves) / total(exposureBefore, leaves) || 0)
  );
}

/**
 * How many groups of users speak for a change against `level`, each at most once: what happened in one,
 * however much, may be its own.
 */
function places(
  { users, isNarrow }: Contrast,
  { columns, gain }: Effective,
  leaves: readonly number[],
  level: number,
): number {
  if (!isNarrow) return Infinity;
  const all = ratioOf(each(columns, (column) => total(column, leaves)));
  let sum = 0;
  for (const own of leavesBy(users.parts, leaves).values()) {
    const sums = each(columns, (column) => total(column, own));
    const isAlike = ratioOf(sums) > level === all > level;
    sum += (isAlike ? 1 : -1) * Math.min(1, gain(sums, level, 0) / PLACE);
  }
  return sum;
}

/** The log-likelihood ratio of a change of some leaves against `level`. */
function weigh(
  { columns, gain }: Effective,
  leaves: readonly number[],
  level: number,
  tolerance: number,
): number {
  return gain(
    each(columns, (column) => total(column, leaves)),
    level,
    tolerance,
  );
}

/** How much speaks for a change of leaves that no search chose; 0 where it may be one user's. */
export function evidence(given: Contrast, leaves: readonly number[], level: number): number {
  const dispersions = dispersionOf(given, level, marked(given.after.length, [{ leaves }]), false);
  const effective = effectiveOf(given, dispersions);
  const isOneUser = places(given, effective, leaves, level) < WIDE;
  return isOneUser ? 0 : weigh(effective, leaves, level, 0) / UNSEEN;
}

/** Causes of which one holds another that moved the same way, as one. */
function joined(given: Contrast, found: readonly Found[]): readonly Found[] {
  const isUp = ({ leaves }: Found) => total(given.after, leaves) > expectedOf(given, leaves);
  const holds = (wide: Found, one: Found) =>
    wide.dims.length < one.dims.length &&
    isUp(wide) === isUp(one) &&
    wide.dims.every((dim, at) => one.codes[one.dims.indexOf(dim)] === wide.codes[at]);
  return found
    .filter((one) => !found.some((other) => holds(other, one)))
    .map((wide) => {
      const parts = found.filter((one) => holds(wide, one));
      const leaves = [wide, ...parts].flatMap((one) => one.leaves);
      return { ...wide, leaves, rest: wide.rest && parts.length === 0 };
    });
}

/**
 * Finds what changed, ranked by a robust dispersion, and judges it with expectation and dispersion learned
 * beside it, by the mean square of all others (externally studentized).
 *
 * @param make the contrast, learned from leaves that aren't out.
 */
export function search(make: (out: Uint8Array) => Contrast): SearchResult {
  let given = make(new Uint8Array(0));
  const many = given.after.length;
  const none = new Uint8Array(many);
  const { found, level, rival } = fit(given, dispersionOf(given, 1, none, true));
  const out = marked(many, found);
  given = make(out);
  const learned = dispersionOf(given, level, out, true);
  const searched = effectiveOf(given, learned);
  const placesOf = new Map(found.map((one) => [one, places(given, searched, one.leaves, level)]));
  const isWide = (one: Found) => placesOf.get(one)! >= WIDE;
  const wide = found.filter(isWide);
  const oneUser = new Set(found.filter((one) => !isWide(one)));
  // What moved in a handful of places may be users who came or went: it shows how they do.
  const beside = (some: readonly Found[]) => dispersionOf(given, level, marked(many, some), false);
  const dispersions = beside(wide);
  const effective = effectiveOf(given, dispersions);
  const weights = new Map(
    found.map((one) => {
      const own = oneUser.has(one) ? effectiveOf(given, beside([...wide, one])) : effective;
      return [one, weigh(own, one.leaves, level, given.tolerance(one.dims))];
    }),
  );
  // Rows that come one by one have no users heavier than seen.
  const unseen = given.isIndependent ? 1 : UNSEEN;
  const isNamed = (one: Found) => {
    const least = one.price + CAUTION;
    return weights.get(one)! / unseen > least && PLACE * placesOf.get(one)! > least;
  };
  const beyond = (one: Found) => weights.get(one)! - one.price - (oneUser.has(one) ? ONE_USER : 0);
  const certain = wide.filter(isNamed);
  const named = joined(given, certain);
  const maybe = found
    .filter((one) => !certain.includes(one) && beyond(one) > 0)
    .sort((a, b) => Number(oneUser.has(a)) - Number(oneUser.has(b)) || beyond(b) - beyond(a));
  const leaves = without(many, named);
  const gain = level === 1 ? 0 : weigh(effective, leaves, 1, TOTAL_TOLERANCE);
  const dispersion = (some: Iterable<number> = none.keys()) => {
    let [all, noise] = [0, 0];
    for (const leaf of some) {
      const n = given.after[leaf]! + given.before[leaf]!;
      [all, noise] = [all + n, noise + n * dispersions[leaf]!];
    }
    return noise / all || given.usualDispersion;
  };
  return {
    named,
    maybe,
    oneUser,
    whole:
      gain > ONCE_IN_TEN ? { leaves, isCertain: gain / unseen > CAUTION + Math.LN2 } : undefined,
    rival,
    dispersion,
    // As much might have come, or not, as was there: a prediction. Nor is none certain to stay none.
    variance: (some) => {
      const [a, e] = [total(given.after, some), expectedOf(given, some)];
      return unseen * dispersion(some) * Math.max(1, e + Math.max(a, e));
    },
  };
}

/** A part of the rows, and the least relative change of it that would have been named. */
export interface Seen {
  readonly part: number;
  readonly least: number;
}

/** Parts of the rows for which it is said what would have been seen of them. */
const LOOKED_AT = [0.05, 0.1, 0.25, 0.5, 1];

/**
 * What change would have been named; "nothing" where not even the greatest of all rows.
 *
 * @param events independent ones of a range. @param most the greatest relative change: below 0 a loss.
 */
export function seenOf({ sizes }: Leaves, events: number, most: number): Seen | "nothing" {
  const price = CAUTION + Math.log(greatest(sizes)) + sizes.length * Math.LN2;
  const usual = 1 + Math.sign(most) * PART_TOLERANCE;
  const steps = Array.from({ length: 100 }, (_, at) => ((at + 1) / 100) * most);
  for (const part of LOOKED_AT) {
    const least = steps.find(
      (by) =>
        Math.abs(by) > PART_TOLERANCE &&
        (part * events * deviance(1 + by, 1, usual)) / UNSEEN > price,
    );
    if (least !== undefined) return { part, least: Math.abs(least) };
  }
  return "nothing";
}
