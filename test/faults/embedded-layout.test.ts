import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkLayout } from "../../src/database/embedded/directory.js";
import { openWriter } from "../../src/database/writer.js";
import { connect } from "../../src/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

it("an embedded directory is opened by its layout: an older one is taken over, a newer one refused whole", async () => {
  await using directory = await temporaryDirectory();
  const layout = join(directory.path, "layout.json");
  {
    await using writer = await openWriter(directory.source);
    await writer.command("CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n");
    await writer.command("INSERT INTO kept VALUES (17)");
  }
  const written = await readFile(layout, "utf8");
  const { engine, layout: number } = JSON.parse(written) as { engine: string; layout: number };
  expect(number).toBe(1);
  expect(engine).toMatch(/^\d+\.\d/);

  const ended = async () => {
    while ((await readdir(directory.path)).includes("server.json"))
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  for (const [text, told] of [
    [
      '{"layout":2,"engine":"26.7.1"}',
      /its layout is 2, and this probelab knows 1\. Nothing in it was changed: update probelab, or name another directory/,
    ],
    [
      '{"layout":1,"engine":"99.1.1"}',
      /ClickHouse 99\.1\.1 has written it, and this one is \d.*update probelab and its package chdb/,
    ],
    ["{", /can't read its file .*layout\.json\. .*put it back from a copy, or remove that file/],
  ] as const) {
    await ended();
    await writeFile(layout, text);
    await expect(connect({ measurements: `embedded:${directory.path}` })).rejects.toThrow(told);
    expect(await readFile(layout, "utf8")).toBe(text);
  }
  // As probelab left them before it wrote layouts.
  await rm(layout);
  await using writer = await openWriter(directory.source);
  expect(await writer.rows("SELECT n FROM kept")).toEqual([{ n: 17 }]);
  expect(await readFile(layout, "utf8")).toBe(written);
});

it("checkLayout(directory, engine) takes over what an older engine of the same layout wrote", async () => {
  await using directory = await temporaryDirectory();
  const { mkdir } = await import("node:fs/promises");
  await mkdir(directory.path, { recursive: true });
  await checkLayout(directory.path, "25.8.1");
  await checkLayout(directory.path, "26.7.3-stable.1");
  const text = await readFile(join(directory.path, "layout.json"), "utf8");
  expect(text).toBe('{"layout":1,"engine":"26.7.3-stable.1"}\n');
  await expect(checkLayout(directory.path, "26.6.9")).rejects.toThrow(/ClickHouse 26\.7\.3/);
  await checkLayout(directory.path, "");
});
