import { median, quantileOf } from "../base/statistics.js";

/** The constants of the search, each with its reason; docs/change-points.md tells how little each matters. */
export const SEARCH = {
  /** Probability that a series in which nothing changed gives any change. */
  error: 0.05,
  /** Tests that a search over n times is worth, per n: holds `error` for autocorrelation up to 0.7. */
  tests: 10,
  /** A departure of less than this share of the whole range can't be seen on a chart. */
  visible: 0.05,
  /** Values that a chart shows side by side; of a longer series a short piece is seen less. */
  width: 200,
  /** Price of a slope, as a share of the price of a change. */
  slope: 0.1,
  /** The fewest values between two changes; what is shorter is an outlier. */
  shortest: 3,
  /** The highest autocorrelation from one value to the next that noise is taken to have. */
  autocorrelation: 0.7,
  /** Robust standard deviations at which one or two values are outliers. */
  outlier: 5,
  /** Autocorrelation over a period that makes it a season. */
  season: 0.4,
};

/** What `segments` is told beside the values. */
export interface SegmentOptions {
  /** Probability that a series in which nothing changed gives any change; default 0.05. */
  readonly error?: number;
  /** How sure each value is, as the inverse of its variance; default: all alike. */
  readonly weights?: ArrayLike<number>;
  /** Other constants, to measure what they matter. */
  readonly search?: Partial<typeof SEARCH>;
}

/** A change: all of `at`, `from`, `to` are indices of the values; levels and slopes are in their unit. */
export interface Change {
  /** The first value after the change. */
  readonly at: number;
  /** 95 % interval of `at`, both ends included. */
  readonly from: number;
  readonly to: number;
  /** Whether the level jumped, or the series bent without a jump. */
  readonly kind: "level" | "trend";
  /** A level: just before. A trend: where the trend before would have led by the end of the stretch after. */
  readonly before: number;
  /** A level: just after. A trend: where the series was at the end of that stretch. */
  readonly after: number;
  /** Half the width of the 95 % interval of `after - before`. */
  readonly margin: number;
  /** Change from one value to the next, before and after; 0 where no slope is known. */
  readonly slopeBefore: number;
  readonly slopeAfter: number;
  /** Probability of such a change anywhere in a series in which nothing changed. */
  readonly p: number;
}

/** The changes of a series, and what was taken for noise. */
export interface Segments {
  readonly changes: readonly Change[];
  /** Standard deviation of one value, and the correlation of it with the next. */
  readonly noise: number;
  readonly autocorrelation: number;
  /** Values in a season that was found and removed; 0 without one. */
  readonly period: number;
  /** How many values were taken for outliers. */
  readonly outliers: number;
}

/**
 * When a series changed its level or its trend: the pieces, each flat or straight, that give the
 * least squares plus a price for each change (optimal partitioning with the pruning of PELT: Killick,
 * Fearnhead and Eckley, JASA 107, 2012).
 *
 * Squares are counted in units of the long-run variance of AR(1) noise, which second differences
 * give whatever levels and slopes the series has; the price of a change is such that a series of
 * noise alone gives none with probability 1 - `error`. Runs of one or two outliers are taken out
 * (Hampel filter), a season that the values show is removed. Values that are no numbers are gaps.
 *
 * @param values evenly spaced.
 * @example
 * segments([5, 4, 6, 5, 5, 4, 9, 10, 11, 9, 10, 10]).changes[0]?.at; // 6
 */
