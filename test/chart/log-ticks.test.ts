import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { logTicks } from "../../src/chart/axes.js";
import { makeResult } from "./support/sample-results.js";
import { xmlElements } from "./support/xml-tree.js";

const ROOM = 22;

/** The powers of ten from low to high, by walking all that numbers can be. */
function powers(low: number, high: number): number[] {
  return Array.from({ length: 640 }, (_, index) => Number(`1e${index - 330}`)).filter(
    (power) => power >= low && power <= high,
  );
}

function grown(low: number, high: number) {
  const n = Array.from({ length: 40 }, (_, index) => low * (high / low) ** (index / 39));
  return makeResult({ t: n.map((_, index) => new Date(Date.UTC(2026, 2, 1 + index))), n });
}

/** What the picture says beside the axis, up from its foot. */
async function labels(low: number, high: number, height: number): Promise<string[]> {
  const svg = await chart.line(grown(low, high), { yScale: "log", width: 420, height }).svg();
  return xmlElements(svg)
    .map(({ text }) => text)
    .filter((text) => /^[\d.]+[kMG]?$/.test(text) && text !== "2026");
}

describe("logTicks", () => {
  test("powers of ten are all there, if there is room; the rest are their doubles and fivefolds", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -9, max: 9, noNaN: true }),
        fc.double({ min: 1, max: 12, noNaN: true }),
        fc.integer({ min: 50, max: 1_000 }),
        (from, decades, height) => {
          const [low, high] = [10 ** from, 10 ** (from + decades)];
          const ticks = logTicks([low, null, high, 0, -1], height) ?? [];
          const y = (tick: number): number => (Math.log10(tick / low) / decades) * height;
          ticks.forEach((tick, index) => {
            expect(tick).toBeGreaterThanOrEqual(low);
            expect(tick).toBeLessThanOrEqual(high);
            expect(tick.toExponential()).toMatch(/^[125]e/);
            if (index > 0)
              expect(y(tick) - y(ticks[index - 1] ?? NaN)).toBeGreaterThan(ROOM - 0.01);
          });
          if (height / decades > ROOM + 0.01)
            expect(ticks).toEqual(expect.arrayContaining(powers(low, high)));
          expect(ticks.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 400, seed: 21 },
    );
  });

  test("doubles and fivefolds come as soon as there is room", () => {
    expect(logTicks([400, 90_000], 110)).toEqual([1_000, 10_000]);
    expect(logTicks([400, 90_000], 300)).toEqual([
      500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000,
    ]);
    expect(logTicks([1, 1e12], 130)).toEqual([1, 1e3, 1e6, 1e9, 1e12]);
  });

  test("less than a decade is left to Vega, unless it holds three of them", () => {
    expect(logTicks([410, 480], 300)).toBeUndefined();
    expect(logTicks([7, 7], 300)).toBeUndefined();
    expect(logTicks([null, 0, -3], 300)).toBeUndefined();
    expect(logTicks([60, 590], 300)).toEqual([100, 200, 500]);
  });
});

test("a log axis writes its powers of ten, none of them as a fraction with a prefix", async () => {
  expect(await labels(400, 99_000, 300)).toEqual(["500", "1k", "2k", "5k", "10k", "20k", "50k"]);
  expect(await labels(0.2, 200_000, 150)).toEqual(["1", "10", "100", "1k", "10k", "100k"]);
  expect(await labels(0.2, 20_000, 400)).toContain("0.5");
  expect((await labels(410, 480, 300)).length).toBeGreaterThan(2);
});
