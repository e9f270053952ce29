import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { grouped, sumsIn, type Element } from "./cuboids.js";
import { poisson, type SumTable } from "./sums.js";
import type { CauseValue } from "./words.js";

/** Of what some versions lost, others must have won this part (or the reverse) for a move. */
const LEAST_MOVED = 0.3;
/** Releases that changed by less than this part didn't move. */
const LEAST_CHANGED = 0.1;
/** Standard errors from which a release moved, and beyond which more of them say nothing more. */
const MOVED = Math.SQRT2;
const MOST_OFF = 2;
/** The logarithm of how much likelier one account must be than another: a move where no release won, no move where one did and others' users stayed. */
const CAUTION = 3;

/** Leaves that changed together, by releases or without. */
export interface ReleaseCause extends Element {
  readonly leaves: readonly number[];
  /** In words that no single value has: a list of versions, the program of one. */
  readonly releases?: Readonly<Record<string, CauseValue>>;
}

/** What releases are looked at with. */
export interface ReleaseSearch {
  readonly cells: ChangeCells;
  readonly dimension: number;
  /** What rows became by what all did, as a factor. */
  readonly factor: number;
  /** Leaves of causes. */
  readonly taken: Uint8Array;
  /** How many times a Poisson count's variance rows have. */
  readonly dispersion: number;
  /** All causes found, by releases or without. */
  readonly causes: readonly ReleaseCause[];
}

/** The dimension whose values are the programs that the versions are of; −1 where it isn't asked about. */
export function programOf({ names }: Pick<ChangeCells, "names">, dimension: number): number {
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  return names.indexOf(names[dimension]!.replace(/version$/i, "name"));
}

const sum = (list: readonly number[]) => list.reduce((all, one) => all + one, 0);

/**
 * What a program's releases would be in a part of its rows, were users there to go from release to
 * release as others do: a release that lost a part of its users elsewhere loses it here too, and
 * those go to the releases that won, in proportion. The sum stays. Undefined where there are no
 * others to learn it from.
 */
export function adopted(
  was: readonly number[],
  others: { readonly was: readonly number[]; readonly is: readonly number[] },
): number[] | undefined {
  const [had, has] = [sum(others.was), sum(others.is)];
  if (!(had > 0 && has > 0)) return undefined;
  const shares = was.map((_, at) => ({ then: others.was[at]! / had, now: others.is[at]! / has }));
  const won = sum(shares.map(({ then, now }) => Math.max(0, now - then)));
  const stayed = was.map((rows, at) => {
    const { then, now } = shares[at]!;
    return now < then ? (rows * now) / then : rows;
  });
  const freed = sum(was) - sum(stayed);
  return stayed.map((rows, at) => {
    const { then, now } = shares[at]!;
    return now > then ? rows + (freed * (now - then)) / won : rows;
  });
}

/**
 * Rows by release within the values of each other dimension, against what the same program's users
 * did elsewhere: a loss of one release in one country, which neither shows by itself.
 */
