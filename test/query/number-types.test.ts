import { afterAll, beforeAll, expect, it } from "vitest";
import type { Lab } from "../../src/lab/connect.js";
import { count, max, mean, min, quantile, share, sum } from "../../src/query/measure.js";
import { between } from "../../src/time/time-range.js";
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

it.each(TYPES.map((type, at) => [type, `x${at}`]))("measures of a %s are exact", async (_, x) => {
  const answer = await lab.runs.ask({
    ...{ range, every: "all" },
    measures: {
      sum: sum(x),
      mean: mean(x),
      min: min(x),
      max: max(x),
      median: quantile(0.5, x),
      q90: quantile(0.9, x, { where: { [x]: { below: 50 } } }),
      above: share({ [x]: { above: 3 } }),
      four: count({ where: { [x]: [4, 1] } }),
      // As a shell gives them.
      text: count({ where: { [x]: ["4", "1"] } }),
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
    },
  ]);
  const bins = await lab.measurements.histogram({ range, column: x, bins: [0, 4, 200] });
  expect(bins.rows().map((row) => (row as { measurements: number }).measurements)).toEqual([4, 5]);
  // A number to JavaScript, and none to look for.
  const none = lab.measurements.counts({ range, every: "all", where: { [x]: "NaN" } });
  await expect(none).rejects.toThrow(/with "NaN": pass a/);
});
