import { expect, test } from "vitest";
import { chart } from "../../../src/index.js";
import { rowsOf, withRows } from "../../../src/chart/render/page/shared-rows.js";
import { screensOf } from "../../../src/chart/render/screens.js";
import { layOut, svgWidth } from "../../../src/chart/render/svg.js";
import type { VegaLiteSpec } from "../../../src/chart/render/theme.js";
import { exploreCells } from "../support/explore-cells.js";
import { versionSummary, weeklyCounts, weeklyDurations } from "../support/sample-results.js";

const counts = weeklyCounts();
const annotations = [chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released")];

test.each([
  ["areas", chart.area(counts, { annotations })],
  ["lines", chart.line(weeklyDurations(), { y: "q50", annotations })],
  ["a few bars", chart.bar(versionSummary())],
  ["horizontal bars", chart.bar(versionSummary(), { horizontal: true })],
  ["panels", chart.line(counts, { facet: "software_version" })],
  [
    "panels of horizontal bars",
    chart.bar(counts, { x: "software_version", facet: "t", horizontal: true, color: null }),
  ],
  ["linked views", chart.explore(exploreCells())],
  ["a spec of one's own", chart.vegaLite(counts, { mark: "tick", encoding: {} })],
  ["no row", chart.line(counts.with(counts.table.slice(0, 0), {}))],
])("%s are laid out for a phone, a notebook and a page, each no wider", async (_, one) => {
  const { rows, screens } = screensOf(await one.screenSpec());
  expect(screens.map(({ least }) => least).slice(0, -1)).toEqual(
    [350, 724].slice(0, screens.length - 1),
  );
  for (const { least, spec } of screens) {
    expect(svgWidth(await layOut(withRows(spec, rows) as VegaLiteSpec))).toBeLessThanOrEqual(least);
  }
});

test("a chart whose width was chosen, and several views of one's own, are as in the file", async () => {
  const views = { hconcat: [{ mark: "point", encoding: { x: { field: "t" } } }] };
  for (const one of [
    chart.vegaLite(counts, views),
    chart.vegaLite(counts, { width: 300, mark: "point", encoding: {} }),
  ]) {
    expect(await one.screenSpec()).toEqual(one.spec);
  }
  expect(await chart.area(counts, { width: 420 }).screenSpec()).toMatchObject({ width: 420 });
});

test("title and subtitle are wrapped for each place, and no word is lost", async () => {
  const title = "A title of a good many words ".repeat(4).trim();
  const [narrow, , wide] = screensOf(await chart.area(counts, { title }).screenSpec()).screens.map(
    ({ spec }) => (spec["title"] as { text: string[] }).text,
  );
  expect(narrow!.length).toBeGreaterThan(wide!.length);
  expect([narrow!.join(" "), wide!.join(" ")]).toEqual([title, title]);
});

test("a notebook holds the rows of a chart once", async () => {
  const spec = await chart.dot(weeklyDurations(), { y: "q50" }).screenSpec();
  const rows = rowsOf(spec);
  expect(rows.length).toBeGreaterThan(0);
  for (const some of rows) expect(JSON.stringify(spec).split(some)).toHaveLength(2);
});
