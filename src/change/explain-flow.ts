import { CONFIDENCES } from "../query/wilson.js";
import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import { cuboidsOf, leavesBy, marked, sumOver, without, type Cuboid } from "./cuboids.js";
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
  type NamedRows,
  type Move,
} from "./releases.js";
import { ALONG, CERTAIN, GONE, MOST_TOLD, priceOf, USUAL, WHOLE } from "./thresholds.js";
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
  const { causes, expected, alike, variance, users } = flowCauses({ ...cells, after }, cuboids);
  const part = (cause: FlowCause): Part => {
    const { where, leaves, rest = false } = cause;
    const [had, has] = [sumOver(expected, leaves), sumOver(after, leaves)];
    const half = NORMAL_95 * Math.sqrt(sumOver(variance, leaves));
    const own = { where, leaves, rest, before: had, after: has, change: has - had, half };
    return { ...own, sentence: releaseSentence(cells, cause, had, has, partOf(has - had)) };
  };
  const isRenamed = ({ where }: Part) => Object.values(where).some((value) => Array.isArray(value));
  // What came as it was is no cause, but beside what all others did.
  const changed = causes.map(part).filter((one) => {
    const usual = (USUAL * (one.before! + one.after!)) / 2;
    return alike || isRenamed(one) || Math.abs(one.change) > usual;
  });
  const { program, version } = releaseDimensions(cells);
  // A small new program is news, no cause, whether it is found by its name or by its only release.
  const isNews = ({ where, before, after }: Part) => {
    const names = Object.keys(where).filter((name) => name !== cells.names[version]);
    return before! < 1 && after! < USUAL * was && names.join() === cells.names[program];
  };
  const named = changed.filter((one) => !isNews(one)).slice(0, MOST_TOLD);
  const rest = without(after.length, named);
  const size = (one: Part) => (isRenamed(one) ? one.before! : Math.abs(one.change));
  const parts = [...sizes, ...named, ...(alike ? [part({ where: {}, leaves: rest })] : [])].sort(
    (a, b) => size(b) - size(a),
  );
  // A program that a cause names didn't just upgrade.
  const guilty = parts.map(({ where }) => where["software_name"]).flat();
  const news = changed.filter(isNews).map((one) => {
    return `${elementText(one.where)} is new, with ${amount(one.after, "")} ${cells.unit}.`;
  });
  const unseen = parts.length === 0 && was + is > 0 ? [unseenText(cells, users, cuboids)] : [];
  const note =
    "Before, of a release whose runs changed: what its runs would have held. Everything else: all rows, as if those runs had held that.";
  return {
    before: was,
    after: is,
    parts,
    rest: part({ where: {}, leaves: alike ? [] : rest }),
    moves: moves(cells).filter((move) => !guilty.includes(move.program ?? undefined)),
    remarks: [...news, ...unseen],
    notes: sizes.length === 0 ? [] : [note],
  };
}

/** What would have been seen. */
function unseenText(cells: ChangeCells, users: Users, cuboids: readonly Cuboid[]): string {
  const { before, after, ratio, unit } = cells;
  const all = sumOver(before) * ratio + sumOver(after);
  const part = users.least(priceOf(cuboids.length, before.length));
  const whole = users.least(CERTAIN ** 2 / 2, true);
  const text = (of: number) =>
    `${amount(Math.round(of * all), "")} ${unit} (${percent(2 * of)} of all)`;
  if (part >= 0.33)
    return "These rows are too few to tell anything: not even the loss of half of them would show.";
  const release =
    releaseDimensions(cells).version < 0
      ? ""
      : ` the loss of a release below ${percent(WHOLE)} of its program, whose users may have gone to another;`;
  return `These rows can't tell more. What would not show: the loss of half of a value with fewer than ${text(2 * part)};${release} a change of all rows by less than ${text(whole)}.`;
}

/** Rows of a count that came in another number than was to be expected. */
interface FlowCause {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  readonly rest?: boolean;
  /**
   * More than its number, where it is known: a release lost (or won) rows; it, or its whole program,
   * did; the rows of a value that is gone came under a new one.
   */
  readonly kind?: "loses" | "either" | "renamed";
  /** The release that did, or its whole program. */
  readonly newest?: string;
  /** The release that its users should have come from. */
  readonly from?: CauseValue | undefined;
}

/** Rows, and runs where they are known; what was to be expected of each leaf; and which leaves causes have. */
interface Flow {
  readonly cells: ChangeCells;
  readonly counted: ChangeCells;
  readonly expected: Float64Array;
  readonly out: Uint8Array;
  /** Of each leaf's change, of what is counted. */
  readonly variance: Float64Array;
  /** Of each leaf's change in rows. */
  readonly rowVariance: Float64Array;
}

