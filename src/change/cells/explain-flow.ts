import { CONFIDENCES } from "../../query/wilson.js";
import type { Account, Part, Unseen } from "./account.js";
import type { ChangeCells } from "./cells.js";
import { countCauses } from "./count-causes.js";
import {
  cuboidsOf,
  leavesBy,
  leavesOf,
  marked,
  sumOver,
  without,
  type Cuboid,
  type Leaves,
} from "./cuboids.js";
import { elementPrice, type Found } from "./search.js";
import { runSizes } from "./run-sizes.js";
import {
  goneRelease,
  guilty,
  moves,
  namedRows,
  type NamedRows,
  type Open,
  programOf,
  releaseDimensions,
  upgrade,
} from "./releases.js";
import {
  ALIKE_RATIO,
  CERTAIN,
  CLUMP,
  MAYBE,
  NAMED,
  priceOf,
  PART_TOLERANCE,
  TOTAL_TOLERANCE,
  UNSEEN,
  WIDE,
} from "./thresholds.js";
import type { CauseWhere } from "../words.js";
import { isOneUser, placesIn, usersOf, type Users } from "./users.js";

/** Causes that are named where none is certain. */
const MOST_GUESSED = 3;

/**
 * A count's change: the rows whose runs hold more or fewer measurements than was to be expected, what
 * came in another number, had all runs held that, and what all rows did alike; the greatest first.
 */
export function flowAccount(cells: ChangeCells): Account {
  const cuboids = cuboidsOf(cells.leaves);
  const [was, is] = [sumOver(cells.before) * cells.ratio, sumOver(cells.after)];
  if (was === 0 || is === 0) return allOrNothing(cells, was, is);
  const { sizes, after } = runSizes(cells, cuboids);
  const { causes, maybe, expected, variance, users, isOne } = flowCauses(
    { ...cells, after },
    cuboids,
  );
  const { program, version } = releaseDimensions(cells);
  const part = (cause: FlowCause): Part => {
    const { where, leaves, rest = false } = cause;
    const [had, has] = [sumOver(expected, leaves), sumOver(after, leaves)];
    const half = CONFIDENCES[0.95] * Math.sqrt(sumOver(variance, leaves));
    const isAsIf = Math.abs(sumOver(cells.after, leaves) - has) > 0.5;
    const own = { where, leaves, rest, isAsIf, before: had, after: has, change: has - had, half };
    const isRelease = version >= 0 && cells.names[version]! in where;
    const kind = cause.kind === "either" ? "either" : isRelease ? "release" : "moved";
    return { ...own, kind, open: cause.open, doubt: isOne(leaves) ? "one user" : undefined };
  };
  const changed = causes.map(part);
  // A small new program is news, no cause, whether it is found by its name or by its only release.
  const isNews = ({ where, before, after }: Part) => {
    const names = Object.keys(where).filter((name) => name !== cells.names[version]);
    return before! < 1 && after! < PART_TOLERANCE * was && names.join() === cells.names[program];
  };
  const sure = [...sizes, ...changed.filter((one) => !isNews(one))];
  const guessed = sure.length > 0 ? [] : maybe.slice(0, MOST_GUESSED);
  const guesses = guessed.map(part);
  const parts = [
    ...sure,
    ...guesses.map((one): Part => ({ ...one, doubt: one.doubt ?? "chance" })),
  ].sort(
    (a, b) =>
      Number(a.doubt !== undefined) - Number(b.doubt !== undefined) ||
      Math.abs(b.change) - Math.abs(a.change),
  );
  // A program that a cause names didn't just upgrade.
  const named = program < 0 ? [] : parts.map(({ where }) => where[cells.names[program]!]).flat();
  const others = parts.filter((one) => !sizes.includes(one));
  return {
    before: was,
    after: is,
    parts,
    rest: part({ where: {}, leaves: without(after.length, others) }),
    moves: moves(cells).filter((move) => !named.includes(move.program)),
    news: changed.filter(isNews),
    unseen: sure.length === 0 ? unseenOf(cells, users, cuboids) : undefined,
    // Rows that users left for another release scatter as those that stayed.
    noise: (some) => {
      const own = sumOver(variance, some);
      const rows = sumOver(expected, some) + sumOver(cells.after, some);
      return own > 0 ? own / rows : sumOver(variance) / (was + is);
    },
  };
}

/** Where one of the ranges holds no row there is nothing to search: all went, or all came, if so many aren't there by chance. */
function allOrNothing(cells: ChangeCells, before: number, after: number): Account {
  const all = without(cells.before.length, []);
  const change = after - before;
  const { before: had, after: has } = { ...cells, ...cells.runs };
  const clump = cells.runs || cells.source === "runs" ? CLUMP.runs : CLUMP.rows;
  const isSure = (sumOver(had) + sumOver(has)) / clump > CERTAIN ** 2 / 2;
  const half = CONFIDENCES[0.95] * Math.sqrt(clump * Math.abs(change));
  const part = { kind: "all", where: {}, leaves: all, before, after, change, half } as const;
  return {
    before,
    after,
    parts: change === 0 ? [] : [{ ...part, doubt: isSure ? undefined : "few rows" }],
    rest: { ...part, kind: "moved", leaves: [], before: 0, after: 0, change: 0, half: 0 },
    moves: [],
    noise: () => clump,
  };
}

