import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { besidePath, writeWhole } from "../../src/files/write-whole.js";
import { loadFiles } from "../../src/load/load-files.js";
import { measurements } from "../load/measurement.js";
import { empty, openDatabase, type TestDatabase } from "../load/open-database.js";
import { jsonl, put } from "../load/write-file.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await openDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => empty(db.writer));

it.each([
  ["words without quotes", "{bad}\n", 1],
  ["an object without values", "{}\n", 1],
  ["a number after empty lines", "\n\n42\n", 3],
  ["a key without a value", '{"report_id"}\n', 1],
  ["a row that is cut", `${jsonl(measurements(1)).slice(0, 40)}\n`, 1],
  ["a row without its first quote", `${jsonl(measurements(1)).replace('"', "")}`, 1],
])("JSONL whose only line is bad is refused with that line: %s", async (name, content, line) => {
  const path = await put(db.folder, `${name.replaceAll(" ", "-")}.jsonl`, content);
  const loading = loadFiles(db.writer, "fastpath", [path]);
  await expect(loading).rejects.toThrow(new RegExp(`${basename(path)}.*line ${line}\\b`));
  await expect(loading).rejects.not.toThrow(/no rows in it/);
});

it("writeWhole(path) removes what killed saves of that path have left, and nothing else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "probelab-test-"));
  try {
    const target = join(folder, "chart.svg");
    const dead = spawn("true");
    await once(dead, "exit");
    const leftBy = (path: string, pid: number | undefined) =>
      besidePath(path, ".tmp").replace(`-${process.pid}-`, `-${pid}-`);
    const gone = leftBy(target, dead.pid);
    const kept = [
      besidePath(target, ".tmp"), // a save of this process, under way
      leftBy(target, 1), // of one that runs
      leftBy(join(folder, "other.svg"), dead.pid), // of another file
      join(folder, ".chart.svg.mine.tmp"),
    ];
    for (const path of [gone, ...kept]) writeFileSync(path, "part");
    await writeWhole(target, "whole");
    expect(readdirSync(folder).sort()).toEqual(
      ["chart.svg", ...kept.map((path) => basename(path))].sort(),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
