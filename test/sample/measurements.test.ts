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

  it("names each run by its start, test, country and network", async () => {
    const parts = "splitByChar('_', report_id)";
    expect(
      await count(
        "NOT match(report_id, '^\\\\d{8}T\\\\d{6}Z_[a-z]+_[A-Z]{2}_\\\\d+_n1_[A-Za-z0-9]{16}$')",
      ),
    ).toBe(0);
    expect(await count(`${parts}[2] != replaceAll(test_name, '_', '')`)).toBe(0);
    expect(await count(`${parts}[3] != probe_cc OR ${parts}[4] != toString(probe_asn)`)).toBe(0);
    const runs =
      "(SELECT report_id, min(measurement_start_time) AS start FROM fastpath GROUP BY report_id)";
    const time = "formatDateTime(start, '%Y%m%dT%H%i%SZ')";
    expect(await count(`${parts}[1] != ${time}`, runs)).toBe(0);
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

  it("has countries and networks with a long tail", async () => {
    const shares = await numbers(
      writer,
      `SELECT uniqExact(probe_cc) AS countries, uniqExact(probe_cc, probe_asn) AS networks,
         (SELECT max(n) / sum(n) FROM (SELECT count() AS n FROM fastpath GROUP BY probe_cc)) AS largest FROM fastpath`,
    );
    expect(shares["countries"]).toBeGreaterThan(60);
    expect(shares["networks"]).toBeGreaterThan(1_000);
    expect(shares["largest"]).toBeGreaterThan(0.1);
    expect(shares["largest"]).toBeLessThan(0.2);
  });

  it("has a daily season: people measure by day, timers by night", async () => {
    const share = async (name: string): Promise<number> =>
      (
        await numbers(
          writer,
          `SELECT uniqIf(report_id, toHour(test_start_time) BETWEEN 1 AND 5) / uniq(report_id) AS share FROM fastpath
           WHERE software_name = '${name}' AND probe_cc IN ('DE', 'IT', 'FR', 'ES', 'NL', 'PL')`,
        )
      )["share"] ?? NaN;
    expect(await share("probe-android-unattended")).toBeGreaterThan(0.22); // of 5 in 24 hours: 0.208
    expect(await share("probe-android")).toBeLessThan(0.17);
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

  it("is stored in at most 60 bytes a row", async () => {
    const size = await numbers(
      writer,
      "SELECT sum(bytes_on_disk) / sum(rows) AS bytes FROM system.parts WHERE active AND table = 'fastpath'",
    );
    expect(size["bytes"]).toBeLessThan(60);
  });
});
