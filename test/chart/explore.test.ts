import { parse, View } from "vega";
import { describe, expect, test } from "vitest";
import { chart, type Result } from "../../src/index.js";
import { drawRecipe } from "../../src/chart/chart.js";
import { compiledSpec } from "../../src/render/svg.js";
import { exploreCells } from "./support/explore-cells.js";
import { makeResult, weeklyCounts, weeklyDurations } from "./support/sample-results.js";

/** The texts that a figure shows. */
async function textsOf(result: Result): Promise<string> {
  const view = new View(parse(await compiledSpec(chart.explore(result).spec)), {
    renderer: "none",
  });
  const svg = await view.toSVG();
  view.finalize();
  return [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/gs)].map(([, text]) => text).join(" | ");
}

describe("chart.explore(result)", () => {
  test("shows everything as a picture: the total, the range, each value with its amount", async () => {
    const cells = exploreCells();
    const total = cells.column("measurements").reduce<number>((all, one) => all + Number(one), 0);
    const texts = await textsOf(cells);
    expect(texts).toContain(`${total.toLocaleString("en-US")} measurements`);
    expect(texts).toContain("2026-02-01 to 2026-05-01");
    for (const name of ["3.8.10", "IT", "(none)", "other", "(empty)"])
      expect(texts).toContain(name);
    expect(chart.explore(cells).spec.description).toContain("Test: web_connectivity");
  });

  test("draws fewer than 5,000 rows, those of empty buckets too, and keeps the Result's", () => {
    const cells = exploreCells();
    const { spec, data, recipe } = chart.explore(cells);
    const { values } = spec["data"] as { values: { i: number }[] };
    expect(values).toHaveLength(cells.numRows() + 1);
    expect(new Set(values.map(({ i }) => i)).size).toBe(14);
    expect(data.rows).toHaveLength(cells.numRows());
    expect(drawRecipe(cells, recipe).spec).toEqual(spec);
  });

  test.each([
    [weeklyDurations(), { y: "q50" }, "by q50, whose values don't add up"],
    [exploreCells().with((cells) => cells.select("t", "probe_cc")), {}, "without a measure"],
    [makeResult({ a: [1] }), {}, 'of the columns "a", without time'],
    [weeklyCounts(), { y: "runs" }, 'its measures are "measurements"'],
    [
      weeklyCounts().with(weeklyCounts().table.derive({ measurements: () => -1 }), {
        columns: weeklyCounts().origin.columns,
      }),
      {},
      "below zero",
    ],
  ])("refuses what no choice could be told of: %#", (result, options, message) => {
    expect(() => chart.explore(result, options)).toThrow(message);
    expect(() => chart.explore(result, options)).toThrow("lab.measurements.explore");
  });
});
