import { createRequire } from "node:module";
import type { probit } from "simple-statistics";
import { cuboidsOf, elementOf, type Cuboid, type Element, type Leaves } from "./cuboids.js";

const require = createRequire(import.meta.url);

/** What leaves amounted to, before and after; `ratio` is after's length by before's. */
export interface CountLeaves extends Leaves {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly ratio: number;
}

/** An element whose leaves moved together. */
export interface CountCause extends Element {
  /** Its leaves that no cause before it has. */
  readonly leaves: readonly number[];
  /** Logarithm of how much likelier its own change is than that of the whole, less what chance gives. */
  readonly score: number;
}

/** The variance of what an amount was and became, by the noise that the leaves show. */
export type AmountVariance = (leaves: Iterable<number>) => number;

export interface CountCauses {
  /** The most certain first; no two share a leaf. */
  readonly causes: readonly CountCause[];
  /** What the leaves of no cause did, as a factor: 1 where they stayed. */
  readonly ordinary: number;
  /** Variance of the change of leaves' sum. */
  readonly variance: AmountVariance;
}

/** Changes up to this factor of the ordinary one are ordinary too. */
const USUAL = 0.05;
/** What an element's score must exceed besides the logarithm of how many there are to choose from. */
const CAUTION = 3;
const MOST_CAUSES = 80;
/** Part of the whole that must be left to tell what the rest did. */
const LEAST_REST = 0.2;
/** So many more causes may say it more simply than a change of all. */
const FEW_MORE = 3;
/** The variance of a change whose median is 1, halfway to the most that it can be. */
const SATURATED = 1.4826 ** 2;
/**
 * What a few leaves can't tell is taken from what services are like: rows come in runs of some thirty,
 * which counts as so many leaves do.
 */
const PRIOR_DISPERSION = 30;
const PRIOR_LEAVES = 4;
/** So many leaves tell their noise by size. */
const MANY = 150;
/** Rows below which a leaf's noise isn't learned: a median of such few values is a step. */
const FEW = 30;

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
export function countCauses(given: CountLeaves): CountCauses {
  const cuboids = cuboidsOf(given);
  const simpler = simplest(given, cuboids);
  const sum = (values: Float64Array) => values.reduce((total, one) => total + one, 0);
  const whole = sum(given.after) / (sum(given.before) * given.ratio);
  const named = simpler.causes.flatMap(({ leaves }) => leaves);
  const size = sizes(given);
  const most = named.reduce((total, leaf) => total + size[leaf]!, 0) > sum(size) / 2;
  const all = Math.abs(Math.log(simpler.ordinary)) > 2 * USUAL;
  if (!(most || all) || !(Math.abs(Math.log(whole)) > 2 * USUAL && whole > 0)) return simpler;
  // Where leaves are single runs, those that are there before and after mislead the mode.
  const together = searched(given, cuboids, whole);
  return together.causes.length < simpler.causes.length ? together : simpler;
}

function simplest(given: CountLeaves, cuboids: readonly Cuboid[]): CountCauses {
  const learned = searched(given, cuboids, mode(given, sizes(given)));
  if (Math.abs(Math.log(learned.ordinary)) < 2 * USUAL) return learned;
  // That few parts changed, and a fair rest didn't, is a simpler account than that all did.
  const still = searched(given, cuboids, 1, true);
  const out = marked(given, still.causes);
  const rest = recentred(given, sizes(given), out, Infinity);
  const few = still.causes.length <= learned.causes.length + FEW_MORE;
  return few && Math.abs(Math.log(rest)) < Math.abs(Math.log(learned.ordinary)) / 2
    ? still
    : learned;
}