export function segments(values: ArrayLike<number>, options: SegmentOptions = {}): Segments {
  const search = { ...SEARCH, ...options.search, ...(options.error && { error: options.error }) };
  const series = readSeries(values, options.weights, search);
  const { y, w, period, outliers } = series;
  const n = y.length;
  const none = { changes: [], noise: 0, autocorrelation: 0, period, outliers };
  const range = y.reduce((high, v) => Math.max(high, v), -Infinity) - Math.min(...y);
  if (n < 2 * search.shortest || !(range > 0)) return none;
  const fit = fits(series);
  const seen = (search.visible * range) ** 2 * Math.max(1, n / search.width);
  const price = priceOf(search.error, n, search.tests);
  const { shortest } = search;
  const slope = search.slope * price;
  let noise = noiseOf(y, w, search.autocorrelation);
  let cuts: number[] = [];
  let unit = 0;
  // What was found first is no noise: the second look is keener.
  for (let look = 0; look < 3; look++) {
    unit = Math.max(noise.longRun, seen);
    const found = partition(fit.costs(unit, slope), n, { price, slope, shortest });
    const same = look > 0 && found.join() === cuts.join();
    cuts = found;
    if (same || cuts.length === 0) break;
    noise = noiseOf(fit.residuals(cuts), w, search.autocorrelation);
  }
  const edges = [0, ...cuts, n];
  const cost = fit.costs(unit, slope);
  const places = refine(fit, n, cuts, { unit, slope, shortest });
  return {
    changes: places.map((place, k): Change => {
      const [a, cut, b] = edges.slice(k, k + 3) as [number, number, number];
      const saved = cost(a, b) - cost(a, cut) - cost(cut, b);
      const change = changeAt(fit, series.index, place, noise.longRun, search.shortest);
      return { ...change, p: pOf(saved, n, search.tests) };
    }),
    noise: Math.sqrt(noise.variance),
    autocorrelation: noise.autocorrelation,
    period,
    outliers,
  };
}

type Search = typeof SEARCH;

/** The tail of an F distribution with 2 and n degrees of freedom, for `tests` * n of them. */
function pOf(squares: number, n: number, tests: number): number {
  return Math.min(1, tests * n * Math.exp((-n / 2) * Math.log1p(squares / n)));
}

/** The squares at which `pOf` is `p`. */
function priceOf(p: number, n: number, tests: number): number {
  return n * Math.expm1((2 / n) * Math.log((tests * n) / p));
}

/** Values without gaps, outliers and season. */
interface Series {
  readonly y: Float64Array;
  readonly w: Float64Array;
  /** Which of the values given each is. */
  readonly index: Int32Array;
  readonly period: number;
  readonly outliers: number;
}

function readSeries(
  values: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  search: Search,
): Series {
  const index = Int32Array.from(values, (_, i) => i).filter((i) => Number.isFinite(values[i]));
  const w = Float64Array.from(index, (i) => weights?.[i] ?? 1);
  const { y, outliers } = withoutOutliers(
    Float64Array.from(index, (i) => values[i]!),
    search.outlier,
  );
  const whole = index.length === values.length;
  const period = whole ? periodOf(y, search.season) : 0;
  return { y: period ? withoutPeriod(y, period) : y, w, index, period, outliers };
}

/** The median of the values up to `half` places around each; fewer at the ends. */
export function runningMedian(y: Float64Array, half: number): Float64Array {
  return mediansWithin(y, (i) => [Math.max(0, i - half), Math.min(y.length, i + half + 1)]);
}

/** The median of the known values from one place to before another, neither of which goes back from value to value. */
export function mediansWithin(
  y: Float64Array,
  ends: (i: number) => readonly [from: number, to: number],
): Float64Array {
  const sorted = new Float64Array(y.length);
  let [many, low, high] = [0, 0, 0];
  /** How many are below it. */
  const placeOf = (value: number): number => {
    let [at, above] = [0, many];
    while (at < above) {
      const middle = (at + above) >> 1;
      if (sorted[middle]! < value) at = middle + 1;
      else above = middle;
    }
    return at;
  };
  return y.map((_, i) => {
    const [from, to] = ends(i);
    for (; high < to; high += 1) {
      if (isNaN(y[high]!)) continue;
      const at = placeOf(y[high]!);
      sorted.copyWithin(at + 1, at, many++);
      sorted[at] = y[high]!;
    }
    for (; low < from; low += 1) {
      if (isNaN(y[low]!)) continue;
      const at = placeOf(y[low]!);
      sorted.copyWithin(at, at + 1, many--);
    }
    return quantileOf(sorted.subarray(0, many), 0.5);
  });
}

