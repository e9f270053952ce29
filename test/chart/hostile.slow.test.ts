import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chart, type Result, table } from "../../src/index.js";
import { inertHtml, inertSvg } from "./support/inert.js";
import { PAYLOADS } from "./support/payloads.js";
import { makeResult } from "./support/sample-results.js";

const WEEKS = ["2026-02-02", "2026-02-09"].map((day) => new Date(`${day}T00:00:00Z`));

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
