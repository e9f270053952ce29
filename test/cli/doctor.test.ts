import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkFonts, checkJupyter, checkKernel, checkNode } from "../../src/cli/doctor.js";
import { checkDatabase, checkTables, type Check } from "../../src/cli/doctor-database.js";
import { openWriter } from "../../src/database/open-writer.js";
import { parseSource } from "../../src/database/source.js";
import { installKernel } from "../../src/notebook/kernel/kernelspec.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "probelab-doctor-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("checkNode(version) fails below 20.19", () => {
  expect(checkNode("20.18.3")).toMatchObject({
    state: "failure",
    remedy: "Install Node 20.19 or newer.",
  });
  expect(["20.19.0", "22.1.0"].map((version) => checkNode(version).state)).toEqual(["ok", "ok"]);
});

test("checkKernel() follows the kernel from missing to installed to broken", async () => {
  const environment = { JUPYTER_DATA_DIR: folder };
  const elsewhere = checkKernel({ ...environment, JUPYTER_PATH: folder });
  expect(elsewhere).toMatchObject({ state: "advice", found: "not installed" });
  const kernel = await installKernel({ kind: "user" }, environment);
  expect(checkKernel(environment).found).toBe(kernel);
  const argv = ["/nowhere/node", "{connection_file}"];
  await writeFile(join(kernel, "kernel.json"), JSON.stringify({ argv, display_name: "x" }));
  expect(checkKernel(environment)).toMatchObject({
    state: "failure",
    found: `${kernel} starts /nowhere/node, which is not there`,
  });
});

test("checkJupyter(program) tells its frontends, or advises to install one", async () => {
  const program = join(folder, "jupyter");
  const answer = "echo 'jupyterlab       : 4.2.1'; echo 'notebook         : not installed'";
  await writeFile(program, `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
  expect(await checkJupyter(program)).toMatchObject({ state: "ok", found: "jupyterlab 4.2.1" });
  expect(await checkJupyter(join(folder, "none"))).toMatchObject({ state: "advice" });
});

test("checkFonts() draws text with the shipped font", async () => {
  expect(await checkFonts()).toMatchObject({ state: "ok" });
});

async function withSettings<T>(
  settings: Record<string, string>,
  run: () => Promise<T>,
): Promise<T> {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  try {
    return await run();
  } finally {
    vi.unstubAllEnvs();
  }
}

function checkDatabaseAt(source: string) {
  return withSettings({ PROBELAB_MEASUREMENTS: source }, checkDatabase);
}

function checkTablesWith(settings: Record<string, string>): Promise<Check[]> {
  return withSettings(settings, async () => {
    const checks: Check[] = [];
    for await (const check of checkTables()) checks.push(check);
    return checks;
  });
}

test("checkDatabase() says why a server can't be reached, and does not blame the engine", async () => {
  const check = await checkDatabaseAt("http://127.0.0.1:9/nothing");
  expect(check.state).toBe("failure");
  expect(check.remedy).toContain("PROBELAB_MEASUREMENTS");
  expect(check.remedy).not.toContain("chdb");
});

test("checkDatabase() advises to fill an embedded database that isn't there, and makes nothing", async () => {
  const directory = join(folder, "nothere");
  expect(await checkDatabaseAt(`embedded:${directory}`)).toMatchObject({
    state: "advice",
    found: `embedded:${directory} is empty`,
    remedy: "Fill it with npx probelab start, sample or load.",
  });
  expect(existsSync(directory)).toBe(false);
});

test("checkDatabase() tells the rows of an embedded database and their span", async () => {
  const directory = join(folder, "data");
  const source = `embedded:${directory}`;
  await using writer = await openWriter(parseSource(source, { root: folder, name: "the test" }));
  expect(await checkDatabaseAt(source)).toMatchObject({ state: "advice" });
  await writer.command(
    "CREATE TABLE fastpath (measurement_start_time DateTime64(3, 'Asia/Tokyo')) ORDER BY tuple()",
  );
  expect(await checkDatabaseAt(source)).toMatchObject({ state: "advice" });
  await writer.command(
    "INSERT INTO fastpath SELECT toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + INTERVAL number DAY FROM numbers(1200)",
  );
  expect(await checkDatabaseAt(source)).toEqual({
    name: "Database",
    state: "ok",
    found: `${source}: 1,200 measurements, 2026-01-01 00:00 to 2029-04-14 00:00 UTC`,
  });
});

test("checkTables() asks each table as it is named, a log table on a source of its own too", async () => {
  const at = (name: string) => `embedded:${join(folder, name)}`;
  const settings = { PROBELAB_MEASUREMENTS: at("data"), PROBELAB_LOGS: at("logs") };
  expect(await checkTablesWith(settings)).toEqual([]);
  {
    await using writer = await openWriter(parseSource(at("data"), { root: folder, name: "a" }));
    await writer.command(
      `CREATE TABLE seen (started UInt64, rid String, software_name String, software_version String,
        test_name String, probe_cc String, probe_asn UInt32) ENGINE = ReplacingMergeTree ORDER BY started`,
    );
    await writer.command(
      `INSERT INTO seen SELECT 1777593600000000 + number * 1000000, '', '', '', '', '', 0 FROM numbers(500)`,
    );
    await writer.command("INSERT INTO seen (started) VALUES (0)");
    await using logs = await openWriter(parseSource(at("logs"), { root: folder, name: "b" }));
    await logs.command(
      "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String) ORDER BY __REALTIME_TIMESTAMP",
    );
    await logs.command("INSERT INTO logs VALUES (1777593600000000, 'a'), (4000000000000000, 'b')");
  }
  const tables = { measurements: { table: "seen", time: "started", report_id: "rid" } };
  const [seen, logs, helpers] = await checkTablesWith({
    ...settings,
    PROBELAB_TABLES: JSON.stringify(tables),
  });
  expect(seen).toMatchObject({ name: "seen", state: "advice" });
  expect(seen?.found).toMatch(/ReplacingMergeTree.*started as microseconds in a UInt64, 500 rows/);
  expect(seen?.found).toContain("1 row of seen has no usable started and is left out");
  expect(logs).toMatchObject({ name: "logs", state: "advice" });
  expect(logs?.found).toMatch(/microseconds in a Int64, 1 rows in the 7 days to 2026-05-01/);
  expect(logs?.remedy).toMatch(/no column SYSLOG_IDENTIFIER.*tables.logs/);
  expect(helpers).toMatchObject({ name: "test_helper_instances", state: "advice" });
  expect((await checkTablesWith(settings))[0]).toMatchObject({
    name: "fastpath",
    state: "failure",
  });
});
