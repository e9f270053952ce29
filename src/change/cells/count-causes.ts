import { createRequire } from "node:module";
import type { probit } from "simple-statistics";
import { greatest, median } from "../../base/statistics.js";
import { marked, sumOver, type Cuboid, type Leaves } from "./cuboids.js";
import { greedy, type Found, type Score } from "./search.js";
import {
  CLUMP,
  LEAST_REST,
  MOST_CAUSES,
  PRIOR,
  SUREST,
  PART_TOLERANCE,
  priceOf,
} from "./thresholds.js";

const require = createRequire(import.meta.url);

/** What leaves amounted to, before and after; `ratio` is after's length by before's. */
export interface CountLeaves extends Leaves {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly ratio: number;
  /** True if runs are counted, which scatter less than rows, as rows come in runs. */
  readonly runs?: boolean;
  /** What was to be expected in place of `before`, learned from leaves that aren't out; the same sum. */
  readonly expect?: (out: Uint8Array) => Float64Array;
}

export interface CountCauses {
  /** The most certain first; no two share a leaf. */
  readonly causes: readonly Found[];
  /** What the leaves of no cause did, as a factor: 1 where they stayed. */
  readonly ordinary: number;
  /** Variance of what each leaf became, by the noise that leaves show. */
  readonly variance: Float64Array;
}

/**
 * The smallest set of elements whose own changes explain how a count changed.
 *
 * Each leaf's relative change d = 2 (after − before) / (after + before) is taken as ordinary plus
 * noise. The score of an element is the likelihood ratio of a change of its own against that of all
 * others, with normal noise of unequal variances: the scan statistic of M. Kulldorff, "A spatial scan
 * statistic", Communications in Statistics 26 (6), 1997. Changes within 5 % of the ordinary count for
 * nothing.
 */
export function countCauses(given: CountLeaves, cuboids: readonly Cuboid[]): CountCauses {
  const asked = given;
  let centre = 1;
  let causes: readonly Found[] = [];
  let size = asked.before;
  let weight = asked.before;
  // The noise is that of leaves that no cause explains, known once causes are found.
  for (const surest of asked.expect ? SUREST : [0, MOST_CAUSES]) {
    const last = surest === MOST_CAUSES;
    const known = marked(asked.before.length, causes);
    if (asked.expect) {
      const before = asked.expect(marked(asked.before.length, causes.slice(0, surest)));
      given = { ...asked, before };
    }
    const { before, after, ratio } = given;
    const change = new Float64Array(after.length);
    size = new Float64Array(after.length);
    for (let leaf = 0; leaf < size.length; leaf += 1) {
      const expected = before[leaf]! * ratio * centre;
      const total = after[leaf]! + expected;
      size[leaf] = total;
      change[leaf] = total > 0 ? (2 * (after[leaf]! - expected)) / total : 0;
    }
    weight = weights(given, { change, size, centre, out: known, last });
    if (last) shrinkTails(change, weight, known);
    const score = countScore(cuboids, { change, weight }, Math.log(centre));
    causes = greedy(given, cuboids, score, { most: MOST_CAUSES, least: 0 });
    centre = recentred(given, marked(size.length, causes), centre);
  }
  // Of what leaves became, by that of their changes.
  const variance = weight.map((own, leaf) => (own > 0 ? (size[leaf]! / 2) ** 2 / own : 0));
  return { causes, ordinary: centre, variance };
}

/** What the leaves of no cause did together. */
function recentred({ before, after, ratio }: CountLeaves, out: Uint8Array, centre: number): number {
  let [had, has] = [0, 0];
  for (let leaf = 0; leaf < out.length; leaf += 1) {
    if (out[leaf] === 1) continue;
    had += before[leaf]! * ratio;
    has += after[leaf]!;
  }
  return had > 0 ? has / had : centre;
}

interface WeighedChange {
  readonly change: Float64Array;
  /** 1 / variance of each leaf's change. */
  readonly weight: Float64Array;
}

