import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  between,
  count,
  countDistinct,
  type Lab,
  type Measure,
  ratio,
  type Result,
  share,
  sum,
} from "../../src/index.js";
import { buckets } from "../../src/time/bucket.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 23);
/** Over the change to summer time of Rome, beginning and ending within a bucket. */
const range = between(new Date(START + 5 * HOUR), new Date(START + 20 * 24 * HOUR + HOUR), {
  timeZone: "Europe/Rome",
});

const ODD = ["other", "other (rest)", "", "a.b", "x[0]", `"q'`, "\\", "constructor", "42", "‮rtl"];
const VERSIONS = [null, "", ...Array.from({ length: 13 }, (_, at) => `3.${at}.${at % 3}`)];

/** A table whose rows are a function of a seed: names of all kinds, holes in time, no value twice as large as the next. */
async function writeTable(rows: number, seed: number): Promise<void> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime64(3, 'UTC'), report_id String,
      software_name String, software_version Nullable(String), test_name LowCardinality(String),
      probe_cc String, probe_asn UInt32, \`it's "odd".[0]\` String, bytes Nullable(Float64), anomaly String)
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const pick = (list: readonly (string | null)[], salt: number) =>
    `arrayElement([${list.map((text) => (text === null ? "NULL" : `'${text.replace(/[\\']/g, "\\$&")}'`)).join(", ")}],
      1 + toUInt32(pow(cityHash64(number, ${salt}) % 1000 / 1000, 2) * ${list.length}))`;
  await own.writer.command(
    `INSERT INTO fastpath SELECT
       fromUnixTimestamp64Milli(toInt64(${START} + cityHash64(number, ${seed}) % ${21 * 24} * ${HOUR} + number % ${HOUR})) AS at,
       toString(number % 97), 'p', ${pick(VERSIONS, seed + 1)}, concat('test ', toString(number % 3)),
       ${pick(["IT", "IR", "other", ""], seed + 2)}, 30000 + cityHash64(number, 7) % 40,
       ${pick(ODD, seed + 3)}, if(number % 5 = 0, NULL, if(number % 11 = 0, inf, number % 17)), if(number % 4 = 0, 't', 'f')
     FROM numbers(${rows}) WHERE toDayOfMonth(at) != 28`,
  );
}

const ODD_COLUMN = `it's "odd".[0]`;

beforeAll(async () => {
  lab = await own.open();
});
afterAll(() => lab?.close());

type Chosen = readonly (readonly (string | null)[] | undefined)[];
type Span = readonly [from: Date, until: Date];

/** The cells of a cube under a choice, added up as the figure does. */
function chosen(cube: Result, values: Chosen, [from, until]: Span): number | null {
  const { dimensions, measures } = cube.origin.columns;
  const main = measures.find((measure) => measure.main)!;
  const rows = cube
    .rows()
    .filter((row) => (row["t"] as Date) >= from && (row["t"] as Date) < until)
    .filter((row) =>
      dimensions.every(
        ({ name }, at) => values[at]?.includes(row[name] as string | null) !== false,
      ),
    );
  const [part = 0, whole] = (main.quotient ?? [main.name]).map((name) =>
    rows.reduce((sum, row) => sum + Number(row[name]), 0),
  );
  return whole === undefined ? part : whole === 0 ? null : part / whole;
}

/** The same asked of the engine, each combination of values by itself. */
async function asked(
  measure: Measure<unknown>,
  names: readonly string[],
  values: Chosen,
  [from, until]: Span,
): Promise<number | null> {
  const where = Object.fromEntries(
    names.flatMap((name, at) => {
      const own = values[at];
      return own === undefined ? [] : [[name, name === "probe_asn" ? own.map(Number) : own]];
    }),
  );
  const [start, end] = [Math.max(+from, +range.start), Math.min(+until, +range.end)];
  const answer = await lab.measurements.ask({
    range: between(new Date(start), new Date(end), { timeZone: range.timeZone }),
    every: "all",
    where,
    measures: { value: measure as Measure<number> },
  });
  const none = measure.measure === "share" || measure.measure === "ratio" ? null : 0;
  return answer.rows()[0]?.value ?? none;
}

const MEASURES: Record<string, Measure<unknown>> = {
  count: count(),
  some: count({ where: { anomaly: "t" } }),
  sum: sum("bytes"),
  share: share({ anomaly: "t" }),
  shareOf: share({ anomaly: "t" }, { of: { bytes: { gt: 3 } } }),
  ratio: ratio(sum("bytes"), count()),
};

