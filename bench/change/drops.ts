/**
 * Alarms on drops: the public series with drops set into them (benchmarks/README.md says how they
 * are scored), and seeded synthetic counts of many kinds, whose seeds no constant was chosen by.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Watch } from "../../src/change/series/forecast.js";
import {
  KINDS,
  largeSeries,
  serviceSeries,
  syntheticSeries,
  thinSeries,
  type Series,
} from "./flow-series.js";

const SEASON = { day: 24, week: 168 };
const FOUR_WEEKS = 4 * SEASON.week;
const GAP = 3;
const DEPTHS = [30, 50, 80] as const;
const THIN = [5, 12, 50, 3_000];
/** Drops of thin flows: their hours, and the share of runs that is left. */
const LONG = [
  { name: "stop of 3 h", hours: 3, left: 0 },
  { name: "stop of 6 h", hours: 6, left: 0 },
  { name: "half, 12 h", hours: 12, left: 0.5 },
];

/** Prints the tables and returns the metrics. */
export function drops(): Record<string, number> {
  const metrics: Record<string, number> = {};
  const given = benchmarkSeries();
  const rows: Record<string, string | number>[] = [];
  for (const rate of [1, 4]) {
    const scores = given.map((series) => ({ ...scoreSeries(series, rate), name: series.name }));
    rows.push(...scores.map((score) => line(score.name, rate, [score])));
    if (scores.length === 0) continue;
    rows.push(line("public, all", rate, scores));
    if (rate > 1) continue;
    const { falseAlarms, recall } = pooled(scores);
    metrics["drop_false_alarms"] = falseAlarms;
    for (const depth of DEPTHS) metrics[`drop_recall_${depth}`] = recall[depth];
  }
  const made = Number(process.env["SERIES"] ?? 3);
  for (const rate of [1, 4]) {
    const all = KINDS.flatMap((kind) => {
      const scores = Array.from({ length: made }, (_, seed) =>
        scoreSeries(syntheticSeries(kind, 9_000 + seed), rate),
      );
      rows.push(line(`made: ${kind}`, rate, scores));
      return scores;
    });
    rows.push(line("made, all", rate, all));
  }
  const service = Array.from({ length: made * 2 }, (_, seed) =>
    scoreSeries(serviceSeries(seed), 1),
  );
  rows.push(line("service", 1, service));
  const large = Array.from({ length: Number(process.env["LARGE"] ?? 70) }, (_, seed) =>
    scoreSeries(largeSeries(seed), 1),
  );
  for (const kind of [0, 1, 2]) {
    rows.push(
      line(
        `large: ${largeSeries(kind).name}`,
        1,
        large.filter((_, seed) => seed % 3 === kind),
      ),
    );
  }
  metrics["large_false_alarms"] = pooled(large).falseAlarms;
  metrics["large_recall_30"] = pooled(large).recall[30];
  const { falseAlarms, recall } = pooled(service);
  metrics["alarm_recall"] = recall[50];
  metrics["false_alarms_per_4_weeks"] = falseAlarms;
  console.table(rows);
  return { ...metrics, ...thinDrops() };
}

/** Flows of few rows, alone or in runs: the worst rate of alarms by the stated one, and what is seen of long drops. */
function thinDrops(): Record<string, number> {
  const first = process.env["TUNE"] === "1" ? 500 : 70_000;
  const seeds = Number(process.env["SERIES"] ?? 3) * 4;
  const rows: Record<string, string | number>[] = [];
  let worst = 0;
  for (const rate of [1, 4]) {
    for (const perHour of THIN) {
      for (const inRuns of [false, true]) {
        const scores = Array.from({ length: seeds }, (_, seed) =>
          scoreThin(first + seed, perHour, inRuns, rate),
        );
        const { falseAlarms, recallOf } = pooled(scores);
        worst = Math.max(worst, falseAlarms / rate);
        rows.push({
          ...{ "rows an hour": perHour, in: inRuns ? "runs" : "rows", stated: rate },
          "false alarms in 4 weeks": falseAlarms.toFixed(2),
          ...Object.fromEntries(LONG.map(({ name }) => [name, recallOf(name).toFixed(0)])),
        });
      }
    }
  }
  console.table(rows);
  return { thin_false_alarm_ratio: worst };
}

function scoreThin(seed: number, perHour: number, inRuns: boolean, rate: number): Score {
  const series = thinSeries(seed, perHour, inRuns);
  const clean = alarmsOf(series.values, rate);
  const hits: Record<string, number> = {};
  const drops: Record<string, number> = {};
  for (const { name, hours, left } of LONG) {
    for (let place = 0; place < 4; place++) {
      const at = series.warmup + 97 + 331 * place;
      const values = [...series.values.slice(0, at), ...series.lose(at, at + hours, left)];
      const hit = [...alarmsOf(values, rate).told].some(
        (hour) => hour >= at && !clean.told.has(hour),
      );
      hits[name] = (hits[name] ?? 0) + Number(hit);
      drops[name] = (drops[name] ?? 0) + 1;
    }
  }
  return { alarms: clean.raised.length, hours: series.values.length - series.warmup, hits, drops };
}

