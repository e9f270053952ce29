import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, type Value } from "../../src/index.js";
import { drawRecipe } from "../../src/chart/chart.js";
import { fromTaggedJson, toTaggedJson } from "../../src/result/json.js";
import { THEMES } from "../../src/chart/render/theme.js";
import { layers, legend } from "./support/layers.js";
import { counted, makeResult } from "./support/sample-results.js";

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
      measures: [counted("runs", "Runs")],
    },
  );
}

function colors(...args: Parameters<typeof chart.area>): Record<string, string> {
  const { names, colours } = legend(chart.area(...args));
  return Object.fromEntries(names.map((name, at) => [name, colours[at]!]));
}

describe("the color of a value", () => {
  const values = Array.from({ length: 40 }, (_, at) => `3.${at}`);
  const some = fc.shuffledSubarray(values, { minLength: 1, maxLength: 24 });

  test("doesn't depend on the charts that were made before, or on the order of the series", () => {
    fc.assert(
      fc.property(some, some, (names, others) => {
        const before = colors(runs(names));
        colors(runs(others));
        expect(colors(runs(names.toSorted()))).toEqual(before);
        expect(colors(runs(names), { theme: "dark" })).toEqual(
          Object.fromEntries(
            Object.entries(before).map(([name, color]) => {
              const { light, dark } = THEMES;
              return [name, dark.series[light.series.indexOf(color)]];
            }),
          ),
        );
      }),
      { numRuns: 60, seed: 4 },
    );
  });

  test("is the same in all charts, but where a value before it by name wants it; in one chart none comes twice", () => {
    const own = colors(runs(["3.1"]));
    const wanted = Object.fromEntries(values.map((v) => [v, colors(runs([v]))[v]]));
    expect(wanted).toMatchObject(own);
    fc.assert(
      fc.property(some, (names) => {
        const drawn = colors(runs(names));
        expect(new Set(Object.values(drawn)).size).toBe(names.length);
        const rival = (name: string) =>
          names.some((each) => each < name && wanted[each] === wanted[name]);
        for (const name of names) expect(drawn[name] === wanted[name]).toBe(!rival(name));
      }),
      { numRuns: 60, seed: 5 },
    );
  });

  test("is grey for other, dark grey for no value, and of up to seven series one of the palette's first", () => {
    // Of a column that no chart has drawn yet.
    const values = ["3.9", "3.10", "3.11", "IT", "DE", "US", "FR", null, "other"];
    const drawn = colors(runs(values, "seen"));
    expect(drawn["other"]).toBe(THEMES.light.neutral);
    expect(drawn["(none)"]).toBe(THEMES.light.muted);
    const { "(none)": _, other: __, ...named } = drawn;
    expect(Object.values(named).toSorted()).toEqual(THEMES.light.series.slice(0, 7).toSorted());
  });

  test("is the same drawn again from its recipe", () => {
    const drawn = chart.area(runs(["3.10", "3.9", "other"]), { color: "software_version" });
    const recipe = fromTaggedJson(toTaggedJson(drawn.recipe)) as never;
    expect(drawRecipe(drawn.result, recipe).spec).toEqual(drawn.spec);
  });
});

describe("colors of one's own", () => {
  test("are those of series, by their name in the legend", () => {
    const given = { "3.10": "#d55e00", other: "silver", "4.0": "red" };
    expect(colors(runs(["3.9", "3.10", "other"]), { colors: given })).toEqual({
      ...colors(runs(["3.9"])),
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

describe("other", () => {
  test.each([4, 4_000])("is drawn below the named lines and points, of %i rows each", (length) => {
    const order = ["IT", "DE", "other"];
    const result = makeResult(
      {
        x: order.flatMap(() => Array.from({ length }, (_, i) => i)),
        probe_cc: ["IT", "other", "DE"].flatMap((cc) => Array<string>(length).fill(cc)),
        runs: order.flatMap((_, at) => Array.from({ length }, (_, i) => (at + 2) ** (i % 7))),
      },
      { dimensions: [{ name: "probe_cc", order, other: "other" }], measures: [] },
    );
    const options = { x: "x", y: "runs", color: "probe_cc" };
    for (const drawn of [
      chart.line(result, options),
      ...(length < 5_000 / 3 ? [chart.dot(result, options)] : []),
    ]) {
      expect(legend(drawn).names).toEqual(order);
      const painted = layers(drawn).map(({ data: { values } }) => [
        ...new Set(values.map((row) => row["probe_cc"])),
      ]);
      for (const series of painted.filter((each) => each.length > 1))
        expect(series[0]).toBe("other");
      expect(painted[0]).toHaveLength(3);
    }
  });
});
