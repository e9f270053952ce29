import { CONFIDENCES } from "../query/wilson.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { sumOver, type Cuboid } from "./cuboids.js";
import { rateCauses } from "./rate-causes.js";
import { ofOneProgram, releaseDimensions, upgrade } from "./releases.js";
import { LEAST_RUNS, WHOLE } from "./thresholds.js";

/** Rows whose runs hold more or fewer measurements than was to be expected. */
export interface RunSizeCause {
  readonly where: Readonly<Record<string, string | null>>;
  readonly leaves: readonly number[];
  /** Of a release: itself, its program and the release before it; undefined of all others. */
  readonly release?: {
    readonly program: string | null;
    readonly version: string | null;
    readonly previous: string | null;
    /** The country, test, … that it is in alone. */
    readonly place: Readonly<Record<string, string | null>>;
  };
  /** Measurements a run; before: those of the previous release, in the same tests. */
  readonly holds: number;
  readonly held: number;
  /** Runs of these rows, or of all releases of their program, before and after. */
  readonly runsBefore: number;
  readonly runsAfter: number;
  /** Half of the 95 % interval of what they lack. */
  readonly half: number;
}

/** Releases with less of their program's runs aren't named as the one before. */
const LEAST_SHARE = 0.01;

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
): { readonly causes: readonly RunSizeCause[]; readonly after: Float64Array } {
  const { runs, ratio, names, values, leaves: given } = cells;
  if (runs === undefined) return { causes: [], after: cells.after };
  const { version, program } = releaseDimensions(cells);
  const tests = given.codes[names.indexOf("test_name")];
  const kinds = cells.before.map((_, leaf) => {
    return (given.codes[program]?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0);
  });
  const held = heldBy(cells, runs, kinds);
  // Measurements of no run, and runs of a kind that was never seen, tell nothing.
  const known = (column: Float64Array, of: Float64Array) =>
    column.map((value, leaf) => (of[leaf]! > 0 && held[leaf]! > 0 ? value : 0));
  const moved = upgrade(cells, runs);
  const runsBefore = moved(runs.before).map((n) => n * ratio);
  const times = (n: Float64Array, power: number) => n.map((of, leaf) => of * held[leaf]! ** power);
  const columns = {
    allBefore: times(runsBefore, 1),
    partBefore: moved(known(cells.before, runs.before)).map((n) => n * ratio),
    allAfter: times(runs.after, 1),
    partAfter: known(cells.after, runs.after),
    // Runs differ by their size: how much is learned.
    spreadBefore: times(runsBefore, 2),
    spreadAfter: times(runs.after, 2),
  };
  const after = cells.after.slice();
  const { causes: found, noise } = rateCauses({ ...given, ...columns, usual: WHOLE }, cuboids);
  const causes = found.flatMap(({ dimensions, values: codes, leaves: all }): RunSizeCause[] => {
    const isRelease = dimensions.includes(version);
    const leaves = isRelease ? ofOneProgram(cells, all, columns.allAfter, columns.partAfter) : all;
    const own = sumOver(columns.partBefore, leaves) / sumOver(columns.allBefore, leaves);
    const [r0, r1] = [sumOver(runsBefore, leaves), sumOver(runs.after, leaves)];
    const grown = sumOver(columns.allAfter, leaves) / sumOver(columns.allBefore, leaves);
    const [v0, v1] = [sumOver(columns.spreadBefore, leaves), sumOver(columns.spreadAfter, leaves)];
    const variance = v1 + grown ** 2 * v0;
    if (!(own > 0) || r0 < LEAST_RUNS || r1 < LEAST_RUNS) return [];
    if (!isRelease && othersDid(columns, leaves)) return [];
    for (const leaf of leaves) {
      if (columns.partAfter[leaf]! > 0) after[leaf] = columns.allAfter[leaf]! * own;
    }
    const where = Object.fromEntries(
      dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
    );
    const cause = {
      where,
      leaves,
      holds: sumOver(columns.partAfter, leaves) / r1,
      held: (sumOver(columns.allAfter, leaves) * own) / r1,
      runsBefore: r0,
      runsAfter: r1,
      half: CONFIDENCES[0.95] * Math.sqrt(noise * variance),
    };
    return [isRelease ? ofRelease(cells, runs, cause) : cause];
  });
  return { causes, after };
}

/** Whether the runs of all others moved the same way, by half as much or more: then no part of the rows did, but the whole. */
function othersDid(
  columns: Readonly<Record<"allBefore" | "partBefore" | "allAfter" | "partAfter", Float64Array>>,
  leaves: readonly number[],
): boolean {
  const own = new Set(leaves);
  const others = Array.from(columns.allAfter.keys()).filter((leaf) => !own.has(leaf));
  const moved = (some: readonly number[]) => {
    const [n0, x0, n1, x1] = (["allBefore", "partBefore", "allAfter", "partAfter"] as const).map(
      (name) => sumOver(columns[name], some),
    );
    return Math.log((x1! * n0!) / (n1! * x0!));
  };
  return moved(others) / moved(leaves) >= 0.5;
}

