import { median } from "../base/statistics.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { sumOver } from "./cuboids.js";
import { rateCauses } from "./rate-causes.js";
import { releaseDimensions } from "./upgrades.js";

/** A release whose runs hold fewer (or more) measurements than its program's runs held before. */
export interface RunSizeCause {
  /** The leaves that it is of. */
  readonly leaves: readonly number[];
  readonly where: Readonly<Record<string, string | null>>;
  /** The country, test, … that it is in alone. */
  readonly within?: Readonly<Record<string, string | null>>;
  readonly program: string | null;
  readonly version: string;
  /** The release that most of its users came from. */
  readonly previous: string | null;
  /** Measurements a run: what it holds, and what the previous release held of the same tests. */
  readonly holds: number;
  readonly held: number;
  /** Runs of the whole program (in the same country, test, …), before and after. */
  readonly runsBefore: number;
  readonly runsAfter: number;
  /** What its runs lack, by test: below 0 where they hold fewer. */
  readonly parts: readonly Part[];
  readonly error: number;
}

/** Standard errors beyond which a release's runs are said to hold less: some hundred releases are looked at. */
const STANDS_OUT = 6;
/** The same of a release in one country, network or test: of those there are some ten thousand. */
const IN_PLACE = 8;
/** Runs that hold up to this part more or less are as before: releases differ by some percent. */
const USUAL = 0.1;
/** Fewer runs can't tell how many measurements one holds. */
const LEAST_RUNS = 20;
/** A release is narrowed to one country, test, … that holds this part of what it lacks and at most half of its runs. */
const NARROW = 0.9;
const MOST_CAUSES = 5;

/** Sums over some leaves: runs and measurements, before (at after's length) and after. */
interface Sums {
  r0: number;
  m0: number;
  r1: number;
  m1: number;
}

/**
 * Releases whose runs hold another number of measurements than those of the same program held
 * before: measurements = runs × measurements a run, by program, version and test.
 *
 * What a release lacks is (M₁ − R₁ h) − f (M₀ − R₀ h), summed over tests: R and M are its runs and
 * measurements, h what runs of the program's other releases held before, and f how the program's runs
 * grew. A release that was always as short, and as common, lacks nothing by that; so does one whose
 * runs are as long, however many users it won.
 */
export function runSizeCauses(cells: ChangeCells): RunSizeCause[] {
  const { version } = releaseDimensions(cells);
  if (cells.runs === undefined || version < 0) return [];
  const cv = runSpread(cells, cells.runs);
  const taken = new Set<string>();
  const found: RunSizeCause[] = [];
  while (found.length < MOST_CAUSES) {
    const all = releases(cells, version).filter(({ key }) => !taken.has(key));
    // One country's runs are looked at where those of the whole release tell nothing.
    const best =
      surest(cells, all, cv, STANDS_OUT) ??
      surest(
        cells,
        all.flatMap((release) => narrower(cells, release)),
        cv,
        IN_PLACE,
      );
    if (best === undefined) break;
    taken.add(best.release.key);
    found.push(named(cells, version, narrowest(cells, best, cv)));
  }
  return found;
}

/** Values whose runs, of all releases, hold another number of measurements than before. */
export interface PerRunCause {
  readonly where: Readonly<Record<string, string | null>>;
  readonly leaves: readonly number[];
  /** Measurements a run, before and after, in the tests of the later range. */
  readonly held: number;
  readonly holds: number;
  readonly runsBefore: number;
  readonly runsAfter: number;
  readonly parts: readonly Part[];
  readonly error: number;
}

/**
 * Values of other dimensions whose runs hold more or fewer measurements: duplicates, a test cut short,
 * a probe that floods. A rate of measurements by what their runs would have held.
 */
