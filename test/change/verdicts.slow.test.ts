import { expect, test } from "vitest";
import { seeded } from "../support/change/draws.js";
import { anomalies } from "../../src/index.js";
import { hourlyResult, serviceCounts } from "../support/change/flow-results.js";

const WEEKS_8 = 1344;
const SIZES = [60, 450, 2000];

/** The counts, of which each measurement in [from, to) is lost with a probability. */
function thinned(values: readonly number[], from: number, to: number, loss: number): number[] {
  const { uniform } = seeded(from);
  const kept = (n: number) => Array.from({ length: n }, uniform).filter((u) => u > loss).length;
  return values.map((n, hour) => (hour >= from && hour < to ? kept(n) : n));
}

test("of drops of the size that no drop's answer states, 90 % are seen", async () => {
  for (const level of SIZES) {
    let [seen, all] = [0, 0];
    for (let seed = 0; seed < 40; seed++) {
      const values = serviceCounts(WEEKS_8, 100 * level + seed, level);
      const options = { since: "48 hours", falseAlarms: 0.5 };
      const { least, found } = await anomalies(hourlyResult({ "": values }), options);
      if (least === null || found) continue;
      const at = WEEKS_8 - 40 + (seed % 38);
      const dropped = hourlyResult({ "": thinned(values, at, at + 2, least) });
      seen += Number((await anomalies(dropped, options)).found);
      all += 1;
    }
    expect(seen / all).toBeGreaterThanOrEqual(0.9);
  }
});

test("of drops of a day of the size that no drop's answer states for a day, 90 % are seen", async () => {
  for (const level of [8, ...SIZES]) {
    let [seen, all] = [0, 0];
    for (let seed = 0; seed < 40; seed++) {
      const values = serviceCounts(WEEKS_8, 100 * level + seed, level);
      const options = { since: "48 hours", falseAlarms: 0.5 };
      const { evidence, found } = await anomalies(hourlyResult({ "": values }), options);
      const [, least] = /(\d+) % or more over (?:24|two) hours would have/.exec(evidence) ?? [];
      if (least === undefined || found) continue;
      const at = WEEKS_8 - 40 + (seed % 16);
      const dropped = hourlyResult({ "": thinned(values, at, at + 24, Number(least) / 100) });
      seen += Number((await anomalies(dropped, options)).found);
      all += 1;
    }
    expect(all).toBeGreaterThan(0);
    expect.soft(seen / all).toBeGreaterThanOrEqual(0.9);
  }
});
