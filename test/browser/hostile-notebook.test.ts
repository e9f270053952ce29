import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chart, table } from "../../src/index.js";
import { mimeBundle } from "../../src/kernel/show.js";
import type { CodeCell, Notebook } from "../../src/kernel/notebook-file.js";
import { notebookPage } from "../../src/kernel/notebook-page.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { notebookFolder, writeCells } from "../kernel/notebook-fixture.js";
import { counts, namedBy, small, usable } from "./hostile-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

describe.skipIf(browserMissing)(
  `hostile data in a notebook's page, in Chromium${missingNote}`,
  () => {
    let browser: WatchingBrowser;
    let folder: Awaited<ReturnType<typeof notebookFolder>>;
    beforeAll(async () => {
      browser = await WatchingBrowser.start();
      folder = await notebookFolder();
      await writeFile(join(folder.path, "payloads.json"), JSON.stringify(PAYLOADS));
    });
    afterEach(() => browser.clear());
    afterAll(async () => {
      await browser.stop();
      await folder.remove();
    });

    test("in logs, results, JSON and errors of an executed notebook", async () => {
      const path = await writeCells(folder.path, [
        { markdown: "# Hostile" },
        `import { readFileSync } from "node:fs";
const payloads: string[] = JSON.parse(readFileSync("payloads.json", "utf8"));
for (const payload of payloads) { console.log(payload); console.error(payload); }
payloads`,
        `({ [Symbol.for("Jupyter.display")]: () => ({ "application/json": payloads }) })`,
        `({ [Symbol.for("Jupyter.display")]: () => ({ "text/latex": payloads.join("\\n") }) })`,
        ...usable
          .filter((_, index) => index % 12 === 0)
          .map(
            (
              _,
              at,
            ) => `const error${at} = new Error(payloads.slice(${at * 12}, ${at * 12 + 12}).join("\\n"), { cause: new Error(payloads[${at}]) });
error${at}.name = payloads[${at * 12 + 1}] ?? "";
throw error${at};`,
          ),
      ]);
      const out = join(folder.path, "out");
      const outcome = await runNotebook(path, { out, allowErrors: true });
      expect(outcome.status).toBe("ok");
      const { page, seen } = await browser.openFile(outcome.page);
      expect(await page.locator(".output.error").count()).toBe(Math.ceil(usable.length / 12));
      const text = (await page.locator("main").textContent()) ?? "";
      for (const payload of usable.filter((one) => /^[ -~]+$/.test(one))) {
        expect(text).toContain(payload);
      }
      expect(await page.locator("a").count()).toBe(0);
      expect(seen).toEqual([]);
    });

    test("in tables, Results and charts that a cell shows", async () => {
      const short = usable.slice(0, 24);
      const values = [
        table(counts(PAYLOADS), { limit: 4_000 }),
        counts(PAYLOADS),
        ...usable.map((text) => namedBy(text)),
        ...short.map((text) => chart.dot(namedBy(text), { ...small, title: text })),
      ];
      const bundles = await Promise.all(values.map((value) => mimeBundle(value)));
      const html = await notebookPage(executed(bundles.map(({ data }) => data)), usable.join(" "));
      const { page, seen } = await browser.open(html);
      expect(await page.locator("table").count()).toBe(values.length - short.length);
      expect(await drawnFigures(page)).toEqual(
        short.map(() => "output probelab-chart probelab-live"),
      );
      expect(await page.locator("a").count()).toBe(0);
      expect(seen).toEqual([]);
    });

    test("as HTML and Markdown that a cell shows as it is: the page's policy stops what it asks for", async () => {
      // A page for each: an open comment or <plaintext> would hide what follows it.
      const pages = await Promise.all(
        usable
          .filter((text) => /[<[!]/.test(text))
          .flatMap((text) => [
            { "text/html": text },
            { "text/markdown": text, "image/svg+xml": text },
          ])
          .map((data) => notebookPage(executed([data]), "raw")),
      );
      const seen = await browser.openEach(pages, "raw.html");
      const told = seen.filter((what) => what !== "stopped by the policy");
      expect(told.filter((what) => !/^console: .*Content Security Policy/.test(what))).toEqual([]);
      expect(told.length).toBeGreaterThan(10);
    });
  },
);

function executed(outputs: readonly Record<string, unknown>[]): Notebook {
  const cells = outputs.map((data, index): CodeCell => ({
    cell_type: "code",
    id: `cell-${index}`,
    source: "shown",
    metadata: {},
    execution_count: index,
    outputs: [{ output_type: "display_data", data, metadata: {} }],
  }));
  return { nbformat: 4, nbformat_minor: 5, metadata: {}, cells };
}