interface Score {
  readonly alarms: number;
  readonly hours: number;
  readonly hits: Readonly<Record<string, number>>;
  readonly drops: Readonly<Record<string, number>>;
}

/** The hours with which an alarm is raised, and those in which one is told. */
function alarmsOf(values: Series["values"], rate: number) {
  const { drops } = new Watch(values, SEASON, { rate, gap: GAP, counts: true });
  const raised = drops.map(({ seen }) => seen - 1);
  const told = new Set(
    drops.flatMap(({ seen, to }) =>
      Array.from({ length: to - seen + 1 }, (_, by) => seen - 1 + by),
    ),
  );
  return { raised, told };
}

function scoreSeries(series: Series, rate: number): Score {
  const isIgnored = (at: number) => series.ignore.some(([from, to]) => at >= from && at < to);
  const judged = series.values.map((_, at) => at >= series.warmup && !isIgnored(at));
  const clean = alarmsOf(series.values, rate);
  const hits: Record<string, number> = {};
  const drops: Record<string, number> = {};
  for (const { at, depth, replace } of series.drops) {
    const values = [...series.values.slice(0, at), ...replace.slice(0, 2)];
    if (values.length < at + 2) values.push(...series.values.slice(values.length, at + 2));
    const hit = [...alarmsOf(values, rate).told].some(
      (hour) => hour >= at && !clean.told.has(hour),
    );
    hits[depth] = (hits[depth] ?? 0) + Number(hit);
    drops[depth] = (drops[depth] ?? 0) + 1;
  }
  const alarms = clean.raised.filter((at) => judged[at]).length;
  return { alarms, hours: judged.filter(Boolean).length, hits, drops };
}

function pooled(scores: readonly Score[]) {
  const sum = (of: (score: Score) => number) => scores.reduce((all, one) => all + of(one), 0);
  const falseAlarms = (sum(({ alarms }) => alarms) / sum(({ hours }) => hours)) * FOUR_WEEKS;
  const rates = scores.map(({ alarms, hours }) => (alarms / hours) * FOUR_WEEKS);
  const recallOf = (depth: number | string) =>
    (100 * sum(({ hits }) => hits[depth] ?? 0)) / sum(({ drops }) => drops[depth] ?? 0);
  const recall = { 30: recallOf(30), 50: recallOf(50), 80: recallOf(80) };
  return { falseAlarms, worst: Math.max(...rates), recall, recallOf };
}

function line(name: string, stated: number, scores: readonly Score[]) {
  const { falseAlarms, worst, recall } = pooled(scores);
  return {
    series: name,
    stated,
    "false alarms in 4 weeks": falseAlarms.toFixed(2),
    worst: worst.toFixed(1),
    ...Object.fromEntries(DEPTHS.map((depth) => [`${depth} %`, recall[depth].toFixed(0)])),
  };
}

type Line = { case: string; base?: string; at?: number } & {
  values?: (number | null)[];
  replace?: (number | null)[];
};
type Truth = { case: string; warmup: number; ignore: [number, number][]; depth: number };

function benchmarkSeries(): Series[] {
  const folder = process.env["PROBELAB_BENCHMARKS"] ?? "../shared/benchmarks";
  const file = join(folder, "drops.jsonl.gz");
  if (!existsSync(file)) {
    console.log(
      `No ${file}: the public series are left out. PROBELAB_BENCHMARKS names their folder.`,
    );
    return [];
  }
  const lines = <Row>(text: string) =>
    text
      .trim()
      .split("\n")
      .map((row) => JSON.parse(row) as Row);
  const cases = lines<Line>(gunzipSync(readFileSync(file)).toString());
  const truths = new Map(
    lines<Truth>(readFileSync(join(folder, "drops.truth.jsonl"), "utf8")).map((row) => [
      row.case,
      row,
    ]),
  );
  return cases.flatMap(({ case: name, values }): Series[] => {
    const truth = truths.get(name);
    if (values === undefined || truth === undefined) return [];
    const own = cases.filter(({ base }) => base === name);
    const drops = own.map(({ case: drop, at, replace }) => ({
      at: at!,
      depth: truths.get(drop)!.depth,
      replace: replace!,
    }));
    return [{ name, values, warmup: truth.warmup, ignore: truth.ignore, drops }];
  });
}
