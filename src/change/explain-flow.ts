import { CONFIDENCES } from "../query/wilson.js";
import { compareVersions } from "../result/version-order.js";
import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { cuboidsOf, leavesBy, leavesOf, marked, sumOver, without, type Cuboid } from "./cuboids.js";
import type { Found } from "./search.js";
import { rateCauses } from "./rate-causes.js";
import {
  guilty,
  moves,
  namedRows,
  programOf,
  releaseDimensions,
  releaseName,
  successor,
  upgrade,
  type GuiltyRelease,
  type Move,
  type NamedRows,
} from "./releases.js";
import { CERTAIN, LEAST_RUNS, MOST_TOLD, priceOf, USUAL, WHOLE } from "./thresholds.js";
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
import { usersOf, type Users } from "./users.js";

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
    const what = is < was ? "drop" : "rise";
    return { ...rows, before, after: now, change, half, sentence: sentence(partOf(change), what) };
  });
  const { causes, expected, alike, variance, users } = flowCauses({ ...cells, after }, cuboids);
  const part = (rows: FlowCause): Part => {
    const had = sumOver(expected, rows.leaves) * cells.ratio;
    const has = sumOver(after, rows.leaves);
    const half = NORMAL_95 * Math.sqrt(sumOver(variance, rows.leaves));
    const own = { ...rows, before: had, after: has, change: has - had, half };
    return { ...own, sentence: releaseSentence(cells, rows, had, has, partOf(has - had)) };
  };
  // What came as it was is no cause, but beside what all others did.
  const changed = causes.map(part).filter(({ before, after, change }) => {
    return alike || Math.abs(change) > (USUAL * (before! + after!)) / 2;
  });
  // A small new program is news, no cause.
  const [{ program }, name] = [
    releaseDimensions(cells),
    cells.names[releaseDimensions(cells).program],
  ];
  const isNews = ({ where, before, after }: Part) =>
    program >= 0 && before! < 1 && after! < USUAL * was && Object.keys(where).join() === name;
  const news = changed.filter(isNews);
  const named = changed.filter((one) => !isNews(one)).slice(0, MOST_TOLD);
  const rest = without(after.length, named);
  const parts = [...held, ...named];
  if (alike) {
    parts.push(part({ where: {}, leaves: rest }));
    parts.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  }
  // A move isn't told as harmless beside a loss that it carries.
  const guilty = parts.map(({ where }) => where["software_name"]);
  return {
    before: was,
    after: is,
    parts,
    rest: part({ where: {}, leaves: alike ? [] : rest }),
    moves: moves(cells).filter(({ program }) => !guilty.includes(program ?? undefined)),
    remarks: [
      ...news.map(
        (one) => `${elementText(one.where)} is new, with ${amount(one.after, "")} ${cells.unit}.`,
      ),
      ...(parts.length === 0 && was + is > 0 ? [unseenText(cells, users, cuboids)] : []),
    ],
    notes:
      held.length === 0
        ? []
        : [
            "Before, of a release whose runs changed: what its runs would have held. Everything else: all rows, as if those runs had held that.",
          ],
  };
}

