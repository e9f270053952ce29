import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { sampleCommand } from "../../src/cli/sample.js";
import { openWriter } from "../../src/database/writer.js";
import { parseAddress } from "../../src/database/address.js";
import type { Writer } from "../../src/database/writer.js";
import { sampleInfo } from "../../src/sample/tables.js";

let directory: string;
let source: string;
let writer: Writer;
const printed: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "probelab-cli-sample-"));
  source = `embedded:${directory}`;
  writer = await openWriter(parseAddress(source, { root: directory, name: "the test" }));
  vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
  vi.spyOn(console, "error").mockImplementation(() => undefined); // progress on a slow machine
  sampleCommand.exitOverride().configureOutput({ writeErr: () => undefined });
});
beforeEach(() => {
  printed.length = 0;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await writer[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function sample(...options: string[]): Promise<string> {
  await sampleCommand.parseAsync(["--into", source, ...options], { from: "user" });
  return printed.join("\n");
}

describe("probelab sample", () => {
  it("fills the database and tells what was made", async () => {
    const told = await sample("--rows", "20_000", "--seed", "3", "--end", "2026-05-01");
    expect(told).toContain(`Made a sample in ${source}, 2025-10-31 to 2026-05-01 UTC, seed 3, in`);
    expect(told).toMatch(/ 20,000 measurements of [\d,]+ runs, [\d,]+ log lines, 31 test helpers/);
    expect(told).toContain("the table sample_truth says what is planted in it");
    expect(await sampleInfo(writer)).toMatchObject({ rows: 20_000, seed: 3 });
  });

  it("replaces a sample; refuses to drop loaded rows, and says how to go on", async () => {
    await sample("--rows", "2000");
    expect((await sampleInfo(writer))?.rows).toBe(2_000);
    await writer.command("DROP TABLE fastpath SYNC");
    await writer.command("CREATE TABLE fastpath (x UInt8) ENGINE = MergeTree ORDER BY x");
    await writer.command("INSERT INTO fastpath VALUES (1)");
    await expect(sample("--rows", "1000")).rejects.toThrow(
      `Can't make a sample in ${source}: fastpath there holds rows that are not a sample's. Take another directory (--into embedded:DIR), or add --replace to drop them.`,
    );
    expect(await writer.rows("SELECT x FROM fastpath")).toEqual([{ x: 1 }]);
    await sample("--rows", "1000", "--replace");
    expect((await sampleInfo(writer))?.rows).toBe(1_000);
  });

  it.each([
    [["--rows", "many"], /many.*whole number/],
    [["--rows", "-5"], /whole number|argument/],
    [["--rows", "0"], /sample of 0 rows/],
    [["--end", "2026-02-30"], /2026-02-30.*Write a day, such as 2026-05-01/],
    [["--end", "tomorrow"], /Write a day/],
    [["--into", "https://clickhouse.example.org/service"], /Can't write to/],
  ])("refuses %o", async (options, message) => {
    await expect(sample(...options)).rejects.toThrow(message);
  });
});
