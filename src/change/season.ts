import { usualLength, stepOf, type Bucket } from "../time/step.js";
import { mediansWithin } from "./segments.js";
import { DAY, WEEK } from "../time/span.js";
import { median } from "../base/statistics.js";

/** Days and weeks that a season needs: with fewer, a change looks like one. */
const DAYS = 4;
const WEEKS = 2;
const HOURLY_WEEKS = 4;

/** A series without its season, in its own unit, and what was removed. */
export interface Deseasoned {
  readonly values: Float64Array;
  /** How sure each value is: by the spread of its time of day. */
  readonly weights: Float64Array;
  readonly seasons: readonly ("day" | "week")[];
}

/**
 * Removes the day and the week, as far as the buckets divide them and the series is long enough (4
 * days, 2 weeks): medians, by the time of day and then by the time of week, of the values' departure
 * from a running median over a day or a week, which is what keeps changes and outliers out of the
 * season (the robust version of classical decomposition; cf. STL, Cleveland et al. 1990). Counts are
 * divided by their season, everything else has it subtracted.
 *
 * @param values NaN where nothing is known.
 * @param local the buckets' starts in ms since 1970, as if the clock of their zone were UTC's.
 */
export function withoutSeason(
  values: Float64Array,
  local: readonly number[],
  { every, counts }: { every: Bucket; counts: boolean },
): Deseasoned {
  const { begins } = stepOf(every);
  const size = usualLength(every);
  const weights = new Float64Array(values.length).fill(1);
  const slots = (cycle: number): number => (begins === "month" || size >= cycle ? 0 : cycle / size);
  const known = values.filter((v) => !isNaN(v)).length;
  const isKnown = (cycle: number, cycles: number): boolean =>
    Number.isInteger(slots(cycle)) && slots(cycle) > 1 && known >= slots(cycle) * cycles;
  const seasons: ("day" | "week")[] = [];
  let y = values;
  if (isKnown(DAY, DAYS)) {
    y = seasonRemoved(y, local, { cycle: DAY, slot: size, size, counts, near: 0.25 });
    seasons.push("day");
  }
  if (isKnown(WEEK, WEEKS)) {
    // Few weeks tell the days apart, not yet their hours.
    const slot = isKnown(WEEK, HOURLY_WEEKS) ? size : Math.max(size, DAY);
    y = seasonRemoved(y, local, { cycle: WEEK, slot, size, counts, near: 1.5 });
    seasons.push("week");
  }
  if (isKnown(DAY, 2 * DAYS)) spreadWeights(y, local, size, weights);
  return { values: y, weights, seasons };
}

interface Cycle {
  /** All in milliseconds: the cycle, what has one value of the season, and a bucket. */
  readonly cycle: number;
  readonly slot: number;
  readonly size: number;
  readonly counts: boolean;
  /** Hours on either side that may help where a slot has few values. */
  readonly near: number;
}

function seasonRemoved(y: Float64Array, local: readonly number[], at: Cycle): Float64Array {
  const { cycle, slot, size } = at;
  const width = Math.round(cycle / size);
  const slotOf = (ms: number): number => Math.floor((((ms % cycle) + cycle) % cycle) / slot);
  let level = levelOver(y, width);
  // Where the level itself is nothing, nothing can be divided by it.
  const divide = at.counts && level.every((v) => !(v <= 0));
  let without = y;
  // The level of what has no season shows changes better, and they leave the season then.
  for (let pass = 0; pass < 3; pass++) {
    if (pass > 0) level = levelOver(without, width);
    const away = y.map((v, i) => (divide ? v / level[i]! : v - level[i]!));
    const season = medianBySlot(away, local, at, slotOf, divide ? 1 : 0);
    const found = season.filter((v) => !isNaN(v));
    const mean = found.reduce((sum, v) => sum + v, 0) / found.length;
    without = y.map((v, i) => {
      const here = season[slotOf(local[i]!)]!;
      if (isNaN(here)) return v;
      // A time of day at which there is next to nothing tells nothing of the level.
      if (divide) return here > 0.02 * mean ? (v * mean) / here : NaN;
      return v - here + mean;
    });
  }
  return without;
}

function medianBySlot(
  away: Float64Array,
  local: readonly number[],
  { cycle, slot, near: hours }: Cycle,
  slotOf: (ms: number) => number,
  usual: number,
): number[] {
  const slots = Math.round(cycle / slot);
  const first = local[0] ?? 0;
  // By slot, and in it by day or week.
  const bySlot = Array.from({ length: slots }, (): number[][] => []);
  away.forEach((v, i) => {
    if (isNaN(v)) return;
    const cycles = bySlot[slotOf(local[i]!)]!;
    (cycles[Math.floor((local[i]! - first) / cycle)] ??= []).push(v);
  });
  const most = Math.floor((hours * 3_600_000) / slot);
  return bySlot.map((own, at) => {
    const near = own.map((values) => [...values]);
    for (let k = 1; k <= most && near.flat().length < 9; k++) {
      for (const side of [at + k, at - k + slots]) {
        bySlot[side % slots]!.forEach((values, c) => (near[c] ??= []).push(...values));
      }
    }
    const medians = near.map(median).filter((v) => !isNaN(v));
    if (medians.length > 2) return median(near.flat());
    // Of two cycles the season is what both show; a change is in one.
    const [a = NaN, b = a] = medians.map((v) => v - usual);
    return isNaN(a)
      ? NaN
      : usual + (a * b > 0 ? Math.sign(a) * Math.min(Math.abs(a), Math.abs(b)) : 0);
  });
}

/** Weights by the spread of each time of day (with an hour on either side), at most 5 times up or down. */
function spreadWeights(
  y: Float64Array,
  local: readonly number[],
  size: number,
  weights: Float64Array,
): void {
  const slots = Math.round(DAY / size);
  const level = levelOver(y, slots);
  const away = y.map((v, i) => Math.abs(v - level[i]!));
  const slotOf = (ms: number): number => Math.floor((((ms % DAY) + DAY) % DAY) / size);
  const bySlot = Array.from({ length: slots }, (): number[] => []);
  away.forEach((v, i) => {
    if (!isNaN(v)) bySlot[slotOf(local[i]!)]!.push(v);
  });
  const most = Math.max(1, Math.floor(3_600_000 / size));
  const spread = bySlot.map((own, slot) => {
    const near = [...own];
    for (let k = 1; k <= Math.min(most, slots >> 1); k++) {
      near.push(...bySlot[(slot + k) % slots]!, ...bySlot[(slot - k + slots) % slots]!);
    }
    return median(near);
  });
  const usual = median(spread.filter((v) => v > 0));
  if (!(usual > 0)) return;
  local.forEach((ms, i) => {
    const ratio = usual / (spread[slotOf(ms)] ?? usual);
    weights[i] = Math.max(0.2, Math.min(5, ratio > 0 ? ratio * ratio : 1));
  });
}

/** The median of the known values in a whole cycle around each: at the ends of the first or the last one. */
function levelOver(y: Float64Array, slots: number): Float64Array {
  return mediansWithin(y, (i) => {
    const from = Math.max(0, Math.min(y.length - slots, i - (slots >> 1)));
    return [from, Math.min(y.length, from + slots)];
  });
}
