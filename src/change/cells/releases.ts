import { isVersionColumn } from "../../result/origin.js";
import { compareVersions } from "../../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { groupedBut, groupedBy, leavesBy, sumOver, sumsIn } from "./cuboids.js";
import type { Found } from "./search.js";
import {
  ALIKE_RATIO,
  FLOOD,
  PART_TOLERANCE,
  LEAST_RUNS,
  LEAST_SHARE,
  LIKELIER,
  NEW,
  TOTAL_TOLERANCE,
} from "./thresholds.js";

/** Versions and the programs that they are of, by the numbers of their dimensions; −1 where that isn't asked about. */
export function releaseDimensions({ names }: Pick<ChangeCells, "names">) {
  const version = names.findIndex(isVersionColumn);
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  const program = version < 0 ? -1 : names.indexOf(names[version]!.replace(/version$/i, "name"));
  return { version, program };
}

/** Rows by what isn't their version: the stratum of each leaf, the first leaf of each, and each leaf's program. */
function arranged({ leaves, names }: ChangeCells) {
  const { version, program } = releaseDimensions({ names });
  const { parts: strata, example: first } = groupedBut(leaves, [version]);
  const programs = leaves.codes[program] ?? new Int32Array(strata.length);
  const releases = groupedBy(leaves, program < 0 ? [version] : [program, version]);
  return { codes: leaves.codes[version]!, strata, first, programs, releases };
}

interface Totals {
  was: number;
  is: number;
}

/** Rows of each program and each of its releases. @param out leaves that don't count. */
function totalsByRelease(
  { before, after }: Pick<ChangeCells, "before" | "after">,
  { codes, programs, releases }: ReturnType<typeof arranged>,
  out?: Uint8Array,
) {
  const all = new Map<number, Totals & { readonly releases: Map<number, Totals> }>();
  const { parts, groups, example } = releases;
  const [had, has] = [before, after].map((n) => sumsIn(parts, n, groups, out));
  example.forEach((leaf, at) => {
    const program = all.get(programs[leaf]!) ?? { was: 0, is: 0, releases: new Map() };
    const own = { was: had![at]!, is: has![at]! };
    program.releases.set(codes[leaf]!, own);
    program.was += own.was;
    program.is += own.is;
    all.set(programs[leaf]!, program);
  });
  return all;
}

/**
 * The cells with a leaf, of nothing, for each release that users went to in every country, network
 * and test of its program: what should have come there and didn't has no row.
 */
export function withMissing(cells: ChangeCells): ChangeCells {
  const { version } = releaseDimensions(cells);
  if (version < 0 || cells.names.length === 1) return cells;
  const places = arranged(cells);
  const { codes, strata, first, programs } = places;
  const { sizes } = cells.leaves;
  const place = (stratum: number, code: number) => stratum * sizes[version]! + code;
  const known = new Set(strata.map((stratum, leaf) => place(stratum, codes[leaf]!)));
  const totals = totalsByRelease(cells, places);
  const added: { readonly like: number; readonly code: number }[] = [];
  first.forEach((like, stratum) => {
    const { was: all, is: now, releases } = totals.get(programs[like]!)!;
    for (const [code, { was, is }] of releases) {
      if (is / now - was / all < LEAST_SHARE || known.has(place(stratum, code))) continue;
      added.push({ like, code });
    }
  });
  const longer = (values: Float64Array) => {
    const all = new Float64Array(values.length + added.length);
    all.set(values);
    return all;
  };
  const { runs } = cells;
  return {
    ...cells,
    leaves: {
      sizes,
      codes: cells.leaves.codes.map((own, dimension) => {
        const more = added.map(({ like, code }) => (dimension === version ? code : own[like]!));
        return Int32Array.from([...own, ...more]);
      }),
    },
    before: longer(cells.before),
    after: longer(cells.after),
    partBefore: longer(cells.partBefore),
    partAfter: longer(cells.partAfter),
    ...(runs && { runs: { before: longer(runs.before), after: longer(runs.after) } }),
  };
}

