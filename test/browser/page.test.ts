import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { between, chart, type Chart, table } from "../../src/index.js";
import { chartPage } from "../../src/render/page/page.js";
import { decodePng, type Image } from "../chart/support/png-image.js";
import {
  makeResult,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "../chart/support/sample-results.js";
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
      marks: marks.map((mark) => said.map((name) => mark.getAttribute(name)).join(" ").replace(/-?\\d+\\.\\d+/g, (number) => String(Math.round(number * 100) / 100))),
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

  /** Lines of notes below a picture; live they are behind a mark. */
  const notesBelow = (page: Page, figure: number): Promise<string[]> =>
    page.locator("figure").nth(figure).locator(".probelab-picture svg > text").allTextContents();

  test("draws every kind of chart live, exactly as its picture, and asks for nothing", async () => {
    const html = await chartPage(Object.values(CHARTS), { title: "Every kind" });
    const { page, seen } = await browser.open(html);
    const figures = await drawnFigures(page);
    expect(figures).toEqual(Object.keys(CHARTS).map(() => "probelab-chart probelab-live"));
    for (const [index, name] of Object.keys(CHARTS).entries()) {
      const live = await drawn(page, index, ".probelab-drawing");
      const still = await drawn(page, index, ".probelab-picture");
      const below = await notesBelow(page, index);
      const { notes = [] } = CHARTS[name]!.spec.usermeta as { notes?: readonly string[] };
      expect(below.join(" "), name).toBe(notes.join(" "));
      const mark = (text: string) => /^\+ \d+ notes?$/.test(text);
      expect(live.texts.filter(mark), name).toHaveLength(notes.length > 0 ? 1 : 0);
      live.texts = live.texts.filter((text) => !mark(text));
      still.texts.splice(still.texts.length - below.length);
      expect(live, name).toEqual(still);
      expect(live.texts.length, name).toBeGreaterThan(3);
      if (name !== "empty") expect(live.marks.length, name).toBeGreaterThan(8);
    }
    expect(seen).toEqual([]);
    await shot(page, "every-kind");
  });

  test("shows a mark's time, series and value where the pointer is, and nothing beside it", async () => {
    const path = await CHARTS.line?.save(join(browser.folder, "line.html"));
    const { page, seen } = await browser.openFile(path ?? "");
    await drawnFigures(page);
    // What tells the row nearest to the pointer lies over the marks.
    const marks = page.locator('.probelab-drawing .mark-symbol.role-mark path[fill="#56b4e9"]');
    const { x, y, width, height } = (await marks.first().boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    const tooltip = page.locator(".probelab-tooltip");
    const rows = await tooltip.locator("tr").allTextContents();
    expect(rows).toHaveLength(3);
    const [time, series, value] = rows.map((row) =>
      row.replace(/^(Time \(UTC\)|Version|Run duration, median \(s\))/, ""),
    );
    const row = CHARTS.line!.data.rows.find(
      ([at, version]) =>
        at instanceof Date && at.toISOString().startsWith(String(time)) && version === series,
    );
    expect(series).toBe("3.11.0");
    expect(Number(value?.replace(",", ""))).toBeCloseTo(Number(row?.[2]), 2);
    await page.mouse.move(2, 2);
    await tooltip.waitFor({ state: "detached" });
    expect(seen).toEqual([]);
  });

  test("brings a series out under its legend entry, and keeps it so after a click", async () => {
    const { page } = await browser.open(await CHARTS.area!.html());
    await drawnFigures(page);
    const labels = page.locator(".probelab-drawing .role-legend-label text");
    const faded = (): Promise<number> => page.locator(".role-mark > .probelab-faded").count();
    const series = await labels.count();
    const areas = await page.locator(".mark-area.role-mark > path").count();
    expect([series, areas > series]).toEqual([7, true]);
    await labels.nth(2).hover();
    expect(await faded()).toBeGreaterThan(0);
    const own = page.locator('.probelab-drawing .role-mark > path[fill="#009e73"]');
    expect(await own.count()).toBeGreaterThan(0);
    expect(await own.and(page.locator(".probelab-faded")).count()).toBe(0);
    await page.mouse.move(2, 2);
    expect(await faded()).toBe(0);
    await labels.nth(2).click();
    await page.mouse.move(2, 2);
    expect(await faded()).toBeGreaterThan(0);
    await labels.nth(2).click();
    await page.mouse.move(2, 2);
    expect(await faded()).toBe(0);
  });

  test("leaves a legend of another kind alone", async () => {
    const at = Array.from({ length: 6_000 }, (_, index) => index);
    const result = makeResult({
      x: at.map((index) => index % 97),
      y: at.map((index) => index % 89),
      host: at.map((index) => `host-${index % 2}`),
    });
    const points = chart.dot(result, { ...small, x: "x", y: "y", color: "host" });
    const { page } = await browser.open(await points.html());
    await drawnFigures(page);
    const labels = page.locator(".probelab-drawing .role-legend-label text");
    expect(await labels.allTextContents()).toEqual(expect.arrayContaining(["host-0", "1"]));
    await labels.getByText("1", { exact: true }).hover();
    expect(await page.locator(".probelab-faded").count()).toBe(0);
    await labels.getByText("host-1").hover();
    expect(await page.locator(".role-mark > .probelab-faded").count()).toBeGreaterThan(10);
  });

  test("looks like the PNG", async () => {
    for (const name of ["area", "dark", "categories"]) {
      const one = CHARTS[name]!;
      const { page } = await browser.open(await one.html());
      await drawnFigures(page);
      const seen = decodePng(
        await page.locator(".probelab-drawing svg").screenshot({ omitBackground: true }),
      );
      const kept = decodePng(await one.png({ scale: 1 }));
      // The font stands in the page: texts are as wide here as there.
      expect(Math.abs(seen.width - kept.width)).toBeLessThan(4);
      const below = 15 * (await notesBelow(page, 0)).length;
      expect(Math.abs(seen.height + below - kept.height)).toBeLessThan(4);
      expect(coarseDifference(seen, kept), name).toBeLessThan(4);
      expect(coarseDifference(seen, blank(kept)), name).toBeGreaterThan(20);
    }
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

  test("prints the picture, whole, at the width of the paper", async () => {
    const { page, seen } = await browser.open(await chart.area(weeklyCounts()).html());
    await drawnFigures(page);
    expect(await page.locator(".probelab-picture svg").isVisible()).toBe(false);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 700, height: 900 });
    expect(await page.locator(".probelab-picture svg").isVisible()).toBe(true);
    expect(await page.locator(".probelab-drawing").isVisible()).toBe(false);
    const box = await page.locator(".probelab-picture svg").boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(700);
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeGreaterThan(2);
    expect((await page.pdf()).length).toBeGreaterThan(5_000);
    expect(seen).toEqual([]);
    await shot(page, "print");
  });

  test("fits a phone: the page stays within the window, only the chart scrolls", async () => {
    const points = chart.dot(weeklyDurations(), { y: "q50" });
    const { page } = await browser.open(await points.html(), "phone.html", {
      viewport: { width: 390, height: 800 },
    });
    await drawnFigures(page);
    const widths = await page.evaluate<number[]>(
      "[document.documentElement.scrollWidth, document.querySelector('.probelab-plot').scrollWidth]",
    );
    expect(widths[0]).toBe(390);
    // A chart is as wide as its place, but never narrower than can be read.
    expect(widths[1]).toBeGreaterThanOrEqual(480);
    // What is under the pointer is still found.
    await page.locator('.probelab-drawing .role-mark path[fill="#56b4e9"]').first().hover();
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

  test("shows tables beside charts and on their own, wide ones to be scrolled", async () => {
    const summary = table(versionSummary(), { bars: ["runs", "q50"], caption: "Runs by version" });
    const both = await browser.open(await chartPage([summary, CHARTS.area!], { title: "Both" }));
    expect(await drawnFigures(both.page)).toEqual(["probelab-chart probelab-live"]);
    await shot(both.page, "table-and-chart");
    const path = await summary.save(join(browser.folder, "table.html"));
    const alone = await browser.openFile(path);
    await alone.page.setViewportSize({ width: 400, height: 700 });
    expect(await alone.page.locator("tbody tr").count()).toBe(versionSummary().numRows());
    expect(
      await alone.page.evaluate<boolean>(
        "document.documentElement.scrollWidth <= innerWidth && document.querySelector('.probelab-wide').scrollWidth > innerWidth",
      ),
    ).toBe(true);
    await shot(alone.page, "table");
    expect([both.seen, alone.seen]).toEqual([[], []]);
  });
});

const CELLS = 24;

/** Mean difference of the colours of a coarse grid over what both pictures have, of 255. */
function coarseDifference(one: Image, two: Image): number {
  const [width, height] = [Math.min(one.width, two.width), Math.min(one.height, two.height)];
  const [a, b] = [coarse(one, width, height), coarse(two, width, height)];
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
}

function coarse({ width: stride, pixels }: Image, width: number, height: number): number[] {
  const sums = new Float64Array(CELLS * CELLS * 3);
  const counts = new Float64Array(CELLS * CELLS);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cell = Math.floor((y / height) * CELLS) * CELLS + Math.floor((x / width) * CELLS);
      counts[cell] = (counts[cell] ?? 0) + 1;
      for (let channel = 0; channel < 3; channel++) {
        const at = cell * 3 + channel;
        sums[at] = (sums[at] ?? 0) + (pixels[(y * stride + x) * 4 + channel] ?? 0);
      }
    }
  }
  return [...sums].map((sum, at) => sum / (counts[Math.floor(at / 3)] || 1));
}

function blank(image: Image): Image {
  const [red = 0, green = 0, blue = 0] = image.pixels;
  const pixels = image.pixels.map((_, at) => [red, green, blue, 255][at % 4] ?? 0);
  return { ...image, pixels };
}
