import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { chart } from "../../src/chart/chart.js";
import { resultHtml, table } from "../../src/chart/table.js";
import type { Result } from "../../src/result/result.js";
import { inertHtml, inertSvg } from "./support/inert.js";
import { PAYLOADS } from "./support/payloads.js";
import { makeResult } from "./support/sample-results.js";

const WEEKS = ["2026-02-02", "2026-02-09"].map((day) => new Date(`${day}T00:00:00Z`));

const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\ud800-\udfff]/g;

const rejections: unknown[] = [];
const listener = (reason: unknown): void => void rejections.push(reason);
const requests = vi.spyOn(globalThis, "fetch");

beforeAll(() => void process.on("unhandledRejection", listener));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", listener);
  expect(rejections).toEqual([]);
  expect(requests).not.toHaveBeenCalled();
});

test("the list holds at least 60 payloads, each once", () => {
  expect(new Set(PAYLOADS).size).toBe(PAYLOADS.length);
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
});

/** Counts by a dimension whose values are the texts. */
function counts(texts: readonly string[], name = "software_version"): Result {
  return makeResult(
    {
      t: texts.flatMap(() => WEEKS),
      [name]: texts.flatMap((text) => [text, text]),
      n: texts.flatMap((_, index) => [index + 1, index + 2]),
    },
    {
      time: { name: "t", every: "week", incomplete: [] },
      dimensions: [{ name, order: texts }],
      measures: [{ name: "n", label: "N", unit: "runs", additive: true, missing: "zero" }],
    },
  );
}

const groups = Array.from({ length: Math.ceil(PAYLOADS.length / 12) }, (_, index) =>
  PAYLOADS.slice(index * 12, index * 12 + 12),
);

describe("values of the data stay inert", () => {
  test.each(groups.map((texts, index) => [index, texts] as const))(
    "as series, categories and tooltips, group %i",
    async (_, texts) => {
      const result = counts(texts);
      for (const drawn of [
        chart.line(result),
        chart.area(result),
        chart.bar(result, { x: "software_version", colour: null }),
        chart.points(result),
      ]) {
        expect(() => parse(compile(drawn.spec as unknown as TopLevelSpec).spec)).not.toThrow();
        const elements = inertSvg(await drawn.svg());
        expect(elements.length).toBeGreaterThan(30);
      }
    },
  );

  test("each payload is a series of its own, none is lost or merged", () => {
    for (const texts of groups) {
      const [layer] = chart.area(counts(texts)).spec.layer as [
        { data: { values: { software_version: string }[] } },
      ];
      const series = new Set(layer.data.values.map((row) => row.software_version));
      expect(series.size).toBe(texts.length);
      for (const name of series) expect(name.length).toBeLessThan(130);
    }
  });

  test("in every cell of a table", () => {
    const result = counts(PAYLOADS);
    const html = table(result, { bars: true, limit: 4_000 }).html;
    const elements = inertHtml(html);
    expect(elements.filter(({ name }) => name === "tr")).toHaveLength(2 * PAYLOADS.length + 1);
    inertHtml(resultHtml(result));
    expect(html.length).toBeLessThan(400_000);
  });

  test("no cell of a table holds TeX that a notebook would typeset", () => {
    const cells = inertHtml(table(counts(["$\\href{javascript:alert(1)}{x}$"])).html);
    expect(cells.filter(({ name, text }) => name !== "span" && /[$\\]/.test(text))).toEqual([]);
  });

  test("every payload is one cell of a Markdown table, without HTML, links or pictures", () => {
    const { markdown } = table(counts(PAYLOADS), { limit: 4_000 });
    const lines = markdown.split("\n").filter((line) => line.startsWith("|"));
    expect(lines).toHaveLength(2 * PAYLOADS.length + 2);
    for (const line of lines) {
      expect(line.match(/(?<!\\)\|/g)).toHaveLength(4);
      expect(line).not.toMatch(/<|(?<!\\)[[\]`*_$]/);
    }
  });

  test("as rows of free Vega-Lite: links, texts, tooltips", async () => {
    for (const texts of groups) {
      const rows = {
        software_version: [...texts],
        n: texts.map((_, at) => at),
      };
      const drawn = chart.vegaLite(makeResult(rows), {
        layer: [
          { mark: "point", encoding: { href: { field: "software_version" } } },
          { mark: "text", encoding: { text: { field: "software_version" } } },
        ],
        encoding: {
          x: { field: "software_version", type: "nominal" },
          y: { field: "n", type: "quantitative" },
          tooltip: { field: "software_version" },
        },
      });
      inertSvg(await drawn.svg());
    }
  });

  test("links to web pages stay links, all others are left out", async () => {
    const links = ["https://example.org/a?b=1&c=2", "javascript:alert(1)", "file:///etc/passwd"];
    const drawn = chart.vegaLite(counts(links), {
      mark: "point",
      encoding: {
        x: { field: "n", type: "quantitative" },
        href: { field: "software_version" },
      },
    });
    const hrefs = inertSvg(await drawn.svg())
      .filter(({ name }) => name === "a")
      .map(({ attributes }) => attributes["xlink:href"]);
    expect(new Set(hrefs)).toEqual(new Set([links[0], undefined]));
  });
});

describe("names and texts around the data stay inert", () => {
  const usable = PAYLOADS.filter((text) => text.length < 1_000);

  test("as column names, titles, captions, labels of annotations, notes and SQL", async () => {
    for (const text of usable) {
      const result = counts(["a", "b"], `${text}#`);
      const told = result.with(result.table, {
        sql: `SELECT '${text}'`,
        parameters: { value: text, [text]: 1 },
        reductions: [text],
        notes: [`${text} noted`],
      });
      const drawn = chart.line(told, {
        title: text,
        subtitle: text,
        annotations: [chart.annotation("2026-02-05", text)],
      });
      // What a notebook's own Vega does with the spec.
      expect(() => parse(compile(drawn.spec as unknown as TopLevelSpec).spec)).not.toThrow();
      const elements = inertSvg(await drawn.svg());
      const origin = elements.find(({ name }) => name === "origin")?.text ?? "";
      const record = JSON.parse(origin) as { sql: string };
      if (!text.includes("hunter2")) {
        const legal = (sql: string): string => sql.replace(ILLEGAL, "\ufffd");
        expect(legal(record.sql)).toBe(legal(`SELECT '${text}'`));
      }
      expect(origin).not.toContain("hunter2");
      inertHtml(table(told, { caption: text }).html);
      inertHtml(resultHtml(told));
    }
  }, 300_000);
});
