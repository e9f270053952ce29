import { greatest, median } from "../../base/statistics.js";

/**
 * The one model of a flow: what a series is expected to hold next, and how far below that it came.
 * What it says of a bucket depends on that bucket and those before it.
 *
 * On the logarithm of the values. The usual value is the mean of the middle half of the same time of day
 * of 28 days plus a weekly deviation, a middle half too, so that outages and holidays among the past
 * weeks don't count. What it misses is followed by an autoregression, fitted by recursive least
 * squares with forgetting (Ljung and Söderström, Theory and Practice of Recursive Identification,
 * 1983) on errors clipped at three spreads (Huber, 1964). The spread is that of the time of day, at
 * least that of a Poisson count.
 */

/** How many buckets a day and a week have; a day of 1 where the buckets are longer. */
export interface Season {
  readonly day: number;
  readonly week: number;
}

/** What is known of a bucket before its value, and whether that is an alarm. */
export interface Watched {
  /** Expected value: from past weeks at the current level; and adjusted for the latest buckets. */
  readonly usual: number;
  readonly next: number;
  /** Below it a single bucket is an alarm. */
  readonly limit: number;
  /** The smallest drop, as a share, that this bucket and the one before show in 99 of 100 cases; above 1: none. */
  readonly least: number;
  readonly alarmed: boolean;
}

const PAST_WEEKS = 8;
const PAST_DAYS = 28;
/** Squares of standard errors within which an hour of the week is as those around it. */
const SHRINKAGE = 2;
/** Initial weights of: the last error, the mean of 4, of a day, the error a day ago, the mean of a week. */
const START = [0.4, 0.2, 0.2, 0, 0];
const RIDGE = 20;
const FORGET = 0.998;
const CLIP = 3;
/** Beyond that a residual is an outage or a burst, and says nothing of the next one. */
const MOST_RESIDUAL = 1.5;
/** The share of the spread of its own hour of the day; the rest is that of all hours. */
const OWN_HOUR = 0.6;
/** After a burst nobody knows how quickly it ends: a tenth of its square is added to the variance. */
const BURST = 0.1;
/**
 * A bucket alone must come that many spreads further below: a drop lasts longer than one, and so two
 * in a row can be alarmed at a lower threshold, at the same rate of false alarms.
 */
const ALONE = 0.8;
/** Zeros are a stop once they should have held this many times the longest earlier gap. */
const LONGER = 2;
/** Weeks from whose scores the threshold is learned, and the quantile from which scores are peaks. */
const MEMORY = 16;
const HIGH = 0.93;
/** Prior: this many peaks with this mean excess, 0.5 spreads, as of a normal law there. */
const PRIOR_PEAKS = { peaks: 15, mean: 0.5 };
/** The top 3 % of peaks are capped: they are outages. */
const OUTAGES = 0.03;

/** How many buckets must be seen before one is judged: four weeks, and 60 buckets. */
export function learning({ week }: Season): number {
  return Math.max(4 * week, 60);
}

/**
 * Reads a series forward. Buckets that are learned from are never alarmed.
 *
 * @param values null where nothing is known.
 * @param options `rate`: false alarms in four weeks; `gap`: alarmed buckets at most that many apart
 *   are one alarm; `counts`: whether the values scatter at least as a Poisson process does; `floor`
 *   is added before the logarithm, so that 0 has one: 1 for counts.
 */
