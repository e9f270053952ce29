import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkDatabase } from "../../src/doctor/check-database.js";
import { checkFonts } from "../../src/doctor/check-fonts.js";
import { checkJupyter } from "../../src/doctor/check-jupyter.js";
import { checkKernel } from "../../src/doctor/check-kernel.js";
import { checkNode } from "../../src/doctor/check-node.js";
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

async function checkDatabaseAt(source: string) {
  const before = process.env["PROBELAB_MEASUREMENTS"];
  process.env["PROBELAB_MEASUREMENTS"] = source;
  try {
    return await checkDatabase();
  } finally {
    if (before === undefined) delete process.env["PROBELAB_MEASUREMENTS"];
    else process.env["PROBELAB_MEASUREMENTS"] = before;
  }
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
