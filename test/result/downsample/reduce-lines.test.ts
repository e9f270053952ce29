import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differing, rasterise } from "../../support/raster.js";
import { reduceLines } from "../../../src/result/downsample/reduce-lines.js";
import type { SeriesRows } from "../../../src/result/downsample/series.js";
import { m4, pixelAxis } from "../../../src/result/downsample/m4.js";

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
          const kept = reduced.lines.map((line) => line.kept);
          expect(kept.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(maxRows);
          if (reduced.differs > 0) return;
          const columns = series.map(({ x, y }) => m4(x, y, pixelAxis(start, end, width)));
          if (columns.reduce((sum, { length }) => sum + length, 0) > maxRows) return;
          exact++;
          for (const height of [7, 50, 211]) {
            const full = picture(series, width, height);
            expect(differing(full, picture(series, width, height, kept))).toBe(0);
          }
        },
      ),
      { numRuns: 200, seed: 9 },
    );
    expect(exact).toBeGreaterThan(50);
  });

  const many = fc
    .tuple(fc.integer({ min: 3, max: 6 }), fc.integer({ min: 0, max: 1e6 }))
    .map(([count, seed]) =>
      Array.from({ length: count }, (_, number) => {
        let state = seed + number;
        const random = (): number => (state = (state * 16807 + 11) % 2147483647) / 2147483647;
        let level = 0;
        const y = Array.from({ length: 3_000 }, () =>
          random() < 0.002 ? NaN : (level += random() - 0.5) + (number % 2) * 4 * random(),
        );
        return rowsOf(
          y.map((_, i) => i),
          y,
        );
      }),
    );

  test("is nearer to the picture than wider slices, keeps extremes, and a band holds the slice's values", () => {
    fc.assert(
      fc.property(many, fc.boolean(), (series, bands) => {
        const plot = { start: 0, end: 2_999, width: 300, height: 100 };
        const { lines, differs } = reduceLines(series, plot, 1_000, bands);
        const rows = lines.reduce((sum, { kept }) => sum + kept.length, 0);
        expect(rows).toBeLessThanOrEqual(1_000);
        expect(rows).toBeGreaterThan(900);
        lines.forEach(({ kept, highest }, number) => {
          const { x, y } = series[number]!;
          const finite = y.filter(Number.isFinite);
          const low = Math.min(...finite);
          const high = Math.max(...finite);
          expect([...kept].some((place) => y[place] === low)).toBe(true);
          expect([...highest].some((place) => y[place] === high)).toBe(true);
          kept.forEach((place, at) => {
            const top = highest[at]!;
            if (at > 0) expect(place).toBeGreaterThan(kept[at - 1]!);
            if (top === place) return;
            expect(bands).toBe(true);
            expect(y[top]!).toBeGreaterThanOrEqual(y[place]!);
            expect(Math.abs(x[top]! - x[place]!)).toBeLessThanOrEqual(10);
          });
        });
        expect(differs).toBeGreaterThanOrEqual(0);
        expect(reduceLines(series, plot, 1_000, bands).lines).toEqual(lines);
        if (bands) return;
        const full = picture(series, 300, 100);
        const off = (kept: readonly Int32Array[]): number =>
          differing(full, picture(series, 300, 100, kept));
        const axis = pixelAxis(0, 2_999, Math.floor(1_000 / series.length / 4));
        const slices = series.map(({ x, y }) => m4(x, y, axis));
        expect(off(lines.map(({ kept }) => kept))).toBeLessThan(off(slices));
      }),
      { numRuns: 6, seed: 3 },
    );
  });

  test("keeps spikes that later lines hide", () => {
    const random = (i: number): number => Math.abs(Math.sin(i * 12.9898) * 43758.5453) % 1;
    const spikes = Array.from({ length: 10 }, (_, i) => 2_000 + 5_000 * i);
    const series = Array.from({ length: 20 }, (_, number) => {
      const y = Array.from({ length: 50_000 }, (_, i) => number + 8 * random(i + 7 * number));
      for (const spike of spikes) y[spike + number] = number + (spike % 4_000 === 0 ? 40 : -30);
      return rowsOf(
        y.map((_, i) => i),
        y,
      );
    });
    for (const bands of [false, true]) {
      const plot = { start: 0, end: 49_999, width: 1_000 };
      const { lines } = reduceLines(series, plot, 4_999, bands);
      lines.forEach(({ kept, highest }, number) => {
        const places = new Set([...kept, ...highest]);
        expect(spikes.filter((spike) => !places.has(spike + number))).toEqual([]);
      });
    }
  });

  test("never shows more error with more rows, and says none where the picture is the same", () => {
    const x = Array.from({ length: 20_000 }, (_, i) => i);
    const y = x.map((i) => Math.sin(i) * i);
    const plot = { start: 0, end: 19_999, width: 500 };
    const off = [100, 300, 900, 4_000].map(
      (most) => reduceLines([rowsOf(x, y)], plot, most).differs,
    );
    expect(off).toEqual(off.toSorted((a, b) => b - a));
    expect(off[0]).toBeGreaterThan(0.2);
    expect(off[3]).toBe(0);
  });

  test("draws level lines exactly", () => {
    const x = Array.from({ length: 30_000 }, (_, i) => i);
    const y = x.map((i) => Math.floor(i / 10_000));
    const plot = { start: 0, end: 29_999, width: 1_000 };
    const { lines, differs } = reduceLines([rowsOf(x, y)], plot, 50);
    expect(differs).toBe(0);
    expect(lines[0]!.kept.length).toBeLessThanOrEqual(50);
  });
});
