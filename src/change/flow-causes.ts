import type { ChangeCells } from "./cells.js";
import { amountNoise, countCauses } from "./count-causes.js";
import { sumOver } from "./cuboids.js";
import { guilty, releaseDimensions, upgraded } from "./upgrades.js";
import type { CauseValue } from "./words.js";

/** Rows of a count that changed together. */
export interface FlowCause {
  readonly where: Readonly<Record<string, CauseValue>>;
  readonly leaves: readonly number[];
  /** Of a release: it stopped, it loses rows, or it or its program does. */
  readonly kind?: "stopped" | "loses" | "either";
  /** The releases that its users went from and to, where either lost rows. */
  readonly moved?: readonly string[];
}

/** What a count's change comes from. */
export interface FlowCauses {
  /** Disjoint. */
  readonly causes: readonly FlowCause[];
  /** What was to be expected of each leaf, as users go from release to release; sums to what was. */
  readonly expected: Float64Array;
  /** Whether rows of no cause changed by so much that it is to be told. */
  readonly alike: boolean;
  /** What rows of no cause became, as a factor. */
  readonly centre: number;
  /** Of each leaf's change. */
  readonly variance: Float64Array;
}

/** The whole is said to have changed where it did by more than this. */
const WHOLE = 0.1;
/** Standard errors beyond which a change of all rows is told. */
export const CERTAIN = 4;
/** How many times a Poisson count's variance runs have in general: some users start several. */
const RUNS_CLUMP = 3;

/**
 * The causes of a count's change: values and combinations of values whose rows came in another number
 * than expected, where users went from release to release as they did in the whole program; and of
 * a program that changed as a whole the release that did.
 */
export function flowCauses(cells: ChangeCells): FlowCauses {
  const { ratio, names, values } = cells;
  const { version, program } = releaseDimensions(cells);
  // Runs scatter less than the measurements that they hold.
  const counted = { ...cells, ...cells.runs };
  const found = countCauses({
    ...cells.leaves,
    before: counted.before,
    after: counted.after,
    ratio,
    ...(cells.runs && { clump: RUNS_CLUMP }),
    ...(version >= 0 && names.length > 1 && { expect: (out) => upgraded(counted, out) }),
  });
  const out = new Uint8Array(cells.before.length);
  for (const { leaves } of found.causes) for (const leaf of leaves) out[leaf] = 1;
  const expected = upgraded(cells, out).slice();
  const { ordinary: centre } = found;
  const variance = found.variance.map((own, leaf) => {
    const [rows, runs] = [cells, counted].map((of) => of.before[leaf]! * ratio + of.after[leaf]!);
    return runs! > 0 ? own * (rows! / runs!) ** 2 : 0;
  });
  const code = (dimension: number, leaf: number) => cells.leaves.codes[dimension]![leaf]!;
  const narrowed = (cause: FlowCause): FlowCause => {
    const { leaves, where } = cause;
    const [first] = leaves;
    const only =
      program >= 0 && leaves.every((leaf) => code(program, leaf) === code(program, first!));
    const named =
      only && version >= 0 && names[version]! in where
        ? { [names[program]!]: values[program]![code(program, first!)]!, ...where }
        : where;
    if (version < 0 || names[version]! in where || !(only || program < 0)) {
      return { ...cause, where: named };
    }
    const release = guilty(counted, leaves, { variance: found.variance, centre: 1 });
    if (release === undefined) return cause;
    // What the others did is what was to be expected of them; the rest is the release's.
    const was = leaves.reduce((sum, leaf) => sum + expected[leaf]!, 0);
    const own = new Set(release.leaves);
    let left = was;
    for (const leaf of release.kind === "either" ? [] : leaves) {
      if (own.has(leaf)) continue;
      expected[leaf] = cells.after[leaf]! / ratio;
      left -= expected[leaf];
    }
    const weight = (leaf: number) => cells.before[leaf]! + cells.after[leaf]! + 1e-9;
    const all = release.leaves.reduce((sum, leaf) => sum + weight(leaf), 0);
    if (release.kind !== "either") {
      for (const leaf of release.leaves) expected[leaf] = (left * weight(leaf)) / all;
    }
    const texts = release.versions.length === 1 ? release.versions[0]! : release.versions;
    return {
      where: {
        ...(program >= 0 && { [names[program]!]: values[program]![code(program, first!)]! }),
        ...(release.kind !== "either" && { [names[version]!]: texts }),
        ...where,
      },
      leaves: release.leaves,
      kind: release.kind,
      ...(release.kind === "either" && { moved: release.versions }),
    };
  };
  const causes = found.causes.map(({ dimensions, values: codes, leaves }) =>
    narrowed({
      where: Object.fromEntries(
        dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
      ),
      leaves,
    }),
  );
  const taken = new Uint8Array(expected.length);
  for (const { leaves } of found.causes) for (const leaf of leaves) taken[leaf] = 1;
  const rest = Array.from(expected.keys()).filter((leaf) => taken[leaf] === 0);
  const whole = sumOver(cells.after, rest) / (sumOver(expected, rest) * ratio);
  const moved = sumOver(cells.after, rest) - sumOver(expected, rest) * ratio;
  const alike =
    Math.abs(centre - 1) > WHOLE &&
    Math.abs(whole - 1) > WHOLE &&
    Math.abs(moved) > CERTAIN * Math.sqrt(sumOver(variance, rest));
  const release = alike && causes.length === 0 ? narrowed({ where: {}, leaves: rest }) : undefined;
  return release?.kind === undefined
    ? { causes, expected, alike, centre, variance }
    : { causes: [release], expected, alike: false, centre: 1, variance };
}

/** The variance of each leaf's change, where causes aren't looked for. */
export function flowNoise(cells: ChangeCells): Float64Array {
  const { after, ratio } = cells;
  const before = upgraded(cells, new Uint8Array(after.length));
  return amountNoise({ ...cells.leaves, before, after, ratio });
}
