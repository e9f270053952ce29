import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { entryPath } from "../../src/base/entry-path.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

it("a process that asks the embedded database does not load the engine, nor vega or arquero before use", async () => {
  await using directory = await temporaryDirectory();
  const index = entryPath(import.meta.url, "../../src/index.js");
  const script = `
    import { readFileSync } from "node:fs";
    import { createRequire } from "node:module";
    const { connect, between } = await import(${JSON.stringify(index)});
    const loaded = () => readFileSync("/proc/self/maps", "utf8").match(/libchdb|ffi-rs/g) ?? [];
    const lab = await connect({ measurements: ${JSON.stringify(`embedded:${directory.path}`)} });
    const range = between("2026-05-01", "2026-05-02");
    const [{ one }] = (await lab.query("SELECT 1 AS one WHERE {start:DateTime64(3)} < {end:DateTime64(3)}", { range })).rows();
    await lab.close();
    console.log(JSON.stringify({ one, loaded: loaded() }));`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script]);
  expect(JSON.parse(stdout)).toEqual({ one: 1, loaded: [] });
  const trace = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(
      "export async function load(url, context, next) { console.error('LOADED ' + url); return next(url, context); }"));
    await import(${JSON.stringify(index)});`;
  const { stderr } = await run(process.execPath, [
    "--no-warnings",
    "--input-type=module",
    "-e",
    trace,
  ]);
  expect(stderr).toContain("dist/index.js");
  expect(stderr).not.toMatch(/node_modules\/(vega|vega-lite|arquero|chdb|ffi-rs|@resvg)\//);
});
