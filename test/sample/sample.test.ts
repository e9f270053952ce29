import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { PROBES } from "../../src/sample/service.js";
import { newDatabase } from "../support/own-database.js";
import { numbers } from "./load/table-content.js";

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
  writer = (await newDatabase()).writer;
  await fillSample(writer, { rows: 1_500_000, end: END });
  const rows = await writer.rows<Truth>(
    "SELECT *, toUnixTimestamp(released_at) AS released FROM sample_truth WHERE name = 'unattended-runs-end-early'",
  );
  truth = rows[0]!;
});
afterAll(() => writer[Symbol.asyncDispose]());

describe("the measurement table of the sample", () => {
  it("gives all measurements of a run one probe, and each its own input", async () => {
    const mixed = await numbers(
      writer,
      `SELECT countIf(probes > 1) AS mixed, countIf(inputs < n AND n > 1) AS repeated, count() AS runs FROM (
         SELECT report_id, count() AS n, uniqExact(input) AS inputs,
           uniqExact((software_name, software_version, platform, probe_cc, probe_asn, test_name, test_start_time)) AS probes
         FROM fastpath GROUP BY report_id)`,
    );
    expect(mixed["runs"]).toBeGreaterThan(40_000);
    expect(mixed).toMatchObject({ mixed: 0, repeated: 0 });
    expect(await numbers(writer, "SELECT uniqExact(measurement_uid) AS n FROM fastpath")).toEqual({
      n: 1_500_000,
    });
  });

  it("has runs of tens of measurements, some of a single one, and some over midnight", async () => {
    const runs = await numbers(
      writer,
      `SELECT median(n) AS middle, max(n) AS longest, avg(n = 1) AS single, countIf(toDate(a) != toDate(b)) AS over_midnight
       FROM (SELECT count() AS n, min(measurement_start_time) AS a, max(measurement_start_time) AS b
         FROM fastpath WHERE test_name = 'web_connectivity' GROUP BY report_id)`,
    );
    expect(runs["middle"]).toBeGreaterThan(20);
    expect(runs["longest"]).toBeLessThanOrEqual(100);
    expect(runs["single"]).toBeGreaterThan(0.02);
    expect(runs["single"]).toBeLessThan(0.06);
    expect(runs["over_midnight"]).toBeGreaterThan(5);
  });
});

describe("the logs of the sample", () => {
  it("say that check-in very often gives 100 URLs", async () => {
    const answers = await numbers(
      writer,
      `SELECT count() AS n, avg(urls = 100) AS hundred, min(urls) AS fewest, max(urls) AS most FROM (
         SELECT toUInt32OrZero(extract(message, '(\\\\d+) URLs')) AS urls FROM logs
         WHERE SYSLOG_IDENTIFIER = 'probe-api' AND message LIKE 'check-in %')`,
    );
    expect(answers["n"]).toBeGreaterThan(5_000);
    expect(answers["hundred"]).toBeGreaterThan(0.9);
    expect(answers["hundred"]).toBeLessThan(0.97);
    expect(answers["fewest"]).toBeGreaterThanOrEqual(20);
    expect(answers["most"]).toBe(100);
  });

  it("hold the submission of each run's report under its id", async () => {
    const reports = await numbers(
      writer,
      `SELECT count() AS n, uniqExact(id) AS ids, countIf(id IN (SELECT report_id FROM fastpath)) AS known,
         (SELECT uniqExact(report_id) FROM fastpath) AS runs
       FROM (SELECT extract(message, '^POST /report/([^ ]+)') AS id FROM logs WHERE message LIKE 'POST /report/%')`,
    );
    // but for those that the planted fault of the pipeline loses
    const [truth] = await writer.rows<{ changes: string }>(
      "SELECT changes FROM sample_truth WHERE name = 'accepted-reports-not-stored'",
    );
    const lost = Number(/(\d+) reports accepted and not stored/.exec(truth!.changes)![1]);
    expect((reports["n"] ?? NaN) - (reports["known"] ?? NaN)).toBe(lost);
    expect(reports["ids"]).toBe(reports["n"]);
    // those of the last minutes come after the end
    expect((reports["runs"] ?? NaN) - (reports["known"] ?? NaN)).toBeLessThan(30);
  });
});

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
});
