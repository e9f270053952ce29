import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { table } from "../../src/index.js";
import {
  makeResult,
  VERSIONS,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "./support/sample-results.js";

describe("table(result, { sort })", () => {
  test("numbers the largest first, the rest last; texts and versions upwards", () => {
    const runs = table(versionSummary(), { sort: "runs" }).data.rows.map((row) => Number(row[1]));
    expect(runs).toEqual(runs.toSorted((a, b) => b - a));
    expect(table(weeklyCounts(), { sort: "measurements" }).data.rows.slice(-14)).toEqual(
      table(
        weeklyCounts().filter((row) => row["software_version"] === "other"),
        {
          sort: "measurements",
        },
      ).data.rows,
    );
    const versions = table(versionSummary(VERSIONS.toReversed()), { sort: "software_version" });
    expect(versions.data.rows.map(([version]) => version)).toEqual(VERSIONS);
    expect(() => table(versionSummary(), { sort: "run" })).toThrow(/no column "run"/);
  });
});

describe("table(result, { totals })", () => {
  test("are the sums of all rows, also of those not shown", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1 }), (n) => {
        const rows = n.map((value, at) => ({ name: `g${at}`, value }));
        const { model } = table(rows, { totals: ["value"], limit: 2 });
        const sum = n.reduce((all, value) => all + value, 0);
        expect(model.totals).toEqual([{ text: "Total" }, { text: sum.toLocaleString("en-US") }]);
      }),
      { numRuns: 50, seed: 2 },
    );
  });

  test("are of what adds up, and refused for what doesn't", () => {
    const { html, markdown, model } = table(versionSummary(), { totals: true });
    const sum = versionSummary()
      .column("runs")
      .reduce<number>((all, n) => all + Number(n), 0)
      .toLocaleString("en-US");
    expect(model.totals?.map(({ text }) => text)).toEqual(["Total", sum, "", "", ""]);
    expect(html).toContain(`<tfoot><tr><th align="left"><b>Total</b></th>`);
    expect(markdown).toContain(`| **Total** | **${sum}** |`);
    expect(() => table(versionSummary(), { totals: ["q50"] })).toThrow(/can't be added up/);
    expect(() => table([{ a: 1 }], { totals: true })).toThrow(/totals: \["a"\]/);
  });
});

describe("table(result, { sparkline })", () => {
  test("has a row for each group, with its sum and its line", () => {
    const counts = weeklyCounts();
    const { data, model, html, markdown } = table(counts, { sparkline: "measurements" });
    expect(data.names).toEqual(["software_version", "measurements"]);
    const largest = Math.max(...counts.column("measurements").map(Number));
    data.rows.forEach(([version, sum], at) => {
      const own = counts.rows().filter((row) => row["software_version"] === version);
      const values = own.map((row) => Number(row["measurements"]));
      expect(sum).toBe(values.reduce((all, n) => all + n, 0));
      const line = model.rows[at]?.[1]?.line ?? [];
      line.forEach((part, index) => expect(part).toBeCloseTo(values[index]! / largest, 12));
    });
    expect(html.match(/<img alt="" width="80" height="16"/g)).toHaveLength(7);
    expect(markdown).toMatch(/█/);
    expect(model.notes[0]).toBe(
      "Lines: by week from 2026-01-26 on, all of one scale from zero; the number is their sum.",
    );
  });

  test("of a median tells the last whole bucket, beside what adds up; gaps stay gaps", () => {
    const durations = weeklyDurations();
    const { data, model } = table(durations, { sparkline: "q50" });
    expect(data.names).toEqual(["software_version", "q50", "runs"]);
    const last = new Date("2026-04-20");
    const known = durations.rows().filter(({ t }) => Number(t) === Number(last));
    expect(data.rows.map(([, q50]) => q50)).toEqual(known.map((row) => row["q50"]));
    expect(model.rows[1]?.[1]?.line?.[6]).toBeNull();
  });

  test("needs a measure along time", () => {
    const late = makeResult({ v: ["a"], n: [1] });
    expect(() => table(late, { sparkline: "n" })).toThrow(/it needs a measure along time/);
  });
});
