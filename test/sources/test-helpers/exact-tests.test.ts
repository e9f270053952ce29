import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { binomialMore, fisherMore } from "../../../src/sources/test-helpers/exact-tests.js";

const SEED = { seed: 1, numRuns: 300 };

describe("fisherMore(failed, tried, restFailed, restTried)", () => {
  it("gives Fisher's own example of the tea, 17 in 70", () => {
    expect(fisherMore(3, 4, 1, 4)).toBeCloseTo(17 / 70, 12);
  });

  it("is the sum of hypergeometric chances, counted in whole numbers", () => {
    const group = fc
      .integer({ min: 1, max: 60 })
      .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(group, group, ([a, n], [b, m]) => {
        expect(fisherMore(a, n, b, m)).toBeCloseTo(reference(a, n, b, m), 9);
      }),
      SEED,
    );
  });

  it("keeps its precision far out in the tail and for millions of measurements", () => {
    expect(fisherMore(60, 60, 0, 60)).toBeGreaterThan(0);
    expect(fisherMore(60, 60, 0, 60) / reference(60, 60, 0, 60)).toBeCloseTo(1, 9);
    // The normal approximation, with its correction for continuity, is good here.
    const p = fisherMore(101_000, 10_000_000, 200_000, 20_000_000);
    const z = (101_000 - 0.5 - 301_000 / 3) / Math.sqrt(((301_000 * 2) / 9) * (1 - 301_000 / 3e7));
    expect(p / normalTail(z)).toBeCloseTo(1, 1);
    expect(fisherMore(0, 10, 5, 10)).toBe(1);
    expect(fisherMore(3, 10, 0, 0)).toBe(1);
  });
});

describe("binomialMore(failed, tried, share)", () => {
  it("is the sum of binomial chances, counted in whole numbers", () => {
    const tried = fc.integer({ min: 1, max: 80 });
    fc.assert(
      fc.property(
        tried,
        fc.integer({ min: 0, max: 80 }),
        fc.integer({ min: 1, max: 99 }),
        (n, k, percent) => {
          const failed = Math.min(n, k);
          let sum = 0n;
          for (let x = failed; x <= n; x++) {
            sum +=
              choose(n, x) * BigInt(percent) ** BigInt(x) * BigInt(100 - percent) ** BigInt(n - x);
          }
          const wanted = Number((sum * 10n ** 60n) / 100n ** BigInt(n)) / 1e60;
          expect(binomialMore(failed, n, percent / 100)).toBeCloseTo(wanted, 9);
        },
      ),
      SEED,
    );
    expect(binomialMore(30, 30, 0.1) / 1e-30).toBeCloseTo(1, 9);
    expect(binomialMore(0, 10, 0.1)).toBe(1);
  });
});

function choose(n: number, k: number): bigint {
  let value = 1n;
  for (let i = 1; i <= k; i++) value = (value * BigInt(n - k + i)) / BigInt(i);
  return value;
}

function reference(a: number, n: number, b: number, m: number): number {
  let sum = 0n;
  for (let x = a; x <= Math.min(n, a + b); x++) {
    if (a + b - x <= m) sum += choose(n, x) * choose(m, a + b - x);
  }
  const all = choose(n + m, a + b);
  return Number((sum * 10n ** 60n) / all) / 1e60;
}

/** 1 − Φ(z) by Simpson's rule. */
function normalTail(z: number): number {
  const steps = 20_000;
  const width = 12 / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp(-((z + i * width) ** 2) / 2);
  }
  return (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}
