import { describe, expect, test } from "vitest";
import { between, chart, ProbelabError } from "../../src/index.js";
import { layers, specRows, subtitle, title } from "./support/layers.js";
import { xmlElements } from "./support/xml-tree.js";
import {
  counted,
  makeResult,
  single,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "./support/sample-results.js";

const MARKS = ["line", "area", "bar", "dot"] as const;

const at = (day: string): Date => new Date(`${day}T00:00:00Z`);

describe("defaults from the Result", () => {
  test("the title is a sentence; the range stands below it", () => {
    expect(title(chart.area(weeklyCounts()))).toBe("Measurements per week by version");
    expect(title(chart.line(weeklyDurations(), { y: "q50" }))).toBe(
      "Run duration, median, by week and version",
    );
    expect(title(chart.bar(versionSummary()))).toBe("Runs by version");
  });

  test("y is the main measure, where values are added up an additive one", () => {
    const plain = weeklyDurations();
    const { columns } = plain.origin;
    const marked = columns.measures.map((measure) =>
      measure.name === "q50" ? { ...measure, main: true as const } : measure,
    );
    const result = (measures: typeof marked, dimensions = columns.dimensions) =>
      plain.with(plain.table, { columns: { ...columns, dimensions, measures } });
    const y = (drawn: ReturnType<typeof chart.line>) => layers(drawn)[0]?.encoding.y?.field;
    const durations = result(marked);
    expect(y(chart.line(durations))).toBe("q50");
    expect(y(chart.dot(durations))).toBe("q50");
    expect(y(chart.line(plain))).toBe("runs");
    expect(y(chart.line(durations, { y: "q90" }))).toBe("q90");
    expect(chart.area(durations).data.names.at(-1)).toBe("runs");
    expect(y(chart.bar(durations))).toBe("runs");
    expect(y(chart.line(durations, { color: null }))).toBe("runs");
    const days = result(marked, []);
    const alone = days.with(
      days.table.filter((row: { software_version: string }) => row.software_version === "3.11.0"),
    );
    expect(y(chart.area(alone))).toBe("q50");
    expect(y(chart.bar(alone))).toBe("q50");
    const sums = result([
      ...columns.measures.filter(({ additive }) => additive),
      { name: "single", label: "Sum", unit: "", additive: true, missing: "zero", main: true },
    ]);
    expect(chart.area(sums).data.names).toContain("single");
  });
});

describe("incomplete edge buckets", () => {
  test("are not said twice where the query noted them", () => {
    const note = "The weeks of 26 Jan 2026 and 27 Apr 2026 are covered only in part by the range.";
    const counts = weeklyCounts();
    const noted = counts.with(counts.table, { notes: [note, "Another note."] });
    expect(subtitle(chart.line(noted))).not.toContain(note);
    expect(subtitle(chart.line(noted))).toContain("Another note.");
  });
});

describe("gaps and zeros", () => {
  const gap = makeResult(
    {
      t: ["2026-02-02", "2026-02-09", "2026-02-16"].map(at),
      q50: [1, NaN, 3],
      n: [5, null, 7],
    },
    {
      time: { name: "t", every: "week", incomplete: [] },
      dimensions: [],
      measures: [single("q50", "Median"), counted("n", "Runs")],
    },
  );

  test("NaN and null are null in the spec, in the middle of the line", () => {
    for (const y of ["q50", "n"]) {
      const [line] = layers(chart.line(gap, { y }));
      const middle = line?.data.values.find((row) => row.t === "2026-02-09T00:00:00Z");
      expect(middle?.[y]).toBeNull();
    }
  });

  test("a Result without rows is a chart that says so, over the range asked for", async () => {
    const counts = weeklyCounts();
    const empty = counts.with(counts.table.slice(0, 0), { notes: [] });
    const noted = counts.with(counts.table.slice(0, 0), { notes: ["No table 'fastpath'."] });
    for (const mark of MARKS) {
      const texts = xmlElements(await chart[mark](noted, { width: 420 }).svg()).map(
        ({ text }) => text,
      );
      expect(texts).toContain("No data: No table 'fastpath'.");
      expect(texts).toEqual(expect.arrayContaining(["Feb", "Apr"]));
      expect(await chart[mark](counts).svg()).not.toContain("No data");
      expect(subtitle(chart[mark](empty))).toContain("No data in this range.");
      expect(await chart[mark](empty).svg()).toContain("</svg>");
    }
  });
});

describe("limits and refusals", () => {
  test("fewer than 5,000 rows stand in the spec, edges and markers included", () => {
    const days = weeklyCounts({ range: between("2025-01-01T06:00", "2026-11-25"), every: "day" });
    expect(days.numRows()).toBeGreaterThan(4_700);
    for (const mark of MARKS) expect(specRows(chart[mark](days))).toBeLessThan(5_000);
  });

  test.each([
    [() => chart.line(weeklyCounts(), { x: "week" }), /no column "week"; the columns are "t"/],
    [() => chart.line(weeklyCounts(), { y: "software_version" }), /holds text/],
    [() => chart.line(weeklyCounts(), { width: 10 }), /width: 10/],
    [
      () =>
        chart.line(weeklyCounts({ versions: Array.from({ length: 30 }, (_, n) => `3.${n}.0`) })),
      /31 series.*top: 6/,
    ],
    [() => chart.area(weeklyCounts(), { y: { zero: false } }), /without zero/],
    [() => chart.bar(weeklyCounts(), { y: { type: "log" } }), /without zero/],
    [
      () => chart.line(makeResult({ text: ["a"] })),
      /with the columns "text": it needs a column of numbers: count or convert in the query/,
    ],
    [
      () => chart.bar(versionSummary(Array.from({ length: 61 }, (_, n) => `v${n}`))),
      /61 values.*top: 20/,
    ],
  ])("%# is refused with an error that shows how", (draw, message) => {
    expect(draw).toThrow(ProbelabError);
    expect(draw).toThrow(message);
  });
});

describe("reductions", () => {
  const long = Array.from({ length: 40_000 }, (_, index) => index);
  const many = makeResult({
    at: long.map((index) => new Date(Date.UTC(2026, 1, 1) + index * 60_000)),
    load: long.map((index) => Math.sin(index / 900) * 10 + (index === 20_123 ? 300 : 0) + 20),
  });

  test("a line of 40,000 rows keeps its spike, and says what was drawn", () => {
    const drawn = chart.line(many);
    expect(specRows(drawn)).toBeLessThan(5_000);
    expect(subtitle(drawn)).toMatch(
      /[\d,]+ of 40,000 rows; (the same picture|.*% of the picture differs)/,
    );
    const values = layers(drawn)[0]?.data.values.map(({ load }) => Number(load)) ?? [];
    expect(Math.max(...values)).toBeGreaterThan(300);
    expect(drawn.spec.usermeta).toHaveProperty("probelab.reductions.0");
  });

  test("zeros are gaps on a log scale, and it is said", () => {
    const drawn = chart.line(makeResult({ x: [1, 2, 3], y: [5, 0, 7] }), { y: { type: "log" } });
    expect(layers(drawn)[0]?.data.values.map(({ y }) => y)).toEqual([5, null, 7]);
    expect(subtitle(drawn)).toContain("1 value of zero or below left out.");
  });
});
