import { CONFIDENCES } from "../../query/wilson.js";
import type { Account, MixShift, Part } from "./account.js";
import type { ChangeCells } from "./cells.js";
import { leavesBy, total, without, type Column } from "./cube.js";
import { openOf, releaseDimensions, upgrade, usersOf, whereOf } from "./releases.js";
import { evidence, search, seenOf, type Contrast, type Found } from "./scan.js";
import { CAUTION, CLUMP, PART_TOLERANCE, RATE_CLUMP, TOTAL_TOLERANCE } from "./thresholds.js";

/** Rows and rate, before and after. */
interface Rate {
  readonly n0: number;
  readonly n1: number;
  readonly r0: number;
  readonly r1: number;
}

/** Of some leaves, or of all. */
export function rateOf(cells: ChangeCells, leaves?: readonly number[]): Rate {
  const [n0, n1] = [total(cells.before, leaves), total(cells.after, leaves)];
  const [part0, part1] = [total(cells.partBefore, leaves), total(cells.partAfter, leaves)];
  return { n0, n1, r0: part0 / n0, r1: part1 / n1 };
}

/** What a part contributes to the change of all, by its rate and by its weight (Kitagawa 1955), and its middle weight. */
export function contribution(own: Rate, all: Rate) {
  const [w0, w1] = [own.n0 / all.n0 || 0, own.n1 / all.n1 || 0];
  // A part without rows has the rate that it has on the other side: it changed by its weight alone.
  const r0 = own.n0 > 0 ? own.r0 : own.n1 > 0 ? own.r1 : 0;
  const r1 = own.n1 > 0 ? own.r1 : r0;
  const middle = (w0 + w1) / 2;
  const mix = (w1 - w0) * ((r0 + r1) / 2 - (all.r0 + all.r1) / 2);
  return { mix, rate: middle * (r1 - r0), middle, w0, w1, r0, r1 };
}

/**
 * The change of a share, mean or quantile: the dimension whose mix of values makes up most of it, then
 * parts whose own rate changed; else what all rows did alike. Each contributes by its rate and by its weight.
 */
