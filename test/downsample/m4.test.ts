import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { m4, pixelAxis } from "../../src/downsample/m4.js";
import { plainM4 } from "./plain-m4.js";
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

  test("takes the earliest of equal values", () => {
    const x = Float64Array.of(0, 1, 2, 3, 4, 5, 6);
    const y = Float64Array.of(5, 9, 1, 9, 1, 6, 7);
    expect([...m4(x, y, pixelAxis(0, 100, 1))]).toEqual([0, 1, 2, 6]);
  });

  test("keeps a row of a gap that a column begins or ends with, or consists of", () => {
    const x = Float64Array.of(0, 1, 2, 3, 10, 11, 20, 21, 22);
    const y = Float64Array.of(NaN, 1, NaN, 2, NaN, Infinity, 3, -Infinity, NaN);
    expect([...m4(x, y, pixelAxis(0, 30, 3))]).toEqual([0, 1, 3, 4, 6, 8]);
  });

  test("puts an x at the end of the axis into a further column", () => {
    const x = Float64Array.of(0, 0.5, 1, 1, 1, 1);
    const y = Float64Array.of(0, 0, 5, 9, 1, 5);
    expect([...m4(x, y, pixelAxis(0, 1, 1))]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("finds no rows in none, and one in one", () => {
    expect(m4(new Float64Array(0), new Float64Array(0), pixelAxis(0, 0, 9))).toHaveLength(0);
    expect([...m4(Float64Array.of(-7), Float64Array.of(3), pixelAxis(-7, -7, 9))]).toEqual([0]);
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
