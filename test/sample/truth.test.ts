import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { PROBES } from "../../src/sample/probes.js";
import { numbers, temporaryWriter } from "./temporary-writer.js";

const END = new Date("2026-05-01T00:00:00Z");
let writer: Writer;

interface Truth {
  readonly software_name: string;
  readonly software_version: string;
  readonly released: number;
  readonly factor_measurements_per_run: number;
  readonly factor_run_duration: number;
  readonly factor_seconds_per_measurement: number;
}
let truth: Truth;

beforeAll(async () => {
  writer = await temporaryWriter();
  await fillSample(writer, { rows: 1_500_000, end: END });
  const rows = await writer.rows<Truth>(
    "SELECT *, toUnixTimestamp(released_at) AS released FROM sample_truth WHERE name = 'unattended-runs-end-early'",
  );
  expect(rows.length).toBe(1);
  truth = rows[0] as Truth;
});
afterAll(() => writer[Symbol.asyncDispose]());

/** Medians over the runs of web_connectivity that are no single measurement. */
async function medians(condition: string): Promise<Record<string, number>> {
  return numbers(
    writer,
    `SELECT median(n) AS measurements, median(seconds) AS duration, median(seconds / (n - 1)) AS pace, count() AS runs FROM (
       SELECT count() AS n, toUnixTimestamp(max(measurement_start_time)) - toUnixTimestamp(min(measurement_start_time)) AS seconds
       FROM fastpath WHERE test_name = 'web_connectivity' AND (${condition}) GROUP BY report_id HAVING n > 1)`,
  );
}

describe("the planted fault", () => {
  it("is what sample_truth says: fewer measurements a run, shorter runs, the same pace", async () => {
    const name = `software_name = '${truth.software_name}'`;
    const faulty = await medians(`${name} AND software_version = '${truth.software_version}'`);
    const sound = await medians(`${name} AND software_version != '${truth.software_version}'`);
    const ratio = (key: string): number => (faulty[key] ?? NaN) / (sound[key] ?? NaN);
    expect(faulty["runs"]).toBeGreaterThan(2_000);
    expect(Math.abs(ratio("measurements") - truth.factor_measurements_per_run)).toBeLessThan(0.03);
    expect(Math.abs(ratio("duration") - truth.factor_run_duration)).toBeLessThan(0.03);
    expect(Math.abs(ratio("pace") - truth.factor_seconds_per_measurement)).toBeLessThan(0.04);
  });

  it("makes the weekly count of that probe drop by more than 40 percent", async () => {
    const weeks = await numbers(
      writer,
      `SELECT countIf(measurement_start_time BETWEEN toDateTime({r:UInt32}) - 28 * 86400 AND toDateTime({r:UInt32})) / 4 AS before,
         countIf(measurement_start_time BETWEEN toDateTime({r:UInt32}) + 21 * 86400 AND toDateTime({r:UInt32}) + 49 * 86400) / 4 AS after
       FROM fastpath WHERE software_name = '${truth.software_name}'`.replaceAll(
        "{r:UInt32}",
        String(truth.released),
      ),
    );
    expect((weeks["after"] ?? NaN) / (weeks["before"] ?? NaN)).toBeLessThan(0.6);
    expect((weeks["after"] ?? NaN) / (weeks["before"] ?? NaN)).toBeGreaterThan(0.35);
  });

  it("leaves every other probe as it was", async () => {
    for (const probe of PROBES.filter((each) => each.name !== truth.software_name)) {
      const name = `software_name = '${probe.name}'`;
      const released = `measurement_start_time >= toDateTime(${truth.released})`;
      const before = await medians(`${name} AND NOT (${released})`);
      const after = await medians(`${name} AND ${released}`);
      for (const key of ["measurements", "duration", "pace"]) {
        const ratio = (after[key] ?? NaN) / (before[key] ?? NaN);
        expect(Math.abs(ratio - 1), `${probe.name} ${key}`).toBeLessThan(0.12);
      }
    }
  });

  it("lies within the last three months, with weeks before and after it", () => {
    const days = (END.getTime() / 1000 - truth.released) / 86_400;
    expect(days).toBeGreaterThan(45);
    expect(days).toBeLessThan(60);
  });
});