/** What would have been seen. */
function unseenText(cells: ChangeCells, users: Users, cuboids: readonly Cuboid[]): string {
  const { before, after, ratio, unit } = cells;
  const all = sumOver(before) * ratio + sumOver(after);
  const part = users.least(priceOf(cuboids.length, before.length));
  const whole = users.least(CERTAIN ** 2 / 2, true);
  const text = (of: number) => `${amount(Math.round(of * all), "")} ${unit} (${percent(2 * of)})`;
  if (part > 0.25)
    return "These rows are too few to tell anything: not even the loss of half of them would show.";
  const release =
    releaseDimensions(cells).version < 0
      ? ""
      : ` that of a release below ${percent(WHOLE)} of its program, whose users may have gone to another, or`;
  return `These rows can't tell more: the loss of a part of less than ${text(part)} would not show, nor would${release} a change of the whole of less than ${text(whole)}.`;
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
  /** Of a release whose users should have come from another: that one. */
  readonly from?: string | null;
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
      ...(version >= 0 &&
        names.length > 1 && { expect: (out) => upgrade(cells, counted, out)(counted.before) }),
    },
    cuboids,
  );
  const all = marked(cells.before.length, found.causes);
  const users = usersOf(cells, all, found.ordinary, found.variance);
  const told = merged(cells, found.causes, users).filter(({ dimensions, leaves }) => {
    const { groups } = cuboids.find((one) => one.dimensions.join() === dimensions.join())!;
    return !users.known || users.against(leaves) > priceOf(cuboids.length, groups);
  });
  const out = marked(cells.before.length, told);
  const expected = upgrade(cells, counted, out)(cells.before).slice();
  const variance = users.variance.map((own, leaf) => {
    const rows = cells.before[leaf]! * ratio + cells.after[leaf]!;
    const n = counted.before[leaf]! * ratio + counted.after[leaf]!;
    return n > 0 ? own * (rows / n) ** 2 : 0;
  });

  /** A release that users leave, by the newer one whose rows are missing, or by its program. */
  function succeeded(cause: FlowCause): FlowCause {
    const loss = successor(counted, cause.leaves);
    if (loss === undefined) return cause;
    const { kind, newest, leaves } = loss;
    const left = leaves.filter((leaf) => out[leaf] === 0);
    const { [names[version]!]: release, ...place } = cause.where;
    const whose = { ...programOf(cells, cause.leaves), ...place };
    if (kind !== "loses" || left.length === 0) {
      const all = [...cause.leaves, ...left];
      const own = { ...cause, where: whose, leaves: all, rest: left.length < leaves.length };
      return kind === "either" ? { ...own, kind, newest } : own;
    }
    let missing = 0;
    for (const leaf of cause.leaves) {
      missing += expected[leaf]! - cells.after[leaf]! / ratio;
      expected[leaf] = cells.after[leaf]! / ratio;
    }
    for (const leaf of left) expected[leaf]! += missing / left.length;
    const where = { ...whose, [names[version]!]: newest };
    return { where, leaves: left, kind, from: release as string | null };
  }

  /** A cause that is all of one program, by the release that it comes from. */
  function narrowed(cause: FlowCause): FlowCause {
    const { where, leaves } = cause;
    const whose = programOf(cells, leaves);
    const isOne = Object.keys(whose).length > 0 || program < 0;
    if (version >= 0 && names[version]! in where && isOne) return succeeded(cause);
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
  const named = told.map((each) => namedRows(cells, each, scaled, cells.after));
  const causes = named.map(narrowed);
  const rest = without(out.length, told);
  const [was, is] = [sumOver(expected, rest) * ratio, sumOver(cells.after, rest)];
  const alike =
    Math.abs(found.ordinary - 1) > WHOLE &&
    Math.abs(is / was - 1) > WHOLE &&
    users.against(rest, 1) > CERTAIN ** 2 / 2;
  const release = alike && causes.length === 0 ? narrowed({ where: {}, leaves: rest }) : undefined;
  return release?.kind === undefined
    ? { causes, expected, alike, variance, users }
    : { causes: [release], expected, alike: false, variance, users };
}

/**
 * What was found of one element in two pieces, first a part of it and then the rest, is one cause where
 * they changed alike, within what chance allows.
 */
function merged({ leaves }: ChangeCells, found: readonly Found[], users: Users): Found[] {
  return found.reduce<Found[]>((told, one) => {
    const all = one.rest ? leavesOf(leaves, one) : [];
    const has = new Set(all);
    const parts = told.filter(
      (part) =>
        one.rest &&
        part.leaves.every((leaf) => has.has(leaf)) &&
        users.alike(part.leaves, one.leaves),
    );
    if (parts.length === 0) return [...told, one];
    const own = [one, ...parts].flatMap((part) => part.leaves);
    const whole = { ...one, leaves: own, rest: own.length < all.length };
    return told.flatMap((part) =>
      part === parts[0] ? [whole] : parts.includes(part) ? [] : [part],
    );
  }, []);
}

/** Of a release, what was expected of it and what came; undefined of other causes. */
function releaseSentence(
  cells: ChangeCells,
  { where, kind, newest, from }: FlowCause,
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
  const verb = after < 0.05 * before ? "stopped" : after < before ? "loses rows" : "sends more";
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  const missing =
    from === undefined
      ? ""
      : ` They are missing from ${valueText(from)}: its users went to the newer release, or it lost them itself.`;
  return `${name} ${verb}${inPlace}: ${rounded(after)} ${cells.unit} came where ${rounded(before)} were to be expected${by}${partText(part)}.${missing}`;
}

