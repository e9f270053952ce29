import { leavesOf, sumsIn, takeOut, type Cuboid, type Element, type Leaves } from "./cuboids.js";
import { priceOf } from "./thresholds.js";

/** An element whose leaves changed together. */
export interface Found extends Element {
  /** Its leaves that nothing found before it has. */
  readonly leaves: readonly number[];
  readonly score: number;
  /** True if some of its leaves are of what was found before. */
  readonly rest: boolean;
}

/** What the logarithm of an element's likelihood ratio must exceed. */
export function elementPrice(cuboids: readonly Cuboid[], { dimensions }: Element): number {
  const own = cuboids.find((one) => one.dimensions.join() === dimensions.join())!;
  return priceOf(cuboids.length, own.groups);
}

/** How elements are judged by what their leaves add up to. */
export interface Score {
  /** What adds up over leaves. */
  readonly columns: readonly Float64Array[];
  /** The group of the cuboid whose score is the greatest beyond `above`; undefined where none is. */
  best(
    at: number,
    sums: readonly Float64Array[],
    above: number,
  ): { readonly group: number; readonly score: number } | undefined;
  /** Called with the leaves of what was found, and with what they add up to. */
  taken?(leaves: readonly number[], sums: readonly number[]): void;
}

/** So many elements at most, each with a greater score than `least`. */
export interface Limits {
  readonly most: number;
  readonly least: number;
}

/**
 * The elements (values of dimensions, and combinations of them) that a change is made of: the one with
 * the greatest score, and again without its leaves, until none is worth its price. The search over the
 * cube follows RiskLoc, arXiv:2205.10004.
 */
export function greedy(
  leaves: Leaves,
  cuboids: readonly Cuboid[],
  score: Score,
  { most, least }: Limits,
): Found[] {
  const out = new Uint8Array(leaves.codes[0]?.length ?? 0);
  const sums = score.columns.map((column) =>
    cuboids.map(({ parts, groups }) => sumsIn(parts, column, groups)),
  );
  const found: Found[] = [];
  while (found.length < most) {
    let best: { readonly at: number; readonly group: number; readonly score: number } | undefined;
    for (let at = 0; at < cuboids.length; at += 1) {
      const own = sums.map((of) => of[at]!);
      // Elements of equal leaves are named by the fewer dimensions, which come first.
      const above = best === undefined ? least : best.score * (1 + 1e-9) + 1e-9;
      const better = score.best(at, own, above);
      if (better !== undefined) best = { at, ...better };
    }
    if (best === undefined) break;
    const { at, group } = best;
    const { dimensions, example } = cuboids[at]!;
    const leaf = example[group]!;
    const element = { dimensions, values: dimensions.map((one) => leaves.codes[one]![leaf]!) };
    const all = leavesOf(leaves, element);
    const own = all.filter((leaf) => out[leaf] === 0);
    for (const leaf of own) out[leaf] = 1;
    score.taken?.(
      own,
      sums.map((of) => of[at]![group]!),
    );
    takeOut(cuboids, sums, score.columns, own);
    found.push({ ...element, leaves: own, rest: own.length < all.length, score: best.score });
  }
  return found;
}
