import { CONFIDENCES } from "../query/wilson.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { cuboidsOf, leavesBy, sumOver, without, type Cuboid } from "./cuboids.js";
import { rateCauses } from "./rate-causes.js";
import {
  guilty,
  moves,
  namedRows,
  programOf,
  releaseDimensions,
  releaseName,
  upgrade,
  type GuiltyRelease,
  type Move,
  type NamedRows,
} from "./releases.js";
import { CERTAIN, LEAST_RUNS, MOST_TOLD, USUAL, WHOLE } from "./thresholds.js";
import {
  amount,
  elementText,
  number,
  partText,
  percent,
  signedPercent,
  valueText,
  type CauseWhere,
} from "./words.js";

/** Rows, and what they contribute to the change of the whole. */
export interface Part {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number;
  /** Half of its 95 % interval. */
  readonly half: number;
  /** Of a rate: what its own change contributes, and its weight's. */
  readonly rate?: number;
  readonly mix?: number;
  /** Whether some rows of its values are of a part before it. */
  readonly rest?: boolean;
  /** What happened, where more is known than how much. */
  readonly sentence?: string | undefined;
}

/** What a change is made of. */
export interface Account {
  readonly before: number | null;
  readonly after: number | null;
  /** Disjoint. */
  readonly parts: readonly Part[];
  /** What all other rows did. */
  readonly rest: Part;
  readonly moves: readonly Move[];
  /** Said after the causes. */
  readonly remarks: readonly string[];
  /** Said below the table. */
  readonly notes: readonly string[];
}

const NORMAL_95 = CONFIDENCES[0.95];

/**
 * A count's change: first the rows whose runs hold more or fewer measurements than was to be expected,
 * then what came in another number, had all runs held that; or what all rows did alike.
 */
export function flowAccount(cells: ChangeCells): Account {
  const cuboids = cuboidsOf(cells.leaves);
  const [was, is] = [sumOver(cells.before) * cells.ratio, sumOver(cells.after)];
  const partOf = (change: number) => (is === was ? null : change / (is - was));
  const { sizes, after } = runSizes(cells, cuboids);
  const held = sizes.map(({ half, sentence, ...rows }): Part => {
    const [before, now] = [sumOver(after, rows.leaves), sumOver(cells.after, rows.leaves)];
    const change = now - before;
    const told = sentence(partOf(change), is < was ? "drop" : "rise");
    return { ...rows, before, after: now, change, half, sentence: told };
  });
  const { causes, expected, alike, variance } = flowCauses({ ...cells, after }, cuboids);
  const part = (rows: FlowCause): Part => {
    const had = sumOver(expected, rows.leaves) * cells.ratio;
    const has = sumOver(after, rows.leaves);
    const half = NORMAL_95 * Math.sqrt(sumOver(variance, rows.leaves));
    const own = { ...rows, before: had, after: has, change: has - had, half };
    return { ...own, sentence: releaseSentence(cells, rows, had, has, partOf(has - had)) };
  };
  // What came as it was is no cause, but beside what all others did.
  const named = causes
    .map(part)
    .filter(({ before, after, change }) => {
      return alike || Math.abs(change) > (USUAL * (before! + after!)) / 2;
    })
    .slice(0, MOST_TOLD);
  const rest = without(after.length, named);
  const parts = [...held, ...named];
  if (alike) {
    parts.push(part({ where: {}, leaves: rest }));
    parts.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  }
  // A move isn't told as harmless beside a loss that it carries.
  const guilty = parts.map(({ where }) => where["software_name"]);
  const least = CERTAIN * Math.sqrt(sumOver(variance));
  const wide = parts.length === 0 && least > (WHOLE * (was + is)) / 2 && was + is > 0;
  return {
    before: was,
    after: is,
    parts,
    rest: part({ where: {}, leaves: alike ? [] : rest }),
    moves: moves(cells).filter(({ program }) => !guilty.includes(program ?? undefined)),
    remarks: wide
      ? [
          `These rows can't tell more: a change of the whole of less than ${amount(Math.round(least), "")} ${cells.unit} (${percent((2 * least) / (was + is))}) would not show.`,
        ]
      : [],
    notes:
      held.length === 0
        ? []
        : [
            "Before, of a release whose runs changed: what its runs would have held. Everything else: all rows, as if those runs had held that.",
          ],
  };
}

