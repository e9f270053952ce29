import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { autoBucket } from "../../src/time/bucket.js";
import { BUCKETS, buckets } from "../../src/time/bucket.js";
import { between } from "../../src/index.js";

describe("autoBucket(range, budgetRows, seriesCount)", () => {
  test("agrees with counting the buckets of every step", () => {
    const start = Date.UTC(2026, 0, 1);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 * 24 * 60 }),
        fc.integer({ min: 1, max: 60 * 24 * 60 }),
        fc.integer({ min: 20, max: 4_999 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom("UTC", "Europe/Rome", "America/Havana", "Australia/Lord_Howe"),
        (from, length, budget, series, timeZone) => {
          const range = between(
            new Date(start + from * 60_000),
            new Date(start + (from + length) * 60_000),
            { timeZone },
          );
          const fits = BUCKETS.slice(1).find(
            (every) => buckets(range, every).length * series <= budget,
          );
          const expected = length * series <= budget ? "minute" : fits;
          if (expected === undefined) expect(() => autoBucket(range, budget, series)).toThrow();
          else expect(autoBucket(range, budget, series)).toBe(expected);
        },
      ),
      { numRuns: 25, seed: 4 },
    );
  });

  test("refuses what does not fit by month either", () => {
    const range = between("1980-01-01", "2026-01-01");
    expect(() => autoBucket(range, 4_999, 100)).toThrow(
      /Can't fit 100 series over 1980-01-01 to 2026-01-01 UTC into 4,999 rows.*fewer series/,
    );
  });
});
