import { isVersionColumn } from "../result/origin.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { grouped, leavesBy, sumOver, sumsIn } from "./cuboids.js";
import type { Found } from "./search.js";
import { ALONG, LEAST_REST, LEAST_RUNS, WHOLE } from "./thresholds.js";
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

/** Releases below this part of their program's rows aren't expected where there are none. */
const LEAST_SHARE = 0.01;
/** What users leave and go to is at least this part of their program. */
const MOVED = 0.05;
/** Users went to a release that grew by this factor beside those that they left. */
const MORE = 1.1;
/** A release that has no more than this part of its rows left is gone. */
const GONE = 0.15;
/** Logarithm of how much likelier it must be that a release changed than its program; twice as much for the reverse where users moved to it. */
const LIKELIER = 1.5;
/** Of what some releases lost, others must have won this part (or the reverse) for a move. */
const LEAST_MOVED = 0.3;

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
    .filter(([, own]) => own.was > MOVED * was)
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

/** Of these leaves, all of one program: the release that their change comes from. */
export interface GuiltyRelease {
  /** Of `either` the newest, or its program. */
  readonly version: string;
  readonly leaves: readonly number[];
  readonly kind: "loses" | "either";
}

/**
 * Which release a program's change comes from; undefined where the whole program changed. Either the
 * newest changed or the program: of the others, which users leave or stay with, as many came as before at most, or as
 * many less as of the whole program. Where these don't tell, either did.
 *
 * @param variance of each leaf's change.
 */
export function guilty(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): GuiltyRelease | undefined {
  const { version } = releaseDimensions(cells);
  const releases = [...leavesBy(cells.leaves.codes[version]!, leaves)]
    .map(([code, some]) => ({
      text: cells.values[version]![code] ?? "",
      leaves: some,
      was: sumOver(cells.before, some) * cells.ratio,
      is: sumOver(cells.after, some),
      error: Math.sqrt(sumOver(variance, some) + 1),
    }))
    .sort((a, b) => compareVersions(b.text, a.text));
  const total = (some: typeof releases) => ({
    was: some.reduce((sum, { was }) => sum + was, 0),
    is: some.reduce((sum, { is }) => sum + is, 0),
    error: Math.hypot(...some.map(({ error }) => error)),
  });
  const all = total(releases);
  if (releases.length < 2 || !(all.was > 0)) return undefined;
  // An empty version is no release.
  const newest = releases.find(
    ({ text, was, is }) =>
      text !== "" && (is > LEAST_SHARE * all.is || was > LEAST_SHARE * all.was),
  );
  const others = releases.filter((one) => one !== newest && one.was > MOVED * all.was);
  if (newest === undefined || others.length === 0) return undefined;
  const told = others.reduce((sum, one) => sum + logOdds(one, all.is / all.was), 0);
  if (told > LIKELIER) return { version: newest.text, leaves: newest.leaves, kind: "loses" };
  const left = total(others);
  const moved = newest.is * left.was > MORE * left.is * newest.was;
  if (told < (moved ? -2 * LIKELIER : -LIKELIER / 2)) return undefined;
  return { version: newest.text, leaves, kind: "either" };
}

/** Logarithm of how much likelier a release came so if its users stayed or left than if all its program changed by a factor. */
function logOdds(
  { was, is, error }: { readonly was: number; readonly is: number; readonly error: number },
  factor: number,
): number {
  const spread = error / was;
  /** As many stay as there were to be, or, as likely, any part of them. */
  const likelihood = (level: number) => {
    const z = (is / was - level) / spread;
    const stay = Math.exp((-z * z) / 2) / (spread * Math.sqrt(2 * Math.PI));
    // The normal distribution's tail by the logistic one's.
    return stay + 1 / (level * (1 + Math.exp(1.7 * z))) + 1e-9;
  };
  return Math.log(likelihood(1) / likelihood(factor));
}

/**
 * Whose loss it is that a release lost rows where its program has a newer one: users may have left it
 * for that one, which doesn't show them. The newer one's where older releases stayed, the program's where
 * they fell as well; either's where there are none.
 *
 * @param leaves of the release, in one program, and in a country, network or test where the cause is of one.
 * @returns undefined where the release lost its rows itself: it has no newer one, or is gone while that
 *   was there before.
 */
export function successor(
  cells: ChangeCells,
  leaves: readonly number[],
):
  | {
      readonly kind: "loses" | "either" | "program";
      readonly newest: string;
      readonly leaves: readonly number[];
    }
  | undefined {
  const { version, program } = releaseDimensions(cells);
  const { codes } = cells.leaves;
  const [first = 0] = leaves;
  const same = codes.filter(
    (own, at) => at !== version && leaves.every((leaf) => own[leaf] === own[first]),
  );
  const text = (leaf: number) => cells.values[version]![codes[version]![leaf]!] ?? "";
  const order = (leaf: number) => compareVersions(text(leaf), text(first));
  const all = Array.from(codes[version]!.keys()).filter((leaf) =>
    same.every((own) => own[leaf] === own[first]),
  );
  const sums = (some: readonly number[]) => ({
    was: sumOver(cells.before, some) * cells.ratio,
    is: sumOver(cells.after, some),
  });
  const own = sums(leaves);
  const newer = all.filter((leaf) => text(leaf) !== "" && order(leaf) > 0);
  const came = sums(newer);
  if (program < 0 || came.is === 0 || own.is >= own.was || came.is - came.was > own.was - own.is)
    return undefined;
  if (own.is <= GONE * own.was && came.was > MOVED * sums(all).was) return undefined;
  const older = sums(all.filter((leaf) => text(leaf) !== "" && order(leaf) < 0));
  const fell = ({ was, is }: Sums) => 1 - is / was;
  const [successors = []] = [...leavesBy(codes[version]!, newer).values()].sort(
    (a, b) => sums(b).is - sums(a).is,
  );
  const newest = text(successors[0]!);
  const others = all.filter((leaf) => order(leaf) !== 0);
  if (older.was < LEAST_RUNS) return { kind: "either", newest, leaves: others };
  if (fell(older) > ALONG * fell(own)) return { kind: "program", newest, leaves: others };
  return { kind: "loses", newest, leaves: successors };
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
    const least = (MOVED * (was * cells.ratio + is)) / 2;
    const moved = [...releases]
      .map(([code, own]) => {
        return { text: cells.values[version]![code]!, change: own.is - own.was * cells.ratio };
      })
      .filter(({ change }) => Math.abs(change) > least);
    const lost = moved.reduce((sum, { change }) => sum + Math.max(0, -change), 0);
    const won = moved.reduce((sum, { change }) => sum + Math.max(0, change), 0);
    if (Math.min(lost, won) <= LEAST_MOVED * Math.max(lost, won)) return [];
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
