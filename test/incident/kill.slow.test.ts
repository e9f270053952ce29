import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFolder, type FolderFiles } from "../../src/base/files/write-folder.js";
import { CHECKSUMS, checksumsText } from "../../src/incident/checksums.js";
import { ownFolder } from "../support/temporary-directory.js";
import { checkHashes } from "./folder.js";

const dist = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;

/**
 * A process of its own that ends as `kill -9` ends it, in place of its n-th operation on files; a
 * file that it would have written has half its bytes then. Without a number it says how many there are.
 */
const CHILD = `
import plain from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
const [at, folder, what, sync] = process.argv.slice(1);
let done = 0;
const counted = (object, name, half) => {
  const own = object[name];
  object[name] = async function (...args) {
    if (++done === Number(at)) {
      if (half) await own.call(this, args[0].slice(0, args[0].length / 2));
      process.kill(process.pid, "SIGKILL");
    }
    return own.apply(this, args);
  };
};
const handle = await fs.open(process.execPath);
const files = Object.getPrototypeOf(handle);
await handle.close();
const yes = () => Promise.resolve();
const { writeFolder } = await import("${dist("base/files/write-folder.js")}");
const { writeWholeSync } = await import("${dist("base/files/write-whole.js")}");
const content = new Map(JSON.parse(await fs.readFile(what, "utf8")));
const act = () =>
  sync === "sync" ? writeWholeSync(folder, content.get("report.md")) : writeFolder(folder, content, async () => {});
for (const name of ["mkdir", "open", "rename", "lstat", "readdir", "rm"]) counted(fs, name);
for (const name of ["sync", "close"]) counted(files, name);
for (const name of ["writeFileSync", "renameSync", "openSync", "fsyncSync"]) {
  const own = plain[name];
  plain[name] = (...args) => {
    if (++done === Number(at)) {
      if (name === "writeFileSync") own(args[0], args[1].slice(0, args[1].length / 2));
      process.kill(process.pid, "SIGKILL");
    }
    return own(...args);
  };
}
counted(files, "writeFile", true);
syncBuiltinESMExports();
await act();
console.log(done);
`;

const parent = ownFolder();

/** Lets a child write a folder. @returns how many operations it took, or undefined where it was killed. */
function write(folder: string, what: string, at?: number, sync = ""): number | undefined {
  const { signal, status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", CHILD, "--", String(at ?? "never"), folder, what, sync],
    { encoding: "utf8" },
  );
  if (signal === "SIGKILL") return undefined;
  expect(`${status} ${stderr}`).toBe("0 ");
  return Number(stdout);
}

/** The hashes of a folder that is whole; undefined where there is none. */
function stateOf(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const text = readFileSync(join(folder, CHECKSUMS), "utf8");
  checkHashes(folder);
  return text;
}

/** Files in two folders, with their hashes, and the path of a file that tells a child of them. */
function filesOf(title: string) {
  const files = new Map([
    ["report.md", title.repeat(9)],
    ["data/rows.csv", `${title},1\n`.repeat(2_000)],
  ]);
  const sums = checksumsText(files);
  files.set(CHECKSUMS, sums);
  const path = join(parent, `${title}.json`);
  writeFileSync(path, JSON.stringify([...files]));
  return { files: files as FolderFiles, sums, path };
}

/** What stands beside a folder. */
const beside = (folder: string): string[] =>
  readdirSync(dirname(folder)).filter((name) => name !== "report");

const yes = () => Promise.resolve();

describe("a process killed at each of its operations on files", () => {
  test("leaves the old folder or the new one, and what it left goes with the next save", async () => {
    const [old, fresh] = [filesOf("old"), filesOf("new")];
    const seen: (string | undefined)[] = [];
    const folder = join(parent, "replace", "report");
    await writeFolder(folder, old.files, yes);
    const all = write(folder, fresh.path) ?? 0;
    expect(all).toBeGreaterThan(20);
    for (let at = 1; at <= all; at++) {
      await writeFolder(folder, old.files, yes);
      expect(beside(folder)).toEqual([]);
      expect(write(folder, fresh.path, at), `operation ${at}`).toBeUndefined();
      const state = stateOf(folder);
      expect([old.sums, fresh.sums], `operation ${at}`).toContain(state);
      expect(beside(folder).length).toBeLessThanOrEqual(1);
      seen.push(state);
    }
    // First the old one, from the exchange on the new one.
    expect(seen.lastIndexOf(old.sums)).toBe(seen.indexOf(fresh.sums) - 1);
  }, 120_000);

  test("leaves an entry whole or none", () => {
    const fresh = filesOf("entry");
    const path = (at: number) => join(parent, "entries", `${at}.json`);
    mkdirSync(join(parent, "entries"));
    const all = write(path(0), fresh.path, undefined, "sync") ?? 0;
    const seen = Array.from({ length: all }, (_, at) => {
      expect(write(path(at + 1), fresh.path, at + 1, "sync")).toBeUndefined();
      return existsSync(path(at + 1)) ? readFileSync(path(at + 1), "utf8") : undefined;
    });
    expect(new Set(seen)).toEqual(new Set([undefined, fresh.files.get("report.md")]));
    expect(seen.lastIndexOf(undefined)).toBeLessThan(seen.indexOf(seen.at(-1)));
  }, 120_000);
});
