import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parquet } from "../../src/result/parquet.js";
import { openDatabase } from "../sample/load/open-database.js";

test("ClickHouse reads parquet(names, rows) with natural types and the same values", async () => {
  await using database = await openDatabase();
  const names = ["t", "runs", "q50", "id", "large", "ok", "version", "tags", "none", ""];
  const first = [new Date(5), 1, 0.5, -1n, 2n ** 64n - 1n, true, "é😀", { a: [1] }, null, 7];
  const rows = [first, names.map(() => null), ...Array.from({ length: 3000 }, () => first)];
  const path = join(database.folder, "rows.parquet");
  await writeFile(path, parquet(names, rows, { "probelab.origin": "{}" }));
  const parameters = { path };
  const columns = await database.writer.rows<{ name: string; type: string }>(
    "DESCRIBE TABLE file({path:String}, 'Parquet')",
    { parameters },
  );
  expect(columns.map(({ name, type }) => [name, type])).toEqual([
    ["t", "Nullable(DateTime64(3, 'UTC'))"],
    ["runs", "Nullable(Int64)"],
    ["q50", "Nullable(Float64)"],
    ["id", "Nullable(Int64)"],
    ["large", "Nullable(String)"],
    ["ok", "Nullable(Bool)"],
    ["version", "Nullable(String)"],
    ["tags", "Nullable(String)"],
    ["none", "Nullable(String)"],
    ["column", "Nullable(Int64)"],
  ]);
  const groups = await database.writer.rows<Record<string, unknown>>(
    `SELECT toUnixTimestamp64Milli(t) AS ms, runs, q50, toString(id) AS id, toString(large) AS large,
       ok, version, tags, none, column, toUInt32(count()) AS rows
     FROM file({path:String}, 'Parquet') GROUP BY ALL ORDER BY rows`,
    { parameters },
  );
  expect(groups.map((row) => Object.values(row).map((value) => value ?? null))).toEqual([
    [...names.map(() => null), 1],
    [5, 1, 0.5, "-1", "18446744073709551615", true, "é😀", '{"a":[1]}', null, 7, 3001],
  ]);
});
