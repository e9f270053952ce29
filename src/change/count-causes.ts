import {
  cuboidsOf,
  elementOf,
  leavesOf,
  sumOver,
  sumsBy,
  sumsIn,
  takeOut,
  type Element,
  type Leaves,
  type Cuboid,
} from "./cuboids.js";
import {
  changesOf,
  dispersion,
  MANY,
  pullIn,
  saturation,
  weights,
  type CountLeaves,
} from "./leaf-noise.js";
import { middleOf, sortedPlaces } from "./order.js";

/** An element whose leaves moved together. */
export interface CountCause extends Element {
  /** Its leaves that no cause before it has. */
  readonly leaves: readonly number[];
  /** Logarithm of how much likelier its own change is than that of the whole, less what chance gives. */
  readonly score: number;
}

export interface CountCauses {
  /** The most certain first; no two share a leaf. */
  readonly causes: readonly CountCause[];
  /** What the leaves of no cause did, as a factor: 1 where they stayed. */
  readonly ordinary: number;
  /** What leaves were to be: what they were, where nothing else is expected. */
  readonly expected: Float64Array;
  /** Variance of what each leaf became, by the noise that leaves show. */
  readonly variance: Float64Array;
}

/** Changes up to this factor of the ordinary one are ordinary too. */
const USUAL = 0.05;
/** What an element's score must exceed besides the logarithm of how many there are to choose from. */
const CAUTION = 4;
const MOST_CAUSES = 80;
/** Leaves that groups have in the mean where they are looked at first. */
const FEWEST = 5;
/** Part of the whole that must be left to tell what the rest did. */
const LEAST_REST = 0.2;
/** So many more causes may say it more simply than a change of all. */
const FEW_MORE = 3;

/**
 * The smallest set of elements (values of dimensions, and combinations of them) whose own changes
 * explain how a count changed.
 *
 * Each leaf's relative change d = 2 (after − before) / (after + before) is taken as ordinary plus
 * noise of variance s² + φ · 4 / (after + before): s and φ are fitted robustly over leaves of like
 * size, and tails heavier than normal are pulled in to what their rank has in a normal distribution.
 * The element with the greatest likelihood ratio of a change of its own, less the logarithm of how
 * many elements its combination of dimensions has, is a cause; its leaves are taken out, and so on.
 * Changes within 5 % of the ordinary count for nothing, and less where the elements of a combination
 * differ more than that among themselves.
 *
 * The scan statistic is that of M. Kulldorff, "A spatial scan statistic", Communications in
 * Statistics 26 (6), 1997, with normal noise of unequal variances; the penalty is the extended BIC
 * of J. Chen and Z. Chen, Biometrika 95 (3), 2008; the cube search follows RiskLoc, arXiv:2205.10004.
 */
export function countCauses(given: CountLeaves, cuboids = cuboidsOf(given)): CountCauses {
  const simpler = simplest(given, cuboids);
  const was = (leaves?: readonly number[]) => sumOver(given.before, leaves) * given.ratio;
  const is = (leaves?: readonly number[]) => sumOver(given.after, leaves);
  const whole = is() / was();
  const named = simpler.causes.reduce((sum, { leaves }) => sum + was(leaves) + is(leaves), 0);
  const most = named > (was() + is()) / 2;
  const all = Math.abs(Math.log(simpler.ordinary)) > 2 * USUAL;
  if (!(most || all) || !(Math.abs(Math.log(whole)) > 2 * USUAL && whole > 0)) return simpler;
  // Where leaves are single runs, those that are there before and after mislead the mode.
  const together = searched(given, cuboids, whole);
  return together.causes.length < simpler.causes.length ? together : simpler;
}

function simplest(given: CountLeaves, cuboids: readonly Cuboid[]): CountCauses {
  const learned = searched(given, cuboids, mode(given));
  if (Math.abs(Math.log(learned.ordinary)) < 2 * USUAL) return learned;
  // That few parts changed, and a fair rest didn't, is a simpler account than that all did.
  const still = searched(given, cuboids, 1, true);
  const out = new Uint8Array(given.before.length);
  for (const { leaves } of still.causes) for (const leaf of leaves) out[leaf] = 1;
  const rest = recentred(given, out, Infinity);
  const few = still.causes.length <= learned.causes.length + FEW_MORE;
  return few && Math.abs(Math.log(rest)) < Math.abs(Math.log(learned.ordinary)) / 2
    ? still
    : learned;
}