export function perRunCauses(cells: ChangeCells): PerRunCause[] {
  const { runs, ratio, names, values } = cells;
  if (runs === undefined) return [];
  const cv = runSpread(cells, runs);
  const { version, program } = releaseDimensions(cells);
  const tests = cells.leaves.codes[names.indexOf("test_name")];
  const key = (leaf: number) =>
    (cells.leaves.codes[program]?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0);
  const held = new Map<number, { runs: number; rows: number }>();
  cells.before.forEach((rows, leaf) => {
    const kind = held.get(key(leaf)) ?? { runs: 0, rows: 0 };
    held.set(key(leaf), kind);
    if (!(runs.before[leaf]! > 0)) return;
    kind.runs += runs.before[leaf]!;
    kind.rows += rows;
  });
  const size = (leaf: number) => {
    const kind = held.get(key(leaf))!;
    return kind.runs > 0 ? kind.rows / kind.runs : 0;
  };
  const sizes = cells.before.map((_, leaf) => size(leaf));
  const known = (of: Float64Array, some: Float64Array) =>
    of.map((rows, leaf) => (some[leaf]! > 0 && sizes[leaf]! > 0 ? rows : 0));
  const [allBefore, allAfter] = [runs.before, runs.after].map((of) =>
    of.map((n, leaf) => n * sizes[leaf]!),
  ) as [Float64Array, Float64Array];
  const total = sumOver(allBefore) + sumOver(allAfter);
  const squares = sumOver(sizes.map((size, leaf) => size * (allBefore[leaf]! + allAfter[leaf]!)));
  if (!(total > 0)) return [];
  const found = rateCauses({
    ...cells.leaves,
    allBefore,
    allAfter,
    variance: (cv ** 2 * squares) / total,
    partBefore: known(cells.before, runs.before),
    partAfter: known(cells.after, runs.after),
  });
  return found.flatMap(({ dimensions, values: codes, leaves }): PerRunCause[] => {
    if (dimensions.includes(version)) return [];
    const [r0, r1] = [sumOver(runs.before, leaves) * ratio, sumOver(runs.after, leaves)];
    const was = sumOver(cells.before, leaves) / sumOver(allBefore, leaves);
    const expected = sumOver(allAfter, leaves) * was;
    const change = sumOver(cells.after, leaves) - expected;
    if (!(Math.abs(change) > USUAL * expected) || r1 < LEAST_RUNS || r0 < LEAST_RUNS) return [];
    return [
      {
        where: Object.fromEntries(
          dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
        ),
        leaves,
        held: expected / r1,
        holds: (expected + change) / r1,
        runsBefore: r0,
        runsAfter: r1,
        parts: [{ leaves, change }],
        error: cv * Math.sqrt((expected * squares) / total) * Math.sqrt(1 + r1 / r0),
      },
    ];
  });
}

/** The release whose runs lack (or hold) most beyond chance; undefined where none stands out. */
function surest(
  cells: ChangeCells,
  releases: readonly Release[],
  cv: number,
  least: number,
): Lack | undefined {
  let best: Lack | undefined;
  for (const release of releases) {
    const found = lack(cells, release, cv);
    if (found !== undefined && Math.abs(found.z) > Math.max(least, Math.abs(best?.z ?? 0))) {
      best = { release, ...found };
    }
  }
  return best;
}

/** What leaves would amount to, had the runs of these releases held what runs held before. */
export function asExpected(
  cells: ChangeCells,
  causes: readonly { readonly parts: readonly Part[] }[],
): ChangeCells {
  if (causes.length === 0) return cells;
  const after = cells.after.slice();
  for (const { leaves, change } of causes.flatMap(({ parts }) => parts)) {
    // Shared out by runs: a leaf can't become less than nothing.
    const runs = leaves.reduce((sum, leaf) => sum + cells.runs!.after[leaf]!, 0);
    for (const leaf of leaves) {
      after[leaf] = Math.max(0, after[leaf]! - (change * cells.runs!.after[leaf]!) / runs);
    }
  }
  return { ...cells, after };
}

/** A release of a program, and what stands beside it: the same program's other releases. */
interface Release {
  readonly key: string;
  readonly leaves: readonly number[];
  readonly others: readonly number[];
  /** The program's other releases everywhere, of a release in one country, test, … */
  readonly everywhere?: readonly number[];
  /** A country, test, … to which both are narrowed. */
  readonly within?: readonly [dimension: number, code: number];
}

/** What the runs of one test lack. */
interface Part {
  readonly leaves: readonly number[];
  readonly change: number;
}

interface Lack {
  readonly parts: readonly Part[];
  readonly release: Release;
  readonly change: number;
  readonly error: number;
  readonly z: number;
  readonly held: number;
  readonly own: Sums;
}

