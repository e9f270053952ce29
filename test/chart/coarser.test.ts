import { escape } from "arquero";
import { describe, expect, test } from "vitest";
import { between, chart, Result } from "../../src/index.js";
import { bucketStart } from "../../src/time/bucket.js";
import { specRows, subtitle } from "./support/layers.js";
import { countsResult } from "./support/sample-results.js";

const quarter = between("2026-02-01", "2026-05-01");
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `3.${i}.0`);
const iso = (at: unknown): string => (at as Date).toISOString();

describe("bars and areas of 5,000 rows or more", () => {
  test.each([
    ["bar", "15 minutes", "2026-02-01", "2026-03-01", "UTC", "hour"],
    ["bar", "minute", "2026-02-01", "2026-02-02", "UTC", "5 minutes"],
    ["area", "90 minutes", "2026-02-01", "2026-05-01", "America/New_York", "3 hours"],
    ["bar", "2 hours", "2026-02-01", "2026-05-01", "Europe/Rome", "6 hours"],
  ] as const)(
    "are, as %s by %s, exactly the sums of whole buckets of the next step",
    (kind, every, from, to, timeZone, coarser) => {
      const result = countsResult(between(from, to, { timeZone }), every, [
        "a",
        "Ω",
        "x",
        "y",
        null,
      ]);
      const drawn = chart[kind](result, { y: "measurements" });
      expect(subtitle(drawn)).toContain(`rows by ${every}, added up by ${coarser} to `);
      const sums = new Map<string, number>();
      const rows = result.rows() as { t: Date; version: string | null; measurements: number }[];
      for (const { t, version, measurements } of rows) {
        const key = `${iso(bucketStart(t, coarser, timeZone))}|${version}`;
        sums.set(key, (sums.get(key) ?? 0) + measurements);
      }
      const found = drawn.data.rows as [Date, string | null, number][];
      expect(found.map(([t, version, sum]) => [`${iso(t)}|${version}`, sum])).toEqual([...sums]);
      expect(specRows(drawn)).toBeLessThan(5_000);
    },
  );

  test("are coarser too where the missing rows of an area would be too many", () => {
    const all = countsResult(quarter, "hour", names(6));
    // An answer without its rows of few counts, not one whose rows were taken out.
    const some = new Result(
      all.table.filter((row: { measurements: number }) => row.measurements > 6),
      all.origin,
    );
    expect(some.numRows()).toBeLessThan(4_900);
    expect(subtitle(chart.area(some))).toContain("added up by 3 hours");
    expect(subtitle(chart.bar(some))).not.toContain("added up");
  });

  test("are refused where they can't be added up, with the step to ask for", () => {
    const result = countsResult(quarter, "hour", names(6));
    expect(() => chart.bar(result, { y: "q50", stack: false })).toThrow(
      'Can\'t draw 12,816 rows as bars, a chart takes fewer than 5,000: values of "q50" can\'t be added up, only counts can; ask again with every: "3 hours".',
    );
    const odd = countsResult(between("2026-02-01", "2026-04-01"), "7 minutes", ["a"]);
    expect(() => chart.bar(odd)).toThrow('ask again with a coarser every than "7 minutes"');
    const rows = Array.from({ length: 5_000 }, (_, n) => ({ n, m: n }));
    expect(() => chart.bar(rows, { x: "n", y: "m" })).toThrow(/"n" has none; group them/);
    expect(() => chart.dot(rows, { x: "n", y: "m" })).toThrow(/at most 4,999: count them/);
  });
});

describe("lines of counts and of medians", () => {
  const week = between("2026-02-01", "2026-02-08");
  const all = countsResult(week, "minute", ["a"], (bucket) => 5 + (bucket % 3));

  test("have a null where buckets are missing, zeros where nothing was counted", () => {
    const gone = [new Date("2026-02-03T00:00:00Z"), new Date("2026-02-04T00:00:00Z")] as const;
    // An answer in which nothing was counted then, not one whose rows were taken out.
    const result = new Result(
      all.table.filter(escape((row: { t: Date }) => row.t < gone[0] || row.t >= gone[1])),
      all.origin,
    );
    const within = (y: string) =>
      chart
        .line(result, { y, color: "version" })
        .data.rows.filter(([t]) => (t as Date) >= gone[0] && (t as Date) < gone[1])
        .map(([t, , value]) => [iso(t), value]);
    expect(within("q50")).toEqual([["2026-02-03T00:00:00.000Z", null]]);
    expect(within("measurements")).toEqual([
      ["2026-02-03T00:00:00.000Z", 0],
      ["2026-02-03T23:59:00.000Z", 0],
    ]);
  });

  test("begin and end at zero where a series has no counts at the edges", () => {
    const result = new Result(all.table.slice(2_000, 9_000).reify(), all.origin);
    const { rows } = chart.line(result, { y: "measurements" }).data;
    expect(rows.filter((row) => row.at(-1) === 0).map(([t]) => iso(t))).toEqual([
      "2026-02-01T00:00:00.000Z",
      "2026-02-02T09:19:00.000Z",
      "2026-02-07T06:00:00.000Z",
      "2026-02-07T23:59:00.000Z",
    ]);
  });
});