/**
 * Moves earlier counts to the later release mix, by program, as if users had already gone from release
 * to release as they did since: a release that lost a part of its users loses it
 * everywhere, and those go, with what they held, to the releases that won. The sum over the releases
 * of a program stays in each country, network and test.
 *
 * @param counted runs, where they are known: they show how users went.
 * @param out leaves that nothing is learned from, those of causes.
 */
export function upgrade(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  out?: Uint8Array,
): (column: Float64Array) => Float64Array {
  if (releaseDimensions(cells).version < 0 || cells.names.length === 1) return (column) => column;
  const places = arranged(cells);
  const { codes, strata, first, programs } = places;
  // Where one release is a cause the others show nothing either: their parts of the rest are greater.
  const doubted = new Uint8Array(first.length);
  out?.forEach((is, leaf) => (doubted[strata[leaf]!]! |= is));
  // Nor does a place that a flood fills, as one probe can.
  const [had, has] = [counted.before, counted.after].map((n) => sumsIn(strata, n, first.length));
  has!.forEach((now, at) => {
    if (now > FLOOD * (had![at]! * cells.ratio + LEAST_RUNS)) doubted[at] = 1;
  });
  const all = totalsByRelease(counted, places);
  const totals = totalsByRelease(
    counted,
    places,
    Uint8Array.from(strata, (stratum) => doubted[stratum]!),
  );
  for (const [program, { was, is }] of totals) {
    // Where the whole program is a cause, nothing else shows where its users went.
    if (was + is === 0) totals.set(program, all.get(program)!);
  }
  const kept = new Float64Array(codes.length).fill(1);
  const gain = new Float64Array(codes.length);
  const won = new Float64Array(first.length);
  codes.forEach((code, leaf) => {
    const program = totals.get(programs[leaf]!);
    const release = program?.releases.get(code);
    if (release === undefined || !(program!.was > 0 && program!.is > 0)) return;
    const [then, now] = [release.was / program!.was, release.is / program!.is];
    if (now < then) kept[leaf] = now / then;
    else won[strata[leaf]!]! += gain[leaf] = now - then;
  });
  return (column) => {
    const freed = new Float64Array(first.length);
    column.forEach((value, leaf) => (freed[strata[leaf]!]! += value * (1 - kept[leaf]!)));
    return column.map((value, leaf) => {
      const stratum = strata[leaf]!;
      // Where no release that won has a leaf, users stayed.
      if (!(won[stratum]! > 0)) return value;
      return value * kept[leaf]! + (freed[stratum]! * gain[leaf]!) / won[stratum]!;
    });
  };
}

/** What a found element's rows share, by dimension, and which rows they are. */
export interface NamedRows {
  readonly where: Readonly<Record<string, string | null>>;
  readonly leaves: readonly number[];
  /** True if some rows of its values are of a cause before it. */
  readonly rest: boolean;
  readonly isRelease: boolean;
  /** As it was found, by numbers. */
  readonly dimensions: readonly number[];
  readonly values: readonly number[];
}

/** A found element by name: of a version with its program, where one has it; the same number of another is another release. */
export function namedRows(
  cells: ChangeCells,
  { dimensions, values: codes, leaves, rest }: Found,
): NamedRows {
  const { names, values } = cells;
  const isRelease = dimensions.includes(releaseDimensions(cells).version);
  const where = Object.fromEntries(
    dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
  );
  const named = isRelease ? { ...programOf(cells, leaves), ...where } : where;
  return { dimensions, values: codes, rest, where: named, leaves, isRelease };
}

/** The program that all of these leaves are of, by its dimension; nothing where there are several. */
export function programOf(
  { leaves, names, values }: ChangeCells,
  some: readonly number[],
): Readonly<Record<string, string | null>> {
  const { program } = releaseDimensions({ names });
  const codes = leaves.codes[program];
  const code = codes?.[some[0] ?? 0];
  if (codes === undefined || some.some((leaf) => codes[leaf] !== code)) return {};
  return { [names[program]!]: values[program]![code!]! };
}

