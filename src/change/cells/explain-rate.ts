import { CONFIDENCES } from "../../query/wilson.js";
import type { ChangeCells } from "./cells.js";
import { cuboidsOf, leavesBy, sumOver, without, type Cuboid } from "./cuboids.js";
import type { Account, MixShift, Part, Unseen } from "./account.js";
import { rateCauses, type RateCauses } from "./rate-causes.js";
import { userDimensions, usersOf } from "./users.js";
import { namedRows, releaseDimensions, upgrade } from "./releases.js";
import {
  LEAST_REST,
  CERTAIN,
  CLUMP,
  ALIKE_RATIO,
  NAMED,
  RATE_CLUMP,
  PART_TOLERANCE,
  TOTAL_TOLERANCE,
  priceOf,
} from "./thresholds.js";

/** Rows and rate, before and after. */
interface Rate {
  readonly n0: number;
  readonly n1: number;
  readonly r0: number;
  readonly r1: number;
}

/** Of some leaves, or of all. */
export function rateOf(cells: ChangeCells, leaves?: readonly number[]): Rate {
  const [n0, n1] = [sumOver(cells.before, leaves), sumOver(cells.after, leaves)];
  const [part0, part1] = [sumOver(cells.partBefore, leaves), sumOver(cells.partAfter, leaves)];
  return { n0, n1, r0: part0 / n0, r1: part1 / n1 };
}

/** What a part contributes to the change of all, by its rate and by its weight (Kitagawa 1955), and its middle weight. */
export function contribution(own: Rate, all: Rate) {
  const w0 = all.n0 > 0 ? own.n0 / all.n0 : 0;
  const w1 = all.n1 > 0 ? own.n1 / all.n1 : 0;
  // A part without rows has the rate that it has on the other side: it changed by its weight alone.
  const r0 = own.n0 > 0 ? own.r0 : own.n1 > 0 ? own.r1 : 0;
  const r1 = own.n1 > 0 ? own.r1 : r0;
  const middle = (w0 + w1) / 2;
  const mix = (w1 - w0) * ((r0 + r1) / 2 - (all.r0 + all.r1) / 2);
  return { mix, rate: middle * (r1 - r0), middle, r0, r1 };
}

/**
 * The change of a share, mean or quantile: the dimension whose mix of values makes up most of it, then
 * parts whose own rate changed; else what all rows did alike. Each contributes by its rate and by its weight.
 */