export function watchFlow(
  values: readonly (number | null)[],
  season: Season,
  { rate, gap, counts, floor }: { rate: number; gap: number; counts: boolean; floor: number },
): Watched[] {
  const { day, week } = season;
  const logs = values.map((value) => (value === null ? NaN : Math.log(value + floor)));
  const usual = usualValues(logs, season);
  const residual = logs.map((log, at) => clip(log - usual[at]!, MOST_RESIDUAL));
  const at0 = (at: number) => residual[at] || 0;
  const value = (log: number) => Math.max(0, Math.exp(log) - floor);
  const follow = new Regression();
  const hours = new Float64Array(24).fill(NaN);
  const scores: (number | null)[] = [];
  const means = [0, 0, 0];
  let [variance, learnt, level] = [0.05, 0, 0];
  let before = { error: NaN, variance: NaN };
  const buckets = logs.map((log, at) => {
    // Means of the residuals, each with the weight of so many buckets.
    [4, Math.max(day, 7), week].forEach((length, i) => {
      if (isKnown(residual[at - 1])) means[i]! += (at0(at - 1) - means[i]!) / Math.min(at, length);
    });
    const [few, daily, weekly] = means as [number, number, number];
    const latest = [at0(at - 1), few, daily, at0(at - day), weekly];
    const weights = at > week + day ? follow.weights : START;
    const next = latest.reduce((sum, each, i) => sum + each * weights[i]!, usual[at]!);
    const hour = Math.floor(((at % day) * 24) / day);
    const own = Number.isNaN(hours[hour]!) ? variance : hours[hour]!;
    const poisson = counts ? 1 / (Math.max(0.3, Math.exp(next) - floor / 2) + 0.5) : 0;
    const steady = own * OWN_HOUR + variance * (1 - OWN_HOUR) + poisson;
    const all = steady + BURST * Math.max(0, at0(at - 1), at0(at - 2) / 2) ** 2;
    const carried = Math.max(0, weights[0]! + weights[1]! / 4);
    const error = log - next;
    let score: number | null = null;
    if (isKnown(error)) {
      score = -error / Math.sqrt(all) - ALONE;
      // Two in a row: the second against what would be expected had the first come as it should.
      if (isKnown(before.error)) {
        const both = error + before.error + carried * Math.min(0, before.error);
        score = Math.max(score, -both / Math.sqrt(all + (1 + carried) ** 2 * before.variance));
      }
      if (at > week) {
        const clipped = clip(error, CLIP * Math.sqrt(steady));
        follow.learn(latest, clipped, 0.05 / steady);
        // Clipping takes a tenth of the variance; what a Poisson process explains isn't counted twice.
        const squared = Math.max(clipped ** 2 - poisson, clipped ** 2 * 0.1) * 1.1;
        // The first error is all that is known: what was assumed before would last for weeks.
        variance += (squared - variance) * Math.max(0.005, 1 / ++learnt);
        hours[hour] =
          (Number.isNaN(hours[hour]!) ? variance : hours[hour]!) * 0.93 + squared * 0.07;
      }
    }
    scores.push(score);
    // Taken once an hour: an outage of hours doesn't move the median of a week.
    if (at % Math.max(1, Math.floor(day / 24)) === 0) {
      const last = residual.slice(Math.max(0, at - Math.max(week, 7)), at).filter(isKnown);
      if (last.length > 0) level = median(last);
    }
    before = { error, variance: all };
    const both = Math.hypot(1, 1 + carried) / 2;
    return { usual: usual[at]! + level, next, spread: Math.sqrt(all), both };
  });
  const limits = thresholds(scores, season, rate / (4 * week), gap);
  const stopped = stops(
    values,
    buckets.map(({ usual }) => value(usual)),
    season,
  );
  return buckets.map(({ usual, next, spread, both }, at) => ({
    usual: value(usual),
    next: value(next),
    limit: value(next - (limits[at]! + ALONE) * spread),
    least: leastDrop(value(next), spread * both, limits[at]!, floor),
    alarmed: at >= learning(season) && ((scores[at] ?? 0) > limits[at]! || stopped[at]!),
  }));
}

/**
 * The buckets of a stop: the zeros up to them, of a week at most, should have held more than
 * {@link LONGER} times what the zeros of the longest stretch before but one should have, and than a
 * bucket with rows holds. Scores of one bucket and of two can't tell a stop where an hour without a
 * run is usual.
 */
function stops(
  values: readonly (number | null)[],
  usual: readonly number[],
  { week }: Season,
): boolean[] {
  const ended: { readonly at: number; readonly due: number }[] = [];
  let [due, length] = [0, 0];
  return values.map((value, at) => {
    if (value !== 0) {
      if (due > 0) ended.push({ at, due });
      [due, length] = [0, 0];
      return false;
    }
    due += usual[at]! - (++length > week ? usual[at - week]! : 0);
    const since = at - PAST_WEEKS * week;
    const held = values.slice(Math.max(0, since), at).filter((each) => each !== null && each > 0);
    const one = median(held as number[]);
    // The longest may have been an outage.
    const [, before = 0] = ended
      .filter((stretch) => stretch.at >= since)
      .map((stretch) => stretch.due)
      .sort((a, b) => b - a);
    return due > LONGER * Math.max(one, before);
  });
}