/**
 * Values and combinations of values whose rows (runs, where they are known, which scatter less) came
 * in another number than was to be expected, where users went from release to release as they did in
 * the whole program; and of a program that changed as a whole the release that did.
 *
 * @returns disjoint causes; what was to be expected of each leaf, as of a range as long as after; whether
 *   the rows of no cause changed so much that they are one, too; the variance of each leaf's change.
 */
export function flowCauses(cells: ChangeCells, cuboids: readonly Cuboid[]) {
  const { ratio, names, runs, before, after, leaves } = cells;
  const counted = { ...cells, ...runs };
  const hasReleases = releaseDimensions(cells).version >= 0 && names.length > 1;
  const found = countCauses(
    {
      ...leaves,
      before: counted.before,
      after: counted.after,
      ratio,
      runs: runs !== undefined || cells.many === "runs",
      ...(hasReleases && { expect: (out) => upgrade(cells, counted, out)(counted.before) }),
    },
    cuboids,
  );
  const users = usersOf(cells, marked(before.length, found.causes), found.ordinary, found.variance);
  const certain = found.causes.filter((one) => {
    const { groups } = cuboids.find(
      ({ dimensions }) => dimensions.join() === one.dimensions.join(),
    )!;
    return !users.known || users.against(one.leaves) > priceOf(cuboids.length, groups);
  });
  const out = marked(before.length, certain);
  const upgraded = upgrade(cells, counted, out);
  const expected = upgraded(before).map((n) => n * ratio);
  const size = upgraded(counted.before).map((n, leaf) => n * ratio + counted.after[leaf]!);
  const rowVariance = users.variance.map((own, leaf) => {
    return size[leaf]! > 0 ? own * ((expected[leaf]! + after[leaf]!) / size[leaf]!) ** 2 : 0;
  });
  const flow: Flow = { cells, counted, expected, out, variance: found.variance, rowVariance };
  const stayed = withoutMoves(flow, certain);
  const causes = renamed(flow, stayed).map((cause) =>
    cause.kind === undefined ? byRelease(flow, cause) : cause,
  );
  const rest = without(before.length, certain);
  const alike =
    Math.abs(found.ordinary - 1) > WHOLE &&
    Math.abs(sumOver(after, rest) / sumOver(expected, rest) - 1) > WHOLE &&
    users.against(rest, 1) > CERTAIN ** 2 / 2;
  const only = alike && causes.length === 0 && byRelease(flow, { where: {}, leaves: rest });
  return only && only.kind !== undefined
    ? { causes: [only], expected, alike: false, variance: rowVariance, users }
    : { causes, expected, alike, variance: rowVariance, users };
}

/** Causes by name, but for releases whose loss others of their program won in the same place (or the reverse). */
function withoutMoves({ cells, expected }: Flow, found: readonly Found[]): NamedRows[] {
  const { after } = cells;
  const won = (some: readonly number[]) => sumOver(after, some) - sumOver(expected, some);
  /** Whether others of `all` won what these lost, but for what is usual. */
  const isMove = (some: readonly number[], all: readonly number[]) => {
    const usual = (USUAL * (sumOver(after, all) + sumOver(expected, all))) / 2;
    const own = won(some);
    return won(all) * Math.sign(own) < Math.max(ALONG * Math.abs(own), usual);
  };
  const named = found.map((one) => namedRows(cells, one, expected, after));
  const moved = named.filter(
    ({ isRelease, leaves: own }) => isRelease && isMove(own, siblings(cells, own)),
  );
  return named.filter((one) => !moved.includes(one));
}

/**
 * Causes, of which one that is gone and one that is new are one where they differ in a single value and
 * the rows of the first came in the second: by every other dimension at least half of them.
 */
function renamed({ cells, expected }: Flow, causes: readonly FlowCause[]): FlowCause[] {
  const { after, leaves, names } = cells;
  const { version } = releaseDimensions(cells);
  const isGone = ({ leaves: own }: FlowCause) =>
    sumOver(after, own) <= GONE * sumOver(expected, own);
  const isNew = ({ leaves: own }: FlowCause) =>
    sumOver(expected, own) <= GONE * sumOver(after, own);
  /** The single value in which they differ, but for releases. */
  const differing = (old: FlowCause, fresh: FlowCause) => {
    const differ = Object.keys({ ...old.where, ...fresh.where }).filter(
      (name) => old.where[name] !== fresh.where[name] && name !== names[version],
    );
    const [name = ""] = differ;
    return differ.length === 1 && name in old.where && name in fresh.where ? name : undefined;
  };
  const hasRowsOf = (fresh: FlowCause, old: FlowCause, name: string | undefined) => {
    const most = Math.max(sumOver(expected, old.leaves), sumOver(after, fresh.leaves));
    return leaves.codes.every((codes, at) => {
      if (names[at] === name || at === version) return true;
      const now = leavesBy(codes, fresh.leaves);
      const both = [...leavesBy(codes, old.leaves)].reduce((sum, [code, some]) => {
        return sum + Math.min(sumOver(expected, some), sumOver(after, now.get(code) ?? []));
      }, 0);
      return both > ALONG * most;
    });
  };
  const pairs: FlowCause[] = [];
  let others = [...causes];
  for (const old of causes.filter(isGone)) {
    const fresh = others.find((one) => {
      const name = differing(old, one);
      return isNew(one) && name !== undefined && hasRowsOf(one, old, name);
    });
    if (fresh === undefined) continue;
    const name = differing(old, fresh)!;
    const { [names[version] ?? ""]: release, ...where } = fresh.where;
    const same = release !== undefined && old.where[names[version]!] === release;
    pairs.push({
      where: {
        ...where,
        ...(same && { [names[version]!]: release }),
        [name]: [old.where[name], fresh.where[name]].flat() as (string | null)[],
      },
      leaves: [...old.leaves, ...fresh.leaves],
      kind: "renamed",
    });
    others = others.filter((one) => one !== old && one !== fresh);
  }
  return [...pairs, ...others];
}

