import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { View, parse, type Spec } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { between, type Chart, chart } from "../../src/index.js";
import { nextBucket } from "../../src/time/bucket.js";
import { weeklyCounts, weeklyDurations } from "../chart/support/sample-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));
const POSITIONS = 75;

/** A row as a picture shows it: where it is, and what its tooltip says. */
interface Shown {
  readonly from: number;
  readonly until: number;
  readonly y: number;
  readonly bottom: number;
  readonly time: string;
  readonly series?: string;
}

const daily = weeklyCounts({ range: between("2025-01-01", "2026-04-01"), every: "day" });
const CHARTS: Record<string, { chart: Chart; kind: "line" | "steps" | "stack" | "slopes" }> = {
  "a line of 455 days": {
    chart: chart.line(daily, { color: null, y: "measurements" }),
    kind: "line",
  },
  "lines of weeks": { chart: chart.line(weeklyDurations(), { y: "q50" }), kind: "line" },
  "lines of days": { chart: chart.line(daily), kind: "line" },
  "an area of steps": { chart: chart.area(daily, { color: null }), kind: "steps" },
  "stacked areas of steps": { chart: chart.area(weeklyCounts()), kind: "stack" },
  "an area of slopes": { chart: chart.area(daily, { color: null, steps: false }), kind: "slopes" },
};

/** Where the rows of a chart stand in its plot, by Vega's own scales. */
async function shownRows(
  one: Chart,
  kind: string,
  size: readonly [number, number],
): Promise<Shown[]> {
  const spec = { ...one.spec, width: size[0], height: size[1] };
  const compiled: Spec = compile(structuredClone(spec) as TopLevelSpec).spec;
  const view = await new View(parse(compiled), { renderer: "none" }).runAsync();
  const [x, y] = [view.scale("x"), view.scale("y")] as ((value: number) => number)[];
  const [names, rows] = [one.data.names, one.data.rows];
  const every = one.origin.columns.time!.every;
  const tops = new Map<number, number>();
  const shown = [
    ...rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]]))),
  ];
  // A stack begins with the last of its legend.
  const order: readonly unknown[] = one.origin.columns.dimensions[0]?.order ?? [];
  const series = names[2] === undefined ? undefined : names[1]!;
  if (kind === "stack") {
    shown.sort((a, b) => order.indexOf(b[series!]) - order.indexOf(a[series!]));
  }
  const placed = shown
    .filter((row) => row[names.at(-1)!] !== null)
    .map((row) => {
      const t = row[names[0]!] as Date;
      const value = Number(row[names.at(-1)!]);
      const base = kind === "stack" ? (tops.get(+t) ?? 0) : 0;
      tops.set(+t, base + value);
      return {
        from: x!(+t),
        until: x!(+nextBucket(t, every, "UTC")),
        y: y!(base + value),
        bottom: y!(base),
        time: t.toISOString().slice(0, 10),
        ...(series !== undefined && { series: row[series] as string }),
      };
    });
  view.finalize();
  return placed;
}

/** The rows that may be told at a place: the nearest, or those that are as near but for a pixel. */
function expected(rows: readonly Shown[], kind: string, x: number, y: number): Shown[] {
  const nearest = (some: readonly Shown[], far: (row: Shown) => number): Shown[] => {
    const least = Math.min(...some.map(far));
    return some.filter((row) => far(row) <= least + 1);
  };
  if (kind === "line") return nearest(rows, (row) => Math.hypot(row.from - x, row.y - y));
  if (kind === "slopes") {
    return [
      ...nearest(rows, (row) => Math.hypot(row.from - x, row.y - y)),
      ...nearest(rows, (row) => Math.abs(row.from - x)),
    ];
  }
  // A pointer on the border of two buckets may tell either.
  const over = rows.filter(({ from, until }) => x >= from - 0.5 && x <= until + 0.5);
  return [...new Set(over.map(({ time }) => time))].flatMap((time) => {
    const own = over.filter((row) => row.time === time);
    const inside = own.filter((row) => y <= row.bottom + 0.5 && y >= row.y - 0.5);
    return kind === "stack" && inside.length > 0
      ? inside
      : nearest(own, (row) => Math.abs(row.y - y));
  });
}

/** The plot of the first figure on the page, within its axes. */
async function plotOf(
  page: Page,
): Promise<{ x: number; y: number; width: number; height: number }> {
  return page.evaluate(
    `(({ x, y, width, height }) => ({ x, y, width, height }))(document.querySelector(".probelab-drawing .mark-group.role-frame path.background").getBoundingClientRect())`,
  );
}

const told = async (page: Page): Promise<string[]> => {
  const cells = await page.locator(".probelab-tooltip td").allTextContents();
  return cells;
};