/** @param start what the whole did but for causes, to begin with; `fixed`: for good. */
function searched(
  given: CountLeaves,
  cuboids: readonly Cuboid[],
  start: number,
  fixed = false,
): CountCauses {
  const { before, ratio } = given;
  const many = before.length;
  const size = sizes(given);
  const caution = CAUTION + Math.log(cuboids.length + 1);
  let centre = start;
  let found: readonly CountCause[] = [];
  const out = new Uint8Array(many);
  let weight: Float64Array = new Float64Array(many);
  let expected = size;
  // The noise is that of leaves that no cause explains, known once causes are found.
  for (const last of [false, true]) {
    const change = changes(given, size, centre);
    // Only so do leaves that are there before or after alone weigh what they are.
    expected = sizes(given, centre);
    weight = weights(change, expected, ratio * centre, {
      out: last ? out : undefined,
      coarse: () => dispersion(given, cuboids, centre, out),
    });
    if (last) pullIn(change, weight, out);
    const search = new Search(given, cuboids, change, weight, fixed);
    out.fill(0);
    // Single leaves of many have tails that are known only in the end.
    found = search.causes(caution, last || many < MANY ? 1 : 5, out);
    if (!fixed) centre = recentred(given, size, out, centre);
  }
  return {
    causes: found,
    ordinary: centre,
    variance: (leaves) => {
      let sum = 0;
      for (const leaf of leaves) {
        if (weight[leaf]! > 0) sum += (expected[leaf]! / 2) ** 2 / weight[leaf]!;
      }
      return sum;
    },
  };
}

/** What leaves were, as the whole went since, and are. */
function sizes({ before, after, ratio }: CountLeaves, centre = 1): Float64Array {
  return after.map((is, leaf) => is + before[leaf]! * ratio * centre);
}

function marked({ before }: CountLeaves, causes: readonly CountCause[]): Uint8Array {
  const out = new Uint8Array(before.length);
  for (const { leaves } of causes) for (const leaf of leaves) out[leaf] = 1;
  return out;
}

/** Sums of an element's leaves, for every cuboid, and the greedy search in them. */
class Search {
  readonly #leaves: Leaves;
  readonly #cuboids: readonly Cuboid[];
  readonly #weight: Float64Array;
  readonly #moved: Float64Array;
  /** Per cuboid and group: weight, weighted change, leaves. */
  readonly #sums: { readonly w: Float64Array; readonly s: Float64Array; readonly n: Int32Array }[];
  /** Weight and weighted change of leaves within 3 standard deviations: what is ordinary so far. */
  readonly #bulk = { w: 0, s: 0 };
  readonly #inBulk: Uint8Array;
  /** What ordinary leaves may have in common beyond the centre. */
  readonly #most: number;

