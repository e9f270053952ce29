import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { quantileOf } from "../../src/base/statistics.js";
import { Watch } from "../../src/change/series/forecast.js";
import { seeded } from "../support/change/draws.js";
import { serviceCounts } from "../support/change/flow-results.js";

const SEASON = { day: 24, week: 168 };
const OPTIONS = { rate: 1, gap: 3, counts: true };

function watched(values: readonly (number | null)[]) {
  const watch = new Watch(values, SEASON, OPTIONS);
  return { drops: watch.drops, buckets: values.map((_, at) => watch.bucket(at)) };
}

describe("Watch", () => {
  it("judges each hour by hours up to it only", () => {
    const values = serviceCounts(900);
    const whole = watched(values).buckets;
    fc.assert(
      fc.property(
        fc.integer({ min: 680, max: 899 }),
        fc.array(fc.nat(5000), { minLength: 1, maxLength: 30 }),
        (at, other) => {
          const changed = watched([...values.slice(0, at), ...other]).buckets;
          expect(changed.slice(0, at)).toEqual(whole.slice(0, at));
          expect(changed[at]!.expected).toBe(whole[at]!.expected);
          expect(changed[at]!.limit).toBe(whole[at]!.limit);
        },
      ),
      { numRuns: 8, seed: 3 },
    );
  });

  it("alarms at no more than twice the stated rate on large counts with a day, a weekend and growth", () => {
    let [alarms, hours] = [0, 0];
    for (let seed = 0; seed < 8; seed++) {
      const { poisson } = seeded(seed);
      const values = Array.from({ length: 10 * 168 }, (_, hour) => {
        const day = 1 + 0.5 * Math.sin((2 * Math.PI * hour) / 24);
        const weekend = Math.floor(hour / 24) % 7 > 4 ? 0.8 : 1;
        return poisson(50_000 * day * weekend * 1.05 ** (hour / 168));
      });
      alarms += watched(values).drops.length;
      hours += values.length - 672;
    }
    expect((alarms / hours) * 672).toBeLessThanOrEqual(2);
  });

  it("takes hours of which nothing is known, and a series of zeros, without an alarm", () => {
    const values = serviceCounts(900).map((n, at) => (at % 50 < 5 ? null : n));
    const { buckets, drops } = watched(values);
    expect(drops.some(({ seen }) => values[seen - 1] === null)).toBe(false);
    expect(buckets.every(({ expected }) => Number.isFinite(expected))).toBe(true);
    expect(watched(Array<number>(900).fill(0)).drops).toEqual([]);
  });

  it("doesn't call an hour that is low by chance in a slow fall a drop that is over", () => {
    const falling = serviceCounts(1344, 5, 3000).map((n, at) => Math.round(n * 0.96 ** (at / 168)));
    const ends = (values: readonly number[]) =>
      watched(values.map((n, at) => (at === 1_300 ? Math.round(0.75 * n) : n)))
        .drops.filter(({ seen }) => seen === 1_301)
        .map(({ end }) => end.state);
    expect(ends(falling)).toEqual(["unsure"]);
    expect(ends(serviceCounts(1344, 5, 3000))).toEqual(["recovered"]);
  });

  it("says over of a loss once half of it can't be missing, within three hours, and never while it goes on", () => {
    let [seen, back] = [0, 0];
    for (const level of [60, 450, 2000]) {
      for (const left of [0, 0.4, 0.6]) {
        for (let start = 0; start < 24; start += 2) {
          const { uniform } = seeded(start);
          const [from, to] = [1_100 + start, 1_111 + start];
          const values = serviceCounts(1344, 77 * level + start, level);
          const lost = (until: number) =>
            values.map((n, at) =>
              at < from || at >= until
                ? n
                : Array.from({ length: n }, uniform).filter((u) => u < left).length,
            );
          const during = (hours: number) =>
            watched(lost(from + hours).slice(0, from + hours)).drops.find((drop) => drop.to > from);
          for (const hours of [11, 13, 24]) expect(during(hours)?.end.state).not.toBe("recovered");
          const after = watched(lost(to).slice(0, to + 3)).drops.find((drop) => drop.to > from);
          if (after === undefined || level < 450) continue;
          seen += 1;
          back += Number(after.end.state === "recovered");
        }
      }
    }
    expect(seen).toBeGreaterThanOrEqual(70);
    expect(back / seen).toBeGreaterThanOrEqual(0.9);
  });
});

test("quantileOf(sorted, level) uses the R-7 method", () => {
  expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.5)).toBe(3);
  expect(quantileOf(Float64Array.of(1, 2, 4, 8), 0.9)).toBeCloseTo(6.8, 12);
});
