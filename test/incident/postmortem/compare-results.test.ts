import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareResults } from "../../../src/incident/postmortem/verify/compare-results.js";
import type { Value } from "../../../src/result/result.js";
import { makeResult } from "../../chart/support/sample-results.js";

type Row = { t: number; version: string; n: number | null };

function result(rows: readonly Row[], named = true) {
  return makeResult(
    {
      t: rows.map(({ t }) => new Date(t * 86_400_000)),
      version: rows.map(({ version }) => version),
      n: rows.map(({ n }) => n),
    },
    named
      ? {
          time: { name: "t", every: "day", incomplete: [] },
          dimensions: [{ name: "version", order: [] }],
          measures: [{ name: "n", label: "N", unit: "", additive: true, missing: "zero" }],
        }
      : undefined,
  );
}

const rows = fc.uniqueArray(
  fc.record({
    t: fc.integer({ min: 0, max: 4 }),
    version: fc.constantFrom("a", "b", "a,b", '"'),
    n: fc.option(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.double({ noNaN: true }))),
  }),
  { selector: ({ t, version }) => `${t}/${version}`, maxLength: 12 },
);

describe("compareResults(before, now)", () => {
  test("finds what a plain search finds, in whatever order the rows come", () => {
    fc.assert(
      fc.property(rows, rows, fc.boolean(), (before, now, reverse) => {
        const found = compareResults(result(before), result(reverse ? [...now].reverse() : now));
        const match = (one: Row) => (other: Row) =>
          one.t === other.t && one.version === other.version;
        const key = ({ t, version }: Row): Value[] => [new Date(t * 86_400_000), version];
        expect(found.gone).toEqual(before.filter((row) => !now.some(match(row))).map(key));
        expect(new Set(found.come)).toEqual(
          new Set(now.filter((row) => !before.some(match(row))).map(key)),
        );
        const changes = before.flatMap((row) => {
          const other = now.find(match(row));
          return other === undefined || close(row.n, other.n)
            ? []
            : [{ row: key(row), column: "n", before: row.n, now: other.n }];
        });
        expect(found.changed).toEqual(changes);
      }),
      { numRuns: 300, seed: 6 },
    );
  });

  test("an answer is the same as itself, also with NaN, bigint, dates and nothing", () => {
    const odd = makeResult({
      x: [NaN, 1, null, 3],
      y: [2n ** 70n, 1n, null, 0n],
      z: ["a", "b", "", null],
    });
    expect(compareResults(odd, odd)).toMatchObject({
      changed: [],
      gone: [],
      come: [],
      columns: [],
      keys: [],
    });
  });

  test("numbers that differ by the order in which fractions were added up are the same", () => {
    const [one, other] = [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1];
    expect(one).not.toBe(other);
    const compared = compareResults(
      makeResult({ x: [one, 1_000_000] }),
      makeResult({ x: [other, 1_000_000.1] }),
    );
    expect(compared.changed).toEqual([
      { row: [2], column: "x", before: 1_000_000, now: 1_000_000.1 },
    ]);
  });

  test("rows without names are compared by their place, and columns by their names", () => {
    const compared = compareResults(
      makeResult({ a: [1, 2], b: [1, 1] }),
      makeResult({ a: [1, 3, 4], c: [0, 0, 0] }),
    );
    expect(compared.changed).toEqual([{ row: [2], column: "a", before: 2, now: 3 }]);
    expect(compared.come).toEqual([[3]]);
    expect(compared.columns).toEqual(["b", "c"]);
  });
});

function close(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other;
  return one === other || Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));
}