/** What runs of each kind held before; of a kind that is new, what they hold. */
function heldBy(
  { before, after }: ChangeCells,
  runs: NonNullable<ChangeCells["runs"]>,
  kinds: Float64Array,
): Float64Array {
  const perRun = (rows: Float64Array, of: Float64Array) => {
    const sums = new Map<number, { rows: number; runs: number }>();
    kinds.forEach((kind, leaf) => {
      const own = sums.get(kind) ?? { rows: 0, runs: 0 };
      sums.set(kind, own);
      if (!(of[leaf]! > 0)) return;
      own.rows += rows[leaf]!;
      own.runs += of[leaf]!;
    });
    return (kind: number) => sums.get(kind)!.rows / sums.get(kind)!.runs;
  };
  const [was, is] = [perRun(before, runs.before), perRun(after, runs.after)];
  return kinds.map((kind) => was(kind) || is(kind) || 0);
}

/** A cause that is a release: with its program, the release before it, and the runs of both and all others. */
function ofRelease(
  cells: ChangeCells,
  runs: NonNullable<ChangeCells["runs"]>,
  cause: RunSizeCause,
): RunSizeCause {
  const { names, values, leaves: given } = cells;
  const { version, program } = releaseDimensions(cells);
  const code = (dimension: number, leaf: number) => given.codes[dimension]?.[leaf] ?? 0;
  const [first = 0] = cause.leaves;
  const whole =
    program < 0 || cause.leaves.some((leaf) => code(program, leaf) !== code(program, first));
  const own = values[version]![code(version, first)]!;
  const { [names[version]!]: _version, [names[program]!]: _program, ...place } = cause.where;
  const beside = Object.keys(place).map((name) => names.indexOf(name));
  // Runs of all its program's releases in the same place, by release.
  const releases = new Map<number, number[]>();
  cells.before.forEach((_, leaf) => {
    if (!whole && code(program, leaf) !== code(program, first)) return;
    if (beside.some((dimension) => code(dimension, leaf) !== code(dimension, first))) return;
    const some = releases.get(code(version, leaf));
    if (some === undefined) releases.set(code(version, leaf), [leaf]);
    else some.push(leaf);
  });
  const all = [...releases.values()].flat();
  const runsBefore = sumOver(runs.before, all) * cells.ratio;
  const earlier = [...releases]
    .map(([code, some]) => ({ text: values[version]![code] ?? "", some }))
    .filter(({ text, some }) => {
      const size = sumOver(runs.before, some) * cells.ratio;
      return compareVersions(text, own ?? "") < 0 && size > LEAST_SHARE * runsBefore;
    })
    .sort((a, b) => compareVersions(b.text, a.text));
  const [previous] = earlier;
  const held = previous && heldAlike(cells, runs, cause.leaves, previous.some);
  return {
    ...cause,
    where: {
      ...(!whole && { [names[program]!]: values[program]![code(program, first)]! }),
      ...cause.where,
    },
    release: {
      program: whole ? null : values[program]![code(program, first)]!,
      version: own,
      previous: held === undefined ? null : previous!.text,
      place,
    },
    ...(held !== undefined && { held }),
    runsBefore,
    runsAfter: sumOver(runs.after, all),
  };
}

/** What runs of `others` held before, of the same tests in the same proportions; undefined where they lack one. */
function heldAlike(
  { before, leaves: given, names }: ChangeCells,
  runs: NonNullable<ChangeCells["runs"]>,
  leaves: readonly number[],
  others: readonly number[],
): number | undefined {
  const tests = given.codes[names.indexOf("test_name")];
  const sums = (some: readonly number[], of: Float64Array) => {
    const all = new Map<number, number>();
    for (const leaf of some) {
      if (!(of[leaf]! > 0)) continue;
      all.set(tests?.[leaf] ?? 0, (all.get(tests?.[leaf] ?? 0) ?? 0) + of[leaf]!);
    }
    return all;
  };
  const known = others.filter((leaf) => runs.before[leaf]! > 0);
  const [rows, held] = [sums(known, before), sums(known, runs.before)];
  let [count, all] = [0, 0];
  for (const [test, r1] of sums(leaves, runs.after)) {
    const r0 = held.get(test);
    if (r0 === undefined) return undefined;
    count += r1;
    all += (r1 * (rows.get(test) ?? 0)) / r0;
  }
  return all / count;
}
