import { expect, test } from "vitest";
import { asResult, seededCounts } from "../../bench/change/change-points.js";
import { changePoints } from "../../src/index.js";

const START = Date.UTC(2026, 4, 4);
const HOUR = 3_600_000;

test.each([["hour"], ["day"]] as const)(
  "changePoints finds nothing in 95 % of seasonal counts by $0 without a drop, and drops of half in 90 %",
  async (every) => {
    const seeds = 40;
    let [quiet, hits] = [0, 0];
    for (let seed = 0; seed < seeds; seed++) {
      quiet += Number(!(await changePoints(asResult(seededCounts(800 + seed, every, 0)))).found);
      const drop = seededCounts(900 + seed, every, 0.5);
      const { result } = await changePoints(asResult(drop));
      const size = every === "hour" ? HOUR : 24 * HOUR;
      const times = (result.column("t") as Date[]).map((t) => (Number(t) - START) / size);
      hits += Number(times.some((at) => Math.abs(at - drop.at) <= 1));
    }
    expect(quiet / seeds).toBeGreaterThanOrEqual(0.95);
    expect(hits / seeds).toBeGreaterThanOrEqual(0.9);
  },
);
