import { beforeAll, expect, it } from "vitest";
import { between, type Bucket } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
beforeAll(() =>
  own.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT toDateTime('2026-01-10', 'UTC') + number * 1847 AS measurement_start_time FROM numbers(8000)`,
  ),
);

it("counts by several units say which buckets are incomplete", async () => {
  await using lab = await own.open();
  const notes = async (every: Bucket, from: string, to: string): Promise<readonly string[]> =>
    (await lab.measurements.counts({ range: between(from, to), every })).origin.notes;
  expect(await notes("2 weeks", "2026-03-01", "2026-04-01")).toContain(
    "The 2-week buckets of 2026-02-16 and 2026-03-30 are covered only in part by the range.",
  );
  expect(await notes("15 minutes", "2026-03-01 10:05", "2026-03-01 12:00")).toContain(
    "The 15-minute bucket of 2026-03-01 10:00 is covered only in part by the range.",
  );
});

it("counts refuse more buckets than an answer may have rows", async () => {
  await using lab = await own.open();
  const range = between("2026-01-01", "2026-03-01");
  await expect(lab.measurements.counts({ range, every: "second" })).rejects.toThrow(
    'Can\'t group 2026-01-01 to 2026-03-01 UTC by second: 5,097,600 buckets are too many. Take a coarser every ("auto" picks one) or a shorter range.',
  );
});
