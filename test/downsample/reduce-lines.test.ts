import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differing, rasterise } from "../../bench/downsample/raster.js";
import { makeShape, SHAPES } from "../../bench/downsample/shapes.js";
import { reduceLines } from "../../src/downsample/reduce-lines.js";
import type { SeriesRows } from "../../src/downsample/series.js";

const rowsOf = (x: readonly number[], y: readonly number[]): SeriesRows => ({
  key: "",
  rows: Int32Array.from(x.keys()),
  x: Float64Array.from(x),
  y: Float64Array.from(y),
});

/** The picture of the rows at `kept`, or of all. */
function picture(
  series: readonly SeriesRows[],
  width: number,
  height: number,
  kept?: readonly Int32Array[],
): Uint8Array {
  const finite = series.flatMap(({ y }) => [...y].filter(Number.isFinite));
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const start = Math.min(...series.map(({ x }) => x[0]!));
  const end = Math.max(...series.map(({ x }) => x.at(-1)!));
  const scale = end > start ? width / (end - start) : 0;
  const lines = series.map(({ x, y }, i) => {
    const places = kept?.[i] ?? Int32Array.from(x.keys());
    return {
      x: Float64Array.from(places, (place) => (x[place]! - start) * scale),
      y: Float64Array.from(places, (place) =>
        high > low ? ((high - y[place]!) / (high - low)) * height : y[place]! - y[place]!,
      ),
    };
  });
  return rasterise(lines, width, height);
}

describe("reduceLines(series, picture, maxRows)", () => {
  const point = fc.tuple(
    fc.oneof(fc.integer({ min: 0, max: 200 }), fc.double({ min: 0, max: 200, noNaN: true })),
    fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: -30, max: 30 }) },
      { weight: 1, arbitrary: fc.constant(NaN) },
    ),
  );
  const line = fc.array(point, { minLength: 1, maxLength: 600, size: "max" }).map((points) => {
    points.sort(([a], [b]) => a - b);
    return rowsOf(
      points.map(([x]) => x),
      points.map(([, y]) => y),
    );
  });

  test("draws the same picture where it says so, at any height", () => {
    let exact = 0;
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 5, max: 60 }),
        fc.integer({ min: 300, max: 900 }),
        (series, width, maxRows) => {
          const start = Math.min(...series.map(({ x }) => x[0]!));
          const end = Math.max(...series.map(({ x }) => x.at(-1)!));
          const frame = { start, end, width, height: 50, yType: "linear" as const };
          const reduced = reduceLines(series, frame, maxRows);
          const rows = reduced.kept.reduce((sum, { length }) => sum + length, 0);
          expect(rows).toBeLessThanOrEqual(maxRows);
          if (reduced.tolerance > 0) return;
          exact++;
          for (const height of [7, 50, 211]) {
            const full = picture(series, width, height);
            expect(differing(full, picture(series, width, height, reduced.kept))).toBe(0);
          }
        },
      ),
      { numRuns: 200, seed: 9 },
    );
    expect(exact).toBeGreaterThan(50);
  });

  test("keeps both ends of each stretch and a row of each gap that is wider than a column", () => {
    const x = Array.from({ length: 20_000 }, (_, i) => i);
    const y = x.map((i) => (i % 4_000 > 3_000 ? NaN : Math.sin(i) * i));
    const frame = { start: 0, end: 19_999, width: 2_000, height: 400, yType: "linear" as const };
    const { kept, tolerance } = reduceLines([rowsOf(x, y)], frame, 500);
    expect(tolerance).toBeGreaterThan(0);
    expect(kept[0]!.length).toBeLessThanOrEqual(500);
    for (let stretch = 0; stretch < 5; stretch++) {
      expect([...kept[0]!]).toContain(stretch * 4_000);
      expect([...kept[0]!]).toContain(stretch * 4_000 + 3_000);
      const gap = kept[0]!.filter((i) => i > stretch * 4_000 + 3_000 && i < (stretch + 1) * 4_000);
      expect(gap).toHaveLength(1);
    }
  });

  test.each(SHAPES.filter((shape) => shape === "noise with spikes"))(
    "keeps every planted spike: %s",
    (shape) => {
      const series = [1, 2, 3, 4, 5, 6].map((seed) => {
        const { x, y, spikes } = makeShape(shape, 20_000, seed);
        return { ...rowsOf([...x], [...y]), spikes };
      });
      const end = Math.max(...series.map(({ x }) => x.at(-1)!));
      const frame = { start: 0, end, width: 500, height: 200, yType: "linear" as const };
      const { kept } = reduceLines(series, frame, 2_000);
      series.forEach(({ spikes }, i) => {
        expect([...kept[i]!]).toEqual(expect.arrayContaining([...spikes]));
      });
    },
  );

  test("misses no row by more than the tolerance that it says, and draws level lines exactly", () => {
    const height = 300;
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 400, maxLength: 800 }),
        fc.integer({ min: 20, max: 300 }),
        (steps, maxRows) => {
          let at = 0;
          const y = steps.map((step) => (at += step));
          const x = y.map((_, i) => i);
          const frame = {
            start: 0,
            end: y.length,
            width: y.length,
            height,
            yType: "linear" as const,
          };
          const { kept, tolerance } = reduceLines([rowsOf(x, y)], frame, maxRows);
          const places = [...kept[0]!];
          expect(places.length).toBeLessThanOrEqual(maxRows);
          const pixel = height / (Math.max(...y) - Math.min(...y));
          places.slice(1).forEach((to, before) => {
            const from = places[before]!;
            for (let i = from; i <= to; i++) {
              const drawn = y[from]! + ((y[to]! - y[from]!) * (i - from)) / (to - from);
              expect(Math.abs(drawn - y[i]!) * pixel).toBeLessThanOrEqual(tolerance + 1e-6);
            }
          });
        },
      ),
      { numRuns: 60, seed: 4 },
    );
    const x = Array.from({ length: 30_000 }, (_, i) => i);
    const stairs = rowsOf(
      x,
      x.map((i) => Math.floor(i / 10_000)),
    );
    const frame = { start: 0, end: 29_999, width: 1_000, height, yType: "linear" as const };
    expect(reduceLines([stairs], frame, 50).tolerance).toBe(0);
  });

  test("weighs heights on a log scale in log space", () => {
    const x = Array.from({ length: 30_000 }, (_, i) => i);
    const waves = x.map((i) => (i < 15_000 ? 2 + Math.sin(i * 7) : 1e6 * (2 + Math.sin(i * 7))));
    const frame = { start: 0, end: 29_999, width: 1_000, height: 400 };
    const left = (yType: "linear" | "log"): number =>
      reduceLines([rowsOf(x, waves)], { ...frame, yType }, 600).kept[0]!.filter((i) => i < 15_000)
        .length;
    expect(left("linear")).toBeLessThan(10);
    expect(left("log")).toBeGreaterThan(100);
  });
});
