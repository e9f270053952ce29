import fc from "fast-check";
import { expect, test } from "vitest";
import { seeded } from "../../bench/change/change-points.js";
import { median } from "../../src/base/statistics.js";
import { mediansWithin, runningMedian, segments } from "../../src/change/segments.js";

/** Noise of a seed: `correlation` from one value to the next, variance 1. */
function noise(seed: number, n: number, correlation = 0): number[] {
  const { normal } = seeded(seed);
  let last = normal();
  return Array.from({ length: n }, () => {
    last = correlation * last + Math.sqrt(1 - correlation ** 2) * normal();
    return last;
  });
}

const at = (values: readonly number[], options = {}): number[] =>
  segments(values, options).changes.map((change) => change.at);

test.each([0, 0.3, 0.5, 0.7])(
  "segments finds nothing in 95 % of series of noise with an autocorrelation of %d",
  (correlation) => {
    let quiet = 0;
    for (let seed = 0; seed < 100; seed++) {
      const n = [30, 60, 120, 200][seed % 4]!;
      quiet += Number(at(noise(4_000 + seed, n, correlation)).length === 0);
    }
    expect(quiet).toBeGreaterThanOrEqual(95);
  },
);

test("segments finds a step of 5 standard deviations within a value, its size within its interval", () => {
  const seeds = 300;
  let [hits, inside] = [0, 0];
  for (let seed = 0; seed < seeds; seed++) {
    const values = noise(5_000 + seed, 120, 0.3).map((v, i) => 20 + v + (i >= 70 ? 5 : 0));
    const [change] = segments(values).changes;
    if (change === undefined || Math.abs(change.at - 70) > 1) continue;
    hits += 1;
    inside += Number(Math.abs(change.after - change.before - 5) <= change.margin);
  }
  expect(hits / seeds).toBeGreaterThanOrEqual(0.95);
  expect(inside / hits).toBeGreaterThanOrEqual(0.92);
});

test("segments covers the time of a change with its interval in 95 % of series", () => {
  let inside = 0;
  for (let seed = 0; seed < 100; seed++) {
    const values = noise(6_000 + seed, 150).map((v, i) => v + (i >= 80 ? 2.5 : 0));
    inside += Number(segments(values).changes.some(({ from, to }) => from <= 80 && to >= 80));
  }
  expect(inside).toBeGreaterThanOrEqual(93);
});

test("segments tells a bend from a jump, and what the trend led to", () => {
  const values = noise(7, 200).map((v, i) => v + (i < 100 ? 50 : 50 - 0.5 * (i - 100)));
  const [bend, ...others] = segments(values).changes;
  expect(others).toEqual([]);
  expect(bend).toMatchObject({ kind: "trend" });
  expect(Math.abs(bend!.at - 100)).toBeLessThanOrEqual(6);
  expect(bend!.slopeAfter).toBeCloseTo(-0.5, 1);
  expect(bend!.after - bend!.before).toBeGreaterThan(-60);
  expect(bend!.after - bend!.before).toBeLessThan(-40);
});

test("segments takes one or two far values for outliers, three for a change", () => {
  const base = noise(11, 100);
  const with_ = (count: number): number[] =>
    base.map((v, i) => (i >= 50 && i < 50 + count ? v + 30 : v));
  expect(at(with_(1))).toEqual([]);
  expect(at(with_(2))).toEqual([]);
  expect(at(with_(3))).toEqual([50, 53]);
});

test("segments removes a season that the values show", () => {
  const values = noise(12, 200).map(
    (v, i) => v + [0, 8, 3, -5, 4, 1, -6][i % 7]! + (i >= 120 ? 6 : 0),
  );
  expect(segments(values).period).toBe(7);
  expect(at(values)).toEqual([120]);
});

test("segments counts places over gaps", () => {
  const values = noise(13, 100).map((v, i) => (i % 5 === 2 ? NaN : v + (i >= 60 ? 8 : 0)));
  expect(at(values)).toEqual([60]);
});

test("segments finds nothing in what is empty, short or constant", () => {
  for (const values of [[], [1], [1, 9, 1, 9, 1], new Array<number>(50).fill(3), [NaN, NaN]]) {
    expect(at(values)).toEqual([]);
  }
});

test("segments gives the same for values in another unit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000 }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.integer({ min: -1_000, max: 1_000 }),
      (seed, scale, shift) => {
        const values = noise(seed, 60).map((v, i) => v + (i >= 25 ? 6 : 0));
        const other = values.map((v) => scale * (v + shift));
        expect(at(other)).toEqual(at(values));
      },
    ),
    { numRuns: 30, seed: 1 },
  );
});

test("segments cuts as an exhaustive search over one cut does", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 16, max: 64 }), (seed, cut) => {
      const values = noise(seed, 80).map((v, i) => v + (i >= cut ? 9 : 0));
      const squares = (part: readonly number[]): number => {
        const mean = part.reduce((sum, v) => sum + v, 0) / part.length;
        return part.reduce((sum, v) => sum + (v - mean) ** 2, 0);
      };
      const places = Array.from({ length: 75 }, (_, i) => i + 3);
      const cost = (t: number): number => squares(values.slice(0, t)) + squares(values.slice(t));
      const best = places.reduce((low, t) => (cost(t) < cost(low) ? t : low));
      const found = at(values, { search: { outlier: 100 } });
      // The shape may be another than two levels where that saves more.
      expect(Math.min(...found.map((t) => Math.abs(t - best)))).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50, seed: 2 },
  );
});

test("a smaller error gives no more changes", () => {
  const values = noise(21, 150).map((v, i) => v + (i >= 50 ? 1.4 : 0) + (i >= 100 ? 6 : 0));
  expect(at(values, { error: 1e-9 }).length).toBeLessThanOrEqual(at(values).length);
  expect(at(values, { error: 1e-9 })).toEqual([100]);
});

test("median and runningMedian are those of the values", () => {
  expect(median([3, 1, 2, 10])).toBe(2.5);
  expect([...runningMedian(Float64Array.of(1, 9, 2, 3), 1)]).toEqual([5, 2, 3, 2.5]);
});

test("mediansWithin gives the median of each window's known values", () => {
  const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(NaN), fc.double());
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.nat(12), (values, width) => {
      const ends = (i: number) => [Math.max(0, i - width), Math.min(values.length, i + 3)] as const;
      const plain = values.map((_, i) =>
        median(values.slice(...ends(i)).filter((one) => !Number.isNaN(one))),
      );
      expect([...mediansWithin(Float64Array.from(values), ends)]).toEqual(plain);
    }),
    { seed: 12 },
  );
});