/** One or two values that stand far from those around them become their median. */
function withoutOutliers(y: Float64Array, most: number): { y: Float64Array; outliers: number } {
  const middle = runningMedian(y, 2);
  const away = y.map((v, i) => Math.abs(v - middle[i]!));
  const spread = 1.4826 * median(away.filter((v) => v > 0));
  let outliers = 0;
  const kept = y.map((v, i) => {
    if (!(away[i]! > most * spread)) return v;
    outliers += 1;
    return middle[i]!;
  });
  return { y: kept, outliers };
}

/** The shortest period whose autocorrelation, without trend, is as high as any; 0 where it isn't above `least`. */
function periodOf(y: Float64Array, least: number): number {
  const n = y.length;
  const longest = Math.min(n >> 2, 100);
  if (longest < 4) return 0;
  const middle = runningMedian(y, Math.max(3, Math.min(20, n >> 3)));
  const away = y.map((v, i) => v - middle[i]!);
  const most = away.map(Math.abs).sort()[Math.floor(0.9 * n)]!;
  const d = away.map((v) => Math.max(-most, Math.min(most, v)));
  const all = d.reduce((sum, v) => sum + v * v, 0);
  if (!(all > 0)) return 0;
  const r = new Float64Array(longest + 2);
  for (let lag = 1; lag <= longest + 1; lag++) {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += d[i]! * d[i - lag]!;
    r[lag] = ((sum / all) * n) / (n - lag);
  }
  let best = 0;
  for (let lag = 4; lag <= longest; lag++) {
    const peak = r[lag]! >= r[lag - 1]! && r[lag]! >= r[lag + 1]!;
    if (peak && r[lag]! > least && (best === 0 || r[lag]! > r[best]! + 0.1)) best = lag;
  }
  return best;
}

function withoutPeriod(y: Float64Array, period: number): Float64Array {
  const n = y.length;
  const sums = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) sums[i + 1] = sums[i]! + y[i]!;
  const half = period >> 1;
  const away = y.map((v, i) => {
    const [low, high] = [Math.max(0, i - half), Math.min(n, i + half + 1)];
    return v - (sums[high]! - sums[low]!) / (high - low);
  });
  const season = Array.from({ length: period }, (_, k) =>
    median(away.filter((_, i) => i % period === k)),
  );
  const mean = season.reduce((sum, v) => sum + v, 0) / period;
  return y.map((v, i) => v - season[i % period]! + mean);
}

interface Noise {
  readonly variance: number;
  readonly autocorrelation: number;
  /** Variance of a mean of many values, times their number. */
  readonly longRun: number;
}

/**
 * AR(1) noise from second differences over 1 to 6 values, which no level or straight line moves;
 * large ones are cut, so that a change hardly does. Their variance over a distance k is
 * 2 v (1 - r^k) (3 - r^k).
 */