export function rateAccount(given: ChangeCells): Account {
  const cells = expected(given);
  const { before, partBefore, variance, quantile } = cells;
  const all = rateOf(cells);
  const whole = all.r1 - all.r0;
  // A quantile moves as the share above its middle does, turned into its own unit.
  const scale =
    quantile === undefined || whole === 0 ? 1 : (quantile.after - quantile.before) / whole;
  const relative = variance === undefined ? undefined : variationOf(cells, variance);
  const cuboids = cuboidsOf(cells.leaves);
  const asItWas = rateSearch(cells, cuboids);
  /** Half the interval of the difference of two rates. */
  const error = ({ n0, n1, r0, r1 }: Rate) => {
    const variance = spreadOf(cells, { n0, n1, r0, r1 }, relative) * asItWas.noise;
    return Math.sqrt(variance * (1 / Math.max(1, n0) + 1 / Math.max(1, n1)));
  };
  const part = (rows: Pick<Part, "where" | "leaves" | "rest">) => {
    const own = rateOf(cells, rows.leaves);
    const { n0, n1 } = own;
    const { middle, r0, r1, ...by } = contribution(own, all);
    const [mix, rate] = [by.mix * scale || 0, by.rate * scale || 0];
    const off = error({ n0, n1, r0, r1 });
    const half = n0 + n1 > 0 ? CONFIDENCES[0.95] * middle * off * Math.abs(scale) : 0;
    const ends = { before: n0 > 0 ? own.r0 : null, after: n1 > 0 ? own.r1 : null };
    return { kind: "moved", ...rows, ...ends, change: mix + rate, half, rate, mix } as const;
  };
  const { version } = releaseDimensions(cells);
  const likely = mixOf(cells);
  // What only may be is told where nothing else is.
  const isTold = likely?.doubt === undefined || asItWas.causes.length === 0;
  const mixed = isTold ? likely : undefined;
  const real = Math.abs(whole) > Math.max(CERTAIN * error(all), TOTAL_TOLERANCE * Math.abs(all.r0));
  const weigh = (column: Float64Array) =>
    column.map((n, leaf) => n * mixed!.weights[cells.leaves.codes[mixed!.at]![leaf]!]!);
  const { causes } =
    mixed === undefined || mixed.doubt !== undefined
      ? asItWas
      : // As if the mix had been that of after.
        rateSearch({ ...cells, before: weigh(before), partBefore: weigh(partBefore) }, cuboids);
  const parts = causes.flatMap((each): Part[] => {
    const { where, leaves, rest } = namedRows(cells, each);
    const own = part({ where, leaves, rest });
    // The mix's own sentence gives the rates of its value.
    const isMix = own.leaves.length === mixed?.leaves.length;
    if (isMix && left(mixed.leaves, [own]).length === 0) return [];
    const isRelease = version >= 0 && cells.names[version]! in where;
    if (!isRelease || own.before === null || own.after === null) return [own];
    const { n0, n1, r0: was } = rateOf(given, own.leaves);
    const had = n0 === 0 ? null : n0 / all.n0;
    return [{ ...own, kind: "release rate", had, has: n1 / all.n1, was }];
  });
  if (mixed !== undefined) {
    const own = part({ where: { [mixed.name]: mixed.value }, leaves: left(mixed.leaves, parts) });
    parts.unshift({ ...own, ...mixed.fact, doubt: mixed.doubt });
  } else if (
    real &&
    parts.reduce((sum, { change }) => sum + change, 0) / (whole * scale) < ALIKE_RATIO
  ) {
    parts.push(part({ where: {}, leaves: without(before.length, parts) }));
  }
  const ends = { before: all.n0 > 0 ? all.r0 : null, after: all.n1 > 0 ? all.r1 : null };
  if (parts.length === 0) {
    const { maybe } = asItWas;
    if (maybe) {
      const { where, leaves, rest } = namedRows(cells, maybe);
      parts.push({ ...part({ where, leaves, rest }), doubt: "chance" });
    }
  }
  const rest = part({ where: {}, leaves: without(before.length, parts) });
  const isOpen = parts.every(({ doubt }) => doubt !== undefined);
  const unseen = isOpen ? unseenOf(cells, all, asItWas.least) : undefined;
  const { before: was, after: is } = quantile ?? ends;
  return { before: was, after: is, parts, rest, moves: [], unseen, noise: () => asItWas.noise };
}

/** The elements whose own rates changed. */
function rateSearch(cells: ChangeCells, cuboids: readonly Cuboid[]) {
  const { before, after, partBefore, partAfter, variance, source } = cells;
  return rateCauses(
    {
      ...cells.leaves,
      allBefore: before,
      partBefore,
      allAfter: after,
      partAfter,
      ...(variance !== undefined && { variation: variationOf(cells, variance) }),
      users: userDimensions(cells),
      usualNoise: source === "rows" ? 1 : RATE_CLUMP[source === "runs" ? "runs" : "measurements"],
    },
    cuboids,
  );
}

/** What was to be expected of each release, as users went from one to the next with what they had. */
function expected(given: ChangeCells): ChangeCells {
  const moved = upgrade(given, given);
  return { ...given, before: moved(given.before), partBefore: moved(given.partBefore) };
}

/** The variance of a row drawn alone; of a mean by what rows of its leaf vary by. */
function spreadOf(cells: ChangeCells, { n0, n1, r0, r1 }: Rate, relative?: number): number {
  const rate = (r0 * n0 + r1 * n1) / (n0 + n1);
  if (relative !== undefined) return relative * rate * rate;
  return cells.variance ?? Math.max(0, rate * (1 - rate));
}

/**
 * The mix of values that makes up most of the whole's change; undefined where none does, or hardly any
 * changed. A guess where users who came or went may have made it.
 */
function mixOf(cells: ChangeCells) {
  const all = rateOf(cells);
  const whole = all.r1 - all.r0;
  const error = CERTAIN * Math.sqrt(spreadOf(cells, all) * (1 / all.n0 + 1 / all.n1));
  if (!(Math.abs(whole) > Math.max(error, PART_TOLERANCE * Math.abs(all.r0)))) return undefined;
  const shift = mostMixed(cells, all);
  if (!(shift.mix / whole > ALIKE_RATIO)) return undefined;
  const { name, value, was, is, r0, r1 } = shift;
  const fact: MixShift = { kind: "mix", name, value, was, is, r0, r1, part: shift.mix / whole };
  const known = { ...shift, fact };
  if (cells.source === "rows") return { ...known, doubt: undefined };
  const { runs: _, ...rows } = cells;
  const none = new Float64Array(cells.before.length);
  const users = usersOf(rows, new Uint8Array(none.length), all.n1 / all.n0 / cells.ratio, none);
  const price = NAMED * priceOf(cells.names.length, shift.groups.length);
  const isSure = !users.known || users.against(shift.leaves) >= price;
  return { ...known, doubt: isSure ? undefined : ("few users" as const) };
}