/** @param shift what was ordinary before, of which `change` is beyond. */
function countScore(
  cuboids: readonly Cuboid[],
  { change, weight }: WeighedChange,
  shift: number,
): Score {
  // Of leaves within 3 standard deviations: what is ordinary so far.
  const column = () => new Float64Array(change.length);
  const [moved, nearWeight, nearMoved] = [column(), column(), column()];
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    const own = (moved[leaf] = change[leaf]! * weight[leaf]!);
    if (change[leaf]! * own >= 9) continue;
    nearWeight[leaf] = weight[leaf]!;
    nearMoved[leaf] = own;
  }
  let [ordinary, shifted] = [sumOver(nearWeight), sumOver(nearMoved)];
  return {
    columns: [weight, moved],
    best(at, [w, s], above) {
      const { groups } = cuboids[at]!;
      const common = ordinary > 0 ? shifted / ordinary : 0;
      const price = priceOf(cuboids.length, groups);
      let bar = 2 * (price + above);
      let best = -1;
      for (let one = 0; one < groups; one += 1) {
        const weight = w![one]!;
        // What is left of a group whose leaves are out is rounding.
        if (weight < 1e-3) continue;
        const own = s![one]! - common * weight;
        // What is left beside a large group: where that stayed, the group moved, and not all alike.
        const others = Math.max(ordinary - weight, LEAST_REST * ordinary);
        const stayed = (shifted - s![one]!) / others;
        const moved = s![one]! / weight;
        const beside = Math.abs(stayed + shift) < Math.abs(moved + shift) ? ordinary / others : 1;
        const ratio = ((own * own) / weight) * beside * vanishing(moved);
        if (ratio <= bar || Math.abs(own) * beside <= PART_TOLERANCE * weight) continue;
        bar = ratio * (1 + 1e-9);
        best = one;
      }
      return best < 0 ? undefined : { group: best, score: bar / 2 - price };
    },
    taken(leaves) {
      ordinary -= sumOver(nearWeight, leaves);
      shifted -= sumOver(nearMoved, leaves);
    },
  };
}

/**
 * By how much the deviance of two counts is more than the square of their difference by its variance:
 * 1 for a small relative change, 2 ln 2 where all rows vanished or nothing was there before.
 */
function vanishing(change: number): number {
  const x = Math.min(1, (change * change) / 4);
  // Of ((1 + √x) ln (1 + √x) + (1 − √x) ln (1 − √x)) / x within 1 %.
  return 1 + x / 6 + 0.22 * x * x;
}

/** The median of a chi-squared. */
const CHI_SQUARED = 0.4549;
/** The variance of a change whose median is 1, halfway to the most that it can be. */
const SATURATED = 1.4826 ** 2;
/** Of so many leaves the noise is learned: medians of a twentieth of them are within a few percent. */
const SAMPLE = 10_000;

/** At most SAMPLE of the numbers below `many` that are wanted. */
function sampled(many: number, wanted: (at: number) => boolean): Int32Array {
  const all = new Int32Array(many);
  let size = 0;
  for (let at = 0; at < many; at += 1) if (wanted(at)) all[size++] = at;
  const step = Math.max(1, size / SAMPLE);
  return new Int32Array(Math.floor(size / step)).map((_, at) => all[Math.floor(at * step)]!);
}

interface Noise {
  readonly change: Float64Array;
  readonly size: Float64Array;
  readonly centre: number;
  /** Leaves of causes. */
  readonly out: Uint8Array;
  /** True if they are known. */
  readonly last: boolean;
}

/**
 * 1 / variance of each leaf's change, 0 where there is nothing: s² + φ times what a Poisson count of
 * its size would have. Leaves tell both by their sizes, few leaves φ alone.
 */