function noiseOf(y: Float64Array, w: Float64Array, most: number): Noise {
  const n = y.length;
  // Steps from one value to the next that no noise makes: what spans one tells nothing of the noise.
  const steps = y.subarray(1).map((v, i) => v - y[i]!);
  const usual = median(steps);
  const far = 4 * 1.4826 * median(steps.map((v) => Math.abs(v - usual)));
  const jumps = new Int32Array(n);
  for (let i = 1; i < n; i++)
    jumps[i] = jumps[i - 1]! + Number(Math.abs(steps[i - 1]! - usual) > far && far > 0);
  const squares = (distance: number): number => {
    const d: number[] = [];
    for (let i = distance; i < n - distance; i++) {
      if (jumps[i + distance] !== jumps[i - distance]) continue;
      const away = y[i + distance]! - 2 * y[i]! + y[i - distance]!;
      d.push(Math.abs(away) * Math.sqrt(w[i]!));
    }
    if (d.length < 6) return NaN;
    const cut = 2.5 * 1.4826 * median(d) || Infinity;
    return d.reduce((sum, v) => sum + Math.min(v, cut) ** 2, 0) / d.length;
  };
  let first = squares(1);
  if (Number.isNaN(first)) {
    jumps.fill(0);
    first = squares(1);
  }
  if (!(first > 0)) return { variance: 0, autocorrelation: 0, longRun: 0 };
  const ratios: number[] = [];
  for (let k = 2; k <= Math.max(2, Math.min(6, n >> 3)); k++) {
    const ratio = squares(k) / first;
    if (ratio > 0) ratios.push(ratio);
    else break;
  }
  // Part of the noise may last, the rest is fresh in each value, as the chance in counts.
  let [least, variance, autocorrelation, longRun] = [Infinity, 0, 0, 0];
  for (const share of [1, 0.5]) {
    for (let r = 0; r < most + 0.01; r += 0.02) {
      const expected = (k: number): number => 6 - 8 * share * r ** k + 2 * share * r ** (2 * k);
      const atOne = expected(1);
      const away = ratios.reduce(
        (sum, ratio, at) => sum + Math.log((ratio * atOne) / expected(at + 2)) ** 2,
        0,
      );
      if (away >= least - 1e-12) continue;
      least = away;
      variance = first / atOne;
      autocorrelation = share * r;
      longRun = variance * (1 - share + (share * (1 + r)) / (1 - r));
    }
  }
  return { variance, autocorrelation, longRun };
}

/** A line through some of the values. */
interface Line {
  readonly mean: number;
  /** Where the mean lies. */
  readonly centre: number;
  readonly slope: number;
  /** Sum of weights, and of weights times squared distance from the centre. */
  readonly weight: number;
  readonly spread: number;
}

/** Least squares of any stretch [a, b) in constant time. */
interface Fits {
  /** Squares around the mean, and around the line. */
  readonly flat: (a: number, b: number) => number;
  readonly straight: (a: number, b: number) => number;
  /** What a stretch costs: its squares / unit, and the price of a slope where that is worth it. */
  readonly costs: (unit: number, slope: number) => (a: number, b: number) => number;
  /** Squares around two lines over [a, b) that meet before `t`. */
  readonly bent: (a: number, t: number, b: number) => number;
  readonly line: (a: number, b: number) => Line;
  readonly residuals: (cuts: readonly number[]) => Float64Array;
}