export function rateAccount(given: ChangeCells): Account {
  // What was to be expected of each release, as users went from one to the next with what they had.
  const moved = upgrade(given, given);
  const cells = { ...given, before: moved(given.before), partBefore: moved(given.partBefore) };
  const { quantile } = cells;
  const all = rateOf(cells);
  const { version } = releaseDimensions(cells);
  const ends = { before: all.n0 > 0 ? all.r0 : null, after: all.n1 > 0 ? all.r1 : null };
  const { before: was, after: is } = quantile ?? ends;
  const asItWas = all.n0 > 0 && all.n1 > 0 && all.r0 + all.r1 > 0 ? contrastOf(cells) : undefined;
  if (asItWas === undefined) {
    const change = all.r1 - all.r0 || 0;
    const rest = { kind: "moved", where: {}, leaves: without(cells.before.length, []) } as const;
    const none = { ...rest, ...ends, change, half: 0, rate: change, mix: 0 };
    return { before: was, after: is, half: 0, parts: [], rest: none, moves: [], halfOf: () => 0 };
  }
  const outcome = search(() => asItWas);
  const whole = all.r1 - all.r0;
  // A quantile moves as the share above its middle does, turned into its own unit.
  const scale =
    quantile === undefined || whole === 0 ? 1 : (quantile.after - quantile.before) / whole;
  /** Half the interval of the change of their rate. */
  const halfOf = (leaves: readonly number[]) =>
    (CONFIDENCES[0.95] * Math.sqrt(outcome.variance(leaves))) /
      total(asItWas.exposureAfter, leaves) || 0;
  const everything = without(cells.before.length, []);
  const part = (rows: Pick<Part, "where" | "leaves" | "rest" | "doubt">) => {
    const own = rateOf(cells, rows.leaves);
    const { middle, ...by } = contribution(own, all);
    const [mix, rate] = [by.mix * scale || 0, by.rate * scale || 0];
    const half = middle * halfOf(rows.leaves) * Math.abs(scale);
    const { n0, n1, r0, r1 } = own;
    const ends = { before: n0 > 0 ? r0 : null, after: n1 > 0 ? r1 : null };
    return { kind: "moved", ...rows, ...ends, change: mix + rate, half, rate, mix } as const;
  };
  const partOf = (one: Found, doubt?: "chance"): Part => {
    const own = part({ where: whereOf(cells, one), leaves: one.leaves, rest: one.rest, doubt });
    const isRelease = version >= 0 && cells.names[version]! in own.where;
    if (!isRelease || own.before === null || own.after === null) return own;
    const { n0, n1, r0 } = rateOf(given, one.leaves);
    const had = n0 === 0 ? null : n0 / all.n0;
    return { ...own, kind: "release rate", had, has: n1 / all.n1, was: r0 };
  };
  const isChanged = Math.abs(whole) > PART_TOLERANCE * all.r0;
  const likely = isChanged ? mixOf(cells, all, Math.abs(whole) > halfOf(everything)) : undefined;
  // What only may be is told where nothing else is.
  const isTold = likely?.doubt === undefined || outcome.named.length === 0;
  const mixed = isTold ? likely : undefined;
  const weigh = (column: Column) =>
    column.map((n, leaf) => n * mixed!.weights[cells.leaves.codes[mixed!.at]![leaf]!]!);
  // As if the mix had been that of after.
  const asMixed = () =>
    contrastOf({ ...cells, before: weigh(cells.before), partBefore: weigh(cells.partBefore) });
  const beside = mixed && mixed.doubt === undefined ? search(asMixed) : outcome;
  const parts = beside.named
    .map((one) => partOf(one))
    // The mix's own sentence gives the rates of its value.
    .filter(({ leaves }) => leaves.length !== mixed?.leaves.length);
  if (mixed !== undefined) {
    const taken = new Set(parts.flatMap((one) => one.leaves));
    const left = mixed.leaves.filter((leaf) => !taken.has(leaf));
    const { name, value } = mixed.fact;
    const own = part({ where: { [name]: value }, leaves: left });
    parts.unshift({ ...own, ...mixed.fact, doubt: mixed.doubt });
  } else if (beside.whole?.isCertain === true) {
    parts.push(wholePart());
  }
  // Beside a whole that moved, what stayed is but an exception.
  parts.sort(
    (a, b) =>
      Number(b.kind === "mix") - Number(a.kind === "mix") ||
      Math.abs(b.change) - Math.abs(a.change),
  );
  const [maybe] = outcome.maybe;
  if (parts.length === 0 && maybe !== undefined) parts.push(partOf(maybe, "chance"));
  if (parts.length === 0 && outcome.whole) parts.push(wholePart("chance"));
  function wholePart(doubt?: "chance"): Part {
    const own = part({ where: {}, leaves: without(cells.before.length, parts), doubt });
    return { ...own, open: openOf(cells, beside.rival) };
  }
  const isOpen = parts.every(({ doubt }) => doubt !== undefined);
  // Of a mean its own units: events are worth variance ÷ mean each.
  const perRow =
    cells.variance === undefined ? all.r0 : all.r0 ** 2 / Math.max(1e-9, cells.variance);
  const events = (perRow * Math.min(all.n0, all.n1)) / outcome.dispersion();
  const most = quantile !== undefined || cells.unit === "share" ? 1 / all.r0 - 1 : 2;
  return {
    before: was,
    after: is,
    half: halfOf(everything) * Math.abs(scale),
    parts,
    rest: part({ where: {}, leaves: without(cells.before.length, parts) }),
    moves: [],
    seen: isOpen ? seenOf(cells.leaves, events, most) : undefined,
    halfOf,
  };
}

