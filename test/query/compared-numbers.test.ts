import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { between, bins, count, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-04", "2026-05-05");
const TYPES = [
  ...["Int16", "Nullable(UInt32)", "Int64", "Float32", "Nullable(Float32)", "Float64", "BFloat16"],
  ...["Decimal(9, 2)", "Nullable(Decimal(18, 3))", "Decimal(38, 5)"],
];
/** Written as texts, so that each type rounds them itself. */
const WRITTEN = ["2.772", "0.1", "0.7", "3", "-2.5", "1.001", "16777217", "0.3", "0.7", "99.99"];

let lab: Lab;
beforeAll(async () => {
  const columns = TYPES.map((type, at) => `x${at} ${type}`).join(", ");
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, ${columns})
     ENGINE = MergeTree ORDER BY measurement_start_time`,
    { settings: { allow_experimental_bfloat16_type: 1 } },
  );
  const valueOf = (type: string, text: string, at: number): string => {
    if (type.startsWith("Nullable") && at === 3) return "NULL";
    const whole = /Int/.test(type) ? Math.abs(Math.trunc(Number(text))) % 30_000 : text;
    return /Decimal\(9/.test(type) && Number(text) > 1e6 ? "7" : String(whole);
  };
  const rows = WRITTEN.map(
    (text, at) =>
      `('2026-05-04 10:00:0${at}', 'r${at}', ${TYPES.map((type) => valueOf(type, text, at)).join(", ")})`,
  );
  await own.writer.command(`INSERT INTO fastpath VALUES ${rows.join(", ")}`);
  lab = await own.open();
});
afterAll(() => lab.close());

it.each(TYPES.map((type, at) => [type, `x${at}`]))(
  "of a %s, the rows below, at and above a number are all that have one, and bins cut there",
  async (type, x) => {
    const known = type.startsWith("Nullable") ? WRITTEN.length - 1 : WRITTEN.length;
    const whole = /Int/.test(type);
    const number = whole
      ? fc.integer({ min: 0, max: 300 })
      : fc.oneof(
          fc.constantFrom(...WRITTEN.map(Number)),
          fc.integer({ min: -500, max: 5_000 }).map((n) => n / 1_000),
        );
    await fc.assert(
      fc.asyncProperty(number, async (value) => {
        const of = (where: object) => count({ where: { [x]: where } as never });
        const measures = {
          ...{ lt: of({ lt: value }), lte: of({ lte: value }), gt: of({ gt: value }) },
          ...{ gte: of({ gte: value }), eq: of({ in: value }), one: of({ in: [value, value] }) },
        };
        const answer = await lab.measurements.ask({ range, every: "all", measures });
        const { lt, lte, gt, gte, eq, one } = answer.rows()[0]!;
        expect([lt + eq, gt + eq, lt + eq + gt, one]).toEqual([lte, gte, known, eq]);
        if (
          type.includes("Float") &&
          WRITTEN.map(Number).includes(value) &&
          type !== "BFloat16" &&
          value !== 3
        ) {
          expect(eq).toBeGreaterThan(0);
        }
        const cut = await lab.measurements.ask({
          range,
          every: "all",
          by: { bin: bins(x as never, [value]) },
          measures: { rows: count() },
        });
        const above = cut.rows().find(({ bin }) => bin?.startsWith("≥"))?.rows ?? 0;
        expect(above).toBe(gte);
      }),
      { numRuns: 12, seed: 4 },
    );
  },
);

it("bins of a width begin where gte does, of numbers that the type rounds too", async () => {
  const x = `x${TYPES.indexOf("Float32")}`;
  const cut = await lab.measurements.ask({
    range,
    every: "all",
    by: { bin: bins(x as never, 0.1) },
    top: Infinity,
    measures: { rows: count() },
  });
  const seven = cut.rows().find(({ bin }) => bin === "0.7 to 0.8");
  expect(seven?.rows).toBe(2);
});
