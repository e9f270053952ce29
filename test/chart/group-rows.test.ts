import * as fc from "fast-check";
import { None, View, logger, parse, type Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { inUtc } from "../../src/chart/own-spec.js";
import type { Value } from "../../src/result/result.js";
import type { VegaLiteSpec } from "../../src/render/theme.js";
import { makeResult } from "./support/sample-results.js";

const ROWS = 5_200;
const random = (seed: number): (() => number) => {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};

/** Rows of two years, with missing values and numbers that aren't. */
function rowsOf(seed: number): Record<"t" | "country" | "version" | "seconds" | "n", Value[]> {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!;
  const each = <T>(make: () => T): T[] => Array.from({ length: ROWS }, make);
  return {
    t: each(() => (next() < 0.01 ? null : new Date(1.7e12 + Math.floor(next() * 63e9)))),
    country: each(() => pick(["IT", "DE", "", null, "a.b", "[x]"])),
    version: each(() => pick(["3.1", "3.2", "3.10"])),
    seconds: each(() => pick([null, Number.NaN, Math.round(next() * 400) / 4, next() * 100])),
    n: each(() => BigInt(Math.floor(next() * 50))),
  };
}

/** What a spec draws: places, sizes and colours of its marks, texts of axes and legends. */
async function drawn(spec: VegaLiteSpec): Promise<string[]> {
  const { usermeta: _, ...own } = structuredClone(spec);
  const compiled: Spec = compile(own as unknown as TopLevelSpec, { logger: logger(None) }).spec;
  const view = await new View(parse(compiled), { renderer: "none" }).runAsync();
  const svg = await view.toSVG();
  view.finalize();
  // Numbers that were summed in another order differ in their last digits.
  const rounded = svg.replace(/-?\d+\.\d+/g, (number) => Number(number).toFixed(2));
  return [...rounded.matchAll(/<(path|text|rect|line)[^>]*?(?:\/>|>[^<]*)/g)]
    .map(([text]) => text.replace(/ aria-[^=]*="[^"]*"/g, ""))
    .sort();
}

const measure = fc.constantFrom(
  { aggregate: "count" },
  { aggregate: "sum", field: "n" },
  { aggregate: "sum", field: "seconds" },
  { aggregate: "mean", field: "seconds" },
  { aggregate: "median", field: "seconds" },
  { aggregate: "q1", field: "seconds" },
  { aggregate: "max", field: "n" },
  { aggregate: "min", field: "seconds" },
  { aggregate: "valid", field: "seconds" },
  { aggregate: "distinct", field: "seconds" },
  { aggregate: "distinct", field: "n" },
);
const group = fc.constantFrom<VegaLiteSpec>(
  ...[
    "year",
    "yearmonth",
    "yearquarter",
    "week",
    "yearweek",
    "day",
    "hours",
    "monthdate",
    "dayofyear",
  ].map((timeUnit) => ({ field: "t", timeUnit, type: "temporal" })),
  { field: "country", type: "nominal" },
  { field: "country", sort: "-y" },
);

describe("chart.vegaLite of 5,000 rows and more that a spec aggregates", () => {
  test("draws the picture that Vega-Lite draws of all rows", async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 1e6 }),
      fc.constantFrom("bar", "line", "area", "point", "rect"),
      measure,
      group,
      fc.constantFrom<VegaLiteSpec>(
        {},
        { color: { field: "version", type: "nominal", title: "c" } },
      ),
      async (seed, mark, y, x, colour) => {
        const columns = rowsOf(seed);
        const encoding: VegaLiteSpec = {
          x: { ...x, title: "x" },
          y: { type: "quantitative", ...y, title: "y" },
          ...colour,
        };
        // A category's distinct values, or their mean, can't be told from those of its groups.
        fc.pre(!("sort" in x && "color" in colour && !/count|sum|min|max|valid/.test(y.aggregate)));
        const one = chart.vegaLite(makeResult(columns), { mark, encoding, width: 400, title: "T" });
        expect(one.data.rows.length).toBeLessThan(5_000);
        const all = Array.from({ length: ROWS }, (_, row) =>
          Object.fromEntries(
            Object.entries(columns).map(([name, values]) => {
              const value = values[row]!;
              if (value instanceof Date) return [name, value.toISOString()];
              if (typeof value === "bigint") return [name, Number(value)];
              return [name, Number.isNaN(value) ? null : value];
            }),
          ),
        );
        const plain = { ...one.spec, encoding: inUtc(encoding), data: { values: all } };
        expect(await drawn(one.spec)).toEqual(await drawn(plain));
      },
    );
    await fc.assert(property, { numRuns: 10, seed: 20_260_401 });
  });

  test("bins many different numbers where their groups may be merged, and refuses where not", () => {
    const result = makeResult({
      seconds: Array.from({ length: 9_000 }, (_, at) => (at % 500) / 2),
    });
    const bins = (y: VegaLiteSpec): VegaLiteSpec => ({
      mark: "bar",
      encoding: { x: { field: "seconds", bin: { maxbins: 20 } }, y },
    });
    const counted = chart.vegaLite(result, bins({ aggregate: "count" }));
    expect(counted.data.rows.reduce((sum, row) => sum + Number(row[1]), 0)).toBe(9_000);
    expect(() => chart.vegaLite(result, bins({ aggregate: "mean", field: "seconds" }))).toThrow(
      /9,000 rows with a spec of one's own/,
    );
  });

  test.each<[string, VegaLiteSpec]>([
    ["a transform", { transform: [{ filter: "datum.n > 1" }] }],
    ["an expression", { mark: { type: "bar", width: { expr: "datum.n" } } }],
    [
      "an operation of two columns",
      { encoding: { y: { aggregate: { argmax: "n" }, field: "n" } } },
    ],
    ["an operation that isn't known here", { encoding: { y: { aggregate: "stdev", field: "n" } } }],
    [
      "a mean that sorts the values of several series",
      {
        encoding: {
          x: { field: "country", sort: "-y" },
          y: { aggregate: "mean", field: "n" },
          color: { field: "version" },
        },
      },
    ],
    ["sums of texts", { encoding: { y: { aggregate: "sum", field: "country" } } }],
    ["too many groups", { encoding: { x: { field: "row" }, y: { aggregate: "count" } } }],
  ])("refuses %s", (_, spec) => {
    const result = makeResult({ ...rowsOf(7), row: Array.from({ length: ROWS }, (_, row) => row) });
    const own = { mark: "bar", encoding: { y: { aggregate: "sum", field: "n" } }, ...spec };
    expect(() => chart.vegaLite(result, own)).toThrow(
      /5,200 rows with a spec of one's own: .*aggregate/,
    );
  });
});
