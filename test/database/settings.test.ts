import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findLimits, findTables } from "../../src/database/settings.js";
import { SEED_TABLES } from "../../src/database/tables.js";

const root = mkdtempSync(join(tmpdir(), "probelab-tables-"));
afterAll(() => rmSync(root, { recursive: true }));
const write = (config: unknown) =>
  writeFileSync(join(root, "probelab.config.json"), JSON.stringify(config));

it("findTables(options) takes each name of options, environment and file, in this order", () => {
  expect(findTables(undefined, {}, root)).toEqual(SEED_TABLES);
  write({
    tables: {
      measurements: { table: "filed", time: "ts", report_id: "rid" },
      logs: { identifier: "program", forms: { accepted: "^POST" } },
      testHelpers: { draining_at: "ends" },
    },
  });
  const env = {
    PROBELAB_TABLES: '{ "measurements": { "table": "named.seen", "unit": "seconds" } }',
  };
  expect(findTables({ measurements: { report_id: "report" } }, env, root)).toEqual({
    measurements: {
      table: "named.seen",
      time: "ts",
      unit: "seconds",
      columns: { report_id: "report", measurement_start_time: "ts" },
    },
    logs: {
      table: "logs",
      time: "__REALTIME_TIMESTAMP",
      columns: { SYSLOG_IDENTIFIER: "program" },
      forms: { accepted: "^POST" },
    },
    testHelpers: { table: "test_helper_instances", time: "ends", columns: { draining_at: "ends" } },
  });
});

it("findLimits(options) takes each limit of options, environment and file, in this order", () => {
  write({ limits: { maxSeconds: 30, maxMemory: 1e9 } });
  const env = { PROBELAB_LIMITS: '{ "maxSeconds": 20, "maxResultRows": 50000 }' };
  expect(findLimits({ maxResultRows: 10 }, env, root)).toEqual({
    maxSeconds: 20,
    maxMemory: 1e9,
    maxResultRows: 10,
  });
});

it.each<[unknown, RegExp]>([
  [{ tables: { measurement: {} } }, /"measurement" in tables .*did you mean "measurements"/],
  [{ tables: { measurements: { tabel: "x" } } }, /"tabel" in tables.measurements .*mean "table"/],
  [{ tables: { measurements: { measurement_start_time: "x" } } }, /did you mean "time"/],
  [{ tables: { measurements: { table: 5 } } }, /"tables.measurements.table": 5 .*name of a table/],
  [{ tables: { logs: { unit: "minutes" } } }, /"minutes" in .*write one of seconds, milliseconds/],
  [{ tables: [] }, /"tables": \[…\] in .*write an object/],
  [{ limits: { maxSecond: 5 } }, /"maxSecond" in limits .*did you mean "maxSeconds"/],
  [{ limits: { maxSeconds: 0 } }, /"limits.maxSeconds": 0 .*a number above 0/],
  [{ logs: { url: "https://a", password: "s3cret" } }, /^(?!.*s3cret).*"logs": \{…\}/],
])("findTables(options) refuses %j in the file", (config, message) => {
  write(config);
  expect(() => findTables(undefined, {}, root)).toThrow(message);
});

it("findTables(options) names the variable or the option that it can't use", () => {
  write({});
  expect(() => findTables(undefined, { PROBELAB_TABLES: "{" }, root)).toThrow(
    /read PROBELAB_TABLES/,
  );
  const odd = JSON.parse('{ "logs": { "programm": "x" } }') as object;
  expect(() => findTables(odd, {}, root)).toThrow(/"programm" in tables.logs in connect/);
});
