import { describe, expect, test } from "vitest";
import { chart, table } from "../../src/index.js";
import { layers, subtitle } from "./support/layers.js";
import { makeResult, versionSummary, weeklyDurations } from "./support/sample-results.js";

/** Runs by country, with so many in "other". */
function countries(other: number) {
  const names = ["IT", "DE", "BR", "other"];
  return makeResult(
    { probe_cc: names, runs: [30, 20, 10, other] },
    {
      dimensions: [{ name: "probe_cc", order: names, other: "other" }],
      measures: [{ name: "runs", label: "Runs", unit: "runs", additive: true, missing: "zero" }],
    },
  );
}

describe("the bar of other", () => {
  test("is told where it would make all others too short", () => {
    const drawn = chart.bar(countries(1_940));
    expect(drawn.data.rows.map(([name]) => name)).toEqual(["IT", "DE", "BR"]);
    expect(subtitle(drawn)).toContain("other: 1,940 of 2,000 (97 %), not drawn.");
  });

  test("is drawn where it is at most three times as long as the longest, or asked for", () => {
    const names = (drawn: ReturnType<typeof chart.bar>) => drawn.data.rows.map(([name]) => name);
    expect(names(chart.bar(countries(90)))).toContain("other");
    expect(names(chart.bar(countries(1_940), { other: true }))).toContain("other");
    expect(names(chart.bar(countries(5), { other: false }))).not.toContain("other");
  });
});

describe("annotations of a span, and a reference", () => {
  const lines = (options: Parameters<typeof chart.line>[1]) =>
    layers(chart.line(weeklyDurations(), { y: "q50", ...options }));

  test("a span is a band as far as the chart reaches, and ends after its start", () => {
    const open = chart.annotation("2026-04-20", "rollout", "2026-09-01");
    const band = lines({ annotations: [open] }).find(({ mark }) => mark.type === "rect");
    expect(band?.data.values).toEqual([
      { time: "2026-04-20T00:00:00Z", end: "2026-04-27T00:00:00Z" },
    ]);
    expect(() => chart.annotation("2026-03-02", "incident", "2026-03-02")).toThrow(
      "pass an end after its time, 2026-03-02T00:00:00.000Z",
    );
  });

  test("a reference is a number", () => {
    expect(() => lines({ reference: 1_800 as never })).toThrow("pass a number with its label");
  });
});

test("a table's text is left and may wrap, its numbers are right on one line, with the axes' minus sign", () => {
  const { html } = table(
    versionSummary().with((rows) => rows.derive({ change: (d: { runs: number }) => 5 - d.runs })),
  );
  expect(html).toMatch(/<th scope="row" align="left" style="text-align:left">3\.8\.2</);
  expect(html).toMatch(/<td nowrap="nowrap" align="right">−[\d,]+</);
});
