import { describe, expect, it } from "vitest";
import { between, chart, type Lab } from "../../src/index.js";
import { wilson } from "../../src/query/wilson.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();

const range = between("2026-05-01", "2026-05-01T03:00:00Z");

async function given<T>(
  columns: string,
  values: string,
  ask: (lab: Lab) => Promise<T>,
): Promise<T> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), ${columns}) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  if (values !== "") await own.writer.command(`INSERT INTO fastpath VALUES ${values}`);
  await using lab = await own.open();
  return await ask(lab);
}

const ROWS = `('2026-05-01 00:00:00', 'a', 't'), ('2026-05-01 00:01:00', 'a', 'f'), ('2026-05-01 00:59:59', 'a', 'f'),
  ('2026-05-01 00:10:00', 'b', 'f'), ('2026-05-01 02:10:00', 'b', 'f'), ('2026-05-01 00:10:00', '', 't'),
  ('2026-05-01 03:00:00', 'a', 't')`;

describe("failureRate({ range, every })", () => {
  it("counts by helper and hour, leaves out what names no helper, and has gaps, not zeros", async () => {
    const result = await given("test_helper_address String, msm_failure String", ROWS, (lab) =>
      lab.testHelpers.failureRate({ range, every: "hour" }),
    );
    const row = (failed: number, measurements: number) => ({
      rate: measurements === 0 ? null : failed / measurements,
      rate_low: wilson(failed, measurements)?.low ?? null,
      rate_high: wilson(failed, measurements)?.high ?? null,
      failed,
      measurements,
    });
    const hour = (at: number) => new Date(Date.UTC(2026, 4, 1, at));
    expect(result.rows()).toEqual([
      { t: hour(0), test_helper_address: "a", ...row(1, 3) },
      { t: hour(0), test_helper_address: "b", ...row(0, 1) },
      { t: hour(1), test_helper_address: "a", ...row(0, 0) },
      { t: hour(1), test_helper_address: "b", ...row(0, 0) },
      { t: hour(2), test_helper_address: "a", ...row(0, 0) },
      { t: hour(2), test_helper_address: "b", ...row(0, 1) },
    ]);
    expect(await chart.line(result, { y: "rate" }).svg()).toContain(
      "Share of failed measurements (%)",
    );
  });

  it.each([
    ["Enum8('f' = 0, 't' = 1)", "t", "f"],
    ["UInt8", "1", "0"],
    ["Bool", "true", "false"],
    ["Nullable(String)", "t", "f"],
  ])("reads a msm_failure of type %s", async (type, yes, no) => {
    const rows = ROWS.replaceAll("'t'", `'${yes}'`).replaceAll("'f'", `'${no}'`);
    const result = await given(
      `test_helper_address Nullable(String), msm_failure ${type}`,
      rows,
      (lab) => lab.testHelpers.failureRate({ range }),
    );
    expect(result.column("failed")).toEqual([1, 0]);
    expect(result.column("measurements")).toEqual([3, 2]);
  });

  it("takes another sign of failure, beside a filter", async () => {
    const result = await given(
      "test_helper_address String, anomaly String, probe_cc String",
      "('2026-05-01 00:00:00', 'a', 't', 'IT'), ('2026-05-01 00:00:01', 'a', 'f', 'IT'), ('2026-05-01 00:00:01', 'a', 't', 'GE')",
      (lab) =>
        lab.testHelpers.failureRate({ range, failed: { anomaly: "t" }, where: { probe_cc: "IT" } }),
    );
    expect(result.rows()).toMatchObject([{ failed: 1, measurements: 2, rate: 0.5 }]);
  });

  it("says which column only wider tables have", async () => {
    const ask = (lab: Lab) => lab.testHelpers.failureRate({ range });
    await expect(given("msm_failure String", "", ask)).rejects.toThrow(
      "Can't ask for the failure rate of test helpers: fastpath has no column test_helper_address, which only wider tables have.",
    );
    await expect(given("test_helper_address String", "", ask)).rejects.toThrow(
      'has no column msm_failure, which only wider tables have. Pass the condition of a failed one, such as failed: { anomaly: "t" }.',
    );
  });

  it("asks for a time range and a condition", async () => {
    const columns = "test_helper_address String, msm_failure String";
    await expect(
      given(columns, "", (lab) => lab.testHelpers.failureRate({} as { range: typeof range })),
    ).rejects.toThrow("without a time range");
    await expect(
      given(columns, "", (lab) => lab.testHelpers.failureRate({ range, failed: {} })),
    ).rejects.toThrow("with failed: {}");
  });
});
