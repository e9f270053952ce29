import { isVersionColumn } from "../result/origin.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { grouped } from "./cuboids.js";

/** Versions and the programs that they are of, by the numbers of their dimensions; −1 where that isn't asked about. */
export function releaseDimensions({ names }: Pick<ChangeCells, "names">) {
  const version = names.findIndex(isVersionColumn);
  // 3.10.0 of one program is another release than that of the next: software_version, software_name.
  const program = version < 0 ? -1 : names.indexOf(names[version]!.replace(/version$/i, "name"));
  return { version, program };
}

/** Releases below this part of their program's rows aren't expected where there are none. */
const LEAST_SHARE = 0.01;

/**
 * The cells with a leaf, of nothing, for each release that users went to in every country, network
 * and test of its program: what should have come there and didn't has no row.
 */
export function withMissing(cells: ChangeCells): ChangeCells {
  const { version } = releaseDimensions(cells);
  if (version < 0 || cells.names.length === 1) return cells;
  const { strata, first, programs } = arranged(cells);
  const known = new Set<number>();
  const { sizes, codes } = cells.leaves;
  const size = sizes[version]!;
  strata.forEach((stratum, leaf) => known.add(stratum * size + codes[version]![leaf]!));
  const totals = byRelease(cells, programs);
  const added: [stratum: number, code: number][] = [];
  first.forEach((leaf, stratum) => {
    for (const [code, { was, is }] of totals.get(programs[leaf]!)!.releases) {
      const { was: all, is: now } = totals.get(programs[leaf]!)!;
      if (is / now - was / all < LEAST_SHARE || known.has(stratum * size + code)) continue;
      added.push([stratum, code]);
    }
  });
  const longer = (values: Float64Array) => {
    const all = new Float64Array(values.length + added.length);
    all.set(values);
    return all;
  };
  return {
    ...cells,
    leaves: {
      sizes,
      codes: codes.map((own, dimension) =>
        Int32Array.from([
          ...own,
          ...added.map(([stratum, code]) => (dimension === version ? code : own[first[stratum]!]!)),
        ]),
      ),
    },
    before: longer(cells.before),
    after: longer(cells.after),
    partBefore: longer(cells.partBefore),
    partAfter: longer(cells.partAfter),
    ...(cells.runs && {
      runs: { before: longer(cells.runs.before), after: longer(cells.runs.after) },
    }),
  };
}

/**
 * What leaves would have been before, had users already gone from release to release as they did
 * since, by program: a release that lost a part of its users loses it everywhere, and those go to the
 * releases that won. The sum over the releases of a program stays in each country, network and test.
 *
 * @param out leaves that nothing is learned from, those of causes.
 */
export function upgraded(cells: ChangeCells, out: Uint8Array): Float64Array {
  const { version } = releaseDimensions(cells);
  if (version < 0) return cells.before;
  const { strata, first, programs } = arranged(cells);
  const codes = cells.leaves.codes[version]!;
  const totals = byRelease(cells, programs, out);
  // Of a program that is a cause as a whole, nothing else tells where its users went.
  for (const [program, all] of byRelease(cells, programs)) {
    const left = totals.get(program)!;
    if (left.was + left.is < (all.was + all.is) / 2) totals.set(program, all);
  }
  const freed = new Float64Array(first.length);
  const won = new Float64Array(first.length);
  const gain = new Float64Array(codes.length);
  const expected = cells.before.slice();
  codes.forEach((code, leaf) => {
    const program = totals.get(programs[leaf]!);
    const release = program?.releases.get(code);
    if (release === undefined || !(program!.was > 0 && program!.is > 0)) return;
    const [then, now] = [release.was / program!.was, release.is / program!.is];
    if (now < then) {
      expected[leaf]! *= now / then;
      freed[strata[leaf]!]! += cells.before[leaf]! - expected[leaf]!;
    } else {
      gain[leaf] = now - then;
      won[strata[leaf]!]! += now - then;
    }
  });
  gain.forEach((part, leaf) => {
    const stratum = strata[leaf]!;
    if (won[stratum]! > 0) expected[leaf]! += (freed[stratum]! * part) / won[stratum]!;
  });
  // Where none of them has a leaf, users stayed.
  codes.forEach((_, leaf) => {
    if (!(won[strata[leaf]!]! > 0)) expected[leaf] = cells.before[leaf]!;
  });
  return expected;
}

/** Rows by what isn't their version: the stratum of each leaf, the first leaf of each, and each leaf's program. */
function arranged({ leaves, names }: ChangeCells) {
  const { version, program } = releaseDimensions({ names });
  const others = names.flatMap((_, at) => (at === version ? [] : [at]));
  const { parts: strata, example: first } = grouped(leaves, others);
  return { strata, first, programs: leaves.codes[program] ?? new Int32Array(strata.length) };
}

interface Program {
  was: number;
  is: number;
  readonly releases: Map<number, { was: number; is: number }>;
}

function byRelease(
  { before, after, leaves, names }: ChangeCells,
  programs: Int32Array,
  out?: Uint8Array,
): Map<number, Program> {
  const codes = leaves.codes[releaseDimensions({ names }).version]!;
  const all = new Map<number, Program>();
  codes.forEach((code, leaf) => {
    const program: Program = all.get(programs[leaf]!) ?? { was: 0, is: 0, releases: new Map() };
    all.set(programs[leaf]!, program);
    if (out?.[leaf] === 1) return;
    const release = program.releases.get(code) ?? { was: 0, is: 0 };
    program.releases.set(code, release);
    for (const sums of [program, release]) {
      sums.was += before[leaf]!;
      sums.is += after[leaf]!;
    }
  });
  return all;
}