function weights(given: CountLeaves, { change, size, centre, out, last }: Noise): Float64Array {
  // A median of changes of fewer rows is a step.
  const least = given.runs ? 8 : 30;
  const sample = sampled(size.length, (leaf) => size[leaf]! >= least && !(last && out[leaf] === 1));
  const leaves = sample.sort((a, b) => size[a]! - size[b]!);
  const scale = 2 * (1 + given.ratio * centre);
  const poisson = Float64Array.from(leaves, (leaf) => scale / size[leaf]!);
  const moved = Float64Array.from(leaves, (leaf) => Math.abs(change[leaf]!));
  const bins = Math.min(20, Math.floor(leaves.length / 50));
  const points = Array.from({ length: bins }, (_, bin) => {
    const [from, to] = [bin, bin + 1].map((at) => Math.floor((at * leaves.length) / bins));
    const middle = median(moved.subarray(from, to)) * 1.4826;
    return { variance: middle * middle, poisson: median(poisson.subarray(from, to)) };
  });
  const clump = given.runs ? CLUMP.runs : CLUMP.rows;
  const squares = moved.map((by, at) => by ** 2 / poisson[at]!);
  const seen = leaves.length === 0 ? 1 : Math.max(1, median(squares) / CHI_SQUARED);
  const ofFew = (leaves.length * seen + PRIOR * clump) / (leaves.length + PRIOR);
  const { s2, phi } = fitted(points) ?? { s2: 0, phi: ofFew };
  const weight = new Float64Array(size.length);
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    const total = size[leaf]!;
    if (total > 0)
      weight[leaf] = 1 / (s2 + ((total < least ? Math.max(1, phi) : phi) * scale) / total + 1e-6);
  }
  return weight;
}

/** Variances as s² + φ x, both at least 0, by the least absolute difference of logarithms on a grid. */
function fitted(points: readonly { variance: number; poisson: number }[]) {
  // Where most leaves are there before or after only, as single runs of many rows are, their change is
  // ± 2 whatever the noise: larger leaves show it.
  const unsaturated = points.filter(({ variance }) => variance < SATURATED);
  if (unsaturated.length < 3) return undefined;
  const most = Math.max(1e-9, greatest(unsaturated.map(({ variance }) => variance)));
  let best = { s2: most, phi: 1 };
  let least = Infinity;
  for (let i = 0; i <= 40; i += 1) {
    const s2 = i === 0 ? 0 : most * 10 ** (-4 + i / 10);
    for (let j = 0; j <= 50; j += 1) {
      const phi = j === 0 ? 0 : 10 ** (-2 + j / 10);
      const off = unsaturated.reduce(
        (sum, { variance, poisson }) =>
          sum + Math.abs(Math.log((variance + 1e-9) / (s2 + phi * poisson + 1e-9))),
        0,
      );
      if (off < least) [least, best] = [off, { s2, phi }];
    }
  }
  return best;
}

/**
 * Pulls changes of the tails in to what leaves of their rank have under normal noise: the slope of
 * the quantile-quantile line over the outermost hundredth of the leaves that no cause explains.
 */
function shrinkTails(change: Float64Array, weight: Float64Array, out: Uint8Array): void {
  const z = change.map((by, leaf) => Math.abs(by) * Math.sqrt(weight[leaf]!));
  const all = new Float64Array(z.length);
  let size = 0;
  for (let leaf = 0; leaf < z.length; leaf += 1) {
    if (out[leaf] === 0 && weight[leaf]! > 0) all[size++] = z[leaf]!;
  }
  if (size <= 100) return;
  const inner = Math.max(20, Math.floor(size * 0.01));
  const outer = Math.max(8, Math.floor(inner / 12));
  // Only the tail need be in order.
  const far = all.subarray(0, size).filter((own) => own > 2);
  const rest = (far.length > inner ? far : all.subarray(0, size)).sort();
  const last = rest.length - 1;
  // Loaded when it is needed: importing probelab need not.
  const statistics = require("simple-statistics") as { probit: typeof probit };
  const normal = (rank: number) => -statistics.probit((rank + 0.5) / (2 * size));
  const from = rest[last - inner]!;
  const bulk = Math.max(1, from / normal(inner));
  const slope = (rest[last - outer]! - from) / (normal(outer) - normal(inner));
  const tail = Math.max(bulk, slope);
  z.forEach((own, leaf) => {
    if (!(weight[leaf]! > 0)) return;
    const pulled = own <= from ? own / bulk : from / bulk + (own - from) / tail;
    change[leaf] = (Math.sign(change[leaf]!) * pulled) / Math.sqrt(weight[leaf]!);
  });
}
