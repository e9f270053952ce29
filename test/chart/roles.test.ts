import { describe, expect, test } from "vitest";
import { chart, type Chart, ProbelabError, type Result } from "../../src/index.js";
import type { MeasureColumn } from "../../src/result/origin.js";
import { makeResult, versionSummary, weeklyCounts } from "./support/sample-results.js";

const MARKS = ["line", "area", "bar", "dot"] as const;
const NOT_BARS = ["line", "area", "dot"] as const;

const measure: MeasureColumn = {
  name: "measurements",
  label: "Measurements",
  unit: "measurements",
  additive: true,
  main: true,
  missing: "zero",
};
/** What `lab.measurements.counts({ range, every: "all" })` gives. */
const total = (...values: number[]): Result =>
  makeResult({ measurements: values }, { dimensions: [], measures: [measure] });

function refusal(draw: () => unknown): string {
  try {
    draw();
  } catch (error) {
    expect(error).toBeInstanceOf(ProbelabError);
    return (error as Error).message;
  }
  throw new Error("it was drawn");
}

/** The fields along the axes of each layer that has data. */
function axes({ spec }: Chart): { x: unknown; y: unknown }[] {
  const layers = spec["layer"] as { encoding?: Record<string, { field?: unknown }> }[];
  return layers.flatMap(({ encoding }) =>
    encoding?.["x"]?.field === undefined
      ? []
      : [{ x: encoding["x"].field, y: encoding["y"]?.field }],
  );
}

describe("x is never y", () => {
  test.each(MARKS)("chart.%s of one number says what to ask", (mark) => {
    expect(refusal(() => chart[mark](total(5)))).toMatch(
      /^Can't draw .* it needs a column along the axis beside "measurements": ask with every: "auto", .*or show it with table\.$/,
    );
    expect(refusal(() => chart[mark](makeResult({ n: [5] })))).toMatch(
      /beside "n": .*select a time, a number or a text in the query, or show it with table\.$/,
    );
  });

  test.each(MARKS)("chart.%s along the measure draws another one, or says so", (mark) => {
    const x = "measurements";
    const text = refusal(() => chart[mark](weeklyCounts(), { x, color: null }));
    expect(text).toMatch(
      /it needs a column of numbers beside "measurements": pass another one as x, or use/,
    );
    expect(() => chart[mark](weeklyCounts(), { x: "t" })).not.toThrow();
    expect(refusal(() => chart[mark](weeklyCounts(), { x, y: x }))).toContain(
      'with "measurements" as x and as y: pass two columns of "t", "software_version", "measurements", or leave out x.',
    );
    expect(() => chart[mark](weeklyCounts(), { y: x })).not.toThrow();
  });

  test("points along one measure show another", () => {
    const made = chart.dot(versionSummary(), { x: "runs" });
    expect(axes(made)).toEqual([{ x: "runs", y: "q50" }]);
  });
});

describe("what can't be drawn along a text", () => {
  const byCountry = makeResult({ probe_cc: ["IT", "GE"], n: [12, 345] });

  test.each(NOT_BARS)("chart.%s, whether it is named or not: chart.bar can", (mark) => {
    const said = /along "probe_cc", which holds text: use chart\.bar\.$/;
    expect(refusal(() => chart[mark](byCountry))).toMatch(said);
    expect(refusal(() => chart[mark](byCountry, { x: "probe_cc", y: "n" }))).toMatch(said);
    expect(refusal(() => chart[mark](byCountry, { x: "n" }))).toMatch(
      /beside "n": pass another one as x, or use chart\.bar\.$/,
    );
    expect(chart.bar(byCountry).data.rows).toEqual(byCountry.rows().map(Object.values));
    expect(() => chart.bar(byCountry, { x: "probe_cc" })).not.toThrow();
  });
});