/** Two accounts of a part that its rows don't tell apart. */
export type Open =
  /** All rows did it, or this value alone. */
  | { readonly of: "all"; readonly name: string; readonly value: string | null }
  /** This release of the program, or the whole program. */
  | { readonly of: "program"; readonly release: string }
  /** This release, or its users went to another that sends hardly anything. */
  | { readonly of: "silent"; readonly release: string; readonly other: string }
  /** It lost rows, or another release was shut out whose users were to come to it. */
  | { readonly of: "lost"; readonly other: string }
  /** It was shut out, or its users went to the newest release, which lost them. */
  | { readonly of: "gone"; readonly other: string };

/** Of leaves of one program: the release that their change comes from. */
export interface GuiltyRelease {
  readonly version: string;
  readonly leaves: readonly number[];
  /** Of `either` the release lost (or won) rows, or its whole program. */
  readonly kind: "loses" | "either";
  /** What these rows can't tell of it. */
  readonly open?: Open | undefined;
}

/** Rows before (scaled to the later range) and after, and the variance per row. */
interface Kept extends Totals {
  readonly noise: number;
}

interface ReleaseRows extends Kept {
  readonly text: string;
  readonly leaves: readonly number[];
}

function keptOf(
  { before, after, ratio }: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): Kept {
  const [was, is] = [sumOver(before, leaves) * ratio, sumOver(after, leaves)];
  return { was, is, noise: Math.max(1, sumOver(variance, leaves) / (was + is)) };
}

/** The releases that these leaves are of, the newest first. */
function releasesOf(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): ReleaseRows[] {
  const { version } = releaseDimensions(cells);
  return [...leavesBy(cells.leaves.codes[version]!, leaves)]
    .map(([code, own]) => {
      return {
        ...keptOf(cells, own, variance),
        text: cells.values[version]![code] ?? "",
        leaves: own,
      };
    })
    .sort((a, b) => compareVersions(b.text, a.text));
}

/**
 * Which release a program's change comes from; undefined where the whole program changed.
 *
 * Users stay with a release or leave it. If another release kept its rows, the newest one lost (or won)
 * them. Otherwise the loss follows how many users upgraded, or is even, which means the whole program. A
 * release that loses rows from its first day on wins some as users come to it.
 *
 * @param variance of each leaf's change.
 */
export function guilty(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): GuiltyRelease | undefined {
  const all = keptOf(cells, leaves, variance);
  // An empty version is no release.
  const some = releasesOf(cells, leaves, variance).filter(({ text }) => text !== "");
  const releases = some.filter(({ was, is }) => {
    return is > LEAST_SHARE * all.is || was > LEAST_SHARE * all.was;
  });
  const [newest] = releases;
  const others = releases.filter((one) => one !== newest && one.was > 0);
  if (newest === undefined || others.length === 0 || !(all.was > 0)) return undefined;
  // Users stay or leave: those releases that were left say nothing, those that kept their rows do.
  const [level, left] = [all.is / all.was, (one: Totals) => one.is / one.was];
  const kept = others.filter((one) => left(one) > Math.sqrt(level));
  const steady =
    kept.length > 0 &&
    keptOf(
      cells,
      kept.flatMap((one) => one.leaves),
      variance,
    );
  if (steady && stayed(steady, all) > LIKELIER) {
    const own = { version: newest.text, leaves: newest.leaves, kind: "loses" } as const;
    if (all.is > all.was) return own;
    // Users may have gone to a newer one that hardly sends anything.
    const silent = some.slice(0, some.indexOf(newest)).find(({ was, is }) => is > NEW * was);
    if (silent !== undefined) {
      const open = { of: "silent", release: newest.text, other: silent.text } as const;
      return { version: newest.text, leaves, kind: "either", open };
    }
    // Nobody knows whether users of a release that is gone would have come to it.
    const [gone] = goneOf(some, all);
    return { ...own, open: gone && { of: "lost", other: gone.text } };
  }
  // Where nobody upgraded it is the program.
  if (all.is > all.was || Math.abs(left(newest) / level - 1) < TOTAL_TOLERANCE) return undefined;
  const open = { of: "program", release: newest.text } as const;
  return { version: newest.text, leaves, kind: "either", open };
}

