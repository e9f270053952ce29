import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { m4, pixelAxis } from "../../../src/result/downsample/m4.js";
import { awkwardNumber } from "./awkward.js";

describe("m4(x, y, axis)", () => {
  test("keeps first, last, lowest and highest of each column, as the plain reference does", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -500, max: 500 }), awkwardNumber()), {
          maxLength: 300,
        }),
        fc.integer({ min: 1, max: 40 }),
        (points, columns) => {
          points.sort(([a], [b]) => a - b);
          const x = points.map(([value]) => value);
          const y = points.map(([, value]) => value);
          const [start, end] = [x[0] ?? 0, x.at(-1) ?? 0];
          const axis = pixelAxis(start, end, columns);
          const kept = m4(Float64Array.from(x), Float64Array.from(y), axis);
          expect([...kept]).toEqual(plainM4(x, y, columns, start, end));
        },
      ),
      { numRuns: 500, seed: 1 },
    );
  });
});

describe("pixelAxis(start, end, columns)", () => {
  test("refuses bounds that are further apart than a number holds", () => {
    expect(() => pixelAxis(-1.7e308, 1.7e308, 10)).toThrow(/Can't cut an axis.*leave out the rows/);
  });

  test("keeps columns of the smallest spans apart from NaN", () => {
    const x = Float64Array.of(0, 5e-324);
    expect([...m4(x, Float64Array.of(1, 2), pixelAxis(0, 5e-324, 10))]).toEqual([0, 1]);
  });
});

/** M4 as the paper says it, over plain arrays: the reference that the kernel is tested against. */
function plainM4(
  x: readonly number[],
  y: readonly number[],
  columns: number,
  start: number,
  end: number,
): number[] {
  const scale = end > start ? columns / (end - start) : 0;
  const groups = new Map<number, number[]>();
  x.forEach((value, row) => {
    const column = Math.min(columns, Math.max(0, Math.floor((value - start) * scale)));
    groups.set(column, [...(groups.get(column) ?? []), row]);
  });
  const kept = new Set<number>();
  for (const rows of groups.values()) {
    const finite = rows.filter((row) => Number.isFinite(y[row]));
    const gaps = rows.filter((row) => !Number.isFinite(y[row]));
    const values = finite.map((row) => y[row]!);
    const [first, last] = [finite[0], finite.at(-1)];
    if (first === undefined || last === undefined) {
      kept.add(gaps[0]!);
      continue;
    }
    kept.add(first).add(last);
    kept.add(finite[values.indexOf(Math.min(...values))]!);
    kept.add(finite[values.indexOf(Math.max(...values))]!);
    if (gaps[0] !== undefined && gaps[0] < first) kept.add(gaps[0]);
    if (gaps.length > 0 && gaps.at(-1)! > last) kept.add(gaps.at(-1)!);
  }
  return [...kept].sort((a, b) => a - b);
}
