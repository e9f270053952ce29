import { isVersionColumn } from "../../result/origin.js";
import { compareVersions } from "../../result/version-order.js";
import type { CauseWhere } from "../words.js";
import type { ChangeCells } from "./cells.js";
import { cuboid, leavesBy, leavesIn, sums, total, type Column, type Cuboid } from "./cube.js";
import type { Contrast, Found } from "./scan.js";
import {
  FLOOD,
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
export function usersOf({ leaves, names }: ChangeCells): Pick<Contrast, "users" | "isNarrow"> {
  const { version } = releaseDimensions({ names });
  const all = [...names.keys()];
  const own = all.filter((at) => at !== version && names[at] !== "test_name");
  return {
    users: cuboid(leaves, own.length > 0 ? own : all),
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
 * The cells with rows of a placeholder where the rows of its release's program were before: it says
 * nothing of where they are, so that nothing is missing elsewhere, and no place is new.
 */
export function withPlaces(given: ChangeCells): {
  cells: ChangeCells;
  placeholders: readonly Placeholder[];
} {
  if (!hasReleases(given)) return { cells: given, placeholders: [] };
  const { leaves, names, values } = given;
  const { programs, releases } = groupings(given);
  const placeholders: Placeholder[] = [];
  let cells = given;
  for (const at of usersOf(given).users.dims.filter((one) => !releases.dims.includes(one))) {
    const reported = cuboid(leaves, [...releases.dims, at]);
    const ofValue = cuboid(leaves, [at]);
    const all = sums(
      ofValue,
      given.before.map((n, leaf) => n + given.after[leaf]!),
    );
    const ofRelease = sums(releases, given.after);
    const was = sums(programs, given.before);
    sums(reported, given.after).forEach((rows, group) => {
      const leaf = reported.example[group]!;
      const isPlaceholder =
        rows > Math.max(LEAST_RUNS, NEARLY * ofRelease[releases.parts[leaf]!]!) &&
        rows > NEARLY * all[ofValue.parts[leaf]!]! &&
        // More than the program can have had are a flood.
        rows < 2 * given.ratio * was[programs.parts[leaf]!]!;
      if (!isPlaceholder) return;
      cells = placed(cells, at, reported, group);
      const valueOf = (dim: number) => values[dim]![leaves.codes[dim]![leaf]!]!;
      const where: Record<string, string | null> = {};
      for (const dim of releases.dims) where[names[dim]!] = valueOf(dim);
      placeholders.push({ where, dimension: names[at]!, value: valueOf(at) });
    });
  }
  return { cells, placeholders };
}

/** Moves the rows of a group to the other leaves of its release, by what its program had there, and by what else is known of them. */
function placed(cells: ChangeCells, at: number, reported: Cuboid, group: number): ChangeCells {
  const { leaves, before, runs } = cells;
  const { places, releases } = groupings(cells);
  const had = sums(places, before);
  const own = leavesIn(reported.parts, group);
  const release = releases.parts[own[0]!]!;
  const others = leavesIn(releases.parts, release).filter((leaf) => reported.parts[leaf] !== group);
  // The same test, and the same network of rows that lack a country.
  const rest = [...leaves.codes.keys()].filter((one) => one !== at);
  const { parts } = cuboid(leaves, rest);
  const alike = leavesBy(parts, others);
  const weightOf = (leaf: number) => had[places.parts[leaf]!]!;
  const spread = (column: Column) => {
    const all = column.slice();
    for (const leaf of own) {
      const same = (alike.get(parts[leaf]!) ?? []).filter((one) => weightOf(one) > 0);
      const to = same.length > 0 ? same : others;
      const weight = to.reduce((sum, one) => sum + weightOf(one), 0);
      if (!(weight > 0)) continue;
      all[leaf]! -= column[leaf]!;
      for (const one of to) all[one]! += (column[leaf]! * weightOf(one)) / weight;
    }
    return all;
  };
  return {
    ...cells,
    after: spread(cells.after),
    partAfter: spread(cells.partAfter),
    ...(runs && { runs: { ...runs, after: spread(runs.after) } }),
  };
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
  const { places } = groupings(cells);
  const [had, has] = [sums(places, counted.before), sums(places, counted.after)];
  // Nor does a place that a flood fills, as one probe can.
  const doubted = has.map((now, at) => Number(now > FLOOD * (had[at]! * cells.ratio + LEAST_RUNS)));
  out?.forEach((is, leaf) => (doubted[places.parts[leaf]!] ||= is));
  const untold = Uint8Array.from(places.parts, (place) => doubted[place]!);
  const sides = [counted.before, counted.after].map((column) => ({
    beside: shares(cells, column, untold),
    all: shares(cells, column),
  }));
  // Where the whole program is a cause, nothing else shows where its users went.
  const [then, now] = sides.map(({ beside, all }) =>
    all.map((share, leaf) => {
      const isKnown = sides.every((side) => Number.isFinite(side.beside[leaf]));
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
export interface Guilty {
  readonly version: string;
  /** Missing where it may have been the whole program. */
  readonly leaves?: readonly number[];
  /** What these rows can't tell of it. */
  readonly open?: Open | undefined;
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
 * @param noise the dispersion of these rows. @param least part of the program's rows that is a loss.
 */
export function guiltyRelease(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  leaves: readonly number[],
  noise: number,
  least = TOTAL_TOLERANCE,
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
  const isLost = lost > Math.max(least * all.was, Math.sqrt(noise * (all.was + all.is)));
  const isLeft = all.is > PART_TOLERANCE * all.was;
  if (shut && gone.length === 1 && isLeft && isLost && shut.was >= lost) {
    const newest = releases[0]!;
    // All may have gone to one that came since, and it may have lost them.
    const isNew = newest !== shut && newest.was < LEAST_SHARE * all.was;
    if (isNew && newest.is > LEAST_SHARE * all.is) {
      const open = { of: "lost", other: shut.text } as const;
      return { version: newest.text, leaves: newest.leaves, open };
    }
    const open = newest === shut ? undefined : ({ of: "gone", other: newest.text } as const);
    return { version: shut.text, leaves: shut.leaves, open };
  }
  const [newest, ...others] = releases.filter(
    ({ was, is }) => is > LEAST_SHARE * all.is || was > LEAST_SHARE * all.was,
  );
  if (least === 0 || !isLeft || newest === undefined || !others.some(({ was }) => was > 0))
    return undefined;
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
    if (silent !== undefined) {
      const open = { of: "silent", release: newest.text, other: silent.text } as const;
      return { version: newest.text, open };
    }
    // Nobody knows whether users of a release that is gone would have come to it.
    return { ...own, open: shut && { of: "lost", other: shut.text } };
  }
  // Where nobody upgraded it is the program.
  if (all.is > all.was || Math.abs(newest.is / newest.was / level - 1) < TOTAL_TOLERANCE)
    return undefined;
  return { version: newest.text, open: { of: "program", release: newest.text } };
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
