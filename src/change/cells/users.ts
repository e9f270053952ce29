import type { ChangeCells } from "./cells.js";
import { groupedBy, leavesBy, sumOver, sumsIn } from "./cuboids.js";
import { releaseDimensions, upgrade } from "./releases.js";
import {
  HEAVIEST,
  LEAST_PLACES,
  CLUMP,
  UNSEEN,
  PART_TOLERANCE,
  TOTAL_TOLERANCE,
  WIDE,
} from "./thresholds.js";

/** How a count scatters as users come and go. */
export interface Users {
  /** True if places show how users scatter. */
  readonly known: boolean;
  /** The variance of each row's change: their sum is that of a group's. */
  readonly variance: Float64Array;
  /** Natural logarithm of how unlikely it is that these leaves changed so, were it only by users. @param factor what was ordinary. */
  readonly against: (leaves: readonly number[], factor?: number) => number;
  /**
   * The least part of all rows (of both ranges) whose loss would be that unlikely.
   * @param lost the part of a value's rows (of before) that this is; missing: they are lost over all rows.
   */
  readonly least: (unlikely: number, lost?: number) => number;
}

/** The dimensions that tell users apart: rows of one are of one program, country and network, in several tests and versions. */
export function userDimensions({ names }: Pick<ChangeCells, "names">): number[] {
  const { version } = releaseDimensions({ names });
  const all = names.map((_, dimension) => dimension);
  const own = all.filter((one) => one !== version && names[one] !== "test_name");
  return own.length > 0 ? own : all;
}

/** Effective number of places behind the change (inverse participation ratio). */
export function placesIn(cells: ChangeCells, leaves: readonly number[], moved: Float64Array) {
  const sums = [
    ...leavesBy(groupedBy(cells.leaves, userDimensions(cells)).parts, leaves).values(),
  ].map((own) => sumOver(moved, own));
  const all = sums.reduce((sum, by) => sum + by, 0);
  return all ** 2 / sums.reduce((sum, by) => sum + by ** 2, 0);
}

/** True if these leaves' change may be one user's: it is of hardly more than one program, country and network. */
export function isOneUser(cells: ChangeCells, leaves: readonly number[], moved: Float64Array) {
  return cells.names.includes("probe_asn") && placesIn(cells, leaves, moved) < WIDE;
}

/** Logarithm of Bennett's bound. @param most the greatest single change. */
function exponent(change: number, variance: number, most: number): number {
  if (!(change > 0)) return 0;
  const far = (change * most) / variance;
  // Of a small one the normal distribution's, into which it goes over.
  return far < 1e-3
    ? change ** 2 / (2 * variance)
    : (variance / most ** 2) * ((1 + far) * Math.log1p(far) - far);
}

/**
 * Users are what is independent: all rows of one come and go together, and they are of one program,
 * country and network, in several tests and, one after the other, versions. By how much such places
 * changed, beside the causes, shows how users scatter and how many rows the heaviest of them has. A sum
 * of changes that are no greater than his is bounded by Bennett's inequality ("Probability inequalities
 * for the sum of independent random variables", JASA 57, 1962).
 *
 * Where neither versions nor tests were asked about, or places are few, leaves are what is independent.
 *
 * @param out marks the leaves of causes. @param ordinary what all others did, as a factor.
 * @param variance of each leaf's change, as leaves show it.
 */
export function usersOf(
  cells: ChangeCells,
  out: Uint8Array,
  ordinary: number,
  variance: Float64Array,
): Users {
  const counted = { ...cells, ...cells.runs };
  const had = upgrade(cells, counted, out)(counted.before).map((n) => n * cells.ratio);
  const size = had.map((n, leaf) => n + counted.after[leaf]!);
  const moved = had.map((n, leaf) => counted.after[leaf]! - n * ordinary);
  const dimensions = userDimensions(cells);
  const { parts, groups } = groupedBy(cells.leaves, dimensions);
  const [n, by] = [sumsIn(parts, size, groups, out), sumsIn(parts, moved, groups, out)];
  const squares = by.map((change) => change ** 2);
  // In large places a user is lost in what the place does by itself: the heaviest is seen in the others.
  const sorted = n.slice().sort();
  let left = sumOver(n) / 2;
  const small = sorted.find((own) => (left -= own) <= 0) ?? 0;
  const heavy = Array.from(n.keys())
    .filter((at) => n[at]! > 0 && n[at]! <= small)
    .sort((a, b) => squares[b]! / n[b]! - squares[a]! / n[a]!);
  const [allSquares, all] = [sumOver(squares), sumOver(n)];
  /** What the other places than these show: the variance of a row's change, and rows of the heaviest user. */
  const beside = (own: ReadonlySet<number>) => {
    let [mine, rows] = [0, 0];
    for (const at of own) [mine, rows] = [mine + squares[at]!, rows + n[at]!];
    const sum = allSquares - mine + CLUMP.runs * CLUMP.rows;
    const first = heavy.find((at) => !own.has(at));
    const most = first === undefined ? 0 : squares[first]! / n[first]!;
    return {
      scatter: Math.max(1, sum / (all - rows + CLUMP.rows)),
      heaviest: UNSEEN * Math.max(HEAVIEST, most),
    };
  };
  const known = dimensions.length < cells.names.length && groups >= LEAST_PLACES;
  const { scatter, heaviest } = beside(new Set());
  const varianceOf = known ? size.map((n) => n * scatter) : variance;
  const codes = cells.leaves.codes[releaseDimensions(cells).version];
  return {
    known,
    variance: varianceOf,
    against(leaves, factor = ordinary) {
      const movedBy = (some: readonly number[]) =>
        sumOver(counted.after, some) - factor * sumOver(had, some);
      const change = movedBy(leaves);
      const own = leavesBy(parts, leaves);
      const { scatter, heaviest } = beside(new Set(own.keys()));
      const most = known
        ? [...own.values()].reduce((a, own) => Math.max(a, Math.sign(change) * movedBy(own)), 0)
        : 0;
      const n = sumOver(size, leaves);
      const isRelease = codes && leaves.every((leaf) => codes[leaf] === codes[leaves[0]!]);
      const usual = factor === 1 || isRelease ? TOTAL_TOLERANCE : PART_TOLERANCE;
      const spread = known ? n * scatter : sumOver(variance, leaves);
      return exponent(Math.abs(change) - (usual * n) / 2, spread, Math.min(heaviest, most));
    },
    least(unlikely, lost) {
      const rowsOfAll = sumOver(size);
      const perRow = Math.max(sumOver(varianceOf), sumOver(variance)) / rowsOfAll;
      let [low, high] = [0, rowsOfAll];
      for (let step = 0; step < 40; step += 1) {
        const rows = (low + high) / 2;
        // A value's rows of both ranges: of one that lost half three times what it lost.
        const n = lost === undefined ? rowsOfAll : (2 / lost - 1) * rows;
        const usual = lost === 0.5 ? PART_TOLERANCE : TOTAL_TOLERANCE;
        const beyond = rows - (usual * n) / 2;
        const most = known ? Math.min(heaviest, rows) : 0;
        if (exponent(beyond, perRow * n, most) < unlikely) low = rows;
        else high = rows;
      }
      return high / rowsOfAll;
    },
  };
}
