/**
 * Change points: the public series of TCPD (only what stands in the benchmark folder), and counts
 * made here, with day, week, autocorrelated noise, outliers, and one drop or none.
 */
import { table } from "arquero";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { changePoints } from "../../src/change/series/change-points.js";
import { segments } from "../../src/change/series/segments.js";
import type { Origin } from "../../src/result/origin.js";
import { Result } from "../../src/result/result.js";
import { between } from "../../src/time/time-range.js";

const HOUR = 3_600_000;

/** Metrics `tcpd_f1`, `tcpd_covering`, `change_point_hit`, `quiet_share`; prints the table of series. */
export async function changePointMetrics(): Promise<Record<string, number>> {
  const rows = scoreTcpd();
  console.table(rows);
  const mean = (name: "f1" | "covering"): number =>
    rows.reduce((sum, row) => sum + row[name], 0) / rows.length;
  const counts = await scoreCounts(Number(process.env["SEEDS"] ?? 300));
  return { tcpd_f1: mean("f1"), tcpd_covering: mean("covering"), ...counts };
}

interface TcpdCase {
  readonly case: string;
  readonly values: readonly (number | null)[];
}

interface TcpdTruth {
  readonly case: string;
  readonly n: number;
  readonly annotations: Readonly<Record<string, readonly number[]>>;
  readonly core: boolean;
}

/** A row for each series of the folder with one variable and nothing missing. */
export function scoreTcpd() {
  const folder = process.env["PROBELAB_BENCHMARKS"] ?? join("..", "shared", "benchmarks");
  const lines = <Row>(text: string): Row[] =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  const cases = lines<TcpdCase>(
    gunzipSync(readFileSync(join(folder, "changepoints.jsonl.gz"))).toString(),
  );
  const truths = new Map(
    lines<TcpdTruth>(readFileSync(join(folder, "changepoints.truth.jsonl"), "utf8")).map(
      (truth) => [truth.case, truth],
    ),
  );
  return cases.flatMap(({ case: name, values }) => {
    const truth = truths.get(name);
    if (truth?.core !== true) return [];
    const { steps } = segments(values.map((value) => (value === null ? NaN : Number(value))));
    const found = rising(steps.map(({ at }) => at));
    const annotations = Object.values(truth.annotations);
    return [
      {
        name,
        f1: f1(annotations, found),
        covering: covering(annotations, found, truth.n),
        found: found.join(" "),
      },
    ];
  });
}

/** F1 of TCPDBench with margin 5: precision against all annotators together, recall the mean of theirs. */
export function f1(annotations: readonly (readonly number[])[], found: readonly number[]): number {
  const given = rising([0, ...found]);
  const hits = (truth: readonly number[]): number => {
    const left = new Set(given);
    let count = 0;
    for (const tau of truth) {
      const near = [...left].filter((x) => Math.abs(tau - x) <= 5);
      const [best] = near.sort((a, b) => Math.abs(tau - a) - Math.abs(tau - b));
      if (best === undefined) continue;
      left.delete(best);
      count += 1;
    }
    return count;
  };
  const each = annotations.map((truth) => rising([0, ...truth]));
  const precision = hits(rising(each.flat())) / given.length;
  const recall = each.reduce((sum, truth) => sum + hits(truth) / truth.length, 0) / each.length;
  return (2 * precision * recall) / (precision + recall);
}

/** Mean over the annotators of the covering of their pieces by those that were found. */
export function covering(
  annotations: readonly (readonly number[])[],
  found: readonly number[],
  n: number,
): number {
  const pieces = (cuts: readonly number[]): [number, number][] => {
    const edges = rising([0, ...cuts, n]);
    return edges.slice(1).map((end, at) => [edges[at]!, end]);
  };
  const ours = pieces(found);
  const one = (truth: readonly number[]): number =>
    pieces(truth).reduce((sum, [a, b]) => {
      const best = ours.map(([c, d]) => {
        const both = Math.max(0, Math.min(b, d) - Math.max(a, c));
        return both / (b - a + d - c - both);
      });
      return sum + ((b - a) / n) * Math.max(...best);
    }, 0);
  return annotations.reduce((sum, truth) => sum + one(truth), 0) / annotations.length;
}

function rising(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Random numbers of a seed (mulberry32). */
export function seeded(seed: number) {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const poisson = (mean: number): number => {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    const least = Math.exp(-mean);
    let count = -1;
    for (let product = 1; product > least; product *= uniform()) count += 1;
    return Math.max(0, count);
  };
  const between = (low: number, high: number): number => low + Math.floor(uniform() * (high - low));
  const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length)]!;
  return { uniform, normal, poisson, between, pick };
}