/** A release of a program in some leaves. */
interface Release {
  readonly text: string;
  readonly leaves: readonly number[];
  readonly was: number;
  readonly is: number;
  /** Of what it is against what it was. */
  readonly variance: number;
}

/** Of these leaves, all of one program: the release that lost (or won) what they did, and what was expected of it. */
export interface GuiltyRelease {
  readonly versions: readonly string[];
  readonly leaves: readonly number[];
  /** What was to be expected of its leaves beyond what they were: the users that came from other releases. */
  readonly came: number;
  readonly kind: "stopped" | "loses" | "either";
}

/** Standard errors within which releases count as unchanged together, or beyond which one stayed. */
const SAME = 2.5;
/** Logarithm of how much likelier one account must be than the other. */
const LIKELIER = 1;
/** What users leave and go to is at least this part of their program. */
const MOVED = 0.05;
/** Users went to a release that grew by this factor beside its program. */
const MORE = 1.2;
/** A release that has no more than this part of its rows left is gone. */
const GONE = 0.15;

/**
 * Which release a program's fall (or rise) comes from. One that lost its rows while all others
 * together kept theirs was shut out. Where users went to a new release, and a release that nobody
 * left stayed as it was, not the program lost rows but the new release. Where each release fell by
 * more than the program did, either did: that can't be told.
 */
export function guilty(
  cells: ChangeCells,
  leaves: readonly number[],
  { variance, centre }: { readonly variance: Float64Array; readonly centre: number },
): GuiltyRelease | undefined {
  const { version } = releaseDimensions(cells);
  if (version < 0) return undefined;
  const codes = cells.leaves.codes[version]!;
  const own = new Map<number, number[]>();
  for (const leaf of leaves) own.set(codes[leaf]!, [...(own.get(codes[leaf]!) ?? []), leaf]);
  const sum = (values: Float64Array, some: readonly number[]) =>
    some.reduce((all, leaf) => all + values[leaf]!, 0);
  const list = [...own].map(([code, some]): Release => ({
    text: cells.values[version]![code] ?? "",
    leaves: some,
    was: sum(cells.before, some) * cells.ratio * centre,
    is: sum(cells.after, some),
    variance: sum(variance, some),
  }));
  const total = (some: readonly Release[], of: "was" | "is" | "variance") =>
    some.reduce((all, release) => all + release[of], 0);
  const [was, is] = [total(list, "was"), total(list, "is")];
  if (list.length < 2 || !(was > 0)) return undefined;
  const factor = is / was;
  const off = (release: Release, by: number) =>
    (release.is - release.was * by) / Math.sqrt(release.variance + 1);
  for (const gone of factor < 1 ? list : []) {
    const others = list.filter((release) => release !== gone);
    const [had, has] = [total(others, "was"), total(others, "is")];
    const error = Math.sqrt(total(others, "variance")) + 1;
    if (gone.is > GONE * gone.was || Math.abs(has - had) > Math.min(SAME * error, MOVED * had))
      continue;
    if (-off(gone, 1) < 2 * SAME) continue;
    return { versions: [gone.text], leaves: gone.leaves, came: 0, kind: "stopped" };
  }
  const newest = list.toSorted((a, b) => compareVersions(b.text, a.text));
  const winner = newest.find(
    (release) => release.is > MOVED * is && release.is > MORE * factor * release.was,
  );
  const losers = list.filter(
    (release) => release !== winner && release.was - release.is > MOVED * was,
  );
  if (winner === undefined || losers.length === 0) return undefined;
  const rest = list.filter((release) => release !== winner && !losers.includes(release));
  const [had, has] = [total(rest, "was"), total(rest, "is")];
  const stayers: Release = {
    text: "",
    leaves: [],
    was: had,
    is: has,
    variance: total(rest, "variance"),
  };
  // Those that nobody left went as the program did: it did.
  const stayed = had > 0 ? (off(stayers, factor) ** 2 - off(stayers, 1) ** 2) / 2 : 0;
  const left = losers.reduce((all, loser) => all + loser.was - loser.is, 0);
  const release = { leaves: winner.leaves, came: left, versions: [winner.text] };
  if (stayed > LIKELIER) return { ...release, kind: "loses" };
  if (stayed < -LIKELIER) return undefined;
  const fellFurther = losers.every((loser) => off(loser, factor) < -SAME && factor < 1);
  return fellFurther
    ? {
        ...release,
        versions: [losers.at(-1)!.text, winner.text].sort(compareVersions),
        leaves,
        kind: "either",
      }
    : undefined;
}

/** Of what some releases lost, others must have won this part (or the reverse) for a move. */
const LEAST_MOVED = 0.3;

/** Programs whose users went from release to release, and what became of their rows, as a factor. */
export function moves(cells: ChangeCells) {
  const { version, program } = releaseDimensions(cells);
  if (version < 0) return [];
  const programs = cells.leaves.codes[program] ?? new Int32Array(cells.before.length);
  return [...byRelease(cells, programs)].flatMap(([name, { was, is, releases }]) => {
    const all = [...releases].map(([code, release]) => ({
      text: cells.values[version]![code]!,
      change: release.is - release.was * cells.ratio,
    }));
    const moved = all.filter(
      ({ change }) => Math.abs(change) > (MOVED * (was * cells.ratio + is)) / 2,
    );
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
