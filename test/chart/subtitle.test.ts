import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { versionSummary, weeklyCounts } from "./support/sample-results.js";

const subtitle = (made: { spec: Record<string, unknown> }): readonly string[] =>
  (made.spec["title"] as { subtitle?: string[] }).subtitle ?? [];

describe.each(["line", "area", "bar", "points"] as const)("chart.%s with a subtitle", (mark) => {
  const own = subtitle(chart[mark](weeklyCounts(), { width: 300 }));

  test("has it as a line of its own, before the chart's sentences", () => {
    expect(own[0]).toMatch(/^Incomplete, drawn /);
    const told = chart[mark](weeklyCounts(), { width: 300, subtitle: "my sub" });
    expect(subtitle(told)).toEqual(["my sub", ...own]);
  });

  test("and a title: the range begins the chart's sentences", () => {
    const given = { width: 300, title: "T" };
    const [first = "", ...more] = subtitle(chart[mark](weeklyCounts(), given));
    expect(first).toMatch(/^2026-02-01 to 2026-05-01 UTC\. Incomplete/);
    const told = chart[mark](weeklyCounts(), { ...given, subtitle: "my sub" });
    expect(subtitle(told)).toEqual(["my sub", first, ...more]);
  });
});

test("a long subtitle is wrapped, and ends before the chart's sentences", () => {
  const long = "what the reader must know ".repeat(9).trim();
  const lines = subtitle(chart.area(weeklyCounts(), { width: 300, subtitle: long }));
  const end = lines.findIndex((line) => line.startsWith("Incomplete"));
  expect(end).toBeGreaterThan(1);
  expect(lines.slice(0, end).join(" ")).toBe(long);
});

test("an empty subtitle is none; alone it is the only line", () => {
  for (const none of ["", " "]) {
    expect(subtitle(chart.bar(versionSummary(), { subtitle: none }))).toEqual([]);
  }
  expect(subtitle(chart.bar(versionSummary(), { subtitle: "alone\n" }))).toEqual(["alone"]);
});