/**
 * A cause of one program by the release that it comes from. Where that is another than the cause is of,
 * the release is expected to have what the others lack.
 */
function byRelease(flow: Flow, cause: FlowCause): FlowCause {
  const { cells, counted, expected, out } = flow;
  const { version, program } = releaseDimensions(cells);
  const name = cells.names[version] ?? "";
  const { [name]: from, ...place } = cause.where;
  const whose = programOf(cells, cause.leaves);
  if (version < 0 || (program >= 0 && Object.keys(whose).length === 0)) return cause;
  const all = from === undefined ? cause.leaves : siblings(cells, cause.leaves);
  const mine = new Set(cause.leaves);
  const leaves = all.filter((leaf) => mine.has(leaf) || out[leaf] === 0);
  if (from !== undefined && !mayHaveMoved(counted, cause.leaves, all, flow.variance)) {
    // Users who were to come to it are missing from the others that they left.
    const gain =
      sumOver(expected, cause.leaves) - sumOver(cells.before, cause.leaves) * cells.ratio;
    const noise = NORMAL_95 * Math.sqrt(sumOver(flow.rowVariance, leaves));
    if (gain > noise) expectMissing(flow, cause.leaves, leaves);
    return cause;
  }
  const release = guilty(counted, leaves, flow.variance);
  if (release?.kind !== "loses") {
    if (release === undefined && from === undefined) return cause;
    const own = { where: { ...whose, ...place }, leaves, rest: leaves.length < all.length };
    return release === undefined ? own : { ...own, kind: "either", newest: release.version };
  }
  if (release.version === from || !expectMissing(flow, release.leaves, leaves)) return cause;
  const where = { ...whose, [name]: release.version, ...place };
  return { where, leaves: release.leaves, rest: cause.rest ?? false, kind: "loses", from };
}

/**
 * Expects of a release what the others of its program lack in the same place, whose users it should have.
 *
 * @param all the rows of the place, the release's among them. @returns false where they lack nothing.
 */
function expectMissing(
  { cells, expected, rowVariance: variance }: Flow,
  own: readonly number[],
  all: readonly number[],
): boolean {
  const mine = new Set(own);
  const others = all.filter((leaf) => !mine.has(leaf));
  const missing = sumOver(expected, all) - sumOver(cells.after, others);
  if (missing < 0) return false;
  const noise = sumOver(variance, all);
  const weight = (leaf: number) => cells.before[leaf]! + cells.after[leaf]! + 1e-9;
  const total = own.reduce((sum, leaf) => sum + weight(leaf), 0);
  for (const leaf of others) [expected[leaf], variance[leaf]] = [cells.after[leaf]!, 0];
  for (const leaf of own) {
    expected[leaf] = (missing * weight(leaf)) / total;
    variance[leaf] = (noise * weight(leaf)) / total;
  }
  return true;
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
    const lost = `${rounded(Math.abs(after - before))} ${cells.unit} (${percent(Math.abs(after / before - 1))})`;
    return `${name === "" ? "It" : name} ${after < before ? "lost" : "won"} ${lost}${inPlace}${partText(part)}. These rows can't tell whether its release ${valueText(newest)} or the whole program did.`;
  }
  const came = `${rounded(after)} ${cells.unit} came`;
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  const expected = `where ${rounded(before)} were to be expected${by}`;
  if (kind === "renamed") {
    return `${elementText(where)} looks like a change of name: ${came} ${expected}.`;
  }
  const verb = after < 0.05 * before ? "stopped" : after < before ? "loses rows" : "sends more";
  const missing =
    from === undefined
      ? ""
      : ` They are missing from ${valueText(from)}: its users went to the newer release, or it lost them itself.`;
  return `${name} ${verb}${inPlace}: ${came} ${expected}${partText(part)}.${missing}`;
}
