import { CONFIDENCES } from "../../query/wilson.js";
import { compareVersions } from "../../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { leavesBy, sumOver, without, type Cuboid } from "./cuboids.js";
import type { Part, RunsHold } from "./account.js";
import { rateCauses } from "./rate-causes.js";
import { elementPrice } from "./search.js";
import { isOneUser } from "./users.js";
import { namedRows, releaseDimensions, upgrade, type NamedRows } from "./releases.js";
import {
  ALIKE_RATIO,
  CERTAIN,
  FLOOD,
  LEAST_RUNS,
  LEAST_SHARE,
  PRIOR,
  RUN_SCATTER,
  TOTAL_TOLERANCE,
} from "./thresholds.js";
import type { CauseWhere } from "../words.js";

type Runs = NonNullable<ChangeCells["runs"]>;

/**
 * Takes a count of measurements apart: measurements = runs × measurements a run. The second is a rate,
 * of measurements by what their runs would hold: a run holds as many as those of its program and test
 * held before, and those of users who went to another release as many as in the one they left.
 *
 * @returns the causes, and `after` as it would be, had those runs held what was to be expected.
 */
export function runSizes(
  cells: ChangeCells,
  cuboids: readonly Cuboid[],
): { readonly sizes: readonly Part[]; readonly after: Float64Array } {
  const { runs, ratio } = cells;
  if (runs === undefined) return { sizes: [], after: cells.after };
  const { held, scatter } = heldBy(cells, runs);
  // Skip measurements without a run, and runs with no earlier counterpart.
  const known = (column: Float64Array, of: Float64Array) =>
    column.map((value, leaf) => (of[leaf]! > 0 && held[leaf]! > 0 ? value : 0));
  const moved = upgrade(cells, runs);
  const runsBefore = moved(runs.before).map((n) => n * ratio);
  /** A flood of runs is named as one, not by how long they are. */
  const comparable = (leaf: number) =>
    runs.after[leaf]! <= FLOOD * (runsBefore[leaf]! + LEAST_RUNS);
  const by = (column: Float64Array, factor: (leaf: number) => number) =>
    column.map((value, leaf) => value * factor(leaf));
  const columns = {
    allBefore: by(runsBefore, (leaf) => held[leaf]!),
    partBefore: moved(known(cells.before, runs.before)).map((n) => n * ratio),
    allAfter: by(runs.after, (leaf) => held[leaf]!),
    partAfter: known(cells.after, runs.after),
  };
  type Column = keyof typeof columns;
  const sum = (name: Column, leaves: readonly number[]) => sumOver(columns[name], leaves);
  // Kinds of runs that scatter less say more: each weighs so that the variance of its rate is 1 by its
  // weight. Of a run that holds one measurement none can be missing.
  const weighed = (name: Column) =>
    by(columns[name], (leaf) =>
      held[leaf]! > 1 && comparable(leaf) ? 1 / (held[leaf]! * scatter[leaf]!) : 0,
    );
  const given = {
    ...cells.leaves,
    allBefore: weighed("allBefore"),
    partBefore: weighed("partBefore"),
    allAfter: weighed("allAfter"),
    partAfter: weighed("partAfter"),
    variation: 1,
    usual: TOTAL_TOLERANCE,
    usualNoise: 1,
  };
  /** By how much rows hold more than before, on the log scale. */
  const moreIn = (leaves: readonly number[]) => {
    const of = (name: Column) => sumOver(given[name], leaves);
    return Math.log((of("partAfter") * of("allBefore")) / (of("allAfter") * of("partBefore")));
  };
  const after = cells.after.slice();
  const { causes, noise } = rateCauses(given, cuboids);
  const sizeOf = (leaves: readonly number[]) => {
    const own = sum("partBefore", leaves) / sum("allBefore", leaves);
    const [came, come] = [sumOver(runsBefore, leaves), sumOver(runs.after, leaves)];
    if (!(own > 0) || came < LEAST_RUNS || come < LEAST_RUNS) return undefined;
    const grown = sum("allAfter", leaves) / sum("allBefore", leaves);
    const spread = (column: Float64Array) =>
      leaves.reduce((all, leaf) => all + column[leaf]! * held[leaf]! ** 2 * scatter[leaf]!, 0);
    const variance = noise * (spread(runs.after) + grown ** 2 * spread(runsBefore));
    const holds = sum("partAfter", leaves) / come;
    const expected = (sum("allAfter", leaves) * own) / come;
    const size = { kind: "runs hold", holds, held: expected, grown: come / came } as const;
    return { own, size, come, error: Math.sqrt(variance) };
  };
  const sizes: Part[] = [];
  /** Rows that changed, of too few runs to say by how much. */
  const few: NamedRows[] = [];
  /** Adds rows to the causes: `after` is then as if their runs had held what was to be expected. */
  const add = (
    where: CauseWhere,
    leaves: readonly number[],
    { own, error }: Size,
    fact: RunsHold,
    price = 0,
  ) => {
    for (const leaf of leaves) {
      if (columns.partAfter[leaf]! > 0) after[leaf] = columns.allAfter[leaf]! * own;
    }
    const [before, now] = [sumOver(after, leaves), sumOver(cells.after, leaves)];
    const change = now - before;
    const half = CONFIDENCES[0.95] * error;
    // The scatter of few runs is hardly known.
    const fewest = Math.min(sumOver(runsBefore, leaves), sumOver(runs.after, leaves));
    const isSure = (change / error) ** 2 / 2 >= price * (1 + (2 * LEAST_RUNS) / fewest);
    const moved = cells.after.map((n, leaf) => n - after[leaf]!);
    const doubt = isOneUser(cells, leaves, moved) ? "one user" : isSure ? undefined : "few runs";
    sizes.push({ ...fact, where, leaves, before, after: now, change, half, doubt });
  };
  for (const each of causes) {
    const rows = namedRows(cells, each);
    const { where, leaves } = rows;
    const found = sizeOf(leaves);
    if (found === undefined) {
      few.push(rows);
      continue;
    }
    // Where the runs of all others moved the same way, by half as much or more, no part did, but the whole.
    const others = without(held.length, [rows]);
    if (moreIn(others) / moreIn(leaves) >= ALIKE_RATIO) continue;
    const fact = rows.isRelease ? releaseRuns(cells, runs, rows, found.size) : found.size;
    add(where, leaves, found, fact, elementPrice(cuboids, each));
  }
  const rest = without(held.length, [...sizes, ...few]);
  const whole = sizeOf(rest);
  if (whole !== undefined) {
    const { holds, held } = whole.size;
    const certain = Math.abs(holds - held) * whole.come > CERTAIN * whole.error;
    if (
      certain &&
      Math.abs(moreIn(rest)) > TOTAL_TOLERANCE &&
      Math.abs(holds / held - 1) > TOTAL_TOLERANCE
    ) {
      add({}, rest, whole, whole.size, CERTAIN ** 2 / 2);
    }
  }
  return { sizes, after };
}

