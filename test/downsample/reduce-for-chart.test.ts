import { escape, op } from "arquero";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reduceForChart, type ChartPlan } from "../../src/downsample/reduce-for-chart.js";
import { between, Result } from "../../src/index.js";
import { bucketStart, buckets } from "../../src/time/bucket.js";
import { countsResult, rowTexts } from "./sample-result.js";

const quarter = between("2026-02-01", "2026-05-01");
const plan = { x: "t", y: "measurements", series: "version", width: 800 } as const;
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `3.${i}.0`);

describe("reduceForChart(result, plan)", () => {
  test("adds up exactly what falls into each bucket, in any zone", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("UTC", "Europe/Rome", "America/New_York"),
        fc.integer({ min: 100, max: 2_500 }),
        fc.constantFrom("area" as const, "bar" as const),
        (timeZone, maxRows, mark) => {
          const range = between("2026-02-27", "2026-04-05", { timeZone });
          const result = countsResult(range, "hour", ["a", "Ω", null]);
          const { table, result: told } = reduceForChart(result, { ...plan, mark, maxRows });
          const every = told.origin.columns.time!.every;
          const sums = new Map<string, number>();
          for (const row of result.rows() as { t: Date; version: string; measurements: number }[]) {
            const key = `${bucketStart(row.t, every, timeZone).getTime()}|${row.version}`;
            sums.set(key, (sums.get(key) ?? 0) + row.measurements);
          }
          expect(table.numRows()).toBeLessThanOrEqual(maxRows);
          expect(rowTexts(table)).toEqual([...sums].map(([key, sum]) => `${key}|${sum}`));
          const partial = buckets(range, every).filter(({ complete }) => !complete);
          expect(told.origin.columns.time!.incomplete).toEqual(partial.map(({ start }) => start));
        },
      ),
      { numRuns: 20, seed: 6 },
    );
  });

  test.each([
    ["15 minutes", "2026-02-01", "2026-03-01", "hour"],
    ["90 minutes", "2026-02-01", "2026-05-01", "3 hours"],
    ["2 hours", "2026-02-01", "2026-05-01", "6 hours"],
    ["7 minutes", "2026-02-01", "2026-02-08", "14 minutes"],
    ["2 days", "2010-01-01", "2026-02-01", "10 days"],
  ] as const)(
    "adds up bars by %s in whole buckets of the next step",
    (every, from, to, coarser) => {
      const range = between(from, to, { timeZone: "Europe/Rome" });
      const result = countsResult(range, every, names(5));
      const { table, sentences, result: told } = reduceForChart(result, { ...plan, mark: "bar" });
      expect(sentences[0]).toContain(`rows by ${every}, added up by ${coarser} to `);
      expect(told.origin.columns.time?.every).toBe(coarser);
      const starts = new Set(result.column("t").map(Number));
      for (const t of told.column("t").slice(5)) expect(starts).toContain(Number(t));
      const sum = (data: typeof table): unknown =>
        data.rollup({ sum: op.sum("measurements") }).get("sum");
      expect(sum(table)).toBe(sum(result.table));
    },
  );

  test("reduces an area whose missing rows would make it too large", () => {
    const result = countsResult(quarter, "hour", names(6));
    const some = result.with(
      result.table.filter((row: { measurements: number }) => row.measurements > 9),
    );
    expect(some.numRows()).toBeLessThan(4_999);
    const { table } = reduceForChart(some, { ...plan, mark: "area" });
    const grid = table.rollup({ xs: op.distinct("t") }).get("xs") as number;
    expect(grid * 6).toBeLessThanOrEqual(4_999);
    expect(reduceForChart(some, { ...plan, mark: "bar" }).table).toBe(some.table);
  });

  test("refuses to add up quantiles, and names the step to ask for", () => {
    const result = countsResult(quarter, "hour", names(6));
    expect(() => reduceForChart(result, { ...plan, y: "q50", mark: "bar" })).toThrow(
      'Can\'t draw 12,816 rows as bars, a chart takes fewer than 5,000: values of "q50" can\'t be added up, only counts can; ask again with every: "3 hours".',
    );
  });
});

describe("reduceForChart(result, plan) of lines", () => {
  const line: ChartPlan = { ...plan, mark: "line" };

  test("puts a null into a gap of missing buckets, zeros where nothing happened", () => {
    const minute = between("2026-02-01", "2026-02-08");
    const all = countsResult(minute, "minute", ["a"], (bucket) => 5 + (bucket % 3));
    const gone = [new Date("2026-02-03T00:00:00Z"), new Date("2026-02-04T00:00:00Z")] as const;
    // An answer in which nothing was counted then, not one whose rows were taken out.
    const result = new Result(
      all.table.filter(escape((row: { t: Date }) => row.t < gone[0] || row.t >= gone[1])),
      all.origin,
    );
    const within = (y: string): (readonly [string, unknown])[] =>
      (reduceForChart(result, { ...line, y }).table.objects() as Record<string, unknown>[])
        .filter(({ t }) => (t as Date) >= gone[0] && (t as Date) < gone[1])
        .map((row) => [(row["t"] as Date).toISOString(), row[y]] as const);
    expect(within("q50")).toEqual([["2026-02-03T00:00:00.000Z", null]]);
    expect(within("measurements")).toEqual([
      ["2026-02-03T00:00:00.000Z", 0],
      ["2026-02-03T23:59:00.000Z", 0],
    ]);
  });

  test("begins and ends a count at zero where a series has no rows at the edges", () => {
    const minute = between("2026-02-01", "2026-02-08");
    const all = countsResult(minute, "minute", ["a"], () => 7);
    const result = new Result(all.table.slice(2_000, 9_000).reify(), all.origin);
    const rows = reduceForChart(result, line).table.objects() as {
      t: Date;
      measurements: number;
    }[];
    const zeros = rows.filter((row) => row.measurements === 0).map(({ t }) => t.toISOString());
    expect(zeros).toEqual([
      "2026-02-01T00:00:00.000Z",
      "2026-02-02T09:19:00.000Z",
      "2026-02-07T06:00:00.000Z",
      "2026-02-07T23:59:00.000Z",
    ]);
  });
});
