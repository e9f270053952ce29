import fc from "fast-check";
import { expect, it } from "vitest";
import { bucketStart, buckets, BUCKETS, checkBucket } from "../../src/time/bucket.js";
import { between } from "../../src/time/time-range.js";
import { bucketLabel } from "../measurements/reference.js";

const ZONES = ["UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"];
const instant = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) });
const KNOWN_TO_REFERENCE = ["minute", "hour", "day", "week", "month"] as const;

it("bucketStart(instant) is the first instant that Intl shows in the same bucket", () => {
  fc.assert(
    fc.property(
      instant,
      fc.constantFrom(...KNOWN_TO_REFERENCE),
      fc.constantFrom(...ZONES),
      (ms, every, zone) => {
        const start = bucketStart(new Date(ms), every, zone).getTime();
        expect(start).toBeLessThanOrEqual(ms);
        expect(bucketLabel(start, every, zone)).toBe(bucketLabel(ms, every, zone));
        expect(bucketLabel(start - 1, every, zone)).not.toBe(bucketLabel(ms, every, zone));
      },
    ),
    { numRuns: 500, seed: 7 },
  );
});

it("buckets(range) follow each other without gap or overlap and cover the range", () => {
  fc.assert(
    fc.property(
      instant,
      fc.integer({ min: 1, max: 40 * 86_400_000 }),
      fc.constantFrom(...BUCKETS.filter((every) => every !== "minute")),
      fc.constantFrom(...ZONES),
      (ms, length, every, timeZone) => {
        const range = between(new Date(ms), new Date(ms + length), { timeZone });
        const all = buckets(range, every);
        expect(all[0]?.start.getTime()).toBeLessThanOrEqual(range.start.getTime());
        expect(all.at(-1)?.end.getTime()).toBeGreaterThanOrEqual(range.end.getTime());
        all.forEach((bucket, index) => {
          if (index > 0) expect(bucket.start).toEqual(all[index - 1]?.end);
          expect(bucketStart(bucket.start, every, timeZone)).toEqual(bucket.start);
          const inside = bucket.start >= range.start && bucket.end <= range.end;
          expect(bucket.complete).toBe(inside);
        });
      },
    ),
    { numRuns: 300, seed: 8 },
  );
});

it("buckets(range, 'week') begin on Monday", () => {
  const range = between("2026-05-01", "2026-05-18");
  expect(buckets(range, "week").map((week) => week.start.getUTCDay())).toEqual([1, 1, 1]);
});

it("checkBucket(every) names the buckets there are", () => {
  expect(() => checkBucket("fortnight")).toThrow(/"fortnight".*"day", "week", "month"/);
  expect(() => checkBucket(undefined)).toThrow(/Can't group by undefined/);
});