export function releaseTables(
  search: Pick<ReleaseSearch, "cells" | "dimension" | "factor" | "taken">,
  others: readonly number[],
): SumTable[] {
  const { cells, dimension, factor, taken } = search;
  const { codes } = cells.leaves;
  const program = programOf(cells, dimension);
  return others
    .filter((other) => other !== program)
    .flatMap((other) => {
      const kept = [...(program < 0 ? [] : [program]), dimension, other];
      const finest = grouped(cells.leaves, kept);
      const was = sumsIn(finest.parts, cells.before, finest.groups, taken).map((n) => n * factor);
      const is = sumsIn(finest.parts, cells.after, finest.groups, taken);
      // By program: all of its releases; by program and value: its releases there.
      const programs = new Map<number, Map<number, { was: number; is: number }>>();
      const parts = new Map<number, { program: number; groups: number[] }>();
      const alive = new Uint8Array(finest.groups);
      finest.parts.forEach((group, leaf) => {
        if (taken[leaf] === 0) alive[group] = 1;
      });
      for (let group = 0; group < finest.groups; group += 1) {
        // Of a cause nothing is expected.
        if (alive[group] === 0) continue;
        const leaf = finest.example[group]!;
        const name = codes[program]?.[leaf] ?? 0;
        const version = codes[dimension]![leaf]!;
        const releases = programs.get(name) ?? new Map<number, { was: number; is: number }>();
        programs.set(name, releases);
        const release = releases.get(version) ?? { was: 0, is: 0 };
        releases.set(version, release);
        release.was += was[group]!;
        release.is += is[group]!;
        const key = name * cells.leaves.sizes[other]! + codes[other]![leaf]!;
        const part = parts.get(key) ?? { program: name, groups: [] };
        parts.set(key, part);
        part.groups.push(group);
      }
      const expected = is.slice();
      const doubt = new Float64Array(finest.groups);
      for (const { program: name, groups } of parts.values()) {
        const releases = programs.get(name)!;
        const own = new Map(
          groups.map((group) => [codes[dimension]![finest.example[group]!]!, group]),
        );
        const versions = [...releases.keys()];
        const here = (of: Float64Array) =>
          versions.map((version) => (own.has(version) ? of[own.get(version)!]! : 0));
        const [hereWas, hereIs] = [here(was), here(is)];
        const elsewhere = {
          was: versions.map((one, at) => Math.max(0, releases.get(one)!.was - hereWas[at]!)),
          is: versions.map((one, at) => Math.max(0, releases.get(one)!.is - hereIs[at]!)),
        };
        const drawn = adopted(hereWas, elsewhere);
        if (drawn === undefined) continue;
        versions.forEach((version, at) => {
          const group = own.get(version);
          if (group === undefined) return;
          expected[group] = drawn[at]!;
          doubt[group] = sum(hereWas) / sum(elsewhere.was);
        });
      }
      const coarser = program < 0 ? [] : [grouped(cells.leaves, [dimension, other])];
      return [...coarser, finest].map((cuboid) => {
        const table = {
          ...{ dimensions: cuboid.dimensions, example: cuboid.example },
          ...{ expected: new Float64Array(cuboid.groups), came: new Float64Array(cuboid.groups) },
          ...{ doubt: new Float64Array(cuboid.groups) },
        };
        for (let group = 0; group < finest.groups; group += 1) {
          const at = cuboid.parts[finest.example[group]!]!;
          table.expected[at]! += expected[group]!;
          table.came[at]! += is[group]!;
          table.doubt[at] = Math.max(table.doubt[at]!, doubt[group]!);
        }
        return table;
      });
    });
}

/** A version of a program, where a cause is, and outside all causes. */
interface Release {
  readonly program: number;
  readonly code: number;
  /** Whether it is of the cause, not beside it: of another program in the same country. */
  within: boolean;
  readonly leaves: number[];
  was: number;
  is: number;
  outsideWas: number;
  outsideIs: number;
}

function releasesOf(
  { dimensions, values, leaves }: ReleaseCause,
  search: ReleaseSearch,
): Release[] {
  const { cells, dimension, factor, taken, causes } = search;
  const { codes: all } = cells.leaves;
  const program = programOf(cells, dimension);
  const [programs, codes] = [all[program], all[dimension]!];
  const known = new Map<number, Release>();
  const inside = new Uint8Array(codes.length);
  const place = dimensions.flatMap((one, at) =>
    one === program || one === dimension ? [] : [[all[one]!, values[at]!] as const],
  );
  const here = (leaf: number) => place.every(([own, value]) => own[leaf] === value);
  if (place.length > 0 && place.length < dimensions.length) {
    for (let leaf = 0; leaf < codes.length; leaf += 1) {
      if (taken[leaf] === 0 && here(leaf)) inside[leaf] = 1;
    }
    // What was found beside it may be the same.
    for (const other of causes) {
      if (other.leaves.every(here)) for (const leaf of other.leaves) inside[leaf] = 1;
    }
  }
  for (const leaf of leaves) inside[leaf] = 2;
  for (let leaf = 0; leaf < codes.length; leaf += 1) {
    if (inside[leaf] === 0 && taken[leaf] === 1) continue;
    const [program, code] = [programs?.[leaf] ?? 0, codes[leaf]!];
    const key = program * cells.leaves.sizes[dimension]! + code;
    const one = known.get(key) ?? {
      ...{ program, code, within: false, leaves: [], was: 0, is: 0, outsideWas: 0, outsideIs: 0 },
    };
    known.set(key, one);
    one.within ||= inside[leaf] === 2;
    const [was, is] = [cells.before[leaf]! * factor, cells.after[leaf]!];
    if (inside[leaf]! > 0) {
      one.leaves.push(leaf);
      one.was += was;
      one.is += is;
    } else {
      one.outsideWas += was;
      one.outsideIs += is;
    }
  }
  return [...known.values()];
}

/** A release, what it would be had users moved as usual, and how uncertain that is. */
interface Expected extends Release {
  /** Whether others tell it. */
  readonly told: boolean;
  readonly expected: number;
  readonly doubt: number;
}

