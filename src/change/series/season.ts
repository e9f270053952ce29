import { median } from "../../base/statistics.js";
import { DAY, WEEK } from "../../time/span.js";
import { stepOf, usualLength, type Bucket } from "../../time/step.js";

/** Whole cycles that a season needs: with fewer, a change looks like one. */
const LEAST_DAYS = 4;
const LEAST_WEEKS = 2;
/** Weeks from which the hours of a week are kept apart; with fewer, only its days. */
const HOURLY_WEEKS = 4;
/** A time of day with less than this share of the mean says nothing about the level. */
const LEAST_SEASON = 0.02;

/**
 * Removes the day and the week, as far as the buckets divide them and the series is long enough:
 * classical decomposition with medians (the robust loop of STL; Cleveland et al. 1990). Counts are
 * divided by their season, everything else has it subtracted.
 *
 * @param values NaN where nothing is known.
 * @param local the buckets' starts in ms since 1970, as if the clock of their zone were UTC's.
 */
export function withoutSeason(
  values: Float64Array,
  local: readonly number[],
  { every, counts }: { every: Bucket; counts: boolean },
): Float64Array {
  const size = usualLength(every);
  const known = values.filter((value) => !isNaN(value)).length;
  const divides = (cycle: number, cycles: number) =>
    stepOf(every).begins !== "month" &&
    size < cycle &&
    cycle % size === 0 &&
    known >= (cycle / size) * cycles;
  const slots = (cycle: number, slot: number) =>
    Int32Array.from(local, (ms) => Math.floor((((ms % cycle) + cycle) % cycle) / slot));
  let rest = values;
  if (divides(DAY, LEAST_DAYS)) rest = withoutCycle(rest, slots(DAY, size), DAY / size, counts);
  if (divides(WEEK, LEAST_WEEKS)) {
    const slot = divides(WEEK, HOURLY_WEEKS) ? size : Math.max(size, DAY);
    rest = withoutCycle(rest, slots(WEEK, slot), WEEK / size, counts);
  }
  return rest;
}

/**
 * Removes what repeats: the median, by slot, of the values' departure from a running median over a
 * whole cycle, which keeps changes and outliers out of it.
 *
 * @param slots which part of the cycle each value belongs to.
 * @param width values in a cycle.
 */
export function withoutCycle(
  values: Float64Array,
  slots: Int32Array,
  width: number,
  divide: boolean,
): Float64Array {
  let rest = values;
  // The level of what has no season shows changes better, and they leave the season then.
  for (let pass = 0; pass < 2; pass++) {
    const level = runningMedian(rest, width);
    // Where the level itself is nothing, as in an outage, nothing can be divided by it.
    const ratio = divide && level.filter((value) => value > 0).length > level.length / 2;
    const away = values.map((value, at) => {
      if (!ratio) return value - level[at]!;
      return level[at]! > 0 ? value / level[at]! : NaN;
    });
    const season = mediansBySlot(away, slots);
    const found = season.filter((value) => !isNaN(value));
    const mean = found.reduce((sum, value) => sum + value, 0) / found.length;
    rest = values.map((value, at) => {
      const here = season[slots[at]!]!;
      if (isNaN(here)) return value;
      if (!ratio) return value - here + mean;
      return here > LEAST_SEASON * mean ? (value * mean) / here : NaN;
    });
  }
  return rest;
}

function mediansBySlot(away: Float64Array, slots: Int32Array): number[] {
  const own: number[][] = [];
  away.forEach((value, at) => {
    const slot = (own[slots[at]!] ??= []);
    if (!isNaN(value)) slot.push(value);
  });
  return Array.from(own, (values) => median(values ?? []));
}

/** The median of the known values in a window of `width` around each; at the ends of the first or the last window. */
export function runningMedian(values: Float64Array, width: number): Float64Array {
  return values.map((_, at) => {
    const from = Math.max(0, Math.min(values.length - width, at - (width >> 1)));
    return median(values.subarray(from, from + width).filter((value) => !isNaN(value)));
  });
}
