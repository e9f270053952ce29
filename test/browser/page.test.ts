import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { between, chart, type Chart } from "../../src/index.js";
import { chartPage } from "../../src/chart/render/page/figures.js";
import { versionSummary, weeklyCounts, weeklyDurations } from "../chart/support/sample-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));
const small = { width: 420, height: 130 };
const annotations = [chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released")];
const rome = between("2026-03-28", "2026-03-31", { timeZone: "Europe/Rome" });

const CHARTS: Record<string, Chart> = {
  area: chart.area(weeklyCounts(), { ...small, annotations }),
  dark: chart.area(weeklyCounts(), { ...small, theme: "dark" }),
  rome: chart.area(weeklyCounts({ range: rome, every: "hour" }), small),
  line: chart.line(weeklyDurations(), { ...small, y: "q50", annotations }),
  log: chart.line(weeklyDurations(), { ...small, y: { value: "q90", type: "log" } }),
  bar: chart.bar(weeklyCounts(), small),
  categories: chart.bar(versionSummary(), small),
  points: chart.dot(weeklyDurations(), { ...small, y: "q10" }),
  empty: chart.line(weeklyCounts().with(weeklyCounts().table.slice(0, 0), {}), small),
  free: chart.vegaLite(weeklyCounts(), {
    ...small,
    mark: "rect",
    encoding: {
      x: { field: "t", timeUnit: "utcyearmonth", type: "temporal" },
      y: { field: "software_version", type: "nominal" },
      color: { field: "measurements", aggregate: "sum", type: "quantitative" },
    },
  }),
};

/** What is drawn where: the marks with their shape, place and colour, the texts. */
const drawn = (
  page: Page,
  figure: number,
  part: string,
): Promise<{ marks: string[]; texts: string[] }> =>
  page.evaluate(`(() => {
    const root = document.querySelectorAll("figure")[${figure}].querySelector("${part}");
    // What only the pointer meets isn't seen.
    const seen = (mark) => mark.getAttribute("opacity") !== "0" && mark.getAttribute("stroke") !== "transparent";
    const marks = [...root.querySelectorAll(".role-mark path, .role-mark line, .role-axis-tick line, .role-axis-grid line")].filter(seen);
    const said = ["d", "transform", "fill", "stroke", "opacity", "fill-opacity", "x2", "y2", "stroke-dasharray"];
    const texts = [...root.querySelectorAll("text")].filter((text) => text.getAttribute("opacity") !== "0");
    return {
      marks: marks.map((mark) => said.map((name) => name === "opacity" ? mark.getAttribute(name) ?? "1" : mark.getAttribute(name)).join(" ").replace(/-?\\d+\\.\\d+/g, (number) => String(Math.round(number * 100) / 100))),
      texts: texts.flatMap((text) => text.querySelector("tspan") ? [...text.children].map((line) => line.textContent) : [text.textContent]).filter((text) => text !== ""),
    };
  })()`);

describe.skipIf(browserMissing)(`a saved page in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(pictures, { recursive: true });
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  const shot = (page: Page, name: string): Promise<Buffer> =>
    page.screenshot({ path: join(pictures, `page-${name}.png`), fullPage: true });

  test("draws every kind of chart live, exactly as its picture, and asks for nothing", async () => {
    const html = await chartPage(Object.values(CHARTS));
    const { page, seen } = await browser.open(html);
    const figures = await drawnFigures(page);
    expect(figures).toEqual(Object.keys(CHARTS).map(() => "probelab-chart probelab-live"));
    for (const [index, name] of Object.keys(CHARTS).entries()) {
      const live = await drawn(page, index, ".probelab-drawing");
      const still = await drawn(page, index, ".probelab-picture");
      expect(live, name).toEqual(still);
      expect(live.texts.length, name).toBeGreaterThan(3);
      if (name !== "empty") expect(live.marks.length, name).toBeGreaterThan(8);
    }
    expect(seen).toEqual([]);
    await shot(page, "every-kind");
  });

  test("shows the picture, the words and the origin without JavaScript", async () => {
    const html = await CHARTS.area!.html();
    const { page, seen } = await browser.open(html, "still.html", { javaScriptEnabled: false });
    expect(await page.locator(".probelab-picture svg").isVisible()).toBe(true);
    await page.locator(".probelab-source summary").click();
    expect(await page.locator(".probelab-source pre").first().isVisible()).toBe(true);
    expect(await page.locator(".probelab-source").textContent()).toContain("4,812,003 rows,");
    expect(seen).toEqual([]);
    await shot(page, "without-javascript");
  });

  test("fits a phone: neither the page nor the chart is wider than the window", async () => {
    const points = chart.dot(weeklyDurations(), { y: "q50" });
    const { page } = await browser.open(await points.html(), "phone.html", {
      viewport: { width: 390, height: 800 },
    });
    await drawnFigures(page);
    const widths = await page.evaluate<number[]>(
      "[document.documentElement.scrollWidth, document.querySelector('.probelab-plot').scrollWidth]",
    );
    expect(widths[0]).toBe(390);
    expect(widths[1]).toBe(350);
    // What is under the pointer is still found.
    await page.locator('.probelab-drawing .mark-symbol.role-mark path[fill^="#"]').first().hover();
    const tooltip = await page.locator(".probelab-tooltip").boundingBox();
    expect(tooltip?.x).toBeGreaterThanOrEqual(0);
    expect((tooltip?.x ?? 0) + (tooltip?.width ?? 999)).toBeLessThanOrEqual(390);
    await shot(page, "phone");
  });

  test("a chart that fails keeps its picture, and the others are drawn", async () => {
    const html = await chartPage([CHARTS.line!, CHARTS.bar!, CHARTS.points!]);
    const broken = html.replace('"name":"y","type":"linear"', '"name":"y","type":"nonsense"');
    expect(broken).not.toBe(html);
    const { page, seen } = await browser.open(broken);
    expect(await drawnFigures(page)).toEqual([
      "probelab-chart probelab-still",
      "probelab-chart probelab-live",
      "probelab-chart probelab-live",
    ]);
    const first = page.locator("figure").first();
    expect(await first.locator(".probelab-picture svg").isVisible()).toBe(true);
    expect(await first.locator(".probelab-drawing").count()).toBe(0);
    expect(seen).toEqual([]);
  });
});
