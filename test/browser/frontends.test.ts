import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import type { MimeBundle } from "../../src/base/mime-bundle.js";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { mimeBundle } from "../../src/kernel/show.js";
import { jupyterEnvironment } from "../jupyter/jupyter.js";
import { notebookFolder, writeCells } from "../kernel/notebook-fixture.js";
import { CHARTS } from "./charts.js";
import { frontends, isThere, OpenFrontend } from "./frontend.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));

const chartCells = (data: string) => [
  { markdown: "# A chart" },
  `import { between, chart, connect } from "probelab";
const lab = await connect({ measurements: ${JSON.stringify(`embedded:${data}`)} });
const range = between("2024-01-01", "2024-01-02");
const sql = "SELECT number AS x, number * number AS y FROM numbers(20) WHERE {start:DateTime64(3)} < {end:DateTime64(3)}";
const squares = await lab.query(sql, { range });
squares`,
  `chart.vegaLite(squares, {
  title: "Squares", width: 500, height: 200,
  mark: { type: "point", filled: true, size: 200, tooltip: true },
  encoding: { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" } },
})`,
  `let state = "waiting";
console.log("begun");
await new Promise(() => {});`,
];

for (const frontend of frontends) {
  const there = isThere(frontend);
  const note = there ? "" : " (skipped: it or Chromium is missing)";
  describe.skipIf(!there)(`${frontend.name} in a browser${note}`, () => {
    const environment = jupyterEnvironment();
    let folder: Awaited<ReturnType<typeof notebookFolder>>;
    let opened: OpenFrontend;
    let page: Page | undefined;

    beforeAll(async () => {
      folder = await notebookFolder();
      await installKernel(environment);
      opened = await OpenFrontend.start(frontend, folder.path, environment);
    });
    afterEach(async () => {
      await page?.close();
      page = undefined;
    });
    afterAll(async () => {
      await opened.close();
      await folder.remove();
    });
    const open = async (notebook: string) => (page = await opened.open(notebook));

    // The frontends are other people's programs, driven by clicks: a click that one of them lost says
    // nothing of the kernel, so a failed try is made once more in a new window.
    const once = { timeout: 180_000, retry: 1 };
    test(
      "a notebook runs, shows its table and its chart, is interrupted and restarted",
      once,
      async () => {
        await writeCells(folder.path, chartCells(join(folder.path, "data")));
        const page = await open("test.ipynb");
        onTestFailed(async () => {
          mkdirSync(pictures, { recursive: true });
          await page.screenshot({ path: join(pictures, "failed.png") });
        });
        await frontend.run(page);
        const output = page.locator(".jp-OutputArea-output, .output_area");
        await output.filter({ hasText: "begun" }).waitFor({ timeout: 60_000 });
        await page.locator("table").first().waitFor();
        const picture = page
          .locator(".vega-embed canvas, .vega-embed svg, .output_png img")
          .first();
        await picture.waitFor();
        const box = await picture.boundingBox();
        expect(box?.width).toBeGreaterThan(400);
        mkdirSync(pictures, { recursive: true });
        const file = join(pictures, `${frontend.name.replaceAll(" ", "-").toLowerCase()}.png`);
        await picture.scrollIntoViewIfNeeded();
        await page.screenshot({ path: file });

        if (await page.locator(".vega-embed").count()) {
          const at = await picture.boundingBox();
          const { x = 0, y = 0, width = 0, height = 0 } = at ?? {};
          const tooltip = page.locator("#vg-tooltip-element.visible");
          // Where a point is depends on the fonts: the mouse crosses the chart until it meets one.
          for (let step = 0; step < 100 && !(await tooltip.count()); step++) {
            const across = 0.1 + 0.85 * (step / 100);
            const up = ((across - 0.1) / 0.87) ** 2;
            await page.mouse.move(x + across * width, y + height * (0.87 - 0.66 * up));
          }
          await tooltip.waitFor({ timeout: 5000 });
        }

        // A picture for where nothing draws Vega-Lite: from the kernel, or what the frontend drew.
        await expect
          .poll(async () => {
            await frontend.save(page);
            return readFile(join(folder.path, "test.ipynb"), "utf8");
          })
          .toContain('"image/png"');

        const interrupted = output.filter({ hasText: "Interrupted: The cell was interrupted" });
        await frontend.interrupt(page);
        await interrupted.waitFor({ timeout: 10_000 });
        await page.screenshot({ path: file.replace(".png", "-interrupted.png") });

        // A restarted kernel counts from 1 again.
        await frontend.restart(page);
        await frontend.run(page);
        await interrupted.waitFor({ state: "detached", timeout: 60_000 });
        await output.filter({ hasText: "begun" }).waitFor({ timeout: 60_000 });
        const prompts = await page.locator(".jp-InputPrompt, .input_prompt").allTextContents();
        const counts = prompts.map((text) => /\[(.*)\]/.exec(text)?.[1]).filter(Boolean);
        expect(counts).toEqual(["1", "2", "*"]);
        await frontend.interrupt(page);
        await interrupted.waitFor({ timeout: 10_000 });
      },
    );

    test.skipIf(frontend.name !== "JupyterLab 4")(
      "the side bar shows the variables of cells, and a Result as a table",
      once,
      async () => {
        const cells = [
          `import { chart, connect } from "probelab"; const hours = 24;`,
          `const result = chart.bar([{ country: "IT", reports: 12 }]).result;`,
          `let state = "begun"; console.log(state);`,
        ];
        await writeCells(folder.path, cells, "variables.ipynb");
        const page = await open("variables.ipynb");
        onTestFailed(async () => {
          mkdirSync(pictures, { recursive: true });
          await page.screenshot({ path: join(pictures, "failed.png") });
        });
        await frontend.run(page);
        const output = page.locator(".jp-OutputArea-output");
        await output.filter({ hasText: "begun" }).waitFor({ timeout: 60_000 });
        await page.locator(".jp-DebuggerBugButton").first().click();
        const variables = page.locator(".jp-DebuggerVariables-body").first();
        await variables.getByText("hours").first().waitFor({ state: "attached" });
        if (!(await variables.isVisible())) {
          await page.locator('.lm-TabBar-tab[data-id="jp-debugger-sidebar"]').click();
        }
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: join(pictures, "variables.png") });
        const shown = (await variables.innerText()).split(/\s+/);
        expect(shown).toEqual(["hours", "24", "result", "Result", "state", "'begun'"]);
        await variables.getByText("result", { exact: true }).hover();
        await page.locator(".jp-DebuggerVariables-renderVariable").first().click();
        await page.locator(".jp-VariableRendererPanel table").first().waitFor({ timeout: 20_000 });
        await page.screenshot({ path: join(pictures, "variables-result.png") });
      },
    );

    test("charts of every kind are whole at 1,400 pixels and at 1,900", once, async () => {
      await writeOutputs(folder.path, await Promise.all(CHARTS.map((one) => mimeBundle(one))));
      const page = await open("charts.ipynb");
      const drawings = page.locator(".vega-embed canvas, .output_png img");
      for (const width of [1400, 1900]) {
        // So high that all are on the screen, and drawn.
        await page.setViewportSize({ width, height: 7000 });
        await expect.poll(() => drawings.count(), { timeout: 60_000 }).toBe(CHARTS.length);
        // How much is drawn, of how much place; what is to be scrolled.
        const sizes = (): Promise<number[][]> =>
          page.evaluate(`[...document.querySelectorAll(".vega-embed canvas, .output_png img")].map((drawn) => {
            const place = drawn.closest(".jp-OutputArea-output, .output_subarea");
            return [drawn.getBoundingClientRect().width, place.clientWidth, place.scrollWidth - place.clientWidth];
          })`);
        const wrong = async (): Promise<number[][]> =>
          (await sizes()).filter(([drawn = 0, of = 0, hidden]) => drawn > of || hidden !== 0);
        await expect.poll(wrong, { timeout: 20_000 }).toEqual([]);
      }
    });
  });
}

/** Writes a notebook whose cells have shown these bundles. */
async function writeOutputs(folder: string, bundles: readonly MimeBundle[]): Promise<void> {
  const path = await writeCells(
    folder,
    bundles.map(() => "chart"),
    "charts.ipynb",
  );
  const notebook = JSON.parse(await readFile(path, "utf8")) as { cells: object[] };
  const cells = notebook.cells.map((cell, at) => ({
    ...cell,
    execution_count: 1,
    outputs: [{ output_type: "execute_result", execution_count: 1, ...bundles[at] }],
  }));
  await writeFile(path, JSON.stringify({ ...notebook, cells }));
}
