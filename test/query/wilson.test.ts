import fc from "fast-check";
import { expect, it } from "vitest";
import { CONFIDENCES, wilson, type Confidence } from "../../src/query/wilson.js";

it("wilson gives the published interval of 1 in 10, none of nothing, and ends where the score test just accepts the share", () => {
  expect(wilson(1, 10)?.low).toBeCloseTo(0.0179, 4);
  expect(wilson(1, 10)?.high).toBeCloseTo(0.4042, 4);
  expect(wilson(0, 0)).toBeNull();
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom<Confidence>(0.9, 0.95, 0.99),
      (n, share, level) => {
        const failed = Math.round(n * share);
        const { low, high } = wilson(failed, n, level)!;
        expect(low).toBeLessThanOrEqual(failed / n);
        expect(high).toBeGreaterThanOrEqual(failed / n);
        if (failed === 0) expect(low).toBe(0);
        if (failed === n) expect(high).toBe(1);
        for (const end of [low, high].filter((end) => end > 0 && end < 1)) {
          const distance = Math.abs(failed / n - end) / Math.sqrt((end * (1 - end)) / n);
          expect(distance).toBeCloseTo(CONFIDENCES[level], 6);
        }
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});
