import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { subtitle } from "./support/layers.js";
import { makeResult } from "./support/sample-results.js";

const week = (index: number): Date => new Date(Date.UTC(2026, 8, 7 + 7 * index));

/** `SELECT week t, probe_cc c, count() n … WHERE probe_cc IN ('IT', 'US')`. */
const countries = makeResult({
  t: [0, 0, 1, 1, 2].map(week),
  c: ["IT", "US", "IT", "US", "IT"],
  n: [5, 50, 6, 60, 7],
});
describe("rows of free SQL in the same place", () => {
  test("bars and areas of them are refused, with what to change", () => {
    expect(() => chart.bar(countries, { color: null })).toThrow(
      `Can't draw bars of "n": 4 rows share a place (the same "t", first at 2026-09-07T00:00:00Z) and would hide each other; aggregate in SQL, one row for each "t", or pass the column that tells them apart as color.`,
    );
    expect(() => chart.area(countries, { color: null })).toThrow(
      /^Can't draw an area of "n": 4 rows share/,
    );
    expect(chart.bar(countries).data.rows).toHaveLength(5);
  });

  test("lines say so, points where they hide each other", () => {
    expect(subtitle(chart.line(countries, { color: null }))).toContain(
      "4 rows share a place: the line runs through several values of n at the same t.",
    );
    expect(subtitle(chart.dot(countries, { color: null }))).not.toContain("share");
    const hidden = makeResult({ x: [1, 1, 1, 2], y: [3, 3, 4, 3] });
    expect(subtitle(chart.dot(hidden))).toContain(
      "2 rows share a place: points that hide each other.",
    );
  });

  test("lines count the rows that share x and series", () => {
    const row = fc.record({
      t: fc.option(fc.integer({ min: 0, max: 4 })),
      c: fc.constantFrom("IT", "US", null),
      n: fc.option(fc.integer({ min: 0, max: 9 })),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        const given = makeResult({
          t: [week(9), ...rows.map(({ t }) => (t === null ? null : week(t)))],
          c: ["IT", ...rows.map(({ c }) => c)],
          n: [1, ...rows.map(({ n }) => n)],
        });
        const drawn = rows.filter(({ t, n }) => t !== null && n !== null);
        const shared = drawn.filter(
          (one) => drawn.filter(({ t, c }) => t === one.t && c === one.c).length > 1,
        ).length;
        const said = /([\d,]+) rows share/.exec(
          subtitle(chart.line(given, { x: "t", y: "n", color: "c" })),
        );
        expect(Number(said?.[1] ?? 0)).toBe(shared);
      }),
      { numRuns: 200, seed: 23 },
    );
  });
});
