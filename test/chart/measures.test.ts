import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, Result } from "../../src/index.js";
import { layers, legend, subtitle, title } from "./support/layers.js";
import {
  asked,
  counted,
  makeResult,
  single,
  weeklyCounts,
  weeklyDurations,
} from "./support/sample-results.js";

const one = weeklyDurations().filter((row) => row["software_version"] === "3.8.2");
const two = weeklyDurations().filter((row) =>
  ["3.8.2", "3.11.0"].some((version) => version === row["software_version"]),
);

describe("several measures in one chart", () => {
  test("are a series each, in the order given, named by what tells them apart", () => {
    const drawn = chart.line(one, { y: ["q90", "q50", "q10"] });
    expect(legend(drawn).names).toEqual(["3.8.2 · 90 %", "3.8.2 · median", "3.8.2 · 10 %"]);
    expect(title(drawn)).toMatch(/^Run duration by week and version and measure/);
    const asked = { ...one.origin, columns: { ...one.origin.columns, dimensions: [] } };
    const plain = new Result(one.table, asked);
    expect(legend(chart.line(plain, { y: ["q10", "q50"], color: null })).names).toEqual([
      "10 %",
      "median",
    ]);
  });

  test("hold every value of every measure", () => {
    const names = ["q10", "q50", "q90"];
    const drawn = chart.dot(two, { y: names });
    const known = names.flatMap((name) => two.column(name)).filter((value) => value !== null);
    const values = layers(drawn).flatMap(({ data }) => data.values.map(({ value }) => value));
    expect(values.map(Number).sort()).toEqual(known.map(Number).sort());
  });

  test("of different units have no axis in common", () => {
    expect(() => chart.line(one, { y: ["q50", "runs"] })).toThrow(
      `Can't draw "q50", "runs" along one axis: they are of s and runs; draw a chart of each.`,
    );
    expect(() => chart.line(one, { y: ["q50", "q55"] })).toThrow(/no column "q55"/);
  });
});

describe("bands and intervals", () => {
  test("bands of many series are refused, and so are options that a kind doesn't know", () => {
    expect(() => chart.line(weeklyDurations(), { y: "q50", band: ["q10", "q90"] })).toThrow(
      /bands of 6 series.*facet/,
    );
    expect(() => chart.area(two, { y: "q50", color: null, ...{ band: ["q10", "q90"] } })).toThrow(
      /with the option "band"/,
    );
    expect(() => chart.line(two, { y: "q50", band: ["q10", "q95"] })).toThrow(/no column "q95"/);
  });

  test("an interval that a question asked with its rate is drawn by itself, unless it is switched off", () => {
    const rows = [
      { host: "a", rate: 0.5, low: 0.4, high: 0.6 },
      { host: "b", rate: 0.1, low: 0.05, high: 0.2 },
    ];
    const rate = single("rate", "Share of failed", "share");
    const rates = asked(rows, { host: ["a", "b"] }, [
      { ...rate, interval: ["low", "high"], main: true },
      single("low", "Share, low end of the 95 % interval", "share"),
      single("high", "Share, high end of the 95 % interval", "share"),
    ]);
    const [, strokes] = layers(chart.bar(rates));
    expect(strokes?.mark.type).toBe("rule");
    expect(strokes?.data.values.map(({ low, high }) => [low, high])).toEqual([
      [0.4, 0.6],
      [0.05, 0.2],
    ]);
    expect(subtitle(chart.bar(rates))).toContain("Lines: 95 % intervals.");
    expect(layers(chart.bar(rates, { interval: null }))).toHaveLength(1);
    // An end that was computed anew is none.
    expect(layers(chart.bar(rates.with((cells) => cells.derive({ low: () => 0 }))))).toHaveLength(
      1,
    );
  });
});

