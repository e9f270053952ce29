import { quantileOf, smallest } from "../../base/statistics.js";

/**
 * The one model of a flow: what a series is expected to hold next, and how far below that it came.
 * What it says of a bucket depends on that bucket and those before it, so it stays said.
 *
 * Expected is the usual value of the hour of the week at the current level, the latest error carried on.
 * Windows of 1 to 24 buckets that end with the newest are scored by the signed root of a negative
 * binomial deviance, whose variance is learned for each length: what comes in runs scatters as runs do.
 * The threshold is an empirical quantile of the series' own past scores. A drop, once seen, is judged
 * against what was expected before it until half of it can't be missing any more.
 */

/** How many buckets a day and a week have; a day of 1 where the buckets are longer. */
export interface Season {
  readonly day: number;
  readonly week: number;
}

/** A drop. */
export interface Drop {
  /** Its first bucket, and the one after the last that was below. */
  readonly from: number;
  readonly to: number;
  /** The first bucket after it was seen. */
  readonly seen: number;
  readonly observed: number;
  /** What was expected before it. */
  readonly expected: number;
  /** How often in a row, since it was seen, what came was surely low. */
  readonly lows: number;
  readonly end: Recovery;
}

/** What came since a drop. */
export interface Recovery {
  /**
   * `recovered`: half of the loss can't be missing any more; `below`: the latest buckets are nearer to
   * the drop than to what is usual; `unsure`: they show neither.
   */
  readonly state: "recovered" | "below" | "unsure";
  /** The latest buckets against what was expected of them before the drop; null where nothing was. */
  readonly change: number | null;
  /** How many buckets that is over. */
  readonly buckets: number;
  /** How far `change` is from 0 by chance, in 95 of 100 cases. */
  readonly chance: number;
}

const UNKNOWN: Recovery = { state: "unsure", change: null, buckets: 0, chance: Infinity };

/** How a series is read. */
export interface Model {
  /** False alarms in four weeks. */
  readonly rate: number;
  /** Scores at most that many buckets apart are one alarm. */
  readonly gap: number;
  /** Whether values scatter at least as a Poisson process does. */
  readonly counts: boolean;
  /** True leaves out a series of less than a run a bucket: one of many, its tail is too short for its share of the rate. */
  readonly isPart?: boolean;
}

/** Weeks whose same hour says what is usual; weeks from whose scores the threshold is learned. */
const WEEKS = 8;
const MEMORY = 16;
/** Days that the level remembers: of these the one that has been nearest. */
const BETTER = 0.7;
const LEVELS = [3, 1, 0.25];
/** Share of what is known of the level's errors that a bucket forgets. */
const FORGET = 0.002;
/** Windows end with the newest bucket. */
export const WINDOWS = [1, 2, 3, 6, 12, 24];
/** A longer window counts where the next shorter one has at least this share of its score: the loss goes on. */
const RECENT = 0.3;
/** Variances beyond which a deviance is an outage or a burst; fewer dispersions an hour are a thin flow. */
const CLIP = 9;
const THIN = 30;
/** Share of what is known of the dispersion that a bucket forgets. */
const FORGET_SPREAD = 0.005;
/** Scores above this quantile are peaks; so many of a usual mean (of scores, of squares) count as seen; the share that are outages. */
const HIGH = 0.93;
const USUAL_TAIL = { peaks: 15, means: [0.42, 2.4] };
const ENOUGH = 30;
const OUTAGES = 0.02;
/** Buckets since a drop that are judged together; beyond so many times what chance does in 95 of 100 cases is no doubt. */
const SINCE = [1, 2, 3, 6, 12, 24, 48];
const SURE = 1.3;
/** Past times, so many buckets apart, that say how far from what is expected buckets come by chance. */
const [SAMPLES, STRIDE] = [60, 11];
/** Spreads beyond a threshold that 99 of 100 drops reach. */
const DETECTED = 2.33;

type Values = readonly (number | null)[];
const isKnown = (value: number | null | undefined): value is number => value != null;
const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const logRatio = (v: number, e: number) => (v > 0 ? v * Math.log(v / e) : 0);

