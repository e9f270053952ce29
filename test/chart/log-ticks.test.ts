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
    .filter((text) => /^[\d.]+[kMG]?$/.test(text) && text !== "2026");
}

test("a log axis writes its powers of ten, none of them as a fraction with a prefix", async () => {
  expect(await labels(400, 99_000, 300)).toEqual(["500", "1k", "2k", "5k", "10k", "20k", "50k"]);
  expect(await labels(0.2, 200_000, 150)).toEqual(["1", "10", "100", "1k", "10k", "100k"]);
  expect(await labels(0.2, 20_000, 400)).toContain("0.5");
  expect((await labels(410, 480, 300)).length).toBeGreaterThan(2);
});
