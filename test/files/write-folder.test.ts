import {
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exchange } from "../../src/files/exchange.js";
import { writeFolder } from "../../src/files/write-folder.js";

let parent = "";
const files = (text: string) =>
  new Map<string, string | Uint8Array>([
    ["a.txt", text],
    ["deep/er/b.bin", new Uint8Array([1, 2, 3])],
  ]);
const yes = (): Promise<void> => Promise.resolve();

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "probelab-folder-"));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

describe("writeFolder(path, files, mayReplace)", () => {
  test("writes every file, makes the folders above, and leaves nothing beside it", async () => {
    const path = join(parent, "above", "it");
    expect(await writeFolder(path, files("one"), yes)).toBe(path);
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one");
    expect([...readFileSync(join(path, "deep", "er", "b.bin"))]).toEqual([1, 2, 3]);
    expect(readdirSync(join(parent, "above"))).toEqual(["it"]);
  });

  test("replaces a folder as a whole: files of the old one are gone", async () => {
    const path = join(parent, "it");
    await writeFolder(path, new Map([["old.txt", "old"]]), yes);
    await writeFolder(path, files("two"), yes);
    expect(readdirSync(path).sort()).toEqual(["a.txt", "deep"]);
    expect(readdirSync(parent)).toEqual(["it"]);
  });

  test("takes an empty folder without asking, and asks before anything else is replaced", async () => {
    const asked: string[] = [];
    const refuse = (folder: string): Promise<void> => {
      asked.push(folder);
      return Promise.reject(new Error("not that one"));
    };
    mkdirSync(join(parent, "empty"));
    await writeFolder(join(parent, "empty"), files("x"), refuse);
    writeFileSync(join(parent, "file"), "kept");
    symlinkSync(join(parent, "empty"), join(parent, "link"));
    for (const name of ["empty", "file", "link"]) {
      await expect(writeFolder(join(parent, name), files("y"), refuse)).rejects.toThrow();
    }
    expect(asked).toEqual(["empty", "file", "link"].map((name) => join(parent, name)));
    expect(readFileSync(join(parent, "file"), "utf8")).toBe("kept");
    expect(readFileSync(join(parent, "empty", "a.txt"), "utf8")).toBe("x");
    expect(readdirSync(parent).sort()).toEqual(["empty", "file", "link"]);
  });

  test("many at once leave one of them, whole", async () => {
    const path = join(parent, "it");
    await Promise.all(
      ["1", "2", "3", "4", "5", "6"].map((text) => writeFolder(path, files(text), yes)),
    );
    expect(readFileSync(join(path, "a.txt"), "utf8")).toMatch(/^[1-6]$/);
    expect(readdirSync(parent)).toEqual(["it"]);
  });

  test("removes what a process that is no more left behind, and nothing of a living one", async () => {
    const host = hostname().replace(/[^\w]/g, "_");
    const left = (pid: number): string => `.it.${host}-${pid}-0123abcd.tmp`;
    for (const pid of [2 ** 22 + 7, process.pid]) mkdirSync(join(parent, left(pid)));
    await writeFolder(join(parent, "it"), files("x"), yes);
    expect(readdirSync(parent).sort()).toEqual([left(process.pid), "it"]);
  });

  test("where it can't be written, nothing is left and the error says why", async () => {
    writeFileSync(join(parent, "file"), "kept");
    await expect(writeFolder(join(parent, "file", "it"), files("x"), yes)).rejects.toThrow(
      /Can't write the folder ".*it" \((ENOTDIR|EEXIST)\): nothing was changed/,
    );
    await expect(
      writeFolder(join(parent, "it"), new Map([["../out.txt", "x"]]), yes),
    ).rejects.toThrow(/leads out/);
    expect(readdirSync(parent)).toEqual(["file"]);
  });
});

describe("exchange(one, other)", () => {
  test.runIf(process.platform === "linux")("exchanges two folders in one step", () => {
    for (const name of ["one", "other"]) {
      mkdirSync(join(parent, name));
      writeFileSync(join(parent, name, "name"), name);
    }
    expect(exchange(join(parent, "one"), join(parent, "other"))).toBe(true);
    expect(readFileSync(join(parent, "one", "name"), "utf8")).toBe("other");
    expect(readFileSync(join(parent, "other", "name"), "utf8")).toBe("one");
  });

  test("is false, and changes nothing, where one of them is missing", () => {
    mkdirSync(join(parent, "one"));
    expect(exchange(join(parent, "one"), join(parent, "missing"))).toBe(false);
    expect(readdirSync(parent)).toEqual(["one"]);
  });
});