/** Rows whose runs hold more or fewer measurements than was to be expected. */
interface RunSize extends Pick<Part, "where" | "leaves" | "half"> {
  /** "app 3.10.0 ends its runs early: 13 measurements a run where 3.9.1 held 31 (−59 %). …" */
  readonly sentence: (part: number | null, what: string) => string;
}

type Runs = NonNullable<ChangeCells["runs"]>;

/** So many times the runs that were to be expected are others' runs. */
const FLOOD = 4;

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
  const { held, scatter } = heldBy(cells, runs);
  // Measurements of no run, and runs of a kind that was never seen, tell nothing.
  const known = (column: Float64Array, of: Float64Array) =>
    column.map((value, leaf) => (of[leaf]! > 0 && held[leaf]! > 0 ? value : 0));
  const moved = upgrade(cells, runs);
  const runsBefore = moved(runs.before).map((n) => n * ratio);
  /** A flood of runs is told as one, not by how long they are. */
  const comparable = (leaf: number) =>
    runs.after[leaf]! <= FLOOD * (runsBefore[leaf]! + LEAST_RUNS);
  const by = (column: Float64Array, factor: (leaf: number) => number) =>
    column.map((value, leaf) => value * factor(leaf));
  const columns = {
    allBefore: by(runsBefore, (leaf) => held[leaf]!),
    partBefore: moved(known(cells.before, runs.before)).map((n) => n * ratio),
    allAfter: by(runs.after, (leaf) => held[leaf]!),
    partAfter: known(cells.after, runs.after),
  };
  type Column = keyof typeof columns;
  const sum = (name: Column, leaves: readonly number[]) => sumOver(columns[name], leaves);
  // Kinds of runs that scatter less tell more: each weighs by what it tells. Of a run that holds one
  // measurement none can be missing.
  const several = (leaf: number) => (held[leaf]! > 1 ? 1 - 1 / held[leaf]! : 0);
  const weighed = (name: Column) =>
    by(columns[name], (leaf) =>
      held[leaf]! > 0 && comparable(leaf) ? several(leaf) / (held[leaf]! * scatter[leaf]!) : 0,
    );
  const given = {
    ...cells.leaves,
    allBefore: weighed("allBefore"),
    partBefore: weighed("partBefore"),
    allAfter: weighed("allAfter"),
    partAfter: weighed("partAfter"),
    spreadBefore: by(runsBefore, (leaf) => several(leaf) ** 2 / scatter[leaf]!),
    spreadAfter: by(runs.after, (leaf) => several(leaf) ** 2 / scatter[leaf]!),
    usual: WHOLE,
    usualNoise: 1,
  };
  /** By how much rows hold more than before, on the log scale. */
  const moreIn = (leaves: readonly number[]) => {
    const of = (name: Column) => sumOver(given[name], leaves);
    return Math.log((of("partAfter") * of("allBefore")) / (of("allAfter") * of("partBefore")));
  };
  const after = cells.after.slice();
  const { causes, noiseOf } = rateCauses(given, cuboids);
  const noise = noiseOf([]);
  const sizeOf = (leaves: readonly number[]) => {
    const own = sum("partBefore", leaves) / sum("allBefore", leaves);
    const [came, come] = [sumOver(runsBefore, leaves), sumOver(runs.after, leaves)];
    if (!(own > 0) || came < LEAST_RUNS || come < LEAST_RUNS) return undefined;
    const grown = sum("allAfter", leaves) / sum("allBefore", leaves);
    const spread = (column: Float64Array) =>
      leaves.reduce((all, leaf) => all + column[leaf]! * held[leaf]! ** 2 * scatter[leaf]!, 0);
    const variance = noise * (spread(runs.after) + grown ** 2 * spread(runsBefore));
    const holds = sum("partAfter", leaves) / come;
    const expected = (sum("allAfter", leaves) * own) / come;
    const size = { holds, held: expected, grown: come / came };
    return { own, size, come, error: Math.sqrt(variance) };
  };
  const tell = (leaves: readonly number[], own: number) => {
    for (const leaf of leaves) {
      if (columns.partAfter[leaf]! > 0) after[leaf] = columns.allAfter[leaf]! * own;
    }
  };
  const sizes = causes.flatMap((each): RunSize[] => {
    const rows = namedRows(cells, each, columns.allAfter, columns.partAfter);
    const { where, leaves } = rows;
    const found = sizeOf(leaves);
    if (found === undefined) return [];
    // Where the runs of all others moved the same way, by half as much or more, no part did, but the whole.
    const others = without(held.length, [rows]);
    if (moreIn(others) / moreIn(leaves) >= 0.5) return [];
    tell(leaves, found.own);
    const sentence = rows.isRelease
      ? releaseRuns(cells, runs, rows, found.size)
      : runsText(found.size, elementText(where), "holds", (n) => `${n} were to be expected`, "");
    return [{ where, leaves, half: NORMAL_95 * found.error, sentence }];
  });
  const rest = without(held.length, sizes);
  const whole = sizeOf(rest);
  if (whole !== undefined) {
    const { holds, held } = whole.size;
    const certain = Math.abs(holds - held) * whole.come > CERTAIN * whole.error;
    if (certain && Math.abs(moreIn(rest)) > WHOLE && Math.abs(holds / held - 1) > WHOLE) {
      tell(rest, whole.own);
      const all = sizes.length === 0 ? "All runs alike" : "All other runs alike";
      const sentence = runsText(whole.size, all, "hold", (n) => `${n} were to be expected`, "");
      sizes.push({ where: {}, leaves: rest, half: NORMAL_95 * whole.error, sentence });
    }
  }
  return { sizes, after };
}

