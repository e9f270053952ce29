import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareResults, contentKey, isSame } from "../../src/result/compare-results.js";
import type { Value } from "../../src/result/result.js";
import { makeResult } from "../chart/support/sample-results.js";

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
      z: ["a", "b", "b", null],
    });
    expect(compareResults(odd, odd)).toEqual({
      keys: [],
      rows: 4,
      changed: [],
      gone: [],
      come: [],
      columns: [],
    });
  });

  test("numbers that differ by the order in which fractions were added up are the same", () => {
    const [one, other] = [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1];
    expect(one).not.toBe(other);
    const compared = compareResults(
      makeResult({ name: ["a", "b"], x: [one, 1_000_000] }),
      makeResult({ name: ["a", "b"], x: [other, 1_000_000.1] }),
    );
    expect(compared.changed).toEqual([
      { row: ["b"], column: "x", before: 1_000_000, now: 1_000_000.1 },
    ]);
  });

  test("without dimensions texts and times name the rows, in whatever order they come", () => {
    const days = [new Date(0), new Date(0), new Date(86_400_000)];
    const compared = compareResults(
      makeResult({ cc: ["CH", "PH", "CH"], day: days, n: [1, 2, 3] }),
      makeResult({ cc: ["CH", "PH", "CH"], day: [days[2], days[0], days[1]], n: [3, 2, 7] }),
    );
    expect(compared).toEqual({
      keys: ["cc", "day"],
      rows: 3,
      changed: [{ row: ["CH", days[0]], column: "n", before: 1, now: 7 }],
      gone: [],
      come: [],
      columns: [],
    });
  });

  test("what the server says of a column goes before its values: an array is a text, a number never", () => {
    const meaning = {
      dimensions: [],
      measures: [],
      kinds: { tags: "text", asn: "number", n: "number" },
    } as const;
    const compared = compareResults(
      makeResult({ tags: [["a"], ["b"]], asn: [1, null], n: [1, 2] }, meaning),
      makeResult({ tags: [["b"], ["a"]], asn: [null, 1], n: [2, 5] }, meaning),
    );
    expect(compared.keys).toEqual(["tags"]);
    expect(compared.changed).toEqual([{ row: [["a"]], column: "n", before: 1, now: 5 }]);
  });

  test("an array of numbers names no row, whatever the server calls it", () => {
    const meaning = {
      dimensions: [],
      measures: [],
      kinds: { cc: "text", sums: "text" },
    } as const;
    const table = (last: number) =>
      makeResult({ cc: ["CH", "PH"], sums: [[0.5], new Float64Array([last])] }, meaning);
    expect(compareResults(table(0.1 + 0.2 + 0.3), table(0.3 + 0.2 + 0.1))).toMatchObject({
      keys: ["cc"],
      changed: [],
      gone: [],
    });
    expect(compareResults(table(1), table(2)).changed).toMatchObject([
      { row: ["PH"], column: "sums" },
    ]);
  });

  test("one row that nothing names is compared with one row", () => {
    const compared = compareResults(makeResult({ n: [1], m: [4] }), makeResult({ n: [2], m: [4] }));
    expect(compared).toMatchObject({
      keys: [],
      changed: [{ row: [], column: "n", before: 1, now: 2 }],
      gone: [],
      come: [],
    });
  });

  test("rows that nothing names are compared whole, and columns by their names", () => {
    const compared = compareResults(
      makeResult({ a: [1, 2, 2], b: [1, 1, 1] }),
      makeResult({ a: [2, 3, 1, 1], c: [0, 0, 0, 0] }),
    );
    expect(compared.changed).toEqual([]);
    expect(compared.gone).toEqual([[2]]);
    expect(new Set(compared.come)).toEqual(new Set([[3], [1]]));
    expect(compared.columns).toEqual(["b", "c"]);
  });

  test("of rows that nothing names it leaves what a plain search leaves, in whatever order they come", () => {
    const row = fc.record({
      n: fc.constantFrom(1, 2, 1e9, NaN, null),
      m: fc.constantFrom(0, 0.5, -3),
      text: fc.constantFrom("a", "b"),
      // A last digit that depends on the order in which the server adds up.
      off: fc.constantFrom(0, 1e-12),
    });
    const list = fc.array(row, { maxLength: 10 });
    const values = (each: { n: number | null; m: number; text: string; off: number }): Value[] => [
      each.n === null ? null : each.n * (1 + each.off),
      each.m * (1 - each.off),
      each.text,
    ];
    const table = (rows: Value[][]) =>
      makeResult({
        n: rows.map(([n]) => n),
        m: rows.map(([, m]) => m),
        text: rows.map(([, , text]) => text),
      });
    const equal = (one: Value[], other: Value[]): boolean =>
      one.every((value, at) => {
        const against = other[at];
        return typeof value === "number" && typeof against === "number" && !Number.isNaN(value)
          ? close(value, against)
          : Object.is(value, against);
      });
    fc.assert(
      fc.property(list, list, (first, second) => {
        const [before, now] = [first.map(values), second.map(values)];
        const found = compareResults(table(before), table(now));
        if (found.keys.length > 0 || (before.length <= 1 && now.length <= 1)) return;
        const left = [...now];
        const gone = before.filter((each) => {
          const at = left.findIndex((other) => equal(each, other));
          if (at >= 0) left.splice(at, 1);
          return at < 0;
        });
        expect([found.gone.length, found.come.length]).toEqual([gone.length, left.length]);
        for (const each of found.gone)
          expect(gone.some((other) => equal([...each], other))).toBe(true);
        for (const each of found.come)
          expect(left.some((other) => equal([...each], other))).toBe(true);
      }),
      { numRuns: 500, seed: 11 },
    );
  });
});

