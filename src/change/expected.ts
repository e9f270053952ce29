import { median } from "../base/statistics.js";

/**
 * The numeric core of `alarm`: what a series is expected to hold next, and how far
 * below that it came. Typed arrays and numbers only; whatever is told of a bucket depends on it and
 * on buckets before it.
 *
 * On the logarithm of the values: the usual value is the mean of the middle half of the same time of
 * day of the last 28 days plus a weekly deviation (a middle half, too, so that outages and holidays
 * among the past weeks don't count; it scatters a sixth less than a median); what it misses is followed by an autoregression, fitted recursively with ridge and
 * forgetting (Hyndman and Athanasopoulos, Forecasting: Principles and Practice, 3rd ed., chapter 10;
 * Ljung and Söderström, Theory and Practice of Recursive Identification, 1983) on errors clipped at
 * three spreads (Huber, 1964). The spread is that of the time of day, at least that of a Poisson
 * count.
 */

/** How many buckets a day and a week have; a day of 1 where the buckets are longer. */
export interface Season {
  readonly day: number;
  readonly week: number;
}

/** What is known of a bucket before and after its value. On the log scale but for `score`. */
export interface Expected {
  /** The usual value at the level of the last week: what past weeks alone lead one to expect. */
  readonly usual: number;
  /** The same with the latest buckets followed. */
  readonly next: number;
  /** The standard deviation of the value around `next`. */
  readonly spread: number;
  /** How many spreads the value and the one before together came below, or it alone beyond {@link ALONE}; null without a value. */
  readonly score: number | null;
}

const WEEKS = 8;
const DAYS = 28;
const FEATURES = 8;
const RIDGE = 20;
const FORGET = 0.998;
const CLIP = 3;
/** Beyond that a residual is an outage or a burst, and tells nothing of the next one. */
const MOST_RESIDUAL = 1.5;
/** The share of the spread of its own hour of the day; the rest is that of all hours. */
const OWN_HOUR = 0.6;

/** After a burst nobody knows how quickly it ends: a tenth of its square is added to the variance. */
const BURST = 0.1;

/**
 * A bucket alone must come that many spreads further below: a drop lasts longer than one, and so two
 * in a row can be told at a lower threshold, at the same rate of false alarms.
 */
export const ALONE = 0.8;

/** One series, read forward. */
export class Flow {
  readonly #season: Season;
  readonly #floor: number;
  readonly #counts: boolean;
  /** Log values, their usual values by time of day, residuals from the usual value; NaN is missing. */
  readonly #logs: number[] = [];
  readonly #daily: number[] = [];
  readonly #residuals: number[] = [];
  /** Sums of the clipped residuals before each bucket, and how many there were. */
  readonly #sums: number[] = [0];
  readonly #known: number[] = [0];
  readonly #gram = new Float64Array(FEATURES * FEATURES);
  readonly #moments = new Float64Array(FEATURES);
  readonly #hours = new Float64Array(24).fill(NaN);
  #variance = 0.05;
  #learnt = 0;
  #level = 0;
  #before = { error: NaN, variance: NaN };

  /**
   * @param floor is added before the logarithm, so that 0 has one: 1 for counts.
   * @param counts whether the values are counts, which scatter at least as a Poisson process does.
   */
  constructor(season: Season, floor = 1, counts = true) {
    this.#season = season;
    this.#floor = floor;
    this.#counts = counts;
    for (let at = 0; at < FEATURES; at++) this.#gram[at * FEATURES + at] = RIDGE;
  }

