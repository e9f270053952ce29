import fc from "fast-check";
import { expect, test } from "vitest";
import { seeded } from "../support/change/draws.js";
import { segments } from "../../src/change/series/segments.js";

/** Noise of a seed: `correlation` from one value to the next, variance 1. */
function noise(seed: number, n: number, correlation = 0): number[] {
  const { normal } = seeded(seed);
  let last = normal();
  return Array.from({ length: n }, () => {
    last = correlation * last + Math.sqrt(1 - correlation ** 2) * normal();
    return last;
  });
}

const at = (values: readonly number[], error?: number): number[] =>
  segments(values, error).steps.map((step) => step.at);

/** The flow of the Nile at Aswan, 1871 to 1970 (G. W. Cobb, Biometrika 65, 1978): it fell in 1899. */
const NILE =
  "1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740"
    .split(" ")
    .map(Number);

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

test("segments finds the Nile's step of 1899 and nothing else", () => {
  const [step, ...others] = segments(NILE).steps;
  expect(others).toEqual([]);
  expect(step!.at).toBe(28);
  expect(step!.before).toBeCloseTo(1_098, -1);
  expect(step!.after).toBeCloseTo(850, -1);
});

test.each([
  { size: 3, n: 60, correlation: 0, within: 2, hits: 0.9 },
  { size: 5, n: 120, correlation: 0.3, within: 1, hits: 0.95 },
])(
  "segments finds a step of $size standard deviations in $n values, its time and size in their intervals",
  ({ size, n, correlation, within, hits }) => {
    const seeds = 200;
    let [found, sizes, times] = [0, 0, 0];
    for (let seed = 0; seed < seeds; seed++) {
      const planted = 12 + ((seed * 7) % (n - 24));
      const values = noise(5_000 + seed, n, correlation).map(
        (v, i) => 20 + v + (i >= planted ? size : 0),
      );
      const change = segments(values).steps.find((one) => Math.abs(one.at - planted) <= within);
      if (change === undefined) continue;
      found += 1;
      sizes += Number(Math.abs(change.after - change.before - size) <= change.margin);
      times += Number(change.from <= planted && planted <= change.to);
    }
    expect(found / seeds).toBeGreaterThanOrEqual(hits);
    expect(sizes / found).toBeGreaterThanOrEqual(0.92);
    expect(times / found).toBeGreaterThanOrEqual(0.93);
  },
);

test("segments takes one or two far values for outliers, three for changes", () => {
  const base = noise(11, 100);
  const high = (count: number) => base.map((v, i) => (i >= 50 && i < 50 + count ? v + 30 : v));
  expect(at(high(1))).toEqual([]);
  expect(at(high(2))).toEqual([]);
  expect(at(high(3))).toEqual([50, 53]);
});

test("segments removes a season that the values show", () => {
  const values = noise(12, 200).map(
    (v, i) => v + [0, 8, 3, -5, 4, 1, -6][i % 7]! + (i >= 120 ? 6 : 0),
  );
  expect(at(values)).toEqual([120]);
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
      expect(at(values)).toContain(best);
    }),
    { numRuns: 50, seed: 2 },
  );
});

test("segments finds no change in growth with noise", () => {
  let quiet = 0;
  for (let seed = 0; seed < 40; seed++) {
    const grown = noise(seed + 900, 84).map((v, i) => 2000 * 1.03 ** (i / 7) * (1 + 0.03 * v));
    quiet += Number(at(grown).length === 0);
  }
  expect(quiet).toBeGreaterThanOrEqual(38);
});

test("segments says which step it would have found", () => {
  let [found, all] = [0, 0];
  for (const n of [60, 200]) {
    for (let seed = 0; seed < 50; seed++) {
      const values = noise(seed + 2_000, n);
      const { least } = segments(values);
      const from = Math.round((n * (seed % 4)) / 4);
      const stepped = noise(seed + 2_000, n).map(
        (v, i) => v + (i >= from && i < from + n / 4 ? least : 0),
      );
      found += Number(segments(stepped).steps.length > 0);
      all += 1;
    }
  }
  expect(found / all).toBeGreaterThanOrEqual(0.9);
});
