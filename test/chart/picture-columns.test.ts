import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { pictureColumns } from "../../src/chart/check-spec.js";
import { makeResult } from "./support/sample-results.js";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const names = ["n", "flag", "address"];
const pictured = (url: unknown) => ({ layer: [{ mark: "image", encoding: { url } }] });

describe("pictureColumns(spec, names)", () => {
  test("finds the columns that are drawn as pictures, in conditions too", () => {
    expect(pictureColumns({ mark: "point", encoding: { x: { field: "n" } } }, names)).toEqual(
      new Set(),
    );
    expect(pictureColumns(pictured({ field: "flag" }), names)).toEqual(new Set(["flag"]));
    const condition = { test: "datum.n > 1", field: "flag" };
    expect(pictureColumns(pictured({ condition, value: PNG }), names)).toEqual(new Set(["flag"]));
  });

  test.each([
    ["an address in the spec", pictured({ value: "https://example.org/a.png" })],
    ["an address of the mark", { mark: { type: "image", url: "https://example.org/a.png" } }],
    ["a computed address", pictured({ field: "computed" })],
    ["an expression", pictured({ value: { expr: "datum.address" } })],
    [
      "an SVG, which can hold more than a picture",
      pictured({ value: "data:image/svg+xml,<svg/>" }),
    ],
  ])("refuses %s", (_, spec) => {
    expect(() => pictureColumns(spec, names)).toThrow(/Can't draw a picture from /);
  });

  test("refuses tooltips over a column that they would take for the address of a picture", () => {
    const spec = { mark: { type: "point", tooltip: true } };
    expect(() => pictureColumns(spec, ["image"])).toThrow(/name it otherwise/);
    expect(() => pictureColumns({ mark: "point" }, ["image"])).not.toThrow();
  });
});

test("chart.vegaLite(result, spec) keeps pictures that stand in the data, and no address of one", () => {
  const result = makeResult({ n: [1, 2, 3], flag: [PNG, "https://evil.example/a.png", null] });
  const spec = { mark: "image", encoding: { x: { field: "n" }, url: { field: "flag" } } };
  const { values } = chart.vegaLite(result, spec).spec.data as { values: { flag: unknown }[] };
  const blank = expect.stringMatching(/^data:image\/gif;base64,R0lGODlhAQAB/) as unknown;
  expect(values.map(({ flag }) => flag)).toEqual([PNG, blank, blank]);
});

test("tooltips of a chart quote the names that a notebook's tooltip would not take as names", () => {
  const result = makeResult(
    { image: ["https://evil.example/a.png"], title: [1] },
    {
      dimensions: [{ name: "image", order: ["https://evil.example/a.png"] }],
      measures: [{ name: "title", label: "title", unit: "", additive: true, missing: "zero" }],
    },
  );
  const spec = JSON.stringify(chart.bar(result).spec);
  expect(spec).toContain(`"title":"'image'"`);
  expect(spec).not.toMatch(/"tooltip":\[[^\]]*"title":"(image|title)"/);
});
