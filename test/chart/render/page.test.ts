import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, table } from "../../../src/index.js";
import { chartFigure, chartPage } from "../../../src/chart/render/page/figures.js";
import { jsonScript, runtimeSource } from "../../../src/chart/render/page/page-document.js";
import {
  makeResult,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "../support/sample-results.js";
import { xmlElements } from "../support/xml-tree.js";

const small = { width: 300, height: 100 };
const counts = chart.area(weeklyCounts(), small);

const all = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, inner = ""]) => inner);
const origins = (html: string): unknown[] =>
  all(html, /<script type="application\/json" class="probelab-origin">([^<]*)<\/script>/g).map(
    (json) => JSON.parse(json) as unknown,
  );
const hash = (text: string): string => createHash("sha256").update(text).digest("base64");

describe("chart.html()", () => {
  test("gives the same bytes for the same chart", async () => {
    const again = chart.area(weeklyCounts(), small);
    await chart.line(weeklyDurations(), { ...small, y: "q10" }).html();
    expect(await again.html()).toBe(await counts.html());
  });

  test("names in its policy the hashes of its one script and its one style, and nothing else", async () => {
    const html = await counts.html();
    const [policy = ""] = all(html, /http-equiv="Content-Security-Policy" content="([^"]*)"/g);
    const scripts = all(html, /<script>([^]*?)<\/script>/g);
    const styles = all(html, /<style>([^]*?)<\/style>/g);
    expect([scripts.length, styles.length]).toEqual([1, 1]);
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hash(scripts[0] ?? "")}'`,
      `style-src 'sha256-${hash(styles[0] ?? "")}'`,
      "img-src data:",
      "font-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(html.indexOf("Content-Security-Policy")).toBeLessThan(html.indexOf("<style"));
    expect(html).not.toMatch(/ style="| on\w+="|<link|<iframe|<img/);
  });

  test("holds its picture, its description and its origin", async () => {
    const html = await counts.html();
    const [svg = ""] = all(html, /<div class="probelab-picture">(<svg.*?<\/svg>)<\/div>/gs);
    expect(xmlElements(svg).map(({ name }) => name)).toContain("desc");
    expect(svg).not.toContain("metadata");
    expect((await counts.svg()).includes(svg.slice(-5_000))).toBe(true);
    expect(html).toContain(`<p>${counts.spec.description as string}</p>`.replaceAll('"', "&quot;"));
    const { probelab } = counts.spec.usermeta as { probelab: unknown };
    expect(origins(html)).toEqual([probelab]);
  });

  test("is dark for a dark chart, and light else", async () => {
    const dark = chart.area(weeklyCounts(), { ...small, theme: "dark" });
    expect(await dark.html()).toContain("color-scheme: dark;");
    expect(await counts.html()).toContain("color-scheme: light;");
    expect(await chartPage([dark, counts])).toContain("color-scheme: light;");
  });
});

describe("chartPage(charts)", () => {
  test("holds tables in their places; without a chart neither script nor font", async () => {
    const versions = table(versionSummary(), { caption: "Runs <by> version" });
    const html = await chartPage([versions, counts, versions]);
    expect(all(html, /<figure class="[^"]*" id="([^"]*)"/g)).toEqual([
      "figure-1",
      "figure-2",
      "figure-3",
    ]);
    expect(html.split(runtimeSource())).toHaveLength(2);
    expect(html).toContain("<title>Runs &lt;by&gt; version</title>");
    expect(origins(html)).toHaveLength(3);
    const bare = await chartPage([versions]);
    expect(bare).not.toMatch(/<script>|@font-face/);
    expect(bare).toContain("script-src 'none'");
    expect(bare).toContain("prefers-color-scheme: dark");
  });

  test("three charts of 5,000 rows take less than 2.2 MB", async () => {
    const rows = Array.from({ length: 4_999 }, (_, at) => at);
    const result = makeResult({
      at: rows.map((at) => new Date(Date.UTC(2026, 1, 1) + at * 15e5)),
      host: rows.map((at) => `host-${at % 3}`),
      load: rows.map((at) => Math.sin(at / 50) + Math.sin(at * 12.9898)),
    });
    const lines = [1, 2, 3].map((id) => chart.line(result, { title: `Load ${id}` }));
    const size = Buffer.byteLength(await chartPage(lines));
    expect(size).toBeGreaterThan(1_000_000);
    expect(size).toBeLessThan(2_200_000);
  });
});

describe("chartFigure(chart, id)", () => {
  test("tells where the chart comes from: SQL, parameters, server, rows read, reductions", async () => {
    const html = (await chartFigure(counts, "a")).replace(/<script[^]*/, "");
    for (const said of [
      "FROM fastpath WHERE measurement_start_time &gt;= {start:DateTime}",
      "start = 2026-02-01 00:00:00",
      "embedded:.probelab, ClickHouse 25.8.2.1",
      "<dd>2026-05-01 09:30 UTC</dd>",
      "4,812,003 rows, 96.2 MB, in 0.41 s",
      "2026-02-01 to 2026-05-01 UTC",
      "Top 6 of 37 versions",
    ]) {
      expect(html).toContain(said);
    }
  });

  test("follows the pointer in a drawing of its own size only", async () => {
    const free = (params: unknown[], width?: number) =>
      chart.vegaLite(versionSummary(), {
        params,
        ...(width !== undefined && { width }),
        mark: "point",
        encoding: {
          x: { field: "runs", type: "quantitative" },
          y: { field: "q50", type: "quantitative" },
        },
      });
    const brush = { name: "brush", select: "interval" };
    expect(await chartFigure(free([brush], 900), "a")).not.toContain("probelab-scaled");
    expect(await chartFigure(free([], 900), "a")).toContain("probelab-scaled");
    // One that is as wide as its place needs no scale.
    expect(await chartFigure(free([]), "a")).not.toContain("probelab-scaled");
  });
});

test("jsonScript(class, value) holds any text, and no character that could end it", () => {
  const hostile = fc.string({ unit: "binary" });
  const pieces = fc.constantFrom(
    "</script>",
    "<!--",
    "<script",
    "]]>",
    "&amp;",
    "\u2028",
    "\u2029",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(hostile, pieces)), (texts) => {
      const [json = ""] = all(
        jsonScript("x", texts),
        /^<script type="application\/json" class="x">([^]*)<\/script>$/g,
      );
      expect(json).not.toMatch(/[<>&\u2028\u2029]/);
      expect(JSON.parse(json)).toEqual(texts);
    }),
    { seed: 5, numRuns: 100 },
  );
});

describe("the runtime", () => {
  test("stands in a page as it is: nothing in it ends the script", () => {
    expect(runtimeSource()).not.toMatch(/<\/script|<!--/i);
    expect(runtimeSource()).toContain("BSD-3-Clause");
  });
});
