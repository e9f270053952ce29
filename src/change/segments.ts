import { median } from "../base/statistics.js";
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

/** A change: `at`, `until`, `from` and `to` are places of values. */
export interface Change {
  /** The first value after a step; the first of a slope. */
  readonly at: number;
  /** The same for a step; for a slope the first value after it, the number of values if it doesn't end. */
  readonly until: number;
  /** 95 % interval of `at`, both ends included. */
  readonly from: number;
  readonly to: number;
  readonly kind: "step" | "slope";
  /** The level just before and just after. */
  readonly before: number;
  readonly after: number;
  /** Half the width of the 95 % interval of `after - before`. */
  readonly margin: number;
  /** Probability of such a change anywhere in a series in which nothing changed. */
  readonly p: number;
}

/** The changes of a series, and what else is known of its level. */
export interface Segmented {
  readonly changes: Change[];
  /** The step, in the values' unit, that 95 of 100 series would have shown had it lasted a quarter of them. */
  readonly least: number;
  /** The ends of a straight line through a series that rises or falls without a change; null where it does neither. */
  readonly trend: { readonly from: number; readonly to: number } | null;
}

/**
 * When a series changed its level: pieces, each flat or sloped, of least squares plus a price for each
 * piece and slope (optimal partitioning with the pruning of PELT: Killick, Fearnhead and Eckley, JASA
 * 107, 2012). A step is a change, and so is a slope, from where it begins to where it ends.
 *
 * Squares are counted in units of the long-run variance of AR(1) noise, which is learned from what the
 * pieces leave: of all units the smallest is taken whose own pieces leave no more noise than it. So a
 * step isn't mistaken for autocorrelation, nor autocorrelation for steps. One or two values far off
 * are taken out (Hampel filter), a season that the values show is removed.
 *
 * @param values evenly spaced; NaN is a gap.
 * @param error probability that a series in which nothing changed gives any change.
 */
