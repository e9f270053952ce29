import { expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { makeResult } from "./support/sample-results.js";
import { xmlElements } from "./support/xml-tree.js";

function grown(low: number, high: number) {
  const n = Array.from({ length: 40 }, (_, index) => low * (high / low) ** (index / 39));
  return makeResult({ t: n.map((_, index) => new Date(Date.UTC(2026, 2, 1 + index))), n });
}

/** What the picture says beside the axis, up from its foot. */
async function labels(low: number, high: number, height: number): Promise<string[]> {
  const svg = await chart.line(grown(low, high), { y: { type: "log" }, width: 420, height }).svg();
  return xmlElements(svg)
    .map(({ text }) => text)
    .filter((text) => /^[\d.,]+$/.test(text) && text !== "2026");
}

test("a log axis has labels up to its top, and no more than there is room for", async () => {
  const powers = ["1", "10", "100", "1,000", "10,000", "100,000"];
  expect(await labels(0.2, 200_000, 150)).toEqual(powers);
  expect(await labels(400, 99_000, 300)).toEqual(expect.arrayContaining(["1,000", "10,000"]));
  expect((await labels(400, 99_000, 300)).length).toBeLessThan(12);
  expect(await labels(12, 95, 130)).toEqual(["20", "30", "50", "70"]);
  expect(await labels(400, 5_200, 130)).toEqual(["500", "1,000", "2,000", "5,000"]);
  expect(await labels(2, 900, 130)).toEqual("2 5 10 20 50 100 200 500".split(" "));
  expect((await labels(410, 480, 300)).length).toBeGreaterThan(2);
});