  /** The value of a place on the log scale. */
  value(log: number): number {
    return Math.max(0, Math.exp(log) - this.#floor);
  }

  /** Takes the next bucket's value, null where none is known. */
  next(value: number | null): Expected {
    const at = this.#logs.length;
    const { day, week } = this.#season;
    const log = value === null ? NaN : Math.log(value + this.#floor);
    const daily = this.#dailyUsual(at);
    const { wide, narrow } = this.#weeklyUsual(at);
    const usual = (Number.isNaN(daily) ? (value === null ? 0 : log) : daily) + wide;

    const features = [
      this.#residual(at - 1),
      this.#residual(at - 2),
      this.#meanResidual(at, 4),
      this.#meanResidual(at, Math.max(day, 7)),
      this.#residual(at - day),
      narrow - wide,
      Math.min(this.#residual(at - 1), this.#residual(at - 2), this.#residual(at - 3)),
      this.#meanResidual(at, week),
    ];
    const weights = at > week + day ? this.#weights() : START;
    const followed = features.reduce((sum, each, i) => sum + each * weights[i]!, 0);
    const next = usual + followed;

    const hour = Math.floor(((at % day) * 24) / day);
    const own = Number.isNaN(this.#hours[hour]!) ? this.#variance : this.#hours[hour]!;
    const expected = Math.max(0.3, Math.exp(next) - this.#floor / 2);
    const poisson = this.#counts ? 1 / (expected + 0.5) : 0;
    const steady = own * OWN_HOUR + this.#variance * (1 - OWN_HOUR) + poisson;
    const burst = Math.max(0, features[0]!, features[1]! / 2);
    const variance = steady + BURST * burst ** 2;
    const spread = Math.sqrt(variance);

    const error = log - next;
    let score: number | null = null;
    if (!Number.isNaN(error)) {
      const clipped = clip(error, CLIP * Math.sqrt(steady));
      if (at > week) this.#learn(features, followed + clipped, hour, clipped, steady, poisson);
      score = -error / spread - ALONE;
      // Two in a row: the second against what would be expected had the first come as it should.
      if (!Number.isNaN(this.#before.error)) {
        const carried = weights[0]! + weights[2]! / 4 + Math.max(0, weights[6]!);
        const missed = Math.min(0, this.#before.error);
        const both = error + carried * missed + this.#before.error;
        score = Math.max(score, -both / Math.sqrt(variance + this.#before.variance));
      }
    }
    const level = this.#slowLevel(at);
    this.#before = { error, variance };
    this.#logs.push(log);
    this.#daily.push(daily);
    this.#push(log - usual);
    return { usual: usual + level, next, spread, score };
  }

  #push(residual: number): void {
    const missing = Number.isNaN(residual);
    this.#residuals.push(missing ? NaN : residual);
    this.#sums.push(this.#sums.at(-1)! + (missing ? 0 : clip(residual, MOST_RESIDUAL)));
    this.#known.push(this.#known.at(-1)! + (missing ? 0 : 1));
  }

  #residual(at: number): number {
    const residual = this.#residuals[at] ?? NaN;
    return Number.isNaN(residual) ? 0 : clip(residual, MOST_RESIDUAL);
  }

  #meanResidual(at: number, count: number): number {
    const from = Math.max(0, at - count);
    const known = this.#known[at]! - this.#known[from]!;
    return known === 0 ? 0 : (this.#sums[at]! - this.#sums[from]!) / known;
  }

  #dailyUsual(at: number): number {
    const { day } = this.#season;
    const same: number[] = [];
    for (let k = 1; k <= DAYS; k++) keep(same, this.#logs[at - day * k]);
    return middleHalf(same);
  }

  /** How the hour of the week differs from its time of day: it alone, and with its neighbours. */
  #weeklyUsual(at: number): { wide: number; narrow: number } {
    const { day, week } = this.#season;
    if (week === day) return { wide: 0, narrow: 0 };
    const reach = day >= 12 ? 2 : 0;
    const own: number[] = [];
    const near: number[] = [];
    for (let k = 1; k <= WEEKS; k++) {
      for (let by = -reach; by <= reach; by++) {
        const place = at - week * k + by;
        if (place < day) continue;
        const deviation = this.#logs[place]! - this.#daily[place]!;
        keep(near, deviation);
        if (by === 0) keep(own, deviation);
      }
    }
    const wide = near.length === 0 ? 0 : (middleHalf(near) * near.length) / (near.length + 2);
    return { wide, narrow: own.length >= 2 ? median(own) : wide };
  }

  /** The median residual of the last week, taken once an hour: an outage of hours doesn't move it. */
  #slowLevel(at: number): number {
    const { day, week } = this.#season;
    if (at % Math.max(1, Math.floor(day / 24)) === 0) {
      const last: number[] = [];
      for (let i = Math.max(0, at - Math.max(week, 7)); i < at; i++) keep(last, this.#residuals[i]);
      if (last.length > 0) this.#level = median(last);
    }
    return this.#level;
  }

  #learn(
    features: readonly number[],
    target: number,
    hour: number,
    clipped: number,
    variance: number,
    poisson: number,
  ): void {
    const squared = clipped ** 2;
    const weight = 0.05 / variance;
    for (let i = 0; i < FEATURES; i++) {
      for (let j = 0; j < FEATURES; j++) {
        const at = i * FEATURES + j;
        this.#gram[at] = this.#gram[at]! * FORGET + weight * features[i]! * features[j]!;
      }
      this.#gram[i * FEATURES + i]! += RIDGE * (1 - FORGET);
      this.#moments[i] = this.#moments[i]! * FORGET + weight * features[i]! * target;
    }
    // Clipping takes a tenth of the variance; what a Poisson process explains isn't counted twice.
    const own = Math.max(squared - poisson, squared * 0.1) * 1.1;
    const known = this.#hours[hour]!;
    this.#hours[hour] = Number.isNaN(known)
      ? 0.3 * own + 0.7 * this.#variance
      : known * 0.93 + own * 0.07;
    const gain = Math.max(0.005, 1 / (++this.#learnt + 2));
    this.#variance = this.#variance * (1 - gain) + own * gain;
  }

  /** Ridge regression by Cholesky's decomposition; the matrix is positive definite. */
  #weights(): Float64Array {
    const n = FEATURES;
    const lower = Float64Array.from(this.#gram);
    const x = Float64Array.from(this.#moments);
    for (let j = 0; j < n; j++) {
      for (let i = j; i < n; i++) {
        let sum = lower[i * n + j]!;
        for (let k = 0; k < j; k++) sum -= lower[i * n + k]! * lower[j * n + k]!;
        lower[i * n + j] = i === j ? Math.sqrt(sum) : sum / lower[j * n + j]!;
      }
    }
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) x[i]! -= lower[i * n + k]! * x[k]!;
      x[i]! /= lower[i * n + i]!;
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) x[i]! -= lower[k * n + i]! * x[k]!;
      x[i]! /= lower[i * n + i]!;
    }
    return x;
  }
}

/** The weights of the residuals before anything is learnt. */
const START = [0.4, 0.1, 0.2, 0.2, 0, 0, 0, 0];

function clip(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}

function keep(list: number[], value: number | undefined): void {
  if (value !== undefined && !Number.isNaN(value)) list.push(value);
}

/** The mean of the middle half; NaN of nothing. */
function middleHalf(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const middle = Float64Array.from(values)
    .sort()
    .subarray(quarter, values.length - quarter);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/**
 * The threshold that scores exceed at a stated rate, for each bucket from the scores before it: the
 * largest of each cluster of scores above a high quantile follow an exponential law
 * (peaks over threshold; Siffer et al., Anomaly Detection in Streams with Extreme Value Theory, KDD
 * 2017, with the shape 0 that a log scale of light-tailed errors has), whose mean is drawn towards
 * that of a normal law where there are few. Infinite until enough is known.
 *
 * @param perBucket how many clusters a bucket may begin: the stated rate.
 * @param gap scores at most that many buckets apart are of one cluster.
 */
export function thresholds(
  scores: readonly (number | null)[],
  season: Season,
  perBucket: number,
  gap: number,
): Float64Array {
  const { day, week } = season;
  const result = new Float64Array(scores.length);
  // The scores of the first week come from a model that knows no week.
  const first = week + day;
  const fewest = Math.max(first + 30, 2 * week - 36);
  let threshold = Infinity;
  for (let at = 0; at < scores.length; at++) {
    if (at >= fewest && (at % day === 0 || threshold === Infinity)) {
      const from = Math.max(first, at - MEMORY * week);
      threshold = tail(scores.slice(from, at), perBucket, gap);
    }
    result[at] = threshold;
  }
  return result;
}

const MEMORY = 16;
const HIGH = 0.93;
/** So many peaks of this mean excess are taken as seen before: 0.5 spreads, as of a normal law there. */
const PRIOR = { peaks: 15, mean: 0.5 };
/** The share of peaks, the highest, that count as no higher than the one below them: outages. */
const OUTAGES = 0.03;

function tail(scores: readonly (number | null)[], perBucket: number, gap: number): number {
  const known = Float64Array.from(scores.filter((score) => score !== null)).sort();
  if (known.length === 0) return Infinity;
  const high = known[Math.floor(HIGH * known.length)]!;
  const peaks: number[] = [];
  let last = -Infinity;
  scores.forEach((score, at) => {
    if (score === null || score <= high) return;
    if (at - last > gap) peaks.push(score - high);
    else peaks[peaks.length - 1] = Math.max(peaks.at(-1)!, score - high);
    last = at;
  });
  peaks.sort((a, b) => a - b);
  const most = peaks[Math.max(0, peaks.length - 1 - Math.ceil(peaks.length * OUTAGES))] ?? 0;
  const sum = peaks.reduce((all, peak) => all + Math.min(peak, most), 0);
  const mean = (sum + PRIOR.peaks * PRIOR.mean) / (peaks.length + PRIOR.peaks);
  const often = peaks.length / known.length / perBucket;
  return high + mean * Math.log(Math.max(1.01, often));
}
