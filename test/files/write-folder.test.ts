import { spawnSync } from "node:child_process";
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

import { exchange, writeFolder } from "../../src/files/write-folder.js";
import { mounted, unmount } from "../support/small-disk.js";

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
    const aside = left(2 ** 22 + 7).replace(".tmp", ".old");
    for (const pid of [2 ** 22 + 7, process.pid]) mkdirSync(join(parent, left(pid)));
    mkdirSync(join(parent, aside));
    const cut = writeFolder(join(parent, "it"), new Map([["../x", ""]]), yes);
    await expect(cut).rejects.toThrow();
    // It may be the only copy of the old folder until there is a new one.
    expect(readdirSync(parent).sort()).toEqual([aside, left(process.pid)].sort());
    await writeFolder(join(parent, "it"), files("x"), yes);
    expect(readdirSync(parent).sort()).toEqual([left(process.pid), "it"]);
  });

  test("takes names as long and as odd as a file system does", async () => {
    const odd = ["n".repeat(255), `${"n".repeat(254)}m`, "ö".repeat(127), "a b\n.tmp", ".old"];
    for (const name of odd) {
      await writeFolder(join(parent, name), files("one"), yes);
      await writeFolder(join(parent, name), files(name), yes);
    }
    for (const name of odd) {
      expect(readFileSync(join(parent, name, "a.txt"), "utf8")).toBe(name);
    }
    expect(readdirSync(parent).sort()).toEqual(odd.toSorted());
  });

  test("a folder that is replaced but can't be removed is no failure", async () => {
    const path = join(parent, "it");
    await writeFolder(path, files("one"), yes);
    const stuck = join(path, "stuck");
    mkdirSync(stuck);
    if (!mounted(stuck, "size=64k")) return;
    try {
      expect(await writeFolder(path, files("two"), yes)).toBe(path);
      expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("two");
    } finally {
      for (const name of readdirSync(parent)) unmount(join(parent, name, "stuck"));
    }
  });

  test("on a full or a read-only disk the old folder stays as it is", async () => {
    const disk = join(parent, "disk");
    mkdirSync(disk);
    if (!mounted(disk, "size=256k")) return;
    try {
      const path = join(disk, "it");
      await writeFolder(path, files("one"), yes);
      const large = new Map([["a.txt", "x".repeat(400_000)]]);
      await expect(writeFolder(path, large, yes)).rejects.toThrow(
        /Can't write the folder ".*it" \(ENOSPC\): nothing was changed; .* the disk isn't full\.$/,
      );
      expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one");
      expect(readdirSync(disk)).toEqual(["it"]);
      // A disk of its own can't be exchanged with a folder beside it.
      await expect(writeFolder(disk, files("two"), yes)).rejects.toThrow(/nothing was changed/);
      expect(readdirSync(disk)).toEqual(["it"]);
      spawnSync("mount", ["-o", "remount,ro", disk]);
      await expect(writeFolder(path, files("two"), yes)).rejects.toThrow(/\(EROFS\)/);
      expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one");
      expect(readdirSync(parent)).toEqual(["disk"]);
    } finally {
      unmount(disk);
    }
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
