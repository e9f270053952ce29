import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differing, rasterise } from "../../bench/downsample/raster.js";
import { reduceLines } from "../../src/downsample/reduce-lines.js";
import type { SeriesRows } from "../../src/downsample/series.js";
import { plainM4 } from "./plain-m4.js";

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
    fc.integer({ min: -30, max: 30 }),
  );
  const line = fc.array(point, { minLength: 1, maxLength: 600, size: "max" }).map((points) => {
    points.sort(([a], [b]) => a - b);
    return rowsOf(
      points.map(([x]) => x),
      points.map(([, y]) => y),
    );
  });

  test("draws the same picture of lines without gaps where it says so, at any height", () => {
    let exact = 0;
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 5, max: 60 }),
        fc.integer({ min: 300, max: 900 }),
        (series, width, maxRows) => {
          const start = Math.min(...series.map(({ x }) => x[0]!));
          const end = Math.max(...series.map(({ x }) => x.at(-1)!));
          const frame = { start, end, width };
          const reduced = reduceLines(series, frame, maxRows);
          const rows = reduced.kept.reduce((sum, { length }) => sum + length, 0);
          expect(rows).toBeLessThanOrEqual(maxRows);
          if (reduced.slices < width) return;
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

  test("keeps the first, last, lowest and highest row of each slice where pixel columns are too many", () => {
    const x = Array.from({ length: 20_000 }, (_, i) => i);
    const y = x.map((i) => Math.sin(i) * i);
    const frame = { start: 0, end: 19_999, width: 2_000 };
    const { kept, slices } = reduceLines([rowsOf(x, y)], frame, 500);
    expect(kept[0]!.length).toBeLessThanOrEqual(500);
    expect(slices).toBeGreaterThan(100);
    expect([...kept[0]!]).toEqual(plainM4(x, y, slices, 0, 19_999));
  });

  test("draws level lines exactly", () => {
    const x = Array.from({ length: 30_000 }, (_, i) => i);
    const y = x.map((i) => Math.floor(i / 10_000));
    const frame = { start: 0, end: 29_999, width: 1_000 };
    expect(reduceLines([rowsOf(x, y)], frame, 50).slices).toBeGreaterThanOrEqual(1_000);
  });
});
