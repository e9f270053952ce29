import { describe, expect, test } from "vitest";
import { chart, type Chart } from "../../src/index.js";
import { layers } from "./support/layers.js";
import { makeResult, single } from "./support/sample-results.js";

const time = (index: number): Date => new Date(Date.UTC(2026, 1, 1 + index));

/** A measure with gaps, a row a day; the days of `incomplete` are so. */
function medians(q50: readonly (number | null)[], incomplete: readonly number[] = []) {
  return makeResult(
    { t: q50.map((_, index) => time(index)), q50: [...q50] },
    {
      time: { name: "t", every: "day", incomplete: incomplete.map(time) },
      dimensions: [],
      measures: [single("q50", "Median")],
    },
  );
}

/** The mark and the values of each layer. */
const shown = (drawn: Chart): unknown[] =>
  layers(drawn).map(({ mark, data }) => [mark.type, data.values.map(({ q50 }) => q50)]);

describe("chart.area of values that no neighbour joins", () => {
  test("draws them as dots, beside areas that keep their gaps", () => {
    expect(shown(chart.area(medians([1, 2, null, 5, null, 3, 4, null, 6])))).toEqual([
      ["area", [1, 2, null, null, 3, 4, null]],
      ["point", [5, 6]],
    ]);
    expect(shown(chart.area(medians([null, 5, null, 7, 8], [0])))).toEqual([
      ["area", [null, 7, 8]],
      ["point", [5]],
      ["area", [null]],
    ]);
  });
});