/** @param start what the whole did but for causes, to begin with; `fixed`: for good. */
function searched(
  asked: CountLeaves,
  cuboids: readonly Cuboid[],
  start: number,
  fixed = false,
): CountCauses {
  const many = asked.before.length;
  const wide = cuboids.findLastIndex(({ groups }) => groups < many);
  let centre = start;
  let found: readonly CountCause[] = [];
  const out = new Uint8Array(many);
  let given = asked;
  let size: Float64Array = new Float64Array(many);
  let weight = size;
  // The noise is that of leaves that no cause explains, known once causes are found.
  for (const last of asked.expect ? [false, false, true] : [false, true]) {
    if (asked.expect) given = { ...asked, before: asked.expect(out) };
    // Only so do leaves that are there before or after alone weigh what they are.
    const moved = changesOf(given, centre);
    const { change } = moved;
    size = moved.size;
    weight = weights(
      change,
      size,
      given.ratio * centre,
      last ? out : undefined,
      () => dispersion(given, cuboids, centre, out),
      given.clump,
    );
    if (last) pullIn(change, weight, out);
    out.fill(0);
    // Single leaves of many have tails that are known only in the end.
    const all = last || many < MANY;
    const some = all ? cuboids : cuboids.slice(0, wide + 1);
    found = greedy(given, some, { change, weight, fewest: all ? 1 : FEWEST, fixed, out });
    if (!fixed) centre = recentred(given, out, centre);
  }
  return {
    causes: found,
    ordinary: centre,
    expected: given.before,
    variance: amountVariance(size, weight, given, centre),
  };
}

/**
 * The noise alone, for those who look for no causes: most leaves went as the whole did, and medians
 * don't mind the others.
 */
export function amountNoise(given: CountLeaves): Float64Array {
  const centre = sumOver(given.after) / (sumOver(given.before) * given.ratio);
  const whole = centre > 0 && centre < Infinity ? centre : 1;
  const { change, size } = changesOf(given, whole);
  const none = new Uint8Array(size.length);
  const coarse = () => dispersion(given, cuboidsOf(given), whole, none);
  const weight = weights(change, size, given.ratio * whole, none, coarse);
  return amountVariance(size, weight, given, whole);
}

function amountVariance(
  size: Float64Array,
  weight: Float64Array,
  { ratio, clump }: CountLeaves,
  centre: number,
): Float64Array {
  return weight.map((own, leaf) =>
    own > 0
      ? (size[leaf]! / 2) ** 2 * (1 / own - saturation(size[leaf]!, ratio * centre, clump))
      : 0,
  );
}

/** What a search goes by. */
interface Moved {
  readonly change: Float64Array;
  /** 1 / variance of each leaf's change. */
  readonly weight: Float64Array;
  /** Leaves that groups have in the mean where they are looked at. */
  readonly fewest: number;
  /** What ordinary leaves have in common beyond the centre is small. */
  readonly fixed: boolean;
  /** Marks the leaves of the causes found. */
  readonly out: Uint8Array;
}

/** The most certain element, and again without its leaves, until none is worth its price. */
function greedy(
  leaves: Leaves,
  cuboids: readonly Cuboid[],
  { change, weight, fewest, fixed, out }: Moved,
): CountCause[] {
  const moved = change.map((value, leaf) => value * weight[leaf]!);
  /** By cuboid and group: weight, weighted change. */
  const w = sumsBy(cuboids, weight);
  const s = sumsBy(cuboids, moved);
  const spread = cuboids.map((_, at) => spreadOf(w[at]!, s[at]!));
  const caution = CAUTION + Math.log(cuboids.length + 1);
  const price = cuboids.map(({ groups }) => caution + Math.log(groups));
  // Of leaves within 3 standard deviations: what is ordinary so far.
  const near = (values: Float64Array) =>
    values.map((value, leaf) => (change[leaf]! * moved[leaf]! < 9 ? value : 0));
  const [nearWeight, nearMoved] = [near(weight), near(moved)];
  let [ordinary, shifted] = [sumOver(nearWeight), sumOver(nearMoved)];
  const found: CountCause[] = [];
  while (found.length < MOST_CAUSES) {
    // An element is measured against what is left, as causes move what all have in common.
    const bounded = (mean: number) => (fixed ? Math.max(-USUAL, Math.min(USUAL, mean)) : mean);
    const common = bounded(ordinary > 0 ? shifted / ordinary : 0);
    /** What all but a group have in common: a value of half of the rows is no part of what it is measured against. */
    const beside = (cuboid: Cuboid) => {
      const [dimension, second] = cuboid.dimensions;
      if (second !== undefined) return () => common;
      const codes = leaves.codes[dimension!]!;
      const many = leaves.sizes[dimension!]!;
      const [own, moved] = [
        sumsIn(codes, nearWeight, many, out),
        sumsIn(codes, nearMoved, many, out),
      ];
      return (group: number) => {
        const code = codes[cuboid.example[group]!]!;
        const rest = ordinary - own[code]!;
        return rest > LEAST_REST * ordinary ? bounded((shifted - moved[code]!) / rest) : common;
      };
    };
    let [score, at, group] = [0, -1, -1];
    for (let one = 0; one < cuboids.length; one += 1) {
      if (cuboids[one]!.groups * fewest > change.length) continue;
      const [ws, ss] = [w[one]!, s[one]!];
      const least = price[one]!;
      // Elements of equal leaves are told by the fewer dimensions, which come first.
      const above = least + score * (1 + 1e-9) + 1e-9;
      const [place, found] = greatest(ws, ss, {
        common: beside(cuboids[one]!),
        spread: spread[one]!,
        above,
      });
      if (place < 0) continue;
      score = found - least;
      [at, group] = [one, place];
    }
    const cuboid = cuboids[at];
    if (cuboid === undefined) break;
    const element = elementOf(leaves, cuboid, group);
    const own = leavesOf(leaves, element, out);
    for (const leaf of own) out[leaf] = 1;
    ordinary -= sumOver(nearWeight, own);
    shifted -= sumOver(nearMoved, own);
    takeOut(cuboids, w, weight, own);
    takeOut(cuboids, s, moved, own);
    found.push({ ...element, leaves: own, score });
  }
  return found;
}

