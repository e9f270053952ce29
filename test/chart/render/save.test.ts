import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chart, ProbelabError, table } from "../../../src/index.js";
import { readParquet } from "../../support/read-parquet.js";
import { originRecord, readOrigins } from "../../../src/chart/render/origin.js";
import { csv } from "../../../src/chart/render/save.js";
import { parseCsv } from "../support/parse-csv.js";
import { PAYLOADS } from "../support/payloads.js";
import { makeResult, versionSummary, weeklyCounts } from "../support/sample-results.js";

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100 });
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "probelab-save-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("chart.save(path)", () => {
  test("writes the format of the extension, and makes the folders", async () => {
    const at = (name: string): string => join(directory, "out", "charts", name);
    for (const name of ["a.svg", "a.png", "a.json", "A.CSV"]) {
      expect(await drawn.save(at(name))).toBe(at(name));
    }
    expect(readFileSync(at("a.svg"), "utf8")).toBe(await drawn.svg());
    expect(readFileSync(at("a.png")).equals(await drawn.png())).toBe(true);
    expect(JSON.parse(readFileSync(at("a.json"), "utf8"))).toEqual(drawn.spec);
    expect(readFileSync(at("A.CSV"), "utf8")).toMatch(/^t,software_version,measurements\r\n2026-/);
    expect(readdirSync(join(directory, "out", "charts"))).toHaveLength(4);
  });

  test(".parquet holds the rows drawn or shown, as they are, and the origin", async () => {
    const some = table(weeklyCounts(), { columns: ["measurements", "t"], limit: 3 });
    const { probelab } = drawn.spec.usermeta as { probelab: unknown };
    for (const [what, origin] of [
      [drawn, probelab],
      [some, originRecord(some.origin)],
    ] as const) {
      const content = await readParquet(
        readFileSync(await what.save(join(directory, "a.parquet"))),
      );
      expect({ names: content.names, rows: content.rows }).toEqual(what.data);
      expect(JSON.parse(content.metadata["probelab.origin"] ?? "")).toEqual(origin);
    }
  });

  test("of a table: .html is a page with its origin, which runs nothing; .md its Markdown", async () => {
    const summary = table(versionSummary(), { caption: "Runs by <version>" });
    const saved = async (name: string) =>
      readFileSync(await summary.save(join(directory, name)), "utf8");
    const html = await saved("a.html");
    // A page applies no style attributes.
    expect(html.split(summary.html.replaceAll(' style="text-align:left"', ""))).toHaveLength(2);
    expect(html).toContain("script-src 'none'");
    expect(html).toContain("<title>Runs by &lt;version&gt;</title>");
    expect(html).not.toContain("<script>");
    expect(readOrigins(Buffer.from(html))).toEqual([
      originRecord(summary.origin, [], "Runs by <version>"),
    ]);
    expect(await saved("a.md")).toBe(summary.markdown);
  });

  test("no file of a chart or a table holds a password, in titles, names of series or rows", async () => {
    const secret = "https://someuser:hunter2secret@db.example/?password=hunter2secret";
    const result = makeResult({ name: [secret, "b"], n: [1, 2] });
    const bars = chart.bar(result, { x: "name", y: "n", title: `Of ${secret}`, subtitle: secret });
    const rows = table(result, { caption: `Rows of ${secret}` });
    const saved = await Promise.all([
      ...["svg", "html", "json", "csv", "parquet"].map((end) =>
        bars.save(join(directory, `a.${end}`)),
      ),
      ...["html", "md", "csv", "parquet"].map((end) => rows.save(join(directory, `b.${end}`))),
    ]);
    for (const path of saved) {
      const text = readFileSync(path, "latin1");
      expect(/.{0,30}hunter2secret/.exec(text)?.[0], path).toBeUndefined();
      expect(text, path).toContain("db.example");
    }
  });

  test("where it can't be written, nothing is left behind and the error says why", async () => {
    mkdirSync(join(directory, "taken.svg"));
    await expect(drawn.save(join(directory, "taken.svg"))).rejects.toThrow(/Can't write.*EISDIR/);
    writeFileSync(join(directory, "file"), "kept");
    await expect(drawn.save(join(directory, "file", "a.svg"))).rejects.toThrow(ProbelabError);
    expect(readdirSync(directory).sort()).toEqual(["file", "taken.svg"]);
    expect(readFileSync(join(directory, "file"), "utf8")).toBe("kept");
  });
});

test("csv(names, rows) gives every text back to a reader, but for the ' before a formula", () => {
  const short = PAYLOADS.filter(({ length }) => length < 1_000);
  const texts = fc.oneof(fc.string(), fc.constantFrom(...short));
  fc.assert(
    fc.property(fc.array(fc.tuple(texts, texts)), (rows) => {
      const inert = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
      const expected = [["a", "b"], ...rows.map((row) => row.map(inert))];
      expect(parseCsv(csv(["a", "b"], rows))).toEqual(expected);
    }),
    { numRuns: 300, seed: 1 },
  );
});
