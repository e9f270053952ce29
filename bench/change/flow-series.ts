/**
 * Seeded hourly counts with a day and a week, of many kinds: bursts, few counts, trends, holidays,
 * changes of level, changing noise, outages. Drops are set in by binomial thinning.
 */
import { seeded } from "../../test/support/change/draws.js";

/** An hourly series with drops set into it. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly warmup: number;
  /** Hours, from and up to, in which an alarm is none of the two. */
  readonly ignore: readonly (readonly [number, number])[];
  readonly drops: readonly {
    readonly at: number;
    readonly depth: number;
    readonly replace: readonly (number | null)[];
  }[];
}

/** How a kind of series is made; what is a pair is drawn between the two. */
interface Kind {
  readonly weeks: number;
  /** Usual counts an hour, drawn evenly on the log scale. */
  readonly level: readonly [number, number];
  /** Height of the day and of the weekend, on the log scale. */
  readonly day: readonly [number, number];
  readonly weekend: readonly [number, number];
  /** Noise on the log scale, its correlation from hour to hour, and its degrees of freedom (0: skewed). */
  readonly noise: readonly [number, number];
  readonly correlation: readonly [number, number];
  readonly freedom: number;
  /** Chance of a burst in an hour and its mean height on the log scale. */
  readonly bursts: readonly [number, number];
  readonly height: number;
  /** Shape of the gamma distribution that the Poisson rate is drawn from: less is more scattered. */
  readonly shape: readonly [number, number];
  /** Change of the level a week, chance of a holiday a day, of a change of level and of an outage an hour. */
  readonly trend: number;
  readonly holidays: number;
  readonly changes: number;
  readonly outages: number;
  readonly volatile: boolean;
}

const WEB: Kind = {
  weeks: 10,
  level: [30, 2000],
  day: [0.3, 1.2],
  weekend: [0, 0.5],
  noise: [0.1, 0.35],
  correlation: [0.3, 0.9],
  freedom: 4,
  bursts: [0.002, 0.02],
  height: 0.9,
  shape: [5, 100],
  trend: 0.03,
  holidays: 0.01,
  changes: 0,
  outages: 0,
  volatile: false,
};

const MADE: Readonly<Record<string, Kind>> = {
  web: WEB,
  social: {
    ...WEB,
    level: [30, 1000],
    day: [0.2, 0.9],
    noise: [0.1, 0.3],
    freedom: 0,
    bursts: [0.01, 0.06],
    height: 1,
    shape: [4, 40],
  },
  "few counts": {
    ...WEB,
    level: [2, 30],
    freedom: 0,
    bursts: [0.01, 0.06],
    height: 1.1,
    shape: [2, 20],
  },
  smooth: {
    ...WEB,
    weeks: 16,
    level: [1000, 50_000],
    day: [0.6, 1.2],
    weekend: [0.1, 0.4],
    noise: [0.015, 0.05],
    correlation: [0.6, 0.9],
    bursts: [0, 0.001],
    height: 0.2,
    shape: [500, 3000],
    holidays: 0.02,
  },
  business: { ...WEB, level: [20, 500], day: [1.2, 2.2], weekend: [0.5, 1.5], holidays: 0.02 },
  "changes of level": { ...WEB, noise: [0.05, 0.2], changes: 0.001 },
  "changing noise": { ...WEB, noise: [0.06, 0.2], volatile: true },
  "outages before": { ...WEB, noise: [0.05, 0.2], outages: 0.002 },
};
export const KINDS = Object.keys(MADE);

/** A series of a kind; the same for the same seed. */
export function syntheticSeries(kind: string, seed: number): Series {
  return makeSeries(`${kind} ${seed}`, MADE[kind]!, seed * 131 + KINDS.indexOf(kind), 6);
}

