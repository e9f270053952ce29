/**
 * What a snapshot saves: the guide's questions over half a year, asked of the table and of its
 * snapshot. Processor time of the two servers, wall time of the snapshot, and whether the answers
 * are the same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readRecord } from "../src/database/embedded/directory.js";
import { connect } from "../src/lab/connect.js";
import { quantile, share, count } from "../src/query/measure.js";
import type { Result } from "../src/result/result.js";
import type { Snapshot } from "../src/sources/snapshot/snapshot.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";

const rows = Number(process.env["ROWS"] ?? 10_000_000);
const rounds = Number(process.env["ROUNDS"] ?? 20);
const source = await sampleDatabase(rows);
if (source.kind !== "embedded") throw new Error("the sample is embedded");
const into = join(process.cwd(), ".bench", `snapshot-${rows}`);
const range = between("2026-01-01", END);

type Ask = (lab: Pick<Snapshot, "measurements" | "runs">) => Promise<Result>;
const week = { range, every: "week", by: "software_version" } as const;
const QUESTIONS: Readonly<Record<string, Ask>> = {
  "counts by week and version": ({ measurements }) => measurements.counts(week),
  "counts by day and country": ({ measurements }) =>
    measurements.counts({ range, every: "day", by: "probe_cc" }),
  "counts by week and network": ({ measurements }) =>
    measurements.counts({ range, every: "week", by: "probe_asn" }),
  "run durations by week and version": ({ measurements }) => measurements.runDurations(week),
  "run durations of one test": ({ measurements }) =>
    measurements.runDurations({ ...week, where: { test_name: "web_connectivity" } }),
  summary: ({ runs }) => runs.summary({ range }),
  "short runs by day": ({ runs }) =>
    runs.ask({
      range,
      every: "day",
      by: "software_name",
      measures: {
        n: count(),
        p90: quantile(0.9, "duration"),
        s: share({ duration: { lt: 60 } }),
      },
    }),
};

/** Milliseconds of processor time that a directory's server has used. */
function cpu(directory: string): number {
  const record = readRecord(directory);
  const stat = readFileSync(`/proc/${record?.pid}/stat`, "utf8");
  const [user = NaN, system = NaN] = stat
    .slice(stat.lastIndexOf(")"))
    .split(" ")
    .slice(12)
    .map(Number);
  return (user + system) * 10;
}

async function timed(lab: Parameters<Ask>[0], ask: Ask, directory: string, rounds: number) {
  const answer = await ask(lab);
  const before = cpu(directory);
  const walls: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await ask(lab);
    walls.push(performance.now() - begun);
  }
  const wall = walls.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
  return { answer, wall, cpu: (cpu(directory) - before) / rounds };
}

await using lab = await connect({ measurements: `embedded:${source.directory}` });
const begun = performance.now();
const snapshot = await lab.snapshot({ range, into: `embedded:${into}` });
const seconds = (performance.now() - begun) / 1000;
const table: Record<string, string | number>[] = [];
for (const [question, ask] of Object.entries(QUESTIONS)) {
  const held = await timed(snapshot, ask, into, rounds);
  const asked = await timed(lab, ask, source.directory, Math.max(3, Math.floor(rounds / 5)));
  table.push({
    question,
    "table, CPU ms": Math.round(asked.cpu),
    "snapshot, CPU ms": Number(held.cpu.toFixed(1)),
    "snapshot, ms": Number(held.wall.toFixed(1)),
    speedup: Number((asked.cpu / held.cpu).toFixed(1)),
    same: Number(JSON.stringify(held.answer.rows()) === JSON.stringify(asked.answer.rows())),
  });
}
const all = (name: string) => table.map((row) => Number(row[name]));
report("snapshot", table, {
  rows,
  taken_seconds: seconds,
  snapshot_speedup: all("speedup").sort((a, b) => a - b)[Math.floor(table.length / 2)]!,
  snapshot_speedup_least: Math.min(...all("speedup")),
  snapshot_ms: Math.max(...all("snapshot, ms")),
  snapshot_equal: Math.min(...all("same")),
});
