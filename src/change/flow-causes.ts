import { isVersionColumn } from "../result/origin.js";
import type { ChangeCells } from "./cells.js";
import { amountNoise, countCauses } from "./count-causes.js";
import {
  cuboidsOf,
  elementOf,
  grouped,
  leavesOf,
  sumOver,
  sumsBy,
  sumsIn,
  type Element,
  type Leaves,
} from "./cuboids.js";
import { moves, narrowed, releaseTables, whereOf, type ReleaseCause } from "./releases.js";
import { dispersionOf, greatest, type SumTable } from "./sums.js";
import type { CauseValue } from "./words.js";

/** What a count's change comes from. */
export interface FlowCauses {
  /** Disjoint. */
  readonly causes: readonly {
    readonly where: Readonly<Record<string, CauseValue>>;
    readonly leaves: readonly number[];
  }[];
  /** What rows of no cause became, as a factor: the ranges' ratio where they stayed. */
  readonly factor: number;
  /** Whether those changed by so much that it is to be told. */
  readonly alike: boolean;
  /** Of each leaf's change. */
  readonly variance: Float64Array;
  readonly moves: ReturnType<typeof moves>;
}

/** The whole is said to have changed where it did by more than this. */
const WHOLE = 0.1;

/**
 * The causes of a count's change: of what leaves did, then of what sums of values did, both without
 * versions, then of releases within other values; each is then narrowed to releases.
 */
export function flowCauses(cells: ChangeCells): FlowCauses {
  const { ratio, names } = cells;
  const many = cells.before.length;
  const { versions, others, kept } = dimensionsOf(names);
  const { place, example, ...plain } = projected(cells, kept);
  const cuboids = cuboidsOf(plain);
  const found = countCauses({ ...plain, ratio }, cuboids);
  const taken = new Uint8Array(many);
  const wide: ReleaseCause[] = [];
  const take = (element: Element, found?: readonly number[]) => {
    const leaves = found ?? leavesOf(cells.leaves, element, taken);
    for (const leaf of leaves) taken[leaf] = 1;
    wide.push({ ...element, leaves });
  };
  for (const { dimensions, values, leaves } of found.causes) {
    const element = { dimensions: dimensions.map((one) => kept[one]!), values };
    take(element, kept.length === names.length ? leaves : undefined);
  }
  const few = cuboids
    .filter(({ dimensions }) => dimensions.length <= 2)
    .map((cuboid) => ({
      dimensions: cuboid.dimensions.map((one) => kept[one]!),
      example: cuboid.example.map((leaf) => example[leaf]!),
    }));
  const left = (values: Float64Array) => sumsIn(place, values, example.length, taken);
  const sums = (values: Float64Array) => sumsBy(cuboids, values, { many: few.length });
  let dispersion = 1;
  let centre = 1;
  let settled = false;
  while (wide.length < 20) {
    const [before, after] = [left(cells.before), left(cells.after)];
    const [was, is] = [sums(before), sums(after)];
    const tablesBy = (factor: number, of = few) =>
      of.map((cuboid, at): SumTable => {
        return { ...cuboid, expected: was[at]!.map((one) => one * factor), came: is[at]! };
      });
    const singles = few.slice(0, kept.length);
    const [allWas, allIs] = [sumOver(before) * ratio, sumOver(after)];
    const drift = allWas > 0 ? allIs / allWas : 1;
    // What one value did isn't noise: that of pairs is measured against the values of one dimension.
    const plainTables = tablesBy(ratio);
    dispersion = Math.min(
      dispersionOf(tablesBy(ratio * drift, singles), ratio),
      ...kept.map((dimension) => dispersionOf(within(dimension, plainTables, cells.leaves), ratio)),
    );
    const search = (first: readonly SumTable[]) => {
      const factor = ratio * centre;
      const releases = versions.flatMap((dimension) =>
        kept.includes(dimension) ? [] : releaseTables({ cells, dimension, factor, taken }, others),
      );
      return greatest([...first, ...tablesBy(factor, singles), ...releases], ratio, dispersion);
    };
    const whole: SumTable = {
      ...{ dimensions: [], example: Int32Array.of(0) },
      ...{ expected: Float64Array.of(allWas * centre), came: Float64Array.of(allIs) },
    };
    let best = search(settled ? [] : [whole]);
    if (best?.table === whole) {
      centre = drift;
      settled = true;
      best = search([]);
    }
    if (best === undefined) break;
    take(elementOf(cells.leaves, best.table, best.group));
  }
  const factor = ratio * centre;
  const named = new Uint8Array(many);
  const causes = wide.flatMap((one) => {
    // Those that joined one before are told.
    const left = { ...one, leaves: one.leaves.filter((leaf) => named[leaf] === 0) };
    if (left.leaves.length === 0) return [];
    const search = { cells, factor, taken, dispersion, causes: wide };
    const narrow = versions.reduce<ReleaseCause | undefined>(
      (cause, dimension) => cause && narrowed(cause, { ...search, dimension }),
      left,
    );
    if (narrow === undefined) return [];
    const leaves = narrow.leaves.filter((leaf) => named[leaf] === 0);
    for (const leaf of leaves) named[leaf] = 1;
    return [{ where: whereOf(narrow, cells), leaves }];
  });
  return {
    causes,
    factor,
    alike: settled && Math.abs(centre - 1) > WHOLE,
    variance: leafVariance(cells, found.variance, { place, ...plain }),
    moves: versions.flatMap((dimension) => moves(cells, dimension, factor)),
  };
}

