import { CONFIDENCES } from "../query/wilson.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { leavesBy, sumOver, type Cuboid } from "./cuboids.js";
import { rateCauses } from "./rate-causes.js";
import { namedRows, releaseDimensions, upgrade } from "./releases.js";
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

type Runs = NonNullable<ChangeCells["runs"]>;

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
  const { runs, ratio } = cells;
  if (runs === undefined) return { causes: [], after: cells.after };
  const held = heldBy(cells, runs);
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
  const sum = (name: keyof typeof columns, leaves: readonly number[]) =>
    sumOver(columns[name], leaves);
  /** By how much rows hold more than before, on the log scale. */
  const moreIn = (leaves: readonly number[]) =>
    Math.log(
      (sum("partAfter", leaves) * sum("allBefore", leaves)) /
        (sum("allAfter", leaves) * sum("partBefore", leaves)),
    );
  const after = cells.after.slice();
  const given = { ...cells.leaves, ...columns, usual: WHOLE };
  const { causes: found, noise } = rateCauses(given, cuboids);
  const causes = found.flatMap((each): RunSizeCause[] => {
    const rows = namedRows(cells, each, columns.allAfter, columns.partAfter);
    const { where, leaves, isRelease } = rows;
    const own = sum("partBefore", leaves) / sum("allBefore", leaves);
    const [r0, r1] = [sumOver(runsBefore, leaves), sumOver(runs.after, leaves)];
    if (!(own > 0) || r0 < LEAST_RUNS || r1 < LEAST_RUNS) return [];
    const inside = new Set(leaves);
    const others = Array.from(held.keys()).filter((leaf) => !inside.has(leaf));
    // Where the runs of all others moved the same way, by half as much or more, no part did, but the whole.
    if (!isRelease && moreIn(others) / moreIn(leaves) >= 0.5) return [];
    for (const leaf of leaves) {
      if (columns.partAfter[leaf]! > 0) after[leaf] = columns.allAfter[leaf]! * own;
    }
    const grown = sum("allAfter", leaves) / sum("allBefore", leaves);
    const variance = sum("spreadAfter", leaves) + grown ** 2 * sum("spreadBefore", leaves);
    const cause = {
      where,
      leaves,
      holds: sum("partAfter", leaves) / r1,
      held: (sum("allAfter", leaves) * own) / r1,
      runsBefore: r0,
      runsAfter: r1,
      half: CONFIDENCES[0.95] * Math.sqrt(noise * variance),
    };
    return [isRelease ? ofRelease(cells, runs, cause) : cause];
  });
  return { causes, after };
}

/** What the runs of each leaf's program and test held before; of what is new, what they hold. */
function heldBy({ before, after, leaves, names, ...cells }: ChangeCells, runs: Runs): Float64Array {
  const program = leaves.codes[releaseDimensions({ names, ...cells }).program];
  const tests = leaves.codes[names.indexOf("test_name")];
  const held = new Float64Array(before.length);
  const kinds = before.map((_, leaf) => (program?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0));
  for (const some of leavesBy(kinds).values()) {
    const perRun = (rows: Float64Array, of: Float64Array) => {
      const known = some.filter((leaf) => of[leaf]! > 0);
      return sumOver(rows, known) / sumOver(of, known);
    };
    const own = perRun(before, runs.before) || perRun(after, runs.after) || 0;
    for (const leaf of some) held[leaf] = own;
  }
  return held;
}

/** A cause that is a release: with its program, the release before it, and the runs of all its program's releases. */
function ofRelease(cells: ChangeCells, runs: Runs, cause: RunSizeCause): RunSizeCause {
  const { names, values, leaves: given } = cells;
  const { version, program } = releaseDimensions(cells);
  const codes = given.codes[version]!;
  const code = (dimension: number, leaf: number) => given.codes[dimension]?.[leaf] ?? 0;
  const [first = 0] = cause.leaves;
  const own = values[version]![codes[first]!]!;
  const { [names[version]!]: _version, [names[program]!]: whose = null, ...place } = cause.where;
  const alike = Object.keys(cause.where)
    .map((name) => names.indexOf(name))
    .filter((dimension) => dimension !== version);
  const all = Array.from(codes.keys()).filter((leaf) =>
    alike.every((dimension) => code(dimension, leaf) === code(dimension, first)),
  );
  const runsBefore = sumOver(runs.before, all) * cells.ratio;
  const [previous] = [...leavesBy(codes, all)]
    .map(([code, some]) => ({ text: values[version]![code] ?? "", some }))
    .filter(({ text, some }) => {
      const size = sumOver(runs.before, some) * cells.ratio;
      return compareVersions(text, own ?? "") < 0 && size > LEAST_SHARE * runsBefore;
    })
    .sort((a, b) => compareVersions(b.text, a.text));
  const held = previous && heldAlike(cells, runs, cause.leaves, previous.some);
  return {
    ...cause,
    release: {
      program: whose,
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
  runs: Runs,
  leaves: readonly number[],
  others: readonly number[],
): number | undefined {
  const tests = given.codes[names.indexOf("test_name")] ?? new Int32Array(before.length);
  const known = leavesBy(
    tests,
    others.filter((leaf) => runs.before[leaf]! > 0),
  );
  let [count, all] = [0, 0];
  for (const [test, some] of leavesBy(tests, leaves)) {
    const r1 = sumOver(runs.after, some);
    if (r1 === 0) continue;
    const same = known.get(test);
    if (same === undefined) return undefined;
    count += r1;
    all += (r1 * sumOver(before, same)) / sumOver(runs.before, same);
  }
  return all / count;
}