function fits({ y, w, index }: Series): Fits {
  const n = y.length;
  const [x0, y0] = [index[n >> 1]!, median(y)];
  const [W, X, XX, Y, XY, YY] = Array.from({ length: 6 }, () => new Float64Array(n + 1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let i = 0; i < n; i++) {
    const [u, x, v] = [w[i]!, index[i]! - x0, y[i]! - y0];
    W[i + 1] = W[i]! + u;
    X[i + 1] = X[i]! + u * x;
    XX[i + 1] = XX[i]! + u * x * x;
    Y[i + 1] = Y[i]! + u * v;
    XY[i + 1] = XY[i]! + u * x * v;
    YY[i + 1] = YY[i]! + u * v * v;
  }
  // In the innermost loop of the search: the squares around the mean, or around the line.
  const squares = (a: number, b: number, line: boolean, more: number): number => {
    const m = W[b]! - W[a]!;
    const sy = Y[b]! - Y[a]!;
    const yy = YY[b]! - YY[a]! - (sy * sy) / m;
    if (!line) return yy > 0 ? yy : 0;
    const sx = X[b]! - X[a]!;
    const xx = XX[b]! - XX[a]! - (sx * sx) / m;
    const xy = XY[b]! - XY[a]! - (sx * sy) / m;
    const saved = xx > 0 ? (xy * xy) / xx : 0;
    const rest = saved > more ? yy - saved + more : yy;
    return rest > 0 ? rest : 0;
  };
  const flat = (a: number, b: number): number => squares(a, b, false, 0);
  const straight = (a: number, b: number): number => squares(a, b, true, 0);
  const costs = (unit: number, slope: number) => (a: number, b: number) =>
    squares(a, b, true, slope * unit) / unit;
  const bent = (a: number, t: number, b: number): number => {
    const m = W[b]! - W[a]!;
    const [sx, sy] = [X[b]! - X[a]!, Y[b]! - Y[a]!];
    const xx = XX[b]! - XX[a]! - (sx * sx) / m;
    const xy = XY[b]! - XY[a]! - (sx * sy) / m;
    // h is the distance after the bend, which lies at the value before t.
    const bend = index[t - 1]! - x0;
    const [hm, hx, hy] = [W[b]! - W[t]!, X[b]! - X[t]!, Y[b]! - Y[t]!];
    const hxx = XX[b]! - XX[t]!;
    const sh = hx - hm * bend;
    const hh = hxx - 2 * bend * hx + hm * bend * bend - (sh * sh) / m;
    const xh = hxx - bend * hx - (sh * sx) / m;
    const yh = XY[b]! - XY[t]! - bend * hy - (sh * sy) / m;
    const d = hh * xx - xh * xh;
    if (!(d > 1e-9 * hh * xx)) return Infinity;
    const [after, all] = [(yh * xx - xh * xy) / d, (xy * hh - xh * yh) / d];
    return Math.max(0, YY[b]! - YY[a]! - (sy * sy) / m - after * yh - all * xy);
  };
  const line = (a: number, b: number): Line => {
    const weight = W[b]! - W[a]!;
    const [sx, sy] = [X[b]! - X[a]!, Y[b]! - Y[a]!];
    const spread = XX[b]! - XX[a]! - (sx * sx) / weight;
    const slope = spread > 0 ? (XY[b]! - XY[a]! - (sx * sy) / weight) / spread : 0;
    return { mean: sy / weight + y0, centre: sx / weight + x0, slope, weight, spread };
  };
  const residuals = (cuts: readonly number[]): Float64Array => {
    const rest = Float64Array.from(y);
    const edges = [0, ...cuts, n];
    for (let k = 0; k + 1 < edges.length; k++) {
      const { mean, centre, slope } = line(edges[k]!, edges[k + 1]!);
      for (let i = edges[k]!; i < edges[k + 1]!; i++) {
        rest[i] = y[i]! - mean - slope * (index[i]! - centre);
      }
    }
    return rest;
  };
  return { flat, straight, costs, bent, line, residuals };
}

/** The cuts of least cost, a price for each. */
function partition(
  cost: (a: number, b: number) => number,
  n: number,
  { price, slope, shortest }: { price: number; slope: number; shortest: number },
): number[] {
  const best = new Float64Array(n + 1).fill(Infinity);
  const before = new Int32Array(n + 1);
  const whole = new Float64Array(n + 1);
  best[0] = -price;
  const live = [0];
  for (let t = shortest; t <= n; t++) {
    if (t >= 2 * shortest && best[t - shortest]! < Infinity) live.push(t - shortest);
    for (const s of live) {
      whole[s] = best[s]! + cost(s, t);
      if (whole[s] + price < best[t]!) [best[t], before[t]] = [whole[s] + price, s];
    }
    // A start that is worse already by more than a slope can save stays worse.
    let kept = 0;
    for (const s of live) {
      if (t - s < 2 * shortest || whole[s]! - slope < best[t]!) live[kept++] = s;
    }
    live.length = kept;
  }
  const cuts: number[] = [];
  for (let t = before[n]!; t > 0; t = before[t]!) cuts.push(t);
  return cuts.reverse();
}

type Shape = "step" | "jump" | "bend";

/** A cut between its neighbours, with the squares of its shape at each place of it. */
interface Place {
  readonly a: number;
  readonly at: number;
  readonly b: number;
  readonly shape: Shape;
}

function squaresOf({ flat, straight, bent }: Fits, shape: Shape, a: number, t: number, b: number) {
  if (shape === "bend") return bent(a, t, b);
  return shape === "step" ? flat(a, t) + flat(t, b) : straight(a, t) + straight(t, b);
}

/**
 * Each cut in the place and the shape that fit best between its neighbours, which are taken as they
 * are: two levels, two lines that meet, or two lines; a parameter more costs what a slope does.
 */
function refine(
  fit: Fits,
  n: number,
  cuts: readonly number[],
  { unit, slope, shortest }: { unit: number; slope: number; shortest: number },
): Place[] {
  const edges = [0, ...cuts, n];
  const shapes = cuts.map((): Shape => "step");
  const shapesBy: readonly [Shape, number][] = [
    ["step", 0],
    ["bend", 1],
    ["jump", 2],
  ];
  for (let sweep = 0; sweep < 3; sweep++) {
    let moved = false;
    for (let k = 1; k + 1 < edges.length; k++) {
      const [a, b] = [edges[k - 1]!, edges[k + 1]!];
      let least = Infinity;
      let at = edges[k]!;
      for (const [shape, parameters] of shapesBy) {
        for (let t = a + shortest; t <= b - shortest; t++) {
          const cost = squaresOf(fit, shape, a, t, b) + parameters * slope * unit;
          if (cost < least) [least, at, shapes[k - 1]] = [cost, t, shape];
        }
      }
      if (at !== edges[k]) moved = true;
      edges[k] = at;
    }
    if (!moved) break;
  }
  return shapes.map((shape, k) => ({ a: edges[k]!, at: edges[k + 1]!, b: edges[k + 2]!, shape }));
}

function changeAt(
  fit: Fits,
  index: Int32Array,
  { a, at, b, shape }: Place,
  longRun: number,
  shortest: number,
): Omit<Change, "p"> {
  const [left, right] = [fit.line(a, at), fit.line(at, b)];
  // The places that the likelihood doesn't exclude: 7.35 is the 95 % point (Hansen, Econometrica 68, 2000).
  const least = squaresOf(fit, shape, a, at, b);
  const near = (t: number): boolean =>
    t >= a + shortest &&
    t <= b - shortest &&
    squaresOf(fit, shape, a, t, b) <= least + 7.35 * longRun;
  let [low, high] = [at, at];
  while (near(low - 1)) low -= 1;
  while (near(high + 1)) high += 1;
  const slopeOf = (line: Line): number =>
    shape !== "step" && line.slope ** 2 * line.spread > 9 * longRun ? line.slope : 0;
  const [slopeBefore, slopeAfter] =
    shape === "bend" ? [left.slope, right.slope] : [slopeOf(left), slopeOf(right)];
  const value = (line: Line, slope: number, x: number): number =>
    line.mean + slope * (x - line.centre);
  const end = shape === "bend" ? index[b - 1]! : (index[at - 1]! + index[at]!) / 2;
  const before = value(left, slopeBefore, end);
  const after = value(right, slopeAfter, end);
  const variance = (line: Line, slope: number): number =>
    1 / line.weight + (slope !== 0 && line.spread > 0 ? (end - line.centre) ** 2 / line.spread : 0);
  // Of few values the noise itself is known badly: 1 + 12 / n holds 95 % of seeded series of 60.
  const margin =
    1.96 *
    (1 + 12 / index.length) *
    Math.sqrt(longRun * (variance(left, slopeBefore) + variance(right, slopeAfter)));
  const kind = shape === "bend" ? "trend" : "level";
  const [from, to] = [index[low]!, index[high]!];
  return { at: index[at]!, from, to, kind, before, after, margin, slopeBefore, slopeAfter };
}
