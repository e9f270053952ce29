import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chart, ProbelabError, table } from "../../src/index.js";
import { readParquet } from "../support/read-parquet.js";
import { makeResult, weeklyCounts } from "../chart/support/sample-results.js";

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

  test(".parquet holds the rows drawn, as they are, and the origin", async () => {
    const content = await readParquet(readFileSync(await drawn.save(join(directory, "a.parquet"))));
    expect(content.names).toEqual(drawn.data.names);
    expect(content.rows).toEqual(drawn.data.rows);
    expect(JSON.parse(content.metadata["probelab.origin"] ?? "")).toEqual(
      (drawn.spec.usermeta as { probelab: unknown }).probelab,
    );
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
