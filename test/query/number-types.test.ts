import { afterAll, beforeAll, expect, it } from "vitest";
import { between, count, type Lab, max, mean, min, quantile, share, sum } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-04", "2026-05-05");
const TYPES = [
  ...["UInt8", "Int16", "Nullable(UInt32)", "Int64", "UInt64", "Int128", "UInt256"],
  ...["Float32", "Nullable(Float64)", "BFloat16", "LowCardinality(UInt16)"],
  ...["Decimal(9, 2)", "Nullable(Decimal(18, 3))", "Decimal(38, 5)", "Decimal(76, 3)"],
];
const NUMBERS = [3, 1, 4, 1, 5, 9, 2, 6, 100];

let lab: Lab;
beforeAll(async () => {
  const columns = TYPES.map((type, at) => `x${at} ${type}`).join(", ");
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, ${columns})
     ENGINE = MergeTree ORDER BY measurement_start_time`,
    {
      settings: { allow_suspicious_low_cardinality_types: 1, allow_experimental_bfloat16_type: 1 },
    },
  );
  const rows = NUMBERS.map(
    (x, at) => `('2026-05-04 10:00:0${at}', 'r${at}', ${TYPES.map(() => x).join(", ")})`,
  );
  await own.writer.command(`INSERT INTO fastpath VALUES ${rows.join(", ")}`);
  lab = await own.open();
});
afterAll(() => lab.close());

it.each(TYPES.map((type, at) => [type, `x${at}`]))(
  "measures of a %s are exact",
  async (type, x) => {
    const answer = await lab.runs.ask({
      range,
      every: "all",
      measures: {
        sum: sum(x),
        mean: mean(x),
        min: min(x),
        max: max(x),
        median: quantile(0.5, x),
        q90: quantile(0.9, x, { where: { [x]: { lt: 50 } } }),
        above: share({ [x]: { gt: 3 } }),
        four: count({ where: { [x]: [4, 1] } }),
        // As a shell gives them.
        text: count({ where: { [x]: ["4", "1"] } }),
        bigints: count({ where: { [x]: [4n, 1n] } }),
      },
    });
    expect(answer.rows()).toEqual([
      {
        sum: 131,
        mean: 131 / 9,
        min: 1,
        max: 100,
        median: 4,
        q90: expect.closeTo(6.9, 9) as number,
        above: 5 / 9,
        four: 3,
        text: 3,
        bigints: 3,
      },
    ]);
    const bins = await lab.measurements.histogram({ range, column: x, bins: [0, 4, 200] });
    expect(bins.rows().map((row) => (row as { measurements: number }).measurements)).toEqual([
      4, 5,
    ]);
    const bits = /^(?:Nullable\(|LowCardinality\()?U?Int(\d+)/.exec(type)?.[1];
    for (const beyond of bits === undefined
      ? []
      : [2n ** BigInt(bits) + 3n, -(2n ** BigInt(bits)) + 3n]) {
      for (const where of [
        { [x]: beyond },
        { [x]: { ne: [beyond, 1] } },
        { [x]: { in: beyond } },
      ]) {
        const wrapped = lab.measurements.counts({ range, every: "all", where });
        await expect(wrapped).rejects.toThrow(/it holds .* to |pass a whole number/);
      }
      const all = await lab.measurements
        .counts({
          range,
          every: "all",
          where: { [x]: beyond > 0n ? { lt: beyond } : { gt: beyond } },
        })
        .catch((error: Error) => error.message);
      if (typeof all === "string") expect(all).toMatch(/−2²⁵⁵/);
      else expect(all.column("measurements")).toEqual([NUMBERS.length]);
    }
    // A number to JavaScript, and none to look for.
    const none = lab.measurements.counts({ range, every: "all", where: { [x]: "NaN" } });
    await expect(none).rejects.toThrow(/with "NaN": pass a/);
  },
);