/** Parts of the rows for which it is said what would have been seen of them. */
const LOOKED_AT = [0.05, 0.1, 0.25, 0.5];

/** What change would have been seen: the least that a part of the rows had to move by. */
function unseenOf(
  { quantile, unit }: ChangeCells,
  { n0, n1, r0: rate }: Rate,
  least: RateCauses["least"],
): Unseen | undefined {
  if (!(n0 > 0 && n1 > 0)) return undefined;
  // A quantile moves as the share above its middle does.
  const most = quantile !== undefined || unit === "share" ? 1 - rate : 2 * rate;
  const part = LOOKED_AT.find((part) => least(part) < most);
  return part === undefined ? { of: "anything" } : { of: "moves", part, rate, least: least(part) };
}

/** Leaves that are of no part. */
function left(leaves: readonly number[], parts: readonly Part[]): number[] {
  const taken = new Set(parts.flatMap((one) => one.leaves));
  return leaves.filter((leaf) => !taken.has(leaf));
}

/**
 * The variance of a row's value by the square of what is to be expected of it, by its leaf: values of
 * a program whose runs take longer scatter more.
 */
function variationOf(cells: ChangeCells, variance: number): number {
  const { before, after, partBefore, partAfter } = cells;
  const { n0, n1, r0, r1 } = rateOf(cells);
  const mean = (r0 * n0 + r1 * n1) / (n0 + n1);
  let squares = 0;
  before.forEach((was, leaf) => {
    const n = was + after[leaf]!;
    const own = (partBefore[leaf]! + partAfter[leaf]! + mean) / (n + 1);
    squares += n * own * own;
  });
  const total = (n0 + n1) * (variance + mean * mean);
  return Math.max(0.01, total / squares - 1);
}

/** The dimension whose values' weights make up most of a rate's change, and the value with most of it. */
function mostMixed(cells: ChangeCells, all: Rate) {
  const middle = (all.r0 + all.r1) / 2;
  const { version, program } = releaseDimensions(cells);
  // Where a program grows its versions do: the program is named.
  const list = cells.names.flatMap((name, at) => {
    if (at === version && program >= 0) return [];
    const weights = new Float64Array(cells.leaves.sizes[at]!).fill(1);
    const values = [...leavesBy(cells.leaves.codes[at]!)].map(([code, leaves]) => {
      const { n0, n1, r0, r1 } = rateOf(cells, leaves);
      const [own0, own1] = [n0 > 0 ? r0 : r1, n1 > 0 ? r1 : r0];
      const [was, is] = [n0 / all.n0, n1 / all.n1];
      if (was > 0) weights[code] = is / was;
      // What a run or two had says nothing of the rate.
      const [few0, few1] = [n0 + CLUMP.rows, n1 + CLUMP.rows];
      const usual = (own0 * n0 + own1 * CLUMP.rows) / few0 + (own1 * n1 + own0 * CLUMP.rows) / few1;
      const mix = n0 + n1 > 0 ? (is - was) * (usual / 2 - middle) : 0;
      return { value: cells.values[at]![code]!, leaves, mix, was, is, r0: own0, r1: own1 };
    });
    const most = values.reduce((a, b) => (Math.abs(b.mix) > Math.abs(a.mix) ? b : a));
    const mix = values.reduce((sum, { mix }) => sum + mix, 0);
    return [{ name, at, weights, groups: values, ...most, mix }];
  });
  const sign = Math.sign(all.r1 - all.r0);
  const best = list.reduce((a, b) => (b.mix * sign > a.mix * sign ? b : a));
  const rowsOf = (leaves?: readonly number[]) =>
    sumOver(cells.before, leaves) + sumOver(cells.after, leaves);
  // Where a country grows its networks do: the country is named unless one network made it grow.
  const coarser = list.find(({ at, mix, was, is }) => {
    if (mix / best.mix < 1 - LEAST_REST || (best.is - best.was) / (is - was) > 1 - LEAST_REST)
      return false;
    const own = best.groups.map(({ leaves }) =>
      [...leavesBy(cells.leaves.codes[at]!, leaves).values()].reduce(
        (most, some) => Math.max(most, rowsOf(some)),
        0,
      ),
    );
    return own.reduce((sum, rows) => sum + rows, 0) > (1 - LEAST_REST) * rowsOf();
  });
  return coarser ?? best;
}