/** The usual value of each bucket by those before it: that of its time of day, and how its hour of the week differs. */
function usualValues(logs: readonly number[], { day, week }: Season): number[] {
  const reach = day >= 12 ? 2 : 0;
  const daily = logs.map((log, at) => {
    const same = Array.from({ length: PAST_DAYS }, (_, k) => logs[at - day * (k + 1)]!).filter(
      isKnown,
    );
    return same.length > 0 ? middleHalf(same) : isKnown(log) ? log : 0;
  });
  return daily.map((value, at) => {
    const [near, own]: [number[], number[]] = [[], []];
    for (let place = at - week; place >= Math.max(day, at - PAST_WEEKS * week); place -= week) {
      for (let by = -reach; by <= reach; by++) {
        const deviation = logs[place + by]! - daily[place + by]!;
        if (place + by < day || !isKnown(deviation)) continue;
        near.push(deviation);
        if (by === 0) own.push(deviation);
      }
    }
    if (week === day || near.length === 0) return value;
    const wide = (middleHalf(near) * near.length) / (near.length + 2);
    if (own.length < 3 || reach === 0) return value + wide;
    // The hours around are better known where counts are few, and mislead where a weekend begins:
    // the hour itself is followed as far as it differs by more than its weeks scatter.
    const mean = own.reduce((sum, each) => sum + each, 0) / own.length;
    const scatter = own.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (own.length - 1);
    const off = middleHalf(own) - wide;
    return value + wide + off * Math.max(0, 1 - (SHRINKAGE * scatter) / own.length / off ** 2 || 0);
  });
}

const isKnown = (value: number | undefined) => value !== undefined && !Number.isNaN(value);

const clip = (value: number, most: number) => Math.max(-most, Math.min(most, value));

