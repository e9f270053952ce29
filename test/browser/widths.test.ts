import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { mimeBundle } from "../../src/kernel/show.js";
import type { Notebook } from "../../src/kernel/notebook-file.js";
import { notebookPage } from "../../src/kernel/notebook-page.js";
import { chartPage } from "../../src/chart/render/page/figures.js";
import { CHARTS } from "./charts.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));

/** The page of a run whose cells show the charts. */
async function runPage(): Promise<string> {
  const bundles = await Promise.all(CHARTS.map((one) => mimeBundle(one)));
  const cells = bundles.map((bundle, at) => ({
    cell_type: "code",
    id: `cell-${at}`,
    metadata: {},
    source: "chart",
    execution_count: at + 1,
    outputs: [{ output_type: "execute_result", execution_count: at + 1, ...bundle }],
  }));
  return notebookPage({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells } as Notebook, "run");
}

const PLACES = {
  "a saved page": () => chartPage(CHARTS),
  "a run's page": runPage,
};

/** Of each chart the width that is drawn, that of its place and what is to be scrolled; its views that aren't whole. */
const sizes = (
  page: Page,
): Promise<{ drawn: number; place: number; hidden: number; cut: number }[]> =>
  page.evaluate(`[...document.querySelectorAll(".probelab-drawing svg.marks")].map((svg) => {
    const place = svg.closest(".probelab-plot");
    const { left, right, width } = svg.getBoundingClientRect();
    const views = [...svg.querySelectorAll(".role-scope > g > path.background, .role-frame > g > path.background")];
    const cut = views.filter((view) => {
      const box = view.getBoundingClientRect();
      return box.left < left - 1 || box.right > right + 1;
    });
    return { drawn: width, place: place.clientWidth, hidden: place.scrollWidth - place.clientWidth, cut: cut.length };
  })`);

describe.skipIf(browserMissing)(`charts in places of any width, in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(pictures, { recursive: true });
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test.each(Object.entries(PLACES))(
    "%s: opened, narrowed and widened, every view is whole",
    { timeout: 120_000 },
    async (name, made) => {
      const html = await made();
      // One runtime for all.
      expect(html.match(/<script>/g)).toHaveLength(1);
      const { page, seen } = await browser.open(html, "widths.html", {
        viewport: { width: 1174, height: 900 },
      });
      await drawnFigures(page);
      for (const width of [1174, 390, 800, 1400]) {
        await page.setViewportSize({ width, height: 900 });
        const wrong = async () =>
          (await sizes(page)).filter(
            // The first is one plot, which uses all of its place.
            ({ drawn, place, hidden, cut }, at) =>
              drawn > place || hidden > 0 || cut > 0 || (at === 0 && drawn < place - 1),
          );
        await expect.poll(wrong, { timeout: 10_000 }).toEqual([]);
        expect(await sizes(page)).toHaveLength(CHARTS.length);
        const file = `${name.replaceAll(/\W+/g, "-")}-${width}.png`;
        await page.screenshot({ path: join(pictures, file), fullPage: true });
      }
      expect(seen.filter((what) => !/^console: WARN /.test(what))).toEqual([]);
    },
  );

  test("on a dark page a run's charts are drawn dark, in the light and on paper light", async () => {
    const html = await runPage();
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await browser.open(html, "theme.html", { colorScheme });
      await drawnFigures(page);
      const grounds = await page.evaluate<string[]>(
        `[...document.querySelectorAll(".probelab-drawing svg.marks")].map((svg) => getComputedStyle(svg).backgroundColor)`,
      );
      const wanted = { light: "rgb(255, 255, 255)", dark: "rgb(20, 23, 27)" }[colorScheme];
      expect(grounds).toEqual(CHARTS.map(() => wanted));
      await page.emulateMedia({ media: "print" });
      const printed = page.locator(".probelab-picture").first();
      expect(await printed.isVisible()).toBe(true);
    }
  });
});
