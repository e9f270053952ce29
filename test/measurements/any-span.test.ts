import { beforeAll, expect, it } from "vitest";
import { between, type Bucket } from "../../src/index.js";
import { bucketStart } from "../../src/time/bucket.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const STEP = 1_847_000;
const COUNT = 8_000;
const FROM = Date.UTC(2026, 0, 10);

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime, report_id String, software_name String,
      software_version String, probe_asn UInt32, probe_cc String, test_name String)
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT toDateTime(${FROM / 1000} + number * ${STEP / 1000}, 'UTC'), toString(number),
      'a', '1', 1, 'IT', 'web_connectivity' FROM numbers(${COUNT})`,
  );
});

it.each<[Bucket, Bucket, string]>([
  ["15 minutes", "15 minutes", "UTC"],
  ["7 minutes", "7 minutes", "Europe/Rome"],
  ["90min", "90 minutes", "America/New_York"],
  ["48h", "2 days", "Europe/Rome"],
  ["10 days", "10 days", "Asia/Kathmandu"],
  ["2 weeks", "2 weeks", "Australia/Lord_Howe"],
  ["3 months", "3 months", "America/Havana"],
  ["year", "year", "UTC"],
])(
  "counts and runs by %s count each row in its bucket of %s, in %s",
  async (every, name, timeZone) => {
    await using lab = await own.open();
    const range = between("2026-03-01 03:00", "2026-04-20", { timeZone });
    const expected = new Map<number, number>();
    for (let i = 0; i < COUNT; i++) {
      const at = new Date(FROM + i * STEP);
      if (at < range.start || at >= range.end) continue;
      const start = bucketStart(at, every, timeZone).getTime();
      expected.set(start, (expected.get(start) ?? 0) + 1);
    }
    for (const answer of [
      await lab.measurements.counts({ range, every }),
      await lab.runs.counts({ range, every }),
    ]) {
      const rows = answer.rows().filter((row) => Number(row["measurements"]) > 0);
      expect(rows.map((row) => [Number(row["t"]), row["measurements"]])).toEqual([...expected]);
      expect(answer.origin.columns.time?.every).toBe(name);
    }
  },
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
