import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, table } from "../../src/index.js";
import { uniqueLabels } from "../../src/chart/render/label.js";
import { seriesColors, chartSeries, seriesShapes } from "../../src/chart/series.js";
import { THEMES } from "../../src/chart/render/theme.js";
import { layers, legend } from "./support/layers.js";
import { makeResult } from "./support/sample-results.js";

const names = fc.constantFrom("3.8", "3.9", "3.10", "3.80", "other", "", null);

describe("chartSeries(values, dimension)", () => {
  test("lists each value once: known ones in their order, then the rest as they appear, other last", () => {
    fc.assert(
      fc.property(
        fc.array(names),
        fc.shuffledSubarray(["3.8", "3.9", "3.10", null]),
        (values, order) => {
          const series = chartSeries(values, { order, other: "other" }).map(({ value }) => value);
          const found = [...new Set(values)];
          const expected = [
            ...order.filter((value) => (found as unknown[]).includes(value)),
            ...found.filter((value) => !(order as unknown[]).includes(value) && value !== "other"),
            ...found.filter((value) => value === "other"),
          ];
          expect(series).toEqual(expected);
        },
      ),
      { numRuns: 300, seed: 6 },
    );
  });

  test("colours and shapes together tell 24 series apart", () => {
    const series = chartSeries(
      Array.from({ length: 24 }, (_, index) => `v${index}`),
      undefined,
    );
    for (const theme of Object.values(THEMES)) {
      const looks = seriesColors(series, theme).map(
        (colour, at) => colour + seriesShapes(series)[at],
      );
      expect(new Set(looks).size).toBe(24);
    }
  });
});

describe("label(value)", () => {
  test("uniqueLabels(values) are unique, on one line, without control or direction characters", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant(null))),
        (values) => {
          const labels = uniqueLabels([...values, "a\u202e", "a\u0000", "a "]);
          expect(new Set(labels).size).toBe(labels.length);
          const clean = /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+$/u;
          expect(labels.filter((text) => !clean.test(text))).toEqual([]);
        },
      ),
      { numRuns: 100, seed: 7 },
    );
  });
});

test("a network under another name is written as one: in series, places, panels, tables and linked views", () => {
  const networks = ["3269", "7018", null];
  const at = networks.map(() => new Date(Date.UTC(2026, 4, 1)));
  const meaning = {
    time: { name: "t", every: "day", incomplete: [] },
    dimensions: [{ name: "network", of: "probe_asn", order: networks }],
    measures: [{ name: "n", label: "Runs", unit: "runs", additive: true, missing: "zero" }],
  } as const;
  const result = makeResult({ t: at, network: networks, n: [3, 2, 1] }, meaning);
  const expected = ["AS3269", "AS7018", "(none)"];
  expect(legend(chart.area(result)).names).toEqual(expected);
  const bars = layers(chart.bar(result, { x: "network" }))[0]!;
  expect(bars.data.values.map(({ network }) => network)).toEqual(expected);
  const panels = chart.bar(result, { facet: "network" }).spec["concat"] as { title: object }[];
  expect(panels.map(({ title }) => title)).toMatchObject(expected.map((text) => ({ text })));
  expect(table(result, { columns: ["network"] }).model.rows.flat()).toEqual(expected);
  const { data } = chart.explore(result).spec as { data: { values: { d0?: string }[] } };
  const shown = data.values.flatMap(({ d0 }) => d0 ?? []);
  expect(shown).toEqual(expected);
});

test("a legend stands where it is asked: below the plot it takes no width beside it", async () => {
  const size = async (options: object) => {
    const rows = ["3.9", "3.10"].flatMap((version) =>
      [1, 2, 3].map((day) => ({ t: new Date(Date.UTC(2026, 4, day)), version, runs: day })),
    );
    const svg = await chart.line(rows, options).svg();
    const [, width, height] = / width="(\d+)" height="(\d+)"/.exec(svg)!.map(Number);
    return { width: width!, height: height! };
  };
  const [given, right, bottom] = await Promise.all([
    size({}),
    size({ legend: "right" }),
    size({ legend: "bottom" }),
  ]);
  expect(given).toEqual(right);
  expect(bottom.width).toBeLessThan(right.width);
  expect(bottom.height).toBeGreaterThan(right.height);
  expect(() => chart.line([], { legend: "left" as never })).toThrow(/legend.*"right" or "bottom"/);
});
