import { isVersionColumn } from "../result/origin.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { grouped, leavesBy, marked, sumOver } from "./cuboids.js";
import type { Found } from "./search.js";
import {
  ALONG,
  GONE,
  LEAST_EXCHANGED,
  LEAST_MOVED,
  LEAST_PLACES,
  LEAST_RUNS,
  LEAST_SHARE,
  LIKELIER,
  NEW,
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
 * @param counted runs, where they are known: they show how users went.
 * @param out leaves that nothing is learned from, those of causes.
 */
export function upgrade(
  cells: ChangeCells,
  counted: Pick<ChangeCells, "before" | "after">,
  out?: Uint8Array,
): (column: Float64Array) => Float64Array {
  if (releaseDimensions(cells).version < 0 || cells.names.length === 1) return (column) => column;
  const { codes, strata, first, programs } = arranged(cells);
  // Where one release is a cause the others show nothing either: their parts of the rest are greater.
  const doubted = new Uint8Array(first.length);
  out?.forEach((is, leaf) => (doubted[strata[leaf]!]! |= is));
  const all = byRelease(counted, { codes, programs });
  const totals = byRelease(
    counted,
    { codes, programs },
    strata.map((stratum) => doubted[stratum]!),
  );
  for (const [program, { was, is }] of totals) {
    // Where the whole program is a cause, nothing else shows where its users went.
    if (was + is === 0) totals.set(program, all.get(program)!);
    const own = totals.get(program)!;
    for (const code of unmoved(cells, own)) {
      const release = own.releases.get(code)!;
      own.releases.delete(code);
      own.was -= release.was;
      own.is -= release.is;
    }
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

/** Rows before (as of a range as long as after) and after, and by how much one adds to the variance of their change. */
interface Kept extends Sums {
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

/** The releases that these leaves are of, the newest first: a patch of an older line is new, too, if its rows are. */
function releasesOf(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): ReleaseRows[] {
  const { version } = releaseDimensions(cells);
  const isNew = ({ was, is }: Sums) => Number(is > NEW * was);
  return [...leavesBy(cells.leaves.codes[version]!, leaves)]
    .map(([code, own]) => {
      return {
        ...keptOf(cells, own, variance),
        text: cells.values[version]![code] ?? "",
        leaves: own,
      };
    })
    .sort((a, b) => isNew(b) - isNew(a) || compareVersions(b.text, a.text));
}

/**
 * Which release a program's change comes from; undefined where the whole program changed.
 *
 * Users stay with a release or leave it. So the newest lost (or won) rows if one of the others kept all
 * of its rows, and a release that is gone lost them if all others together did. Else more is lost where
 * more users went to the newest, or everywhere alike, as of the whole program. A release that loses rows
 * from its first day on wins some as users come to it.
 *
 * @param variance of each leaf's change.
 */
export function guilty(
  cells: ChangeCells,
  leaves: readonly number[],
  variance: Float64Array,
): GuiltyRelease | undefined {
  const all = keptOf(cells, leaves, variance);
  const releases = releasesOf(cells, leaves, variance).filter(({ text, was, is }) => {
    // An empty version is no release.
    return text !== "" && (is > LEAST_SHARE * all.is || was > LEAST_SHARE * all.was);
  });
  const [newest] = releases;
  const others = releases.filter((one) => one !== newest && one.was > LEAST_MOVED * all.was);
  if (newest === undefined || others.length === 0 || !(all.was > 0)) return undefined;
  const steadiest = others.reduce((a, b) => (b.is / b.was > a.is / a.was ? b : a));
  const gone = releases.filter((one) => one !== newest && one.is <= GONE * one.was);
  const places = byPlaces(cells, leaves, newest, variance);
  const candidates = [{ ...newest, odds: stayed(steadiest, all) + places }];
  if (gone.length === 1 && all.is < all.was) {
    const own = new Set(gone[0]!.leaves);
    const others = keptOf(
      cells,
      leaves.filter((leaf) => !own.has(leaf)),
      variance,
    );
    // One that stayed leaves open whether users of the one that is gone went to a newest that won some.
    const open = newest.is > newest.was ? stayed(steadiest, all) : 0;
    const odds = Math.max(stayed(others, all, true), open);
    candidates.push({ ...gone[0]!, odds });
  }
  const [best, next] = candidates.sort((a, b) => b.odds - a.odds);
  const odds = best!.odds - Math.max(0, next?.odds ?? 0);
  if (odds > LIKELIER) return { version: best!.text, leaves: best!.leaves, kind: "loses" };
  if (all.is > all.was || newest.is < newest.was || places < -2 * LIKELIER) return undefined;
  return { version: newest.text, leaves, kind: "either" };
}

/**
 * Logarithm of how much likelier rows kept all than what the program did; at least 0, as users may have left.
 *
 * @param came whether users of the program's other rows may have come: then any part up to theirs is as likely.
 */
function stayed({ was, is, noise }: Kept, program: Sums, came = false): number {
  const level = program.is / program.was;
  const density = (left: number) => {
    const variance = (noise * (left + left ** 2)) / was + (USUAL / 2) ** 2;
    return UNLIKELY + Math.exp(-((is / was - left) ** 2) / (2 * variance)) / Math.sqrt(variance);
  };
  const most = came ? is / was : level;
  const steps = Array.from({ length: 20 }, (_, at) => density(level + ((most - level) * at) / 20));
  return Math.max(0, Math.log((20 * density(1)) / sumOver(Float64Array.from(steps))));
}

/**
 * Logarithm of how much likelier it is that the release loses rows than that its program does, by what
 * countries lost: with x as what each lost if the release keeps the part of its rows that explains the
 * whole loss, the slope of what it lost is 1 of a release and 0 of a program. Of the spread of x, the
 * part that is noise flattens the slope of a release.
 */
function byPlaces(
  cells: ChangeCells,
  leaves: readonly number[],
  release: ReleaseRows,
  variance: Float64Array,
): number {
  const countries = cells.leaves.codes[cells.names.indexOf("probe_cc")];
  if (countries === undefined) return 0;
  const isIts = marked(countries.length, [release]);
  const partsOf = (some: readonly number[]) => {
    const all = keptOf(cells, some, variance);
    const its = keptOf(
      cells,
      some.filter((leaf) => isIts[leaf] === 1),
      variance,
    );
    return { ...all, kept: all.is / all.was, had: its.was / all.was, has: its.is / all.is };
  };
  const { kept, had, has } = partsOf(leaves);
  const won = kept * has - had;
  if (!(kept < 1 && won > 0)) return 0;
  // Rows that are missing for each that the release has.
  const missing = (1 - kept) / won;
  const slope = missing / (1 + missing * has);
  const points = [...leavesBy(countries, leaves).values()]
    .map(partsOf)
    .filter(({ was, is }) => was > LEAST_RUNS && is > LEAST_RUNS)
    .map(({ was, is, noise, ...own }) => {
      const error = slope ** 2 * noise * ((has * (1 - has)) / is + (had * (1 - had)) / was);
      return {
        x: Math.log((1 + missing * own.had) / (1 + missing * own.has)),
        y: Math.log(own.kept),
        weight: 1 / (noise * (1 / was + 1 / is) + (USUAL / 2) ** 2 + error),
        error,
      };
    });
  if (points.length < LEAST_PLACES) return 0;
  const weights = points.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (of: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + point.weight * of(point), 0) / weights;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const spread = mean((point) => (point.x - x) ** 2);
  const unsure = 1 + Math.sqrt(2 / points.length);
  const expected = Math.max(0, 1 - (unsure * mean(({ error }) => error)) / spread);
  const found = mean((point) => (point.x - x) * (point.y - y)) / spread;
  const off = weights * mean((point) => (point.y - y - found * (point.x - x)) ** 2);
  const scale = Math.max(1, off / (points.length - 2));
  return (expected * (2 * found - expected) * weights * spread) / (2 * scale);
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
  variance: Float64Array,
): boolean {
  const [first = 0] = leaves;
  const releases = releasesOf(cells, all, variance);
  const own = releases.findIndex((one) => one.leaves.includes(first));
  const won = releases.slice(0, own).reduce((sum, { was, is }) => sum + is - was, 0);
  const has = releases.slice(0, own).reduce((sum, { is }) => sum + is, 0);
  const lost = sumOver(cells.before, leaves) * cells.ratio - sumOver(cells.after, leaves);
  return has > 0 && lost > 0 && won <= lost;
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
