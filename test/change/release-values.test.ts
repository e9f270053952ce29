import { expect, test } from "vitest";
import {
  difference,
  failureShare,
  medianLevels,
  valueOf,
  words,
} from "../../src/change/release-values.js";
import { wilson } from "../../src/query/wilson.js";

/** A repeatable random number from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
const next = random(7);
/** The R-7 quantile. */
function r7(values: readonly number[], level: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * level;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}
const medianOf = (values: readonly number[]) => {
  const { value, low, high } = medianLevels(values.length);
  return { value: r7(values, value), low: r7(values, low), high: r7(values, high) };
};
/** How often of 2,000 drawings the interval holds the truth. */
const held = (draw: () => { low: number; high: number }, truth: number) => {
  let inside = 0;
  for (let k = 0; k < 2_000; k++) {
    const { low, high } = draw();
    if (low <= truth && truth <= high) inside += 1;
  }
  return inside / 2_000;
};

test.each([30, 200])("medianLevels(%i): the interval holds the median 19 times in 20", (many) => {
  const skew = () => medianOf(Array.from({ length: many }, () => Math.exp(3 * next())));
  const share = held(skew, Math.exp(1.5));
  expect(share).toBeGreaterThan(0.925);
  expect(share).toBeLessThan(0.98);
});

test("difference(was, is): the interval of two medians holds their difference", () => {
  const sample = (many: number, to: number) =>
    medianOf(Array.from({ length: many }, () => to * next() ** 2));
  const share = held(() => difference(sample(60, 100), sample(150, 80)), 20 - 25);
  expect(share).toBeGreaterThan(0.93);
  expect(share).toBeLessThan(0.985);
});

test("failureShare(hours, runs): the interval holds the share where failures of a run hang together", () => {
  // 3 to 8 runs an hour; of one in twenty nearly all of 40 measurements fail.
  const hour = () => {
    const runs = 3 + Math.floor(6 * next());
    const failed = Array.from({ length: runs }, () => (next() < 0.05 ? 36 : 0));
    return { n: 40 * runs, failed: failed.reduce<number>((sum, one) => sum + one, 0) };
  };
  const draw = () => failureShare(Array.from({ length: 14 * 24 }, hour), 14 * 24 * 5)!;
  const share = held(draw, 0.045);
  expect(share).toBeGreaterThan(0.92);
  expect(share).toBeLessThan(0.98);
  // As if they were independent it would be told far too sure.
  const { value, low, high } = draw();
  const naive = wilson(value * 40 * 1_680, 40 * 1_680)!;
  expect((high - low) / (naive.high - naive.low)).toBeGreaterThan(4);
});

test("failureShare(hours, runs) takes runs for trials where few hours tell nothing, and has no value without rows", () => {
  const none = { n: 1_000, failed: 0 };
  expect(failureShare([none, none], 20)).toEqual({ value: 0, ...wilson(0, 20)! });
  expect(failureShare([{ n: 0, failed: 0 }], 0)).toBeNull();
});

const at = (value: number, by: number) => ({ value, low: value - by, high: value + by });
test.each([
  [at(100, 2), at(60, 2), "moved"],
  [at(100, 2), at(103, 2), "as before"],
  // It may be: the interval lies on one side of nothing, and not beyond twice itself.
  [at(100, 12), at(120, 12), "can't tell"],
  [at(100, 20), at(100, 20), "can't tell"],
  [null, at(100, 1), "can't tell"],
] as const)("valueOf: from %o to %o it %s", (previous, now, told) => {
  const value = valueOf("Run duration, median", "s", { before: null, previous, now });
  expect(value.told).toBe(told);
  expect(words([value])).toMatch(
    {
      moved: /^run duration, median fell by 40 s \(40 %\)/,
      "as before": /^as before: /,
      "can't tell": /^I can't tell yet, because/,
    }[told],
  );
});

test("valueOf: a share moves by half of itself or a percentage point", () => {
  const of = (was: number, is: number) =>
    valueOf("Share", "share", { before: null, previous: at(was, 1e-5), now: at(is, 1e-5) }).told;
  expect([of(0.02, 0.029), of(0.02, 0.031), of(0.004, 0.0055), of(0.004, 0.0065)]).toEqual([
    ...["as before", "moved", "as before", "moved"],
  ]);
});
