import { describe, expect, test } from "vitest";
import { bucketStart, buckets, checkBucket, nextBucket } from "../../src/time/bucket.js";
import { between } from "../../src/index.js";

test('buckets(range, "hour") ends where a zone sets its clocks back by half an hour', () => {
  const range = between("2026-04-05", "2026-04-06", { timeZone: "Australia/Lord_Howe" });
  expect(buckets(range, "hour")).toHaveLength(24);
});

describe("buckets of several hours", () => {
  test("checkBucket(every) knows their names", () => {
    expect(checkBucket("3 hours")).toBe("3 hours");
    expect(checkBucket("6 hours")).toBe("6 hours");
    expect(() => checkBucket("2 hour ago")).toThrow(/"3 hours", "6 hours"/);
  });

  test("bucketStart(instant, every, timeZone) begins at midnight of the zone", () => {
    const instant = new Date("2026-05-05T04:30:00Z");
    expect(bucketStart(instant, "3 hours", "UTC")).toEqual(new Date("2026-05-05T03:00:00Z"));
    expect(bucketStart(instant, "3 hours", "Europe/Rome")).toEqual(
      new Date("2026-05-05T04:00:00Z"),
    );
    expect(bucketStart(instant, "6 hours", "Asia/Kolkata")).toEqual(
      new Date("2026-05-05T00:30:00Z"),
    );
    expect(bucketStart(new Date(-1), "6 hours", "UTC")).toEqual(new Date(-21_600_000));
  });

  // The starts as ClickHouse's toStartOfInterval(t, INTERVAL 3 HOUR, zone) gives them.
  test.each([
    ["Europe/Rome", "2026-03-29", [0, 2, 5, 8, 11, 14, 17, 20]],
    ["America/New_York", "2026-03-08", [0, 2, 5, 8, 11, 14, 17, 20]],
    ["Europe/Rome", "2026-10-25", [0, 4, 7, 10, 13, 16, 19, 22]],
  ])('buckets(range, "3 hours") follow the wall clock in %s on %s', (timeZone, day, hours) => {
    const next = new Date(new Date(`${day}T00:00:00Z`).getTime() + 86_400_000);
    const range = between(day, next.toISOString().slice(0, 10), { timeZone });
    const found = buckets(range, "3 hours");
    const elapsed = found.map(({ start }) => (start.getTime() - range.start.getTime()) / 3_600_000);
    expect(elapsed).toEqual(hours);
    expect(found.every(({ complete }) => complete)).toBe(true);
    for (const { start, end } of found) {
      expect(nextBucket(start, "3 hours", timeZone)).toEqual(end);
      expect(bucketStart(new Date(end.getTime() - 1), "3 hours", timeZone)).toEqual(start);
    }
  });
});