describe("chart.bar of categories", () => {
  test("of a question by two columns draws what the question is about", () => {
    const rows = [
      { cc: "IT", v: "a", runs: 1, q50: 10 },
      { cc: "IT", v: "b", runs: 2, q50: 30 },
      { cc: "DE", v: "a", runs: 3, q50: 20 },
    ];
    const measures = [counted("runs", "Runs"), { ...single("q50", "Median"), main: true as const }];
    const by = asked(rows, { cc: ["DE", "IT"], v: ["a", "b"] }, measures);
    expect(title(chart.bar(by))).toMatch(/^Median by CC and v/);
  });

  test("are horizontal where a name is long", () => {
    const drawn = chart.bar([
      { test: "http_invalid_request_line", n: 1 },
      { test: "tor", n: 2 },
    ]);
    expect(layers(drawn)[0]?.mark["orient"]).toBe("horizontal");
    expect(() => chart.bar(weeklyCounts(), { horizontal: true })).toThrow(
      /only bars of categories/,
    );
  });

  test("of several series along time stand on top of each other, or are refused", () => {
    for (const options of [{ y: "q50" }, { y: "runs", stack: false } as const]) {
      expect(() => chart.bar(two, options)).toThrow(
        /draw it with chart\.line, in panels with facet/,
      );
    }
  });
});

describe('stack: "normalize"', () => {
  test("each value is its part of the sum at its x", () => {
    const cell = fc.integer({ min: 0, max: 1_000 });
    const row = fc.tuple(cell, cell, cell);
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
        const given = rows.flatMap((values, x) => values.map((n, s) => ({ x, s: `s${s}`, n })));
        for (const kind of ["area", "bar"] as const) {
          const drawn = chart[kind](given, { x: "x", y: "n", color: "s", stack: "normalize" });
          expect(drawn.data.rows).toHaveLength(given.length);
          for (const [x, s, part] of drawn.data.rows) {
            const own = given.filter((each) => each.x === x);
            const sum = own.reduce((all, { n }) => all + n, 0);
            const n = own.find((each) => each.s === s)?.n ?? NaN;
            expect(Number(part)).toBeCloseTo(sum === 0 ? 0 : n / sum, 12);
          }
        }
      }),
      { numRuns: 40, seed: 9 },
    );
  });

  test("is refused for one series, and for what can't be added up", () => {
    expect(() => chart.area(weeklyCounts(), { color: null, stack: "normalize" })).toThrow(
      /one series/,
    );
    expect(() => chart.area(two, { y: "q50", stack: "normalize" })).toThrow(/can't be added up/);
  });
});

describe("chart.heatmap", () => {
  const cells = (missing: "zero" | "gap", other = false) =>
    makeResult(
      { day: ["Monday", "Monday", "Tuesday"], hour: ["00", "01", "00"], n: [5, 0, 7] },
      {
        dimensions: [
          { name: "day", order: ["Monday", "Tuesday"], ...(other && { other: "Tuesday" }) },
          { name: "hour", order: ["00", "01"] },
        ],
        measures: [{ name: "n", label: "N", unit: "runs", additive: true, missing }],
      },
    );

  test("a missing cell is zero only where nothing happened", () => {
    const shown = (drawn: ReturnType<typeof chart.heatmap>) =>
      drawn.data.rows.map(([hour, day, n]) => [day, hour, n]);
    const all = [
      ["Monday", "00", 5],
      ["Tuesday", "00", 7],
      ["Monday", "01", 0],
    ];
    const [zero, unknown] = [0, null].map((n) => [...all, ["Tuesday", "01", n]]);
    expect(shown(chart.heatmap(cells("zero")))).toEqual(zero);
    expect(shown(chart.heatmap(cells("gap")))).toEqual(unknown);
    // It may be in what was merged.
    expect(shown(chart.heatmap(cells("zero", true)))).toEqual(unknown);
    expect(subtitle(chart.heatmap(cells("gap")))).toContain("Dots: no value.");
    expect(subtitle(chart.heatmap(cells("zero")))).not.toContain("Dots");
  });

  test("needs two columns, known ones, and fewer than 5,000 cells", () => {
    expect(() => chart.heatmap(one.with((cells) => cells.select("t", "q50")))).toThrow(
      /two columns/,
    );
    expect(() => chart.heatmap(weeklyCounts(), { y: "version" })).toThrow(/no column "version"/);
    const odd = { y: "software_version", z: "t" };
    expect(() => chart.heatmap(weeklyCounts(), odd)).toThrow(/with the option "z"/);
    const rows = Array.from({ length: 100 }, (_, x) => ({ x, s: `s${x % 55}`, n: 1 }));
    expect(() => chart.heatmap(rows, { x: "x", y: "s", color: "n" })).toThrow(/100 times 55 cells/);
  });
});
