import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hostileLinks, hostileReport } from "../incident/hostile-report.js";
import { report } from "../incident/report.js";
import { weeklyCounts } from "../chart/support/sample-results.js";
import { chart } from "../../src/index.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));
const NOW = "2026-05-05T10:00:00Z";

describe.skipIf(browserMissing)(`postmortem.html in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  let folder = "";
  let hostile = "";
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(pictures, { recursive: true });
    const wide = chart.area(weeklyCounts(), {
      width: 900,
      height: 300,
      title: "Measurements per week",
    });
    const told = report().finding(
      `See https://example.org/${"long/".repeat(40)} and ${"W".repeat(200)}`,
      wide,
    );
    folder = await told.save(join(browser.folder, "report"), { now: NOW });
    hostile = await hostileReport().save(join(browser.folder, "hostile"), { now: NOW });
  }, 240_000);
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());
  const open = (options = {}, at = folder) =>
    browser.openFile(join(at, "postmortem.html"), options);

  test("opened from its folder: charts live, links lead to figures and to files beside it, nothing asked", async () => {
    const { page, seen } = await open();
    expect(await drawnFigures(page)).toEqual(Array(4).fill("probelab-chart probelab-live"));
    const links = await page.evaluate<string[]>(
      "[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))",
    );
    const files = links.filter((link) => !/^(#|https:)/.test(link));
    expect(files).toHaveLength(5 * 3);
    expect(files.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    const inside = links.filter((link) => link.startsWith("#"));
    expect(inside.length).toBeGreaterThan(2);
    for (const link of new Set(inside)) expect(await page.locator(link).count(), link).toBe(1);
    await page.locator('a[href="#figure-2"]').first().click();
    expect(
      await page.evaluate(
        "Math.abs(document.querySelector('#figure-2').getBoundingClientRect().top) < 60",
      ),
    ).toBe(true);
    expect(seen.filter((what) => !/^navigation: .*#figure-2$/.test(what))).toEqual([]);
    await page.evaluate("scrollTo(0, 0)");
    await page.screenshot({ path: join(pictures, "postmortem.png"), fullPage: true });
  });

  test("prints every chart whole, and no page beside the paper", async () => {
    const { page, seen } = await open();
    await drawnFigures(page);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 718, height: 1000 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(718);
    await page.pdf({
      path: join(pictures, "postmortem-print.pdf"),
      format: "A4",
      printBackground: true,
    });
    expect(seen).toEqual([]);
  });

  test("of hostile texts: nothing runs, nothing is asked, links lead where they say", async () => {
    const { page, seen } = await open({}, hostile);
    expect(new Set(await drawnFigures(page))).toEqual(new Set(["probelab-chart probelab-live"]));
    await page.evaluate(
      "for (const details of document.querySelectorAll('details')) details.open = true",
    );
    const links = await page.evaluate<string[]>(
      "[...document.querySelectorAll('a')].map((a) => a.href + ' ' + a.rel)",
    );
    const own = /^file:.*(#figure-\d+|\/(data|queries)\/[a-z0-9-]+\.(csv|parquet|sql)) $/;
    expect(
      links.filter((link) => !own.test(link) && !/^https?:\/\/\S+ noopener noreferrer$/.test(link)),
    ).toEqual([]);
    for (const link of hostileLinks) {
      expect(
        links.some((each) => each.startsWith(new URL(link).href.replaceAll("\\", "%5C"))),
      ).toBe(true);
    }
    const strange = await page.evaluate<string[]>(
      "[...document.querySelectorAll('main :is(img:not([src^=\\'data:image/svg\\']), iframe, object, embed, form:not(.vega-bindings), input, video, base, meta, link, style, template)')].map((one) => one.outerHTML.slice(0, 200))",
    );
    expect(strange).toEqual([]);
    const scripts = await page.evaluate<string[]>(
      "[...document.querySelectorAll('main script')].map((one) => one.type + ' ' + one.className)",
    );
    expect(
      scripts.filter((each) => !/^application\/json probelab-(origin|content)$/.test(each)),
    ).toEqual([]);
    expect(seen).toEqual([]);
  });
});
