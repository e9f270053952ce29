import { expect, it } from "vitest";
import { sampleLab } from "./sample-lab.js";

it("the notebooks need only the seed document's columns, and say what they can't show", async () => {
  await using sample = await sampleLab(300_000);
  // The time as another type, no wider column, no table of instances, no line of a report.
  for (const statement of [
    `CREATE TABLE seven ENGINE = MergeTree ORDER BY measurement_start_time AS
      SELECT toUInt64(toUnixTimestamp64Micro(toDateTime64(measurement_start_time, 6, 'UTC'))) AS measurement_start_time,
        software_name, software_version, test_name, report_id, probe_cc, toUInt64(probe_asn) AS probe_asn
      FROM fastpath`,
    `CREATE TABLE lines ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP AS
      SELECT __REALTIME_TIMESTAMP, SYSLOG_IDENTIFIER, message FROM logs WHERE message NOT LIKE '%/report/%'`,
    "DROP TABLE fastpath",
    "DROP TABLE logs",
    "DROP TABLE test_helper_instances",
    "RENAME TABLE seven TO fastpath",
    "RENAME TABLE lines TO logs",
  ]) {
    await sample.writer.command(statement);
  }
  const shown = await sample.runAsOne([
    ...(["measurement-drop", "incoming-measurements", "logs", "test-helpers", "alarms"] as const),
    ...(["autorun-log-errors", "autorun-release-watch"] as const),
  ]);

  expect(shown["measurement-drop"]).toMatch(
    /3\.10\.0 ends its runs early \(−(5[5-9]|6[0-5]) %\)\. \d+ measurements a run where \d+ were to be expected/,
  );
  expect(shown["incoming-measurements"]).toContain("nothing can be said of what is stored");
  expect(shown["incoming-measurements"]).not.toMatch(/Of \d+ submitted/);
  for (const name of ["logs", "autorun-log-errors"] as const) {
    expect(shown[name]).toContain("messages of any severity (the table has no PRIORITY)");
  }
  expect(shown.alarms).toMatch(/Measurements per hour: (no alarm|can't tell|\d+ alarms?)/);
  expect(shown["autorun-release-watch"]).toMatch(/\d of \d+ versions began in the last 2 weeks/);
  const helpers = shown["test-helpers"];
  expect(helpers).toContain("Can't ask for the failure rate of test helpers: fastpath has no column");
  expect(helpers).toContain("Nothing can be said about rotations.");
  expect(helpers).not.toContain("No test helper stands out");
}, 600_000);
