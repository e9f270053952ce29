import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chart, type Chart } from "../../src/index.js";
import { mimeBundle } from "../../src/notebook/mime-bundle.js";
import type { Notebook } from "../../src/notebook/notebook-file.js";
import { notebookPage } from "../../src/notebook/notebook-page.js";
import { versionSummary, weeklyCounts, weeklyDurations } from "../chart/support/sample-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));

/** The page of a notebook whose cells show these charts. */
async function pageOf(charts: readonly Chart[]): Promise<string> {
  const cells = await Promise.all(
    charts.map(async (one, at) => ({
      cell_type: "code",
      id: `cell-${at}`,
      metadata: {},
      source: "chart.line(counts)",
      execution_count: at + 1,
      outputs: [
        {
          output_type: "execute_result",
          execution_count: at + 1,
          ...(await mimeBundle(one)),
        },
      ],
    })),
  );
  return notebookPage({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells } as Notebook, "run");
}

const brush = [{ name: "brush", select: { type: "interval", encodings: ["x"] } }];
const CHARTS = [
  chart.area(weeklyCounts()),
  chart.line(weeklyDurations(), { y: "q50" }),
  chart.bar(versionSummary()),
  chart.vegaLite(weeklyCounts(), {
    params: brush,
    mark: "point",
    encoding: {
      x: { field: "t", type: "temporal" },
      y: { field: "measurements", type: "quantitative" },
      opacity: { condition: { param: "brush", value: 1 }, value: 0.2 },
    },
  }),
];

const figure = (page: Page, at: number) => page.locator("figure.probelab-chart").nth(at);

describe.skipIf(browserMissing)(`the page of a headless run in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(pictures, { recursive: true });
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test("has live charts, one runtime for all, and asks for nothing", async () => {
    const html = await pageOf(CHARTS);
    expect(html.match(/<script>/g)).toHaveLength(1);
    const { page, seen } = await browser.open(html);
    const figures = await drawnFigures(page);
    expect(figures).toEqual(CHARTS.map(() => "output probelab-chart probelab-live"));
    await figure(page, 2).locator('.role-mark path[fill="#0072b2"]').first().hover();
    await page.locator(".probelab-tooltip").waitFor();
    await page.screenshot({ path: join(pictures, "run-page.png"), fullPage: true });
    expect(seen).toEqual([]);
  });
});