/** Parts of rows, in units whose variance is about their mean. */
function contrastOf(cells: ChangeCells): Contrast {
  const { before, after, partBefore, partAfter, variance, leaves } = cells;
  const { n0, n1, r0, r1 } = rateOf(cells);
  const mean = (r0 * n0 + r1 * n1) / (n0 + n1);
  const unit = variance === undefined ? 1 : mean / Math.max(1e-9, variance);
  const scaled = (column: Column) => (unit === 1 ? column : column.map((n) => n * unit));
  return {
    leaves,
    after: scaled(partAfter),
    before: scaled(partBefore),
    exposureAfter: scaled(after),
    exposureBefore: scaled(before),
    ...usersOf(cells),
    isShare: variance === undefined && mean <= 1,
    isIndependent: cells.source === "rows" && variance === undefined,
    usualDispersion: RATE_CLUMP[cells.source],
    tolerance: (dims) => (dims.length === 0 ? TOTAL_TOLERANCE : PART_TOLERANCE),
  };
}

/** This part of another mix, or of another value's growth, is as good as all of it. */
const MOSTLY = 0.8;

/** The value of a dimension with most of a mix that makes up most of the change. */
interface Mix {
  readonly at: number;
  readonly leaves: readonly number[];
  /** By code: what the value's part of all rows became, as a factor. */
  readonly weights: Float64Array;
  readonly groups: number;
  readonly fact: MixShift;
}

/**
 * The mix of values that makes up most of the whole's change; undefined where none does. Doubtful where
 * users who came or went may have made it.
 */
function mixOf(
  cells: ChangeCells,
  all: Rate,
  isBeyondNoise: boolean,
): (Mix & Pick<Part, "doubt">) | undefined {
  const { version, program } = releaseDimensions(cells);
  // Where a program grows its versions do: the program is named.
  const mixes = [...cells.names.keys()]
    .filter((at) => at !== version || program < 0)
    .map((at) => mixIn(cells, all, at))
    .sort((a, b) => b.fact.part - a.fact.part);
  const grown = ({ fact }: Mix) => Math.abs(fact.is - fact.was);
  const [finest] = mixes;
  // Where a country grows its networks do: the country is named unless one network made it grow.
  const [best = finest] = mixes
    .filter((one) => one.fact.part > MOSTLY * finest!.fact.part)
    .filter((one) => one.groups < finest!.groups && grown(finest!) < MOSTLY * grown(one))
    .sort((a, b) => a.groups - b.groups);
  if (best === undefined || !(best.fact.part > 0.5)) return undefined;
  if (cells.source === "rows") return isBeyondNoise ? best : undefined;
  const size = cells.before.map((n, leaf) => n + cells.after[leaf]!);
  const rows: Contrast = {
    ...contrastOf(cells),
    after: cells.after,
    before: cells.before,
    exposureAfter: size,
    exposureBefore: size,
    isShare: false,
    isIndependent: false,
    usualDispersion: CLUMP.rows,
    tolerance: () => 0,
  };
  const price = Math.log(best.groups) + CAUTION;
  const isSure = isBeyondNoise && evidence(rows, best.leaves, all.n1 / all.n0) > price;
  return { ...best, doubt: isSure ? undefined : "few users" };
}

/** How the weights of a dimension's values moved the rate. */
function mixIn(cells: ChangeCells, all: Rate, at: number): Mix {
  const weights = new Float64Array(cells.leaves.sizes[at]!).fill(1);
  const values = [...leavesBy(cells.leaves.codes[at]!)].map(([code, leaves]) => {
    const own = rateOf(cells, leaves);
    const { mix, w0, w1, r0, r1 } = contribution(own, all);
    if (w0 > 0) weights[code] = w1 / w0;
    // What a few rows had says nothing of the rate.
    const known = Math.min(1, Math.max(own.n0, own.n1) / CLUMP.rows);
    return { value: cells.values[at]![code]!, leaves, mix: known * mix, was: w0, is: w1, r0, r1 };
  });
  const most = values.reduce((a, b) => (Math.abs(b.mix) > Math.abs(a.mix) ? b : a));
  const { value, leaves, was, is, r0, r1 } = most;
  const part = values.reduce((sum, { mix }) => sum + mix, 0) / (all.r1 - all.r0);
  const name = cells.names[at]!;
  const fact: MixShift = { kind: "mix", name, value, was, is, r0, r1, part };
  return { at, leaves, weights, groups: values.length, fact };
}
