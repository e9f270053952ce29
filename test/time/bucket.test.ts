import fc from "fast-check";
import { expect, it } from "vitest";
import { between, type Bucket } from "../../src/index.js";
import { bucketStart, buckets, BUCKETS, checkBucket } from "../../src/time/bucket.js";
import { isMultiple } from "../../src/time/step.js";
import { ODD_CHANGES } from "../support/odd-changes.js";
import { bucketLabel } from "../sources/measurements/reference.js";

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

it.each([
  ["1 day", "day"],
  ["60 minutes", "hour"],
  ["90 min", "90 minutes"],
  ["15min", "15 minutes"],
  [" 36H ", "36 hours"],
  ["24 hours", "day"],
  ["48h", "2 days"],
  ["7 days", "week"],
  ["14d", "2 weeks"],
  ["10d", "10 days"],
  ["3mo", "3 months"],
  ["12 months", "year"],
  ["1y", "year"],
  ["120s", "2 minutes"],
])("checkBucket(%j) gives the step its one name, %j", (text, name) => {
  expect(checkBucket(text)).toBe(name);
  expect(checkBucket(name)).toBe(name);
  const instant = new Date("2026-05-07T10:20:30Z");
  expect(bucketStart(instant, text as Bucket, "Europe/Rome")).toEqual(
    bucketStart(instant, name as Bucket, "Europe/Rome"),
  );
});

it.each([
  ["5m", /"5m": m may be minutes or months: write "5min" for minutes or "5mo" for months\./],
  ["fortnight", /"month", any other whole number .* "15 minutes" or "2 weeks", "auto" or "all"/],
  ["51 years", /at most 50 years; every: "all"/],
  ...["0 days", "-1 day", "1.5 hours", "2", "", "day 2", "2 days 3 hours", "5 ms"].map(
    (text) => [text, /any other whole number of a unit/] as const,
  ),
] as const)("checkBucket(%j) is refused with a remedy", (text, message) => {
  expect(() => checkBucket(text)).toThrow(message);
});

const SPANS = [
  ...BUCKETS,
  ..."second,7 seconds,5 minutes,7 minutes,14 minutes,15 minutes,20 minutes,40 minutes,90 minutes".split(
    ",",
  ),
  ..."2 hours,3 hours,5 hours,12 hours,36 hours,2 days,3 days,2 weeks,6 weeks,3 months,year".split(
    ",",
  ),
] as Bucket[];

it("isMultiple(coarse, fine) is true only where each start of the coarse is one of the fine", () => {
  const all = SPANS.flatMap((coarse) => SPANS.map((fine) => [coarse, fine] as const));
  for (const [at, [coarse, fine]] of all.filter(([a, b]) => isMultiple(a, b)).entries()) {
    // Of so many pairs each change of clocks meets every kind.
    for (const [timeZone, change] of ODD_CHANGES.filter((_, index) => index % 4 === at % 4)) {
      let start = new Date(Date.parse(change) + 2 * 3_600_000);
      for (let i = 0; i < 3; i++) {
        start = bucketStart(new Date(start.getTime() - 1), coarse, timeZone);
        expect(bucketStart(start, fine, timeZone), `${coarse} of ${fine} in ${timeZone}`).toEqual(
          start,
        );
      }
    }
  }
  expect(isMultiple("6 hours", "90 minutes")).toBe(true);
  expect(isMultiple("day", "15 minutes")).toBe(true);
  expect(isMultiple("3 months", "month")).toBe(true);
  expect(isMultiple("month", "week")).toBe(false);
  expect(isMultiple("week", "2 days")).toBe(false);
  expect(isMultiple("3 hours", "2 hours")).toBe(false);
  expect(isMultiple("day", "7 minutes")).toBe(false);
});
