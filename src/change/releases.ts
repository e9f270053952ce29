import { isVersionColumn } from "../result/origin.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { grouped, leavesBy, sumOver, sumsIn } from "./cuboids.js";
import type { Found } from "./search.js";
import {
  ALONG,
  GONE,
  LEAST_EXCHANGED,
  LEAST_REST,
  LEAST_SHARE,
  LEAST_MOVED,
  LIKELIER,
  MORE,
  UNLIKELY,
  USUAL,
  WHOLE,
} from "./thresholds.js";
import { elementText, valueText, type CauseWhere } from "./words.js";

/** Versions and the programs that they are of, by the numbers of their dimensions; −1 where that isn't asked about. */
export function releaseDimensions({ names }: Pick<ChangeCells, "names">) {
  const version = names.findIndex(isVersionColumn);
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  const program = version < 0 ? -1 : names.indexOf(names[version]!.replace(/version$/i, "name"));
  return { version, program };
}

/** The release that a cause is of, its name with the program's, and the country, network or test that it names besides. */
export function releaseName(cells: Pick<ChangeCells, "names">, where: CauseWhere) {
  const { version, program } = releaseDimensions(cells);
  const [versionName = "", programName = ""] = [cells.names[version], cells.names[program]];
  const { [versionName]: release, [programName]: whose, ...place } = where;
  const named = [whose, release].flatMap((value) => (value === undefined ? [] : valueText(value)));
  const inPlace = Object.keys(place).length === 0 ? "" : ` in ${elementText(place)}`;
  return { release, name: named.join(" "), inPlace };
}

/** Rows by what isn't their version: the stratum of each leaf, the first leaf of each, and each leaf's program. */
function arranged({ leaves, names }: ChangeCells) {
  const { version, program } = releaseDimensions({ names });
  const others = names.flatMap((_, at) => (at === version ? [] : [at]));
  const { parts: strata, example: first } = grouped(leaves, others);
  const programs = leaves.codes[program] ?? new Int32Array(strata.length);
  return { codes: leaves.codes[version]!, strata, first, programs };
}

interface Sums {
  was: number;
  is: number;
}