/**
 * What the runs of each leaf's program and test held before (0 of what is new), and how they scattered:
 * the squared coefficient of variation of one run.
 */
function heldBy({ before, leaves, names, ...cells }: ChangeCells, runs: Runs) {
  const program = leaves.codes[releaseDimensions({ names, ...cells }).program];
  const tests = leaves.codes[names.indexOf("test_name")];
  const held = new Float64Array(before.length);
  const scatter = new Float64Array(before.length);
  const kinds = before.map((_, leaf) => (program?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0));
  for (const some of leavesBy(kinds).values()) {
    const known = some.filter((leaf) => runs.before[leaf]! > 0);
    const own = sumOver(before, known) / sumOver(runs.before, known) || 0;
    let [sum, many] = [RUN_SCATTER.of * PRIOR, PRIOR];
    for (const leaf of own > 0 ? known : []) {
      const n = runs.before[leaf]!;
      sum += (before[leaf]! / own - n) ** 2 / n;
      many += 1;
    }
    const varies = Math.max(RUN_SCATTER.least, sum / many);
    for (const leaf of some) [held[leaf], scatter[leaf]] = [own, varies];
  }
  return { held, scatter };
}

/** What rows' runs hold, their part by what they would hold, and its standard error. */
interface Size {
  readonly own: number;
  readonly error: number;
}

/** A release against the one before it, and the runs of all its program's releases. */
function releaseRuns(
  cells: ChangeCells,
  runs: Runs,
  { where, leaves }: NamedRows,
  size: RunsHold,
): RunsHold {
  const { names, values } = cells;
  const { version } = releaseDimensions(cells);
  const codes = cells.leaves.codes[version]!;
  const release = where[names[version]!];
  const alike = Object.keys(where).map((one) => cells.leaves.codes[names.indexOf(one)]!);
  const [first = 0] = leaves;
  const all = Array.from(codes.keys()).filter((leaf) =>
    alike.every((own) => own === codes || own[leaf] === own[first]),
  );
  const runsBefore = sumOver(runs.before, all) * cells.ratio;
  const [previous] = [...leavesBy(codes, all)]
    .map(([code, some]) => ({ text: values[version]![code] ?? "", some }))
    .filter(({ text, some }) => {
      const many = sumOver(runs.before, some) * cells.ratio;
      return compareVersions(text, release ?? "") < 0 && many > LEAST_SHARE * runsBefore;
    })
    .sort((a, b) => compareVersions(b.text, a.text));
  const held = previous && heldAlike(cells, runs, leaves, previous.some);
  return {
    ...size,
    held: held ?? size.held,
    grown: sumOver(runs.after, all) / runsBefore,
    previous: held === undefined ? null : previous!.text,
  };
}

/** What runs of `others` held before, of the same tests in the same proportions; undefined where they lack one. */
function heldAlike(
  { before, leaves: given, names }: ChangeCells,
  runs: Runs,
  leaves: readonly number[],
  others: readonly number[],
): number | undefined {
  const tests = given.codes[names.indexOf("test_name")] ?? new Int32Array(before.length);
  const some = others.filter((leaf) => runs.before[leaf]! > 0);
  const known = leavesBy(tests, some);
  let [count, all] = [0, 0];
  for (const [test, own] of leavesBy(tests, leaves)) {
    const now = sumOver(runs.after, own);
    if (now === 0) continue;
    const same = known.get(test);
    if (same === undefined) return undefined;
    count += now;
    all += (now * sumOver(before, same)) / sumOver(runs.before, same);
  }
  return all / count;
}
