import { describe, expect, test } from "vitest";
import { between, chart } from "../../src/index.js";
import { layers, specRows, type Layer } from "./support/layers.js";
import { makeResult, VERSIONS, weeklyCounts } from "./support/sample-results.js";
import { xmlElements } from "./support/xml-tree.js";

const day = between("2026-11-20", "2026-11-21");
const time = (index: number): Date => new Date(Date.UTC(2026, 1, 1 + index));

/** A measure with gaps, a row a day; the days of `incomplete` are so. */
function medians(q50: readonly (number | null)[], incomplete: readonly number[] = []) {
  return makeResult(
    { t: q50.map((_, index) => time(index)), q50: [...q50] },
    {
      time: { name: "t", every: "day", incomplete: incomplete.map(time) },
      dimensions: [],
      measures: [{ name: "q50", label: "Median", unit: "s", additive: false, missing: "gap" }],
    },
  );
}

const values = (layer: Layer | undefined, name: string): unknown[] =>
  (layer?.data.values ?? []).map((row) => row[name]);

describe("chart.area of values that no neighbour joins", () => {
  test("one bucket is a stacked column, every series in it", async () => {
    const counts = weeklyCounts({ range: day, every: "day", other: false });
    const drawn = chart.area(counts, { steps: false });
    const [column, ...more] = layers(drawn);
    expect(more).toEqual([]);
    expect(column?.mark).toMatchObject({ type: "bar", fillOpacity: 0.9 });
    expect(column?.encoding.y?.stack).toBe("zero");
    expect(values(column, "measurements")).toEqual(counts.column("measurements"));
    expect(values(column, "rank")).toEqual(VERSIONS.map((_, index) => VERSIONS.length - 1 - index));
    // Each as high as its share.
    const heights = xmlElements(await drawn.svg())
      .filter(({ path }) => path.includes("/path"))
      .flatMap(({ attributes: { d, "fill-opacity": opacity } }) =>
        opacity === "0.9" ? [Number(/v([\d.]+)h/.exec(d ?? "")?.[1])] : [],
      );
    const known = counts.column("measurements").map(Number);
    const unit = (heights[0] ?? NaN) / (known[0] ?? NaN);
    expect(heights).toHaveLength(known.length);
    known.forEach((value, index) => expect(heights[index]).toBeCloseTo(value * unit, 6));
    expect(unit).toBeGreaterThan(0);
  });

  test("an incomplete one is faded", () => {
    const part = weeklyCounts({ range: between("2026-11-20", "2026-11-20T08:00"), every: "day" });
    for (const options of [{}, { color: null }]) {
      const [column, ...more] = layers(chart.area(part, { ...options, steps: false }));
      expect(more).toEqual([]);
      expect(column?.mark).toMatchObject({ type: "bar", fillOpacity: 0.9 * 0.4 });
    }
  });

  test("a single row of free SQL is a column, along time and along numbers", () => {
    for (const x of [time(0), 5]) {
      const [column] = layers(chart.area(makeResult({ x: [x], n: [7] })));
      expect(column?.mark.type).toBe("bar");
      expect(values(column, "n")).toEqual([7]);
    }
  });

  test("between gaps they are columns, beside areas that keep their gaps", () => {
    const [area, column] = layers(chart.area(medians([1, 2, null, 5, null, 3, 4, null, 6])));
    expect(area?.mark.type).toBe("area");
    expect(values(area, "q50")).toEqual([1, 2, null, null, 3, 4, null]);
    expect(column?.mark.type).toBe("bar");
    expect(values(column, "q50")).toEqual([5, 6]);
  });

  test("a complete bucket among incomplete ones is no less than solid", () => {
    const drawn = layers(chart.area(medians([4, 5, 6], [0, 2])));
    const shown = drawn.map((layer) => [
      layer.mark.type,
      layer.mark.fillOpacity,
      values(layer, "q50"),
    ]);
    expect(shown).toEqual([
      ["bar", 0.9, [5]],
      ["area", 0.55 * 0.4, [4, 5]],
      ["area", 0.55 * 0.4, [5, 6]],
    ]);
  });

  test("one beside an incomplete bucket without a value is drawn once", () => {
    const drawn = layers(chart.area(medians([null, 5, null, 7, 8], [0])));
    const columns = drawn.filter(({ mark }) => mark.type === "bar");
    expect(columns.map((layer) => values(layer, "q50"))).toEqual([[5]]);
  });

  test("columns beside areas cost no row more", () => {
    const sparse = medians(
      Array.from({ length: 4_900 }, (_, index) => ([1, 4].includes(index % 5) ? null : index)),
    );
    expect(specRows(chart.area(sparse))).toBe(4_900);
  });

  test("no value at all leaves the axes", async () => {
    const empty = xmlElements(await chart.area(medians([null, null])).svg());
    expect(empty.map(({ text }) => text)).toEqual(expect.arrayContaining(["Median (s)", "Feb 1"]));
  });
});
