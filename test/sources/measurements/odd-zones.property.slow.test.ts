import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { Database } from "../../../src/database/database.js";
import { measurementsOf, runsOf } from "../../../src/sources/measurements/measurements.js";
import { between, type Bucket } from "../../../src/index.js";
import { bucketStart, BUCKETS } from "../../../src/time/bucket.js";
import { ODD_CHANGES } from "../../support/odd-changes.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
const HOUR = 3_600_000;
const STEP = 97_000;

const SEVERAL: Bucket[] = ["7 minutes", "90min", "48h", "10 days", "2 weeks", "3 months"];
const PER_CHANGE = Math.ceil((72 * HOUR) / STEP);

/** Instants of measurements, in ms: every 97 seconds of the three days around every change. */
const TIMES = ODD_CHANGES.flatMap(([, change]) => {
  const from = new Date(change).getTime() - 36 * HOUR;
  return Array.from({ length: PER_CHANGE }, (_, i) => from + i * STEP);
}).sort((a, b) => a - b);

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
      software_name String, software_version String, probe_asn UInt32, probe_cc String, test_name String)
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  for (const [, change] of ODD_CHANGES) {
    const from = new Date(change).getTime() / 1000 - 36 * 3600;
    await own.writer.command(
      `INSERT INTO fastpath (measurement_start_time, report_id, software_name, software_version,
        probe_asn, probe_cc, test_name) SELECT toDateTime(${from} + number * ${STEP / 1000}, 'UTC') AS t,
        toString(toUnixTimestamp(t)), 'a', '1', 1, 'IT', 'web_connectivity'
        FROM numbers(${PER_CHANGE})`,
    );
  }
});

it("counts and runs lose no row around the changes of odd zones, and begin buckets where bucketStart does", async () => {
  await using database = await Database.open(own.source);
  const measurements = measurementsOf(database);
  const runs = runsOf(database);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ODD_CHANGES),
      fc.constantFrom(...BUCKETS, ...SEVERAL),
      fc.integer({ min: -36 * 3600, max: 20 * 3600 }),
      fc.integer({ min: 1, max: 40 * 3600 }),
      async ([timeZone, change], every, from, seconds) => {
        const start = Math.max(0, new Date(change).getTime() + from * 1000);
        const end = start + seconds * 1000;
        const range = between(new Date(start), new Date(end), { timeZone });
        const expected = new Map<number, number>();
        for (const ms of TIMES.filter((time) => time >= start && time < end)) {
          const bucket = bucketStart(new Date(ms), every, timeZone).getTime();
          expected.set(bucket, (expected.get(bucket) ?? 0) + 1);
        }
        const counts = await measurements.counts({ range, every });
        const found = counts.rows().filter((row) => row["measurements"] !== 0);
        expect(found.map((row) => [Number(row["t"]), row["measurements"]])).toEqual([...expected]);
        const counted = await runs.counts({ range, every });
        const runRows = counted.rows().filter((row) => row["measurements"] !== 0);
        expect(runRows.map((row) => [Number(row["t"]), row["measurements"]])).toEqual([
          ...expected,
        ]);
        const [all] = await own.writer.rows<{ n: number }>(
          `SELECT toUInt32(count()) AS n FROM fastpath WHERE toUnixTimestamp(measurement_start_time) >= ${start / 1000} AND toUnixTimestamp(measurement_start_time) < ${end / 1000}`,
        );
        const sum = counts.rows().reduce((n, row) => n + Number(row["measurements"]), 0);
        expect(sum).toBe(all?.n);
      },
    ),
    { numRuns: 25, seed: 20261003 },
  );
}, 300_000);
