import { median } from "../../base/statistics.js";
import { runningMedian, withoutCycle } from "./season.js";

/**
 * The constants of the search. They were set on noise made with an autocorrelation of 0 to 0.7, on steps
 * and slopes in it, where noise alone gives a change in at most 4 % of series, and on ten series of TCPD.
 */
const PRICE = (n: number) => 6 + 2 * Math.log(n);
/** By how much the price rises with 1 / n, for what is learned from few values. */
const FEW = 6;
/** The price of a slope beside a level. */
const SLOPE = 4;
/** The least unit of squares, as a share of the whole variance: nobody sees a smaller change in a chart. */
const VISIBLE = 0.1;
/** The fewest values between two changes; what is shorter is an outlier. */
const SHORTEST = 3;
/** The highest autocorrelation that noise is taken to have: more is change. */
const MOST_CORRELATION = 0.7;
/** What a parameter hides of the autocorrelation, times 1 / n. */
const HIDDEN = 1.5;
/** Robust standard deviations at which one or two values are outliers. */
const OUTLIER = 5;
/** Standard errors by which the search must exceed its price to find 95 of 100 steps, and the middle of its units. */
const POWER = 1.64;
const UNIT = 1.25;
/** Of few values the noise itself is known badly: 1 + 12 / n holds 95 % of seeded series of 60. */
const FEWER = 12;
/** The likelihood ratio's 95 % point for the place of a step (Hansen, Econometrica 68, 2000). */
const EXCLUDED = 7.35;
/** Autocorrelation over a period that makes it a season. */
const SEASON = 0.4;

/** A step: `at`, `from` and `to` are places of values. */
export interface LevelStep {
  /** The first value after it. */
  readonly at: number;
  /** 95 % interval of `at`, both ends included. */
  readonly from: number;
  readonly to: number;
  /** The level just before and just after; the means of both pieces where it doesn't jump. */
  readonly before: number;
  readonly after: number;
  /** Half the width of the 95 % interval of `after - before`. */
  readonly margin: number;
  /** Probability of such a step anywhere in a series in which nothing changed. */
  readonly p: number;
}

/** The steps of a series, and what would have been one. */
export interface Segmented {
  readonly steps: LevelStep[];
  /** The step, in the values' unit, that 95 of 100 series would have shown had it lasted a quarter of them. */
  readonly least: number;
}

/**
 * When a series changed its level: pieces, each flat or sloped, of least squares plus a price for each
 * piece and slope (optimal partitioning with the pruning of PELT: Killick, Fearnhead and Eckley, JASA
 * 107, 2012). Slopes keep growth from looking like steps.
 *
 * Squares are counted in units of the long-run variance of AR(1) noise, which is learned from what the
 * pieces leave: of all units the smallest is taken whose own pieces leave no more noise than it. So a
 * step isn't mistaken for autocorrelation, nor autocorrelation for steps. One or two values far off
 * are taken out (Hampel filter), a season that the values show is removed.
 *
 * @param values evenly spaced; NaN is a gap.
 * @param error probability that a series in which nothing changed gives any step.
 */
export function segments(values: ArrayLike<number>, error = 0.05): Segmented {
  const index = Int32Array.from(values, (_, at) => at).filter((at) => Number.isFinite(values[at]));
  const clean = withoutOutliers(Float64Array.from(index, (at) => values[at]!));
  const n = clean.length;
  if (n < 2 * SHORTEST || clean.every((value) => value === clean[0])) {
    return { steps: [], least: n < 2 * SHORTEST ? Infinity : 0 };
  }
  const period = n === values.length ? periodOf(clean) : 0;
  const slots = Int32Array.from(clean, (_, at) => at % Math.max(1, period));
  const y = period === 0 ? clean : withoutCycle(clean, slots, period, false);
  const fit = fitsOf(y, index);
  const price = PRICE(n) * (1 + FEW / n) + 2 * Math.log(0.05 / error);
  const variance = fit.squares(0, n) / n;
  const least = Math.max(VISIBLE * variance, whiteVariance(y));
  let found = { cuts: [] as number[], unit: Math.max(variance, least), noise: variance };
  for (let unit = 2 * found.unit; unit > least;) {
    unit = Math.max(least, unit / 1.5);
    const cuts = cutsOf(fit, n, unit, price);
    const rest = fit.residuals(cuts, SLOPE * unit);
    const noise = longRun(rest.values, rest.parameters);
    if (noise <= unit || cuts.length === 0) found = { cuts, unit, noise };
  }
  const { cuts, unit } = found;
  // As the search does: a level of a quarter of the values has two cuts, and saves 3 / 16 of the values
  // times the square of its step.
  const rest = fit.residuals(cuts, SLOPE * unit).values;
  const noise = UNIT * longRun(rest, 2 * cuts.length + 5);
  const step = (Math.sqrt(2 * price) + POWER) * Math.sqrt((noise * 16) / (3 * n)) * (1 + FEWER / n);
  return { steps: stepsOf(fit, index, { ...found, price, error }), least: step };
}