/** The variance of each leaf's change, by what leaves without their versions did. */
export function flowNoise(cells: ChangeCells): Float64Array {
  const plain = projected(cells, dimensionsOf(cells.names).kept);
  return leafVariance(cells, amountNoise({ ...plain, ratio: cells.ratio }), plain);
}

function dimensionsOf(names: readonly string[]) {
  const versions = names.flatMap((name, at) => (isVersionColumn(name) ? [at] : []));
  const others = names.flatMap((_, at) => (versions.includes(at) ? [] : [at]));
  // Users go from release to release: what one loses says nothing, what all of them lose does.
  return { versions, others, kept: others.length === 0 ? versions : others };
}

/** Pairs of values of a dimension with others, as they would be had they all done what the dimension's value did. */
function within(dimension: number, tables: readonly SumTable[], { codes }: Leaves): SumTable[] {
  const code = codes[dimension]!;
  const own = tables.find(
    ({ dimensions: [one, other] }) => one === dimension && other === undefined,
  );
  const groupOf = new Map(Array.from(own!.example, (leaf, group) => [code[leaf]!, group]));
  return tables
    .filter(({ dimensions }) => dimensions.length === 2 && dimensions.includes(dimension))
    .map((table) => {
      const expected = new Float64Array(table.expected.length);
      const doubt = new Float64Array(table.expected.length);
      const came = table.came.slice();
      table.example.forEach((leaf, group) => {
        const at = groupOf.get(code[leaf]!)!;
        const [was, is] = [own!.expected[at]!, own!.came[at]!];
        // A pair makes up a part of the value that it is measured against: all of it tells nothing.
        const part = (table.expected[group]! + came[group]!) / (was + is);
        if (part > 0.5) {
          came[group] = 0;
          return;
        }
        expected[group] = was > 0 ? table.expected[group]! * (is / was) : 0;
        doubt[group] = -part;
      });
      return { ...table, expected, came, doubt };
    });
}

/** The variance of each leaf's change: of what holds several of them its part by size. */
function leafVariance(
  { before, after, ratio }: ChangeCells,
  own: Float64Array,
  plain: Pick<ReturnType<typeof projected>, "place" | "before" | "after">,
): Float64Array {
  return before.map((was, leaf) => {
    const at = plain.place[leaf]!;
    const all = plain.before[at]! * ratio + plain.after[at]!;
    return all > 0 ? (own[at]! * (was * ratio + after[leaf]!)) / all : 0;
  });
}

/** The cells by some of their dimensions only: where each leaf went, and the first leaf at each place. */
function projected({ leaves, names, before, after }: ChangeCells, kept: readonly number[]) {
  if (kept.length === names.length) {
    const same = new Int32Array(before.length).map((_, leaf) => leaf);
    return { place: same, example: same, ...leaves, before, after };
  }
  const { parts: place, groups, example } = grouped(leaves, kept);
  return {
    ...{ place, example },
    sizes: kept.map((dimension) => leaves.sizes[dimension]!),
    codes: kept.map((dimension) => example.map((leaf) => leaves.codes[dimension]![leaf]!)),
    before: sumsIn(place, before, groups),
    after: sumsIn(place, after, groups),
  };
}