function releases(cells: ChangeCells, version: number): Release[] {
  const { codes } = cells.leaves;
  const program = codes[releaseDimensions(cells).program];
  const programs = new Map<number, Map<number, number[]>>();
  codes[version]!.forEach((code, leaf) => {
    const own = programs.get(program?.[leaf] ?? 0) ?? new Map<number, number[]>();
    programs.set(program?.[leaf] ?? 0, own);
    const leaves = own.get(code) ?? [];
    own.set(code, leaves);
    leaves.push(leaf);
  });
  return [...programs].flatMap(([name, own]) =>
    [...own].map(([code, leaves]) => ({
      key: `${name} ${code}`,
      leaves,
      others: [...own].flatMap(([other, some]) => (other === code ? [] : some)),
    })),
  );
}

/** Undefined where its runs hold what they held, too few are there, or all releases changed alike. */
function lack(cells: ChangeCells, release: Release, cv: number): Omit<Lack, "release"> | undefined {
  const own = sumsOf(cells, release.leaves);
  if (own.r1 < LEAST_RUNS) return undefined;
  const beside = sumsOf(cells, release.others);
  if (beside.r0 < LEAST_RUNS) return undefined;
  const grown = (own.r1 + beside.r1) / (own.r0 + beside.r0);
  const tests = cells.names.indexOf("test_name");
  const kinds = byCode(cells, tests, release.leaves);
  const others = byCode(cells, tests, release.others);
  const parts: Part[] = [];
  let [variance, expected] = [0, 0];
  for (const [kind, leaves] of kinds) {
    const [mine, theirs] = [sumsOf(cells, leaves), sumsOf(cells, others.get(kind) ?? [])];
    // A test that no other release ran has nothing to be measured against.
    if (!(theirs.r0 > 0 && theirs.m0 > 0)) continue;
    const held = theirs.m0 / theirs.r0;
    const change = mine.m1 - mine.r1 * held - grown * (mine.m0 - mine.r0 * held);
    if (mine.r1 > 0) parts.push({ leaves, change });
    const counted = mine.r1 + grown ** 2 * mine.r0;
    variance += (cv * held) ** 2 * (counted + (mine.r1 - grown * mine.r0) ** 2 / theirs.r0);
    expected += mine.r1 * held;
  }
  const change = parts.reduce((sum, part) => sum + part.change, 0);
  if (!(expected > 0) || Math.abs(change) < USUAL * expected) return undefined;
  const [held, holds] = [expected / own.r1, own.m1 / own.r1];
  // What it lacks is its own: the others hold what they held, or hardly any is left of them.
  const all = release.everywhere === undefined ? beside : sumsOf(cells, release.everywhere);
  const stayed = all.m1 / all.r1 / (all.m0 / all.r0) - 1;
  const moved = holds / held - 1;
  if (moved * change <= 0) return undefined;
  if (all.r1 > own.r1 / 20 && stayed / moved > 0.5) return undefined;
  const error = Math.sqrt(variance);
  return { parts, change, error, z: change / error, held, own };
}

/** The release, or what it is in the one country, test or network that all of it is in. */
function narrowest(cells: ChangeCells, wide: Lack, cv: number): Lack {
  let best = wide;
  if (wide.release.within !== undefined) return best;
  for (const release of narrower(cells, wide.release)) {
    const runs = sumsOf(cells, release.leaves).r1;
    if (runs > wide.own.r1 / 2 || (best !== wide && runs >= best.own.r1)) continue;
    const found = lack(cells, release, cv);
    if (found !== undefined && found.change / wide.change > NARROW) best = { ...found, release };
  }
  return best;
}

/** A release in each of its countries, networks and tests. */
function narrower(cells: ChangeCells, release: Release): Release[] {
  const { version, program } = releaseDimensions(cells);
  return [...cells.names.keys()].flatMap((dimension) => {
    if (dimension === version || dimension === program) return [];
    const others = byCode(cells, dimension, release.others);
    return [...byCode(cells, dimension, release.leaves)].map(([code, leaves]) => ({
      key: release.key,
      leaves,
      others: others.get(code) ?? [],
      everywhere: release.others,
      within: [dimension, code] as const,
    }));
  });
}

