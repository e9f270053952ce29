import { describe, expect, test } from "vitest";
import { chart, type Result } from "../../src/index.js";
import { counted, makeResult, versionSummary, weeklyCounts } from "./support/sample-results.js";

const MARKS = ["line", "area", "bar", "dot"] as const;

const measure = { ...counted("measurements", "Measurements"), main: true as const };
/** What `lab.measurements.counts({ range, every: "all" })` gives. */
const total = (...values: number[]): Result =>
  makeResult({ measurements: values }, { dimensions: [], measures: [measure] });

describe("x is never y", () => {
  test.each(MARKS)("chart.%s of one number says what to ask", (mark) => {
    expect(() => chart[mark](total(5))).toThrow(
      /^Can't draw .* it needs a column along the axis beside "measurements": ask with every: "auto", .*or show it with table\.$/,
    );
    expect(() => chart[mark](makeResult({ n: [5] }))).toThrow(
      /beside "n": .*select a time, a number or a text in the query, or show it with table\.$/,
    );
  });

  test.each(MARKS)("chart.%s along the measure draws another one, or says so", (mark) => {
    const x = "measurements";
    expect(() => chart[mark](weeklyCounts(), { x, color: null })).toThrow(
      /it needs a column of numbers beside "measurements": pass another one as x, or use/,
    );
    expect(() => chart[mark](weeklyCounts(), { x, y: x })).toThrow(
      'with "measurements" as x and as y: pass two columns of "t", "software_version", "measurements", or leave out x.',
    );
  });

  test("points along one measure show another", () => {
    const made = chart.dot(versionSummary(), { x: "runs" });
    expect(made.data.names.filter((name) => name !== "software_version")).toEqual(["runs", "q50"]);
  });
});

test.each(["line", "area", "dot"] as const)(
  "along a text chart.%s draws nothing, whether it is named or not: chart.bar can",
  (mark) => {
    const byCountry = makeResult({ probe_cc: ["IT", "GE"], n: [12, 345] });
    const said = /along "probe_cc", which holds text: use chart\.bar\.$/;
    expect(() => chart[mark](byCountry)).toThrow(said);
    expect(() => chart[mark](byCountry, { x: "probe_cc", y: "n" })).toThrow(said);
    expect(() => chart[mark](byCountry, { x: "n" })).toThrow(
      /beside "n": pass another one as x, or use chart\.bar\.$/,
    );
    expect(chart.bar(byCountry).data.rows).toEqual(byCountry.rows().map(Object.values));
  },
);
