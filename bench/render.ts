/**
 * From a Result of 5,000 rows to a chart as SVG and PNG, after the first of its kind, and the memory of
 * a process that draws 300 (SVG and PNG each) against what it holds after 20, with no collection forced.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { table } from "arquero";
import { chart } from "../src/chart/chart.js";
import { Result } from "../src/result/result.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";
import { sideBySide } from "./support/side-by-side.js";

const SERIES = 5;
const ROWS = 4_975;
const range = between("2026-01-01", "2026-02-11T11:00:00Z");
const charts = {
  line: (data: Result) => chart.line(data, { y: "load" }),
  area: (data: Result) => chart.area(data, { y: "runs" }),
  bar: (data: Result) => chart.bar(data, { y: "runs" }),
  points: (data: Result) => chart.dot(data, { y: "load" }),
};

if (process.argv.includes("--memory")) await memory();
else await all();

async function all(): Promise<void> {
  const times: Record<string, Record<string, number>> = {};
  const data = hours();
  for (const [name, make] of Object.entries(charts)) {
    times[name] = await sideBySide(
      { svg: () => make(data).svg(), png: () => make(data).png() },
      15,
    );
  }
  const held = inProcessOfItsOwn();
  const [after20, after300] = [held.find(({ after }) => after === 20), held.at(-1)];
  console.table(held);
  const line = times["line"] ?? {};
  report(
    "render",
    Object.entries(times).map(([name, ms]) => ({
      chart: name,
      rows: charts[name as keyof typeof charts](data).data.rows.length,
      "SVG, ms": Math.round(ms["svg"] ?? NaN),
      "PNG at 2x, ms": Math.round(ms["png"] ?? NaN),
    })),
    {
      svg_ms: line["svg"] ?? NaN,
      png_ms: line["png"] ?? NaN,
      rss_growth_ratio: (after300?.rss ?? NaN) / (after20?.rss ?? NaN),
      rss_after_20_mb: after20?.rss ?? NaN,
      rss_after_300_mb: after300?.rss ?? NaN,
      heap_after_collection_ratio: (after300?.heap ?? NaN) / (after20?.heap ?? NaN),
    },
  );
}

interface Held {
  readonly after: number;
  /** Megabytes of the process. */
  readonly rss: number;
  /** Megabytes of V8's heap in use after a collection; a second process measures it. */
  readonly heap: number;
}

/** Memory by charts drawn: the process as any, and its heap in another that may collect. */
function inProcessOfItsOwn(): Held[] {
  const run = (flags: readonly string[]): { after: number; rss: number; heap: number }[] => {
    const { stdout, status } = spawnSync(
      process.execPath,
      [...flags, fileURLToPath(import.meta.url), "--memory"],
      { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
    );
    if (status !== 0) throw new Error(`The process that draws ended with ${status}`);
    return JSON.parse(stdout) as Held[];
  };
  const [plain, collected] = [run([]), run(["--expose-gc"])];
  return plain.map(({ after, rss }, index) => ({
    after,
    rss,
    heap: collected[index]?.heap ?? NaN,
  }));
}

async function memory(): Promise<void> {
  const held: Held[] = [];
  for (let after = 1; after <= 300; after++) {
    const drawn = charts.line(hours());
    await drawn.svg();
    await drawn.png();
    if ([20, 50, 100, 150, 200, 250, 300].includes(after)) {
      globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      held.push({ after, rss: Math.round(rss / 1e6), heap: Math.round(heapUsed / 1e6) });
    }
  }
  console.log(JSON.stringify(held));
}

/** Hours by host: a sum that areas stack and a load that wanders, the same each time. */
function hours(): Result {
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const hour = Math.floor(index / SERIES);
    const host = index % SERIES;
    const wave = Math.sin(hour / 9 + host) + Math.sin(hour * (7.3 + host));
    return { hour, host, load: 40 + 10 * host + 6 * wave, runs: Math.round(900 + 300 * wave) };
  });
  return new Result(
    table({
      t: rows.map(({ hour }) => new Date(range.start.getTime() + hour * 3_600_000)),
      host: rows.map(({ host }) => `host-${host}`),
      load: rows.map(({ load }) => load),
      runs: rows.map(({ runs }) => runs),
    }),
    {
      sql: "SELECT toStartOfHour(t) AS t, host, avg(load) AS load, sum(runs) AS runs FROM metrics GROUP BY t, host",
      parameters: {},
      range,
      source: "bench",
      server: "none",
      rowsRead: ROWS,
      bytesRead: 0,
      seconds: 0,
      askedAt: range.end,
      columns: {
        time: { name: "t", every: "hour", incomplete: [] },
        dimensions: [{ name: "host", order: ["host-0", "host-1", "host-2", "host-3", "host-4"] }],
        measures: [
          { name: "load", label: "Load", unit: "share", additive: false, missing: "gap" },
          { name: "runs", label: "Runs", unit: "runs", additive: true, missing: "zero" },
        ],
      },
      reductions: [],
      notes: [],
    },
  );
}