describe("isSame(one, other)", () => {
  test.each<[Value, Value]>([
    [new Uint8Array([1, 2]), [1, 2]],
    [[1, 2], new Float64Array([1, 2 + 1e-12])],
    [new BigInt64Array([1n, 2n ** 60n]), [1n, 2n ** 60n]],
    [
      [[new Uint8Array([7])], "a", null],
      [[[7]], "a", undefined],
    ],
    [
      new Map<string, Value>([
        ["b", 1],
        ["a", [2]],
      ]),
      { a: [2], b: 1 },
    ],
    [
      { a: 1, b: new Date(5) },
      { b: new Date(5), a: 1 },
    ],
    [5n, 5],
    [0, -0],
    [NaN, NaN],
    [null, new Date(NaN)],
  ])("finds the same content in %o and %o", (one, other) => {
    expect(isSame(one, other)).toBe(true);
    expect(isSame(other, one)).toBe(true);
    expect(contentKey([one]) === contentKey([other])).toBe(!isNearly(one));
  });

  test.each<[Value, Value]>([
    [new Uint8Array([1, 2]), [1, 3]],
    [
      [1, 2],
      [1, 2, 3],
    ],
    [[], {}],
    [["1"], [1]],
    [{ a: 1 }, { b: 1 }],
    [{ 0: 1 }, [1]],
    [new Map([[1, 2]]), new Map([[1, 3]])],
    [2n ** 60n, 2n ** 60n + 1n],
    [Infinity, 5],
    [Infinity, -Infinity],
    [new Date(0), 0],
    [new Date(0), new Date(1)],
    [null, 0],
    ["", null],
    [true, 1],
  ])("tells %o from %o", (one, other) => {
    expect(isSame(one, other)).toBe(false);
    expect(isSame(other, one)).toBe(false);
    expect(contentKey([one])).not.toBe(contentKey([other]));
  });
});

/** The second pair above: within the tolerance, but not exactly the same. */
function isNearly(one: Value): boolean {
  return Array.isArray(one) && one.length === 2 && one[1] === 2;
}

function close(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other;
  // 5 is within a billionth of Infinity, and yet another number.
  if (one === other || !Number.isFinite(one) || !Number.isFinite(other)) return one === other;
  return Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other));
}
