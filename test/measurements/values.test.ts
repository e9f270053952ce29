import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, chart, connect, type Lab } from "../../src/index.js";
import { openWriter } from "../../src/database/writer.js";
import { m4, pixelAxis } from "../../src/downsample/m4.js";
import type { Writer } from "../../src/database/writer.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

let directory: TemporaryDirectory;
let writer: Writer;
let lab: Lab;
const START = Date.UTC(2026, 4, 1);
const range = between("2026-05-01", "2026-05-02");

beforeAll(async () => {
  directory = await temporaryDirectory();
  writer = await openWriter(directory.source);
});

afterAll(async () => {
  await lab.close();
  await writer[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** Seconds of the day and values of one series, a year of noise with a spike where `spike` says. */
async function given(time: string, expression: string, rows: number): Promise<void> {
  await writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time ${time}, test_name LowCardinality(String), test_runtime Float32, probe_cc String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await writer.command(
    `INSERT INTO fastpath SELECT ${expression}, ['a', 'b', 'c'][1 + number % 3], if(number = 77777, 1e6, cityHash64(number) % 1000), 'IT' FROM numbers(${rows})`,
  );
  await lab?.close();
  lab = await connect({ measurements: `embedded:${directory.path}` });
}

const TIMES = [
  ["DateTime('UTC')", `toDateTime(${START / 1000} + intDiv(number * 86400, 200000))`],
  ["DateTime64(3, 'UTC')", `fromUnixTimestamp64Milli(toInt64(${START} + number * 432))`],
  ["Int64", `toInt64(${START} + number * 432) * 1000`],
] as const;

describe("lab.measurements.values({ y })", () => {
  it.each(TIMES)(
    "keeps what M4 keeps of all rows, in one scan, of %s",
    async (time, expression) => {
      await given(time, expression, 200_000);
      const result = await lab.measurements.values({ range, y: "test_runtime", width: 500 });
      expect(result.numRows()).toBeLessThan(5000);
      const all = await writer.rows<{ t: number; y: number }>(
        `SELECT ${time === "Int64" ? "intDiv(measurement_start_time, 1000)" : "toUnixTimestamp64Milli(toDateTime64(measurement_start_time, 3))"} AS t, test_runtime AS y FROM fastpath ORDER BY t, y`,
      );
      const x = Float64Array.from(all, (row) => row.t);
      const y = Float64Array.from(all, (row) => row.y);
      const axis = pixelAxis(range.start.getTime(), range.end.getTime(), 500);
      const expected = [...m4(x, y, axis)].map((row) => `${x[row]} ${y[row]}`);
      const got = result.rows().map((row) => `${Number(row["t"])} ${Number(row["test_runtime"])}`);
      expect([...new Set(got)].sort()).toEqual([...new Set(expected)].sort());
      expect(result.column("test_runtime")).toContain(1e6);
      expect(result.origin.reductions.at(-1)).toMatch(/first, last, lowest and highest of 500/);
      expect(result.origin.rowsRead).toBeLessThanOrEqual(200_000);
    },
  );

  it("tells series apart, names what it leaves out, and its line can be drawn", async () => {
    await given(TIMES[0][0], TIMES[0][1], 150_000);
    const result = await lab.measurements.values({
      range,
      y: "test_runtime",
      by: "test_name",
      top: 2,
    });
    expect(new Set(result.column("test_name"))).toEqual(new Set(["a", "b", "other"]));
    expect(result.numRows()).toBeLessThan(5000);
    expect(result.origin.reductions[0]).toBe("Top 2 of 3 tests by measurements; other: 1 more.");
    const left = await lab.measurements.values({
      range,
      y: "test_runtime",
      by: "test_name",
      top: 2,
      other: false,
    });
    expect(new Set(left.column("test_name"))).toEqual(new Set(["a", "b"]));
    expect(left.origin.reductions[0]).toBe(
      "Top 2 of 3 tests by measurements; left out: 1 more, with 50,000 measurements.",
    );
    const drawn = chart.line(result);
    expect(JSON.stringify(drawn.spec)).toContain("test_runtime");
    expect(await drawn.svg()).toMatch(/^<svg/);
  });

  it("keeps series without a name and with an empty one apart, as counts does", async () => {
    await writer.command(
      `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), test_name Nullable(String), test_runtime Float32, probe_cc String)
       ENGINE = MergeTree ORDER BY measurement_start_time`,
    );
    await writer.command(
      `INSERT INTO fastpath SELECT toDateTime(${START / 1000}) + number, [NULL, '', 'c', 'c'][1 + number % 4], number % 4, 'IT' FROM numbers(4000)`,
    );
    await lab.close();
    lab = await connect({ measurements: `embedded:${directory.path}` });
    const result = await lab.measurements.values({
      range,
      y: "test_runtime",
      by: "test_name",
      top: 5,
    });
    const values = (name: string | null) =>
      new Set(
        result
          .rows()
          .filter((row) => row["test_name"] === name)
          .map((row) => row["test_runtime"]),
      );
    expect(values(null)).toEqual(new Set([0]));
    expect(values("")).toEqual(new Set([1]));
    expect(values("c")).toEqual(new Set([2, 3]));
    const top = await lab.measurements.values({
      range,
      y: "test_runtime",
      by: "test_name",
      top: 1,
    });
    expect(new Set(top.column("test_name"))).toEqual(new Set(["c", "other"]));
  });

  it("never gives 5,000 rows, whatever the width and the number of series", async () => {
    await given(TIMES[1][0], TIMES[1][1].replace("number * 432", "number * 1728"), 50_000);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20_000 }),
        fc.constantFrom(1, 2, 200),
        async (width, top) => {
          const result = await lab.measurements.values({
            range,
            y: "test_runtime",
            by: "test_name",
            top,
            width,
          });
          expect(result.numRows()).toBeLessThan(5000);
          expect(result.numRows()).toBeGreaterThan(0);
        },
      ),
      { numRuns: 15, seed: 4 },
    );
  });

  it("refuses text, unknown columns and a missing range", async () => {
    await given(TIMES[0][0], TIMES[0][1], 10);
    await expect(lab.measurements.values({ range, y: "probe_cc" })).rejects.toThrow(
      /Can't draw probe_cc along time: it is a String.*counts/,
    );
    await expect(lab.measurements.values({ range, y: "test_runtim" })).rejects.toThrow(
      /did you mean test_runtime/,
    );
    await expect(lab.measurements.values({ range, y: "test_runtime", top: 0 })).rejects.toThrow(
      /0 series/,
    );
    const none = { y: "test_runtime" } as Parameters<Lab["measurements"]["values"]>[0];
    await expect(lab.measurements.values(none)).rejects.toThrow(/without a time range/);
  });
});
