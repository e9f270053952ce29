import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { originRecord, readOrigins } from "../../src/render/origin.js";
import { readParquet } from "../support/read-parquet.js";
import { table } from "../../src/index.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";
import { versionSummary, weeklyCounts } from "./support/sample-results.js";

const summary = table(versionSummary(), { bars: ["runs"], caption: "Runs by <version>" });
let directory: TemporaryDirectory;

beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory[Symbol.asyncDispose]());
const at = (name: string): string => join(directory.path, name);
const saved = async (name: string): Promise<string> =>
  readFileSync(await summary.save(at(name)), "utf8");

describe("table(result).save(path)", () => {
  test(".html is a page of the table with its origin, which runs nothing", async () => {
    const html = await saved("out/a.html");
    // A page applies no style attributes.
    expect(html.split(summary.html.replaceAll(' style="text-align:left"', ""))).toHaveLength(2);
    expect(html).toContain("script-src 'none'");
    expect(html).toContain("<title>Runs by &lt;version&gt;</title>");
    expect(html).not.toContain("<script>");
    expect(html.length).toBeLessThan(40_000);
    expect(readOrigins(Buffer.from(html))).toEqual([
      originRecord(summary.origin, [], "Runs by <version>"),
    ]);
  });

  test(".md is its Markdown", async () => {
    expect(await saved("a.md")).toBe(summary.markdown);
  });

  test(".csv and .parquet hold the rows and columns that it shows, and Parquet the origin", async () => {
    const some = table(weeklyCounts(), { columns: ["measurements", "t"], limit: 3 });
    const names = ["measurements", "t"];
    const rows = weeklyCounts()
      .rows()
      .slice(0, 3)
      .map((row) => names.map((name) => row[name]));
    const text = readFileSync(await some.save(at("a.csv")), "utf8");
    expect(text.split("\r\n")).toHaveLength(5);
    expect(text).toMatch(/^measurements,t\r\n\d+,2026-/);
    const content = await readParquet(readFileSync(await some.save(at("a.parquet"))));
    expect([content.names, content.rows]).toEqual([names, rows]);
    expect(JSON.parse(content.metadata["probelab.origin"] ?? "")).toEqual(
      originRecord(some.origin),
    );
  });
});