/** What is taken of how runs scatter before any is seen, as a squared coefficient of variation, as how many leaves it counts, and the least. */
const PRIOR_SCATTER = { of: 0.5, leaves: 4, least: 0.2 };

/**
 * What the runs of each leaf's program and test held before (of what is new, what they hold), and how
 * they scattered: the squared coefficient of variation of one run.
 */
function heldBy({ before, after, leaves, names, ...cells }: ChangeCells, runs: Runs) {
  const program = leaves.codes[releaseDimensions({ names, ...cells }).program];
  const tests = leaves.codes[names.indexOf("test_name")];
  const held = new Float64Array(before.length);
  const scatter = new Float64Array(before.length);
  const kinds = before.map((_, leaf) => (program?.[leaf] ?? 0) * 1e6 + (tests?.[leaf] ?? 0));
  for (const some of leavesBy(kinds).values()) {
    const perRun = (rows: Float64Array, of: Float64Array) => {
      const known = some.filter((leaf) => of[leaf]! > 0);
      return sumOver(rows, known) / sumOver(of, known);
    };
    const own = perRun(before, runs.before) || perRun(after, runs.after) || 0;
    let [sum, many] = [PRIOR_SCATTER.of * PRIOR_SCATTER.leaves, PRIOR_SCATTER.leaves];
    for (const leaf of some) {
      const n = runs.before[leaf]!;
      if (!(n > 0 && own > 0)) continue;
      sum += (before[leaf]! / own - n) ** 2 / n;
      many += 1;
    }
    const varies = Math.max(PRIOR_SCATTER.least, sum / many);
    for (const leaf of some) [held[leaf], scatter[leaf]] = [own, varies];
  }
  return { held, scatter };
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
  const its = subject.startsWith("All") ? "Their number" : "Its runs";
  const runs =
    Math.abs(grown - 1) < WHOLE
      ? `${its} ${its === "Its runs" ? "came" : "stayed"} as before ${came}.`
      : `${its} ${grown < 1 ? "fell" : "rose"}, too ${came}.`;
  return (part, what) => {
    const all = part !== null && Math.abs(part - 1) < USUAL ? "all" : percent(part ?? 0);
    const share = partText(part) === "" ? "" : ` That is ${all} of the ${what}.`;
    return `${subject} ${verb} ${perRun(holds)} ${perRun(holds) === "1" ? "measurement" : "measurements"} a run where ${where(perRun(held))} ${by}. ${runs}${share}`;
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
