import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FINDING_TYPE } from "../../src/chart/page.js";
import { readOrigins } from "../../src/chart/render/origin.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { handMade, notebookFolder, writeCells } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

test("the page holds the origin of each chart that it shows, and nothing that runs", async () => {
  const hostile = "</script><script>alert(1)</script><!--";
  const path = await writeCells(folder.path, [
    handMade,
    `await show(chart.line(result, { title: "Runs & more <b>" }));
     chart.bar(result.with(result.table, { sql: ${JSON.stringify(hostile)} }))`,
    { code: `chart.bar(result, { title: "Unseen" })`, tags: ["remove-cell"] },
    "result",
  ]);
  const outcome = await runNotebook(path, { out: join(folder.path, "out") });
  expect(outcome.message).toBeUndefined();
  const bytes = await readFile(outcome.page);
  const found = readOrigins(bytes);
  expect(found.map(({ title }) => title)).toEqual(["Runs & more <b>", expect.any(String)]);
  expect(found.map(({ sql }) => sql)).toEqual(["SELECT 1", hostile]);
  expect(found[0]).toMatchObject({
    range: { start: "2026-02-01T00:00:00.000Z", timeZone: "UTC" },
    server: "25.8",
  });
  const page = bytes.toString();
  const block = (kind: string): string =>
    `<script type="application/json" class="probelab-${kind}">`;
  const each = [block("content"), block("origin")];
  // Both charts are live, with one runtime.
  expect(page.match(/<script[^>]*>/g)).toEqual([...each, ...each, block("dark"), "<script>"]);
  expect(page).toMatch(/script-src 'sha256-[^']+'; /);
  expect(page).toContain("default-src 'none'");
});

test("an output that only looks like a chart of probelab is shown without an origin", async () => {
  const path = await writeCells(
    folder.path,
    ["null", "1", "{ usermeta: 1 }", "{ usermeta: { probelab: [1] } }"].map(
      (spec) =>
        `({ [Symbol.for("Jupyter.display")]: () => ({ "application/vnd.vegalite.v5+json": ${spec}, "text/plain": "a chart" }) })`,
    ),
  );
  const { page } = await runNotebook(path, { out: join(folder.path, "out") });
  const html = await readFile(page, "utf8");
  expect(html.match(/a chart<\/pre>/g)).toHaveLength(4);
  expect(html).not.toMatch(/<script|<figure/);
});

test("the headline of a finding stands first, and code in the order of its cells", async () => {
  const finding = `({ [Symbol.for("Jupyter.display")]: () => ({ "${FINDING_TYPE}": { headline: "A fell" }, "text/html": "<p><strong>A fell</strong></p>" }) })`;
  const path = await writeCells(folder.path, ["const a = 1;", "const b = a;", finding]);
  const { page } = await runNotebook(path, { out: join(folder.path, "out") });
  const html = await readFile(page, "utf8");
  expect(html.match(/<h1 class="verdict">A fell<\/h1>|Code, cell \d/g)).toEqual([
    '<h1 class="verdict">A fell</h1>',
    ...["Code, cell 1", "Code, cell 2", "Code, cell 3"],
  ]);
});
