import { cuboidsOf, sumOver, sumsIn, type Cuboid } from "./cuboids.js";
import { changesOf, dispersion, pullIn, weights, type CountLeaves } from "./noise.js";
import { greedy, type Found, type Score } from "./search.js";
import { LEAST_REST, priceOf, USUAL } from "./thresholds.js";

export interface CountCauses {
  /** The most certain first; no two share a leaf. */
  readonly causes: readonly Found[];
  /** What the leaves of no cause did, as a factor: 1 where they stayed. */
  readonly ordinary: number;
  /** What leaves were to be: what they were, where nothing else is expected. */
  readonly expected: Float64Array;
  /** Variance of what each leaf became, by the noise that leaves show. */
  readonly variance: Float64Array;
}

/** Causes of less than this part of the strongest one's score don't teach what is expected. */
const SHADOW = 4;
/** So many more causes may say it more simply than a change of all. */
const FEW_MORE = 3;

/**
 * The smallest set of elements whose own changes explain how a count changed.
 *
 * Each leaf's relative change d = 2 (after − before) / (after + before) is taken as ordinary plus
 * noise. The score of an element is the likelihood ratio of a change of its own against that of all
 * others, with normal noise of unequal variances: the scan statistic of M. Kulldorff, "A spatial scan
 * statistic", Communications in Statistics 26 (6), 1997. Changes within 5 % of the ordinary count for
 * nothing.
 */
export function countCauses(
  given: CountLeaves,
  cuboids: readonly Cuboid[] = cuboidsOf(given),
): CountCauses {
  const learned = searched(given, cuboids);
  const far = Math.abs(Math.log(learned.ordinary));
  if (far < 2 * USUAL) return learned;
  // That few parts changed, and a fair rest didn't, is a simpler account than that all did.
  const still = searched(given, cuboids, true);
  const out = new Uint8Array(given.before.length);
  for (const { leaves } of still.causes) for (const leaf of leaves) out[leaf] = 1;
  const rest = Math.abs(Math.log(recentred(given, out, Infinity)));
  const few = still.causes.length <= learned.causes.length + FEW_MORE;
  return few && rest < far / 2 ? still : learned;
}

/** @param fixed whether what has no cause stayed as it was. */
function searched(asked: CountLeaves, cuboids: readonly Cuboid[], fixed = false): CountCauses {
  const many = asked.before.length;
  let centre = 1;
  let causes: readonly Found[] = [];
  const out = new Uint8Array(many);
  let given = asked;
  let size: Float64Array = new Float64Array(many);
  let weight = size;
  // The noise is that of leaves that no cause explains, known once causes are found.
  for (const last of asked.expect ? [false, false, false, true] : [false, true]) {
    if (asked.expect) given = { ...asked, before: asked.expect(strongest(causes, many)) };
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
    causes = greedy(
      given,
      cuboids,
      countScore(given, cuboids, { change, weight, fixed, out }),
      out,
    );
    if (!fixed) centre = recentred(given, out, centre);
  }
  // Of what leaves became, by that of their changes.
  const variance = weight.map((own, leaf) => (own > 0 ? (size[leaf]! / 2) ** 2 / own : 0));
  return { causes, ordinary: centre, expected: given.before, variance };
}

/**
 * Marks the leaves of the strongest causes: a weaker one may be no more than the shadow that a strong
 * one throws on what is expected of other releases.
 */
function strongest(causes: readonly Found[], many: number): Uint8Array {
  const marked = new Uint8Array(many);
  const most = causes.reduce((best, { score }) => Math.max(best, score), 0);
  for (const { leaves, score } of causes) {
    if (score >= most / SHADOW) for (const leaf of leaves) marked[leaf] = 1;
  }
  return marked;
}

interface Moved {
  readonly change: Float64Array;
  /** 1 / variance of each leaf's change. */
  readonly weight: Float64Array;
  /** What ordinary leaves have in common beyond the centre is small. */
  readonly fixed: boolean;
  readonly out: Uint8Array;
}

function countScore(
  { sizes, codes }: CountLeaves,
  cuboids: readonly Cuboid[],
  { change, weight, fixed, out }: Moved,
): Score {
  const moved = change.map((value, leaf) => value * weight[leaf]!);
  // Of leaves within 3 standard deviations: what is ordinary so far.
  const near = (values: Float64Array) =>
    values.map((value, leaf) => (change[leaf]! * moved[leaf]! < 9 ? value : 0));
  const [nearWeight, nearMoved] = [near(weight), near(moved)];
  let [ordinary, shifted] = [sumOver(nearWeight), sumOver(nearMoved)];
  const bounded = (mean: number) => (fixed ? Math.max(-USUAL, Math.min(USUAL, mean)) : mean);
  /** What all but a group have in common: a value of half of the rows is no part of what it is measured against. */
  const beside = ({ dimensions: [dimension, second], example }: Cuboid) => {
    const common = bounded(ordinary > 0 ? shifted / ordinary : 0);
    if (second !== undefined) return () => common;
    const own = sumsIn(codes[dimension!]!, nearWeight, sizes[dimension!]!, out);
    const by = sumsIn(codes[dimension!]!, nearMoved, sizes[dimension!]!, out);
    return (group: number) => {
      const code = codes[dimension!]![example[group]!]!;
      const rest = ordinary - own[code]!;
      return rest > LEAST_REST * ordinary ? bounded((shifted - by[code]!) / rest) : common;
    };
  };
  return {
    columns: [weight, moved],
    best(at, [w, s], above) {
      const cuboid = cuboids[at]!;
      const common = beside(cuboid);
      const price = priceOf(cuboids.length, cuboid.groups);
      let bar = 2 * (price + above);
      let best = -1;
      for (let one = 0; one < cuboid.groups; one += 1) {
        const weight = w![one]!;
        // What is left of a group whose leaves are out is rounding.
        if (weight < 1e-3) continue;
        const own = s![one]! - common(one) * weight;
        if (Math.abs(own) <= USUAL * weight) continue;
        const ratio = ((own * own) / weight) * vanishing(s![one]! / weight);
        if (ratio <= bar) continue;
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
