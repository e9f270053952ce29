import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { quantileOf } from "../../src/base/statistics.js";
import { watchFlow } from "../../src/change/series/forecast.js";
import { seeded } from "../support/change/draws.js";
import { serviceCounts } from "../support/change/flow-results.js";

const SEASON = { day: 24, week: 168 };
const OPTIONS = { rate: 1, gap: 3, counts: true, floor: 1 };

describe("watchFlow", () => {
  it("judges each hour by hours up to it only", () => {
    const values = serviceCounts(900);
    const whole = watchFlow(values, SEASON, OPTIONS);
    fc.assert(
      fc.property(
        fc.integer({ min: 680, max: 899 }),
        fc.array(fc.nat(5000), { minLength: 1, maxLength: 30 }),
        (at, other) => {
          const changed = watchFlow([...values.slice(0, at), ...other], SEASON, OPTIONS);
          expect(changed.slice(0, at)).toEqual(whole.slice(0, at));
          expect(changed[at]!.next).toBe(whole[at]!.next);
          expect(changed[at]!.limit).toBe(whole[at]!.limit);
        },
      ),
      { numRuns: 8, seed: 3 },
    );
  });

  it("alarms at no more than twice the stated rate on large counts with a day, a weekend and growth", () => {
    let [alarms, hours] = [0, 0];
    for (let seed = 0; seed < 8; seed++) {
      const { poisson } = seeded(seed);
      const values = Array.from({ length: 10 * 168 }, (_, hour) => {
        const day = 1 + 0.5 * Math.sin((2 * Math.PI * hour) / 24);
        const weekend = Math.floor(hour / 24) % 7 > 4 ? 0.8 : 1;
        return poisson(50_000 * day * weekend * 1.05 ** (hour / 168));
      });
      const alarmed = watchFlow(values, SEASON, OPTIONS).map((bucket) => bucket.alarmed);
      alarms += alarmed.filter((is, at) => is && !alarmed.slice(at - 3, at).includes(true)).length;
      hours += values.length - 672;
    }
    expect((alarms / hours) * 672).toBeLessThanOrEqual(2);
  });

  it("takes hours of which nothing is known, and a series of zeros, without an alarm", () => {
    const values = serviceCounts(900).map((n, at) => (at % 50 < 5 ? null : n));
    const watched = watchFlow(values, SEASON, OPTIONS);
    expect(watched.some(({ alarmed }, at) => alarmed && values[at] === null)).toBe(false);
    expect(watched.every(({ next }) => Number.isFinite(next))).toBe(true);
    const zeros = watchFlow(Array<number>(900).fill(0), SEASON, OPTIONS);
    expect(zeros.some(({ alarmed }) => alarmed)).toBe(false);
  });
});

test("quantileOf(sorted, level) uses the R-7 method", () => {
  expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.5)).toBe(3);
  expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.9)).toBeCloseTo(6.8, 12);
});
