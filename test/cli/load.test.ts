import { afterAll, beforeAll, expect, it } from "vitest";
import { runLoad, type LoadFlags } from "../../src/cli/load.js";
import type { LoadableTable } from "../../src/load/loadable-table.js";
import { measurement, measurements } from "../load/measurement.js";
import { openDatabase, type TestDatabase } from "../load/open-database.js";
import { csv, jsonl, put } from "../load/write-file.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await openDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** What the command says, without the test's own folder. */
async function load(files: string[], flags: LoadFlags = {}, table: LoadableTable = "fastpath") {
  const said = { out: "", err: "" };
  const into = `embedded:${db.directory}`;
  const code = await runLoad(
    table,
    files,
    { into, ...flags },
    {
      out: (text) => (said.out += text),
      err: (text) => (said.err += text),
      terminal: false,
    },
  );
  const short = (text: string) => text.replaceAll(`${db.folder}/`, "");
  return { code, out: short(said.out), err: short(said.err) };
}

it("probelab load tells rows, runs, times in UTC and the columns that did not match", async () => {
  const rows = measurements(1_200).map((row) => ({ ...row, extra: "1" }));
  const path = await put(db.folder, "week.csv", csv(rows).replaceAll("test_runtime", "runtime"));
  expect(await load([path])).toEqual({
    code: 0,
    out: [
      "week.csv: 1,200 measurements in 120 runs, 2026-03-01 00:00:00 to 2026-03-01 19:59:00 UTC",
      "  not in the file, left at their defaults: test_runtime",
      "  not in fastpath, ignored: runtime, extra",
      "1 file, 1,200 rows loaded into embedded:database.",
      "",
    ].join("\n"),
    err: "",
  });
});

it("probelab load goes on after a file that is refused, and ends with exit code 1", async () => {
  const good = await put(db.folder, "good.jsonl", jsonl([measurement(5_000)]));
  const { code, out, err } = await load([`${db.folder}/none.jsonl`, good]);
  expect({ code, err }).toEqual({
    code: 1,
    err: "Can't load none.jsonl: there is no such file. Check the path.\n",
  });
  expect(out).toBe(
    "good.jsonl: 1 measurement in 1 run, 2026-03-04 11:20:00 to 2026-03-04 11:20:00 UTC\n" +
      "1 of 2 files, 1 row loaded into embedded:database.\n",
  );
});

it("probelab load refuses a server that is not embedded", async () => {
  await expect(load(["x.jsonl"], { into: "http://127.0.0.1:1/db" })).rejects.toThrow(
    /Can't write to http:\/\/127.0.0.1:1\/db/,
  );
});
