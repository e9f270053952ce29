import { CONFIDENCES } from "../../query/wilson.js";
import type { CauseWhere } from "../words.js";
import type { Part } from "./account.js";
import type { ChangeCells } from "./cells.js";
import { cuboid, sums, total, type Column } from "./cube.js";
import { openOf, releaseDimensions, upgrade, usersOf, whereOf } from "./releases.js";
import { search, type Contrast, type Found } from "./scan.js";
import {
  FLOOD,
  HARDLY_ONE,
  LEAST_RUNS,
  PRIOR,
  RUN_SCATTER,
  TOTAL_TOLERANCE,
} from "./thresholds.js";

type Runs = NonNullable<ChangeCells["runs"]>;

/**
 * Takes a count of measurements apart: measurements = runs × measurements a run. The second is a mean:
 * what runs hold by what those of their program and test held before.
 *
 * @returns certain causes, those that may be, and `after` as it would be, had the runs of the certain
 *   ones held what was to be expected.
 */
export function runSizes(cells: ChangeCells) {
  const { runs, ratio, leaves } = cells;
  const after = cells.after.slice();
  if (runs === undefined) return { sizes: [], maybe: [], after };
  const { held, scatter } = heldBy(cells, runs);
  const moved = upgrade(cells, runs);
  const had = moved(runs.before).map((n) => n * ratio);
  // Of measurements without a run, and of what is new, nothing was to be expected.
  const known = (column: Column, of: Column) =>
    column.map((n, leaf) => (of[leaf]! > 0 && held[leaf]! > 0 ? n : 0));
  const by = (column: Column, other: Column) => column.map((n, leaf) => n * other[leaf]!);
  const is = known(cells.after, runs.after);
  const was = moved(known(cells.before, runs.before)).map((n) => n * ratio);
  const [toHold, toHaveHeld] = [by(runs.after, held), by(had, held)];
  const least = total(is) > total(toHold) ? 0 : HARDLY_ONE;
  // In units of their variance. A flood of runs is named as one.
  const unit = held.map((n, leaf) =>
    n > least && runs.after[leaf]! <= FLOOD * (had[leaf]! + LEAST_RUNS)
      ? 1 / (n * scatter[leaf]!)
      : 0,
  );
  const given: Contrast = {
    leaves,
    after: by(is, unit),
    before: by(was, unit),
    exposureAfter: by(toHold, unit),
    exposureBefore: by(toHaveHeld, unit),
    ...usersOf(cells),
    isShare: false,
    isIndependent: false,
    usualDispersion: 1,
    tolerance: () => TOTAL_TOLERANCE,
  };
  const { named, maybe, whole, rival, oneUser, variance } = search(() => given);
  const part = (
    where: CauseWhere,
    some: readonly number[],
    more: Pick<Part, "doubt" | "open"> = {},
  ): Part[] => {
    const [runsDue, runsCame] = [total(had, some), total(runs.after, some)];
    const own = total(was, some) / total(toHaveHeld, some);
    if (!(own > 0) || runsDue < LEAST_RUNS || runsCame < LEAST_RUNS) return [];
    const asBefore = some.map((leaf) => (is[leaf]! > 0 ? toHold[leaf]! * own : after[leaf]!));
    if (more.doubt === undefined) some.forEach((leaf, at) => (after[leaf] = asBefore[at]!));
    const [before, now] = [asBefore.reduce((sum, n) => sum + n, 0), total(cells.after, some)];
    const scale = total(toHold, some) / total(given.exposureAfter, some);
    const half = CONFIDENCES[0.95] * Math.sqrt(variance(some)) * scale;
    const rows = { where, leaves: some, before, after: now, change: now - before, half };
    const size = {
      holds: total(is, some) / runsCame,
      held: (total(toHold, some) * own) / runsCame,
    };
    return [{ ...rows, kind: "runs hold", ...size, grown: runsCame / runsDue, ...more }];
  };
  const sizes = named.flatMap((one) => part(whereOf(cells, one), one.leaves));
  if (whole?.isCertain === true) {
    sizes.push(...part({}, whole.leaves, { open: openOf(cells, rival) }));
  }
  const doubtful = (one: Found) =>
    part(whereOf(cells, one), one.leaves, { doubt: oneUser.has(one) ? "one user" : "chance" });
  return { sizes, maybe: maybe.flatMap(doubtful), after };
}

/**
 * What the runs of each leaf's program and test held before (0 of what is new), and how they scattered:
 * the squared coefficient of variation of one run.
 */
function heldBy(cells: ChangeCells, runs: Runs): { held: Column; scatter: Column } {
  const { leaves, names } = cells;
  const kinds = cuboid(
    leaves,
    [releaseDimensions(cells).program, names.indexOf("test_name")].filter((at) => at >= 0),
  );
  const seen = cells.before.map((n, leaf) => (runs.before[leaf]! > 0 ? n : 0));
  const [all, many] = [sums(kinds, seen), sums(kinds, runs.before)];
  const held = Float64Array.from(kinds.parts, (kind) => all[kind]! / many[kind]! || 0);
  const isSeen = seen.map((n, leaf) => Number(n > 0 && held[leaf]! > 0));
  const squares = seen.map((n, leaf) =>
    isSeen[leaf] === 1 ? (n / held[leaf]! - runs.before[leaf]!) ** 2 / runs.before[leaf]! : 0,
  );
  const [sum, counts] = [sums(kinds, squares), sums(kinds, isSeen)];
  const scatter = Float64Array.from(kinds.parts, (kind) =>
    Math.max(RUN_SCATTER.least, (sum[kind]! + PRIOR * RUN_SCATTER.of) / (counts[kind]! + PRIOR)),
  );
  return { held, scatter };
}