  constructor(
    leaves: Leaves,
    cuboids: readonly Cuboid[],
    change: Float64Array,
    weight: Float64Array,
    centred: boolean,
  ) {
    this.#most = centred ? USUAL : Infinity;
    this.#leaves = leaves;
    this.#cuboids = cuboids;
    this.#weight = weight;
    this.#moved = change.map((value, leaf) => value * weight[leaf]!);
    this.#inBulk = Uint8Array.from(change, (value, leaf) => +(value * value * weight[leaf]! < 9));
    for (let leaf = 0; leaf < change.length; leaf += 1) this.#addToBulk(leaf, 1);
    this.#sums = cuboids.map(({ group, groups }) => {
      const w = new Float64Array(groups);
      const s = new Float64Array(groups);
      const n = new Int32Array(groups);
      for (let leaf = 0; leaf < group.length; leaf += 1) {
        const at = group[leaf]!;
        if (at < 0 || weight[leaf] === 0) continue;
        w[at]! += weight[leaf]!;
        s[at]! += this.#moved[leaf]!;
        n[at]! += 1;
      }
      return { w, s, n };
    });
  }

  /** @param fewest leaves that a cause must have; `out` marks those of the causes found. */
  causes(caution: number, fewest: number, out: Uint8Array): CountCause[] {
    const spread = this.#cuboids.map((_, at) => this.#spread(at));
    const price = this.#sums.map(({ n }) => {
      const living = n.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
      return Math.log(Math.max(1, living)) + caution;
    });
    const members = this.#cuboids.map(() => undefined as Int32Array[] | undefined);
    const found: CountCause[] = [];
    while (found.length < MOST_CAUSES) {
      // An element is measured against what is left, as causes move what all have in common.
      const mean = this.#bulk.w > 0 ? this.#bulk.s / this.#bulk.w : 0;
      const common = Math.max(-this.#most, Math.min(this.#most, mean));
      let score = 0;
      let at = -1;
      let group = -1;
      for (const [index, { w, s, n }] of this.#sums.entries()) {
        const least = price[index]!;
        for (let one = 0; one < n.length; one += 1) {
          if (n[one]! < fewest) continue;
          const own = s[one]! - common * w[one]!;
          const value = (own * own) / (2 * w[one]!) - least;
          // Elements of equal leaves are told by the fewer dimensions, which come first.
          if (value > score + 1e-9 && Math.abs(own) > spread[index]! * w[one]!) {
            score = value;
            at = index;
            group = one;
          }
        }
      }
      const cuboid = this.#cuboids[at];
      if (cuboid === undefined) break;
      const leaves = [...this.#members(members, at, group)].filter((leaf) => out[leaf] === 0);
      for (const leaf of leaves) this.#takeOut(leaf);
      for (const leaf of leaves) out[leaf] = 1;
      // What rounding left would be a change without weight.
      this.#sums[at]!.n[group] = 0;
      found.push({ ...elementOf(this.#leaves, cuboid, group), leaves, score });
    }
    return found;
  }

  #members(made: (Int32Array[] | undefined)[], at: number, group: number): Int32Array {
    made[at] ??= listed(this.#cuboids[at]!);
    return made[at][group]!;
  }

  #addToBulk(leaf: number, sign: 1 | -1): void {
    if (this.#inBulk[leaf] === 0) return;
    this.#bulk.w += sign * this.#weight[leaf]!;
    this.#bulk.s += sign * this.#moved[leaf]!;
  }

  #takeOut(leaf: number): void {
    this.#addToBulk(leaf, -1);
    for (const [index, { group }] of this.#cuboids.entries()) {
      const one = group[leaf]!;
      if (one < 0 || this.#weight[leaf] === 0) continue;
      const { w, s, n } = this.#sums[index]!;
      w[one]! -= this.#weight[leaf]!;
      s[one]! -= this.#moved[leaf]!;
      n[one]! -= 1;
    }
  }

  /**
   * The relative change of a cuboid's elements that is ordinary: where half of them differ by more
   * than their noise, as the networks of a service do that each go their way, three times that.
   */
  #spread(at: number): number {
    const { w, s } = this.#sums[at]!;
    const moved: number[] = [];
    const noise: number[] = [];
    for (let one = 0; one < w.length; one += 1) {
      // Those whose own noise would hide the difference can't tell it.
      if (!(w[one]! > 1 / (USUAL * USUAL))) continue;
      moved.push(s[one]! / w[one]!);
      noise.push(1 / w[one]!);
    }
    if (moved.length < 12) return USUAL;
    const middle = median(moved);
    const squares = moved.map((one) => (one - middle) ** 2);
    const between = Math.max(0, median(squares) / 0.4549 - median(noise));
    return Math.max(USUAL, 3 * Math.sqrt(between));
  }
}

function listed({ group, groups }: Cuboid): Int32Array[] {
  const counts = new Int32Array(groups);
  for (const one of group) if (one >= 0) counts[one]! += 1;
  const lists = Array.from(counts, (many) => new Int32Array(many));
  counts.fill(0);
  group.forEach((one, leaf) => {
    if (one >= 0) lists[one]![counts[one]!++] = leaf;
  });
  return lists;
}

/** Relative changes of the leaves against what the whole did; NaN-free: empty leaves have no weight. */
function changes(
  { before, after, ratio }: CountLeaves,
  size: Float64Array,
  centre: number,
): Float64Array {
  return size.map((total, leaf) => {
    if (!(total > 0)) return 0;
    const expected = before[leaf]! * ratio * centre;
    return (2 * (after[leaf]! - expected)) / (after[leaf]! + expected);
  });
}

/**
 * The factor by which most leaves changed: the middle of the shortest interval that holds half of
 * the weight (the shorth of D. F. Andrews and others, Robust Estimates of Location, 1972), since
 * causes may hold more leaves than one side of a median.
 */
function mode({ before, after, ratio }: CountLeaves, size: Float64Array): number {
  const leaves: number[] = [];
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    if (before[leaf]! > 0 && after[leaf]! > 0) leaves.push(leaf);
  }
  if (leaves.length === 0) return 1;
  const at = leaves.map((leaf) => Math.log(after[leaf]! / (before[leaf]! * ratio)));
  const order = sortedPlaces(at);
  // A leaf's say grows with the root of its size: a large one is not the whole.
  const mass = Float64Array.from(order, (one) => Math.sqrt(size[leaves[one]!]!));
  const total = mass.reduce((sum, one) => sum + one, 0);
  const half = total / 2;
  const still = order.reduce(
    (sum, one, place) => (Math.abs(at[one]!) < 2 * USUAL ? sum + mass[place]! : sum),
    0,
  );
  // That nothing changed but some is the simplest account: a third need not have.
  if (still * 3 >= total) return 1;
  let held = 0;
  let low = 0;
  let shortest = Infinity;
  let middle = 0;
  for (let high = 0; high < order.length; high += 1) {
    held += mass[high]!;
    while (held - mass[low]! >= half) held -= mass[low++]!;
    const width = at[order[high]!]! - at[order[low]!]!;
    if (held >= half && width < shortest) {
      shortest = width;
      let part = 0;
      let one = low;
      while (part + mass[one]! < held / 2) part += mass[one++]!;
      middle = at[order[one]!]!;
    }
  }
  return Math.exp(middle);
}

/** The places of values by their size: sorted as numbers, which is ten times as quick as by a comparison. */
function sortedPlaces(values: readonly number[]): Uint32Array {
  // The place in the low bits of a double that has the value's order.
  const bits = 2 ** Math.ceil(Math.log2(values.length + 1));
  const keys = Float64Array.from(values, (value, at) => Math.round(value * 1e6) * bits + at).sort();
  return Uint32Array.from(keys, (key) => ((key % bits) + bits) % bits);
}

/** What the leaves of no cause did together. */
function recentred(
  { before, after, ratio }: CountLeaves,
  size: Float64Array,
  out: Uint8Array,
  centre: number,
): number {
  let had = 0;
  let has = 0;
  let all = 0;
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    all += size[leaf]!;
    if (out[leaf] === 1) continue;
    had += before[leaf]! * ratio;
    has += after[leaf]!;
  }
  return had > 0 && has > 0 && had + has > all * LEAST_REST ? has / had : centre;
}

