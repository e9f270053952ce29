import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, type Chart, type Result } from "../../src/index.js";
import type { MeasureColumn } from "../../src/result/origin.js";
import { buckets } from "../../src/time/bucket.js";
import { makeResult, RANGE } from "./support/sample-results.js";

const measure = (name: string, additive: boolean): MeasureColumn => ({
  name,
  label: name,
  unit: "measurements",
  additive,
  missing: additive ? "zero" : "gap",
});
const weeks = buckets(RANGE, "week").map(({ start }) => start);

/** What a question by week and two dimensions gives; some groups have no row in some weeks. */
const cubes = fc
  .record({
    names: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 })),
    counts: fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 20, maxLength: 60 }),
    additive: fc.boolean(),
  })
  .map(({ names: [countries, versions], counts, additive }) => {
    const cells = weeks.flatMap((t) =>
      Array.from({ length: countries }, (_, a) => a).flatMap((a) =>
        Array.from({ length: versions }, (_, b) => ({ t, a: `c${a}`, b: `v${b}` })),
      ),
    );
    const rows = cells
      .map((cell, at) => ({ ...cell, n: counts[at % counts.length]! }))
      .filter((_, at) => at === 0 || counts[(at * 7) % counts.length]! % 5 > 0);
    const column = <Name extends "t" | "a" | "b" | "n">(name: Name) => rows.map((row) => row[name]);
    const order = (name: "a" | "b") => [...new Set(column(name))].sort();
    const result = makeResult(
      { t: column("t"), a: column("a"), b: column("b"), n: column("n") },
      {
        time: { name: "t", every: "week", incomplete: [] },
        dimensions: (["a", "b"] as const).map((name) => ({ name, order: order(name) })),
        measures: [measure("n", additive)],
      },
    );
    return { result, additive, total: rows.reduce((sum, { n }) => sum + n, 0) };
  });

/** Each way to draw such a Result, and the dimensions, time among them, that it leaves out. */
const drawn: [name: string, draw: (result: Result) => Chart, hidden: number][] = [
  ["bars of a", (result) => chart.bar(result, { x: "a", color: null }), 2],
  ["bars of a by b", (result) => chart.bar(result, { x: "a", color: "b", stack: false }), 1],
  ["bars of weeks", (result) => chart.bar(result, { color: null }), 2],
  ["a heat map of a and b", (result) => chart.heatmap(result, { x: "a", y: "b" }), 1],
  ["a heat map of weeks and b", (result) => chart.heatmap(result, { y: "b" }), 1],
  ["a line", (result) => chart.line(result, { color: null }), 2],
  ["lines by a", (result) => chart.line(result, { color: "a" }), 1],
  ["areas by b", (result) => chart.area(result, { color: "b" }), 1],
  ["panels by a", (result) => chart.line(result, { facet: "a", color: null }), 1],
];

describe("a chart draws all rows of the Result under its title, or is refused", () => {
  test.each(drawn)("%s", (_, draw, hidden) => {
    fc.assert(
      fc.property(cubes, ({ result, additive, total }) => {
        if (!additive && hidden > 0) {
          expect(() => draw(result)).toThrow(/its values can't be added up; (take|ask for)/);
          return;
        }
        const { names, rows } = draw(result).data;
        const at = names.findIndex((name) => name === "n");
        expect(at).toBeGreaterThanOrEqual(0);
        const sum = rows.reduce((all, row) => all + Number(row[at] ?? 0), 0);
        expect(sum).toBe(total);
      }),
      { seed: 28, numRuns: 25 },
    );
  });

  test("bars of weekly counts by version say that the weeks are added up", () => {
    const adding = cubes.filter(({ additive }) => additive);
    const [cube] = fc.sample(adding, { seed: 1, numRuns: 1 });
    const { subtitle } = chart.bar(cube!.result, { x: "a", color: null }).spec["title"] as {
      subtitle: string | string[];
    };
    expect([subtitle].flat().join(" ")).toMatch(/All values of b and weeks added up\./);
  });

  test("a line with a missing week still tells which weeks are incomplete", () => {
    const times = weeks.filter((_, at) => at !== 3);
    const counts = makeResult(
      { t: times, n: times.map((_, at) => at + 1) },
      {
        time: { name: "t", every: "week", incomplete: [times.at(-1)!] },
        dimensions: [],
        measures: [measure("n", true)],
      },
    );
    const { subtitle } = chart.line(counts).spec["title"] as { subtitle: string | string[] };
    expect([subtitle].flat().join(" ")).toMatch(/covered only in part|incomplete/i);
  });
});
