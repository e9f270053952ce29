import { afterAll, beforeAll, expect, it } from "vitest";
import { measurement, measurements } from "../sample/load/measurement.js";
import { openDatabase, type TestDatabase } from "../sample/load/open-database.js";
import { csv, jsonl, put } from "../sample/load/write-file.js";
import { probelab } from "../support/command.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await openDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** Exit code and output of the command, without the test's own folder. */
async function load(files: string[], into = `embedded:${db.directory}`) {
  const { code, out, err } = await probelab(["load", "fastpath", ...files, "--into", into]);
  const short = (text: string) => text.replaceAll(`${db.folder}/`, "");
  return { code, out: short(out), err: short(err) };
}

it("probelab load prints rows, times in UTC and the columns that did not match", async () => {
  const rows = measurements(1_200).map((row) => ({ ...row, extra: "1" }));
  const path = await put(db.folder, "week.csv", csv(rows).replaceAll("test_runtime", "runtime"));
  expect(await load([path])).toEqual({
    code: 0,
    out: [
      "week.csv: 1,200 rows, 2026-03-01 00:00:00 to 2026-03-01 19:59:00 UTC",
      "  not in the file, left at their defaults: test_runtime",
      "  not in fastpath, ignored: runtime, extra",
      "1 of 1 file, 1,200 rows loaded into embedded:database.",
      "",
    ].join("\n"),
    err: "",
  });
});

it("probelab load goes on after a file that is refused, and ends with exit code 1", async () => {
  const good = await put(db.folder, "good.jsonl", jsonl([measurement(5_000)]));
  expect(await load([`${db.folder}/none.jsonl`, good])).toEqual({
    code: 1,
    err: "Can't load none.jsonl: it can't be read (ENOENT). Check the path and its rights.\n",
    out:
      "good.jsonl: 1 row, 2026-03-04 11:20:00 to 2026-03-04 11:20:00 UTC\n" +
      "1 of 2 files, 1 row loaded into embedded:database.\n",
  });
});
