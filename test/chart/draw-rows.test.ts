import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawRows } from "../../src/chart/draw-rows.js";
import { LINE } from "../../src/chart/line.js";
import { label } from "../../src/render/label.js";
import { Result, type Value } from "../../src/index.js";
import { makeResult } from "./support/sample-results.js";

const row = fc.record({
  t: fc.integer({ min: 0, max: 3 }),
  a: fc.constantFrom("x", "y", "other", null),
  b: fc.constantFrom("1", "2", "other"),
  n: fc.option(fc.integer({ min: 0, max: 100 })),
});
type Row = { t: number; a: string | null; b: string; n: number | null };

function result(rows: readonly Row[]) {
  const day = (t: number): Date => new Date(Date.UTC(2026, 1, 2 + t));
  const { table, origin } = makeResult(
    {
      t: rows.map(({ t }) => day(t)),
      a: rows.map(({ a }) => a),
      b: rows.map(({ b }) => b),
      n: rows.map(({ n }) => n),
    },
    {
      time: { name: "t", every: "day", incomplete: [] },
      dimensions: [
        { name: "a", order: ["y", "x", null, "other"], other: "other" },
        { name: "b", order: ["2", "1", "other"], other: "other" },
      ],
      measures: [{ name: "n", label: "N", unit: "runs", additive: true, missing: "zero" }],
    },
  );
  // Without a range nobody knows of buckets that have no row; else they would be drawn, as zero.
  const { range, ...rest } = origin;
  return new Result(table, rest);
}

/** Sums by time and series, null where no row of them has a number. */
function sums(rows: readonly Row[], key: (row: Row) => string): Map<string, number | null> {
  const found = new Map<string, number | null>();
  for (const row of rows) {
    const place = `${Date.UTC(2026, 1, 2 + row.t)} ${key(row)}`;
    const before = found.get(place) ?? null;
    found.set(place, row.n === null ? before : (before ?? 0) + row.n);
  }
  return found;
}

function drawn(rows: readonly Row[], color: string | null): Map<string, number | null> {
  const { points, series } = drawRows(result(rows), LINE, { color });
  const name = (value: Value): string => (color === null ? "" : label(value));
  return new Map(points.map(({ x, y, series: at }) => [`${x} ${name(series[at]?.value)}`, y]));
}

describe("rows of dimensions that a chart doesn't show are added up", () => {
  const rows = fc.uniqueArray(row, { selector: ({ t, a, b }) => `${t} ${a} ${b}` });

  test("over one of two dimensions", () => {
    fc.assert(
      fc.property(rows, (given) => {
        expect(drawn(given, "a")).toEqual(sums(given, ({ a }) => label(a)));
      }),
      { numRuns: 250, seed: 8 },
    );
  });

  test("over both", () => {
    fc.assert(
      fc.property(rows, (given) => {
        expect(drawn(given, null)).toEqual(sums(given, () => ""));
      }),
      { numRuns: 250, seed: 9 },
    );
  });

  test("two shown dimensions keep every row, in the order of both, other last", () => {
    fc.assert(
      fc.property(rows, (given) => {
        const { points, series } = drawRows(result(given), LINE, {});
        expect(points).toHaveLength(given.length);
        const order = ["y", "x", null, "other"].flatMap((a) =>
          ["2", "1", "other"].map((b) => [a, b] as const),
        );
        const expected = order
          .filter(([a, b]) => given.some((row) => row.a === a && row.b === b))
          .map(([a, b]) => (a === "other" && b === "other" ? "other" : `${a ?? "(none)"} · ${b}`));
        expect(series.map(({ label }) => label)).toEqual(expected);
      }),
      { numRuns: 250, seed: 10 },
    );
  });
});