/**
 * Narrows a cause to one release, or to those between which its users moved, where that says it
 * better: the others of its rows went on as usual rather than as the whole cause did. A release that
 * fell beside the cause as well, as of a country that of all programs does, joins it. What is usual
 * is learned outside the cause; where that holds the most of a program, no release is alone in what
 * it lost, as users may have gone to others: all that moved are named.
 */
export function narrowed(cause: ReleaseCause, search: ReleaseSearch): ReleaseCause | undefined {
  const all = expectedReleases(cause, search);
  const own = all.filter(({ within }) => within);
  const programs = new Set(own.map(({ program }) => program)).size;
  if (own.every(({ told }) => !told)) return programs > 1 ? cause : ofMove(cause, own, search);
  const misfit = (list: readonly Expected[], by: number) => {
    const noise = list.reduce(
      (sum, one) => sum + variance({ ...one, expected: one.expected * by }, search),
      1e-9,
    );
    return (total(list, "is") - total(list, "expected") * by) ** 2 / (2 * noise);
  };
  const became = (list: readonly Expected[]) =>
    total(list, "is") / Math.max(1, total(list, "expected"));
  const fell = became(own);
  // Where a release is a cause by itself, its users are missing here or came from here.
  if (own.every(({ told }) => told) && misfit(own, 1) < CAUTION) return undefined;
  /** How much likelier it is that these changed, and the others not, than that the whole cause did. */
  const better = (chosen: readonly Expected[]) => {
    const rest = own.filter((one) => !chosen.includes(one));
    const both = chosen.filter(({ within }) => within);
    const beside = chosen.filter(({ within }) => !within);
    const by = became(chosen);
    return (
      misfit(rest, fell) -
      misfit(rest, 1) +
      misfit(both, fell) -
      misfit(both, by) +
      misfit(beside, 1) -
      misfit(beside, by)
    );
  };
  const codes = [...new Set(own.map(({ code }) => code))];
  const choices = [
    ...own.map((one) => [one]),
    ...codes.map((code) => all.filter((one) => one.code === code)).filter((of) => of.length > 1),
  ].filter((chosen) => chosen.every(({ told }) => told) && (became(chosen) - 1) * (fell - 1) > 0);
  let best: readonly Expected[] | undefined;
  let most = Math.log(choices.length);
  for (const chosen of choices) {
    const score = better(chosen);
    if (score > most) [best, most] = [chosen, score];
  }
  return best === undefined ? cause : named(cause, best, search);
}

/**
 * Names the releases that moved, from the first to the last, where the others rather stayed than did
 * what the whole program did.
 */
function ofMove(
  cause: ReleaseCause,
  own: readonly Expected[],
  search: ReleaseSearch,
): ReleaseCause {
  const factor = total(own, "is") / total(own, "was");
  /** Standard errors, where all became as much as `by`. */
  const off = (one: Expected, by: number) =>
    (one.is - one.was * by) / Math.sqrt(variance({ ...one, expected: one.was * by }, search));
  // What moved far from both tells nothing, as users go where they like.
  const least = (one: Expected, by: number) => Math.min(off(one, by) ** 2, MOST_OFF ** 2) / 2;
  const stayed = own.reduce((sum, one) => sum + least(one, factor) - least(one, 1), 0);
  const moved = own.filter((one) => Math.abs(off(one, 1)) > MOVED);
  // A release that won rows as the program fell is where they went, the more so where other programs'
  // users went on less; without one, users just left.
  const won = moved.some((one) => off(one, 1) * (factor - 1) < 0);
  const others = releasesOf({ dimensions: [], values: [], leaves: [] }, search).map((one) => ({
    ...{ ...one, was: one.outsideWas, is: one.outsideIs },
  }));
  const further = Math.log2(turnover(own) / turnover(others));
  const enough = won ? -CAUTION * Math.max(0, Math.min(1, further)) : CAUTION;
  if (!(stayed > enough) || moved.length === 0 || moved.length === own.length) return cause;
  // Users come to the releases in between, and leave them.
  const text = ({ code }: Expected) => search.cells.values[search.dimension]![code] ?? "";
  const order = moved.map(text).sort(compareVersions);
  const path = own.filter(
    (one) =>
      compareVersions(text(one), order[0]!) >= 0 && compareVersions(text(one), order.at(-1)!) <= 0,
  );
  return named(cause, path.length < own.length ? path : moved, search);
}

