import { isVersionColumn } from "../result/origin.js";
import type { ChangeCells } from "./cells.js";
import { amountNoise, countCauses, type AmountVariance } from "./count-causes.js";
import { grouped, type Cuboid } from "./cuboids.js";
import { moves, narrowed, releaseTables, summed, whereOf, type ReleaseCause } from "./releases.js";
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
  readonly variance: AmountVariance;
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
  const { place, ...plain } = projected(cells, kept);
  const found = countCauses({ ...plain, ratio });
  const leavesOf = listed(place, plain.before.length);
  const taken = new Uint8Array(many);
  const wide: ReleaseCause[] = [];
  const take = (cause: ReleaseCause) => {
    for (const leaf of cause.leaves) taken[leaf] = 1;
    wide.push(cause);
  };
  for (const { dimensions, values, leaves } of found.causes) {
    const own = leaves.flatMap((at) => leavesOf[at]!);
    take({ dimensions: dimensions.map((one) => kept[one]!), values, leaves: own });
  }
  const singles = kept.map((one) => grouped(cells.leaves, [one]));
  const pairs = kept.flatMap((one, at) =>
    kept.slice(at + 1).map((other) => grouped(cells.leaves, [one, other])),
  );
  const whole = grouped(cells.leaves, []);
  const tablesOf = (factor: number, of: readonly Cuboid[]) =>
    of.map((cuboid): SumTable => {
      const { was, is } = summed(cells, cuboid, { factor, taken });
      return { dimensions: cuboid.dimensions, group: cuboid.parts, expected: was, came: is };
    });
  const drift = () => {
    const [all] = tablesOf(ratio, [whole]);
    return all!.expected[0]! > 0 ? all!.came[0]! / all!.expected[0]! : 1;
  };
  let dispersion = 1;
  let centre = 1;
  let settled = false;
  while (wide.length < 20) {
    const factor = ratio * centre;
    // What one value did isn't noise: that of pairs is measured against the values of one dimension.
    const plainTables = tablesOf(ratio, [...singles, ...pairs]);
    dispersion = Math.min(
      dispersionOf(tablesOf(ratio * drift(), singles), ratio),
      ...kept.map((dimension) => dispersionOf(within(dimension, plainTables, cells), ratio)),
    );
    const tables = [
      ...tablesOf(factor, settled ? singles : [whole, ...singles]),
      ...versions.flatMap((dimension) =>
        kept.includes(dimension) ? [] : releaseTables({ cells, dimension, factor, taken }, others),
      ),
    ];
    const best = greatest(tables, ratio, dispersion);
    if (best === undefined) break;
    const { dimensions, group } = best.table;
    if (dimensions.length === 0) {
      centre = drift();
      settled = true;
      continue;
    }
    const leaves: number[] = [];
    group.forEach((one, leaf) => {
      if (one === best.group && taken[leaf] === 0) leaves.push(leaf);
    });
    const values = dimensions.map((at) => cells.leaves.codes[at]![leaves[0]!]!);
    take({ dimensions, values, leaves });
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
    variance: leafVariance(cells, found.variance, place, plain),
    moves: versions.flatMap((dimension) => moves(cells, dimension, factor)),
  };
}

/** The variance of a count's change over some leaves, by what leaves without their versions did. */
export function flowNoise(cells: ChangeCells): AmountVariance {
  const { place, ...plain } = projected(cells, dimensionsOf(cells.names).kept);
  return leafVariance(cells, amountNoise({ ...plain, ratio: cells.ratio }), place, plain);
}

function dimensionsOf(names: readonly string[]) {
  const versions = names.flatMap((name, at) => (isVersionColumn(name) ? [at] : []));
  const others = names.flatMap((_, at) => (versions.includes(at) ? [] : [at]));
  // Users go from release to release: what one loses says nothing, what all of them lose does.
  return { versions, others, kept: others.length === 0 ? versions : others };
}

/** Pairs of values of a dimension with others, as they would be had they all done what the dimension's value did. */
function within(dimension: number, tables: readonly SumTable[], cells: ChangeCells): SumTable[] {
  const codes = cells.leaves.codes[dimension]!;
  const own = tables.find(
    ({ dimensions }) => dimensions.length === 1 && dimensions[0] === dimension,
  );
  if (own === undefined) return [];
  const factor = new Float64Array(cells.leaves.sizes[dimension]!);
  own.group.forEach((group, leaf) => {
    const [was, is] = [own.expected[group]!, own.came[group]!];
    if (was > 0) factor[codes[leaf]!] = is / was;
  });
  return tables
    .filter(({ dimensions }) => dimensions.length === 2 && dimensions.includes(dimension))
    .map((given) => {
      const table = { ...given, came: given.came.slice() };
      const expected = new Float64Array(table.expected.length);
      const doubt = new Float64Array(table.expected.length);
      const seen = new Uint8Array(expected.length);
      table.group.forEach((group, leaf) => {
        if (seen[group] === 1) return;
        seen[group] = 1;
        const at = own.group[leaf]!;
        expected[group] = table.expected[group]! * factor[codes[leaf]!]!;
        // A pair makes up a part of the value that it is measured against: all of it tells nothing.
        const part =
          (table.expected[group]! + table.came[group]!) / (own.expected[at]! + own.came[at]!);
        if (part > 0.5) expected[group] = table.came[group] = 0;
        else doubt[group] = -part;
      });
      return { ...table, expected, doubt };
    });
}

/** The variance of leaves' change, where those that were searched hold several of them each. */
function leafVariance(
  cells: ChangeCells,
  own: AmountVariance,
  place: Int32Array,
  plain: Pick<ChangeCells, "before" | "after">,
): AmountVariance {
  const { ratio } = cells;
  return (leaves) => {
    const parts = new Map<number, number>();
    for (const leaf of leaves) {
      const size = cells.before[leaf]! * ratio + cells.after[leaf]!;
      parts.set(place[leaf]!, (parts.get(place[leaf]!) ?? 0) + size);
    }
    let sum = 0;
    for (const [at, size] of parts) {
      const all = plain.before[at]! * ratio + plain.after[at]!;
      if (all > 0) sum += (own([at]) * size) / all;
    }
    return sum;
  };
}

/** The cells by some of their dimensions only; `place` says where each leaf went. */
function projected(cells: ChangeCells, kept: readonly number[]) {
  if (kept.length === cells.names.length) {
    const { before, after } = cells;
    return { place: Int32Array.from(before.keys()), ...cells.leaves, before, after };
  }
  const { parts: place, groups, example } = grouped(cells.leaves, kept);
  const summed = (values: Float64Array) => {
    const sums = new Float64Array(groups);
    values.forEach((value, leaf) => (sums[place[leaf]!]! += value));
    return sums;
  };
  return {
    place,
    sizes: kept.map((dimension) => cells.leaves.sizes[dimension]!),
    codes: kept.map((dimension) => example.map((leaf) => cells.leaves.codes[dimension]![leaf]!)),
    before: summed(cells.before),
    after: summed(cells.after),
  };
}

/** The leaves that went to each place. */
function listed(place: Int32Array, many: number): number[][] {
  const lists = Array.from({ length: many }, () => [] as number[]);
  place.forEach((at, leaf) => lists[at]!.push(leaf));
  return lists;
}
