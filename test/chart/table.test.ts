import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Result, table } from "../../src/index.js";
import { resultHtml } from "../../src/chart/table.js";
import { PAYLOADS } from "./support/payloads.js";
import { makeResult, versionSummary, VERSIONS, weeklyCounts } from "./support/sample-results.js";
import { xmlElements, type Element } from "./support/xml-tree.js";

const HTML = new Set("root table caption thead tbody tr th td p small br span".split(" "));

/** The elements of an HTML fragment, which holds nothing that runs or loads. */
function inertHtml(html: string): Element[] {
  const elements = xmlElements(`<root>${html}</root>`);
  expect(elements.map(({ name }) => name).filter((name) => !HTML.has(name))).toEqual([]);
  for (const { attributes } of elements) {
    for (const [attribute, value] of Object.entries(attributes)) {
      expect(value).not.toContain("url(");
      expect(attribute).not.toMatch(/^(on|srcdoc|formaction|action|background)/i);
      if (attribute.toLowerCase() === "style") expect(value).toBe("text-align:left");
      expect(attribute).not.toMatch(/^(xlink:)?href$|^src$/);
    }
  }
  return elements;
}

/** The texts of a column's cells. */
function cells(result: Result, name: string): string[] {
  const { rows } = table(result, { columns: [name] }).model;
  return rows.map(([cell]) => cell ?? "");
}

