import fc from "fast-check";
import { parse, View } from "vega";
import { describe, expect, test } from "vitest";
import { timeTicks, zoneExpression } from "../../src/chart/ticks.js";
import type { Bucket } from "../../src/index.js";
import { BUCKETS, bucketStart } from "../../src/time/bucket.js";
import { usualLength } from "../../src/time/step.js";

const ZONES = ["UTC", "Europe/Rome", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];
const instants = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2100, 0, 1) });
const spans = fc.oneof(
  fc.integer({ min: 6e4, max: 864e5 }),
  fc.integer({ min: 864e5, max: 400 * 864e5 }),
  fc.integer({ min: 400 * 864e5, max: 20 * 366 * 864e5 }),
);

describe("timeTicks", () => {
  test("rise, lie inside the domain, are few, and begin buckets of the zone", () => {
    fc.assert(
      fc.property(
        instants,
        spans,
        fc.constantFrom(...ZONES),
        fc.integer({ min: 2, max: 20 }),
        fc.option(fc.constantFrom(...BUCKETS), { nil: undefined }),
        (start, span, zone, most, every) => {
          const { at, major } = timeTicks([start, start + span], zone, most, every);
          expect(at.length).toBeLessThanOrEqual(most);
          for (const [index, tick] of at.entries()) {
            expect(tick).toBeGreaterThanOrEqual(start);
            expect(tick).toBeLessThanOrEqual(start + span);
            if (index > 0) expect(tick).toBeGreaterThan(at[index - 1] ?? Infinity);
            if (every !== undefined && every !== "week") {
              expect(bucketStart(new Date(tick), every, zone).getTime()).toBe(tick);
            }
          }
          if (at.length > 0) expect(major[0]).toBe(at[0]);
        },
      ),
      { numRuns: 200, seed: 3 },
    );
  });

  test("of several units stand where buckets begin, while labels of every second one fit", () => {
    fc.assert(
      fc.property(
        instants,
        fc.constantFrom(...ZONES),
        fc.constantFrom<Bucket>(
          "10 seconds",
          "7 minutes",
          "15 minutes",
          "45 minutes",
          "90 minutes",
          "5 hours",
          "10 days",
          "2 weeks",
          "5 months",
          "3 months",
          "2 years",
        ),
        fc.integer({ min: 3, max: 20 }),
        (start, zone, every, most) => {
          const end = start + 2 * (most - 1.5) * usualLength(every);
          const { at } = timeTicks([start, end], zone, most, every);
          expect(at.length).toBeGreaterThan(0);
          for (const tick of at) {
            expect(bucketStart(new Date(tick), every, zone).getTime()).toBe(tick);
          }
        },
      ),
      { numRuns: 100, seed: 5 },
    );
  });
});

test("zoneExpression(…) writes what Intl writes in that zone", () => {
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: 0, max: 900 * 864e5 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(...ZONES),
      (start, span, share, zone) => {
        const instant = Math.floor(start + span * share);
        const expression = zoneExpression("datum.value", "%Y-%m-%d %H:%M", zone, [
          start,
          start + span,
        ]);
        const transform = [{ type: "formula" as const, as: "text", expr: expression }];
        const data = [{ name: "rows", values: [{ value: instant }], transform }];
        const view = new View(parse({ data })).run();
        const written = (view.data("rows")[0] as { text: string }).text;
        view.finalize();
        expect(written).toBe(inZone(instant, zone));
      },
    ),
    { numRuns: 100, seed: 5 },
  );
});

function inZone(instant: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(instant);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}`;
}
