import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { watchFlow } from "../../src/change/anomalies.js";
import { declines, fallTest, studentBelow } from "../../src/change/decline.js";
import { thresholds } from "../../src/change/expected.js";
import { serviceSeries } from "../../bench/change/flow-series.js";
import { serviceCounts } from "./flow-results.js";
import { median, quantileOf } from "../../src/base/statistics.js";

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
          expect(changed.alarmed.slice(0, at)).toEqual(whole.alarmed.slice(0, at));
          expect(changed.next.slice(0, at + 1)).toEqual(whole.next.slice(0, at + 1));
          expect(changed.limit.slice(0, at + 1)).toEqual(whole.limit.slice(0, at + 1));
        },
      ),
      { numRuns: 8, seed: 3 },
    );
  });

  it("alarms on half the counts within two hours, and seldom on nothing", () => {
    let [hits, drops, alarms, hours] = [0, 0, 0, 0];
    for (let seed = 100; seed < 103; seed++) {
      const series = serviceSeries(seed);
      const clean = watchFlow(series.values, SEASON, OPTIONS).alarmed;
      hours += clean.length - 672;
      alarms += clean.filter((alarmed, at) => alarmed && !clean[at - 1]).length;
      for (const { at, depth, replace } of series.drops.filter((drop) => drop.depth === 50)) {
        const told = watchFlow([...series.values.slice(0, at), ...replace], SEASON, OPTIONS);
        drops += depth / 50;
        hits += Number(told.alarmed.slice(at).includes(true));
      }
    }
    expect(hits / drops).toBe(1);
    expect((alarms / hours) * 672).toBeLessThan(2);
  });

  it("takes hours of which nothing is known, and a series of zeros, without an alarm", () => {
    const values = serviceCounts(900).map((n, at) => (at % 50 < 5 ? null : n));
    const { alarmed, next } = watchFlow(values, SEASON, OPTIONS);
    expect(alarmed.filter((_, at) => values[at] === null)).not.toContain(true);
    expect(next.every(Number.isFinite)).toBe(true);
    expect(watchFlow(Array<number>(900).fill(0), SEASON, OPTIONS).alarmed).not.toContain(true);
  });
});

describe("thresholds", () => {
  it("are exceeded by light-tailed scores about as often as stated", () => {
    const rates: number[] = [];
    for (let seed = 1; seed <= 6; seed++) {
      let state = seed;
      const scores = Array.from({ length: 5000 }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        // A Rayleigh law: its tail falls as quickly as a normal one's.
        return Math.sqrt(-2 * Math.log((state + 1) / (2 ** 32 + 1)));
      });
      const limits = thresholds(scores, SEASON, 4 / 672, 3);
      const above = scores.filter((score, at) => at >= 672 && score > limits[at]!);
      rates.push((above.length / (scores.length - 672)) * 672);
    }
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(mean).toBeGreaterThan(1);
    expect(mean).toBeLessThan(8);
  });

  it("quantileOf(sorted, level) uses the R-7 method", () => {
    expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.5)).toBe(3);
    expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.9)).toBeCloseTo(6.8, 12);
    expect(median([])).toBeNaN();
  });
});

describe("declines", () => {
  const falling = (weekly: number, weeks = 10) =>
    serviceCounts(weeks * 168).map((n, at) => Math.log(1 + n * weekly ** (at / 168)));

  it("finds a slow decline, and none where outages and a holiday are all that is missing", () => {
    const [found] = declines(falling(0.93), SEASON, 0.025);
    expect(found!.fall).toBeGreaterThan(0.2);
    const holes = falling(1).map((log, at) => (at > 1300 && at < 1330 ? 0 : log));
    expect(declines(holes, SEASON, 0.025)).toEqual([]);
  });

  it("studentBelow(t, freedom) is the integral of the density", () => {
    for (const freedom of [1, 2, 3, 4, 5, 6]) {
      for (const t of [-6, -1.3, 0, 0.7, 3]) {
        const density = (x: number) => (1 + x ** 2 / freedom) ** (-(freedom + 1) / 2);
        // x = tan(a), so that the whole line is a finite stretch.
        const area = (to: number) => {
          const [from, steps] = [-Math.PI / 2, 20_000];
          const width = (to - from) / steps;
          let sum = 0;
          for (let k = 0; k < steps; k++) {
            const a = from + (k + 0.5) * width;
            sum += (density(Math.tan(a)) / Math.cos(a) ** 2) * width;
          }
          return sum;
        };
        expect(studentBelow(t, freedom)).toBeCloseTo(area(Math.atan(t)) / area(Math.PI / 2), 4);
      }
    }
  });

  it("fallTest of a straight line is sure, of a level one is not", () => {
    expect(fallTest([5, 4, 3, 2])).toEqual({ slope: -1, p: 0 });
    expect(fallTest([1, 1, 1, 1]).p).toBe(1);
    expect(fallTest([1, 2, 1, 2, 1]).p).toBeGreaterThan(0.3);
  });
});