/** Values that stand far from the four around them become their median. */
function withoutOutliers(y: Float64Array): Float64Array {
  const middle = runningMedian(y, 5);
  const away = y.map((value, at) => Math.abs(value - middle[at]!));
  const spread = 1.4826 * median(away.filter((value) => value > 0));
  return y.map((value, at) => (away[at]! > OUTLIER * spread ? middle[at]! : value));
}

/** The shortest period whose autocorrelation, without trend, is as high as any; 0 without one. */
function periodOf(y: Float64Array): number {
  const n = y.length;
  const longest = Math.min(n >> 2, 100);
  const level = runningMedian(y, 2 * Math.max(3, Math.min(20, n >> 3)) + 1);
  const away = y.map((value, at) => value - level[at]!);
  const most = away.map(Math.abs).sort()[Math.floor(0.9 * n)]!;
  const cut = away.map((value) => Math.max(-most, Math.min(most, value)));
  const product = (lag: number) =>
    cut.reduce((sum, value, at) => sum + (at < lag ? 0 : value * cut[at - lag]!), 0) / (n - lag);
  const correlations = Array.from({ length: longest + 2 }, (_, lag) => product(lag) / product(0));
  let best = 0;
  for (let lag = 4; lag <= longest; lag++) {
    const here = correlations[lag]!;
    const isPeak = here >= correlations[lag - 1]! && here >= correlations[lag + 1]!;
    if (isPeak && here > SEASON && (best === 0 || here > correlations[best]! + 0.1)) best = lag;
  }
  return best;
}

/** The variance of white noise by first differences, which no change of level moves much. */
function whiteVariance(y: Float64Array): number {
  const steps = y.subarray(1).map((value, at) => value - y[at]!);
  const middle = median(steps);
  return (1.4826 * median(steps.map((step) => Math.abs(step - middle)))) ** 2 / 2;
}

/** The variance of a mean of many values of AR(1) noise, times their number. */
function longRun(rest: Float64Array, parameters: number): number {
  const n = rest.length;
  const squares = rest.reduce((sum, value) => sum + value ** 2, 0);
  const products = rest.reduce((sum, value, at) => sum + value * (rest[at - 1] ?? 0), 0);
  const seen = squares > 0 ? products / squares : 0;
  const hidden = (HIDDEN * parameters * (1 + 2 * Math.max(0, seen))) / n;
  const correlation = Math.max(0, Math.min(MOST_CORRELATION, seen + hidden));
  const variance = squares / Math.max(1, n - parameters);
  return (variance * (1 + correlation)) / (1 - correlation);
}

/** A line through the values of a piece. */
interface Line {
  /** 0 where it would save fewer squares than it must. */
  readonly slope: number;
  /** The middle of its places. */
  readonly centre: number;
  readonly value: (index: number) => number;
  /** Variance of the value at an index, in units of the noise. */
  readonly variance: (index: number) => number;
}

/** Least squares of any piece [a, b) in constant time; `slope` is the price of one, in squares. */
interface Fits {
  /** Around the mean, or around the line where its slope saves more than that costs. */
  readonly squares: (a: number, b: number, slope?: number) => number;
  readonly line: (a: number, b: number, slope: number) => Line;
  readonly residuals: (
    cuts: readonly number[],
    slope: number,
  ) => { values: Float64Array; parameters: number };
}

function fitsOf(y: Float64Array, index: Int32Array): Fits {
  const n = y.length;
  const [x0, y0] = [index[n >> 1]!, median(y)];
  const sums = (of: (at: number) => number) => {
    const all = new Float64Array(n + 1);
    for (let at = 0; at < n; at++) all[at + 1] = all[at]! + of(at);
    return all;
  };
  const x = (at: number) => index[at]! - x0;
  const v = (at: number) => y[at]! - y0;
  const [X, XX, Y] = [sums(x), sums((at) => x(at) ** 2), sums(v)];
  const [XY, YY] = [sums((at) => x(at) * v(at)), sums((at) => v(at) ** 2)];
  /** Sum of the products of two columns' departures from their means, in [a, b). */
  const product = (P: Float64Array, Q: Float64Array, PQ: Float64Array, a: number, b: number) =>
    PQ[b]! - PQ[a]! - ((P[b]! - P[a]!) * (Q[b]! - Q[a]!)) / (b - a);
  const squares = (a: number, b: number, slope = Infinity): number => {
    const yy = product(Y, Y, YY, a, b);
    if (slope === Infinity) return Math.max(0, yy);
    const xx = product(X, X, XX, a, b);
    const saved = xx > 0 ? product(X, Y, XY, a, b) ** 2 / xx : 0;
    return Math.max(0, saved > slope ? yy - saved + slope : yy);
  };
  const line = (a: number, b: number, price: number): Line => {
    const [xx, xy] = [product(X, X, XX, a, b), product(X, Y, XY, a, b)];
    const slope = xx > 0 && xy ** 2 / xx > price ? xy / xx : 0;
    const mean = (Y[b]! - Y[a]!) / (b - a) + y0;
    const centre = (X[b]! - X[a]!) / (b - a) + x0;
    return {
      slope,
      centre,
      value: (at) => mean + slope * (at - centre),
      variance: (at) => 1 / (b - a) + (slope === 0 ? 0 : (at - centre) ** 2 / xx),
    };
  };
  const residuals: Fits["residuals"] = (cuts, slope) => {
    const edges = [0, ...cuts, n];
    const lines = cuts.concat(n).map((end, k) => line(edges[k]!, end, slope));
    const values = new Float64Array(n);
    lines.forEach(({ value }, k) => {
      for (let at = edges[k]!; at < edges[k + 1]!; at++) values[at] = y[at]! - value(index[at]!);
    });
    const slopes = lines.filter(({ slope }) => slope !== 0).length;
    return { values, parameters: cuts.length + lines.length + slopes };
  };
  return { squares, line, residuals };
}