/** What would not have been seen; or, where that is half of all rows, that they are too few. */
function unseenOf(cells: ChangeCells, users: Users, cuboids: readonly Cuboid[]): Unseen {
  const { before, after, ratio } = cells;
  const price = priceOf(cuboids.length, before.length);
  const [half, fifth, whole] = [
    users.least(price, 0.5) / 0.5,
    users.least(price, 0.2) / 0.2,
    users.least(CERTAIN ** 2 / 2),
  ];
  if (2 * half >= 1) return { of: "anything" };
  const rows = sumOver(before) * ratio + sumOver(after);
  return { of: "losses", rows, half, fifth: 2 * fifth < 1 ? fifth : undefined, whole };
}

/** Rows of a count that came in another number than was to be expected. */
interface FlowCause {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  readonly rest?: boolean;
  /**
   * More than its number, where it is known: a release lost (or won) rows; it, or its whole program, did.
   */
  readonly kind?: "loses" | "either";
  /** What these rows can't tell of it. */
  readonly open?: Open | undefined;
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
 * @returns disjoint causes, those that may be where none is certain; what was to be expected of each
 *   leaf, as of a range as long as after, and the variance of its change.
 */
function flowCauses(cells: ChangeCells, cuboids: readonly Cuboid[]) {
  const { ratio, names, runs, before, after, leaves } = cells;
  const counted = { ...cells, ...runs };
  const hasReleases = releaseDimensions(cells).version >= 0 && names.length > 1;
  const found = countCauses(
    {
      ...leaves,
      before: counted.before,
      after: counted.after,
      ratio,
      runs: runs !== undefined || cells.source === "runs",
      ...(hasReleases && { expect: (out) => upgrade(cells, counted, out)(counted.before) }),
    },
    cuboids,
  );
  const moved = counted.after.map((n, leaf) => n - counted.before[leaf]! * ratio);
  // What moved in a handful of places may be users who came or went: it shows how they do.
  const wide = found.causes.filter((one) => placesIn(cells, one.leaves, moved) >= WIDE);
  const users = usersOf(cells, marked(before.length, wide), found.ordinary, found.variance);
  const isOne = (some: readonly number[]) => users.known && isOneUser(cells, some, moved);
  /** How unlikely a cause is by users alone, by its price. */
  const sureness = (one: Found) => {
    return users.known ? users.against(one.leaves) / elementPrice(cuboids, one) : 1;
  };
  const judged = found.causes.map((one) => ({ one, sure: sureness(one) }));
  const certain = judged.flatMap(({ one, sure }) => (sure > NAMED ? one : []));
  const maybe = judged.flatMap(({ one, sure }) => (sure > MAYBE && sure <= NAMED ? one : []));
  const out = marked(before.length, certain);
  const upgraded = upgrade(cells, counted, out);
  const expected = upgraded(before).map((n) => n * ratio);
  const size = upgraded(counted.before).map((n, leaf) => n * ratio + counted.after[leaf]!);
  const rowVariance = users.variance.map((own, leaf) => {
    return size[leaf]! > 0 ? own * ((expected[leaf]! + after[leaf]!) / size[leaf]!) ** 2 : 0;
  });
  const flow: Flow = { cells, counted, expected, out, variance: found.variance, rowVariance };
  const rowsOf = (one: Found) => namedRows(cells, one);
  const relative = (some: readonly number[]) => sumOver(after, some) / sumOver(expected, some) - 1;
  const causes = joined(leaves, certain.map(rowsOf), relative).map((one) => byRelease(flow, one));
  const rest = without(before.length, certain);
  // Users heavier than any that was observed come and go, too.
  const variance = rowVariance.map((own) => (users.known ? UNSEEN : 1) * own);
  const about = { expected, variance, users, isOne };
  const isLarge =
    Math.min(Math.abs(found.ordinary - 1), Math.abs(relative(rest))) > TOTAL_TOLERANCE;
  const unlikely = isLarge ? users.against(rest, 1) / (CERTAIN ** 2 / 2) : 0;
  const whole =
    unlikely > MAYBE ? [wholeCause(flow, rest, causes.length === 0 && unlikely > 1)] : [];
  const named = unlikely > 1 ? [...causes, ...whole] : causes;
  // What was named for certain changes what was to be expected of others: beside it nothing is guessed.
  if (named.length > 0) return { ...about, causes: named, maybe: [] };
  const guessed = whole.length > 0 ? whole : maybe.map((one) => byRelease(flow, rowsOf(one)));
  return { ...about, causes: [], maybe: guessed.length > 0 ? guessed : goneReleases(flow) };
}

/** What all these leaves did: it may have been one value's change, or one release's. */
function wholeCause(flow: Flow, rest: readonly number[], alone: boolean): FlowCause {
  const { only, maybe } = oneValue(flow, rest);
  if (only) {
    return byRelease(flow, { where: { [only.name]: only.value }, leaves: only.leaves });
  }
  const open = maybe && ({ of: "all", name: maybe.name, value: maybe.value } as const);
  const all = { where: {}, leaves: rest, open };
  return alone ? byRelease(flow, all) : all;
}

/** Causes of a value and of the rest of it, as of a release and the rest of its program, that moved alike are one. */
function joined(
  all: Leaves,
  causes: readonly NamedRows[],
  moved: (leaves: readonly number[]) => number,
): NamedRows[] {
  return causes.reduce<NamedRows[]>((kept, one) => {
    if (!one.rest) return [...kept, one];
    const own = new Set(leavesOf(all, one));
    const parts = kept.filter(({ leaves }) => {
      const ratio = moved(leaves) / moved(one.leaves);
      const isAlike = Math.min(ratio, 1 / ratio) > ALIKE_RATIO;
      return isAlike && leaves.every((leaf) => own.has(leaf));
    });
    const leaves = [...one.leaves, ...parts.flatMap((part) => part.leaves)];
    const joint = { ...one, leaves, rest: leaves.length < own.size };
    return [...kept.filter((other) => !parts.includes(other)), joint];
  }, []);
}

/** Releases of which no row is left, where their program's loss is too small to name it. */
function goneReleases(flow: Flow): FlowCause[] {
  const { cells, counted, variance } = flow;
  const { version, program } = releaseDimensions(cells);
  const [name, codes] = [cells.names[version], cells.leaves.codes[program]];
  if (name === undefined || codes === undefined) return [];
  return [...leavesBy(codes).values()].flatMap((all) => {
    const gone = goneRelease(counted, all, variance, 0);
    if (gone === undefined || !expectMissing(flow, gone.leaves, all)) return [];
    const where = { ...programOf(cells, all), [name]: gone.version };
    return { where, leaves: gone.leaves, kind: "loses", open: gone.open } as const;
  });
}

/**
 * What seems to be the change of all these leaves may be that of one value: it is (`only`) where those of
 * others moved by less than half as much, or are of causes; it may be (`maybe`) where they are too few
 * to tell.
 */
function oneValue({ cells, expected, rowVariance }: Flow, rest: readonly number[]) {
  const { names, leaves, values, after } = cells;
  const { version, program } = releaseDimensions(cells);
  const won = (some: readonly number[]) => sumOver(after, some) - sumOver(expected, some);
  const all = won(rest);
  const found = names.flatMap((name, at) => {
    if (at === version && program >= 0) return [];
    const groups = [...leavesBy(leaves.codes[at]!, rest)];
    const [code, own] = groups.reduce((a, b) =>
      Math.abs(won(b[1])) > Math.abs(won(a[1])) ? b : a,
    );
    const had = sumOver(expected, rest) - sumOver(expected, own);
    const others = groups.flatMap(([one, some]) => (one === code ? [] : some));
    const noise = 2 * Math.sqrt(sumOver(rowVariance, others));
    const alike = (had * won(own)) / sumOver(expected, own);
    const beside = all - won(own);
    const isOnly =
      Math.abs(won(own)) > Math.abs(beside) &&
      Math.abs(beside) < ALIKE_RATIO * Math.abs(alike) &&
      Math.abs(alike - beside) > noise;
    const isLeft = groups.length === 1 && leaves.sizes[at]! > 1;
    const only = isLeft || (had > 0 && isOnly);
    const maybe = others.length > 0 && !(beside * Math.sign(all) > noise);
    return only || maybe ? [{ name, value: values[at]![code]!, leaves: own, had, only }] : [];
  });
  const [only] = found.filter(({ only }) => only).sort((a, b) => b.had - a.had);
  return { only, maybe: found.find(({ only }) => !only) };
}

/** A cause of one program by the release that it comes from, which is expected to have what the others lack. */
function byRelease(flow: Flow, cause: FlowCause): FlowCause {
  const { cells, counted, variance } = flow;
  const { version, program } = releaseDimensions(cells);
  const name = cells.names[version];
  const { where: place, leaves, rest = false } = cause;
  const whose = programOf(cells, leaves);
  const isOne = program < 0 || Object.keys(whose).length > 0;
  if (name === undefined || name in place || !isOne) return cause;
  const release = goneRelease(counted, leaves, variance) ?? guilty(counted, leaves, variance);
  if (release === undefined) return cause;
  const { kind, open } = release;
  if (kind === "either") return { where: { ...whose, ...place }, leaves, rest, kind, open };
  if (!expectMissing(flow, release.leaves, leaves)) return cause;
  const where = { ...whose, [name]: release.version, ...place };
  return { where, leaves: release.leaves, rest, kind, open };
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
