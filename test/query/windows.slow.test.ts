import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { measurementsOf, runsOf } from "../../src/measurements/measurements.js";
import {
  distinct,
  earliest,
  latest,
  max,
  mean,
  min,
  quantile,
  share,
  sum,
  count,
} from "../../src/query/measure.js";
import type { Result } from "../../src/result/result.js";
import { between, type TimeRange } from "../../src/time/time-range.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-01-01", "2026-03-01");
/** Too little for two months of runs at once, enough for a few days of them. */
const SMALL = { maxMemory: 20 * 2 ** 20 };

// Runs of one to seven measurements that cross midnights, versions of very different size.
beforeAll(async () => {
  await own.writer
    .command(`CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
    software_name LowCardinality(String), software_version LowCardinality(Nullable(String)), probe_asn UInt32,
    probe_cc LowCardinality(String), test_name LowCardinality(String))
    ENGINE = MergeTree ORDER BY measurement_start_time`);
  await own.writer.command(`INSERT INTO fastpath
    SELECT toDateTime('2025-12-31 12:00:00', 'UTC') + intDiv(run * 86, 10) + step * (1 + cityHash64(run) % 400),
      if(run % 5000 = 7, '', concat(toString(run), '_', hex(sipHash128(run)))),
      ['a', 'b', 'c'][1 + cityHash64(run, 1) % 3], if(run % 11 = 0, NULL, concat('3.', toString(intDiv(cityHash64(run, 2) % 100, 9) % 12))),
      cityHash64(run, 3) % 50, 'IT', 'web_connectivity'
    FROM (SELECT number AS run, arrayJoin(range(1 + cityHash64(number) % 7)) AS step FROM numbers(600000))`);
}, 300_000);

const windowed = (result: Result) =>
  result.origin.notes.some((note) => /^Asked in \d+ windows of time/.test(note));

function same(part: Result, whole: Result): void {
  expect(part.origin.columns).toEqual(whole.origin.columns);
  expect(part.origin.reductions).toEqual(whole.origin.reductions);
  const [found, expected] = [part.rows(), whole.rows()] as Record<string, unknown>[][];
  expect(found!.length).toBe(expected!.length);
  found!.forEach((row, at) => {
    for (const [name, value] of Object.entries(expected![at]!)) {
      if (typeof value === "number") expect(row[name], name).toBeCloseTo(value, 9);
      else expect(row[name], name).toEqual(value);
    }
  });
}

describe("a question that the reader's memory can't hold", () => {
  it("is asked in windows of time, with the answer of the whole", async () => {
    await using whole = await Database.open(own.source);
    await using small = await Database.open(own.source, SMALL);
    let windows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          every: fc.constantFrom("all", "week", "day", "month"),
          by: fc.constantFrom(
            [],
            ["software_version"],
            ["software_name", "software_version"],
            ["probe_asn"],
          ),
          top: fc.constantFrom(1, 3, Infinity),
          zone: fc.constantFrom("UTC", "Asia/Kolkata"),
        }),
        async ({ every, by, top, zone }) => {
          const options = {
            ...{ every: every as "week", by, top },
            range: between("2026-01-01", "2026-03-01", { timeZone: zone }),
          };
          const measures = {
            runs: count(),
            q50: quantile(0.5, "duration"),
            pace: quantile(0.9, "seconds_per_measurement", {
              where: { seconds_per_measurement: { above: 20 } },
            }),
            n: sum("measurements"),
            short: share({ duration: { below: 60 } }),
            ...{ mean: mean("duration"), least: min("duration"), most: max("duration") },
            ...{ first: earliest(), last: latest() },
          };
          const part = await runsOf(small).ask({ ...options, measures });
          same(part, await runsOf(whole).ask({ ...options, measures }));
          if (windowed(part)) windows += 1;
        },
      ),
      { numRuns: 4, seed: 15 },
    );
    expect(windows).toBe(4);
  }, 600_000);

  it("keeps the windows that were asked before an interrupt, and says from when on", async () => {
    await using small = await Database.open(own.source, SMALL);
    const stop = new AbortController();
    const ask = small.ask.bind(small);
    let answers = 0;
    small.ask = async (query) => {
      const answer = await ask(query);
      if ((answers += 1) === 2) stop.abort();
      return answer;
    };
    const result = await measurementsOf(small).runDurations({
      range,
      every: "day",
      signal: stop.signal,
    });
    expect(result.origin.reductions.at(-1)).toMatch(
      /^Stopped after 2 windows of time: 2026-01-01.* is not asked and left out\.$/,
    );
    const asked = result.origin.range as TimeRange;
    expect(+asked.start).toBeGreaterThan(+range.start);
    await using whole = await Database.open(own.source);
    const expected = await measurementsOf(whole).runDurations({ range: asked, every: "day" });
    expect(result.rows()).toEqual(expected.rows());
  });

  it("is refused where parts can't be merged, with what to do", async () => {
    await using small = await Database.open(own.source, SMALL);
    const asked = runsOf(small).ask({
      range,
      every: "all",
      measures: { d: distinct("report_id") },
    });
    await expect(asked).rejects.toThrow(
      /memory.*take a shorter range.*Parts of the range would fit, but not be the whole: counts of different values can't be added up\./is,
    );
    const twice = measurementsOf(small).duplicates({ range });
    await expect(twice).rejects.toThrow(/memory/i);
  });
});
