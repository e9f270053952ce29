import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { ownFolder } from "../support/temporary-directory.js";
import { besidePath, writeWhole } from "../../src/base/files/write-whole.js";

const folder = ownFolder();

it("writeWhole(path) removes what killed saves of that path have left, and nothing else", async () => {
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
});