describe("table(result)", () => {
  test("has a caption, headers with scope, numbers as text", () => {
    const elements = inertHtml(table(versionSummary(), { caption: "Runs by version" }).html);
    const texts = (name: string): string[] =>
      elements.filter((each) => each.name === name).map(({ text }) => text);
    expect(texts("caption")).toEqual(["Runs by version"]);
    const heads = elements.filter(({ name }) => name === "th");
    expect(
      heads.filter(({ attributes }) => attributes.scope === "col").map(({ text }) => text),
    ).toEqual([
      "Version",
      "Runs",
      "Run duration, median (s)",
      "Seconds per measurement, median (s)",
      "Runs of a single measurement",
    ]);
    expect(
      heads.filter(({ attributes }) => attributes.scope === "row").map(({ text }) => text),
    ).toEqual(VERSIONS);
    expect(
      texts("td")
        .map((text) => text.trim())
        .slice(0, 4),
    ).toEqual(["8,208", "657", "6.36", "3.0\u00a0%"]);
  });

  test("text is left and may wrap, numbers are right on one line, with the axes' minus sign", () => {
    const changed = versionSummary().with((rows) =>
      rows.derive({ change: (d: { runs: number }) => 5 - d.runs }),
    );
    const { html } = table(changed);
    expect(html).toMatch(/<th scope="row" align="left" style="text-align:left">3\.8\.2</);
    expect(html).toMatch(/<td nowrap="nowrap" align="right">−[\d,]+</);
  });

  test("hostile texts are a cell each: no TeX that a notebook would typeset, no HTML, link or picture of Markdown", () => {
    const shown = table(makeResult({ text: [...PAYLOADS], n: PAYLOADS.map((_, at) => at) }), {
      limit: 4_000,
    });
    const elements = inertHtml(shown.html);
    expect(elements.filter(({ name, text }) => name !== "span" && /[$\\]/.test(text))).toEqual([]);
    const lines = shown.markdown.split("\n").filter((line) => line.startsWith("|"));
    expect(lines).toHaveLength(PAYLOADS.length + 2);
    for (const line of lines) {
      expect(line.match(/(?<!\\)\|/g)).toHaveLength(3);
      expect(line).not.toMatch(/<|(?<!\\)[[\]`*_$]/);
    }
  });

  test("numbers that name something have no separators, amounts do", () => {
    const columns = { probe_asn: [198316], hour: [1200], year: [2026], _UID: [1000], n: [198316] };
    const row = (result: Parameters<typeof table>[0]) => table(result).markdown.split("\n")[4];
    const plain = makeResult(columns);
    expect(row(plain)).toBe("| AS198316 | 1,200 | 2026 | 1000 | 198,316 |");
    const declared = makeResult(columns, {
      dimensions: [{ name: "hour", order: ["1200"] }],
      measures: [{ name: "year", label: "Years", unit: "", additive: true, missing: "zero" }],
    });
    expect(row(declared)).toBe("| AS198316 | 1200 | 2,026 | 1000 | 198,316 |");
    expect(resultHtml(plain)).toContain("<caption>1 row, ");
  });

  test("every digit of a whole number is there, of bigint too", () => {
    const exact = [18446744073709551615n, -(2n ** 255n), 5n, 0n];
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })), (values) => {
        const all = [...exact, ...values];
        const texts = cells(makeResult({ n: all }), "n");
        expect(texts.map((text) => BigInt(text.replaceAll(",", "").replace("−", "-")))).toEqual(
          all,
        );
      }),
      { numRuns: 100, seed: 3 },
    );
    expect(cells(makeResult({ n: exact }), "n")[0]).toBe("18,446,744,073,709,551,615");
    expect(cells(makeResult({ user_id: exact }), "user_id")[0]).toBe("18446744073709551615");
  });

  test("what isn't zero never reads as zero, and stands within its bound", () => {
    const amounts = fc.array(fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1e-9)), {
      minLength: 1,
    });
    fc.assert(
      fc.property(amounts, fc.boolean(), (values, share) => {
        const measure = { label: "N", unit: "share", additive: false, missing: "gap" } as const;
        const result = makeResult(
          { n: values },
          { dimensions: [], measures: share ? [{ ...measure, name: "n" }] : [] },
        );
        for (const [at, text] of cells(result, "n").entries()) {
          const value = (values[at] ?? 0) * (share ? 100 : 1);
          const [, sign = "", digits = ""] = /^([<>]?)([^ ]+)/.exec(text) ?? [];
          const read =
            digits === "∞"
              ? Infinity
              : digits === "−∞"
                ? -Infinity
                : Number(digits.replaceAll(",", "").replace("−", "-"));
          if (sign === "<") expect(value > 0 && value < read).toBe(true);
          else if (sign === ">") expect(value < 0 && value > read).toBe(true);
          else expect(Math.sign(read)).toBe(Math.sign(value) + 0);
        }
      }),
      { numRuns: 500, seed: 4 },
    );
  });

  test.each([
    [{ columns: ["nope"] }, /no column "nope"/],
    [{ columns: [] }, /columns: \[\]: name those to show, such as "software_version", "runs"/],
    [{ limit: 5_000 }, /under 5,000/],
    [{ limit: -1 }, /under 5,000/],
  ])("%j is refused with an error that shows how", (options, message) => {
    expect(() => table(versionSummary(), options)).toThrow(message);
  });
});

describe("resultHtml(result)", () => {
  test("is the first 20 rows, the number of rows, the range and what was left out", () => {
    const html = resultHtml(weeklyCounts());
    expect(inertHtml(html).filter(({ name }) => name === "tr")).toHaveLength(21);
    expect(html).toContain("<caption>98 rows, 1 Feb–30 Apr 2026</caption>");
    expect(html).toContain("20 of 98 rows shown.");
    expect(html).toContain("other: 31 more");
  });
});

describe("table(result, { sort })", () => {
  test("numbers the largest first, the rest last; texts and versions upwards", () => {
    const runs = table(versionSummary(), { sort: "runs" }).data.rows.map((row) => Number(row[1]));
    expect(runs).toEqual(runs.toSorted((a, b) => b - a));
    const others = weeklyCounts().filter((row) => row["software_version"] === "other");
    expect(table(weeklyCounts(), { sort: "measurements" }).data.rows.slice(-14)).toEqual(
      table(others, { sort: "measurements" }).data.rows,
    );
    const versions = table(versionSummary(VERSIONS.toReversed()), { sort: "software_version" });
    expect(versions.data.rows.map(([version]) => version)).toEqual(VERSIONS);
    expect(() => table(versionSummary(), { sort: "run" })).toThrow(/no column "run"/);
  });
});