/** What a measurement service's counts look like: no bursts, moderate noise, 12 weeks. */
export function serviceSeries(seed: number): Series {
  const kind: Kind = {
    ...WEB,
    weeks: 12,
    level: [100, 5000],
    day: [0.1, 0.7],
    weekend: [0, 0.3],
    noise: [0.02, 0.08],
    freedom: 100,
    bursts: [0, 0],
    shape: [50, 1000],
    trend: 0.01,
    holidays: 0,
  };
  return makeSeries(`service ${seed}`, kind, 77_000 + seed, 6);
}

const LARGE = ["50,000 with growth", "5,000", "wandering level"] as const;

/**
 * Large counts, whose scatter is that of counting and little else: 50,000 an hour with a day, a weekend
 * and growth of up to 5 % a week; 5,000 an hour; 20,000 whose level wanders. Kinds take turns with the seed.
 */
export function largeSeries(seed: number): Series {
  const kind = LARGE[seed % LARGE.length]!;
  const draw = generator(88_000 + seed);
  const growth = kind === LARGE[0] ? draw.between(0, 0.05) : 0;
  const wander = kind === LARGE[2] ? draw.between(0.005, 0.02) : 0;
  const level = kind === LARGE[0] ? 50_000 : kind === LARGE[1] ? 5_000 : 20_000;
  const [day, weekend] = [draw.between(0.2, 0.7), draw.between(0, 0.4)];
  let wandered = 0;
  const values = Array.from({ length: 12 * 168 }, (_, hour) => {
    wandered = 0.995 * wandered + wander * draw.normal();
    const season = 1 + day * Math.sin((2 * Math.PI * hour) / 24);
    const part = Math.floor(hour / 24) % 7 > 4 ? 1 - weekend : 1;
    return draw.poisson(level * season * part * (1 + growth) ** (hour / 168) * Math.exp(wandered));
  });
  return { name: kind, values, warmup: 672, ignore: [], drops: dropsIn(values, 672, [], 6, draw) };
}

/** Hourly rows of few users, with a day and a weekend; of each run a geometric number of rows, ten in the mean. */
export function thinSeries(seed: number, perHour: number, inRuns: boolean) {
  const { uniform, poisson } = seeded(Math.imul(seed + 1, 0x9e3779b1) + perHour);
  const mean = inRuns ? 10 : 1;
  const rowsOf = () =>
    inRuns ? 1 + Math.floor(Math.log(1 - uniform()) / Math.log(1 - 1 / mean)) : 1;
  const runs = Array.from({ length: 16 * 168 }, (_, hour) => {
    const day = 1 + 0.5 * Math.sin((2 * Math.PI * hour) / 24);
    const weekend = Math.floor(hour / 24) % 7 > 4 ? 0.8 : 1;
    return Array.from({ length: poisson((perHour / mean) * day * weekend) }, rowsOf);
  });
  const sum = (some: readonly number[]) => some.reduce((all, rows) => all + rows, 0);
  /** The hours from one up to another, of whose runs a share is left. */
  const lose = (from: number, to: number, left: number) =>
    runs.slice(from, to).map((hour) => sum(hour.filter(() => uniform() < left)));
  return { values: runs.map(sum), warmup: 672, lose };
}

