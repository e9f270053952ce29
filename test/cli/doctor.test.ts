import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { entryPath } from "../../src/base/entry-path.js";
import { parseAddress } from "../../src/database/address.js";
import { openWriter } from "../../src/database/writer.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "probelab-doctor-"));
  await jupyter({});
});
afterEach(() => rm(folder, { recursive: true }));

/** A Jupyter that knows these kernels. */
function jupyter(kernelspecs: object): Promise<void> {
  const versions = "echo 'jupyterlab       : 4.2.1'; echo 'notebook         : not installed'";
  const listed = `echo '${JSON.stringify({ kernelspecs })}'`;
  const script = `#!/bin/sh\nif [ "$1" = kernelspec ]; then ${listed}; else ${versions}; fi\n`;
  return writeFile(join(folder, "jupyter"), script, { mode: 0o755 });
}

const main = entryPath(import.meta.url, "../../src/cli/main.js");
const at = (name: string) => `embedded:${join(folder, name)}`;

/** What `probelab doctor` prints, with a jupyter of the test's, and its exit code. */
function doctor(variables: Record<string, string>): Promise<{ code: number; said: string }> {
  const env = { PATH: folder, ...variables };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, "doctor"], { cwd: folder, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), said: out + err }),
    );
  });
}

const writer = (name: string) =>
  openWriter(parseAddress(at(name), { root: folder, name: "the test" }));

test("doctor advises to fill an embedded database that isn't there, and makes nothing", async () => {
  const { code, said } = await doctor({ PROBELAB_MEASUREMENTS: at("nothere") });
  expect(code).toBe(0);
  expect(said).toContain(`advice  fastpath  ${at("nothere")} is empty`);
  expect(said).toContain("Fill it with npx probelab start, sample or load.");
  expect(said).toMatch(/^advice {2}Kernel {4}not installed\n.*npx probelab kernel install/m);
  expect(said).toMatch(/^ok {6}Jupyter {3}jupyterlab 4\.2\.1$/m);
  expect(existsSync(join(folder, "nothere"))).toBe(false);
});

test("doctor says why a server can't be reached and what a kernel lacks, and exits with 1", async () => {
  const spec = { argv: ["/nowhere/node", "{connection_file}"] };
  await jupyter({ probelab: { resource_dir: "/kernels/probelab", spec } });
  const { code, said } = await doctor({ PROBELAB_MEASUREMENTS: "http://u:pw@127.0.0.1:9/none" });
  expect(code).toBe(1);
  expect(said).toMatch(/FAILED {2}fastpath .*127\.0\.0\.1:9\/none does not answer/);
  expect(said).toContain(
    "FAILED  Kernel    /kernels/probelab starts /nowhere/node, which is not there",
  );
  expect(said).not.toContain("pw@");
});

test("doctor asks each table as it is named, a log table on a source of its own too", async () => {
  {
    await using measurements = await writer("data");
    await measurements.command(
      `CREATE TABLE seen (started UInt64, rid String, software_name String, software_version String,
        test_name String, probe_cc String, probe_asn UInt32) ENGINE = ReplacingMergeTree ORDER BY started`,
    );
    await measurements.command(
      `INSERT INTO seen SELECT 1777593600000000 + number * 1000000, '', '', '', '', '', 0 FROM numbers(500)`,
    );
    await measurements.command("INSERT INTO seen (started) VALUES (0)");
    await using logs = await writer("logs");
    await logs.command(
      "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String) ORDER BY __REALTIME_TIMESTAMP",
    );
    await logs.command("INSERT INTO logs VALUES (1777593600000000, 'a'), (4000000000000000, 'b')");
  }
  const sources = { PROBELAB_MEASUREMENTS: at("data"), PROBELAB_LOGS: at("logs") };
  const tables = { measurements: { table: "seen", time: "started", report_id: "rid" } };
  const { code, said } = await doctor({ ...sources, PROBELAB_TABLES: JSON.stringify(tables) });
  expect(code).toBe(0);
  expect(said).toMatch(
    /^ok {6}seen .*ReplacingMergeTree, 9 columns, started as microseconds in a UInt64, 500 rows in the week/m,
  );
  expect(said).toContain("1 row of seen has no usable started and is left out");
  expect(said).toMatch(
    /^advice {2}logs .*microseconds in a Int64, 1 row in the week to 2026-05-01/m,
  );
  expect(said).toMatch(/SYSLOG_IDENTIFIER in tables\.logs of probelab\.config\.json/);
  expect(said).toMatch(/^advice {2}test_helper_instances .*UNKNOWN_TABLE/m);
  const unnamed = await doctor(sources);
  expect(unnamed).toMatchObject({ code: 1 });
  expect(unnamed.said).toMatch(/^FAILED {2}fastpath .*\n.*If it has another name/m);
});