function named(
  cells: ChangeCells,
  version: number,
  { release, parts, error, held, own }: Lack,
): RunSizeCause {
  const { names, values, leaves } = cells;
  const program = releaseDimensions(cells).program;
  const value = (dimension: number, leaf: number) =>
    values[dimension]![leaves.codes[dimension]![leaf]!]!;
  const [first] = release.leaves;
  const text = value(version, first!) ?? "";
  const beside = byCode(cells, version, release.others);
  const all = sumsOf(cells, release.others);
  const earlier = [...beside]
    .map(([code, some]) => ({ code: values[version]![code] ?? "", runs: sumsOf(cells, some).r0 }))
    .filter((one) => one.runs > all.r0 / 100 && compareVersions(one.code, text) < 0)
    .sort((a, b) => compareVersions(b.code, a.code));
  const { within: at } = release;
  const within = at && { [names[at[0]]!]: values[at[0]]![at[1]]! };
  const previous = earlier[0]?.code;
  const code = previous === undefined ? -1 : values[version]!.indexOf(previous);
  return {
    leaves: release.leaves,
    version: text,
    parts,
    error,
    held: heldBy(cells, release.leaves, beside.get(code) ?? []) ?? held,
    where: {
      ...(program >= 0 && { [names[program]!]: value(program, first!) }),
      [names[version]!]: text,
      ...within,
    },
    ...(within && { within }),
    program: program < 0 ? null : value(program, first!),
    previous: previous ?? null,
    holds: own.m1 / own.r1,
    runsBefore: own.r0 + all.r0,
    runsAfter: own.r1 + all.r1,
  };
}

/** What runs of `others` held before, of the same tests in the same proportions; undefined where they lack one. */
function heldBy(cells: ChangeCells, leaves: readonly number[], others: readonly number[]) {
  const tests = cells.names.indexOf("test_name");
  const kinds = byCode(cells, tests, others);
  let [runs, all] = [0, 0];
  for (const [kind, own] of byCode(cells, tests, leaves)) {
    const [{ r1 }, { r0, m0 }] = [sumsOf(cells, own), sumsOf(cells, kinds.get(kind) ?? [])];
    if (!(r0 > 0)) return undefined;
    runs += r1;
    all += (r1 * m0) / r0;
  }
  return all / runs;
}

function sumsOf({ before, after, runs, ratio }: ChangeCells, leaves: readonly number[]): Sums {
  const sums = { r0: 0, m0: 0, r1: 0, m1: 0 };
  for (const leaf of leaves) {
    // Measurements of no run tell nothing of runs.
    if (runs!.before[leaf]! > 0) sums.m0 += before[leaf]! * ratio;
    if (runs!.after[leaf]! > 0) sums.m1 += after[leaf]!;
    sums.r0 += runs!.before[leaf]! * ratio;
    sums.r1 += runs!.after[leaf]!;
  }
  return sums;
}

function byCode({ leaves }: ChangeCells, dimension: number, some: readonly number[]) {
  const codes = leaves.codes[dimension];
  const parts = new Map<number, number[]>();
  for (const leaf of some) {
    const code = codes?.[leaf] ?? 0;
    const own = parts.get(code);
    if (own === undefined) parts.set(code, [leaf]);
    else own.push(leaf);
  }
  return parts;
}

/**
 * How much runs differ in size, by their mean (the coefficient of variation): by leaves that are there
 * before and after, each against itself, so that no release's own change counts.
 */
function runSpread({ before, after }: ChangeCells, runs: ChangeCells["runs"] & object) {
  const squares: number[] = [];
  before.forEach((was, leaf) => {
    const [r0, r1] = [runs.before[leaf]!, runs.after[leaf]!];
    if (r0 < 3 || r1 < 3) return;
    const [h0, h1] = [was / r0, after[leaf]! / r1];
    squares.push((h1 - h0) ** 2 / (((h0 + h1) / 2) ** 2 * (1 / r0 + 1 / r1)));
  });
  // Of few leaves as services are: lists of some tens of addresses, ended early now and then.
  return squares.length < 12 ? 1 : Math.sqrt(median(squares) / 0.4549);
}
