import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Writer } from "../../../src/database/writer.js";
import { sortIntoCells } from "../../../src/downsample/points/cells.js";
import { binsSql } from "../../../src/downsample/sql/bins-sql.js";
import { temporaryWriter } from "../../sample/temporary-writer.js";

const START = Date.UTC(2026, 4, 1);
const points = fc.sample(
  fc.tuple(fc.integer({ min: 0, max: 9_999 }), fc.double({ min: -3, max: 8, noNaN: true })),
  { numRuns: 4_000, seed: 11 },
);
let writer: Writer;

beforeAll(async () => {
  writer = await temporaryWriter();
  await writer.command(
    "CREATE TABLE points (t DateTime64(3, 'UTC'), y Nullable(Float64)) ENGINE = MergeTree ORDER BY t",
  );
  const lines = points.map(([t, y]) => `${(START + t) / 1_000}\t${y}`);
  // What bins leave out: no y, and times off the axis.
  lines.push(`${START / 1_000}\t\\N`, `${START / 1_000}\tnan`, `${START / 1_000 + 11}\t1`);
  await writer.insert("INSERT INTO points FORMAT TSV", Readable.from([lines.join("\n")]));
});

afterAll(async () => {
  await writer[Symbol.asyncDispose]();
});

describe("binsSql(source)", () => {
  test.each([
    [1, 1],
    [13, 7],
    [166, 66],
  ])("counts the cells that sortIntoCells finds: %i × %i", async (columns, rows) => {
    const { sql, parameters } = binsSql({
      from: "points",
      x: { sql: "t", type: "DateTime64(3, 'UTC')" },
      y: "y",
      xAxis: [new Date(START), new Date(START + 9_999)],
      yAxis: [-3, 8],
      columns,
      rows,
    });
    const cells = sortIntoCells(
      Float64Array.from(points, ([t]) => START + t),
      Float64Array.from(points, ([, y]) => y),
      new Int32Array(points.length),
      { low: START, high: START + 9_999 },
      { low: -3, high: 8 },
      columns,
      rows,
    );
    const expected = Array.from(cells.count, (count, cell) => ({
      column: cells.column[cell],
      row: cells.row[cell],
      count,
    })).sort((a, b) => a.column! - b.column! || a.row! - b.row!);
    expect(await writer.rows(sql, { parameters })).toEqual(expected);
    expect(expected.reduce((sum, { count }) => sum + count, 0)).toBe(points.length);
  });

  test("refuses a number of cells that is none", () => {
    const source = { from: "points", x: { sql: "t", type: "DateTime" }, y: "y", rows: 3 } as const;
    expect(() => binsSql({ ...source, xAxis: [0, 1], yAxis: [0, 1], columns: 1.5 })).toThrow(
      /Can't count points in 1.5 cells along an axis/,
    );
  });
});