/** The group whose own change is likeliest, beyond that of all others and what is ordinary, and how likely; -1 where none is. */
function greatest(
  w: Float64Array,
  s: Float64Array,
  given: { common: (group: number) => number; spread: number; above: number },
): readonly [group: number, score: number] {
  const { common, spread } = given;
  let bar = 2 * given.above;
  let best = -1;
  for (let one = 0; one < w.length; one += 1) {
    const weight = w[one]!;
    // What is left of a group whose leaves are out is rounding.
    if (weight < 1e-3) continue;
    const own = s[one]! - common(one) * weight;
    if (own * own <= bar * weight) continue;
    if (Math.abs(own) <= spread * weight) continue;
    bar = ((own * own) / weight) * (1 + 1e-9);
    best = one;
  }
  return [best, bar / 2];
}

/**
 * The relative change of a cuboid's elements that is ordinary: where half of them differ by more
 * than their noise, as the networks of a service do that each go their way, three times that.
 */
function spreadOf(w: Float64Array, s: Float64Array): number {
  const moved = new Float64Array(w.length);
  const noise = new Float64Array(w.length);
  let size = 0;
  for (let one = 0; one < w.length; one += 1) {
    // Those whose own noise would hide the difference can't tell it.
    if (!(w[one]! > 1 / (USUAL * USUAL))) continue;
    moved[size] = s[one]! / w[one]!;
    noise[size++] = 1 / w[one]!;
  }
  if (size < 12) return USUAL;
  const own = moved.subarray(0, size);
  const middle = middleOf(own);
  const squares = middleOf(own.map((one) => (one - middle) * (one - middle)));
  const between = Math.max(0, squares / 0.4549 - middleOf(noise.subarray(0, size)));
  return Math.max(USUAL, 3 * Math.sqrt(between));
}

/**
 * The factor by which most leaves changed: the middle of the shortest interval that holds half of
 * the weight (the shorth of D. F. Andrews and others, Robust Estimates of Location, 1972), since
 * causes may hold more leaves than one side of a median.
 */
function mode({ before, after, ratio }: CountLeaves): number {
  const grown = new Float64Array(before.length);
  const mass = new Float64Array(before.length);
  const [least, most] = [Math.exp(-2 * USUAL), Math.exp(2 * USUAL)];
  let [many, total, still] = [0, 0, 0];
  for (let leaf = 0; leaf < before.length; leaf += 1) {
    if (!(before[leaf]! > 0 && after[leaf]! > 0)) continue;
    const by = after[leaf]! / (before[leaf]! * ratio);
    // A leaf's say grows with the root of its size: a large one is not the whole.
    const own = Math.sqrt(after[leaf]! + before[leaf]! * ratio);
    total += own;
    if (by > least && by < most) still += own;
    grown[many] = by;
    mass[many++] = own;
  }
  // That nothing changed but some is the simplest account: a third need not have.
  if (still * 3 >= total) return 1;
  const at = grown.subarray(0, many).map((by) => Math.log(by));
  const order = sortedPlaces(at);
  let [held, low] = [0, 0];
  let best = { from: 0, held: 0, width: Infinity };
  for (const high of order) {
    held += mass[high]!;
    while (held - mass[order[low]!]! >= total / 2) held -= mass[order[low++]!]!;
    const width = at[high]! - at[order[low]!]!;
    if (held >= total / 2 && width < best.width) best = { from: low, held, width };
  }
  let part = 0;
  let one = best.from;
  while (part + mass[order[one]!]! < best.held / 2) part += mass[order[one++]!]!;
  return Math.exp(at[order[one]!]!);
}

/** What the leaves of no cause did together. */
function recentred({ before, after, ratio }: CountLeaves, out: Uint8Array, centre: number): number {
  let [had, has, all] = [0, 0, 0];
  for (let leaf = 0; leaf < out.length; leaf += 1) {
    const was = before[leaf]! * ratio;
    all += was + after[leaf]!;
    if (out[leaf] === 1) continue;
    had += was;
    has += after[leaf]!;
  }
  return had > 0 && has > 0 && had + has > all * LEAST_REST ? has / had : centre;
}
