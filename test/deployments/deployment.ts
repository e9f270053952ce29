import { TIME_TYPES, type TimeType } from "./time-types.js";

/** What deployments differ in, besides how they write an instant; every two values of two of these meet. */
const FACTORS = {
  zone: ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"],
  engine: ["MergeTree", "ReplacingMergeTree", "CollapsingMergeTree", "View", "Memory"],
  user: ["default", "ro1", "ro2", "bound"],
  names: ["seed", "elsewhere", "columns", "odd"],
  dirty: ["clean", "dirty"],
  optional: ["all", "some", "none"],
  report: ["String", "LowCardinality(String)", "Nullable(String)", "FixedString(80)"],
  name: [
    ...["String", "LowCardinality(String)", "FixedString(30)", "Nullable(String)"],
    "Enum8('' = 1, 'O\\'Brien \"x\"' = 2, 'naïve`tick' = 3, 'probe-cli' = 4, '\uFEFFbom' = 5)",
  ],
  version: ["String", "Nullable(String)", "LowCardinality(Nullable(String))", "FixedString(12)"],
  asn: ["UInt32", "Nullable(UInt32)", "Int64", "String", "LowCardinality(Nullable(String))"],
  failure: ["String", "Bool", "Nullable(UInt8)", "Enum8('f' = 0, 't' = 1)"],
  priority: [
    ...["UInt8", "Nullable(UInt8)", "String", "LowCardinality(Nullable(String))"],
    ...["Enum8('info' = 6, 'warning' = 4, 'err' = 3, 'none' = 99)", "missing"],
  ],
  message: ["String", "Nullable(String)"],
  form: ["collector", "combined", "json", "own"],
} as const;

type Factors = { readonly [F in keyof typeof FACTORS]: (typeof FACTORS)[F][number] };

const ALL = Object.entries<readonly string[]>(FACTORS);

function isWhole(chosen: Readonly<Record<string, string>>): chosen is Factors {
  return ALL.every(([factor, values]) => values.includes(chosen[factor] ?? ""));
}

/** How one deployment has its tables, as plain data. */
export interface Deployment extends Factors {
  readonly id: number;
  readonly time: TimeType;
  readonly logTime: TimeType;
}

/** A repeatable random number from 0 to 1 (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * As many deployments, in which every time type occurs as often as any other and the pairs of the
 * other factors' values are covered greedily.
 */
export function deployments(many: number): Deployment[] {
  const next = random(10);
  const covered = new Set<string>();
  const pair = (a: string, x: string, b: string, y: string) => `${a}=${x} ${b}=${y}`;
  const logTimes = TIME_TYPES.filter(({ days }) => days !== true);
  return Array.from({ length: many }, (_, id) => {
    const chosen: [string, string][] = [];
    for (const [factor, values] of [...ALL].sort(() => next() - 0.5)) {
      const fresh = (value: string) =>
        chosen.filter(([b, y]) => !covered.has(pair(factor, value, b, y))).length + next() / 2;
      const [best] = values.map((value) => ({ value, n: fresh(value) })).sort((a, b) => b.n - a.n);
      chosen.push([factor, best?.value ?? ""]);
    }
    for (const [a, x] of chosen) for (const [b, y] of chosen) covered.add(pair(a, x, b, y));
    const whole: Record<string, string> = Object.fromEntries(chosen);
    const time = TIME_TYPES[id % TIME_TYPES.length];
    const logTime = logTimes[(id * 7 + 3) % logTimes.length];
    if (!isWhole(whole) || !time || !logTime) throw new Error(`no values for ${id}`);
    return { ...whole, id, time, logTime };
  });
}

/** Pairs of factors' values that no deployment has. */
export function uncovered(all: readonly Deployment[]): string[] {
  const has = all.map((one) => new Map(Object.entries<unknown>({ ...one })));
  return ALL.flatMap(([a, xs], at) =>
    ALL.slice(at + 1).flatMap(([b, ys]) =>
      xs.flatMap((x) =>
        ys
          .filter((y) => !has.some((one) => one.get(a) === x && one.get(b) === y))
          .map((y) => `${a}=${x} ${b}=${y}`),
      ),
    ),
  );
}

/** A deployment in a few words, for a test's name. */
export function describeDeployment(one: Deployment): string {
  const { id, time, logTime, zone, engine, user, names, dirty, optional } = one;
  return `${id}: ${time.type} (${time.write(1_761_000_000_000_000)}), ${zone}, ${engine}, ${user}, ${names} names, ${dirty}, ${optional} optional; logs ${logTime.type}, ${one.priority.slice(0, 30)}, ${one.form}`;
}
