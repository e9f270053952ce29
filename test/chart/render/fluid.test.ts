import { View, parse, type Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { describe, expect, test } from "vitest";
import { chart } from "../../../src/index.js";
import { PLACE } from "../../../src/chart/render/fluid.js";
import { weeklyCounts, weeklyDurations } from "../support/sample-results.js";

const annotations = [chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released")];

/** The picture of a spec in a place of so many pixels: its size, and the lines of its title. */
async function drawnIn(place: number, spec: object) {
  const compiled: Spec = compile(structuredClone(spec) as TopLevelSpec).spec;
  const signals = (compiled.signals ?? []).map((signal) =>
    signal.name === PLACE ? { name: PLACE, value: place } : signal,
  );
  const view = new View(parse({ ...compiled, signals }), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  const [, width] = /<svg[^>]* width="(\d+)"/.exec(svg) ?? [];
  return { width: Number(width), svg };
}

describe("the spec that screens draw", () => {
  test.each([480, 1422])("is a picture of %d pixels in such a place", async (place) => {
    for (const one of [
      chart.area(weeklyCounts(), { annotations }),
      chart.line(weeklyDurations(), { y: "q50", annotations }),
      chart.dot(weeklyDurations(), { y: "q50" }),
      chart.bar(weeklyCounts()),
      chart.vegaLite(weeklyCounts(), { mark: "tick", encoding: { x: { field: "measurements" } } }),
      chart.line(weeklyCounts().with(weeklyCounts().table.slice(0, 0), {})),
    ]) {
      expect((await drawnIn(place, await one.screenSpec())).width).toBe(place);
    }
  });

  test("is as wide as the file's where a width was chosen, or there are several views", async () => {
    const views = { hconcat: [{ mark: "point", encoding: { x: { field: "t" } } }] };
    for (const one of [
      chart.vegaLite(weeklyCounts(), views),
      chart.vegaLite(weeklyCounts(), { width: 300, mark: "point", encoding: {} }),
    ]) {
      expect(await one.screenSpec()).toBe(one.spec);
    }
    const { width } = await chart.area(weeklyCounts(), { width: 420 }).screenSpec();
    expect(width).toBe(420);
  });

  test("wraps its title and its subtitle for the place, and keeps a line of the analyst's own", async () => {
    const counts = weeklyCounts();
    const spec = await chart
      .area(counts, { title: "A title of a good many words ".repeat(4), subtitle: "One line." })
      .screenSpec();
    const texts = async (place: number): Promise<string[]> =>
      [...(await drawnIn(place, spec)).svg.matchAll(/<(?:tspan|text)[^>]*>([^<]+)</g)]
        .map(([, text = ""]) => text)
        .filter((text) => /many words|^One line\.|drawn faded/.test(text));
    const [narrow, wide] = [await texts(480), await texts(1500)];
    expect(narrow.length).toBeGreaterThan(wide.length);
    expect(narrow.join(" ").match(/many words/g)).toHaveLength(4);
    expect(wide).toContain("One line.");
    expect(narrow).toContain("One line.");
  });
});