/** 1 / variance of each leaf's change: s² + φ times what a Poisson count of its size would have. */
function weights(
  change: Float64Array,
  size: Float64Array,
  ratio: number,
  { out, coarse }: { out: Uint8Array | undefined; coarse: () => number },
): Float64Array {
  const poisson = size.map((total) => (total > 0 ? (2 * (1 + ratio)) / total : 0));
  const leaves: number[] = [];
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    if (size[leaf]! >= FEW && out?.[leaf] !== 1) leaves.push(leaf);
  }
  const order = sortedPlaces(leaves.map((leaf) => Math.log(size[leaf]!)));
  const bins = Math.min(20, Math.floor(leaves.length / 50));
  const points = Array.from({ length: bins }, (_, bin) => {
    const places = order.subarray(
      Math.floor((bin * leaves.length) / bins),
      Math.floor(((bin + 1) * leaves.length) / bins),
    );
    const part = Array.from(places, (at) => leaves[at]!);
    const middle = median(part.map((leaf) => Math.abs(change[leaf]!))) * 1.4826;
    return { variance: middle * middle, poisson: median(part.map((leaf) => poisson[leaf]!)) };
  });
  const { s2, phi } = fitted(points) ?? {
    s2: 0,
    phi: leaves.length < MANY ? (ofFew(leaves, change, poisson) ?? coarse()) : coarse(),
  };
  return size.map((total, leaf) => {
    const own = poisson[leaf]!;
    if (!(total > 0)) return 0;
    const counted = total < FEW ? Math.max(1, phi) * own + own * own : phi * own;
    return 1 / (s2 + counted + 1e-6);
  });
}

/** How much more a few large leaves vary than Poisson counts, most of which went as the whole did. */
function ofFew(
  leaves: readonly number[],
  change: Float64Array,
  poisson: Float64Array,
): number | undefined {
  const squares = leaves.map((leaf) => change[leaf]! ** 2 / poisson[leaf]!);
  const saturated = median(leaves.map((leaf) => Math.abs(change[leaf]!))) > 1;
  if (saturated) return undefined;
  const own = Math.max(1, median(squares) / 0.4549);
  const n = leaves.length;
  return (n * own + PRIOR_LEAVES * PRIOR_DISPERSION) / (n + PRIOR_LEAVES);
}