describe.skipIf(browserMissing)(`the pointer over a chart in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(pictures, { recursive: true });
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test.each(Object.keys(CHARTS))("meets the row of %s wherever it is", async (name) => {
    const { chart: one, kind } = CHARTS[name]!;
    const { page, seen } = await browser.open(await one.html());
    expect(await drawnFigures(page)).toEqual(["probelab-chart probelab-live"]);
    const plot = await plotOf(page);
    const rows = await shownRows(one, kind, [plot.width, plot.height]);
    let right = 0;
    for (let at = 0; at < POSITIONS; at++) {
      const x = plot.width * ((at + 0.5) / POSITIONS);
      const y = plot.height * (((at * 37) % POSITIONS) / POSITIONS + 0.006);
      await page.mouse.move(plot.x + x, plot.y + y);
      const [time, ...more] = await told(page);
      const may = expected(rows, kind, x, y);
      const fits = may.some(
        (row) => row.time === time && (row.series === undefined || row.series === more[0]),
      );
      if (fits) right++;
    }
    await page.screenshot({ path: join(pictures, `pointer-${name.replaceAll(" ", "-")}.png`) });
    expect(right).toBeGreaterThanOrEqual(70);
    expect(seen).toEqual([]);
  });

  test("meets no series that the legend has put away", async () => {
    for (const one of [chart.line(weeklyDurations(), { y: "q50" }), chart.area(weeklyCounts())]) {
      const { page } = await browser.open(await one.html());
      await drawnFigures(page);
      await page.locator(".probelab-drawing .role-legend-label text", { hasText: "3.9.0" }).click();
      const plot = await plotOf(page);
      const met = new Set<string | undefined>();
      for (let at = 0; at < POSITIONS; at++) {
        const y = plot.height * (((at * 37) % POSITIONS) / POSITIONS + 0.006);
        await page.mouse.move(plot.x + plot.width * ((at + 0.5) / POSITIONS), plot.y + y);
        const [time, series] = await told(page);
        if (time !== undefined) met.add(series);
      }
      expect([...met]).toEqual(["3.9.0"]);
    }
  });

  test("zooms along time where it drags, tells its rows there, and a double click shows all", async () => {
    const one = CHARTS["a line of 455 days"]!.chart;
    const { page, seen } = await browser.open(await one.html());
    await drawnFigures(page);
    const plot = await plotOf(page);
    const labels = (): Promise<string[]> =>
      page.evaluate(
        `[...document.querySelectorAll(".probelab-drawing .role-axis-label text")].filter((text) => text.getAttribute("opacity") !== "0").map((text) => text.textContent).sort()`,
      );
    const all = await labels();
    const drag = async (from: number, until: number): Promise<void> => {
      await page.mouse.move(plot.x + from * plot.width, plot.y + 150);
      await page.mouse.down();
      await page.mouse.move(plot.x + ((from + until) / 2) * plot.width, plot.y + 160);
      await page.mouse.move(plot.x + until * plot.width, plot.y + 170);
      await page.screenshot({ path: join(pictures, `pointer-drag.png`) });
      await page.mouse.up();
    };
    const at = async (part: number): Promise<number> => {
      await page.mouse.move(plot.x + part * plot.width, plot.y + 250);
      await page.locator(".probelab-tooltip").waitFor();
      return Date.parse((await told(page))[0]!);
    };
    const day = 86_400_000;
    const [first, last] = [Date.UTC(2025, 0, 1), Date.UTC(2026, 2, 31)];
    const instant = (part: number): number => first + part * (last - first);
    await drag(0.4, 0.6);
    await expect.poll(labels).not.toEqual(all);
    await page.screenshot({ path: join(pictures, `pointer-zoom.png`) });
    for (const part of [0.02, 0.5, 0.98]) {
      expect(Math.abs((await at(part)) - instant(0.4 + 0.2 * part))).toBeLessThan(4 * day);
    }
    // Nothing is drawn beside the plot, and the vertical axis stays.
    expect(all.filter((text) => /k$|^0$/.test(text))).toEqual(
      (await labels()).filter((text) => /k$|^0$/.test(text)),
    );
    // From right to left, and deeper.
    await drag(0.75, 0.25);
    await expect
      .poll(async () => Math.abs((await at(0.02)) - instant(0.4 + 0.2 * 0.26)))
      .toBeLessThan(3 * day);
    await page.screenshot({ path: join(pictures, `pointer-zoom-2.png`) });
    await page.mouse.dblclick(plot.x + 300, plot.y + 150);
    await expect.poll(labels).toEqual(all);
    // A click, and the wheel, are the page's.
    await page.mouse.click(plot.x + 300, plot.y + 150);
    await page.mouse.wheel(0, 200);
    expect(await labels()).toEqual(all);
    expect(seen).toEqual([]);
  });
});