/** The part of the programs' rows that went from release to release. */
function turnover(list: readonly Release[]): number {
  const programs = [...new Set(list.map(({ program }) => program))].map((program) => {
    const own = list.filter((one) => one.program === program);
    const sum = (of: "was" | "is") => own.reduce((all, one) => all + one[of], 0);
    const [was, is] = [sum("was"), sum("is")];
    const moved = own.map((one) => Math.max(0, one.is / is - one.was / was));
    return { was, moved: was > 0 && is > 0 ? moved.reduce((all, one) => all + one, 0) * was : 0 };
  });
  const all = programs.reduce((sum, { was }) => sum + was, 0);
  return all > 0 ? programs.reduce((sum, { moved }) => sum + moved, 0) / all : 0;
}

function total(list: readonly Expected[], of: "was" | "is" | "expected"): number {
  return list.reduce((sum, one) => sum + one[of], 0);
}

function variance({ expected, is, doubt }: Expected, { dispersion, cells }: ReleaseSearch): number {
  return Math.max(1e-9, dispersion * poisson(expected, is, cells.ratio, doubt));
}

function expectedReleases(cause: ReleaseCause, search: ReleaseSearch): Expected[] {
  const all = releasesOf(cause, search);
  return [...new Set(all.map(({ program }) => program))]
    .flatMap((program) => {
      const list = all.filter((one) => one.program === program);
      const was = list.map((one) => one.was);
      const others = {
        was: list.map((one) => one.outsideWas),
        is: list.map((one) => one.outsideIs),
      };
      const doubt = sum(was) / sum(others.was);
      const drawn = doubt <= 1 ? adopted(was, others) : undefined;
      const told = drawn !== undefined;
      return list.map((one, at) => ({
        ...{ ...one, told },
        expected: drawn?.[at] ?? one.was,
        doubt: told ? doubt : 0,
      }));
    })
    .filter(({ leaves }) => leaves.length > 0);
}

function named(
  cause: ReleaseCause,
  chosen: readonly Release[],
  { cells, dimension }: ReleaseSearch,
): ReleaseCause {
  const texts = versionsOf(chosen, cells, dimension);
  const program = programOf(cells, dimension);
  const programs = new Set(chosen.map((one) => one.program));
  const [only] = programs;
  const kept = cause.dimensions.flatMap((one, at) =>
    one === program || one === dimension ? [] : [at],
  );
  return {
    dimensions: kept.map((at) => cause.dimensions[at]!),
    values: kept.map((at) => cause.values[at]!),
    releases: {
      ...cause.releases,
      ...(programs.size === 1 &&
        program >= 0 && { [cells.names[program]!]: cells.values[program]![only!]! }),
      [cells.names[dimension]!]: texts.length === 1 ? texts[0]! : texts,
    },
    leaves: chosen.flatMap(({ leaves }) => leaves),
  };
}

function versionsOf(
  releases: readonly Release[],
  { values }: ChangeCells,
  dimension: number,
): (string | null)[] {
  return [...new Set(releases.map(({ code }) => values[dimension]![code]!))].sort((a, b) =>
    compareVersions(a ?? "", b ?? ""),
  );
}

/** Versions of each program of which some lost what others won. */
export function moves(cells: ChangeCells, dimension: number, factor: number) {
  const taken = new Uint8Array(cells.before.length);
  const whole = { dimensions: [], values: [], leaves: Array.from(cells.before.keys()) };
  const all = releasesOf(whole, { cells, dimension, factor, taken, dispersion: 1, causes: [] });
  return [...new Set(all.map(({ program }) => program))].flatMap((program) => {
    const own = all.filter((one) => one.program === program);
    const rows = own.reduce((sum, { was, is }) => sum + was + is, 0) / 2;
    const moved = own.filter(({ was, is }) => Math.abs(is - was) > LEAST_CHANGED * rows);
    const lost = moved.reduce((sum, { was, is }) => sum + Math.max(0, was - is), 0);
    const won = moved.reduce((sum, { was, is }) => sum + Math.max(0, is - was), 0);
    if (Math.min(lost, won) <= LEAST_MOVED * Math.max(lost, won)) return [];
    const name = programOf(cells, dimension);
    return [
      {
        program: name < 0 ? null : cells.values[name]![program]!,
        dimension: cells.names[dimension]!,
        values: versionsOf(moved, cells, dimension),
        kept: sum(own.map(({ is }) => is)) / sum(own.map(({ was }) => was)),
      },
    ];
  });
}

/** The values of a cause by the names of their dimensions. */
export function whereOf(
  { dimensions, values: codes, releases }: Pick<ReleaseCause, "dimensions" | "values" | "releases">,
  { names, values }: Pick<ChangeCells, "names" | "values">,
): Record<string, CauseValue> {
  return {
    ...Object.fromEntries(
      dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
    ),
    ...releases,
  };
}
