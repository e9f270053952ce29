import { CONFIDENCES } from "../query/wilson.js";
import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { cuboidsOf, leavesOf, marked, sumOver, without, type Cuboid } from "./cuboids.js";
import type { Found } from "./search.js";
import { runSizes } from "./run-sizes.js";
import {
  guilty,
  mayHaveMoved,
  moves,
  namedRows,
  programOf,
  releaseDimensions,
  releaseName,
  siblings,
  upgrade,
  type GuiltyRelease,
  type Move,
} from "./releases.js";
import { ALONG, CERTAIN, MOST_TOLD, priceOf, USUAL, WHOLE } from "./thresholds.js";
import {
  amount,
  elementText,
  partText,
  percent,
  signedPercent,
  valueText,
  type CauseValue,
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
 * A count's change: the rows whose runs hold more or fewer measurements than was to be expected, what
 * came in another number, had all runs held that, and what all rows did alike; the greatest first.
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
  const parts = [...held, ...named, ...(alike ? [part({ where: {}, leaves: rest })] : [])].sort(
    (a, b) => Math.abs(b.change) - Math.abs(a.change),
  );
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
  if (part >= 0.33)
    return "These rows are too few to tell anything: not even the loss of half of them would show.";
  const release =
    releaseDimensions(cells).version < 0
      ? ""
      : ` that of a release below ${percent(WHOLE)} of its program, whose users may have gone to another, or`;
  return `These rows can't tell more: the loss of half of a value with less than ${text(2 * part)} would not show, nor would${release} a change of the whole of less than ${text(whole)}.`;
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
  readonly from?: CauseValue | undefined;
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

  /** A cause that is of one program, by the release that it comes from. */
  function narrowed(cause: FlowCause): FlowCause {
    const { [names[version]!]: from, ...place } = cause.where;
    const whose = programOf(cells, cause.leaves);
    if (version < 0 || (program >= 0 && Object.keys(whose).length === 0)) return cause;
    const all = from === undefined ? cause.leaves : siblings(cells, cause.leaves);
    if (from !== undefined && !mayHaveMoved(counted, cause.leaves, all)) return cause;
    const mine = new Set(cause.leaves);
    const leaves = all.filter((leaf) => mine.has(leaf) || out[leaf] === 0);
    const release = guilty(counted, leaves, found.variance);
    const where = { ...whose, ...place };
    if (release === undefined || release.kind === "either") {
      if (release === undefined && from === undefined) return cause;
      const own = { ...cause, where, leaves, rest: leaves.length < all.length };
      return release === undefined ? own : { ...own, kind: "either", newest: release.version };
    }
    if (release.version === from) return cause;
    // What the others did is what was to be expected of them; the rest is the release's.
    const ofRelease = new Set(release.leaves);
    const others = leaves.filter((leaf) => !ofRelease.has(leaf));
    const left = sumOver(expected, leaves) - sumOver(cells.after, others) / ratio;
    if (left < 0) return cause;
    for (const leaf of others) expected[leaf] = cells.after[leaf]! / ratio;
    const weight = (leaf: number) => cells.before[leaf]! + cells.after[leaf]! + 1e-9;
    const total = release.leaves.reduce((sum, leaf) => sum + weight(leaf), 0);
    for (const leaf of release.leaves) expected[leaf] = (left * weight(leaf)) / total;
    const named = { ...whose, [names[version]!]: release.version, ...place };
    return { ...cause, where: named, leaves: release.leaves, kind: "loses", from };
  }

  const scaled = expected.map((n) => n * ratio);
  const won = (some: readonly number[]) => sumOver(cells.after, some) - sumOver(scaled, some);
  /** Whether what these leaves lost is in `all`, or is no more than these vary by. */
  const isWithin = (leaves: readonly number[], all: readonly number[]) =>
    won(all) * Math.sign(won(leaves)) <
    Math.max(
      ALONG * Math.abs(won(leaves)),
      (USUAL * (sumOver(cells.after, all) + sumOver(scaled, all))) / 2,
    );
  const named = told.map((each) => namedRows(cells, each, scaled, cells.after));
  // What a release lost and others of its program won in the same place, or the reverse, is a move.
  const moved = named.filter(
    ({ isRelease, leaves }) => isRelease && isWithin(leaves, siblings(cells, leaves)),
  );
  const inMove = marked(out.length, moved);
  const causes = named
    .filter((each, at) => {
      if (moved.includes(each)) return false;
      const others = each.rest ? leavesOf(cells.leaves, told[at]!) : [];
      const back = others.filter((leaf) => inMove[leaf] === 1);
      return back.length === 0 || !isWithin(each.leaves, [...each.leaves, ...back]);
    })
    .map(narrowed);
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
    return `${name === "" ? "It" : name} ${after < before ? "lost" : "won"} ${by}${inPlace}${partText(part)}. These rows can't tell whether its release ${valueText(newest)} or the whole program did.`;
  }
  const verb = after < 0.05 * before ? "stopped" : after < before ? "loses rows" : "sends more";
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  const missing =
    from === undefined
      ? ""
      : ` They are missing from ${valueText(from)}: its users went to the newer release, or it lost them itself.`;
  return `${name} ${verb}${inPlace}: ${rounded(after)} ${cells.unit} came where ${rounded(before)} were to be expected${by}${partText(part)}.${missing}`;
}