/** Rows of a count that came in another number than was to be expected. */
interface FlowCause {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  readonly rest?: boolean;
  /** Of a release: what became of it. */
  readonly kind?: GuiltyRelease["kind"];
  /** Of a program of which either its newest release or all changed: that release. */
  readonly newest?: string;
}

/**
 * Values and combinations of values whose rows (runs, where they are known, which scatter less) came
 * in another number than was to be expected, where users went from release to release as they did in
 * the whole program; and of a program that changed as a whole the release that did.
 *
 * @returns disjoint causes; what was to be expected of each leaf, which sums to what was; whether the
 *   rows of no cause changed by so much that it is to be told; the variance of each leaf's change.
 */
export function flowCauses(cells: ChangeCells, cuboids: readonly Cuboid[]) {
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
      versions: version,
      ...(version >= 0 &&
        names.length > 1 && { expect: (out) => upgrade(cells, counted, out)(counted.before) }),
    },
    cuboids,
  );
  const out = new Uint8Array(cells.before.length);
  for (const { leaves } of found.causes) for (const leaf of leaves) out[leaf] = 1;
  const expected = upgrade(cells, counted, out)(cells.before).slice();
  const variance = found.variance.map((own, leaf) => {
    const rows = cells.before[leaf]! * ratio + cells.after[leaf]!;
    const n = counted.before[leaf]! * ratio + counted.after[leaf]!;
    return n > 0 ? own * (rows / n) ** 2 : 0;
  });

  /** A cause that is all of one program, by the release that it comes from. */
  function narrowed(cause: FlowCause): FlowCause {
    const { where, leaves } = cause;
    const whose = programOf(cells, leaves);
    const isOne = Object.keys(whose).length > 0 || program < 0;
    if (version < 0 || names[version]! in where || !isOne) return cause;
    const release = guilty(counted, leaves, found.variance);
    if (release === undefined) return cause;
    const { kind, version: newest, leaves: own } = release;
    if (kind === "either") return { ...cause, where: { ...whose, ...where }, kind, newest };
    // What the others did is what was to be expected of them; the rest is the release's.
    const mine = new Set(own);
    let left = sumOver(expected, leaves);
    for (const leaf of leaves) {
      if (mine.has(leaf)) continue;
      expected[leaf] = cells.after[leaf]! / ratio;
      left -= expected[leaf];
    }
    const weight = (leaf: number) => cells.before[leaf]! + cells.after[leaf]! + 1e-9;
    const total = own.reduce((sum, leaf) => sum + weight(leaf), 0);
    for (const leaf of own) expected[leaf] = (left * weight(leaf)) / total;
    const named = { ...whose, [names[version]!]: newest, ...where };
    return { ...cause, where: named, leaves: own, kind };
  }

  const scaled = expected.map((n) => n * ratio);
  const causes = found.causes.map((each) => narrowed(namedRows(cells, each, scaled, cells.after)));
  const rest = without(out.length, found.causes);
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

/** Of a release, what was expected of it and what came; undefined of other causes. */
function releaseSentence(
  cells: ChangeCells,
  { where, kind, newest }: FlowCause,
  before: number,
  after: number,
  part: number | null,
): string | undefined {
  const { release, name, inPlace } = releaseName(cells, where);
  if ((release ?? kind) === undefined) return undefined;
  const rounded = (value: number) => amount(Math.round(value), "");
  if (newest !== undefined) {
    const by = `${rounded(Math.abs(after - before))} ${cells.unit} (${percent(Math.abs(after / before - 1))})`;
    return `${name === "" ? "It" : name} ${after < before ? "lost" : "won"} ${by}${inPlace}${partText(part)}. These rows can't tell whether its newest release ${valueText(newest)} or the whole program did.`;
  }
  const stopped = kind === "stopped" || after === 0;
  const verb = stopped ? "stopped" : after < before ? "loses rows" : "sends more";
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  return `${name} ${verb}${inPlace}: ${rounded(after)} ${cells.unit} came where ${rounded(before)} were to be expected${by}${partText(part)}.`;
}