/** Rows of each program and each of its releases. @param out leaves that don't count. */
function byRelease(
  { before, after }: Pick<ChangeCells, "before" | "after">,
  { codes, programs }: { readonly codes: Int32Array; readonly programs: Int32Array },
  out?: ArrayLike<number>,
) {
  const all = new Map<number, Sums & { readonly releases: Map<number, Sums> }>();
  codes.forEach((code, leaf) => {
    const none = { was: 0, is: 0, releases: new Map<number, Sums>() };
    const program = all.get(programs[leaf]!) ?? none;
    all.set(programs[leaf]!, program);
    if (out?.[leaf] === 1) return;
    const release: Sums = program.releases.get(code) ?? { was: 0, is: 0 };
    program.releases.set(code, release);
    for (const sums of [program, release]) {
      sums.was += before[leaf]!;
      sums.is += after[leaf]!;
    }
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
  const { codes, strata, first, programs } = arranged(cells);
  const { sizes } = cells.leaves;
  const place = (stratum: number, code: number) => stratum * sizes[version]! + code;
  const known = new Set(strata.map((stratum, leaf) => place(stratum, codes[leaf]!)));
  const totals = byRelease(cells, { codes, programs });
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
 * Turns a column of what leaves were into what it would have been, had users already gone from release
 * to release as they did since, by program: a release that lost a part of its users loses it
 * everywhere, and those go, with what they held, to the releases that won. The sum over the releases
 * of a program stays in each country, network and test.
 *
 * @param counted what tells how users went: runs, where they are known.
 * @param out leaves that nothing is learned from, those of causes.
 */
export function upgrade(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  out?: Uint8Array,
): (column: Float64Array) => Float64Array {
  if (releaseDimensions(cells).version < 0 || cells.names.length === 1) return (column) => column;
  const { codes, strata, first, programs } = arranged(cells);
  // Where one release is a cause the others tell nothing either: their parts of the rest are greater.
  const doubted = new Uint8Array(first.length);
  out?.forEach((is, leaf) => (doubted[strata[leaf]!]! |= is));
  const without = strata.map((stratum) => doubted[stratum]!);
  const even = evened(counted, strata, first.length, cells.ratio);
  const [all, left] = [undefined, without].map((out) => ({
    levels: byRelease(counted, { codes, programs }, out),
    shares: byRelease(even, { codes, programs }, out),
  }));
  const totals = new Map(
    [...all!.levels].map(([program, { was, is }]) => {
      const some = left!.levels.get(program)!;
      // Where a program or a release is a cause as a whole, nothing else tells where its users went.
      const side = some.was + some.is < LEAST_REST * (was + is) ? all! : left!;
      const own = side.shares.get(program)!;
      for (const code of unmoved(cells, side.levels.get(program)!)) {
        const release = own.releases.get(code);
        own.releases.delete(code);
        own.was -= release?.was ?? 0;
        own.is -= release?.is ?? 0;
      }
      return [program, own];
    }),
  );
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

/**
 * The counts as they would be, had each country, network and test come as often before as after: as the
 * fewer of both. Rows that one probe floods, or that a network lost, don't tell where all users went.
 */
function evened(
  { before, after }: Pick<ChangeCells, "before" | "after">,
  strata: Int32Array,
  many: number,
  ratio: number,
) {
  const [was, is] = [sumsIn(strata, before, many), sumsIn(strata, after, many)];
  const least = was.map((n, stratum) => Math.min(n * ratio, is[stratum]!));
  const scaled = (column: Float64Array, of: Float64Array) =>
    column.map((n, leaf) => (n > 0 ? (n * least[strata[leaf]!]!) / of[strata[leaf]!]! : 0));
  return { before: scaled(before, was), after: scaled(after, is) };
}

/**
 * Releases that lost their rows by themselves, as their program's other releases stayed as they were:
 * any that is gone, and the newest one.
 */
function unmoved(
  { values, names, ratio }: ChangeCells,
  { was, is, releases }: Sums & { readonly releases: ReadonlyMap<number, Sums> },
): number[] {
  const texts = values[releaseDimensions({ names }).version]!;
  const [newest] = [...releases]
    .filter(([, own]) => own.was > LEAST_MOVED * was)
    .map(([code]) => code)
    .sort((a, b) => compareVersions(texts[b] ?? "", texts[a] ?? ""));
  return [...releases].flatMap(([code, own]) => {
    const lost = own.was * ratio - own.is;
    const others = { was: (was - own.was) * ratio, is: is - own.is };
    const fell = own.is <= GONE * own.was * ratio || (code === newest && lost > 0);
    const won = Math.abs(others.is - others.was);
    const stayed = won < Math.min(lost / 3, WHOLE * others.was) && lost > WHOLE * others.was;
    return fell && stayed ? [code] : [];
  });
}

/** What a found element's rows share, by dimension, and which rows they are. */
export interface NamedRows {
  readonly where: Readonly<Record<string, string | null>>;
  readonly leaves: readonly number[];
  /** Whether some rows of its values are of a cause before it. */
  readonly rest: boolean;
  readonly isRelease: boolean;
}

/**
 * A found element by name. Of a version it is the one program that changed, which is named with it: the
 * same number of another program is another release. All its rows where several programs changed.
 *
 * @param had what was to be expected of each leaf. @param has what came.
 */
export function namedRows(
  cells: ChangeCells,
  { dimensions, values: codes, leaves, rest }: Found,
  had: Float64Array,
  has: Float64Array,
): NamedRows {
  const { names, values } = cells;
  const { version, program } = releaseDimensions(cells);
  const where = Object.fromEntries(
    dimensions.map((dimension, at) => [names[dimension]!, values[dimension]![codes[at]!]!]),
  );
  if (!dimensions.includes(version)) return { where, leaves, rest, isRelease: false };
  const programs = cells.leaves.codes[program];
  const groups = programs === undefined ? [] : [...leavesBy(programs, leaves).values()];
  const lost = (some: readonly number[]) => sumOver(has, some) - sumOver(had, some);
  const moved = (some: readonly number[]) => sumOver(has, some) / sumOver(had, some) - 1;
  const most = groups.reduce((a, b) => (Math.abs(lost(b)) > Math.abs(lost(a)) ? b : a), []);
  const along = groups.filter((some) => moved(some) / moved(most) > ALONG);
  const own = along.length === 1 ? most : leaves;
  return { where: { ...programOf(cells, own), ...where }, leaves: own, rest, isRelease: true };
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

/** Of leaves of one program: the release that their change comes from. */
export interface GuiltyRelease {
  readonly version: string;
  readonly leaves: readonly number[];
  /** Of `either` the release lost (or won) rows, or its whole program. */
  readonly kind: "loses" | "either";
}

/** A release of the rows in question, and by how much a row of it adds to the variance of its change. */
interface ReleaseRows extends Sums {
  readonly text: string;
  readonly leaves: readonly number[];
  readonly noise: number;
}

/**
 * Which release a program's change comes from; undefined where the whole program changed. Users of each
 * other release stay, or leave it as those of the others do: what is left of them then shows whether the
 * newest lost (or won) rows, or a release that is gone, or all the program.
 *
 * @param variance of each leaf's change.
 */
export function guilty(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): GuiltyRelease | undefined {
  const { version } = releaseDimensions(cells);
  const [was, is] = [sumOver(cells.before, leaves) * cells.ratio, sumOver(cells.after, leaves)];
  const releases = [...leavesBy(cells.leaves.codes[version]!, leaves)]
    .map(([code, some]): ReleaseRows => {
      const was = sumOver(cells.before, some) * cells.ratio;
      const is = sumOver(cells.after, some);
      const noise = (sumOver(variance, some) + 1) / (was + is);
      return { text: cells.values[version]![code] ?? "", leaves: some, was, is, noise };
    })
    // An empty version is no release.
    .filter((one) => one.text !== "" && (one.is > LEAST_SHARE * is || one.was > LEAST_SHARE * was))
    .sort((a, b) => compareVersions(b.text, a.text));
  const [newest] = releases;
  const others = releases.filter((one) => one !== newest && one.was > LEAST_MOVED * was);
  if (newest === undefined || others.length === 0 || !(was > 0)) return undefined;
  // Where one release is gone, the newest came as before, or won users; several were left alike.
  const settled = newest.was > LEAST_MOVED * was;
  const still = settled ? Math.log((density(newest, 1) + 1) / 2) : 0;
  const left = releases.filter((one) => one !== newest && is < was && one.is <= GONE * one.was);
  const gone = left.length === 1 && (settled || others.length > 1) ? left : [];
  const [best, next] = [newest, ...gone]
    .map((one) => {
      const odds = evidence(
        others.filter((other) => other !== one),
        1,
      );
      return { ...one, odds: one === newest ? odds : odds + still };
    })
    .sort((a, b) => b.odds - a.odds);
  const { text, leaves: own, odds } = best!;
  const program = evidence(others, is / was);
  if (odds - Math.max(program, next?.odds ?? -Infinity) > LIKELIER) {
    return { version: text, leaves: own, kind: "loses" };
  }
  const has = others.reduce((sum, one) => sum + one.is, 0);
  const had = others.reduce((sum, one) => sum + one.was, 0);
  const moved = newest.is * had > MORE * has * newest.was;
  if (is > was || odds - program < (moved ? -2 * LIKELIER : 0)) return undefined;
  return { version: text, leaves, kind: "either" };
}

/** Parts of a release's users that are left, evenly. */
const LEFT = Array.from({ length: 50 }, (_, at) => (at + 0.5) / 50);

/** Density of what a release kept, were this part of it left: by its noise, and as all parts wander. */
function density({ was, is, noise }: ReleaseRows, left: number): number {
  const variance = (noise * (left + left ** 2)) / was + (USUAL / 2) ** 2;
  return Math.exp(-((is / was - left) ** 2) / (2 * variance)) / Math.sqrt(2 * Math.PI * variance);
}

/**
 * Logarithm of the likelihood of what releases kept: each its users, of whom then `level` came, or that
 * part of them which others kept as well; as upgrades take weeks, a greater part is likelier. That all
 * kept `level` alike shows nothing but for 1: it is what came of the program.
 */
function evidence(releases: readonly ReleaseRows[], level: number): number {
  const product = (of: (one: ReleaseRows) => number) =>
    releases.reduce((all, one) => (all * of(one)) / 2, 1);
  const likelihoods = LEFT.map((left) => {
    const some = product((one) => density(one, level) + density(one, level * left) + UNLIKELY);
    if (level === 1) return 2 * left * some;
    const alike = product((one) => density(one, left)) - product((one) => density(one, level));
    return 2 * left * (some + alike);
  });
  return Math.log(likelihoods.reduce((sum, one) => sum + one, 0) / LEFT.length);
}

/** The rows of the program of a release, in a country, network or test where these leaves are of one. */
export function siblings({ leaves: { codes }, ...cells }: ChangeCells, leaves: readonly number[]) {
  const { version } = releaseDimensions(cells);
  const [first = 0] = leaves;
  const same = codes.filter(
    (own, at) => at !== version && leaves.every((leaf) => own[leaf] === own[first]),
  );
  return Array.from(codes[version]!.keys()).filter((leaf) =>
    same.every((own) => own[leaf] === own[first]),
  );
}

/** Whether users of a release that lost rows may have gone to a newer one, which doesn't show them. */
export function mayHaveMoved(
  cells: ChangeCells,
  leaves: readonly number[],
  all: readonly number[],
): boolean {
  const { version } = releaseDimensions(cells);
  const text = (leaf: number) => cells.values[version]![cells.leaves.codes[version]![leaf]!] ?? "";
  const newer = all.filter((leaf) => compareVersions(text(leaf), text(leaves[0]!)) > 0);
  const won = (some: readonly number[]) =>
    sumOver(cells.after, some) - sumOver(cells.before, some) * cells.ratio;
  const lost = -won(leaves);
  return sumOver(cells.after, newer) > 0 && lost > 0 && won(newer) <= lost;
}

/** Users of a program who went from release to release. */
export interface Move {
  /** Whose versions they are, where that is asked about: the software_name. */
  readonly program: string | null;
  readonly dimension: string;
  readonly values: readonly (string | null)[];
  /** What the program's rows became, as a factor. */
  readonly kept: number;
}

/** Programs whose users went from release to release. */
export function moves(cells: ChangeCells): Move[] {
  const { version, program } = releaseDimensions(cells);
  if (version < 0) return [];
  return [...byRelease(cells, arranged(cells))].flatMap(([name, { was, is, releases }]) => {
    const least = (LEAST_MOVED * (was * cells.ratio + is)) / 2;
    const moved = [...releases]
      .map(([code, own]) => {
        return { text: cells.values[version]![code]!, change: own.is - own.was * cells.ratio };
      })
      .filter(({ change }) => Math.abs(change) > least);
    const lost = moved.reduce((sum, { change }) => sum + Math.max(0, -change), 0);
    const won = moved.reduce((sum, { change }) => sum + Math.max(0, change), 0);
    if (Math.min(lost, won) <= LEAST_EXCHANGED * Math.max(lost, won)) return [];
    return [
      {
        program: program < 0 ? null : cells.values[program]![name]!,
        dimension: cells.names[version]!,
        values: moved.map(({ text }) => text).sort((a, b) => compareVersions(a ?? "", b ?? "")),
        kept: is / (was * cells.ratio),
      },
    ];
  });
}