/** The mean of the middle half. */
function middleHalf(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const middle = Float64Array.from(values)
    .sort()
    .subarray(quarter, values.length - quarter);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Recursive least squares with forgetting, drawn towards {@link START}. */
class Regression {
  readonly weights = START.slice();
  /** The inverse of the features' products. */
  #inverse = START.map((_, i) => START.map((_, j) => (i === j ? 1 / RIDGE : 0)));

  learn(features: readonly number[], error: number, weight: number): void {
    const along = this.#inverse.map((row) => row.reduce((sum, x, j) => sum + x * features[j]!, 0));
    const square = features.reduce((sum, x, i) => sum + x * along[i]!, 0);
    const gain = along.map((x) => (x * weight) / (FORGET + weight * square));
    this.weights.forEach((_, i) => (this.weights[i]! += gain[i]! * error));
    // Where nothing varies, nothing is forgotten.
    const kept = greatest(this.#inverse.map((row, i) => row[i]!)) < 1 / RIDGE ? FORGET : 1;
    this.#inverse = this.#inverse.map((row, i) =>
      row.map((x, j) => (x - gain[i]! * along[j]!) / kept),
    );
  }
}

/**
 * The threshold that scores exceed at a stated rate, for each bucket from the scores before it: the
 * largest of each cluster of scores above a high quantile follow an exponential law (peaks over
 * threshold; Siffer et al., KDD 2017, with the shape 0 that a log scale of light-tailed errors has),
 * whose mean is drawn towards that of a normal law where there are few. Infinite until enough is known.
 *
 * @param perBucket how many clusters a bucket may begin: the stated rate.
 * @param gap scores at most that many buckets apart are of one cluster.
 */
function thresholds(
  scores: readonly (number | null)[],
  { day, week }: Season,
  perBucket: number,
  gap: number,
): number[] {
  // The scores of the first week come from a model that knows no week.
  const first = week + day;
  let threshold = Infinity;
  return scores.map((_, at) => {
    const isEnough = at >= Math.max(first + 30, 2 * week - 36);
    if (isEnough && (at % day === 0 || threshold === Infinity)) {
      threshold = tail(scores.slice(Math.max(first, at - MEMORY * week), at), perBucket, gap);
    }
    return threshold;
  });
}

function tail(scores: readonly (number | null)[], perBucket: number, gap: number): number {
  const known = Float64Array.from(scores.filter((score) => score !== null)).sort();
  if (known.length === 0) return Infinity;
  const high = known[Math.floor(HIGH * known.length)]!;
  const peaks: number[] = [];
  let last = -Infinity;
  scores.forEach((score, at) => {
    if (score === null || score <= high) return;
    if (at - last > gap) peaks.push(0);
    peaks.push(Math.max(peaks.pop()!, score - high));
    last = at;
  });
  peaks.sort((a, b) => a - b);
  const most = peaks[Math.max(0, peaks.length - 1 - Math.ceil(peaks.length * OUTAGES))] ?? 0;
  const sum = peaks.reduce((all, peak) => all + Math.min(peak, most), 0);
  const mean = (sum + PRIOR_PEAKS.peaks * PRIOR_PEAKS.mean) / (peaks.length + PRIOR_PEAKS.peaks);
  return high + mean * Math.log(Math.max(1.01, peaks.length / known.length / perBucket));
}

/**
 * The smallest drop of two buckets whose score is above the limit in 99 of 100 cases: 2.33 spreads
 * beyond it, where what is left scatters as counts do, more the fewer there are. 2 if there is none.
 *
 * @param spread of two buckets together.
 */
function leastDrop(expected: number, spread: number, limit: number, floor: number): number {
  for (let drop = 0.01; drop < 1.005; drop += 0.01) {
    const left = (expected * Math.max(0, 1 - drop) + floor) / (expected + floor);
    const scatter = drop < 0.995 ? 2.33 / Math.sqrt(left) : 0;
    if (-Math.log(left) / spread - limit >= scatter) return Math.min(1, drop);
  }
  return 2;
}

/** What came since a drop. */
export interface Recovery {
  /**
   * `recovered`: half of what was surely lost can't be missing any more; `below`: less came than chance explains, and
   * it is nearer to the drop than to what is usual; `unsure`: the buckets since the alarm show neither.
   */
  readonly state: "recovered" | "below" | "unsure";
  /** The latest buckets against what was expected of them, as a share; null where nothing is expected. */
  readonly change: number | null;
  /** How many buckets that is over. */
  readonly buckets: number;
  /** What `change` is by chance, in 95 of 100 cases. */
  readonly usual: readonly [low: number, high: number];
}

export const UNKNOWN: Recovery = {
  state: "unsure",
  change: null,
  buckets: 0,
  usual: [-1, Infinity],
};

/** Buckets of the windows up to the newest one: the shortest that decides does, longer ones that agree are named. */
const WINDOWS = [1, 2, 4, 12, 48];
/** Standard deviations that hold 95 of 100 values, where five to eight weeks are known (Student's t). */
const CHANCE = 2.4;
/** Weeks before a drop that say how a window scatters: no fewer, and no more. */
const FEWEST_WEEKS = 4;

/**
 * Compares the newest buckets with the same hours of the weeks before a drop, each as a part of a whole
 * week as long before it. Nothing from after the drop's beginning enters what is expected, so a loss
 * that goes on can't become what is usual.
 *
 * @param drop the first alarmed bucket and the one after the last, as places.
 * @param shortest how many buckets the shortest window has.
 */
export function recovery(
  values: readonly number[],
  drop: { readonly from: number; readonly to: number },
  season: Season,
  shortest = 1,
): Recovery {
  const week = Math.max(7, season.week);
  const began = values.findIndex((value) => value > 0);
  const sum = (to: number, length: number) =>
    values.slice(to - length, to).reduce((all, value) => all + value, 0);
  /** The change of a window, and how large it is by chance. */
  const judge = (end: number, length: number) => {
    const part = (weeks: number) =>
      sum(end - weeks * week, length) / sum(drop.from - weeks * week, week);
    const first = Math.ceil((end - drop.from) / week);
    const many = Math.min(PAST_WEEKS, Math.floor((drop.from - began) / week) - first);
    const parts = Array.from({ length: Math.max(0, many) }, (_, k) => part(first + k));
    const usual = median(parts);
    if (parts.length < FEWEST_WEEKS || !(usual > 0 && usual < Infinity)) return undefined;
    const squares = parts.reduce((all, each) => all + (each / usual - 1) ** 2, 0);
    return {
      change: part(0) / usual - 1,
      chance: CHANCE * Math.sqrt(squares / (parts.length - 1)),
    };
  };
  const lost = judge(drop.to, drop.to - drop.from);
  const loss = lost?.change ?? 0;
  // An alarm is raised where a loss and chance add up: what is beyond chance is surely lost.
  const surely = Math.min(0, loss + (lost?.chance ?? 0));
  let latest = UNKNOWN;
  for (const buckets of WINDOWS.filter((of) => of >= shortest && values.length - of >= drop.to)) {
    const { change = NaN, chance = NaN } = judge(values.length, buckets) ?? {};
    if (!(loss < 0) || !Number.isFinite(change)) break;
    // A single bucket isn't back yet; one that is low holds the alarm that was told.
    // What varies as widely as the drop was deep says nothing, unless more came than is usual.
    const isClear = change > chance || chance < -loss;
    const isBack = isClear && buckets > 1 && change > Math.max(-chance, surely / 2 + chance);
    const isBelow = change < Math.min(buckets > 1 ? -chance : -chance / 2, loss / 2);
    const state = isBack ? "recovered" : isBelow ? "below" : "unsure";
    if (latest.state !== "unsure" && latest.state !== state) break;
    latest = { state, change, buckets, usual: [-chance, chance] };
  }
  return latest;
}