describe("lab.measurements.explore", () => {
  it("every choice of values and buckets equals the same question with where and range", async () => {
    const BY = ["software_version", "probe_cc", "probe_asn", "test_name", ODD_COLUMN];
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.constantFrom(40, 3_000, 20_000),
          seed: fc.integer({ min: 0, max: 99 }),
          by: fc.subarray(BY, { minLength: 1, maxLength: 4 }),
          measure: fc.constantFrom(...Object.keys(MEASURES)),
          every: fc.constantFrom("auto", "auto", "day", "week"),
          picks: fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 4, maxLength: 4 }),
          span: fc.tuple(fc.nat(), fc.nat()),
        }),
        async ({ rows, seed, by, measure: name, every, picks, span }) => {
          await writeTable(rows, seed);
          const measure = MEASURES[name]!;
          const cube = await lab.measurements.explore({ range, by, measure, every });
          const { time, dimensions } = cube.origin.columns;
          const all = buckets(range, time!.every);
          const starts = new Set(cube.column("t").map(Number));
          const holes = all.filter(({ start }) => !starts.has(+start)).length;
          expect(cube.numRows() + holes).toBeLessThan(5_000);
          const keys = cube
            .rows()
            .map((row) => JSON.stringify(["t", ...by].map((each) => row[each])));
          expect(new Set(keys).size).toBe(keys.length);
          const values: Chosen = dimensions.map(({ order, other }, at) => {
            const named = order.filter((value) => value !== other);
            const own = picks[at]!.map((pick) => named[pick % named.length] ?? null);
            return own.length === 0 ? undefined : own;
          });
          const [a, b] = [span[0] % all.length, span[1] % all.length].sort((x, y) => x - y);
          const within = [all[a!]!.start, all[b!]!.end] as const;
          const [told, expected] = [
            chosen(cube, values, within),
            await asked(measure, by, values, within),
          ];
          if (expected === null) expect(told).toBeNull();
          else expect(told).toBeCloseTo(expected, 6);
        },
      ),
      { numRuns: 12, seed: 13 },
    );
  });

  it("names as many values as fit, then takes the finest bucket that fits, and says what is merged", async () => {
    await writeTable(20_000, 1);
    const two = await lab.measurements.explore({ range, by: ["test_name", "probe_cc"] });
    expect(two.origin.reductions).toEqual([]);
    expect(two.origin.columns.time?.every).toBe("3 hours");
    expect(two.origin.notes.join(" ")).toContain(
      "By 3 hours, the finest bucket for fewer than 5,000 rows.",
    );
    const four = await lab.measurements.explore({
      range,
      by: ["software_version", "probe_asn", "probe_cc", "test_name"],
    });
    expect(four.numRows()).toBeLessThan(5_000);
    expect(four.origin.columns.time?.every).toBe("day");
    const [version, asn] = four.origin.columns.dimensions;
    expect([version?.other, asn?.other]).toEqual(["other", "other"]);
    const { reductions } = four.origin;
    expect(reductions[0]).toMatch(
      /^The top \d of each dimension instead of 10, for at most 4,9\d\d rows/,
    );
    expect(reductions.join(" ")).toMatch(
      /Top \d of 15 versions by measurements; other: \d+ more\./,
    );
  });

  it("asks runs, whose rows of no report don't count", async () => {
    await writeTable(3_000, 3);
    await own.writer.command(
      "INSERT INTO fastpath SELECT * REPLACE ('' AS report_id) FROM fastpath WHERE toDate(measurement_start_time) = '2026-04-01' LIMIT 5",
    );
    const options = { range, by: ["software_version"] } as const;
    const cube = await lab.runs.explore(options);
    const plain = await lab.runs.ask({
      ...options,
      every: "all",
      top: Infinity,
      measures: { runs: count() },
    });
    const sumOf = (list: readonly unknown[]) =>
      list.reduce<number>((all, one) => all + Number(one), 0);
    expect(sumOf(cube.column("runs"))).toBe(sumOf(plain.column("runs")));
    expect(cube.origin.notes.join(" ")).toContain("5 measurements have no report_id");
  });

  it("refuses what doesn't add up, and says why an answer is empty", async () => {
    await writeTable(40, 4);
    const explore = (more: object) => lab.measurements.explore({ range, by: "probe_cc", ...more });
    await expect(explore({ measure: countDistinct("probe_asn") })).rejects.toThrow(
      "Can't explore the measurements by countDistinct: its values don't add up",
    );
    await expect(explore({ by: [] })).rejects.toThrow("by 0 dimensions: pass one to 4");
    await expect(explore({ every: "second" })).rejects.toThrow("Take a coarser every");
    await expect(explore({ top: 3 })).rejects.toThrow("top");
    // 480 hours of 13 groups are more than 5,000 cells, of which 40 hold anything.
    const sparse = await explore({ every: "hour", by: ["software_version", "probe_cc"] });
    expect(sparse.numRows()).toBeLessThanOrEqual(40);
    const empty = await explore({ where: { probe_cc: "XX" } });
    expect(empty.numRows()).toBe(0);
    expect(empty.columnNames()).toEqual(["t", "probe_cc", "measurements"]);
    expect(empty.origin.notes.join(" ")).toContain("XX");
  });
});
