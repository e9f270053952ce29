import type { Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, test } from "vitest";
import { chart, ProbelabError } from "../../src/index.js";
import { subtitle, title } from "./support/layers.js";
import { makeResult, weeklyCounts } from "./support/sample-results.js";

const counts = weeklyCounts();
const x = { field: "t", type: "temporal" };
const y = { field: "measurements", type: "quantitative" };
const bar = { mark: "bar", encoding: { x, y } };
const nope = { field: "nope", type: "nominal" };
const draw = (spec: unknown) => () => chart.vegaLite(counts, spec as Record<string, unknown>);

describe("chart.vegaLite(result, spec)", () => {
  test("binds the rows by name, with origin and range; the spec's own data is left out", () => {
    const free = chart.vegaLite(counts, { ...bar, data: { values: [{ nope: 1 }] } });
    expect(free.spec["data"]).toEqual({ name: "result" });
    expect((free.spec["datasets"] as { result: unknown[] }).result).toHaveLength(98);
    expect(title(free)).toBe("Result, 1 Feb–30 Apr 2026");
    expect(free.spec.usermeta).toHaveProperty("probelab.sql");
    const titled = chart.vegaLite(counts, { ...bar, title: "Mine" });
    expect(title(titled)).toBe("Mine");
    expect(subtitle(titled)).toContain("1 Feb–30 Apr 2026");
  });

  test("draws times in UTC, whatever the zone of the process", async () => {
    const at = ["2026-01-01T00:00:00Z", "2026-02-01T01:00:00Z"].map((text) => new Date(text));
    const result = makeResult({ at, n: [1, 2] });
    const texts = async (spec: Record<string, unknown>): Promise<string[]> => {
      const svg = await chart.vegaLite(result, spec).svg();
      return [...svg.matchAll(/<text[^>]*>([^<]+)</g)].map(([, text]) => text!);
    };
    const months = await texts({
      mark: "bar",
      transform: [{ calculate: "utcmonth(datum.at) + ' months'", as: "number" }],
      encoding: {
        x: { field: "at", timeUnit: "yearmonth", axis: { format: "%Y-%m" } },
        y: { field: "n", type: "quantitative" },
        color: { field: "number", type: "nominal" },
      },
    });
    expect(months).toEqual(expect.arrayContaining(["2026-01", "0 months", "1 months"]));
    expect(months).not.toContain("2025-12");
    const hours = {
      mark: "text",
      encoding: {
        x: { field: "at", type: "temporal" },
        text: { field: "at", type: "temporal", format: "%H:%M" },
        tooltip: { field: "at", type: "temporal", format: "%H:%M" },
      },
    };
    expect(await texts(hours)).toEqual(expect.arrayContaining(["00:00", "01:00"]));
    const { spec } = chart.vegaLite(result, hours);
    const compiled: Spec = compile(structuredClone(spec) as unknown as TopLevelSpec).spec;
    expect(JSON.stringify(compiled)).not.toMatch(/timeFormat/);
  });

  test("takes fields that the spec makes, and columns with a dot as Vega-Lite writes them", async () => {
    const made = [{ calculate: "datum.measurements * 2", as: "nope" }];
    expect(draw({ ...bar, transform: made, encoding: { x: nope } })).not.toThrow();
    expect(
      draw({ layer: [{ data: { values: [{ nope: 1 }] }, ...bar, encoding: { x: nope } }] }),
    ).not.toThrow();
    expect(
      draw({
        repeat: ["t"],
        spec: { mark: "bar", encoding: { x: { field: { repeat: "repeat" } } } },
      }),
    ).not.toThrow();
    const odd = makeResult({ "a.b": [1, 2], "c[0]": [3, 4] });
    const encoding = { x: { field: "a\\.b" }, y: { field: "['c[0]']" } };
    expect(await chart.vegaLite(odd, { mark: "bar", encoding }).svg()).not.toContain("undefined");
  });
});

describe("chart.vegaLite refuses", () => {
  test.each([
    [undefined, /undefined as a Vega-Lite spec: pass chart\.vegaLite\(result, \{ mark/],
    [{ encoding: { x } }, /spec without a mark/],
    [{ ...bar, encoding: { x: nope } }, /no column "nope"; the columns are "t"/],
    [{ ...bar, encoding: { x, y, tooltip: [x, nope] } }, /no column "nope"/],
    [{ layer: [{ mark: "bar" }, { mark: "rule", encoding: { x: nope } }] }, /no column "nope"/],
    [{ data: { values: [{ nope: 1 }] }, ...bar, encoding: { x: nope } }, /no column "nope"/],
    [
      { ...bar, transform: [{ calculate: "month(datum.t)", as: "m" }] },
      /month in the zone of the reader's machine: write utcmonth\(…\)/,
    ],
    [
      { ...bar, transform: [{ filter: { field: "t", gt: { year: 2026 } } }] },
      /year in the zone of the reader's machine: write times as texts/,
    ],
  ])("%j", (spec, message) => {
    expect(draw(spec)).toThrow(ProbelabError);
    expect(draw(spec)).toThrow(message);
  });

  test("what would be loaded: data, pictures, and tooltips that show a column as one", () => {
    const url = "https://example.org/a.png";
    for (const spec of [
      { layer: [{ data: { url: "file:///etc/passwd" }, mark: "point" }] },
      { ...bar, transform: [{ lookup: "t", from: { data: { url }, key: "t" } }] },
      { mark: "image", encoding: { url: { field: "software_version" } } },
      { mark: { type: "image", url } },
    ]) {
      expect(draw(spec)).toThrow(
        /Can't draw a spec with url: .*: nothing is loaded; query the data/,
      );
    }
    const pictured = makeResult({ n: [1], image: [url] });
    const encoding = { x: { field: "n" } };
    const tooltip = { mark: { type: "point", tooltip: true }, encoding };
    expect(() => chart.vegaLite(pictured, tooltip)).toThrow(/name it otherwise/);
    expect(() => chart.vegaLite(pictured, { mark: "point", encoding })).not.toThrow();
  });

  test("5,000 rows or more, with the question that aggregates them", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => n);
    const rows = makeResult({ n: many });
    expect(() => chart.vegaLite(rows, { mark: "point", encoding: {} })).toThrow(
      'Can\'t draw 5,000 rows with a Vega-Lite spec, a chart takes fewer than 5,000: aggregate them in the question (every: "auto", by and top; in SQL GROUP BY), or pass downsample(result, { x, y }) for the same line.',
    );
  });
});
