import fc from "fast-check";
import { parquetMetadata } from "hyparquet";
import { describe, expect, test } from "vitest";
import type { Value } from "../../src/index.js";
import { parquet } from "../../src/result/parquet.js";
import { readParquet } from "../support/read-parquet.js";

const KINDS: readonly fc.Arbitrary<Value>[] = [
  fc.date({ noInvalidDate: true }),
  fc.oneof(fc.double(), fc.constantFrom(0, -0, NaN, Infinity, 5e-324, 2 ** 53)),
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 63n - 1n }),
  fc.boolean(),
  fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !/^[[{]/.test(text)),
  fc.constantFrom({}, { a: [1, null, { b: new Date(0) }] }, [NaN, 1n], new Map([["a", 1]])),
];

test("any reader finds the values that were written, in their order", async () => {
  const columns = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 6 });
  const table = columns.chain((kinds) =>
    fc.array(fc.tuple(...kinds.map((kind) => fc.option(kind, { freq: 4 }))), { maxLength: 40 }),
  );
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const names = (rows[0] ?? []).map((_, at) => `c${at}`);
      const read = await readParquet(parquet(names, rows, { note: "é" }));
      expect(read).toMatchObject({ names, metadata: { note: "é" } });
      expect(read.rows).toStrictEqual(rows.map((row) => [...row]));
    }),
    { numRuns: 200, seed: 1 },
  );
  const long = Array.from({ length: 120_001 }, (_, row) => [row, `v${row % 7}`]);
  expect((await readParquet(parquet(["n", "v"], long))).rows).toEqual(long);
});

test("null stands for undefined, for invalid dates and for the cells of short rows", async () => {
  const rows = [[undefined, new Date(NaN)], [1, new Date(0)], [2]];
  expect((await readParquet(parquet(["a", "b"], rows))).rows).toStrictEqual([
    [null, null],
    [1, new Date(0)],
    [2, null],
  ]);
});

test("names that occur twice, are empty, or no Unicode become others", async () => {
  const names = ["t", "t", "t (2)", "", "column", "\uD800", "\uFEFFt"];
  const { names: stored } = await readParquet(parquet(names, [names.map(() => 1)]));
  expect(stored).toEqual(["t", "t (2)", "t (2) (2)", "column", "column (2)", "\uFFFD", "t (3)"]);
});

describe("parquet(names, rows)", () => {
  test("same rows, same bytes", () => {
    const rows = [[new Date(5), 1.5, "a", { b: 1 }, null]];
    const make = (): Buffer => parquet(["t", "x", "s", "o", "n"], rows, { a: "b" });
    expect(make().equals(make())).toBe(true);
  });

  test("gives each kind Parquet's own type", () => {
    const row = [new Date(0), 1, 1.5, 1n, 2n ** 63n, true, "a", [1], null];
    const { schema } = parquetMetadata(parquet([..."abcdefghi"], [row]));
    expect(schema.slice(1).map((column) => [column.type, column.converted_type])).toEqual([
      ["INT64", "TIMESTAMP_MILLIS"],
      ["INT64", undefined],
      ["DOUBLE", undefined],
      ["INT64", undefined],
      ["BYTE_ARRAY", "UTF8"],
      ["BOOLEAN", undefined],
      ["BYTE_ARRAY", "UTF8"],
      ["BYTE_ARRAY", "UTF8"],
      ["BYTE_ARRAY", "UTF8"],
    ]);
  });

  test("an object that contains itself is refused with the column's name", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => parquet(["where"], [[loop]])).toThrow(/Can't write the column "where" as Parquet/);
  });
});
