import { beforeAll, expect, test } from "vitest";
import { between } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-02");

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT toDateTime('2026-05-01', 'UTC') + number * 60 AS measurement_start_time, concat('uid', toString(number)) AS measurement_uid,
       concat('r', toString(intDiv(number, 10))) AS report_id, concat('https://example.org/', toString(number)) AS input
     FROM numbers(1000)`,
  );
});

test("duplicates says how many rows are the same measurement under another id", async () => {
  await using lab = await own.open();
  const asked = async () => (await lab.measurements.duplicates({ range })).origin.notes.join(" ");
  expect(await asked()).toContain("No more rows are equal in every column but measurement_uid.");
  await own.writer.command(
    `INSERT INTO fastpath SELECT measurement_start_time, concat('again', measurement_uid), report_id, input FROM fastpath WHERE report_id IN ('r1', 'r2')`,
  );
  await own.writer.command(
    "INSERT INTO fastpath SELECT * FROM fastpath WHERE measurement_uid = 'uid1'",
  );
  const twice = await lab.measurements.duplicates({ range });
  expect(twice.rows()[0]).toMatchObject({ duplicated: 1 });
  expect(twice.origin.notes.join(" ")).toContain(
    "20 more rows are equal to another in every column but measurement_uid",
  );
});
