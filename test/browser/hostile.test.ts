import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { chart, type Chart, type Result, table } from "../../src/index.js";
import { label } from "../../src/chart/render/label.js";
import { type chartFigure, chartPage } from "../../src/chart/render/page/figures.js";
import { jsonScript } from "../../src/chart/render/page/page-document.js";
import { resultHtml } from "../../src/chart/table.js";
import { mimeBundle } from "../../src/kernel/show.js";
import type { CodeCell, Notebook } from "../../src/kernel/notebook-file.js";
import { markdownHtml, notebookPage } from "../../src/kernel/notebook-page.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { makeResult } from "../chart/support/sample-results.js";
import { notebookFolder, writeCells } from "../kernel/notebook-fixture.js";
import { bare, counts, groups, namedBy, small, usable } from "./hostile-results.js";
import {
  browserMissing,
  drawnFigures,
  frontendRuntime,
  missingNote,
  WatchingBrowser,
} from "./watched-page.js";

function numbered(texts: readonly string[]): Result {
  const n = texts.map((_, index) => index + 1);
  return makeResult({ software_version: [...texts], n });
}

/** Drawn once for all the paths that it takes. */
function once(chart: Chart): Parameters<typeof chartFigure>[0] {
  let svg: Promise<string> | undefined;
  return {
    spec: chart.spec,
    screenSpec: () => Promise.resolve(chart.spec),
    svg: () => (svg ??= chart.svg()),
  };
}

/** The payloads as values: series, categories, and every channel of a spec of one's own. */
const valueCharts = groups
  .flatMap((texts) => [
    chart.dot(counts(texts), small),
    chart.bar(counts(texts), { ...small, x: "software_version", color: null }),
    chart.vegaLite(numbered(texts), {
      ...small,
      layer: [
        { mark: { type: "text", dy: 8 }, encoding: { text: { field: "software_version" } } },
        { mark: "point", encoding: { href: { field: "software_version" } } },
      ],
      encoding: {
        x: { field: "software_version", type: "nominal" },
        y: { field: "n", type: "quantitative" },
        color: { field: "software_version", type: "nominal" },
        tooltip: { field: "software_version" },
      },
    }),
  ])
  .map(once);

const namedCharts = usable
  .map((text) =>
    chart.dot(namedBy(text), {
      ...small,
      title: text,
      subtitle: text,
      annotations: [chart.annotation("2026-02-05", text)],
    }),
  )
  .map(once);

/** Moves the pointer over each mark. @returns the texts of the tooltips. */
async function hoverAll(page: Page, marks: string, tooltip: string): Promise<string[]> {
  const places = await page.evaluate<{ x: number; y: number }[]>(
    `[...document.querySelectorAll(${JSON.stringify(marks)})].map((mark) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return { x: x + scrollX + width / 2, y: y + scrollY + height / 2 };
    })`,
  );
  await page.evaluate(`{
    globalThis.shownTooltips = new Set();
    const keep = () => shownTooltips.add(document.querySelector(${JSON.stringify(tooltip)})?.textContent);
    const changes = { childList: true, subtree: true, characterData: true, attributes: true };
    new MutationObserver(keep).observe(document.body, changes);
  }`);
  let top = 0;
  for (const { x, y } of places.toSorted((a, b) => a.y - b.y)) {
    if (y > top + 850) {
      top = y - 50;
      await page.evaluate(`scrollTo(0, ${top})`);
      top = await page.evaluate<number>("scrollY");
    }
    await page.mouse.move(x, y - top);
  }
  return page.evaluate<string[]>("[...shownTooltips].filter(Boolean)");
}

