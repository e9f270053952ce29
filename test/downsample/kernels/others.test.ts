import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { everyNth } from "../../../src/downsample/kernels/every-nth.js";
import { lttb } from "../../../src/downsample/kernels/lttb.js";
import { minMaxLttb } from "../../../src/downsample/kernels/min-max-lttb.js";
import { minMax } from "../../../src/downsample/kernels/min-max.js";
import { awkwardNumber } from "../awkward.js";

const kernels = {
  everyNth: (x: Float64Array, _y: Float64Array, count: number) => everyNth(x.length, count),
  minMax: (_x: Float64Array, y: Float64Array, count: number) => minMax(y, count),
  lttb,
  minMaxLttb,
};

describe.each(Object.entries(kernels))("%s(x, y, count)", (_name, kernel) => {
  test("gives ascending rows, no more than asked for, all where there are no more", () => {
    fc.assert(
      fc.property(
        fc.array(awkwardNumber(), { maxLength: 400, size: "max" }),
        fc.integer({ min: 1, max: 60 }),
        (values, count) => {
          const y = Float64Array.from(values);
          const rows = kernel(Float64Array.from(values.keys()), y, count);
          expect(rows.length).toBeLessThanOrEqual(Math.min(count, y.length));
          if (y.length <= count) expect([...rows]).toEqual([...values.keys()]);
          else expect(rows.length).toBeGreaterThan(0);
          rows.forEach((row, i) => expect(row).toBeGreaterThan(i === 0 ? -1 : rows[i - 1]!));
        },
      ),
      { numRuns: 300, seed: 2 },
    );
  });
});

describe("lttb(x, y, count)", () => {
  test("keeps the row of the largest triangle, as the plain definition finds it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 20, maxLength: 200 }),
        fc.integer({ min: 3, max: 15 }),
        (y, count) => {
          const rows = lttb(Float64Array.from(y.keys()), Float64Array.from(y), count);
          expect([...rows]).toEqual(plainLttb(y, count));
        },
      ),
      { numRuns: 200, seed: 3 },
    );
  });
});

describe("minMax(y, count)", () => {
  test("keeps the lowest and the highest of all", () => {
    const y = Float64Array.from({ length: 1_000 }, (_, i) => Math.sin(i));
    y[501] = 40;
    y[777] = -40;
    expect([...minMax(y, 10)]).toEqual(expect.arrayContaining([501, 777]));
  });
});

function plainLttb(y: readonly number[], count: number): number[] {
  const every = (y.length - 2) / (count - 2);
  const bucket = (i: number): number[] =>
    [...y.keys()].slice(
      Math.floor(i * every) + 1,
      Math.min(Math.floor((i + 1) * every) + 1, y.length),
    );
  const kept = [0];
  for (let i = 0; i < count - 2; i++) {
    const [a, after] = [kept.at(-1)!, bucket(i + 1)];
    const meanX = after.reduce((sum, row) => sum + row, 0) / after.length;
    const meanY = after.reduce((sum, row) => sum + y[row]!, 0) / after.length;
    const areas = bucket(i)
      .filter((row) => row < y.length - 1)
      .map((row) => ({
        row,
        area: Math.abs((a - meanX) * (y[row]! - y[a]!) - (a - row) * (meanY - y[a]!)),
      }));
    kept.push(areas.reduce((best, next) => (next.area > best.area ? next : best)).row);
  }
  return [...kept, y.length - 1];
}