export function segments(values: ArrayLike<number>, error = 0.05): Segmented {
  const index = Int32Array.from(values, (_, at) => at).filter((at) => Number.isFinite(values[at]));
  const clean = withoutOutliers(Float64Array.from(index, (at) => values[at]!));
  const n = clean.length;
  if (n < 2 * SHORTEST || clean.every((value) => value === clean[0])) {
    return { changes: [], least: n < 2 * SHORTEST ? Infinity : 0, trend: null };
  }
  const period = n === values.length ? periodOf(clean) : 0;
  const slots = Int32Array.from(clean, (_, at) => at % Math.max(1, period));
  const y = period === 0 ? clean : withoutCycle(clean, slots, period, false);
  const fit = fitsOf(y, index);
  const variance = fit.squares(0, n) / n;
  const price = PRICE(n) * (1 + FEW / n) + 2 * Math.log(0.05 / error);
  const least = Math.max(VISIBLE * variance, whiteVariance(y));
  let found = { cuts: [] as number[], unit: Math.max(variance, least), noise: variance };
  for (let unit = 2 * found.unit; unit > least;) {
    unit = Math.max(least, unit / 1.5);
    const cost = fit.costs(unit);
    // A slope of the whole is a change as well: at a slope's price it would hide a step.
    const whole = fit.squares(0, n, price * unit) / unit;
    let cuts = partition((a, b) => (b - a === n ? whole : cost(a, b)), n, price);
    // Slopes are cut where they save as much beside one slope of the whole as a step beside a level.
    const sloped = [0, ...cuts].some((a, k) => fit.line(a, cuts[k] ?? n, unit).slope !== 0);
    const total = [0, ...cuts].reduce((sum, a, k) => sum + cost(a, cuts[k] ?? n), 0);
    if (sloped && total + price * cuts.length > cost(0, n)) cuts = [];
    const noise = longRun(fit.residuals(cuts, unit));
    if (noise <= unit || cuts.length === 0) found = { cuts, unit, noise };
  }
  const changes = changesOf(fit, index, n, { ...found, price, error });
  // As the search does: a level of a quarter of the values has two cuts, and saves 3 / 16 of the values
  // times the square of its step.
  const { rest } = fit.residuals(found.cuts, found.unit);
  const noise = UNIT * longRun({ rest, parameters: 2 * found.cuts.length + 5 });
  const step = (Math.sqrt(2 * price) + POWER) * Math.sqrt((noise * 16) / (3 * n)) * (1 + FEWER / n);
  const line = fit.line(0, n, found.unit);
  const isTrend = found.cuts.length === 0 && line.saved > price * found.unit;
  const trend = isTrend ? { from: line.value(index[0]!), to: line.value(index[n - 1]!) } : null;
  return { changes, least: step, trend };
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
function longRun({ rest, parameters }: { rest: Float64Array; parameters: number }): number {
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
  readonly slope: number;
  /** Squares that the slope saves. */
  readonly saved: number;
  readonly value: (index: number) => number;
  /** Variance of the value at an index, in units of the noise. */
  readonly variance: (index: number) => number;
}

/** Least squares of any piece [a, b) in constant time. */
interface Fits {
  /** Around the mean, or around the line where its slope saves more than that costs. */
  readonly squares: (a: number, b: number, slope?: number) => number;
  /** What a piece costs: its squares in units, with a slope where that is worth its price. */
  readonly costs: (unit: number) => (a: number, b: number) => number;
  readonly line: (a: number, b: number, unit: number) => Line;
  /** Squares around the means of [a, from) and [until, b), and the straight line between them. */
  readonly ramp: (a: number, from: number, until: number, b: number) => number;
  readonly residuals: (
    cuts: readonly number[],
    unit: number,
  ) => { rest: Float64Array; parameters: number };
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
  const line = (a: number, b: number, unit: number): Line => {
    const m = b - a;
    const [sx, sy] = [X[b]! - X[a]!, Y[b]! - Y[a]!];
    const [xx, xy] = [product(X, X, XX, a, b), product(X, Y, XY, a, b)];
    const saved = xx > 0 ? (xy * xy) / xx : 0;
    const slope = saved > SLOPE * unit ? xy / xx : 0;
    const centre = sx / m + x0;
    return {
      slope,
      saved,
      value: (at) => sy / m + y0 + slope * (at - centre),
      variance: (at) => 1 / m + (slope === 0 ? 0 : (at - centre) ** 2 / xx),
    };
  };
  const ramp = (a: number, from: number, until: number, b: number): number => {
    const of = (column: Float64Array) => column[until]! - column[from]!;
    const before = (Y[from]! - Y[a]!) / (from - a);
    const slope = ((Y[b]! - Y[until]!) / (b - until) - before) / (x(until) - x(from));
    const level = before - slope * x(from);
    const within =
      of(YY) +
      slope ** 2 * of(XX) +
      level ** 2 * (until - from) +
      2 * (level * slope * of(X) - level * of(Y) - slope * of(XY));
    return squares(a, from) + squares(until, b) + within;
  };
  return {
    squares,
    ramp,
    costs: (unit) => (a, b) => squares(a, b, SLOPE * unit) / unit,
    line,
    residuals: (cuts, unit) => {
      const edges = [0, ...cuts, n];
      const lines = edges.slice(1).map((end, k) => line(edges[k]!, end, unit));
      let piece = 0;
      const rest = y.map((value, at) => {
        if (at === edges[piece + 1]) piece += 1;
        return value - lines[piece]!.value(index[at]!);
      });
      const slopes = lines.filter(({ slope }) => slope !== 0).length;
      return { rest, parameters: cuts.length + lines.length + slopes };
    },
  };
}

/** The cuts of least cost, with a price for each. */
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

/** Steps between pieces, and sloped pieces, in the order of time. */
function changesOf(
  fit: Fits,
  index: Int32Array,
  n: number,
  {
    cuts,
    unit,
    noise,
    price,
    error,
  }: Record<"unit" | "noise" | "price" | "error", number> & {
    cuts: readonly number[];
  },
): Change[] {
  if (cuts.length === 0) return [];
  const edges = [0, ...cuts, n];
  const cost = fit.costs(unit);
  // A slope that isn't worth a change by itself is a level.
  const lines = edges.slice(1).map((end, k) => fit.line(edges[k]!, end, (price / SLOPE) * unit));
  /** By how much a piece rises or falls. */
  const riseOf = (k: number) =>
    Math.abs(lines[k]!.slope) * (index[edges[k + 1]! - 1]! - index[edges[k]!]!);
  /** The bound between two pieces: where else it may lie, how clear it is, and its jump. */
  const bounds = cuts.map((cut, k) => {
    const [a, b] = [edges[k]!, edges[k + 2]!];
    const split = (t: number) => cost(a, t) + cost(t, b);
    // The places that the likelihood doesn't exclude.
    const near = (t: number) =>
      t >= a + SHORTEST && t <= b - SHORTEST && split(t) <= split(cut) + (EXCLUDED * noise) / unit;
    let [from, to] = [cut, cut];
    while (near(from - 1)) from -= 1;
    while (near(to + 1)) to += 1;
    const x = (index[cut - 1]! + index[cut]!) / 2;
    const [left, right] = [lines[k]!, lines[k + 1]!];
    const [before, after] = [left.value(x), right.value(x)];
    const margin =
      1.96 * (1 + FEWER / n) * Math.sqrt(noise * (left.variance(x) + right.variance(x)));
    // A slope that goes over into a level has small jumps at its ends by chance.
    const rise = Math.max(...[k, k + 1].map(riseOf));
    const jump = after - before;
    const along = [left, right].some(({ slope }) => slope * jump > 0);
    const jumps = rise === 0 || Math.abs(jump) > Math.max(2 * margin, along ? rise : rise / 2);
    const unchanged = fit.squares(a, b, price * unit) / unit;
    const p = Math.min(1, error * Math.exp((price - (unchanged - split(cut))) / 2));
    const place = { at: index[cut]!, from: index[from]!, to: index[to]! };
    const gradual = rise === 0 ? rampOf(fit, index, [a, cut, b], unit, noise) : undefined;
    return { ...place, p, before, after, margin, jumps, gradual };
  });
  const jumps = bounds
    .filter(({ jumps }) => jumps)
    .map(({ jumps: _, gradual, ...bound }): Change => {
      if (gradual === undefined) return { ...bound, kind: "step", until: bound.at };
      const [at, until, from, to] = gradual;
      return { ...bound, kind: "slope", at, until, from, to };
    });
  const changes = joined(jumps);
  lines.forEach((line, k) => {
    if (riseOf(k) === 0) return;
    const [begin, end] = [bounds[k - 1], bounds[k]];
    const at = begin?.at ?? 0;
    const last = index[n - 1]!;
    // Where it meets a level, that is known better than its own end; two slopes meet in the middle.
    const meets = (bound: (typeof bounds)[number] | undefined, other: Line | undefined) => {
      if (bound === undefined || other === undefined || bound.jumps) return undefined;
      return other.slope === 0 ? other.value(bound.at) : (bound.before + bound.after) / 2;
    };
    const before = meets(begin, lines[k - 1]) ?? line.value(begin ? at : 0);
    const after = meets(end, lines[k + 1]) ?? line.value(end ? end.at - 1 : last);
    const [first, second] = [begin?.margin ?? 0, end?.margin ?? 0];
    changes.push({
      kind: "slope",
      at,
      until: end?.at ?? last + 1,
      from: begin?.from ?? at,
      to: begin?.to ?? at,
      before,
      after,
      margin: Math.hypot(first, second) || 1.96 * Math.sqrt(2 * noise * line.variance(last)),
      p: Math.min(begin?.p ?? 1, end?.p ?? 1),
    });
  });
  return changes.sort((a, b) => a.at - b.at);
}

/** A slope between levels, and what goes on in its direction before as long again has passed, are one change. */
function joined(changes: readonly Change[]): Change[] {
  return changes.reduce<Change[]>((all, change) => {
    const last = all.at(-1);
    const width = Math.max(change.until - change.at, last ? last.until - last.at : 0);
    const isOne =
      last !== undefined &&
      change.at - last.until < width &&
      (change.after - change.before) * (last.after - last.before) > 0;
    if (!isOne) return [...all, change];
    const { until, after } = change;
    const margin = Math.hypot(last.margin, change.margin);
    const p = Math.min(last.p, change.p);
    return [...all.slice(0, -1), { ...last, kind: "slope", until, after, margin, p }];
  }, []);
}

/**
 * Of a step between two levels, a gradual change that fits better by the price of a slope: its first
 * value, the first after it, and the ends of the 95 % interval of the first; undefined without one.
 */
function rampOf(
  fit: Fits,
  index: Int32Array,
  [a, cut, b]: readonly [number, number, number],
  unit: number,
  noise: number,
): readonly [at: number, until: number, from: number, to: number] | undefined {
  const ramps: { from: number; until: number; squares: number }[] = [];
  for (let half = 2; 2 * half < b - a; half = Math.ceil(1.4 * half)) {
    for (let place = -4; place <= 4; place++) {
      const from = cut - half + Math.round((place * half) / 4);
      const until = from + 2 * half;
      if (from < a + SHORTEST || until > b - SHORTEST) continue;
      ramps.push({ from, until, squares: fit.ramp(a, from, until, b) });
    }
  }
  const step = fit.squares(a, cut) + fit.squares(cut, b);
  const best = ramps.reduce((one, other) => (other.squares < one.squares ? other : one), {
    from: cut,
    until: cut,
    squares: step - SLOPE * unit,
  });
  if (best.until === cut) return undefined;
  const near = ramps.filter(({ squares }) => squares <= best.squares + EXCLUDED * noise);
  const begins = near.map(({ from }) => from);
  const place = (of: number) => index[of]!;
  const [first, last] = [Math.min(...begins), Math.max(...begins)];
  return [place(best.from), place(best.until), place(first), place(last)];
}