describe.skipIf(browserMissing)(`hostile data in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test("as values in a page: series, categories, links, texts, shown in tooltips", async () => {
    const charts = valueCharts;
    const { page, seen } = await browser.open(await chartPage(charts));
    expect(new Set(await drawnFigures(page))).toEqual(new Set(["probelab-chart probelab-live"]));
    const marks = ".probelab-drawing .mark-symbol.role-mark path";
    const tooltips = await hoverAll(page, marks, ".probelab-tooltip");
    for (const text of PAYLOADS) {
      // A password in an address is hidden.
      const shown = label(text).replace("user:hunter2@", "");
      expect(
        tooltips.some((tooltip) => tooltip.includes(shown)),
        shown,
      ).toBe(true);
    }
    expect(tooltips.join("\n")).not.toContain("hunter2");
    const links = await page.evaluate<string[]>(
      "[...document.querySelectorAll('a')].map((a) => (a.getAttribute('href') ?? a.getAttribute('xlink:href') ?? '') + ' ' + a.getAttribute('rel')).filter((link) => link !== ' null')",
    );
    expect(new Set(links.map((link) => link.replace(/:\S* /, ": ")))).toEqual(
      new Set(["https: noopener noreferrer"]),
    );
    expect(seen).toEqual([]);
  });

  test("as names in a page: columns, titles, marks, SQL, parameters, notes", async () => {
    const charts = namedCharts;
    const { page, seen } = await browser.open(await chartPage(charts));
    expect(new Set(await drawnFigures(page))).toEqual(new Set(["probelab-chart probelab-live"]));
    await page.evaluate(
      "for (const details of document.querySelectorAll('details')) details.open = true",
    );
    const told = await page.evaluate<string[]>(
      "[...document.querySelectorAll('script.probelab-origin')].map((script) => JSON.parse(script.textContent).sql)",
    );
    expect(told.filter((sql) => !sql.includes("evil.example"))).toEqual(
      usable.map((text) => `SELECT '${text}'`).filter((sql) => !sql.includes("evil.example")),
    );
    const marks = ".probelab-drawing .mark-symbol.role-mark path";
    const tooltips = await hoverAll(page, marks, ".probelab-tooltip");
    expect(tooltips.length).toBeGreaterThan(usable.length * 0.9);
    expect(seen).toEqual([]);
  });

  test("in SVG pictures: opened by themselves, inline, as images", async () => {
    const charts = [...valueCharts, ...namedCharts];
    const svgs = await Promise.all(charts.map((one) => one.svg()));
    expect(await browser.openEach(svgs, "chart.svg")).toEqual([]);
    const inline = await browser.open(bare(svgs.join("\n")));
    expect(await inline.page.locator("body > svg").count()).toBe(svgs.length);
    expect(inline.seen).toEqual([]);
    const images = svgs.map(
      (svg) => `<img src="data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}">`,
    );
    const { page, seen } = await browser.open(bare(images.join("\n")));
    const widths = await page.evaluate<number[]>(
      "[...document.images].map((one) => one.naturalWidth)",
    );
    expect(widths.filter((width) => width > 100)).toHaveLength(svgs.length);
    expect(seen).toEqual([]);
  });

  test("in tables: as HTML, as Markdown that is rendered, as a bare Result", async () => {
    const tables = [
      table(counts(PAYLOADS), { limit: 4_000 }),
      ...usable.map((text) => table(namedBy(text), { caption: text })),
    ];
    const documents = [
      ...tables.flatMap(({ html, markdown }) => [html, markdownHtml(markdown)]),
      resultHtml(counts(PAYLOADS)),
      ...usable.map((text) => resultHtml(namedBy(text))),
    ];
    const { page, seen } = await browser.open(bare(documents.join("\n")));
    expect(await page.locator("table").count()).toBe(documents.length);
    expect(await page.locator("a").count()).toBe(0);
    expect(seen).toEqual([]);
    const saved = await browser.open(await chartPage([valueCharts[0]!, ...tables]));
    expect(await saved.page.locator("table").count()).toBe(tables.length);
    expect(saved.seen).toEqual([]);
    const bundles = await Promise.all([...tables, counts(PAYLOADS)].map((one) => mimeBundle(one)));
    const shown = executed(bundles.map(({ data }) => data));
    const notebook = await browser.open(await notebookPage(shown, usable.join(" ")));
    expect(await notebook.page.locator("table").count()).toBe(bundles.length);
    expect(await notebook.page.locator("a").count()).toBe(0);
    expect(notebook.seen).toEqual([]);
  });

  test("in the Vega-Lite bundle that a notebook's own Vega draws, with its tooltips", async () => {
    const charts = [...valueCharts, ...namedCharts];
    const places = charts.map((_, index) => `<div id="chart-${index}"></div>`).join("");
    const runtime = await frontendRuntime();
    const specs = jsonScript(
      "specs",
      charts.map(({ spec }) => spec),
    );
    const { page, seen } = await browser.open(bare(`${places}${specs}<script>${runtime}</script>`));
    await page.evaluate("drawSpecs(JSON.parse(document.querySelector('.specs').textContent))");
    expect(await page.locator("svg.marks").count()).toBe(charts.length);
    const marks = "svg .mark-symbol.role-mark path";
    const tooltips = await hoverAll(page, marks, "#vg-tooltip-element.visible");
    expect(tooltips.length).toBeGreaterThan(PAYLOADS.length * 1.5);
    // Vega tells of empty scales.
    expect(seen.filter((what) => !/^console: WARN /.test(what))).toEqual([]);
    const loading = {
      mark: { type: "image", url: "https://evil.example/seen.png" },
      data: { values: [{}] },
    };
    await page.evaluate(`drawSpecs([${JSON.stringify(loading)}])`);
    await expect.poll(() => seen.join()).toContain("request: https://evil.example/seen.png");
  });

  test("in logs, results, JSON and errors of an executed notebook, on its page", async () => {
    const folder = await notebookFolder();
    await writeFile(join(folder.path, "payloads.json"), JSON.stringify(PAYLOADS));
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
    await folder.remove();
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
});

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