/** Rows whose runs hold more or fewer measurements than was to be expected. */
interface RunSize extends Pick<Part, "where" | "leaves" | "half"> {
  /** "app 3.10.0 ends its runs early: 13 measurements a run where 3.9.1 held 31 (−59 %). …" */
  readonly sentence: (part: number | null, what: string) => string;
}

type Runs = NonNullable<ChangeCells["runs"]>;

/**
 * Takes a count of measurements apart: measurements = runs × measurements a run. The second is a rate,
 * of measurements by what their runs would hold: a run holds as many as those of its program and test
 * held before, and those of users who went to another release as many as in the one they left.
 *
 * @returns the causes, and `after` as it would be, had those runs held what was to be expected.
 */
function runSizes(
  cells: ChangeCells,
  cuboids: readonly Cuboid[],
): { readonly sizes: readonly RunSize[]; readonly after: Float64Array } {
  const { runs, ratio } = cells;
  if (runs === undefined) return { sizes: [], after: cells.after };
  const held = heldBy(cells, runs);
  // Measurements of no run, and runs of a kind that was never seen, tell nothing.
  const known = (column: Float64Array, of: Float64Array) =>
    column.map((value, leaf) => (of[leaf]! > 0 && held[leaf]! > 0 ? value : 0));
  const moved = upgrade(cells, runs);
  const runsBefore = moved(runs.before).map((n) => n * ratio);
  const times = (n: Float64Array, power: number) => n.map((of, leaf) => of * held[leaf]! ** power);
  const columns = {
    allBefore: times(runsBefore, 1),
    partBefore: moved(known(cells.before, runs.before)).map((n) => n * ratio),
    allAfter: times(runs.after, 1),
    partAfter: known(cells.after, runs.after),
    // Runs differ by their size: how much is learned.
    spreadBefore: times(runsBefore, 2),
    spreadAfter: times(runs.after, 2),
  };
  const sum = (name: keyof typeof columns, leaves: readonly number[]) =>
    sumOver(columns[name], leaves);
  /** By how much rows hold more than before, on the log scale. */
  const moreIn = (leaves: readonly number[]) =>
    Math.log(
      (sum("partAfter", leaves) * sum("allBefore", leaves)) /
        (sum("allAfter", leaves) * sum("partBefore", leaves)),
    );
  const after = cells.after.slice();
  const given = { ...cells.leaves, ...columns, usual: WHOLE };
  const { causes, noise } = rateCauses(given, cuboids);
  const sizes = causes.flatMap((each): RunSize[] => {
    const rows = namedRows(cells, each, columns.allAfter, columns.partAfter);
    const { where, leaves } = rows;
    const own = sum("partBefore", leaves) / sum("allBefore", leaves);
    const [came, come] = [sumOver(runsBefore, leaves), sumOver(runs.after, leaves)];
    if (!(own > 0) || came < LEAST_RUNS || come < LEAST_RUNS) return [];
    // Where the runs of all others moved the same way, by half as much or more, no part did, but the whole.
    const others = without(held.length, [rows]);
    if (!rows.isRelease && moreIn(others) / moreIn(leaves) >= 0.5) return [];
    for (const leaf of leaves) {
      if (columns.partAfter[leaf]! > 0) after[leaf] = columns.allAfter[leaf]! * own;
    }
    const grown = sum("allAfter", leaves) / sum("allBefore", leaves);
    const variance = sum("spreadAfter", leaves) + grown ** 2 * sum("spreadBefore", leaves);
    const size = {
      holds: sum("partAfter", leaves) / come,
      held: (sum("allAfter", leaves) * own) / come,
      grown: come / came,
    };
    const sentence = rows.isRelease
      ? releaseRuns(cells, runs, rows, size)
      : runsText(size, elementText(where), "holds", (n) => `${n} were to be expected`, "");
    return [{ where, leaves, half: NORMAL_95 * Math.sqrt(noise * variance), sentence }];
  });
  return { sizes, after };
}

