import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { between, chart, type Lab } from "../../../src/index.js";
import { m4, pixelAxis } from "../../../src/result/downsample/m4.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
let lab: Lab | undefined;
const START = Date.UTC(2026, 4, 1);
const range = between("2026-05-01", "2026-05-02");
afterAll(() => lab?.close());

/** A table of noise with one spike along a day, of three tests unless others are named. */
async function given(
  time: string,
  at: string,
  rows: number,
  test = "LowCardinality(String)",
  names = "['a', 'b', 'c']",
): Promise<Lab> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time ${time}, test_name ${test}, test_runtime Float32, probe_cc String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT ${at}, arrayElement(${names}, 1 + number % length(${names})), if(number = 77777, 1e6, cityHash64(number) % 1000), 'IT' FROM numbers(${rows})`,
  );
  await lab?.close();
  return (lab = await own.open());
}

const TIMES = [
  ["DateTime('UTC')", `toDateTime(${START / 1000} + intDiv(number * 86400, 200000))`],
  ["DateTime64(3, 'UTC')", `fromUnixTimestamp64Milli(toInt64(${START} + number * 432))`],
  ["Int64", `toInt64(${START} + number * 432) * 1000`],
] as const;
const asked = { range, y: "test_runtime", by: "test_name" } as const;

describe("lab.measurements.values({ y })", () => {
  it.each(TIMES)("keeps what M4 keeps of all rows, in one scan, of %s", async (time, at) => {
    const { measurements } = await given(time, at, 100_000);
    const result = await measurements.values({ range, y: "test_runtime", width: 500 });
    expect(result.numRows()).toBeLessThan(5000);
    const all = await own.writer.rows<{ t: number; y: number }>(
      `SELECT ${time === "Int64" ? "intDiv(measurement_start_time, 1000)" : "toUnixTimestamp64Milli(toDateTime64(measurement_start_time, 3))"} AS t, test_runtime AS y FROM fastpath ORDER BY t, y`,
    );
    const [x, y] = [Float64Array.from(all, (row) => row.t), Float64Array.from(all, (row) => row.y)];
    const axis = pixelAxis(+range.start, +range.end, 500);
    const expected = [...m4(x, y, axis)].map((row) => `${x[row]} ${y[row]}`);
    const got = result.rows().map((row) => `${Number(row.t)} ${row.test_runtime}`);
    expect([...new Set(got)].sort()).toEqual([...new Set(expected)].sort());
    expect(result.column("test_runtime")).toContain(1e6);
    expect(result.origin.reductions.at(-1)).toMatch(/first, last, lowest and highest of 500/);
    expect(result.origin.rowsRead).toBeLessThanOrEqual(100_000);
  });

  it("tells series apart, names what it leaves out, and its line can be drawn", async () => {
    const { measurements } = await given(...TIMES[0], 150_000);
    const result = await measurements.values({ ...asked, top: 2 });
    expect(new Set(result.column("test_name"))).toEqual(new Set(["a", "b", "other"]));
    expect(result.numRows()).toBeLessThan(5000);
    expect(result.origin.reductions[0]).toBe("Top 2 of 3 tests by measurements; other: 1 more.");
    const left = await measurements.values({ ...asked, top: 2, other: false });
    expect(new Set(left.column("test_name"))).toEqual(new Set(["a", "b"]));
    expect(left.origin.reductions[0]).toBe(
      "Top 2 of 3 tests by measurements; left out: 1 more, with 50,000 measurements.",
    );
    const drawn = chart.line(result);
    expect(JSON.stringify(drawn.spec)).toContain("test_runtime");
    expect(await drawn.svg()).toMatch(/^<svg/);
  });

  it("thins many series to what is nearest to their picture, with other grey and last", async () => {
    const names = `[${Array.from({ length: 20 }, (_, i) => `'t${i}'`).join()}]`;
    const { measurements } = await given(...TIMES[1], 70_000, "LowCardinality(String)", names);
    const result = await measurements.values({ ...asked, top: 12 });
    expect(result.numRows()).toBeGreaterThan(4_900);
    expect(result.numRows()).toBeLessThan(5_000);
    expect(result.column("test_runtime")).toContain(999);
    expect(result.origin.reductions.at(-1)).toMatch(
      /^4,9\d\d of \d+,\d{3} rows; \d+ % of the picture differs\.$/,
    );
    expect(result.origin.columns.dimensions[0]).toMatchObject({
      name: "test_name",
      other: "other",
    });
    expect(result.origin.columns.dimensions[0]!.order.at(-1)).toBe("other");
    const { spec } = chart.line(result);
    expect(JSON.stringify(spec)).toMatch(/"t\d+","other"\],"range":\[[^\]]*"#[89a]/i);
  });

  it("keeps series without a name and with an empty one apart, as counts does", async () => {
    const names = "[NULL, '', 'c', 'c']";
    const { measurements } = await given(...TIMES[0], 4000, "Nullable(String)", names);
    const of = async (top: number) =>
      new Set((await measurements.values({ ...asked, top })).column("test_name"));
    expect(await of(5)).toEqual(new Set([null, "", "c"]));
    expect(await of(1)).toEqual(new Set(["c", "other"]));
  });

  it("never gives 5,000 rows, whatever the width and the number of series", async () => {
    const { measurements } = await given(...TIMES[1], 50_000);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20_000 }),
        fc.constantFrom(1, 2, 200),
        async (width, top) => {
          const rows = (await measurements.values({ ...asked, top, width })).numRows();
          expect(rows).toBeLessThan(5000);
          expect(rows).toBeGreaterThan(0);
        },
      ),
      { numRuns: 10, seed: 4 },
    );
  });

  it("refuses text, unknown columns and a missing range", async () => {
    const { measurements } = await given(...TIMES[0], 10);
    const refused: [options: object, message: RegExp][] = [
      [{ range, y: "probe_cc" }, /Can.t draw along time probe_cc, a String.*count\(\)/],
      [{ range, y: "test_runtim" }, /did you mean test_runtime/],
      [{ range, y: "test_runtime", top: 0 }, /0 series/],
      [{ y: "test_runtime" }, /without a time range/],
    ];
    for (const [options, message] of refused) {
      await expect(measurements.values(options as typeof asked)).rejects.toThrow(message);
    }
  });
});
