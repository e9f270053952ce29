import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { readRecord } from "../../src/database/embedded/directory.js";
import { joinServer } from "../../src/database/embedded/join.js";
import { openWriter } from "../../src/database/writer.js";
import type { Source } from "../../src/database/source.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const source = (directory: string): Source => ({
  kind: "embedded",
  directory,
  label: `embedded:${directory}`,
});

const COUNT = "SELECT count() AS rows FROM kept";

it("a copied embedded directory is a database of its own, also while the original is open", async () => {
  await using folder = await temporaryDirectory();
  const [original, copy] = [join(folder.path, "A"), join(folder.path, "B")];
  await using first = await openWriter(source(original));
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  await first.command("INSERT INTO kept VALUES (1)");
  execFileSync("cp", ["-a", original, copy]);
  {
    await using second = await openWriter(source(copy));
    await second.command("INSERT INTO kept VALUES (2), (3)");
    expect(await second.rows(COUNT)).toEqual([{ rows: 3 }]);
  }
  expect(await first.rows(COUNT)).toEqual([{ rows: 1 }]);
  expect(readRecord(original)?.pid).not.toBe(readRecord(copy)?.pid);
});

it("a renamed embedded directory goes on under its new name, and the old one is not made anew", async () => {
  await using folder = await temporaryDirectory();
  const [before, after] = [join(folder.path, "A"), join(folder.path, "B")];
  await using first = await openWriter(source(before));
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  await first.command("INSERT INTO kept VALUES (1)");
  await using reader = await Database.open(source(before));
  renameSync(before, after);
  await expect(first.command("INSERT INTO kept VALUES (2)")).rejects.toThrow(
    /^Can't use embedded:.*A any more: its directory was renamed or removed meanwhile. Put it back, or connect to where it is now.$/,
  );
  await expect(reader.rows(COUNT)).rejects.toThrow(/renamed or removed/);
  expect(existsSync(before)).toBe(false);
  await using second = await openWriter(source(after));
  expect(await second.rows(COUNT)).toEqual([{ rows: 1 }]);
});

it("another directory in the old one's place is another database", async () => {
  await using folder = await temporaryDirectory();
  const [before, after] = [join(folder.path, "A"), join(folder.path, "B")];
  await using first = await openWriter(source(before));
  await first.command("CREATE TABLE kept (number UInt8) ENGINE = MergeTree ORDER BY number");
  renameSync(before, after);
  execFileSync("cp", ["-a", after, before]);
  await first.command("INSERT INTO kept VALUES (1)");
  await using second = await openWriter(source(after));
  expect(await second.rows(COUNT)).toEqual([{ rows: 0 }]);
  expect(await first.rows(COUNT)).toEqual([{ rows: 1 }]);
});

it("one directory under two names has one server", async () => {
  await using folder = await temporaryDirectory();
  const [own, link, bound] = ["own", "link", "bound"].map((name) => join(folder.path, name));
  if (!own || !link || !bound) throw new Error("names");
  using lease = await joinServer(own);
  symlinkSync(own, link);
  using other = await joinServer(link);
  expect(other.server.pid).toBe(lease.server.pid);
  if (process.getuid?.() !== 0) return; // only root may bind a directory to a second name
  mkdirSync(bound);
  execFileSync("mount", ["--bind", own, bound]);
  try {
    using third = await joinServer(bound);
    expect(third.server.pid).toBe(lease.server.pid);
  } finally {
    execFileSync("umount", [bound]);
  }
});
