import { type Season } from "./expected.js";
import { median } from "../base/statistics.js";

/** A fall of the level over weeks. */
export interface Decline {
  /** The first bucket of the weeks looked at, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** The share by which the fitted level fell, from 0 to 1. */
  readonly fall: number;
}

const FEWEST_WEEKS = 5;
const MOST_WEEKS = 8;
/** A smaller fall, 2 % a week, is nobody's alarm, however surely it is there. */
const LEAST_FALL = 0.15;

/**
 * The declines that each end of a week tells by the five to eight weeks before it: the level of a
 * week is the median of how its buckets differ from the median of the same bucket of all weeks
 * (median polish; Tukey, Exploratory Data Analysis, 1977), so that outages and holidays don't count,
 * and the slope of the levels is tested with Student's t, one-sided.
 *
 * @param logs the series on the log scale, NaN where nothing is known.
 * @param perWeek how many false alarms a week may have: the test's level.
 */
export function declines(logs: ArrayLike<number>, season: Season, perWeek: number): Decline[] {
  const { week } = season;
  const found: Decline[] = [];
  let alarmed = false;
  for (let to = FEWEST_WEEKS * week; to <= logs.length; to += week) {
    const weeks = Math.min(MOST_WEEKS, to / week);
    const from = to - weeks * week;
    const levels = weekLevels(logs, from, weeks, week);
    if (levels.some(Number.isNaN)) continue;
    const { slope, p } = fallTest(levels);
    const fall = 1 - Math.exp(slope * (weeks - 1));
    const falls = p < perWeek && fall >= LEAST_FALL;
    // One alarm for a decline that goes on.
    if (falls && !alarmed) found.push({ from, to, fall });
    alarmed = falls;
  }
  return found;
}

function weekLevels(logs: ArrayLike<number>, from: number, weeks: number, week: number): number[] {
  const apart: number[][] = Array.from({ length: weeks }, () => []);
  for (let slot = 0; slot < week; slot++) {
    const same = apart.map((_, k) => logs[from + k * week + slot]!);
    const usual = median(same.filter((value) => !Number.isNaN(value)));
    same.forEach((value, k) => {
      if (!Number.isNaN(value)) apart[k]!.push(value - usual);
    });
  }
  return apart.map((values) => median(values));
}

/** The least-squares slope of evenly spaced values and the chance of one as low where there is none. */
export function fallTest(values: readonly number[]): { slope: number; p: number } {
  const n = values.length;
  const middle = (n - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const square = (n * (n * n - 1)) / 12;
  const slope = values.reduce((sum, value, at) => sum + (at - middle) * value, 0) / square;
  const rest = values.reduce(
    (sum, value, at) => sum + (value - mean - slope * (at - middle)) ** 2,
    0,
  );
  const error = Math.sqrt(rest / (n - 2) / square);
  return { slope, p: error === 0 ? (slope < 0 ? 0 : 1) : studentBelow(slope / error, n - 2) };
}

/** P(T <= t) of Student's t with whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4). */
export function studentBelow(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const cosine = Math.cos(angle);
  const odd = freedom % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let k = odd ? 3 : 2; k < freedom; k += 2) {
    term *= (cosine ** 2 * (k - 1)) / k;
    sum += term;
  }
  const within = Math.sin(angle) * sum;
  return 0.5 + (odd ? (angle + within) / Math.PI : within / 2);
}
