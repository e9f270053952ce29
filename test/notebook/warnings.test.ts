import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

test("a chart with characters that no font has says so once, below its cell", async () => {
  const fonts = join(folder.path, "no-fonts");
  await mkdir(fonts);
  const path = await writeCells(folder.path, [
    `process.env.PROBELAB_FONTS = ${JSON.stringify(fonts)};
     import { chart, Result, between } from "probelab";
     import { table } from "arquero";
     const range = between("2026-02-01", "2026-02-02");
     const result = new Result(table({ city: ["თბილისი", "Roma"], n: [1, 2] }), {
       sql: "SELECT 1", parameters: {}, range, source: "x", server: "x", rowsRead: 0, bytesRead: 0,
       seconds: 0, askedAt: range.start, columns: { dimensions: [], measures: [] }, reductions: [], notes: [],
     } as ConstructorParameters<typeof Result>[1]);`,
    `(await chart.bar(result, { x: "city", y: "n", colour: null }).png()).length > 1000`,
    `(await chart.bar(result, { x: "city", y: "n", colour: null }).png()).length > 1000`,
  ]);
  const { notebook } = await runNotebook(path, { out: join(folder.path, "out") });
  const [, first = [], second = []] = await outputTexts(notebook);
  const told = first.filter((text) => text.startsWith("stderr: "));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^stderr: The PNG shows boxes for "თბილს", which neither .* install /);
  expect(first).toContain("result: true");
  expect(second).toEqual(["result: true"]);
});
