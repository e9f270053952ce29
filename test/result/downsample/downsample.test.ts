import { dictionary, tableFromArrays, tableToIPC, utf8, type DataType } from "@uwdata/flechette";
import { escape, fromArrow, table, type ColumnTable } from "arquero";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { downsample, type DownsampleOptions } from "../../../src/index.js";
import { awkwardNumber } from "./awkward.js";
import { makeResult } from "../../chart/support/sample-results.js";

/** A table that is backed by Arrow columns, as answers from the database are. */
function arrowTable(columns: Record<string, unknown[]>): ColumnTable {
  return fromArrow(table(columns).toArrowIPC());
}

/** The rows of a table as texts, for comparing. */
function rowTexts(data: ColumnTable): string[] {
  return (data.objects() as Record<string, unknown>[]).map((row) =>
    Object.values(row)
      .map((value) => (value instanceof Date ? value.getTime() : String(value)))
      .join("|"),
  );
}

const xs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -2_000, max: 2_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
);
const names = fc.constantFrom<string | null>("a", "b", "Ω", "日本語", "🧪 'x'", "", null);

describe("downsample(table, options)", () => {
  test("gives rows of the input in its order, never more than asked for, always the same", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(xs, awkwardNumber(), names), { maxLength: 400, size: "max" }),
        fc.integer({ min: 40, max: 300 }),
        fc.integer({ min: 1, max: 60 }),
        fc.boolean(),
        fc.constantFrom("linear" as const, "log" as const),
        (points, maxRows, width, grouped, type) => {
          const data = table({
            row: points.map((_, row) => row),
            x: points.map(([x]) => x),
            y: points.map(([, y]) => y),
            name: points.map(([, , name]) => name),
          });
          const options: DownsampleOptions = {
            x: "x",
            y: { value: "y", type },
            maxRows,
            width,
            ...(grouped && { series: "name" }),
          };
          const small = downsample(data, options);
          const rows = small.array("row") as number[];
          expect(rows.length).toBeLessThanOrEqual(Math.min(maxRows, points.length));
          if (points.length <= maxRows) expect(small).toBe(data);
          rows.forEach((row, i) => expect(row).toBeGreaterThan(i === 0 ? -1 : rows[i - 1]!));
          const all = rowTexts(data);
          expect(rowTexts(small)).toEqual(rows.map((row) => all[row]));
          expect(downsample(data, options).array("row")).toEqual(rows);
          if (points.length > maxRows) {
            expectExtremes(points, rows, grouped, type);
          }
        },
      ),
      { numRuns: 120, seed: 5 },
    );
  });

  test.each([4_999, 5_000, 12_345])("gives fewer than 5,000 of %i rows", (length) => {
    const data = table({
      t: Array.from({ length }, (_, i) => new Date(Date.UTC(1969, 11, 20) + i * 60_000)),
      y: Array.from({ length }, (_, i) => Math.sin(i * 7) * i),
    });
    const small = downsample(data, { x: "t", y: "y", width: 4_000 });
    expect(small.numRows()).toBeLessThanOrEqual(4_999);
    expect(small.numRows()).toBeGreaterThan(length === 4_999 ? 4_998 : 2_000);
    expect(small.get("t", 0)).toBeInstanceOf(Date);
  });
});

function expectExtremes(
  points: readonly (readonly [number, number, string | null])[],
  rows: readonly number[],
  grouped: boolean,
  type: "linear" | "log",
): void {
  const drawn = ([x, y]: readonly [number, number, string | null]): boolean =>
    Number.isFinite(x) && Number.isFinite(y) && (type === "linear" || y > 0);
  const keys = grouped ? [...new Set(points.map(([, , name]) => name))] : [undefined];
  for (const key of keys) {
    const mine = ([, , name]: (typeof points)[number]): boolean =>
      key === undefined || name === key;
    const before = points.filter((point) => mine(point) && drawn(point)).map(([, y]) => y);
    const after = rows.map((row) => points[row]!).filter((point) => mine(point) && drawn(point));
    if (before.length === 0) continue;
    expect(Math.max(...after.map(([, y]) => y))).toBe(Math.max(...before));
    expect(Math.min(...after.map(([, y]) => y))).toBe(Math.min(...before));
  }
}

