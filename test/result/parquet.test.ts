import fc from "fast-check";
import { parquetMetadata } from "hyparquet";
import { describe, expect, test } from "vitest";
import { ProbelabError, type Value } from "../../src/index.js";
import { readParquet, readParquetMetadata } from "../../src/result/parquet-read.js";
import { parquet } from "../../src/result/parquet-write.js";

const anyDate = fc.date({ noInvalidDate: true });
const anyText = fc.string({ unit: "binary", maxLength: 12 });
const withSurrogates = fc
  .array(fc.integer({ min: 0xd7fe, max: 0xe002 }), { maxLength: 4 })
  .map((units) => String.fromCharCode(...units));
const anyNumber = fc.oneof(
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 2 ** 63, 5e-324),
);
const anyObject = fc
  .oneof(
    fc.dictionary(
      fc.oneof(anyText, fc.constantFrom("$date", "$map", "$object", "__proto__")),
      fc.anything(),
    ),
    fc.array(fc.anything()),
  )
  .filter(isData);

/** What Value's `object` means here: plain objects, arrays, dates, maps; nulls inside, not undefined. */
function isData(value: unknown): boolean {
  if (value === undefined || typeof value === "symbol" || typeof value === "function") return false;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (typeof value !== "object" || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return false;
  if (Array.isArray(value)) return !Object.keys(value).some((key) => !isData(value[Number(key)]));
  return prototype === Object.prototype && Object.values(value).every(isData);
}

/** A column of one kind with gaps, or of any. */
const column: fc.Arbitrary<fc.Arbitrary<Value>> = fc.constantFrom<fc.Arbitrary<Value>>(
  anyDate,
  anyNumber,
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }),
  fc.boolean(),
  anyText,
  withSurrogates,
  anyObject,
  fc.constant(null),
  fc.oneof(anyDate, anyNumber, fc.bigInt(), fc.boolean(), anyText, anyObject),
);
const anyTable = fc
  .array(
    fc.tuple(
      fc.oneof(anyText, withSurrogates, fc.constantFrom("", "t", "a.b", "__proto__", "\uFEFFt")),
      column,
    ),
    {
      maxLength: 6,
    },
  )
  .chain((columns) =>
    fc.record({
      names: fc.constant(columns.map(([name]) => name)),
      rows: fc.array(fc.tuple(...columns.map(([, values]) => fc.option(values, { freq: 4 }))), {
        maxLength: 40,
      }),
    }),
  );

describe("readParquet(parquet(names, rows))", () => {
  test("gives the same names and values", async () => {
    await fc.assert(
      fc.asyncProperty(anyTable, async ({ names, rows }) => {
        expect(await readParquet(parquet(names, rows))).toStrictEqual({
          names,
          rows: rows.map((row) => [...row]),
          metadata: {},
        });
      }),
      { numRuns: 400, seed: 1 },
    );
  });

  test.each<[string, Value[]]>([
    ["times", [new Date(0), new Date(-1), new Date(8.64e15), new Date(-8.64e15)]],
    ["whole numbers", [0, 1, -1, 2 ** 53 - 1, -(2 ** 53) + 1]],
    ["fractions", [0.1, 5e-324, 1.7976931348623157e308, 2 ** 53, 1e300]],
    ["NaN and infinities", [NaN, Infinity, -Infinity]],
    ["-0 beside 0, often", Array.from({ length: 2000 }, (_, row) => (row % 2 === 0 ? -0 : 0))],
    ["signed bigints", [0n, -(2n ** 63n), 2n ** 63n - 1n]],
    ["unsigned bigints", [0n, 2n ** 64n - 1n]],
    ["bigints beyond 64 bits", [2n ** 64n, -1n]],
    ["text", ["", "é", "\0", "\uFEFFbom", "😀", "العربية", "x".repeat(100_000)]],
    ["lone surrogates", ["\uD800", "a\uDC00b"]],
    ["objects", [{}, { a: [1, null, { b: new Date(0) }] }, [], [NaN, -0, 1n]]],
    ["objects like tags", [{ $date: "x" }, { $object: { $object: 1 } }, { $date: 1, a: 2 }]],
    ["maps", [new Map<string, Value>([["a", 1n]])]],
    ["several kinds", [1, "1", 1n, true, new Date(1), { a: 1 }]],
    ["no value", [null, null]],
  ])("%s", async (_, values) => {
    const rows = values.map((value) => [value]);
    expect((await readParquet(parquet(["x"], rows))).rows).toStrictEqual(rows);
  });

  test("null stands for undefined, for invalid dates and for the cells of short rows", async () => {
    const rows = [[undefined, new Date(NaN)], [1, new Date(0)], [2]];
    expect((await readParquet(parquet(["a", "b"], rows))).rows).toStrictEqual([
      [null, null],
      [1, new Date(0)],
      [2, null],
    ]);
  });

  test("keeps names that occur twice, are empty, or no Unicode", async () => {
    const names = ["t", "t", "t (2)", "", "column", "\uD800", "\uFEFFt", "a.b", "__proto__"];
    const content = await readParquet(parquet(names, [names.map((_, index) => index)]));
    expect(content.names).toStrictEqual(names);
    expect(content.rows).toStrictEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8]]);
  });

  test("keeps rows without columns and columns without rows", async () => {
    expect(await readParquet(parquet([], [[], []]))).toMatchObject({ names: [], rows: [[], []] });
    expect(await readParquet(parquet(["a", "b"], []))).toMatchObject({
      names: ["a", "b"],
      rows: [],
    });
  });

  test("keeps rows beyond a row group in their order", async () => {
    const rows = Array.from({ length: 250_001 }, (_, row) => [row, `v${row % 7}`]);
    const read = await readParquet(parquet(["n", "v"], rows));
    expect(read.rows).toHaveLength(rows.length);
    expect(read.rows.every(([n, v], row) => n === row && v === `v${row % 7}`)).toBe(true);
  });

  test("keeps the metadata, which readParquetMetadata reads alone", async () => {
    const metadata = { "probelab.origin": '{"sql":"SELECT \'é\'"}', empty: "" };
    const bytes = parquet(["a"], [[1]], metadata);
    expect((await readParquet(bytes)).metadata).toStrictEqual(metadata);
    expect(readParquetMetadata(bytes)).toMatchObject(metadata);
  });
});