/**
 * How much more counts vary than those of a Poisson process, where leaves are too small to tell: by
 * the values and pairs of values, and the larger half of them, most of which went as the whole did.
 */
function dispersion(
  given: CountLeaves,
  cuboids: readonly Cuboid[],
  centre: number,
  out: Uint8Array,
): number {
  const groups: { size: number; square: number }[] = [];
  for (const cuboid of cuboids) {
    if (cuboid.dimensions.length > 2) continue;
    const was = new Float64Array(cuboid.groups);
    const is = new Float64Array(cuboid.groups);
    for (let leaf = 0; leaf < out.length; leaf += 1) {
      if (out[leaf] === 1) continue;
      was[cuboid.group[leaf]!]! += given.before[leaf]! * given.ratio * centre;
      is[cuboid.group[leaf]!]! += given.after[leaf]!;
    }
    was.forEach((had, group) => {
      const total = had + is[group]!;
      if (total < FEW) return;
      const d = (2 * (is[group]! - had)) / total;
      groups.push({ size: total, square: (d * d * total) / (2 * (1 + given.ratio)) });
    });
  }
  groups.sort((a, b) => b.size - a.size);
  const squares = groups.map(({ square }) => square);
  const large = squares.slice(0, Math.ceil(squares.length / 2));
  // Of a handful, the larger half may well hold the cause.
  return Math.max(1, median(squares) / 0.4549, large.length < 8 ? 0 : median(large) / 0.4549);
}

/** Variances as s² + φ x, both at least 0, by the least absolute difference of logarithms on a grid. */
function fitted(points: readonly { variance: number; poisson: number }[]):
  | {
      s2: number;
      phi: number;
    }
  | undefined {
  // Where most leaves are there before or after only, as single runs of many rows are, their change is
  // ± 2 whatever the noise: larger leaves tell it.
  const telling = points.filter(({ variance }) => variance < SATURATED);
  if (telling.length < 3) return undefined;
  const most = Math.max(1e-9, ...telling.map(({ variance }) => variance));
  let best = { s2: most, phi: 1 };
  let least = Infinity;
  for (let i = 0; i <= 40; i += 1) {
    const s2 = i === 0 ? 0 : most * 10 ** (-4 + i / 10);
    for (let j = 0; j <= 50; j += 1) {
      const phi = j === 0 ? 0 : 10 ** (-2 + j / 10);
      let off = 0;
      for (const { variance, poisson } of telling) {
        off += Math.abs(Math.log((variance + 1e-9) / (s2 + phi * poisson + 1e-9)));
      }
      if (off < least) {
        least = off;
        best = { s2, phi };
      }
    }
  }
  return best;
}

/**
 * Pulls changes of the tails in to what leaves of their rank have under normal noise: the slope of
 * the quantile-quantile line over the outermost hundredth of the leaves that no cause explains.
 */
function pullIn(change: Float64Array, weight: Float64Array, out: Uint8Array): void {
  const rest: number[] = [];
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    if (out[leaf] === 0 && weight[leaf]! > 0) {
      rest.push(Math.abs(change[leaf]!) * Math.sqrt(weight[leaf]!));
    }
  }
  if (rest.length <= 100) return;
  const sorted = Float64Array.from(rest).sort().reverse();
  const inner = Math.max(20, Math.floor(sorted.length * 0.01));
  const outer = Math.max(8, Math.floor(inner / 12));
  // Loaded when it is needed: importing probelab need not.
  const statistics = require("simple-statistics") as { probit: typeof probit };
  const normal = (rank: number) => -statistics.probit((rank + 0.5) / (2 * sorted.length));
  const from = sorted[inner]!;
  const bulk = Math.max(1, from / normal(inner));
  const tail = Math.max(bulk, (sorted[outer]! - from) / (normal(outer) - normal(inner)));
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    if (!(weight[leaf]! > 0)) continue;
    const scale = Math.sqrt(weight[leaf]!);
    const z = Math.abs(change[leaf]!) * scale;
    const pulled = z <= from ? z / bulk : from / bulk + (z - from) / tail;
    change[leaf] = (Math.sign(change[leaf]!) * pulled) / scale;
  }
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? 0 : sorted[sorted.length >> 1]!;
}
