import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import type { Value } from "../../src/result/result.js";
import { makeResult } from "./support/sample-results.js";

describe("a chart's series", () => {
  const kinds: Record<string, (at: number) => Value> = {
    "arrays that are equal": (at: number) => ["a", at % 2],
    "Dates of one instant": (at: number) => new Date(86_400_000 * (at % 2)),
  };
  test.each(Object.entries(kinds))("%s are one series, with each row in its own", (_, make) => {
    for (const rows of [28, 28_000]) {
      const numbers = Array.from({ length: rows }, (_, at) => at);
      const result = makeResult({
        x: numbers,
        y: numbers,
        tags: numbers.map((at) => make(at)),
      });
      const drawn = chart.line(result, { x: "x", y: "y", colour: "tags" }).data.rows;
      for (const [x, tags] of drawn) expect(tags).toEqual(make(Number(x)));
    }
  });
});
