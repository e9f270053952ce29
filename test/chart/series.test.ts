import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { chart, table } from "../../src/index.js";
import { label, uniqueLabels } from "../../src/render/label.js";
import { forgetLook, seriesColors } from "../../src/chart/look.js";
import { MOST_SERIES, chartSeries, seriesShapes } from "../../src/chart/series.js";
import { THEMES } from "../../src/render/theme.js";
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
      const looks = seriesColors(series, "column", theme).map(
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
      { numRuns: 300, seed: 7 },
    );
  });

  test("spells out what turns the reading direction, and what is missing", () => {
    expect(label("\u202egnp.exe")).toBe("<U+202E>gnp.exe");
    expect([label(null), label(""), label("a\nb"), label([1, 2n])]).toEqual([
      "(none)",
      "(empty)",
      "a b",
      '[1,"2"]',
    ]);
    expect(label("x".repeat(1e6))).toHaveLength(120);
    expect(label([Uint8Array.of(1, 2), Float64Array.of(0.5)])).toBe("[[1,2],[0.5]]");
  });
});

/** Contrast of two colours, as WCAG 2 has it. */
function contrast(one: string, two: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light = 0, dark = 0] = [luminance(one), luminance(two)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test("themes keep text readable (WCAG AA, 4.5) and series visible against the background", () => {
  for (const theme of Object.values(THEMES)) {
    for (const colour of [theme.text, theme.muted, theme.annotation]) {
      expect(contrast(colour, theme.background)).toBeGreaterThan(4.5);
    }
    for (const colour of [...theme.series, theme.neutral]) {
      expect(contrast(colour, theme.background)).toBeGreaterThan(1.7);
    }
    expect(new Set(theme.series).size).toBe(theme.series.length);
  }
});

/** Distance of two colours in OKLab. Source: https://bottosson.github.io/posts/oklab/ */
function distance(one: string, two: string): number {
  const lab = (colour: string): number[] => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  };
  const [a, b] = [lab(one), lab(two)];
  return Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)));
}

test("as many series as a chart takes have colours that can be told apart", () => {
  for (const theme of Object.values(THEMES)) {
    expect(theme.series).toHaveLength(MOST_SERIES);
    for (const [at, colour] of theme.series.entries()) {
      // The first eight are Okabe's and Ito's: their nearest are 0.09 apart.
      const least = at < 8 ? 0.09 : 0.1;
      for (const other of theme.series.slice(0, at)) {
        expect(distance(colour, other)).toBeGreaterThan(least);
      }
      if (at >= 8) expect(distance(colour, theme.neutral)).toBeGreaterThan(least);
      expect(distance(colour, theme.background)).toBeGreaterThan(least);
    }
  }
});

beforeEach(forgetLook);

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
  expect(
    table(result, { columns: ["network"] })
      .model.rows.flat()
      .map(({ text }) => text),
  ).toEqual(expected);
  const { data } = chart.explore(result).spec as { data: { values: { d0?: string }[] } };
  const shown = data.values.flatMap(({ d0 }) => d0 ?? []);
  expect(shown).toEqual(expected);
});
