import fc from "fast-check";
import { expect, it } from "vitest";
import { bucketSql } from "../../src/database/bucket-sql.js";
import { bucketStart, BUCKETS, type Bucket } from "../../src/time/bucket.js";
import { usualLength } from "../../src/time/step.js";
import { between } from "../../src/time/time-range.js";
import { ODD_CHANGES } from "../support/odd-changes.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const DAY = 86_400_000;

/** The start that the engine gives for each of these instants (ms), in a column of a type. */
async function startsByEngine(
  instants: readonly number[],
  ...[every, range, type = "DateTime64(3, 'UTC')"]: [Bucket, ReturnType<typeof between>, string?]
): Promise<number[]> {
  const found = await own.writer.rows<{ at: string; type: string }>(
    `SELECT toString(toUnixTimestamp64Milli(start)) AS at, toTypeName(start) AS type FROM (
    SELECT ${bucketSql("t", every, range)} AS start FROM (
    SELECT CAST(fromUnixTimestamp64Milli(toInt64(arrayJoin([${instants.join(", ")}])), 'UTC') AS ${type}) AS t))`,
  );
  expect(new Set(found.map((row) => row.type))).toEqual(
    new Set([`DateTime64(3, '${range.timeZone}')`]),
  );
  return found.map(({ at }) => Number(at));
}

const year = (timeZone: string) => between("2026-01-01", "2027-01-01", { timeZone });

it.each(["UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata"])(
  "bucketSql(t, every, range) asks ClickHouse's own functions in %s",
  (zone) => {
    const sql = (every: Parameters<typeof bucketSql>[1]) => bucketSql("t", every, year(zone));
    expect(sql("minute")).toBe(`toDateTime64(toStartOfMinute(t, '${zone}'), 3, '${zone}')`);
    expect(sql("hour")).toBe(`toDateTime64(toStartOfHour(t, '${zone}'), 3, '${zone}')`);
    expect(sql("6 hours")).toBe(
      `toDateTime64(toStartOfInterval(t, INTERVAL 6 HOUR, '${zone}'), 3, '${zone}')`,
    );
    expect(sql("day")).toBe(`toDateTime64(toStartOfDay(t, '${zone}'), 3, '${zone}')`);
    expect(sql("week")).toBe(`toDateTime64(toStartOfWeek(t, 1, '${zone}'), 3, '${zone}')`);
    expect(sql("month")).toBe(`toDateTime64(toStartOfMonth(t, '${zone}'), 3, '${zone}')`);
  },
);

it("bucketSql(t, every, range) writes the starts of a zone that changes by half an hour", () => {
  const range = between("2026-10-03", "2026-10-06", { timeZone: "Australia/Lord_Howe" });
  const [before, change, after] = ["2026-10-02T13:30Z", "2026-10-03T15:30Z", "2026-10-03T16:00Z"];
  const ms = (instant: string | undefined) => Date.parse(instant ?? "");
  expect(bucketSql("t", "hour", range)).toBe(
    `fromUnixTimestamp64Milli(toInt64(multiIf(` +
      `(toUnixTimestamp64Milli(toDateTime64(t, 3, 'UTC')) AS _ms) >= ${ms(after)}, ` +
      `${ms(after)} + least(intDiv(_ms - ${ms(after)}, 3600000), 44) * 3600000, ` +
      `${ms(before)} + least(intDiv(_ms - ${ms(before)}, 3600000), 26) * 3600000)), 'Australia/Lord_Howe')`,
  );
  expect(ms(change)).toBe(ms(before) + 26 * 3_600_000);
  expect(bucketSql("t", "hour", between("2026-06-01", "2026-07-01", range))).toMatch(/toStartOfHo/);
});

it("bucketSql(t, every, range) writes the starts where the first lies before 1970", () => {
  expect(bucketSql("t", "week", between("1970-01-02", "1970-01-04"))).toBe(
    "fromUnixTimestamp64Milli(toInt64(-259200000), 'UTC')",
  );
  expect(bucketSql("t", "day", between("1970-01-02", "1970-01-04"))).toMatch(/toStartOfDay/);
});

const SPANS = [
  ...BUCKETS,
  ..."second,10 seconds,5 minutes,15 minutes,20 minutes,90 minutes,45 minutes,7 minutes,2 hours,5 hours,8 hours,36 hours".split(
    ",",
  ),
  ..."2 days,10 days,2 weeks,3 weeks,2 months,3 months,5 months,year,2 years".split(","),
] as Bucket[];
const ZONES = ["UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"];

it("bucketSql(t, every, range) gives bucketStart on the engine, for any span, around changes of any zone", async () => {
  const places = [
    ...ODD_CHANGES.map(([zone, change]) => [zone, Date.parse(change)] as const),
    ...ZONES.map((zone) => [zone, Date.UTC(2026, 2, 29)] as const),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.constantFrom(...SPANS),
      fc.integer({ min: -50 * 3600, max: 20 * 3600 }),
      fc.oneof(fc.integer({ min: 1, max: 60 * 3600 }), fc.integer({ min: 1, max: 700 * 86_400 })),
      fc.constantFrom("DateTime64(3, 'UTC')", "DateTime('Europe/Rome')", "DateTime64(6, 'UTC')"),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
      async ([timeZone, change], every, from, seconds, type, parts) => {
        const start = Math.max(0, change + from * 1000);
        const end = start + 1000 + Math.min(seconds * 1000, 3_000 * usualLength(every));
        const range = between(new Date(start), new Date(end), { timeZone });
        const near = parts.map((part) => change + Math.round((part - 0.5) * DAY));
        const far = parts.map((part) => start + part * (end - 1000 - start));
        const instants = [...near, ...far, start, end - 1000]
          .map((ms) =>
            type.startsWith("DateTime(") ? Math.floor(ms / 1000) * 1000 : Math.floor(ms),
          )
          .filter((ms) => ms >= start && ms < end);
        expect(await startsByEngine(instants, every, range, type)).toEqual(
          instants.map((ms) => bucketStart(new Date(ms), every, timeZone).getTime()),
        );
      },
    ),
    { numRuns: 250, seed: 10 },
  );
}, 300_000);

it.each([
  "90 minutes",
  "2 hours",
  "2 days",
  "2 weeks",
  "2 months",
  "5 months",
  "47 years",
] as const)(
  "bucketSql(t, every, range) by %s stays SQL that the engine takes over all time that it holds",
  async (every) => {
    const range = between("1970-01-01T00:00Z", "2106-02-07T00:00Z", {
      timeZone: "Europe/Rome",
    });
    const instants = Array.from({ length: 500 }, (_, i) => i * 99_000_000 * 86 + 12_345);
    expect(bucketSql("t", every, range).length).toBeLessThan(50_000);
    expect(await startsByEngine(instants, every, range)).toEqual(
      instants.map((ms) => bucketStart(new Date(ms), every, "Europe/Rome").getTime()),
    );
  },
);

it("bucketSql(t, every, range) writes one run of starts for steps that begin evenly", () => {
  for (const every of ["15 minutes", "7 minutes", "10 days", "2 weeks"] as const) {
    for (const zone of ["UTC", "Asia/Kathmandu"]) {
      expect(bucketSql("t", every, year(zone)).match(/intDiv/g)).toHaveLength(1);
    }
  }
});
