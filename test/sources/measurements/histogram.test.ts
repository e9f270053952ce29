import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { between, chart, type Lab } from "../../../src/index.js";
import { binEdges } from "../../../src/sources/measurements/histogram.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
const range = between("2026-05-01", "2026-05-02");
/** A run of two measurements for each, so many seconds apart; 0 for one that is alone. */
const durations = Array.from({ length: 240 }, (_, run) =>
  run % 5 === 0 ? 0 : Math.round(1.05 ** (run % 120) * 3),
);
const nameOf = (run: number): string => (run % 3 === 0 ? "cli" : "android");

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name String, test_runtime Nullable(Float64))
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const rows = durations.flatMap((seconds, run) =>
    (seconds === 0 ? [0] : [0, seconds]).map(
      (at, index) =>
        `(toDateTime('2026-05-01 03:00:00', 'UTC') + ${run + at}, 'r${run}', '${nameOf(run)}', ${index === 0 ? (run - 60) / 8 : "NULL"})`,
    ),
  );
  await own.writer.command(`INSERT INTO fastpath VALUES ${rows.join(",")}`);
  lab = await own.open();
});
afterAll(() => lab.close());

/** How many of the values are in [from, to). */
function held(values: readonly number[], from: number | null, to: number | null): number {
  return values.filter((value) => value >= (from ?? -Infinity) && value < (to ?? Infinity)).length;
}

describe("lab.runs.histogram({ column })", () => {
  test("counts each run in its bin, exactly, with a row for empty ones", async () => {
    const result = await lab.runs.histogram({ range, column: "duration" });
    const rows = result.rows();
    for (const { from, to, runs } of rows) expect(runs).toBe(held(durations, from, to));
    expect(rows.reduce((sum, { runs }) => sum + runs, 0)).toBe(durations.length);
    rows.slice(1).forEach(({ from }, at) => expect(from).toBe(rows[at]?.to));
    expect(rows[0]?.from).toBe(0);
  });

  test("by group, each with all bins", async () => {
    const result = await lab.runs.histogram({ range, column: "duration", by: "software_name" });
    for (const { from, to, software_name, runs } of result.rows()) {
      const of = durations.filter((_, run) => nameOf(run) === software_name);
      expect(runs).toBe(held(of, from, to));
    }
    expect(result.numRows() % 2).toBe(0);
  });

  test("edges of one's own leave what is beyond them in rows without that end", async () => {
    const bins = [10, 100, 500];
    const result = await lab.runs.histogram({ range, column: "duration", bins });
    const rows = result.rows().map(({ from, to, runs }) => [from, to, runs]);
    const ends = [null, ...bins, null];
    const pairs = ends.slice(1).map((to, at) => [ends[at]!, to] as const);
    expect(rows).toEqual(pairs.map(([from, to]) => [from, to, held(durations, from, to)]));
  });

  test("of negative numbers is even, and tells the rows without one", async () => {
    const result = await lab.measurements.histogram({ range, column: "test_runtime", bins: 10 });
    const values = durations.map((_, run) => (run - 60) / 8);
    for (const { from, to, measurements } of result.rows()) {
      expect(measurements).toBe(held(values, from, to));
    }
    expect(new Set(result.rows().map(({ from, to }) => to! - from!))).toEqual(new Set([5]));
    expect(result.origin.notes.join(" ")).toContain("192 measurements without a number");
    await expect(
      lab.measurements.histogram({ range, column: "test_runtime", log: true }),
    ).rejects.toThrow(/it holds -7.5.*leave log out/);
  });

  test("refuses what it can't cut", async () => {
    const ask = (options: object) => lab.runs.histogram({ range, column: "duration", ...options });
    await expect(ask({ column: "software_name" })).rejects.toThrow(/software_name/);
    await expect(ask({ bins: 0 })).rejects.toThrow(/whole number from 1 to 200/);
    await expect(ask({ bins: [5] })).rejects.toThrow(/two edges at least/);
    await expect(ask({ every: "day" })).rejects.toThrow(/option "every"/);
  });
});

describe("binEdges(found, about, log, column)", () => {
  test("rise, hold all numbers, and are about as many as asked for", () => {
    const number = fc.oneof(
      fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
      fc.integer({ min: 1, max: 1e6 }),
    );
    fc.assert(
      fc.property(
        number,
        number,
        fc.integer({ min: 5, max: 100 }),
        fc.boolean(),
        fc.boolean(),
        (a, b, about, log, zeros) => {
          const [positive, high] = [Math.min(a, b), Math.max(a, b)];
          const low = zeros ? 0 : positive;
          const edges = binEdges({ low, high, median: positive, positive }, about, log, "x");
          edges.slice(1).forEach((edge, at) => expect(edge).toBeGreaterThan(edges[at]!));
          expect(edges[0]!).toBeLessThanOrEqual(low);
          expect(edges.at(-1)!).toBeGreaterThan(high);
          expect(edges.length).toBeLessThanOrEqual(Math.max(about, 16) + 4);
        },
      ),
      { numRuns: 500, seed: 6 },
    );
  });
});

describe("chart.histogram(result)", () => {
  test("draws each bin's count, exactly", async () => {
    const result = await lab.runs.histogram({ range, column: "duration" });
    expect(chart.histogram(result).data.rows).toEqual(
      result.rows().map(({ from, to, runs }) => [from, to, runs]),
    );
  });
});