/** The cuts of least cost where noise has this unit. */
function cutsOf(fit: Fits, n: number, unit: number, price: number): number[] {
  const cost = (a: number, b: number) => fit.squares(a, b, SLOPE * unit) / unit;
  // A slope of the whole is a change as well: at a slope's price it would hide a step.
  const whole = fit.squares(0, n, price * unit) / unit;
  const cuts = partition((a, b) => (b - a === n ? whole : cost(a, b)), n, price);
  // Slopes are cut where they save as much beside one slope of the whole as a step beside a level.
  const pieces = cuts.concat(n).map((end, k) => [cuts[k - 1] ?? 0, end] as const);
  const isSloped = pieces.some(([a, b]) => fit.line(a, b, SLOPE * unit).slope !== 0);
  const total = pieces.reduce((sum, [a, b]) => sum + cost(a, b), price * cuts.length);
  return isSloped && total > cost(0, n) ? [] : cuts;
}

/** Optimal partitioning with a price for each cut. */
function partition(cost: (a: number, b: number) => number, n: number, price: number): number[] {
  const best = new Float64Array(n + 1).fill(Infinity);
  const before = new Int32Array(n + 1);
  const whole = new Float64Array(n + 1);
  best[0] = -price;
  const live = [0];
  for (let t = SHORTEST; t <= n; t++) {
    if (t >= 2 * SHORTEST && best[t - SHORTEST]! < Infinity) live.push(t - SHORTEST);
    for (const s of live) {
      whole[s] = best[s]! + cost(s, t);
      if (whole[s] + price < best[t]!) [best[t], before[t]] = [whole[s] + price, s];
    }
    // A start that is worse already by more than a slope can save stays worse.
    let kept = 0;
    for (const s of live) {
      if (t - s < 2 * SHORTEST || whole[s]! - SLOPE < best[t]!) live[kept++] = s;
    }
    live.length = kept;
  }
  const cuts: number[] = [];
  for (let t = before[n]!; t > 0; t = before[t]!) cuts.push(t);
  return cuts.reverse();
}

/** What the search found, and its prices. */
interface Search extends Record<"unit" | "noise" | "price" | "error", number> {
  readonly cuts: readonly number[];
}

/** Steps between pieces, in the order of time. */
function stepsOf(fit: Fits, index: Int32Array, search: Search): LevelStep[] {
  const { cuts, unit, noise, price, error } = search;
  const n = index.length;
  const edges = [0, ...cuts, n];
  // A slope that isn't worth a change by itself is a level.
  const lines = edges.slice(1).map((end, k) => fit.line(edges[k]!, end, price * unit));
  const marginOf = (variance: number) => 1.96 * (1 + FEWER / n) * Math.sqrt(noise * variance);
  return cuts.map((cut, k): LevelStep => {
    const [a, b] = [edges[k]!, edges[k + 2]!];
    const split = (t: number) => fit.squares(a, t, SLOPE * unit) + fit.squares(t, b, SLOPE * unit);
    // The places that the likelihood doesn't exclude.
    const near = (t: number) =>
      t >= a + SHORTEST && t <= b - SHORTEST && split(t) <= split(cut) + EXCLUDED * noise;
    let [from, to] = [cut, cut];
    while (near(from - 1)) from -= 1;
    while (near(to + 1)) to += 1;
    const [left, right] = [lines[k]!, lines[k + 1]!];
    const x = (index[cut - 1]! + index[cut]!) / 2;
    const jump = right.value(x) - left.value(x);
    const isJump = Math.abs(jump) > marginOf(left.variance(x) + right.variance(x));
    // Where a slope goes over into a level, the means of both sides say what changed.
    const [before, after] = isJump ? [x, x] : [left.centre, right.centre];
    const margin = marginOf(left.variance(before) + right.variance(after));
    const saved = (fit.squares(a, b, price * unit) - split(cut)) / unit;
    return {
      // Where values are missing before it, it may have come with any of them.
      ...{ at: index[cut]!, from: index[from - 1]! + 1, to: index[to]!, margin },
      ...{ before: left.value(before), after: right.value(after) },
      p: Math.min(1, error * Math.exp((price - saved) / 2)),
    };
  });
}
