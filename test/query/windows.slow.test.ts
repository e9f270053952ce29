import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { askCube, cubeSourceOf } from "../../src/query/cube.js";
import { measurementsOf, runsOf } from "../../src/sources/measurements/measurements.js";
import {
  progressListener,
  withProgress,
  type QueryProgress,
} from "../../src/base/query-progress.js";
import {
  between,
  count,
  countDistinct,
  max,
  mean,
  min,
  type Origin,
  quantile,
  type Result,
  share,
  sum,
} from "../../src/index.js";
import { parseAddress } from "../../src/database/address.js";
import { ownDatabase } from "../support/own-database.js";
import { restrictedServer } from "../support/restricted-server.js";

const own = ownDatabase();
const range = between("2026-01-01", "2026-03-01");
/** Too little for two months of runs at once, enough for a few days of them. */
const SMALL = { maxMemory: 16 * 2 ** 20 };

const CREATE = `CREATE TABLE fastpath (measurement_uid String, measurement_start_time DateTime('UTC'), report_id String,
    software_name LowCardinality(String), software_version LowCardinality(Nullable(String)), probe_asn UInt32,
    probe_cc LowCardinality(String), test_name LowCardinality(String))
    ENGINE = MergeTree ORDER BY measurement_start_time`;
// Runs of one to seven measurements that cross midnights, versions of very different size; every 50th
// run is held twice.
const fill = (runs: number) => `INSERT INTO fastpath
    SELECT hex(cityHash64(run, step)), toDateTime('2025-12-31 12:00:00', 'UTC') + intDiv(run * 5160000, ${runs}) + step * (1 + cityHash64(run) % 400),
      if(run % 5000 = 7, '', concat(toString(run), '_', hex(sipHash128(run)))),
      ['a', 'b', 'c'][1 + cityHash64(run, 1) % 3], if(run % 11 = 0, NULL, concat('3.', toString(intDiv(cityHash64(run, 2) % 100, 9) % 12))),
      cityHash64(run, 3) % 50, 'IT', 'web_connectivity'
    FROM (SELECT number AS run, arrayJoin(range(1 + cityHash64(number) % 7)) AS step FROM numbers(${runs}))
    ARRAY JOIN if(run % 50 = 0, [1, 2], [1]) AS copy`;
beforeAll(async () => {
  await own.writer.command(CREATE);
  await own.writer.command(fill(200_000));
}, 300_000);

const windowed = ({ origin }: { origin: Pick<Origin, "notes"> }) =>
  origin.notes.some((note) => /^Asked in \d+ windows of time/.test(note));

function same(part: Result, whole: Result): void {
  expect(part.origin.columns).toEqual(whole.origin.columns);
  expect(part.origin.reductions).toEqual(whole.origin.reductions);
  const [found, expected] = [part.rows(), whole.rows()] as Record<string, unknown>[][];
  expect(found!.length).toBe(expected!.length);
  found!.forEach((row, at) => {
    for (const [name, value] of Object.entries(expected![at]!)) {
      // Quantiles are the same bits; sums of fractions depend on their order.
      if (/^(q\d|pace)/.test(name)) expect(row[name], name).toBe(value);
      else if (typeof value === "number") expect(row[name], name).toBeCloseTo(value, 9);
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
            every: every as "week",
            by,
            top,
            range: between("2026-01-01", "2026-03-01", { timeZone: zone }),
          };
          const measures = {
            runs: count(),
            q50: quantile(0.5, "duration"),
            q37: quantile(0.37, "duration"),
            q90: quantile(0.9, "duration"),
            pace: quantile(0.9, "seconds_per_measurement", {
              where: { seconds_per_measurement: { gt: 20 } },
            }),
            n: sum("measurements"),
            short: share({ duration: { lt: 60 } }),
            mean: mean("duration"),
            least: min("duration"),
            most: max("duration"),
            first: min("time"),
            last: max("time"),
          };
          const part = await runsOf(small).ask({ ...options, measures });
          same(part, await runsOf(whole).ask({ ...options, measures }));
          if (windowed(part)) windows += 1;
        },
      ),
      { numRuns: 2, seed: 15 },
    );
    expect(windows).toBe(2);
  }, 600_000);

  it("is refused where parts can't be merged, with what to do", async () => {
    await using small = await Database.open(own.source, SMALL);
    const asked = runsOf(small).ask({
      range,
      every: "all",
      measures: { d: countDistinct("report_id") },
    });
    await expect(asked).rejects.toThrow(
      /memory.*take a shorter range.*Parts of the range would fit, but not be the whole: counts of different values can't be added up\./is,
    );
    const twice = runsOf(small).ask({ range, dedupe: true, measures: { runs: count() } });
    await expect(twice).rejects.toThrow(
      /memory.*a measurement may be held twice, in two of them\./is,
    );
  });

  it("is asked in windows by explore and explain, with the answer of the whole", async () => {
    await using whole = await Database.open(own.source);
    await using small = await Database.open(own.source, SMALL);
    const by = ["software_version", "software_name"];
    const explore = (database: Database) => runsOf(database).explore({ range, by });
    const part = await explore(small);
    same(part, await explore(whole));
    expect(windowed(part)).toBe(true);
    const cells = async (database: Database) => {
      const asked = { range, where: {}, by, action: "explain", signal: undefined };
      const cube = cubeSourceOf(runsOf(database))!;
      const { dimensions, values, origin } = await askCube(cube, { ...asked, measures: [count()] });
      const names = dimensions[0]!.map((_, row) => JSON.stringify(dimensions.map((of) => of[row])));
      return { found: new Map(names.map((name, row) => [name, values[0]![row]])), origin };
    };
    const [some, all] = [await cells(small), await cells(whole)];
    expect(some.found).toEqual(all.found);
    expect(windowed(some)).toBe(true);
  }, 600_000);

  it("tells which part of it runs", async () => {
    await using small = await Database.open(own.source, SMALL);
    const ask = small.ask.bind(small);
    const told = new Set<string>();
    // As long queries tell it, however quick the machine is.
    small.ask = (query) => {
      progressListener()?.({ id: "1", state: "running", rowsRead: 0, rowsInAll: 0, seconds: 1 });
      return ask(query);
    };
    const listen = ({ part }: QueryProgress) => void (part && told.add(`${part.at} of ${part.of}`));
    const result = await withProgress(listen, () =>
      measurementsOf(small).runDurations({ range, every: "all" }),
    );
    const [, many] = /^Asked in (\d+) windows/.exec(
      result.origin.notes.find((note) => note.startsWith("Asked in"))!,
    )!;
    expect([...told][0]).toBe("1 of 4");
    expect([...told].at(-1)).toBe(`${many} of ${many}`);
  });

  it("is asked so for a reader who may set nothing (readonly = 1)", async () => {
    const limits = { readonly: 1, max_memory_usage: 20 * 2 ** 20 };
    await using server = await restrictedServer({ small: { settings: limits } });
    await server.admin.command({ query: CREATE });
    await server.admin.command({ query: fill(150_000) });
    const open = (url: string) => Database.open(parseAddress(url, { root: "/", name: "the test" }));
    await using small = await open(server.as("small"));
    await using whole = await open(server.url);
    const durations = (database: Database) =>
      measurementsOf(database).runDurations({ range, every: "week", by: "software_version" });
    const part = await durations(small);
    same(part, await durations(whole));
    expect(windowed(part)).toBe(true);
  }, 300_000);
});
