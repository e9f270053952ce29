import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { numbers, temporaryWriter } from "./temporary-writer.js";

let writer: Writer;

beforeAll(async () => {
  writer = await temporaryWriter();
  await fillSample(writer, { rows: 400_000, end: new Date("2026-05-01T00:00:00Z") });
});
afterAll(() => writer[Symbol.asyncDispose]());

/** Counts the rows of a table that meet a condition. */
async function count(condition: string, table = "fastpath"): Promise<number> {
  return (await numbers(writer, `SELECT countIf(${condition}) AS n FROM ${table}`))["n"] ?? NaN;
}

describe("the measurement table of the sample", () => {
  it("has the seven fields of the service's documentation, in types that real rows fit", async () => {
    const columns = await writer.rows<{ name: string; type: string }>(
      "SELECT name, type FROM system.columns WHERE database = {database:String} AND table = 'fastpath'",
      { parameters: { database: writer.database } },
    );
    const types = new Map(columns.map((column) => [column.name, column.type]));
    expect(types.get("measurement_start_time")).toBe("DateTime('UTC')");
    expect(types.get("report_id")).toBe("String");
    expect(types.get("probe_asn")).toBe("UInt32");
    for (const name of ["software_name", "software_version", "test_name", "probe_cc"]) {
      expect(types.get(name)).toBe("LowCardinality(String)");
    }
  });

  it("gives all measurements of a run one probe, and each its own input", async () => {
    const mixed = await numbers(
      writer,
      `SELECT countIf(probes > 1) AS mixed, countIf(inputs < n AND n > 1) AS repeated, count() AS runs FROM (
         SELECT report_id, count() AS n, uniqExact(input) AS inputs,
           uniqExact((software_name, software_version, platform, probe_cc, probe_asn, test_name, test_start_time)) AS probes
         FROM fastpath GROUP BY report_id)`,
    );
    expect(mixed["runs"]).toBeGreaterThan(10_000);
    expect(mixed).toMatchObject({ mixed: 0, repeated: 0 });
    expect(await numbers(writer, "SELECT uniqExact(measurement_uid) AS n FROM fastpath")).toEqual({
      n: 400_000,
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

  it("writes flags as t and f, and none as empty text", async () => {
    for (const flag of ["anomaly", "confirmed", "msm_failure"]) {
      expect(await count(`${flag} NOT IN ('t', 'f')`)).toBe(0);
      expect(await count(`${flag} = 't'`)).toBeGreaterThan(0);
    }
    expect(await count("(input = '') != (domain = '')")).toBe(0);
    const helped = "startsWith(test_helper_address, 'https://')";
    expect(await count(`(test_name = 'web_connectivity') != ${helped}`)).toBe(0);
    expect(await count("confirmed = 't' AND anomaly = 'f'")).toBe(0);
  });

  it("measures the sites that are reserved for examples only", async () => {
    expect(await count("domain != '' AND NOT match(domain, '\\\\.example(:\\\\d+)?$')")).toBe(0);
  });
});
