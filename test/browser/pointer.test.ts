import { View, parse, type Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { between, type Chart, chart } from "../../src/index.js";
import { nextBucket } from "../../src/time/bucket.js";
import { weeklyCounts, weeklyDurations } from "../chart/support/sample-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const daily = weeklyCounts({ range: between("2025-01-01", "2026-04-01"), every: "day" });
const CHARTS: Record<string, Chart> = {
  "a line of 455 days": chart.line(daily, { color: null, y: "measurements" }),
  "lines of weeks": chart.line(weeklyDurations(), { y: "q50" }),
  "an area of steps": chart.area(weeklyCounts(), { color: null }),
  "stacked areas of steps": chart.area(weeklyCounts()),
};

/** The middle of each row of a chart in its plot, by Vega's own scales: its point, or its step. */
async function middles(drawn: Chart, size: { width: number; height: number }) {
  const compiled: Spec = compile(structuredClone({ ...drawn.spec, ...size }) as TopLevelSpec).spec;
  const view = await new View(parse(compiled), { renderer: "none" }).runAsync();
  const [x, y] = [view.scale("x"), view.scale("y")] as ((value: number) => number)[];
  view.finalize();
  const steps = "mark" in drawn.recipe && drawn.recipe.mark === "area";
  const tops = new Map<number, number>();
  const series = drawn.data.names.length > 2;
  // A stack begins with the last of its legend.
  const order: readonly unknown[] = drawn.origin.columns.dimensions[0]!.order;
  const rank = (row: readonly unknown[]) => (series ? order.indexOf(row[1]) : 0);
  return drawn.data.rows
    .toSorted((a, b) => rank(b) - rank(a))
    .filter((row) => row.at(-1) !== null)
    .map((row) => {
      const [at, value] = [row[0] as Date, Number(row.at(-1))];
      const base = steps ? (tops.get(+at) ?? 0) : 0;
      tops.set(+at, base + value);
      const end = +nextBucket(at, drawn.origin.columns.time!.every, "UTC");
      const [top, bottom] = [y!(base + value), y!(base)];
      return {
        x: steps ? (x!(+at) + 3 * x!(end)) / 4 : x!(+at),
        y: steps ? (top + bottom) / 2 : top,
        high: bottom - top,
        told: [at.toISOString().slice(0, 10), ...(series ? [row[1]] : [])],
      };
    })
    .filter(({ high }) => !steps || high > 2);
}

/** The plot of the page's figure, within its axes. */
const plotOf = (page: Page): Promise<{ x: number; y: number; width: number; height: number }> =>
  page.evaluate(
    `(({ x, y, width, height }) => ({ x, y, width, height }))(document.querySelector(".probelab-drawing .mark-group.role-frame path.background").getBoundingClientRect())`,
  );

const told = (page: Page): Promise<string[]> =>
  page.locator(".probelab-tooltip td").allTextContents();

describe.skipIf(browserMissing)(`the pointer over a chart in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test.each(Object.keys(CHARTS))("meets the row of %s", async (name) => {
    const { page, seen } = await browser.open(await CHARTS[name]!.html());
    expect(await drawnFigures(page)).toEqual(["probelab-chart probelab-live"]);
    const plot = await plotOf(page);
    const rows = await middles(CHARTS[name]!, plot);
    const some = rows.filter((_, at) => at % Math.ceil(rows.length / 20) === 0);
    for (const row of some) {
      await page.mouse.move(plot.x + row.x, plot.y + row.y);
      const own = (await told(page)).slice(0, row.told.length);
      // Another row may be as near but for a pixel.
      const near = rows.filter((other) => Math.hypot(other.x - row.x, other.y - row.y) < 2);
      expect(near.map((each) => each.told)).toContainEqual(own);
    }
    await page.mouse.move(2, 2);
    await page.locator(".probelab-tooltip").waitFor({ state: "detached" });
    expect(seen).toEqual([]);
  });

  test("keeps the series that is clicked in the legend, and a second click shows all", async () => {
    const { page } = await browser.open(await CHARTS["lines of weeks"]!.html());
    await drawnFigures(page);
    const label = page.locator(".probelab-drawing .role-legend-label text", { hasText: "3.9.0" });
    const faded = (): Promise<number> =>
      page.locator('.probelab-drawing .mark-line path[opacity="0.15"]').count();
    expect(await faded()).toBe(0);
    await label.click();
    await expect.poll(faded).toBeGreaterThan(2);
    await label.click();
    await expect.poll(faded).toBe(0);
  });
});