/** How many buckets must be seen before one is judged: four weeks, and 60 buckets. */
export const learning = ({ week }: Season) => Math.max(4 * week, 60);

/** The variance of a window, (φ + aE)E: φ rows a run, a for what moves all runs. */
class Dispersion {
  readonly #sums = [0, 0, 0, 0, 0];
  #phi: number;
  #share = 0.05;

  constructor(readonly least: number) {
    this.#phi = least;
  }

  /** Variance divided by what is expected. */
  at(expected: number) {
    return Math.max(this.least, this.#phi + this.#share * expected);
  }

  /** Spreads below what is expected: the signed root of a negative binomial deviance of E/φ runs. */
  score(value: number, expected: number) {
    const [v, e] = [value / this.#phi, expected / this.#phi];
    const size = 1 / Math.max(1e-9, this.#share);
    const deviance = 2 * (logRatio(v, e) - (v + size) * Math.log((v + size) / (e + size)));
    return Math.sign(expected - value) * Math.sqrt(Math.max(0, deviance));
  }

  /** Regresses clipped Poisson deviances on 1 and E, with forgetting. */
  learn(value: number, expected: number) {
    const square = 2 * (logRatio(value, expected) - value + expected);
    const usual = this.at(expected);
    const clipped = Math.min(square, CLIP * usual) * 1.05;
    const sums = this.#sums;
    let term = 1 / usual ** 2;
    for (let i = 0; i < 3; i++, term *= expected) sums[i] = sums[i]! * (1 - FORGET_SPREAD) + term;
    term = clipped / usual ** 2;
    for (let i = 3; i < 5; i++, term *= expected) sums[i] = sums[i]! * (1 - FORGET_SPREAD) + term;
    const [one, x, xx, y, xy] = sums as [number, number, number, number, number];
    const slope = Math.max(0, (one * xy - x * y) / (one * xx - x * x) || 0);
    this.#phi = Math.max(this.least, (y - slope * x) / one);
    this.#share = Math.max(0, (xy - this.#phi * x) / xx);
  }
}

/** The level against what is usual, forgotten over some days; clipped, so that an outage doesn't move it. */
class Level {
  #came = 0;
  #due = 0;
  /** Mean square of the errors that it makes. */
  error = 0;

  constructor(readonly kept: number) {}

  get value() {
    return this.#due > 0 ? this.#came / this.#due : 1;
  }

  learn(value: number, usual: number, dispersion: number) {
    const expected = usual * this.value;
    const spread = Math.sqrt(dispersion * Math.max(expected, dispersion));
    const away = clamp((value - expected) / spread, -3, 3);
    this.error += (away ** 2 - this.error) * FORGET;
    const clipped = Math.max(0, expected + away * spread);
    this.#came = this.#came * this.kept + clipped;
    this.#due = this.#due * this.kept + usual;
  }
}

/** A drop that is followed: as long as it isn't over, no other is looked for. */
type Followed = { -readonly [Name in keyof Drop]: Drop[Name] } & { isOpen: boolean };

/** A series read forward. Buckets that are learned from are never alarmed. */
export class Watch {
  readonly drops: Followed[] = [];
  /** Of each bucket, before its value: the usual one, the level, the error carried on and how it fades. */
  readonly #usual: number[] = [];
  readonly #level: number[] = [];
  readonly #carry: number[] = [];
  readonly #fade: number[] = [];
  readonly #sums: Float64Array;
  readonly #limits: number[] = [];
  readonly #lows: number[] = [];
  readonly #lengths: readonly number[];
  readonly #spreads: readonly Dispersion[];
  /** The first bucket that windows may hold: what came before it is of a drop that is over. */
  #resumed = 0;
  #isWatched = true;

  /** @param values null where nothing is known. */
  constructor(
    readonly values: Values,
    readonly season: Season,
    model: Model,
  ) {
    const { day, week } = season;
    this.#sums = new Float64Array(values.length + 1);
    values.forEach((value, at) => (this.#sums[at + 1] = this.#sums[at]! + (value ?? 0)));
    this.#lengths = WINDOWS.filter((length) => length <= Math.max(2, day));
    this.#spreads = this.#lengths.map(() => new Dispersion(model.counts ? 1 : 1e-9));
    const levels = LEVELS.map((days) => new Level(1 - 1 / Math.max(7, days * day)));
    const scores: (number | null)[] = [];
    let [square, product, last, mean, limit, low] = [1, 0, 0, 0, Infinity, -Infinity];
    values.forEach((value, at) => {
      const spread = this.#spreads[0]!;
      const isThin = day > 1 && mean < THIN * spread.at(mean);
      const usual = this.#usualOf(at, isThin ? 2 : 0);
      this.#usual.push(usual);
      this.#level.push(levels.reduce((a, b) => (b.error < BETTER * a.error ? b : a)).value);
      this.#fade.push(clamp(product / square, 0, 0.95));
      this.#carry.push(last * this.#fade[at]!);
      if (
        at >= Math.min(2 * week + 100, learning(season)) &&
        (at % week === 0 || limit === Infinity)
      )
        limit = tail(
          scores.slice(Math.max(0, at - MEMORY * week), at),
          model.rate / (4 * week),
          model.gap,
        );
      this.#limits.push(limit);
      const next = this.#due(at, at + 1);
      const dispersion = spread.at(next);
      this.#lows.push(this.#valueAt(limit, next, 0));
      const { score, length } = this.#score(at);
      scores.push(score);
      const drop = this.drops.at(-1);
      if (drop?.isOpen) this.#follow(drop, at);
      this.#isWatched = model.isPart !== true || mean >= spread.at(mean);
      const isLow = this.#isWatched && at >= learning(season) && score !== null && score > limit;
      if (isLow && drop && at - low <= model.gap) this.#extend(drop, at + 1);
      else if (isLow && !drop?.isOpen) this.#begin(at - length + 1, at + 1);
      if (isLow) low = at;
      const expected = usual * this.#level[at]!;
      if (isKnown(value) && usual > 0) {
        for (const level of levels) level.learn(value, usual, dispersion);
        const reach = 3 / Math.sqrt(Math.max(1, expected / dispersion));
        const ratio = Math.log((value + dispersion / 2) / (expected + dispersion / 2));
        square = square * (1 - FORGET) + last ** 2;
        product = product * (1 - FORGET) + last * clamp(ratio, -reach, reach);
        last = ratio;
      } else last = 0;
      mean += ((value ?? mean) - mean) / Math.min(at + 1, week);
    });
    // What was told of a drop stays; what came since is said as of now.
    for (const drop of this.drops.filter(({ isOpen }) => !isOpen))
      drop.end = { ...(this.#since(drop, values.length).at(-1) ?? UNKNOWN), state: drop.end.state };
  }

  /** What was expected of a bucket before its value, and the value below which it alone is an alarm. */
  bucket(at: number) {
    return { expected: this.#due(at, at + 1), limit: this.#lows[at]! };
  }

  /**
   * The smallest drop of so many buckets up to one that is seen in 99 of 100 cases; above 1: not even a
   * stop. Of a large flow so many aren't judged together, but a part of them.
   *
   * @param isTogether as if they were: what most of their windows together show.
   */
  least(at: number, length: number, isTogether = false): number {
    const place = this.#lengths.findIndex((each, place) => {
      const next = this.#lengths[place + 1];
      const due = this.#due(at - each + 1, at + 1);
      if (next === undefined || next > length) return true;
      return !isTogether && this.#isEnough(due, place);
    });
    const [from, limit] = [at - this.#lengths[place]! + 1, this.#limits[at] ?? Infinity];
    if (!(from >= learning(this.season)) || limit === Infinity || !this.#isWatched) return 2;
    const due = this.#due(from, at + 1);
    if (!(this.#spreads[place]!.score(0, due) > limit)) return 2;
    // So many buckets have several windows, any of which may show it; as errors last, fewer are independent.
    const beyond = DETECTED - Math.log(length / this.#lengths[place]!) / 2;
    return Math.min(1, 1 - this.#valueAt(limit + beyond, due, place) / due);
  }

  /** True where a window holds so much that longer ones aren't judged. */
  #isEnough(due: number, place: number): boolean {
    return this.#lengths[place]! > 1 && due > ENOUGH * this.#spreads[place]!.at(due);
  }

  /** The median of the same hour of the week; of a thin flow the mean of the hours around it, without the weeks that hold most and least. */
  #usualOf(at: number, reach: number): number {
    const { week } = this.season;
    const same: number[] = [];
    for (let place = at - week; place >= Math.max(0, at - WEEKS * week); place -= week) {
      const [from, to] = [Math.max(0, place - reach), place + reach + 1];
      if (this.values.slice(from, to).every(isKnown)) same.push(this.#came(from, to) / (to - from));
    }
    same.sort((a, b) => a - b);
    const middle = same.length > 4 ? same.slice(1, -1) : same;
    return (reach === 0 ? quantileOf(same, 0.5) : total(middle) / middle.length) || 0;
  }

  /** What is expected of buckets from one up to another, by those before `since`. */
  #due(from: number, to: number, since = from): number {
    const [{ week }, fade] = [this.season, this.#fade[since]!];
    let [sum, carried] = [0, Math.expm1(this.#carry[since]!) * fade ** (from - since)];
    for (let at = from; at < to; at++, carried *= fade)
      sum += this.#usual[at - Math.floor((at - since) / week) * week]! * (1 + carried);
    return sum * this.#level[since]!;
  }

  #came(from: number, to: number): number {
    return this.#sums[to]! - this.#sums[from]!;
  }

  /** The largest score of the windows that end with a bucket, and the length of that. */
  #score(at: number): { score: number | null; length: number } {
    let [score, longest, before, isEnough]: [number | null, number, number, boolean] = [
      null,
      1,
      0,
      false,
    ];
    const next = this.#due(at, at + 1);
    for (const [place, length] of this.#lengths.entries()) {
      const from = at - length + 1;
      if (from < Math.min(2 * this.season.week, this.season.week + 60)) break;
      if (!this.values.slice(from, at + 1).every(isKnown)) break;
      const [came, due, spread] = [
        this.#came(from, at + 1),
        this.#due(from, at + 1),
        this.#spreads[place]!,
      ];
      if (!(due > 0)) break;
      const z = spread.score(came, due);
      const isOn = length === 1 || (came < due && this.values[at]! < next && before > RECENT * z);
      if (isOn && !isEnough && from >= this.#resumed && z > (score ?? -Infinity))
        [score, longest] = [z, length];
      before = z;
      isEnough ||= this.#isEnough(due, place);
      spread.learn(came, due);
    }
    return { score, length: longest };
  }

  /** The value whose score is so high. */
  #valueAt(score: number, due: number, place: number): number {
    let [low, high] = [0, score === Infinity ? 0 : due];
    for (let step = 0; step < 20; step++) {
      const middle = (low + high) / 2;
      if (this.#spreads[place]!.score(middle, due) > score) low = middle;
      else high = middle;
    }
    return low;
  }

  #begin(window: number, seen: number): void {
    const due = (from: number, to: number) => this.#due(from, to, window);
    const ratio = this.#came(window, seen) / due(window, seen);
    // The first buckets of a window may be of before the drop, and zeros before it belong to it.
    let from = window;
    while (from < seen - 1 && this.values[from]! > ((1 + ratio) / 2) * due(from, from + 1)) from++;
    while (ratio === 0 && this.values[from - 1] === 0) from--;
    const drop = { from, to: seen, seen, observed: 0, expected: 0, lows: 0, end: UNKNOWN };
    this.drops.push(this.#extend({ ...drop, isOpen: true }, seen));
  }

  #extend(drop: Followed, to: number): Followed {
    const [observed, expected] = [this.#came(drop.from, to), this.#due(drop.from, to)];
    return Object.assign(drop, { to, observed, expected });
  }

  /** What a bucket after a drop says of it. */
  #follow(drop: Followed, at: number): void {
    const [{ day }, loss] = [this.season, 1 - drop.observed / drop.expected];
    const windows = this.#since(drop, at + 1);
    const back = windows.findLast(
      // A single bucket isn't back yet.
      ({ change, chance, buckets }) => buckets > 1 && change - SURE * chance > -loss / 2,
    );
    const isLow = windows.some(({ change, chance }) => change < Math.min(-chance, -loss / 2));
    const all = windows.at(-1);
    // In a slow fall an alarm by chance isn't a drop that is over.
    const isFalling = this.#level[drop.from]! < 1 - loss / 2;
    const over = isFalling ? "unsure" : "recovered";
    const state = back ? over : isLow || (all && all.change < -loss / 2) ? "below" : "unsure";
    drop.end = { ...(back ?? all ?? UNKNOWN), state };
    // What the level does by itself in that time says no more whether half of the loss is back.
    const chance = this.#chance(drop.from, at - day - drop.from, day) ?? 0;
    const isKnown = chance < loss / 2 && at - drop.to < Math.max(7, day);
    drop.isOpen = back === undefined && isKnown;
    if (state === "below" && !isKnown) drop.end = { ...drop.end, state: "unsure" };
    drop.lows = state === "below" ? drop.lows + Number(isLow) : 0;
    if (isLow && isKnown) this.#extend(drop, at + 1);
    if (back) this.#resumed = at - back.buckets + 1;
  }

  /** Windows up to a bucket that hold none of a drop. */
  #since(drop: Drop, end: number) {
    const most = Math.min(end - drop.to, SINCE.at(-1)!);
    const lengths = [...SINCE.filter((length) => length < most), most];
    return lengths.flatMap((buckets) => {
      const change = this.#change(end - buckets, end, drop.from);
      const chance = this.#chance(drop.from, end - buckets - drop.from, buckets);
      return change === null || chance === null ? [] : [{ change, chance, buckets }];
    });
  }

  /** Buckets against what was expected of them before one; null where nothing was. */
  #change(from: number, to: number, since: number): number | null {
    const due = this.#due(from, to, since);
    return due > 0 ? this.#came(from, to) / due - 1 : null;
  }

  /** How far so many buckets, so long after what they are expected by, were from that in 95 of 100 cases before a drop. */
  #chance(drop: number, after: number, buckets: number): number | null {
    const first = 2 * this.season.week;
    const ahead = Math.max(0, Math.min(after, Math.floor((drop - first) / 2)));
    const errors: number[] = [];
    const stride = this.season.day > 1 ? STRIDE : 1;
    for (let to = drop; to - buckets - ahead >= first && errors.length < SAMPLES; to -= stride) {
      const change = this.#change(to - buckets, to, to - buckets - ahead);
      if (change !== null) errors.push(Math.abs(change));
    }
    errors.sort((a, b) => a - b);
    return errors.length < 7 ? null : quantileOf(errors, 0.95);
  }
}

/**
 * The threshold at a stated rate: peaks over a high quantile are exponential (peaks over threshold;
 * Siffer et al., KDD 2017), of scores where bursts make their tail heavy, else of their squares, which
 * are deviances. The lower of both is taken.
 */
function tail(scores: Values, perBucket: number, gap: number): number {
  const all = Float64Array.from(scores.filter(isKnown)).sort();
  const high = Math.max(0, quantileOf(all, HIGH));
  const tops: number[] = [];
  let last = -Infinity;
  scores.forEach((score, at) => {
    if (score === null || !(score > high)) return;
    if (at - last > gap) tops.push(0);
    tops.push(Math.max(tops.pop()!, score));
    last = at;
  });
  tops.sort((a, b) => a - b);
  const most = tops[Math.max(0, tops.length - 1 - Math.ceil(tops.length * OUTAGES))] ?? 0;
  const times = Math.log(Math.max(1.01, tops.length / all.length / perBucket));
  const limits = USUAL_TAIL.means.map((prior, i) => {
    const power = i + 1;
    const excess = tops.map((top) => Math.min(top, most) ** power - high ** power);
    const mean = (total(excess) + USUAL_TAIL.peaks * prior) / (tops.length + USUAL_TAIL.peaks);
    return (high ** power + mean * times) ** (1 / power);
  });
  return smallest(limits);
}
