import { isVersionColumn } from "../../result/origin.js";
import { compareVersions } from "../../result/version-order.js";
import type { CauseWhere } from "../words.js";
import type { Part } from "./account.js";
import type { ChangeCells } from "./cells.js";
import { cuboid, leavesBy, sums, total, type Column } from "./cube.js";
import type { Contrast, Found } from "./scan.js";
import {
  CLUMP,
  FLOOD,
  LEAST_REST,
  LEAST_RUNS,
  LEAST_SHARE,
  LIKELIER,
  NEARLY,
  PART_TOLERANCE,
  TOTAL_TOLERANCE,
} from "./thresholds.js";

/** Versions and the programs that they are of, by the numbers of their dimensions; −1 where that isn't asked about. */
export function releaseDimensions({ names }: Pick<ChangeCells, "names">) {
  const version = names.findIndex(isVersionColumn);
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  const program = version < 0 ? -1 : names.indexOf(names[version]!.replace(/version$/i, "name"));
  return { version, program };
}

/** The leaves by place (all dimensions but the version), by program and by release. */
function groupings({ leaves, names }: ChangeCells) {
  const { version, program } = releaseDimensions({ names });
  const whose = program < 0 ? [] : [program];
  const all = [...names.keys()].filter((at) => at !== version);
  return {
    places: cuboid(leaves, all),
    programs: cuboid(leaves, whose),
    releases: cuboid(leaves, [...whose, version]),
  };
}

/** Rows of one user are of one program, country and network, in several tests and, one after the other, versions. */
export function usersOf({
  leaves,
  names,
}: ChangeCells): Pick<Contrast, "users" | "clusters" | "isNarrow"> {
  const { version } = releaseDimensions({ names });
  const all = [...names.keys()];
  const of = (some: readonly number[]) => cuboid(leaves, some.length > 0 ? some : all);
  const own = all.filter((at) => names[at] !== "test_name");
  return {
    users: of(own.filter((at) => at !== version)),
    clusters: of(own),
    isNarrow: names.includes("probe_asn"),
  };
}

/** Of each leaf the part of its program's rows that its release has. */
function shares(cells: ChangeCells, column: Column, out?: Uint8Array): Column {
  const { programs, releases } = groupings(cells);
  const [own, all] = [sums(releases, column, out), sums(programs, column, out)];
  return Float64Array.from(releases.parts, (at, leaf) => own[at]! / all[programs.parts[leaf]!]!);
}

/** True if releases are asked about, and something beside them that shows where they lack. */
function hasReleases(cells: ChangeCells): boolean {
  return releaseDimensions(cells).version >= 0 && cells.names.length > 1;
}

/**
 * The cells with a leaf, of nothing, for each release that users went to in every country, network
 * and test of its program: what should have come there and didn't has no row.
 */
