import { CONFIDENCES } from "../../query/wilson.js";
import type { CauseWhere } from "../words.js";
import type { Account, Doubt, Part } from "./account.js";
import type { ChangeCells } from "./cells.js";
import { marked, total, without } from "./cube.js";
import {
  guiltyRelease,
  moves,
  openOf,
  programOf,
  releaseDimensions,
  upgrade,
  usersOf,
  whereOf,
  type Move,
} from "./releases.js";
import { runSizes } from "./run-sizes.js";
import { search, seenOf, type Contrast, type Found, type SearchResult } from "./scan.js";
import { CERTAIN, CLUMP, PART_TOLERANCE, TOTAL_TOLERANCE } from "./thresholds.js";

/** Causes that are told where none is certain. */
const MOST_GUESSED = 3;

/** Rows that came in another number than was to be expected. */
interface CountCause {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  /** The rows whose expectation, less what the others of them came to, is that of its own. */
  readonly scope: readonly number[];
  readonly rest?: boolean;
  readonly open?: Part["open"];
  readonly doubt?: Doubt | undefined;
}

/**
 * A count's change: runs that hold more or fewer measurements than was to be expected, what came in
 * another number, had all runs held that, and what all rows did alike; the greatest first.
 */
export function flowAccount(given: ChangeCells): Account {
  const [was, is] = [total(given.before) * given.ratio, total(given.after)];
  if (was === 0 || is === 0) return allOrNothing(given, was, is);
  const { sizes, maybe, after } = runSizes(given);
  const cells = { ...given, after };
  const counted = { ...cells, ...cells.runs };
  const { version, program } = releaseDimensions(cells);
  const outcome = searchCounts(cells, counted);
  const { named, whole, rival, oneUser } = outcome;
  const expected = expectedIn(cells, counted, named);
  const size = expectedIn(counted, counted, named).map((n, leaf) => n + counted.after[leaf]!);
  const error = (some: readonly number[]) => {
    const perRun = (total(expected, some) + total(after, some)) / total(size, some) || 0;
    return CONFIDENCES[0.95] * Math.sqrt(outcome.variance(some)) * perRun;
  };
  const part = (cause: CountCause): Part => {
    const { where, leaves, scope, rest = false, open, doubt } = cause;
    const own = new Set(leaves);
    const others = scope.filter((leaf) => !own.has(leaf));
    const [before, now] = [total(expected, scope) - total(after, others), total(after, leaves)];
    const isRelease = [where, ...(open ?? [])].some((one) => cells.names[version]! in one);
    return {
      kind: isRelease ? "release" : "moved",
      where,
      leaves,
      rest,
      isAsIf: Math.abs(total(given.after, leaves) - now) > 0.5,
      before,
      after: now,
      change: now - before,
      half: error(scope),
      open,
      doubt,
    };
  };
  const causeOf = (one: Found, doubt?: Doubt): CountCause => {
    const { leaves, rest } = one;
    return byRelease({ where: whereOf(cells, one), leaves, scope: leaves, rest, doubt });
  };
  const wholeCause = (leaves: readonly number[], doubt?: Doubt): CountCause =>
    byRelease({ where: {}, leaves, scope: leaves, open: openOf(cells, rival), doubt });
  const causes = named.map((one) => causeOf(one));
  if (whole?.isCertain === true) causes.push(wholeCause(whole.leaves));
  // A small new program is news, no cause, whether it is found by its name or by its only release.
  const isNews = ({ where, before, after: now }: Part) => {
    const names = Object.keys(where).filter((name) => name !== cells.names[version]);
    return before! < 1 && now! < TOTAL_TOLERANCE * was && names.join() === cells.names[program];
  };
  // Expected anew beside the causes, one may not have moved.
  const changed = causes.map(part).filter(({ before, change, half }) => {
    return Math.abs(change) > Math.max(half, PART_TOLERANCE * before!);
  });
  const sure = [...sizes, ...changed.filter((one) => !isNews(one))];
  const parts = (sure.length > 0 ? sure : guessed()).sort(
    (a, b) =>
      Number(a.doubt !== undefined) - Number(b.doubt !== undefined) ||
      Math.abs(b.change) - Math.abs(a.change),
  );
  // A program that a cause names, or a release of it, didn't just upgrade.
  const isTold = ({ program: own, values }: Move) =>
    parts.some(({ where }) => {
      const [name, release] = [program, version].map((at) => where[cells.names[at]!]);
      return name === undefined ? values.includes(release!) : name === own;
    });
  const flows = parts.filter(({ kind }) => kind !== "runs hold");
  const left = without(after.length, flows);
  const change = is - was - parts.reduce((sum, one) => sum + one.change, 0);
  const before = was - flows.reduce((sum, one) => sum + one.before!, 0);
  return {
    before: was,
    after: is,
    half: error([...after.keys()]),
    parts,
    rest: {
      ...part({ where: {}, leaves: left, scope: left }),
      before,
      after: before + change,
      change,
    },
    moves: moves(cells).filter((move) => !isTold(move)),
    news: changed.filter(isNews),
    // Of a value half can be lost.
    seen:
      sure.length === 0
        ? seenOf(cells.leaves, total(size) / 2 / outcome.dispersion(), -0.5)
        : undefined,
    halfOf: (some) => {
      const rows = total(given.before, some) * given.ratio + total(given.after, some);
      const perRun = total(after) / total(counted.after);
      return CONFIDENCES[0.95] * Math.sqrt(outcome.dispersion(some) * rows * perRun);
    },
  };

  /** Of a program that changed, the release that did. */
  function byRelease(cause: CountCause): CountCause {
    const name = cells.names[version];
    const whose = programOf(cells, cause.leaves);
    const isOne = program < 0 || Object.keys(whose).length > 0;
    if (name === undefined || name in cause.where || !isOne) return cause;
    const noise = outcome.dispersion(cause.leaves);
    const guilty = guiltyRelease(cells, counted, cause.leaves, noise);
    if (guilty === undefined) return cause;
    const { leaves, version: release, rival } = guilty;
    const wide = { ...whose, ...cause.where };
    const where = { ...wide, [name]: release };
    const open: CountCause["open"] =
      rival === undefined
        ? undefined
        : rival === null
          ? [wide, where]
          : [where, { ...wide, [name]: rival }];
    if (leaves === undefined) return { ...cause, where: wide, open };
    const own = { ...cause, leaves, where, open };
    // The others lack nothing that it should have had.
    return part(own).before! < 0 ? cause : own;
  }

  /** The likeliest of what only may be. */
  function guessed(): Part[] {
    const counts = whole
      ? [part(wholeCause(whole.leaves, "chance"))]
      : outcome.maybe
          .map((one) => part(causeOf(one, oneUser.has(one) ? "one user" : "chance")))
          .filter((one) => !isNews(one));
    const likely = (some: readonly Part[]) => some.filter(({ doubt }) => doubt === "chance");
    const tiers = [likely(maybe).slice(0, 1), likely(counts), [...maybe.slice(0, 1), ...counts]];
    return tiers.find((some) => some.length > 0)?.slice(0, MOST_GUESSED) ?? [];
  }
}

