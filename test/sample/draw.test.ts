import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { drawIndex, quantileTable } from "../../src/sample/draw.js";
import { temporaryWriter } from "./temporary-writer.js";

let writer: Writer;
beforeAll(async () => {
  writer = await temporaryWriter();
});
afterAll(() => writer[Symbol.asyncDispose]());

describe("drawIndex(weights, hash)", () => {
  it("draws each index as often as its weight says", async () => {
    const draws = 20_000;
    const weights = fc
      .array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 40 })
      .filter((list) => list.some((weight) => weight > 0));
    await fc.assert(
      fc.asyncProperty(weights, async (list) => {
        const rows = await writer.rows<{ drawn: number; n: number }>(
          `SELECT ${drawIndex(list, "intHash64(number)")} AS drawn, count() AS n FROM numbers(${draws}) GROUP BY drawn`,
        );
        const counts = new Map(rows.map((row) => [row.drawn, row.n]));
        const total = list.reduce((sum, weight) => sum + weight, 0);
        for (const [index, weight] of list.entries()) {
          const expected = (draws * weight) / total;
          // 6 standard deviations of a binomial count, and the rounding of the weights
          const tolerance = 6 * Math.sqrt(expected * (1 - weight / total)) + 1;
          expect(Math.abs((counts.get(index) ?? 0) - expected)).toBeLessThanOrEqual(tolerance);
        }
        expect([...counts.keys()].every((index) => index >= 0 && index < list.length)).toBe(true);
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});

describe("quantileTable(quantile, size)", () => {
  it("takes the middles of equal steps, rounded", () => {
    expect(quantileTable((p) => p * 100, 4)).toEqual([13, 38, 63, 88]);
  });
});
