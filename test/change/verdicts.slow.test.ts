import { expect, test } from "vitest";
import { seeded } from "../support/change/draws.js";
import { recovery } from "../../src/change/series/forecast.js";
import { anomalies } from "../../src/index.js";
import { hourlyResult, serviceCounts } from "../support/change/flow-results.js";

const WEEKS_8 = 1344;
const SEASON = { day: 24, week: 168 };
const SIZES = [60, 450, 2000];

/** The counts, of which each measurement in [from, to) is lost with a probability. */
function thinned(values: readonly number[], from: number, to: number, loss: number): number[] {
  const { uniform } = seeded(from);
  const kept = (n: number) => Array.from({ length: n }, uniform).filter((u) => u > loss).length;
  return values.map((n, hour) => (hour >= from && hour < to ? kept(n) : n));
}

test("a loss that goes on is never called over, and one that is over rarely held on", () => {
  let goesOn = 0;
  for (const level of SIZES) {
    for (const loss of [0.15, 0.4, 0.6, 1]) {
      let [within3Hours, held] = [0, 0];
      for (let start = 0; start < 24; start++) {
        const [from, to] = [1_100 + start, 1_109 + start];
        const values = serviceCounts(WEEKS_8, 77 * level + start, level);
        const on = thinned(values, from, to + 24, loss);
        for (const hours of [1, 3, 24]) {
          const { state } = recovery(on.slice(0, to + hours), { from, to }, SEASON);
          expect(state).not.toBe("recovered");
          goesOn += Number(hours === 1 && state === "below");
        }
        const back = thinned(values, from, to, loss);
        const first = recovery(back.slice(0, to + 1), { from, to }, SEASON).state;
        expect(first).not.toBe("recovered");
        held += Number(first === "below");
        const later = recovery(back.slice(0, to + 3), { from, to }, SEASON);
        within3Hours += Number(later.state === "recovered");
      }
      // An hour that is low by chance holds the alarm an hour longer.
      expect(held, `${level}, ${loss}`).toBeLessThanOrEqual(3);
      if (level >= 450 && loss >= 0.5) expect(within3Hours).toBeGreaterThanOrEqual(23);
    }
  }
  // The hour after an alarm doesn't take it back: of 288 losses that go on.
  expect(goesOn).toBeGreaterThan(250);
});

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
