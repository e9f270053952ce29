import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { ProbelabError } from "../../src/base/error.js";
import { makeResult, weeklyCounts } from "./support/sample-results.js";

const counts = weeklyCounts();
const x = { field: "t", type: "temporal" };
const y = { field: "measurements", type: "quantitative" };
const nope = { field: "nope", type: "nominal" };
const draw = (spec: unknown) => () => chart.vegaLite(counts, spec as Record<string, unknown>);
const made = [{ calculate: "datum.measurements * 2", as: "nope" }];

describe("chart.vegaLite refuses at the call", () => {
  test.each([
    [undefined, /without a Vega-Lite spec: pass an object, chart\.vegaLite\(result, \{ mark/],
    [null, /null as a Vega-Lite spec/],
    ["bar", /"bar" as a Vega-Lite spec/],
    [{}, /spec without a mark/],
    [{ encoding: { x } }, /spec without a mark/],
    [{ mark: "bra" }, /mark: "bra": did you mean "bar"\? Pass one of "arc", "area", "bar"/],
    [{ mark: { type: "pie" } }, /mark: "pie": pass one of "arc"/],
    [{ mark: 5 }, /mark: 5: pass one of/],
    [{ mark: null }, /mark: null: pass one of/],
    [{ layer: [{ mark: "bar" }, { mark: "bra" }] }, /mark: "bra"/],
    [{ hconcat: [{ vconcat: [{ mark: "bra" }] }] }, /mark: "bra"/],
    [{ repeat: ["t"], spec: { mark: "bra" } }, /mark: "bra"/],
  ])("%j", (spec, message) => {
    expect(draw(spec)).toThrow(ProbelabError);
    expect(draw(spec)).toThrow(message);
  });

  test.each([
    [{ mark: "bar", encoding: { x: nope, y } }],
    [{ mark: "bar", encoding: { x: { field: "T" } } }],
    [{ mark: "bar", encoding: { x, y, tooltip: [x, nope] } }],
    [{ mark: "bar", encoding: { x, color: { condition: { test: "true", ...nope }, value: 1 } } }],
    [{ mark: "bar", encoding: { x: { ...x, sort: { field: "nope", op: "sum" } } } }],
    [{ mark: "bar", encoding: { x: { field: "t.nope" }, y: { field: "nope.t" } } }],
    [{ encoding: { x: nope }, layer: [{ mark: "bar" }] }],
    [{ layer: [{ mark: "bar" }, { mark: "rule", encoding: { x: nope } }] }],
    [{ hconcat: [{ mark: "bar", encoding: { x: nope } }] }],
    [{ facet: nope, spec: { mark: "bar" } }],
    [{ facet: { row: nope }, spec: { mark: "bar" } }],
    [{ data: { values: [{ nope: 1 }] }, mark: "bar", encoding: { x: nope } }],
    [{ transform: [{ filter: "datum.measurements > 1" }], mark: "bar", encoding: { x: nope } }],
    [
      {
        layer: [
          { mark: "bar", encoding: { x: nope } },
          { transform: made, mark: "bar" },
        ],
      },
    ],
  ])("a field that is no column: %j", (spec) => {
    expect(draw(spec)).toThrow(
      /draw a spec with \w+: there is no column "\w+"; the columns are "t"/,
    );
  });
});

describe("chart.vegaLite refuses what takes all memory", () => {
  const bar = { mark: "bar", encoding: { x, y } };
  test.each([
    [{ ...bar, width: 1e9 }, "width: 1000000000", "20,000"],
    [{ ...bar, height: 20_001 }, "height: 20001", "20,000"],
    [{ ...bar, width: Infinity }, "width: Infinity", "20,000"],
    [{ ...bar, width: NaN }, "width: NaN", "20,000"],
    [{ ...bar, width: { step: 1e9 } }, "step: 1000000000", "20,000"],
    [
      { mark: "bar", encoding: { x: { ...x, axis: { tickCount: 1e8 } }, y } },
      "tickCount: 100000000",
      "2,000",
    ],
    [
      { mark: "bar", encoding: { x: { ...y, bin: { maxbins: 1e9 } } } },
      "maxbins: 1000000000",
      "10,000",
    ],
    [{ ...bar, config: { axis: { tickCount: 1e8 } } }, "tickCount: 100000000", "2,000"],
    [{ layer: [{ hconcat: [] }, { ...bar, height: 1e9 }] }, "height: 1000000000", "20,000"],
  ])("%j", (spec, told, most) => {
    expect(draw(spec)).toThrow(`Can't draw a spec with ${told}: pass ${most} at most.`);
  });

  test("but not what is as large as a wall, nor a column of that name", () => {
    expect(draw({ ...bar, width: 20_000, height: 20_000 })).not.toThrow();
    expect(draw({ ...bar, data: { values: [{ width: 1e9 }] } })).not.toThrow();
  });
});

describe("chart.vegaLite refuses what a frontend would load", () => {
  const PNG = "data:image/png;base64,iVBORw0KGgo=";
  test.each([
    [{ mark: "image", encoding: { url: { field: "software_version" } } }],
    [{ layer: [{ mark: "image", encoding: { url: { value: PNG } } }] }],
    [{ mark: { type: "image", url: "https://example.org/a.png" } }],
    [{ mark: "point", encoding: { x, y }, config: { image: { url: PNG } } }],
  ])("pictures: %j", (spec) => {
    expect(draw(spec)).toThrow(/Can't draw a spec with url: .*no pictures are drawn/);
  });

  test("tooltips over a column that they would take for the address of a picture", () => {
    const pictured = makeResult({ n: [1], image: ["https://evil.example/a.png"] });
    const encoding = { x: { field: "n" } };
    const tooltip = { mark: { type: "point", tooltip: true }, encoding };
    expect(() => chart.vegaLite(pictured, tooltip)).toThrow(/name it otherwise/);
    expect(() => chart.vegaLite(pictured, { mark: "point", encoding })).not.toThrow();
  });
});

test("tooltips of a chart quote the names that a notebook's tooltip would not take as names", () => {
  const result = makeResult(
    { image: ["https://evil.example/a.png"], title: [1] },
    {
      dimensions: [{ name: "image", order: ["https://evil.example/a.png"] }],
      measures: [{ name: "title", label: "image", unit: "", additive: true, missing: "zero" }],
    },
  );
  const spec = JSON.stringify(chart.bar(result).spec);
  expect(spec).toContain(`"title":"'image'"`);
  expect(spec).not.toMatch(/"tooltip":\[[^\]]*"title":"(image|title)"/);
});

describe("chart.vegaLite takes", () => {
  test.each([
    [{ mark: "bar", encoding: { x, y: { aggregate: "count" } } }],
    [{ mark: "bar", encoding: { x, y: { aggregate: "count", field: "*" } } }],
    [{ mark: { type: "boxplot" }, encoding: { x: { ...x, sort: "-y" }, y } }],
    [{ transform: made, mark: "bar", encoding: { x: nope } }],
    [{ transform: made, layer: [{ mark: "bar", encoding: { x: nope } }] }],
    [{ encoding: { x: nope }, layer: [{ transform: made, mark: "bar" }] }],
    [{ layer: [{ data: { values: [{ nope: 1 }] }, mark: "bar", encoding: { x: nope } }] }],
    [
      {
        repeat: ["measurements"],
        spec: { mark: "bar", encoding: { y: { field: { repeat: "repeat" } } } },
      },
    ],
  ])("fields that may be there: %j", (spec) => {
    expect(draw(spec)).not.toThrow();
  });

  test("a column with a dot, as Vega-Lite writes it", async () => {
    const odd = makeResult({ "a.b": [1, 2], "c[0]": [3, 4] });
    const spec = { mark: "bar", encoding: { x: { field: "a\\.b" }, y: { field: "['c[0]']" } } };
    expect(await chart.vegaLite(odd, spec).svg()).not.toContain("undefined");
    expect(() => chart.vegaLite(odd, { mark: "bar", encoding: { x: { field: "a.b" } } })).toThrow(
      /no column "a"/,
    );
  });

  test("every mark of Vega-Lite", () => {
    const path = createRequire(import.meta.url).resolve("vega-lite/vega-lite-schema.json");
    const { definitions } = JSON.parse(readFileSync(path, "utf8")) as {
      definitions: Record<
        "Mark" | "CompositeMark",
        { enum?: string[]; anyOf?: { $ref: string }[] }
      > &
        Record<string, { const?: string }>;
    };
    const composite =
      definitions.CompositeMark.anyOf?.map(
        ({ $ref }) => definitions[$ref.replace("#/definitions/", "")]?.const ?? $ref,
      ) ?? [];
    const marks = [...(definitions.Mark.enum ?? []), ...composite];
    expect(marks.length).toBeGreaterThan(15);
    for (const mark of marks) expect(draw({ mark, encoding: { x, y } })).not.toThrow();
  });
});
