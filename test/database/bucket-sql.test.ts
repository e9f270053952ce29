import { expect, it } from "vitest";
import { bucketSql } from "../../src/database/bucket-sql.js";
import { between } from "../../src/time/time-range.js";

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
