import { createRequire } from "node:module";
import type { probit } from "simple-statistics";
import { median } from "../base/statistics.js";
import { sumsBy, type Cuboid, type Leaves } from "./cuboids.js";

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
/** The median of a chi-squared. */
export const CHI_SQUARED = 0.4549;

/** What leaves were (as the whole went since) and are, and the change by the mean of both: none where there is nothing. */
export function changesOf({ before, after, ratio }: CountLeaves, centre: number) {
  const expected = before.map((n) => n * ratio * centre);
  const size = after.map((n, leaf) => n + expected[leaf]!);
  const change = after.map((n, leaf) =>
    size[leaf]! > 0 ? (2 * (n - expected[leaf]!)) / size[leaf]! : 0,
  );
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
  const all = Int32Array.from(size.keys()).filter(
    (leaf) => size[leaf]! >= least && out?.[leaf] !== 1,
  );
  const step = Math.max(1, all.length / SAMPLE);
  const leaves = all
    .subarray(0, Math.floor(all.length / step))
    .map((_, at) => all[Math.floor(at * step)]!)
    .sort((a, b) => size[a]! - size[b]! || a - b);
  const poisson = (leaf: number) => (2 * (1 + ratio)) / size[leaf]!;
  const moved = Float64Array.from(leaves, (leaf) => Math.abs(change[leaf]!));
  const chance = Float64Array.from(leaves, poisson);
  const few = leaves.length < MANY ? ofFew(moved, chance, clump) : undefined;
  const bins = Math.min(20, Math.floor(leaves.length / 50));
  const points = Array.from({ length: bins }, (_, bin) => {
    const [from, to] = [bin, bin + 1].map((at) => Math.floor((at * leaves.length) / bins));
    const middle = median(moved.subarray(from, to)) * 1.4826;
    return { variance: middle * middle, poisson: median(chance.subarray(from, to)) };
  });
  const { s2, phi } = fitted(points) ?? { s2: 0, phi: few ?? coarse() };
  return size.map((total, leaf) => {
    if (!(total > 0)) return 0;
    const own = (total < least ? Math.max(1, phi) : phi) * poisson(leaf);
    return 1 / (s2 + own + 1e-6);
  });
}

/** Rows (or runs, which scatter less) below which a leaf's noise isn't learned: a median of such few values is a step. */
function fewOf(clump: number): number {
  return clump < CLUMP ? 8 : 30;
}

/** How much more a few large leaves vary than Poisson counts, most of which went as the whole did. */
function ofFew(moved: Float64Array, poisson: Float64Array, clump: number): number | undefined {
  const n = moved.length;
  if (n > 0 && median(moved) > 1) return undefined;
  const squares = moved.map((change, at) => (change * change) / poisson[at]!);
  const own = n === 0 ? 1 : Math.max(1, median(squares) / CHI_SQUARED);
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
  const many = cuboids.filter(({ dimensions }) => dimensions.length <= 2).length;
  const was = sumsBy(cuboids, given.before, { many, out });
  const is = sumsBy(cuboids, given.after, { many, out });
  const groups = was.flatMap((sums, at) =>
    Array.from(sums, (before, group) => {
      const had = before * given.ratio * centre;
      const total = had + is[at]![group]!;
      const d = (2 * (is[at]![group]! - had)) / total;
      return { total, square: (d * d * total) / (2 * (1 + given.ratio)) };
    }).filter(({ total }) => total >= fewOf(given.clump ?? CLUMP)),
  );
  groups.sort((a, b) => b.total - a.total);
  const middle = (some: typeof groups) =>
    some.length === 0 ? 0 : median(some.map(({ square }) => square)) / CHI_SQUARED;
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
      const off = telling.reduce(
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
export function pullIn(change: Float64Array, weight: Float64Array, out: Uint8Array): void {
  const z = change.map((by, leaf) => Math.abs(by) * Math.sqrt(weight[leaf]!));
  const rest = z.filter((_, leaf) => out[leaf] === 0 && weight[leaf]! > 0).sort();
  const size = rest.length;
  if (size <= 100) return;
  const inner = Math.max(20, Math.floor(size * 0.01));
  const outer = Math.max(8, Math.floor(inner / 12));
  // Loaded when it is needed: importing probelab need not.
  const statistics = require("simple-statistics") as { probit: typeof probit };
  const normal = (rank: number) => -statistics.probit((rank + 0.5) / (2 * size));
  const from = rest[size - 1 - inner]!;
  const bulk = Math.max(1, from / normal(inner));
  const slope = (rest[size - 1 - outer]! - from) / (normal(outer) - normal(inner));
  const tail = Math.max(bulk, slope);
  z.forEach((own, leaf) => {
    if (!(weight[leaf]! > 0)) return;
    const pulled = own <= from ? own / bulk : from / bulk + (own - from) / tail;
    change[leaf] = (Math.sign(change[leaf]!) * pulled) / Math.sqrt(weight[leaf]!);
  });
}