/** What the runs of each leaf's program and test held before; of what is new, what they hold. */
function heldBy({ before, after, leaves, names, ...cells }: ChangeCells, runs: Runs): Float64Array {
  const program = leaves.codes[releaseDimensions({ names, ...cells }).program];
  const tests = leaves.codes[names.indexOf("test_name")];
  const held = new Float64Array(before.length);
  const kinds = before.map((_, leaf) => (program?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0));
  for (const some of leavesBy(kinds).values()) {
    const perRun = (rows: Float64Array, of: Float64Array) => {
      const known = some.filter((leaf) => of[leaf]! > 0);
      return sumOver(rows, known) / sumOver(of, known);
    };
    const own = perRun(before, runs.before) || perRun(after, runs.after) || 0;
    for (const leaf of some) held[leaf] = own;
  }
  return held;
}

/** Measurements a run, now and before, and the number of runs by that before. */
interface Holds {
  readonly holds: number;
  readonly held: number;
  readonly grown: number;
}

function runsText(
  { holds, held, grown }: Holds,
  subject: string,
  verb: string,
  where: (held: string) => string,
  whose: string,
): RunSize["sentence"] {
  const perRun = (n: number) => number(n >= 9.95 ? Math.round(n) : Number(n.toFixed(1)));
  const by = `(${signedPercent(holds / held - 1)})`;
  const came = `(${signedPercent(grown - 1)}${whose})`;
  const runs =
    Math.abs(grown - 1) < WHOLE
      ? `Its runs came as before ${came}.`
      : `Its runs ${grown < 1 ? "fell" : "rose"}, too ${came}.`;
  return (part, what) => {
    const all = part !== null && Math.abs(part - 1) < USUAL ? "all" : percent(part ?? 0);
    const told = partText(part) === "" ? "" : ` That is ${all} of the ${what}.`;
    return `${subject} ${verb} ${perRun(holds)} measurements a run where ${where(perRun(held))} ${by}. ${runs}${told}`;
  };
}

/** Releases with less of their program's runs aren't named as the one before. */
const LEAST_SHARE = 0.01;

/** A release against the one before it, and the runs of all its program's releases. */
function releaseRuns(
  cells: ChangeCells,
  runs: Runs,
  { where, leaves }: NamedRows,
  size: Holds,
): RunSize["sentence"] {
  const { names, values } = cells;
  const { version } = releaseDimensions(cells);
  const codes = cells.leaves.codes[version]!;
  const { release, name, inPlace } = releaseName(cells, where);
  const alike = Object.keys(where).map((one) => cells.leaves.codes[names.indexOf(one)]!);
  const [first = 0] = leaves;
  const all = Array.from(codes.keys()).filter((leaf) =>
    alike.every((own) => own === codes || own[leaf] === own[first]),
  );
  const runsBefore = sumOver(runs.before, all) * cells.ratio;
  const [previous] = [...leavesBy(codes, all)]
    .map(([code, some]) => ({ text: values[version]![code] ?? "", some }))
    .filter(({ text, some }) => {
      const many = sumOver(runs.before, some) * cells.ratio;
      return (
        compareVersions(text, (release as string | null) ?? "") < 0 &&
        many > LEAST_SHARE * runsBefore
      );
    })
    .sort((a, b) => compareVersions(b.text, a.text));
  const held = previous && heldAlike(cells, runs, leaves, previous.some);
  const other = held === undefined ? "its other releases" : valueText(previous!.text);
  const own = { ...size, held: held ?? size.held, grown: sumOver(runs.after, all) / runsBefore };
  const verb = own.holds < own.held ? "ends its runs early:" : "holds more in its runs:";
  return runsText(
    own,
    `${name}${inPlace}`,
    verb,
    (n) => `${other} held ${n}`,
    " over all its releases",
  );
}

/** What runs of `others` held before, of the same tests in the same proportions; undefined where they lack one. */
function heldAlike(
  { before, leaves: given, names }: ChangeCells,
  runs: Runs,
  leaves: readonly number[],
  others: readonly number[],
): number | undefined {
  const tests = given.codes[names.indexOf("test_name")] ?? new Int32Array(before.length);
  const some = others.filter((leaf) => runs.before[leaf]! > 0);
  const known = leavesBy(tests, some);
  let [count, all] = [0, 0];
  for (const [test, own] of leavesBy(tests, leaves)) {
    const now = sumOver(runs.after, own);
    if (now === 0) continue;
    const same = known.get(test);
    if (same === undefined) return undefined;
    count += now;
    all += (now * sumOver(before, same)) / sumOver(runs.before, same);
  }
  return all / count;
}
