import { middleOf, ofLargest } from "./order.js";

/** Rows by the groups of a cuboid: what was to be expected of each, and what came. */
export interface SumTable {
  readonly dimensions: readonly number[];
  /** The first leaf of each group. */
  readonly example: Int32Array;
  readonly expected: Float64Array;
  readonly came: Float64Array;
  /** By how much what is expected is itself uncertain: 0 where it is what was. */
  readonly doubt?: Float64Array;
}

/** Changes up to this factor are ordinary. */
const USUAL = 0.05;
/** What a group's score must exceed besides the logarithm of how many there are to choose from. */
const CAUTION = 3;
/** Rows below which a group's noise isn't learned. */
const FEW = 30;
/** So many groups tell their own noise. */
const MANY = 12;
/** What fewer can't tell is taken from what services are like: rows come in runs of some thirty. */
const PRIOR_DISPERSION = 30;
const PRIOR_GROUPS = 4;
/** The median of a chi-squared of one degree. */
const MIDDLE = 0.4549;

/**
 * How many times a Poisson count's variance sums have, as rows come in runs: by the middle of the
 * larger half of the groups of all tables, most of which went as the whole did.
 */
export function dispersionOf(tables: readonly SumTable[], ratio: number): number {
  const [sizes, squares]: [number[], number[]] = [[], []];
  for (const { expected, came, doubt } of tables) {
    for (let at = 0; at < expected.length; at += 1) {
      const [e, a] = [expected[at]!, came[at]!];
      if (!(e + a >= FEW)) continue;
      sizes.push(e + a);
      squares.push((a - e) ** 2 / poisson(e, a, ratio, doubt?.[at]));
    }
  }
  const large = ofLargest(squares, sizes, Math.max(MANY, Math.ceil(sizes.length / 2)));
  const own = Math.max(1, middleOf(large) / MIDDLE);
  const n = large.length;
  return n < MANY ? (n * own + PRIOR_GROUPS * PRIOR_DISPERSION) / (n + PRIOR_GROUPS) : own;
}

/** Variance that a difference of two Poisson counts has. */
export function poisson(expected: number, came: number, ratio: number, doubt = 0): number {
  return (came + ratio * expected) * (1 + doubt);
}

/** The group whose sum moved most beyond chance, and by how much: the logarithm of how likely, less the price of the choice. */
export function greatest(
  tables: readonly SumTable[],
  ratio: number,
  dispersion: number,
): { readonly table: SumTable; readonly group: number; readonly score: number } | undefined {
  let best: { table: SumTable; group: number; score: number } | undefined;
  for (const table of tables) {
    const { expected, came, doubt, dimensions } = table;
    let living = 0;
    for (let at = 0; at < expected.length; at += 1) living += Number(expected[at]! + came[at]! > 0);
    const own = living < MANY ? 1 : dispersionOf([table], ratio);
    const noise = Math.max(dispersion, own);
    // Of all rows there is no choice.
    const choice = dimensions.length === 0 ? 1 : Math.max(1, living) * tables.length;
    const price = Math.log(choice) + CAUTION;
    for (let group = 0; group < expected.length; group += 1) {
      const [e, a] = [expected[group]!, came[group]!];
      const moved = Math.abs(a - e);
      // That all grew by a little is no cause, but what others are measured against.
      if (dimensions.length > 0 && moved <= (USUAL * (a + e)) / 2) continue;
      const score = (moved * moved) / (2 * noise * poisson(e, a, ratio, doubt?.[group])) - price;
      if (score > (best?.score ?? 0)) best = { table, group, score };
    }
  }
  return best;
}