describe("parquet(names, rows)", () => {
  test("same rows, same bytes", () => {
    const rows = [[new Date(5), 1.5, "a", { b: 1 }, null]];
    const make = (): Buffer => parquet(["t", "x", "s", "o", "n"], rows, { a: "b" });
    expect(make().equals(make())).toBe(true);
  });

  test("gives each kind Parquet's own type", () => {
    const row = [new Date(0), 1, 1.5, 1n, 2n ** 63n, 2n ** 64n, true, "a", [1], null];
    const { schema } = parquetMetadata(parquet([..."abcdefghij"], [row]));
    expect(schema.slice(1).map((column) => [column.type, column.converted_type])).toEqual([
      ["INT64", "TIMESTAMP_MILLIS"],
      ["INT64", undefined],
      ["DOUBLE", undefined],
      ["INT64", undefined],
      ["INT64", "UINT_64"],
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

describe("readParquet(bytes) of what isn't whole", () => {
  const whole = parquet(
    ["t", "version", "runs"],
    Array.from({ length: 300 }, (_, row) => [new Date(row * 1e6), `3.${row % 9}`, row / 7]),
    { note: "a" },
  );

  test.each<[string, Uint8Array, RegExp]>([
    ["nothing", new Uint8Array(), /doesn't begin with PAR1/],
    ["another file", Buffer.from("t,runs\r\n1,2\r\n"), /doesn't begin with PAR1/],
    ["only the magic", Buffer.from("PAR1PAR1"), /cut short/],
    ["a footer longer than the file", Buffer.from("PAR1\xff\xff\xff\x7fPAR1", "latin1"), /damaged/],
  ])("%s is refused", async (_, bytes, message) => {
    await expect(readParquet(bytes)).rejects.toThrow(message);
    expect(() => readParquetMetadata(bytes)).toThrow(ProbelabError);
  });

  test("cut short anywhere", async () => {
    for (let length = 0; length < whole.length; length += 97) {
      await expect(readParquet(whole.subarray(0, length))).rejects.toThrow(ProbelabError);
    }
  });

  test("a changed byte of the data is found, one of the footer never crashes", async () => {
    const before = await readParquet(whole);
    const footer = whole.length - 8 - whole.readUInt32LE(whole.length - 8);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const bytes = Buffer.from(whole);
          bytes[at] = (bytes[at] ?? 0) ^ flip;
          const outcome = await readParquet(bytes).catch((error: unknown) => error);
          if (at < footer) expect(outcome).toBeInstanceOf(ProbelabError);
          else if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ProbelabError);
          else expect((outcome as typeof before).rows).toHaveLength(before.rows.length);
        },
      ),
      { numRuns: 1500, seed: 2 },
    );
  });
});