describe("downsample(data, options)", () => {
  const long = (length: number): number[] => Array.from({ length }, (_, i) => i);

  test("sees filters and orders of the table", () => {
    const data = table({ x: long(30_000), y: long(30_000).map((i) => i % 100) });
    const some = data.filter(escape((row: { x: number }) => row.x >= 10_000)).orderby("y", "x");
    const small = downsample(some, { x: "x", y: "y", width: 200 });
    const kept = small.array("x") as number[];
    expect(Math.min(...kept)).toBe(10_000);
    expect(Math.max(...kept)).toBe(29_999);
    expect(small.isFiltered() || small.isOrdered()).toBe(false);
  });

  test("reads Arrow columns, their times and their nulls", () => {
    const length = 9_000;
    const data = arrowTable({
      t: long(length).map((i) => new Date(1.7e12 + i * 1_000)),
      y: long(length).map((i) => (i > 3_000 && i < 6_000 ? null : Math.sin(i))),
    });
    const small = downsample(data, { x: "t", y: "y", width: 300 });
    const y = small.array("y") as (number | null)[];
    expect(y.filter((value) => value === null).length).toBeGreaterThan(0);
    expect(small.get("t", 0)).toEqual(new Date(1.7e12));
  });

  test("finds the same series in an array, a dictionary and texts of Arrow", () => {
    const names = long(9_000).map((i) =>
      i % 97 === 0 ? null : i % 89 === 0 ? "" : `é${(i * 7919) % 300}${"x".repeat(i % 3)}`,
    );
    const y = long(9_000).map((i) => Math.sin(i));
    const rows = (data: ColumnTable) =>
      downsample(data, { x: "x", y: "y", series: "s", width: 300 }).objects();
    const arrow = (s: DataType) =>
      fromArrow(
        tableToIPC(tableFromArrays({ x: long(9_000), y, s: names }, { types: { s } }), {})!,
      );
    const plain = rows(table({ x: long(9_000), y, s: names }));
    expect(rows(arrow(utf8()))).toEqual(plain);
    expect(rows(arrow(dictionary(utf8())))).toEqual(plain);
  });

  test("keeps a row in each gap that is a pixel wide", () => {
    const y = long(50_000).map((i) => (i % 5_000 < 500 && i > 500 ? null : Math.sin(i / 90)));
    const small = downsample(table({ x: long(50_000), y }), { x: "x", y: "y", width: 500 });
    const rows = small.objects() as { x: number; y: number | null }[];
    const gaps = rows.filter((row) => row.y === null).map((row) => Math.floor(row.x / 5_000));
    expect(new Set(gaps)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });

  test("writes what it did into a Result's origin", () => {
    const result = makeResult({ x: long(10_000), y: long(10_000).map((i) => i % 10) });
    const small = downsample(result, { x: "x", y: "y", width: 400 });
    expect(small.origin.reductions).toEqual([
      `${small.numRows().toLocaleString("en-US")} of 10,000 rows; the same picture.`,
    ]);
  });

  test.each<[Partial<DownsampleOptions>, RegExp]>([
    [
      { maxRows: 5_000 },
      /Can't downsample with maxRows: 5000; pass a whole number from 1 to 4,999/,
    ],
    [{ width: 0 }, /Can't downsample with width: 0/],
    [{ x: "nope" }, /Can't find the column "nope": the table has x, y, s/],
    [{ y: "s" }, /Can't read "text" in the column "s" as a number/],
    [{ series: "nope" }, /Can't find the series column "nope"/],
  ])("refuses %o", (options, message) => {
    const data = table({ x: long(6_000), y: long(6_000), s: long(6_000).map(() => "text") });
    expect(() => downsample(data, { x: "x", y: "y", ...options })).toThrow(message);
  });
});
