import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkHashes } from "./folder.js";
import {
  browserMissing,
  drawnFigures,
  missingNote,
  WatchingBrowser,
} from "../browser/watched-page.js";

const folder = fileURLToPath(new URL("../../docs/examples/postmortem", import.meta.url));

describe("docs/examples/postmortem", () => {
  // Make it again with node scripts/example-postmortem.mjs.
  test("has the bytes that were saved", () => {
    checkHashes(folder);
  });

  test("is small, and tells of no machine", () => {
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThan(2_500_000);
    for (const path of paths.filter((each) => /\.(json|md|html|sql|svg)$/.test(each))) {
      // The page's own script names schemes of files.
      const text = readFileSync(path, "utf8").replace(/<script>[^]*?<\/script>/g, "");
      const found = /.{0,40}(\/(tmp|home|root|Users)\/|embedded:[^.]|file:\/\/).{0,20}/.exec(text);
      expect(found?.[0], path).toBeUndefined();
    }
    const sql = readFileSync(join(folder, "queries", "run-duration.sql"), "utf8");
    expect(sql).toContain("from embedded:.probelab (ClickHouse ");
  });

  describe.skipIf(browserMissing)(`in Chromium${missingNote}`, () => {
    let browser: WatchingBrowser;
    beforeAll(async () => {
      browser = await WatchingBrowser.start();
    });
    afterAll(() => browser.stop());

    test("opens without a network, asks for nothing and says nothing", async () => {
      const { page, seen } = await browser.openFile(join(folder, "postmortem.html"));
      expect(await drawnFigures(page)).toEqual(Array(3).fill("probelab-chart probelab-live"));
      expect(await page.locator("h1").textContent()).toMatch(/3\.10\.0 ends its runs early/);
      expect(seen).toEqual([]);
    });
  });
});
