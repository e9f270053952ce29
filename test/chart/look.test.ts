import { beforeEach, describe, expect, test } from "vitest";
import { chart, type Value } from "../../src/index.js";
import { drawRecipe } from "../../src/chart/chart.js";
import { forgetLook } from "../../src/chart/series.js";
import { fromTaggedJson, toTaggedJson } from "../../src/result/json.js";
import { THEMES } from "../../src/render/theme.js";
import { legend } from "./support/layers.js";
import { makeResult } from "./support/sample-results.js";

beforeEach(forgetLook);

/** Runs of these values by day, in this order. */
function runs(values: readonly Value[], column = "software_version", of?: string) {
  const order = values as (string | null)[];
  return makeResult(
    {
      t: values.map(() => new Date("2026-03-02")),
      [column]: [...values],
      runs: values.map((_, at) => 100 - at),
    },
    {
      time: { name: "t", every: "day", incomplete: [] },
      dimensions: [{ name: column, order, other: "other", ...(of !== undefined && { of }) }],
      measures: [{ name: "runs", label: "Runs", unit: "runs", additive: true, missing: "zero" }],
    },
  );
}

function colors(...args: Parameters<typeof chart.area>): Record<string, string> {
  const { names, colours } = legend(chart.area(...args));
  return Object.fromEntries(names.map((name, at) => [name, colours[at]!]));
}

describe("a value has one color in all charts of a notebook", () => {
  test("whatever else they draw, in whatever order", () => {
    const before = colors(runs(["3.9", "3.10", "other"]));
    const after = colors(runs(["3.11", "3.10", "3.8", "3.9", "other"]));
    expect(after).toMatchObject(before);
    expect(new Set(Object.values(after)).size).toBe(5);
    expect(after["other"]).toBe(THEMES.light.neutral);
    expect(Object.keys(after).at(-1)).toBe("other");
  });

  test("in the dark too, by the place of its color; under another name of its column; each column by itself", () => {
    const light = colors(runs(["3.9", "3.10"]));
    const dark = colors(runs(["3.10", "3.9"]), { theme: "dark" });
    const place = (theme: "light" | "dark", color = "") => THEMES[theme].series.indexOf(color);
    expect(place("dark", dark["3.10"])).toBe(place("light", light["3.10"]));
    expect(colors(runs(["3.10"], "v", "software_version"))).toEqual({ "3.10": light["3.10"] });
    expect(colors(runs(["IT"], "probe_cc"))["IT"]).toBe(THEMES.light.series[0]);
  });

  test("beyond the palette colors come again, in one chart never twice", () => {
    const names = (from: number) => Array.from({ length: 24 }, (_, at) => `3.${from + at}`);
    const first = colors(runs(names(0)));
    expect(new Set(Object.values(colors(runs(names(12))))).size).toBe(24);
    expect(colors(runs(names(0)))).toEqual(first);
  });

  test("drawn again from its recipe, where nothing of the notebook is known", () => {
    colors(runs(["3.8", "3.9"]));
    const drawn = chart.area(runs(["3.10", "3.9", "other"]), { color: "software_version" });
    const recipe = fromTaggedJson(toTaggedJson(drawn.recipe)) as never;
    forgetLook();
    chart.theme("dark");
    expect(drawRecipe(drawn.result, recipe).spec).toEqual(drawn.spec);
  });
});

describe("colors of one's own", () => {
  test("are those of series, by their name in the legend", () => {
    const given = { "3.10": "#d55e00", other: "silver", "4.0": "red" };
    expect(colors(runs(["3.9", "3.10", "other"]), { colors: given })).toEqual({
      "3.9": THEMES.light.series[0],
      "3.10": "#d55e00",
      other: "silver",
    });
  });

  test.each([{ "3.9": "url(https://example.org)" }, { "3.9": 7 }, ["red"]])(
    "refuse %j",
    (given) => {
      expect(() => chart.area(runs(["3.9"]), { colors: given as never })).toThrow(
        /colors: .* pass names with colors of CSS, \{ "3.10.0": "#d55e00" \}/,
      );
    },
  );
});

describe("chart.theme(name)", () => {
  test("is the theme of charts that say none", () => {
    chart.theme("dark");
    expect(chart.area(runs(["3.9"])).spec["background"]).toBe(THEMES.dark.background);
    expect(chart.area(runs(["3.9"]), { theme: "light" }).spec["background"]).toBe("#ffffff");
    expect(chart.vegaLite(runs(["3.9"]), { mark: "bar" }).spec["background"]).toBe(
      THEMES.dark.background,
    );
  });
});
