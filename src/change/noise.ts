import { createRequire } from "node:module";
import type { probit } from "simple-statistics";
import { sumsBy, type Leaves, type Cuboid } from "./cuboids.js";
import { middleOf, nth, sortedPlaces } from "./order.js";

const require = createRequire(import.meta.url);

/** What leaves amounted to, before and after; `ratio` is after's length by before's. */
export interface CountLeaves extends Leaves {
  readonly before: Float64Array;
  readonly after: Float64Array;
  readonly ratio: number;
  /** How many times a Poisson count's variance counts have in general: rows 30, as they come in runs; runs less. */
  readonly clump?: number;
  /** What was to be expected in place of `before`, learned from leaves that aren't out; the same sum. */
  readonly expect?: (out: Uint8Array) => Float64Array;
}

/** The variance of a change whose median is 1, halfway to the most that it can be. */
const SATURATED = 1.4826 ** 2;
/**
 * What a few leaves can't tell is taken from what services are like: rows come in runs of some thirty,
 * which counts as so many leaves do.
 */
const CLUMP = 30;
const PRIOR_LEAVES = 4;
/** So many leaves tell their noise by size. */
const MANY = 150;
/** Of so many the noise is learned: medians of a twentieth of them are within a few percent. */
const SAMPLE = 10_000;
/** Rows below which a leaf's noise isn't learned: a median of such few values is a step. */
const FEW = 30;
/** The same of runs, which scatter less. */
const FEW_RUNS = 8;
/** The median of a chi-squared. */
const CHI_SQUARED = 0.4549;

/** What leaves were (as the whole went since) and are, and the change by the mean of both: none where there is nothing. */
export function changesOf({ before, after, ratio }: CountLeaves, centre: number) {
  const change = new Float64Array(before.length);
  const size = new Float64Array(before.length);
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    const expected = before[leaf]! * ratio * centre;
    const total = after[leaf]! + expected;
    size[leaf] = total;
    if (total > 0) change[leaf] = (2 * (after[leaf]! - expected)) / total;
  }
  return { change, size };
}

/**
 * 1 / variance of each leaf's change, 0 where there is nothing: s² + φ times what a Poisson count of
 * its size would have, learned from the leaves that aren't out.
 *
 * @param ratio length of after by that of before, as the whole went.
 * @param coarse φ where leaves are too small to tell.
 */
export function weights(
  change: Float64Array,
  size: Float64Array,
  ratio: number,
  out: Uint8Array | undefined,
  coarse: () => number,
  clump = CLUMP,
): Float64Array {
  const least = fewOf(clump);
  let leaves = new Int32Array(size.length);
  let elements = 0;
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    if (size[leaf]! >= least && out?.[leaf] !== 1) leaves[elements++] = leaf;
  }
  const step = Math.max(1, elements / SAMPLE);
  elements = Math.floor(elements / step);
  leaves = leaves.slice(0, elements).map((_, at) => leaves[Math.floor(at * step)]!);
  const order = sortedPlaces(
    new Float64Array(elements).map((_, at) => Math.log(size[leaves[at]!]!)),
  );
  const poisson = (leaf: number) => (2 * (1 + ratio)) / size[leaf]!;
  const moved = new Float64Array(elements);
  const chance = new Float64Array(elements);
  for (let place = 0; place < elements; place += 1) {
    const leaf = leaves[order[place]!]!;
    moved[place] = Math.abs(change[leaf]!);
    chance[place] = poisson(leaf);
  }
  const few = elements < MANY ? ofFew(moved, chance, clump) : undefined;
  const bins = Math.min(20, Math.floor(elements / 50));
  const points = Array.from({ length: bins }, (_, bin) => {
    const ends = [
      Math.floor((bin * elements) / bins),
      Math.floor(((bin + 1) * elements) / bins),
    ] as const;
    const middle = middleOf(moved.subarray(...ends)) * 1.4826;
    return { variance: middle * middle, poisson: middleOf(chance.subarray(...ends)) };
  });
  const { s2, phi } = fitted(points) ?? { s2: 0, phi: few ?? coarse() };
  const weight = new Float64Array(size.length);
  for (let leaf = 0; leaf < size.length; leaf += 1) {
    const total = size[leaf]!;
    if (!(total > 0)) continue;
    const own = poisson(leaf);
    const counted = total < least ? Math.max(1, phi) * own : phi * own;
    weight[leaf] = 1 / (s2 + counted + 1e-6);
  }
  return weight;
}

