import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Point } from "../../src/chart/draw-rows.js";
import { stepPoints } from "../../src/chart/steps.js";

const value = fc.option(fc.integer({ min: 0, max: 99 }));

/** What a line of steps shows at an instant: the value of the last point up to it. */
function shownAt(points: readonly Point[], at: number): number | null {
  const last = points.filter(({ x }) => Number(x) <= at).at(-1);
  return last === undefined || at >= Number(points.at(-1)?.x) ? null : last.y;
}

describe("stepPoints(points, ends, stacked)", () => {
  test("shows each value in all of its bucket, and none outside of them", () => {
    const buckets = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(buckets, fc.array(value, { minLength: 21, maxLength: 21 }), (places, values) => {
        const xs = places.sort((a, b) => a - b).map((place) => place * 10);
        const points = xs.map((x, at): Point => ({ x, y: values[at] ?? null, series: 0 }));
        const drawn = stepPoints(points, new Map(xs.map((x) => [x, x + 10])), false);
        for (let at = 5; at < 220; at += 10) {
          const expected = points.find(({ x }) => x === at - 5)?.y ?? null;
          expect(shownAt(drawn, at)).toBe(expected);
        }
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  test("in a stack a gap between buckets is zero, in all series at once", () => {
    const points = [0, 30].flatMap((x) => [0, 1].map((series): Point => ({ x, y: 7, series })));
    const drawn = stepPoints(points, new Map([0, 30].map((x) => [x, x + 10])), true);
    for (const series of [0, 1]) {
      const own = drawn.filter((point) => point.series === series);
      expect(own.map(({ x, y }) => [x, y])).toEqual([
        ...[
          [0, 7],
          [10, 7],
          [11, 0],
        ],
        ...[
          [30, 7],
          [40, 7],
        ],
      ]);
    }
  });
});
