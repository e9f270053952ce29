import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { sumOver, type Cuboid } from "./cuboids.js";
import {
  guilty,
  namedRows,
  programOf,
  releaseDimensions,
  upgrade,
  type GuiltyRelease,
} from "./releases.js";
import { CERTAIN, WHOLE } from "./thresholds.js";
import type { CauseValue } from "./words.js";

/** Rows of a count that came in another number than was to be expected. */
export interface FlowCause {
  readonly where: Readonly<Record<string, CauseValue>>;
  readonly leaves: readonly number[];
  /** Whether some of its rows are of a cause before it. */
  readonly rest?: boolean;
  /** Of a release: what became of it. */
  readonly kind?: GuiltyRelease["kind"];
  /** Of a program of which either a release or all changed: the releases that its users went from and to. */
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
  /** Of each leaf's change. */
  readonly variance: Float64Array;
}

/**
 * The causes of a count's change: values and combinations of values whose rows (runs, where they are
 * known, which scatter less) came in another number than was to be expected, where users went from
 * release to release as they did in the whole program; and of a program that changed as a whole the
 * release that did.
 */
export function flowCauses(cells: ChangeCells, cuboids: readonly Cuboid[]): FlowCauses {
  const { ratio, names, runs } = cells;
  const { version, program } = releaseDimensions(cells);
  const counted = { ...cells, ...runs };
  const found = countCauses(
    {
      ...cells.leaves,
      before: counted.before,
      after: counted.after,
      ratio,
      runs: runs !== undefined || cells.many === "runs",
      ...(version >= 0 &&
        names.length > 1 && { expect: (out) => upgrade(cells, counted, out)(counted.before) }),
    },
    cuboids,
  );
  const out = new Uint8Array(cells.before.length);
  for (const { leaves } of found.causes) for (const leaf of leaves) out[leaf] = 1;
  const expected = upgrade(cells, counted, out)(cells.before).slice();
  const variance = found.variance.map((own, leaf) => {
    const [rows, n] = [cells, counted].map((of) => of.before[leaf]! * ratio + of.after[leaf]!);
    return n! > 0 ? own * (rows! / n!) ** 2 : 0;
  });

  /** A cause that is all of one program, by the release that it comes from. */
  function narrowed(cause: FlowCause): FlowCause {
    const { where, leaves } = cause;
    const whose = programOf(cells, leaves);
    const isOne = Object.keys(whose).length > 0 || program < 0;
    if (version < 0 || names[version]! in where || !isOne) return cause;
    const release = guilty({ ...cells, ...runs }, leaves, found.variance);
    if (release === undefined) return cause;
    const { kind, versions } = release;
    if (kind !== "either") expectOfRelease(leaves, release.leaves);
    const named = kind === "either" ? {} : { [names[version]!]: versions[0]! };
    return {
      ...cause,
      where: { ...whose, ...named, ...where },
      leaves: release.leaves,
      kind,
      ...(kind === "either" && { moved: versions }),
    };
  }

  /** What the others did is what was to be expected of them; the rest is the release's. */
  function expectOfRelease(all: readonly number[], own: readonly number[]): void {
    const mine = new Set(own);
    let left = sumOver(expected, all);
    for (const leaf of all) {
      if (mine.has(leaf)) continue;
      expected[leaf] = cells.after[leaf]! / ratio;
      left -= expected[leaf];
    }
    const weight = (leaf: number) => cells.before[leaf]! + cells.after[leaf]! + 1e-9;
    const total = own.reduce((sum, leaf) => sum + weight(leaf), 0);
    for (const leaf of own) expected[leaf] = (left * weight(leaf)) / total;
  }

  const scaled = expected.map((n) => n * ratio);
  const causes = found.causes.map((each) => narrowed(namedRows(cells, each, scaled, cells.after)));
  const rest = [...expected.keys()].filter((leaf) => out[leaf] === 0);
  const [was, is] = [sumOver(expected, rest) * ratio, sumOver(cells.after, rest)];
  const alike =
    Math.abs(found.ordinary - 1) > WHOLE &&
    Math.abs(is / was - 1) > WHOLE &&
    Math.abs(is - was) > CERTAIN * Math.sqrt(sumOver(variance, rest));
  const release = alike && causes.length === 0 ? narrowed({ where: {}, leaves: rest }) : undefined;
  return release?.kind === undefined
    ? { causes, expected, alike, variance }
    : { causes: [release], expected, alike: false, variance };
}
