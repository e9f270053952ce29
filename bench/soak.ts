/**
 * Thirty minutes of an analyst's day in a row (`MINUTES`, by hand): questions, charts, interrupts and
 * kills, in a kernel and in a process that asks 8 at once, on one embedded database. Whether every answer
 * stays the same, whether anything is left running, and what memory does.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readRecord } from "../src/database/embedded/directory.js";
import { connect, type Lab } from "../src/lab/connect.js";
import { processEnvironment } from "../src/kernel/kernelspec.js";
import { count, countDistinct, quantile, share } from "../src/query/measure.js";
import type { Result } from "../src/result/result.js";
import { between } from "../src/time/time-range.js";
import { KernelClient } from "./support/kernel-client.js";
import { rawHttp } from "./support/raw-http.js";
import { report } from "./support/report.js";
import { END, sampleDatabase } from "./support/sample-database.js";

const minutes = Number(process.env["MINUTES"] ?? 30);
const source = await sampleDatabase(500_000);
if (source.kind !== "embedded") throw new Error("the sample is embedded");
const { directory } = source;
const range = between("2026-06-01", END);
const week = { range, every: "week", by: "software_version" } as const;

type Ask = (lab: Lab, signal: AbortSignal) => Promise<Result>;
const QUESTIONS: readonly Ask[] = [
  ({ measurements }) => measurements.counts(week),
  ({ measurements }) => measurements.counts({ ...week, every: "day", by: "probe_cc", top: 5 }),
  ({ measurements }) => measurements.runDurations(week),
  ({ runs }) => runs.summary({ range }),
  ({ measurements }, signal) =>
    measurements.ask({
      range,
      every: "day",
      by: "test_name",
      signal,
      measures: {
        n: count(),
        blocked: share({ anomaly: "t" }),
        networks: countDistinct("probe_asn"),
      },
    }),
  ({ runs }, signal) =>
    runs.ask({
      range,
      every: "week",
      by: "probe_cc",
      top: 5,
      signal,
      measures: { runs: count(), p90: quantile(0.9, "duration") },
    }),
  (lab, signal) =>
    lab.query(
      "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} GROUP BY probe_cc ORDER BY n DESC, probe_cc",
      { range, signal },
    ),
];

const until = performance.now() + minutes * 60_000;
const goesOn = () => performance.now() < until;
const tally = {
  answers: 0,
  other: 0,
  interrupted: 0,
  errors: 0,
  kills: 0,
  cells: 0,
  cellErrors: 0,
};
const troubles = new Set<string>();
const expected: string[] = [];
/** A seeded generator (Marsaglia's xorshift): the same day each time. */
let seed = 20_261_123;
function random(): number {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 32;
}

/** Asks one question after another, one of five of them interrupted on the way. */
async function asker(lab: Lab): Promise<void> {
  while (goesOn()) {
    const index = Math.floor(random() * QUESTIONS.length);
    const stop = new AbortController();
    const timer = random() < 0.2 ? setTimeout(() => stop.abort(), random() * 200) : undefined;
    try {
      const text = JSON.stringify((await QUESTIONS[index]!(lab, stop.signal)).rows());
      tally[(expected[index] ??= text) === text ? "answers" : "other"] += 1;
    } catch (error) {
      if (stop.signal.aborted) tally.interrupted += 1;
      else {
        tally.errors += 1;
        troubles.add((error as Error).message);
      }
    }
    clearTimeout(timer);
    await sleep(random() * 2000);
  }
}

/** Runs cells with a question and its chart, one of ten of them interrupted. */
async function notebook(client: KernelClient): Promise<void> {
  await client.run(`import { chart, connect, last } from "probelab";
const lab = await connect();
const range = last("1 week", { now: lab.now });`);
  while (goesOn()) {
    const timer =
      random() < 0.1
        ? setTimeout(() => process.kill(client.pid, "SIGINT"), random() * 300)
        : undefined;
    try {
      await client.run(
        `chart.area(await lab.measurements.counts({ range, every: "day", by: "software_version" }))`,
      );
      tally.cells += 1;
    } catch {
      tally.cellErrors += 1;
    }
    clearTimeout(timer);
    await sleep(random() * 2000);
  }
}

/** Kills the server every five minutes: the next question starts another. */
async function killer(): Promise<void> {
  for (let next = 5; next < minutes; next += 5) {
    while (performance.now() < until - (minutes - next) * 60_000) await sleep(1000);
    const record = readRecord(directory);
    if (record !== null) process.kill(record.pid, "SIGKILL");
    tally.kills += 1;
  }
}

function megabytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

const memory: Record<"process" | "kernel" | "server", number>[] = [];
async function watcher(client: KernelClient): Promise<void> {
  while (goesOn()) {
    await sleep(5_000);
    const server = megabytes(readRecord(directory)?.pid);
    memory.push({ process: megabytes(process.pid), kernel: client.memory(), server });
  }
}

await using lab = await connect({ measurements: `embedded:${directory}` });
await using client = new KernelClient();
await client.start((file) => [join("dist", "kernel", "kernel-launch.js"), file], {
  ...processEnvironment,
  PROBELAB_MEASUREMENTS: `embedded:${directory}`,
});
await Promise.all([
  ...Array.from({ length: 8 }, () => asker(lab)),
  notebook(client),
  killer(),
  watcher(client),
]);

const middle = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
/** The second third of the time and the last: what starts up has started. */
const third = Math.floor(memory.length / 3);
const of = (name: keyof (typeof memory)[number], from: number) =>
  middle(
    memory
      .slice(from, from + third)
      .map((one) => one[name])
      .filter(Number.isFinite),
  );
const left = await rawHttp(directory)(
  "SELECT count() FROM system.processes WHERE elapsed > 5 AND query NOT LIKE '%sleepEachRow%' FORMAT TSV",
  {},
);
for (const one of troubles) console.log(one);
report(
  "soak",
  (["process", "kernel", "server"] as const).map((name) => ({
    of: name,
    "MB, the second third": Math.round(of(name, third)),
    "MB, the last third": Math.round(of(name, 2 * third)),
  })),
  {
    minutes,
    ...tally,
    left_running: Number(String(left)),
    process_growth: of("process", 2 * third) / of("process", third),
    kernel_growth: of("kernel", 2 * third) / of("kernel", third),
    server_growth: of("server", 2 * third) / of("server", third),
  },
);