type Counted = Pick<ChangeCells, "before" | "after">;

/** What was to be expected of each leaf, as users went from release to release beside these causes. */
function expectedIn(cells: ChangeCells, counted: Counted, causes: readonly Found[]) {
  const moved = upgrade(cells, counted, marked(cells.before.length, causes));
  return moved(cells.before).map((n) => n * cells.ratio);
}

/** Values and combinations of values whose rows (runs, where they are known) came in another number. */
function searchCounts(cells: ChangeCells, counted: ChangeCells): SearchResult {
  const { runs, ratio, leaves, source } = cells;
  const { version } = releaseDimensions(cells);
  const prior = runs || source === "runs" ? CLUMP.runs : CLUMP.rows;
  return search((out): Contrast => {
    const before = upgrade(cells, counted, out)(counted.before).map((n) => n * ratio);
    const size = before.map((n, leaf) => n + counted.after[leaf]!);
    return {
      leaves,
      after: counted.after,
      before,
      exposureAfter: size,
      exposureBefore: size,
      ...usersOf(cells),
      isShare: false,
      isIndependent: false,
      usualDispersion: prior,
      tolerance: (dims) =>
        dims.length === 0 || dims.includes(version) ? TOTAL_TOLERANCE : PART_TOLERANCE,
    };
  });
}

/** Where one of the ranges holds no row there is nothing to search: all went, or all came, if so many aren't there by chance. */
function allOrNothing(cells: ChangeCells, before: number, after: number): Account {
  const all = without(cells.before.length, []);
  const change = after - before;
  const { before: had, after: has } = { ...cells, ...cells.runs };
  const clump = cells.runs || cells.source === "runs" ? CLUMP.runs : CLUMP.rows;
  const isSure = (total(had) + total(has)) / clump > CERTAIN ** 2 / 2;
  const halfOf = (some: readonly number[]) =>
    CONFIDENCES[0.95] * Math.sqrt(clump * (total(cells.before, some) + total(cells.after, some)));
  const half = halfOf(all);
  const part = { kind: "all", where: {}, leaves: all, before, after, change, half } as const;
  return {
    before,
    after,
    half,
    parts: change === 0 ? [] : [{ ...part, doubt: isSure ? undefined : "few rows" }],
    rest: { ...part, kind: "moved", leaves: [], before: 0, after: 0, change: 0, half: 0 },
    moves: [],
    halfOf,
  };
}
