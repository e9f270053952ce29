import { describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { drawRecipe } from "../../src/chart/chart.js";
import { exploreCells } from "./support/explore-cells.js";
import { makeResult, weeklyCounts, weeklyDurations } from "./support/sample-results.js";

describe("chart.explore(result)", () => {
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