function fewOf(clump: number): number {
  return clump < CLUMP ? FEW_RUNS : FEW;
}

/** How much more a few large leaves vary than Poisson counts, most of which went as the whole did. */
function ofFew(moved: Float64Array, poisson: Float64Array, clump: number): number | undefined {
  const squares = moved.map((change, at) => (change * change) / poisson[at]!);
  if (middleOf(moved) > 1) return undefined;
  const own = Math.max(1, middleOf(squares) / CHI_SQUARED);
  const n = moved.length;
  return (n * own + PRIOR_LEAVES * clump) / (n + PRIOR_LEAVES);
}

/**
 * How much more counts vary than those of a Poisson process, where leaves are too small to tell: by
 * the values and pairs of values, and the larger half of them, most of which went as the whole did.
 */
export function dispersion(
  given: CountLeaves,
  cuboids: readonly Cuboid[],
  centre: number,
  out: Uint8Array,
): number {
  const narrow = cuboids.filter(({ dimensions }) => dimensions.length <= 2).length;
  const was = sumsBy(cuboids, given.before, { many: narrow, out });
  const is = sumsBy(cuboids, given.after, { many: narrow, out });
  const groups: { readonly total: number; readonly square: number }[] = [];
  for (let at = 0; at < narrow; at += 1) {
    was[at]!.forEach((before, group) => {
      const had = before * given.ratio * centre;
      const total = had + is[at]![group]!;
      if (total < fewOf(given.clump ?? CLUMP)) return;
      const d = (2 * (is[at]![group]! - had)) / total;
      groups.push({ total, square: (d * d * total) / (2 * (1 + given.ratio)) });
    });
  }
  groups.sort((a, b) => b.total - a.total);
  const middle = (some: typeof groups) =>
    middleOf(Float64Array.from(some, ({ square }) => square)) / CHI_SQUARED;
  const large = groups.slice(0, Math.ceil(groups.length / 2));
  // Of a handful, the larger half may well hold the cause.
  return Math.max(1, middle(groups), large.length < 8 ? 0 : middle(large));
}

/** Variances as s² + φ x, both at least 0, by the least absolute difference of logarithms on a grid. */
function fitted(points: readonly { variance: number; poisson: number }[]) {
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
        if (off >= least) break;
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
export function pullIn(change: Float64Array, weight: Float64Array, out: Uint8Array): void {
  const z = new Float64Array(change.length);
  let rest = new Float64Array(change.length);
  let size = 0;
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    z[leaf] = Math.abs(change[leaf]!) * Math.sqrt(weight[leaf]!);
    if (out[leaf] === 0 && weight[leaf]! > 0) rest[size++] = z[leaf]!;
  }
  if (size <= 100) return;
  rest = rest.subarray(0, size);
  const inner = Math.max(20, Math.floor(size * 0.01));
  const outer = Math.max(8, Math.floor(inner / 12));
  // Loaded when it is needed: importing probelab need not.
  const statistics = require("simple-statistics") as { probit: typeof probit };
  const normal = (rank: number) => -statistics.probit((rank + 0.5) / (2 * size));
  const from = nth(rest, size - 1 - inner);
  const bulk = Math.max(1, from / normal(inner));
  const tail = Math.max(
    bulk,
    (nth(rest, size - 1 - outer) - from) / (normal(outer) - normal(inner)),
  );
  for (let leaf = 0; leaf < change.length; leaf += 1) {
    if (!(weight[leaf]! > 0)) continue;
    const own = z[leaf]!;
    const pulled = own <= from ? own / bulk : from / bulk + (own - from) / tail;
    change[leaf] = (Math.sign(change[leaf]!) * pulled) / Math.sqrt(weight[leaf]!);
  }
}
