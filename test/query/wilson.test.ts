import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONFIDENCES, wilson, type Confidence } from "../../src/query/wilson.js";

const SEED = { seed: 1, numRuns: 300 };

describe("wilson(failed, tried, confidence)", () => {
  it("gives the published interval of 1 in 10", () => {
    expect(wilson(1, 10)?.low).toBeCloseTo(0.0179, 4);
    expect(wilson(1, 10)?.high).toBeCloseTo(0.4042, 4);
  });

  it("ends where the score test just accepts the share", () => {
    const trials = fc.integer({ min: 1, max: 5_000 });
    const confidence = fc.constantFrom<Confidence>(0.9, 0.95, 0.99);
    fc.assert(
      fc.property(
        trials,
        fc.double({ min: 0, max: 1, noNaN: true }),
        confidence,
        (n, share, level) => {
          const failed = Math.round(n * share);
          const found = wilson(failed, n, level);
          expect(found).not.toBeNull();
          const { low, high } = found ?? { low: NaN, high: NaN };
          expect(low).toBeLessThanOrEqual(failed / n);
          expect(high).toBeGreaterThanOrEqual(failed / n);
          for (const [end, open] of [
            [low, failed > 0],
            [high, failed < n],
          ] as const) {
            if (!open) continue;
            const distance = Math.abs(failed / n - end) / Math.sqrt((end * (1 - end)) / n);
            expect(distance).toBeCloseTo(CONFIDENCES[level], 6);
          }
        },
      ),
      SEED,
    );
  });

  it("stays within 0 and 1 and is null where nothing was tried", () => {
    expect(wilson(0, 5)?.low).toBe(0);
    expect(wilson(5, 5)?.high).toBe(1);
    expect(wilson(0, 0)).toBeNull();
  });
});
