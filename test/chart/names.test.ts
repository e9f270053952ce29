import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, table, type Chart } from "../../src/index.js";
import { fitNames } from "../../src/chart/render/label.js";
import { withRows } from "../../src/chart/render/page/shared-rows.js";
import type { VegaLiteSpec } from "../../src/chart/render/theme.js";
import { screensOf } from "../../src/chart/render/screens.js";
import { layOut } from "../../src/chart/render/svg.js";
import { textWidth } from "../../src/chart/render/fonts/shipped-font.js";
import { asked, counted } from "./support/sample-results.js";

/** Names that differ only at their ends, or only in the middle of 300 letters. */
const atTheEnd = [1, 2, 3].map(
  (n) => `probe-android-unattended-far-too-long-for-one-line-whatever-${n}`,
);
const inTheMiddle = [1, 2, 3].map((n) => `${"probe-".repeat(25)}${n}${"-android".repeat(20)}`);

const grid = (names: readonly string[], time = false) => {
  const rows = names.flatMap((a, i) =>
    names.map((b, j) => ({
      ...(time ? { t: new Date(Date.UTC(2026, 1, 2 + j)) } : { b }),
      ...{ a, n: 10 * i + j },
    })),
  );
  const by = { a: names, ...(!time && { b: names }) };
  return asked(rows, by, [counted("n", "Measurements")], time ? "day" : undefined);
};

/** Texts of a picture that are a name, or a part of one, each name's lines as one. */
function namesIn(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/gs)]
    .map(([, text = ""]) => text.replace(/<[^>]*>/g, ""))
    .filter((text) => text.startsWith("probe"));
}

describe.each([
  ["at the end", atTheEnd],
  ["in the middle", inTheMiddle],
])("names that differ only %s stay different", (_, names) => {
  const few = 2 * names.length;
  const drawn: readonly (readonly [string, () => Chart, number])[] = [
    ["in a legend", () => chart.line(grid(names, true)), 3],
    ["below bars", () => chart.bar(grid(names), { x: "a", color: null, horizontal: false }), 3],
    ["beside bars", () => chart.bar(grid(names), { x: "a", color: null, horizontal: true }), 3],
    ["on both axes of a heat map", () => chart.heatmap(grid(names)), few],
    ["above panels", () => chart.line(grid(names, true), { facet: "a" }), 3],
    ["in linked views", () => chart.explore(grid(names, true)), 3],
  ];
  test.each(drawn)("%s, in the file and on a screen of any width", async (_where, make, count) => {
    const made = make();
    const { rows, screens: found } = screensOf(await made.screenSpec());
    const screens = found.map(({ spec }) => withRows(spec, rows) as VegaLiteSpec);
    for (const spec of [made.spec, ...screens]) {
      const shown = namesIn(await layOut(spec));
      expect(shown).toHaveLength(count);
      expect(new Set(shown.slice(0, 3)).size).toBe(3);
      expect(new Set(shown.slice(-3)).size).toBe(3);
    }
  });
});

test("a legend of many long names is no wider than the picture", async () => {
  const names = Array.from({ length: 16 }, (_, at) => `${atTheEnd[0]!.repeat(2)}${at}`);
  const svg = await chart.line(grid(names, true), { width: 400 }).svg();
  const shown = namesIn(svg);
  expect(new Set(shown).size).toBe(16);
  expect(Math.max(...shown.map((text) => textWidth(text, 12)))).toBeLessThan(400);
});

test("a table cuts a long text in its middle", () => {
  const long = `${"a".repeat(600)}1`;
  const [[cell]] = table([{ name: long }]).model.rows as [[string]];
  expect(cell).toMatch(/^a+…a+1$/);
  expect(cell).toHaveLength(500);
});

test("fitNames(names, width, size) are no wider, but for a number, and all different", () => {
  const name = fc.string({ unit: fc.constantFrom(..."abWi-. 漢"), maxLength: 60 });
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 12 }),
      fc.integer({ min: 40, max: 200 }),
      (names, width) => {
        const cut = fitNames(names, width, 11);
        expect(new Set(cut).size).toBe(names.length);
        for (const [at, text] of cut.entries()) {
          const plain = text.replace(/ \(\d+\)$/, "");
          if (plain !== names[at]) expect(textWidth(plain, 11)).toBeLessThanOrEqual(width);
          if (textWidth(names[at]!, 11) <= width) expect(plain).toBe(names[at]);
        }
      },
    ),
    { numRuns: 200, seed: 3 },
  );
});