function makeSeries(name: string, kind: Kind, seed: number, dropCount: number): Series {
  const draw = generator(seed);
  const { uniform, normal, between } = draw;
  const hours = kind.weeks * 168;
  const warmup = 672;
  const level = Math.exp(between(Math.log(kind.level[0]), Math.log(kind.level[1])));
  const [day, weekend] = [between(...kind.day), between(...kind.weekend)];
  const [noise, correlation] = [between(...kind.noise), between(...kind.correlation)];
  const [bursts, shape] = [between(...kind.bursts), between(...kind.shape)];
  const trend = between(-kind.trend, kind.trend) / 168;
  const [peak, second] = [uniform() * 24, uniform() * 24];
  let [mean, wander, burst, decay, spread, out, step, steps] = [
    Math.log(level),
    0,
    0,
    0.5,
    1,
    0,
    0,
    0,
  ];
  let holiday = 0;
  const ignore: [number, number][] = [];
  const values = Array.from({ length: hours }, (_, at) => {
    const hour = at % 24;
    const isWeekend = Math.floor(at / 24) % 7 >= 5;
    if (hour === 0) {
      holiday = uniform() < kind.holidays ? between(0.2, 0.7) : 0;
      if (holiday > 0) ignore.push([at, at + 24]);
    }
    const innovation =
      kind.freedom === 0
        ? (draw.exponential() - 1) * 0.8 + normal() * 0.5
        : draw.student(kind.freedom);
    if (kind.volatile)
      spread = Math.sqrt(0.03 + 0.12 * Math.min(9, (wander / noise) ** 2) + 0.85 * spread ** 2);
    wander =
      correlation * wander +
      noise * spread * Math.sqrt(1 - correlation ** 2) * Math.max(-5, Math.min(8, innovation));
    if (uniform() < bursts) {
      burst += kind.height * draw.exponential();
      decay = between(0.2, 0.85);
    } else burst *= decay;
    if (uniform() < kind.changes) {
      steps = Math.ceil(between(1, 48));
      step = (normal() * 0.25) / steps;
    }
    mean += trend + (steps-- > 0 ? step : 0);
    if (uniform() < kind.outages && at < warmup) out = Math.ceil(between(0, 6));
    const season =
      day * Math.cos((2 * Math.PI * (hour - peak)) / 24) +
      0.3 * day * Math.cos((4 * Math.PI * (hour - second)) / 24) -
      (isWeekend ? weekend : 0);
    const log =
      mean + season + wander + burst - holiday * Math.min(1, hour / 4) - (out-- > 0 ? 3 : 0);
    const rate = (Math.exp(Math.min(log, 13)) * draw.gamma(shape)) / shape;
    return draw.poisson(rate);
  });
  return { name, values, warmup, ignore, drops: dropsIn(values, warmup, ignore, dropCount, draw) };
}

/** Drops of each depth, of which each measurement is lost by itself, at places with enough to lose. */
function dropsIn(
  values: readonly number[],
  warmup: number,
  ignore: Series["ignore"],
  places: number,
  { uniform, binomial }: ReturnType<typeof generator>,
) {
  const drops: { at: number; depth: number; replace: number[] }[] = [];
  for (let tries = 0; tries < 4000 && drops.length < 3 * places; tries++) {
    const at = warmup + Math.floor(uniform() * (values.length - warmup - 2));
    if (values[at]! + values[at + 1]! < 30) continue;
    if (ignore.some(([from, to]) => at >= from && at < to)) continue;
    for (const depth of [30, 50, 80]) {
      const replace = [0, 1].map((by) => binomial(values[at + by]!, 1 - depth / 100));
      drops.push({ at, depth, replace });
    }
  }
  return drops;
}

/** Draws of a seed; gamma by Marsaglia and Tsang (2000). */
function generator(seed: number) {
  const { uniform, normal, poisson } = seeded(Math.imul(seed + 1, 0x9e3779b1));
  const between = (low: number, high: number) => low + (high - low) * uniform();
  const exponential = () => -Math.log(1 - uniform());
  const gamma = (shape: number): number => {
    if (shape < 1) return gamma(shape + 1) * uniform() ** (1 / shape);
    const d = shape - 1 / 3;
    for (;;) {
      const x = normal();
      const v = (1 + x / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(uniform()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  };
  const student = (freedom: number) =>
    freedom > 50
      ? normal()
      : (normal() / Math.sqrt(gamma(freedom / 2) / (freedom / 2))) *
        Math.sqrt((freedom - 2) / freedom);
  const binomial = (n: number, p: number): number => {
    if (n > 200) {
      return Math.max(0, Math.min(n, Math.round(n * p + Math.sqrt(n * p * (1 - p)) * normal())));
    }
    return Array.from({ length: n }, uniform).filter((chance) => chance < p).length;
  };
  return { uniform, normal, between, exponential, gamma, student, poisson, binomial };
}