/**
 * The one release of these leaves that is gone, if what it had is enough to account for the loss. Users
 * who upgrade never all do within a range: who sees nothing more of a release sees it shut out.
 */
export function goneRelease(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
  least = TOTAL_TOLERANCE,
): GuiltyRelease | undefined {
  const all = keptOf(cells, leaves, variance);
  const releases = releasesOf(cells, leaves, variance).filter(({ text }) => text !== "");
  const gone = goneOf(releases, all);
  const [own] = gone;
  const lost = all.was - all.is;
  if (own === undefined || gone.length > 1 || !(lost > least * all.was)) return undefined;
  // Of a program that is gone altogether none of its releases is.
  if (own.was < lost || all.is <= PART_TOLERANCE * all.was) return undefined;
  const [newest] = releases;
  return {
    version: own.text,
    leaves: own.leaves,
    kind: "loses",
    open: newest === own ? undefined : { of: "gone", other: newest!.text },
  };
}

/** Those that had a fair part of all rows and have hardly one left. */
function goneOf(releases: readonly ReleaseRows[], all: Kept): readonly ReleaseRows[] {
  return releases.filter(({ was, is }) => {
    return (
      was > PART_TOLERANCE * all.was && was > LEAST_RUNS * all.noise && is <= PART_TOLERANCE * was
    );
  });
}

/** Logarithm of how much likelier rows kept all than what the program did. */
function stayed({ was, is, noise }: Kept, program: Totals): number {
  const likelihood = (left: number) => {
    const variance = (noise * (left + left ** 2)) / was + (PART_TOLERANCE / 2) ** 2;
    return -((is / was - left) ** 2) / (2 * variance) - Math.log(variance) / 2;
  };
  return likelihood(1) - likelihood(program.is / program.was);
}

/** Users of a program who went from release to release. */
export interface Move {
  /** Whose versions they are, where that is asked about: the software_name. */
  readonly program: string | null;
  readonly dimension: string;
  /** Those that users left, then those they went to, each from the oldest to the newest. */
  readonly values: readonly (string | null)[];
  /** True if most went to an older release than they had. */
  readonly isBack: boolean;
  /** What the program's rows became, as a factor. */
  readonly kept: number;
}

/** Programs whose users went from release to release. */
export function moves(cells: ChangeCells): Move[] {
  const { version, program } = releaseDimensions(cells);
  if (version < 0) return [];
  return [...totalsByRelease(cells, arranged(cells))].flatMap(([name, { was, is, releases }]) => {
    const least = (PART_TOLERANCE * (was * cells.ratio + is)) / 2;
    const moved = [...releases]
      .map(([code, own]) => {
        return { text: cells.values[version]![code]!, change: own.is - own.was * cells.ratio };
      })
      .filter(({ change }) => Math.abs(change) > least);
    const lost = moved.reduce((sum, { change }) => sum + Math.max(0, -change), 0);
    const won = moved.reduce((sum, { change }) => sum + Math.max(0, change), 0);
    if (Math.min(lost, won) <= ALIKE_RATIO * Math.max(lost, won)) return [];
    const order = (a: string | null, b: string | null) => compareVersions(a ?? "", b ?? "");
    const [left, most] = [-1, 1].map((sign) =>
      moved.reduce((a, b) => (sign * b.change > sign * a.change ? b : a)),
    );
    const side = (sign: number) =>
      moved.flatMap(({ text, change }) => (change * sign > 0 ? [text] : [])).sort(order);
    return [
      {
        program: program < 0 ? null : cells.values[program]![name]!,
        dimension: cells.names[version]!,
        values: [...side(-1), ...side(1)],
        isBack: order(most!.text, left!.text) < 0,
        kept: is / (was * cells.ratio),
      },
    ];
  });
}
