import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { between, chart, table } from "../../src/index.js";
import { csv } from "../../src/render/save.js";
import { Database } from "../../src/database/database.js";
import { freeQueries } from "../../src/query/free-query.js";
import { ownDatabase } from "../support/own-database.js";
import { parseCsv } from "./support/parse-csv.js";

const own = ownDatabase();
let database: Database;

beforeAll(async () => {
  database = await Database.open(own.source);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

function query(select: string, rows: number) {
  const sql = `SELECT ${select} FROM numbers(${rows}) WHERE {start:DateTime64(3)} < {end:DateTime64(3)}`;
  return freeQueries(database)(sql, { range: between("2026-05-01", "2026-05-02") });
}

const UUID = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";

describe("a chart of lab.query", () => {
  test.each([28, 28_000])("has a series for each array, however many rows: %i", async (rows) => {
    const result = await query(
      "number AS x, number % 10 AS y, [if(number % 2 = 0, 'dnscheck', 'ndt')] AS tags",
      rows,
    );
    const { names, rows: drawn } = chart.line(result, { x: "x", y: "y", color: "tags" }).data;
    const tags = drawn.map((row) => (row[names.indexOf("tags")] as string[]).join());
    const evens = drawn.map((row) => Number(row[names.indexOf("x")]) % 2 === 0);
    expect(new Set(tags)).toEqual(new Set(["dnscheck", "ndt"]));
    expect(tags).toEqual(evens.map((even) => (even ? "dnscheck" : "ndt")));
  });
});

test("a table, CSV and Parquet hold every digit and every element", async () => {
  const result = await query(
    `toUInt64(18446744073709551615) AS big, toInt256('-1000') AS wide, [toUInt8(1), 2] AS list, [toDateTime('2026-05-01 00:00:00', 'UTC')] AS times, map('a', toUUID('${UUID}')) AS ids, toFixedString('ab', 4) AS fixed`,
    1,
  );
  const shown = table(result);
  expect(shown.model.rows[0]?.map(({ text }) => text)).toEqual([
    "18,446,744,073,709,551,615",
    "−1,000",
    "[1,2]",
    '["2026-05-01T00:00:00.000Z"]',
    `{"a":"${UUID}"}`,
    "ab",
  ]);
  const { names, rows } = shown.data;
  expect(parseCsv(csv(names, rows))[1]).toEqual([
    "18446744073709551615",
    "-1000",
    "[1,2]",
    '["2026-05-01T00:00:00.000Z"]',
    `{"a":"${UUID}"}`,
    "ab",
  ]);
});