/** Counts of a seed, and where their drop begins. */
export interface SeededCounts {
  readonly every: "hour" | "day";
  readonly values: readonly number[];
  /** The first bucket of the drop; the number of buckets where there is none. */
  readonly at: number;
}

/**
 * Counts by hour over 1 to 6 weeks or by day over 4 to 13: a day (a wave or a working day), a week, AR(1)
 * noise of 2 to 6 % beside that of counting, 3 outliers in 1,000; a drop lasts 4 buckets or more.
 */
export function seededCounts(seed: number, every: "hour" | "day", drop: number): SeededCounts {
  const { uniform, normal, poisson, between: whole, pick } = seeded(seed);
  const hourly = every === "hour";
  const days = hourly ? pick([7, 14, 28, 42]) : pick([28, 60, 90]);
  const n = hourly ? days * 24 : days;
  const level = hourly ? pick([200, 600, 2_000, 8_000]) : pick([1_000, 5_000, 50_000]);
  const [swing, peak, working] = [0.2 + 0.6 * uniform(), whole(0, 24), uniform() < 0.3];
  const weekend = days < 14 ? 0 : 0.4 * uniform();
  const [correlation, spread] = [pick([0, 0.3, 0.5, 0.6]), pick([0.02, 0.04, 0.06])];
  const at = drop > 0 ? whole(Math.max(6, Math.floor(n / 10)), n - Math.max(5, n >> 3)) : n;
  const end = uniform() < 0.5 ? n : at + Math.max(4, Math.floor(n * pick([0.05, 0.1, 0.3])));
  let noise = normal();
  const values = Array.from({ length: n }, (_, i) => {
    const [hour, day] = hourly ? [i % 24, Math.floor(i / 24) % 7] : [0, i % 7];
    const away = (hour - peak + 36) % 24;
    const wave = working
      ? Math.abs(away - 12) < 4
        ? swing
        : -swing
      : swing * Math.cos((2 * Math.PI * (hour - peak)) / 24);
    noise = correlation * noise + Math.sqrt(1 - correlation ** 2) * normal();
    const mean =
      level *
      (hourly ? 1 + wave : 1) *
      (day >= 5 ? 1 - weekend : 1) *
      (i >= at && i < end ? 1 - drop : 1) *
      Math.exp(spread * noise);
    return poisson(uniform() < 0.003 ? 0.3 * mean : mean);
  });
  return { every, values, at };
}

/** Counts as the question engine answers them, from Monday 2026-05-04. */
export function asResult({ every, values }: Pick<SeededCounts, "every" | "values">): Result {
  const start = Date.UTC(2026, 4, 4);
  const size = every === "hour" ? HOUR : 24 * HOUR;
  const t = values.map((_, i) => new Date(start + i * size));
  const origin: Origin = {
    sql: "",
    parameters: {},
    source: "seeded counts",
    server: "",
    notes: [],
    reductions: [],
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(start),
    range: between(new Date(start), new Date(start + values.length * size)),
    columns: {
      time: { name: "t", every, incomplete: [] },
      dimensions: [],
      measures: [
        {
          name: "measurements",
          label: "Measurements",
          unit: "measurements",
          additive: true,
          missing: "zero",
          main: true,
        },
      ],
    },
  };
  return new Result(table({ t, measurements: [...values] }), origin);
}

/** Share of series with a drop whose change is within a bucket, and of those without one that give none. */
async function scoreCounts(seeds: number): Promise<Record<string, number>> {
  const rows: Record<string, string | number>[] = [];
  for (const every of ["hour", "day"] as const) {
    for (const drop of [0, 0.3, 0.5, 0.8]) {
      let good = 0;
      for (let seed = 0; seed < seeds; seed++) {
        const counts = seededCounts(9_000_000 + seed, every, drop);
        const { result } = await changePoints(asResult(counts));
        const times = (result.column("t") as Date[]).map(Number);
        const size = every === "hour" ? HOUR : 24 * HOUR;
        const planted = Date.UTC(2026, 4, 4) + counts.at * size;
        const near = times.some((time) => Math.abs(time - planted) <= size);
        good += Number(drop === 0 ? times.length === 0 : near);
      }
      rows.push({ every, drop, [drop === 0 ? "quiet" : "hit"]: good / seeds });
    }
  }
  console.table(rows);
  const mean = (name: string): number => {
    const some = rows.flatMap((row) => (name in row ? [Number(row[name])] : []));
    return some.reduce((sum, value) => sum + value, 0) / some.length;
  };
  return { change_point_hit: mean("hit"), quiet_share: mean("quiet") };
}