export function withMissing(cells: ChangeCells): ChangeCells {
  if (!hasReleases(cells)) return cells;
  const { version } = releaseDimensions(cells);
  const { places, programs, releases } = groupings(cells);
  const [was, is] = [shares(cells, cells.before), shares(cells, cells.after)];
  const won = leavesBy(
    programs.parts,
    releases.example.filter((leaf) => is[leaf]! - was[leaf]! >= LEAST_SHARE),
  );
  const { codes, sizes } = cells.leaves;
  const own = codes[version]!;
  const known = new Set(places.parts.map((place, leaf) => place * sizes[version]! + own[leaf]!));
  const added = Array.from(places.example).flatMap((like, place) =>
    (won.get(programs.parts[like]!) ?? []).flatMap((leaf) =>
      known.has(place * sizes[version]! + own[leaf]!) ? [] : [{ like, code: own[leaf]! }],
    ),
  );
  const longer = (values: Column) => {
    const all = new Float64Array(values.length + added.length);
    all.set(values);
    return all;
  };
  const { runs } = cells;
  return {
    ...cells,
    leaves: {
      sizes,
      codes: codes.map((own, dimension) => {
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

/** A value that one release reports for nearly all its rows, and nothing else does: country ZZ, network 0. */
export interface Placeholder {
  /** The release, by the dimensions of programs and versions. */
  readonly where: CauseWhere;
  readonly dimension: string;
  readonly value: string | null;
}

/**
 * The cells with no place of a program whose release reports a placeholder for it: where its rows came
 * from can't be compared, so that nothing is missing elsewhere, and no place is new.
 */
export function withPlaces(given: ChangeCells): {
  cells: ChangeCells;
  placeholders: readonly Placeholder[];
} {
  if (!hasReleases(given)) return { cells: given, placeholders: [] };
  const { leaves, names, values, before, after, ratio } = given;
  const { programs, releases } = groupings(given);
  const [had, has] = [before, after].map((column) => sums(programs, column)) as [Column, Column];
  const codes = [...leaves.codes];
  const placeholders = usersOf(given).users.dims.flatMap((at): Placeholder[] => {
    if (releases.dims.includes(at)) return [];
    const [reported, ofValue] = [cuboid(leaves, [...releases.dims, at]), cuboid(leaves, [at])];
    const [ofRelease, now, then] = [
      sums(releases, after),
      sums(ofValue, after),
      sums(ofValue, before),
    ];
    return Array.from(sums(reported, after)).flatMap((rows, group) => {
      const leaf = reported.example[group]!;
      const [program, value] = [programs.parts[leaf]!, ofValue.parts[leaf]!];
      const was = had[program]! * ratio;
      // They came out of what its program had elsewhere: no flood, and no user who is new.
      const isPlaceholder =
        rows > Math.max(PART_TOLERANCE * was, LEAST_RUNS * CLUMP.rows) &&
        rows > NEARLY * ofRelease[releases.parts[leaf]!]! &&
        rows > NEARLY * (now[value]! + then[value]!) &&
        was - (has[program]! - rows) > rows / 2;
      if (!isPlaceholder) return [];
      const own = leaves.codes[at]![leaf]!;
      codes[at] = codes[at]!.map((code, one) => (programs.parts[one] === program ? own : code));
      const where: Record<string, string | null> = {};
      for (const dim of releases.dims)
        where[names[dim]!] = values[dim]![leaves.codes[dim]![leaf]!]!;
      return [{ where, dimension: names[at]!, value: values[at]![own]! }];
    });
  });
  if (placeholders.length === 0) return { cells: given, placeholders };
  return { cells: { ...given, leaves: { ...leaves, codes } }, placeholders };
}

/**
 * Moves a column of before to the later release mix, by program, as if users had already gone from
 * release to release as they did since: a release that lost a part of its users loses it everywhere,
 * and those go, with what they held, to the releases that won. Sums of a program in a place stay.
 *
 * @param counted runs, where they are known: they show how users went.
 * @param out leaves of causes, whose places show nothing.
 */
export function upgrade(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  out?: Uint8Array,
): (column: Column) => Column {
  if (!hasReleases(cells)) return (column) => column;
  const { places, programs } = groupings(cells);
  const [had, has] = [sums(places, counted.before), sums(places, counted.after)];
  // Nor does a place that a flood fills, as one probe can.
  const doubted = has.map((now, at) => Number(now > FLOOD * (had[at]! * cells.ratio + LEAST_RUNS)));
  out?.forEach((is, leaf) => (doubted[places.parts[leaf]!] ||= is));
  const untold = Uint8Array.from(places.parts, (place) => doubted[place]!);
  const sides = [counted.before, counted.after].map((column) => ({
    beside: shares(cells, column, untold),
    all: shares(cells, column),
  }));
  const size = counted.after.map((n, leaf) => n + counted.before[leaf]!);
  const [left, whole] = [sums(programs, size, untold), sums(programs, size)];
  // Where hardly anything of a program, or none of a release, is left beside causes, all of it shows
  // where its users went.
  const [then, now] = sides.map(({ beside, all }) =>
    all.map((share, leaf) => {
      const program = programs.parts[leaf]!;
      const isKnown =
        left[program]! > LEAST_REST * whole[program]! &&
        sides.some((side) => side.beside[leaf]! > 0);
      return (isKnown ? beside[leaf]! : share) || 0;
    }),
  ) as [Column, Column];
  const kept = then.map((share, leaf) => (share > now[leaf]! ? now[leaf]! / share : 1));
  const gain = now.map((share, leaf) => Math.max(0, share - then[leaf]!));
  const won = sums(places, gain);
  return (column) => {
    const left = column.map((value, leaf) => value * (1 - kept[leaf]!));
    const freed = sums(places, left);
    return column.map((value, leaf) => {
      const place = places.parts[leaf]!;
      // Where no release that won has a leaf, users stayed.
      if (!(won[place]! > 0)) return value;
      return value - left[leaf]! + (freed[place]! * gain[leaf]!) / won[place]!;
    });
  };
}

/** A found element by name: of a version with its program, where one has it. */
export function whereOf(cells: ChangeCells, { dims, codes, leaves }: Found): CauseWhere {
  const { names, values } = cells;
  const isRelease = dims.includes(releaseDimensions(cells).version);
  return {
    ...(isRelease && programOf(cells, leaves)),
    ...Object.fromEntries(dims.map((dim, at) => [names[dim]!, values[dim]![codes[at]!]!])),
  };
}

/** The program that all of these leaves are of, by its dimension; nothing where there are several. */
export function programOf(
  { leaves, names, values }: ChangeCells,
  some: readonly number[],
): CauseWhere {
  const { program } = releaseDimensions({ names });
  const codes = leaves.codes[program];
  const code = codes?.[some[0] ?? 0];
  if (codes === undefined || some.some((leaf) => codes[leaf] !== code)) return {};
  return { [names[program]!]: values[program]![code!]! };
}

/** That all rows did something, or the element alone that explains it as well. */
export function openOf(cells: ChangeCells, rival: Found | undefined): Part["open"] {
  return rival && [{}, whereOf(cells, rival)];
}

/** Of leaves of one program: the release that their change comes from. */
export interface Guilty {
  readonly version: string;
  /** Missing where it may have been another. */
  readonly leaves?: readonly number[];
  /** The release that may have done it instead; null for the whole program. */
  readonly rival?: string | null | undefined;
}

interface ReleaseRows {
  readonly was: number;
  readonly is: number;
  readonly text: string;
  readonly leaves: readonly number[];
}

/**
 * Which release a program's change comes from; undefined where the whole program changed.
 *
 * Users stay with a release or leave it. If others kept their rows, the newest one lost (or won) them.
 * One that is gone altogether was shut out, as users never all upgrade within a range. Otherwise the loss
 * follows how many users upgraded, or is even, which means the whole program.
 *
 * @param noise the dispersion of these rows.
 */
export function guiltyRelease(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  leaves: readonly number[],
  noise: number,
): Guilty | undefined {
  const { version } = releaseDimensions(cells);
  const rowsOf = (some: readonly number[], text = ""): ReleaseRows => {
    const was = total(counted.before, some) * cells.ratio;
    return { was, is: total(counted.after, some), text, leaves: some };
  };
  const all = rowsOf(leaves);
  // An empty version is no release.
  const releases = [...leavesBy(cells.leaves.codes[version]!, leaves)]
    .map(([code, some]) => rowsOf(some, cells.values[version]![code] ?? ""))
    .filter(({ text }) => text !== "")
    .sort((a, b) => compareVersions(b.text, a.text));
  const gone = releases.filter(
    ({ was, is }) =>
      was > Math.max(PART_TOLERANCE * all.was, LEAST_RUNS * noise) && is <= PART_TOLERANCE * was,
  );
  const shut = gone[0];
  const lost = all.was - all.is;
  const isLost = lost > Math.max(TOTAL_TOLERANCE * all.was, Math.sqrt(noise * (all.was + all.is)));
  const isLeft = all.is > PART_TOLERANCE * all.was;
  if (shut && gone.length === 1 && isLeft && isLost && shut.was >= lost) {
    const newest = releases[0]!;
    // All may have gone to one that came since, and it may have lost them.
    const isNew = newest !== shut && newest.was < LEAST_SHARE * all.was;
    if (isNew && newest.is > LEAST_SHARE * all.is) {
      return { version: newest.text, leaves: newest.leaves, rival: shut.text };
    }
    const rival = newest === shut ? undefined : newest.text;
    return { version: shut.text, leaves: shut.leaves, rival };
  }
  const [newest, ...others] = releases.filter(
    ({ was, is }) => is > LEAST_SHARE * all.is || was > LEAST_SHARE * all.was,
  );
  if (!isLeft || newest === undefined || !others.some(({ was }) => was > 0)) return undefined;
  const level = all.is / all.was;
  const kept = others.filter(({ was, is }) => was > 0 && is / was > Math.sqrt(level));
  const old = rowsOf(kept.flatMap((one) => one.leaves));
  const likelihood = (factor: number) => {
    const variance = (noise * (factor + factor ** 2)) / old.was + (PART_TOLERANCE / 2) ** 2;
    return -((old.is / old.was - factor) ** 2) / (2 * variance) - Math.log(variance) / 2;
  };
  if (kept.length > 0 && likelihood(1) - likelihood(level) > LIKELIER) {
    const own = { version: newest.text, leaves: newest.leaves };
    if (all.is > all.was) return own;
    // Users may have gone to a newer one that hardly sends anything.
    const silent = releases.slice(0, releases.indexOf(newest)).find(({ was, is }) => is > 2 * was);
    if (silent !== undefined) return { version: newest.text, rival: silent.text };
    // Nobody knows whether users of a release that is gone would have come to it.
    return { ...own, rival: shut === newest ? undefined : shut?.text };
  }
  // Where nobody upgraded it is the program.
  if (all.is > all.was || Math.abs(newest.is / newest.was / level - 1) < TOTAL_TOLERANCE)
    return undefined;
  return { version: newest.text, rival: null };
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
  const { codes } = cells.leaves;
  return [...leavesBy(groupings(cells).programs.parts).values()].flatMap((all) => {
    const [was, is] = [total(cells.before, all) * cells.ratio, total(cells.after, all)];
    const moved = [...leavesBy(codes[version]!, all)]
      .map(([code, own]) => ({
        text: cells.values[version]![code]!,
        change: total(cells.after, own) - total(cells.before, own) * cells.ratio,
      }))
      .filter(({ change }) => Math.abs(change) > (PART_TOLERANCE * (was + is)) / 2)
      .sort((a, b) => compareVersions(a.text, b.text));
    const [left, won] = [-1, 1].map((sign) => moved.filter(({ change }) => change * sign > 0));
    const [lost, gained] = [left!, won!].map((some) =>
      some.reduce((sum, { change }) => sum + Math.abs(change), 0),
    ) as [number, number];
    if (Math.min(lost, gained) <= 0.5 * Math.max(lost, gained)) return [];
    const byChange = [...moved].sort((a, b) => a.change - b.change);
    return {
      program: program < 0 ? null : cells.values[program]![codes[program]![all[0]!]!]!,
      dimension: cells.names[version]!,
      values: [...left!, ...won!].map(({ text }) => text),
      isBack: compareVersions(byChange.at(-1)!.text, byChange[0]!.text) < 0,
      kept: is / was,
    };
  });
}
