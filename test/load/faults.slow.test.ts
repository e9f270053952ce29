import { chmod, mkdir, readFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadFiles, LoadError } from "../../src/load/load-files.js";
import type { LoadOptions } from "../../src/load/load-file.js";
import { measurement, measurements, type Measurement } from "./measurement.js";
import { empty, openDatabase, tableNames, type TestDatabase } from "./open-database.js";
import { contentOf } from "./table-content.js";
import { convert, csv, gzipped, jsonl, put, tsv } from "./write-file.js";

let db: TestDatabase;
let before: string;
beforeAll(async () => {
  db = await openDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await empty(db.writer);
  const first = Array.from({ length: 20 }, (_, number) => measurement(100_000 + number));
  await loadFiles(db.writer, "fastpath", [await put(db.folder, "first.jsonl", jsonl(first))]);
  before = await contentOf(db.writer);
});

/** The message that a file is refused with; the table must be as it was, and nothing left over. */
async function refusal(name: string, content: string | Buffer, options: LoadOptions = {}) {
  return refusalOf(await put(db.folder, name, content), options);
}

async function refusalOf(path: string, options: LoadOptions = {}): Promise<string> {
  const error: unknown = await loadFiles(db.writer, "fastpath", [path], options).catch(
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(LoadError);
  expect(await contentOf(db.writer)).toBe(before);
  expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  return (error as LoadError).message.replaceAll(`${db.folder}/`, "");
}

const rows = measurements(300);
const without = (row: Measurement, ...names: string[]): Measurement =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
const replaceLine = (text: string, line: number, change: (line: string) => string): string =>
  text
    .split("\n")
    .map((old, index) => (index === line - 1 ? change(old) : old))
    .join("\n");

describe("a value that can't be read is refused with file, line and column", () => {
  const bad = measurements(300, 11, { probe_asn: "abc" });

  it("in JSONL, CSV and TSV", async () => {
    const says = (name: string, line: number) =>
      `Can't load ${name} line ${line}, column probe_asn: 'abc' is not a UInt32 (a whole number from 0 to 4294967295). Mend that row, or take it out, and load the file again; fastpath is unchanged.`;
    expect(await refusal("bad.jsonl", jsonl(bad))).toBe(says("bad.jsonl", 12));
    expect(await refusal("bad.csv", csv(bad))).toBe(says("bad.csv", 13));
    expect(await refusal("bad.tsv", tsv(bad))).toBe(says("bad.tsv", 13));
    expect(await refusal("bad.csv.gz", gzipped(csv(bad)))).toBe(says("bad.csv.gz", 13));
  });

  it("in the line of the file, not the number of the row", async () => {
    const lines = jsonl(bad).replaceAll("\n", "\r\n\r\n");
    expect(await refusal("gaps.jsonl", lines)).toContain("gaps.jsonl line 23, column probe_asn");
    const array = `[\n${jsonl(bad).trim().replaceAll("\n", ",\n")}\n]\n`;
    expect(await refusal("array.json", array)).toContain("array.json line 13, column probe_asn");
    const breaks = bad.map((row) => ({ ...row, input: 'a "b"\nc\n\n' }));
    expect(await refusal("breaks.csv", csv(breaks))).toContain("line 46, column probe_asn"); // 2 + 11 × 4
  });

  it("by the number of the row where rows have no lines", async () => {
    const pretty = JSON.stringify(bad, null, 1);
    expect(await refusal("pretty.json", pretty)).toContain("pretty.json row 12, column probe_asn");
    const text = await put(db.folder, "text.jsonl", jsonl(bad));
    const path = `${db.folder}/bad.parquet`;
    await convert(db.writer, { path: text, format: "JSONEachRow" }, { path, format: "Parquet" });
    expect(await refusalOf(path)).toContain("bad.parquet row 12, column probe_asn: 'abc'");
  });

  it("with the first of several, and their number", async () => {
    const three = rows.map((row, number) =>
      [40, 90, 200].includes(number) ? { ...row, probe_asn: "-1" } : row,
    );
    expect(await refusal("three.csv", csv(three))).toMatch(
      /line 42, column probe_asn: '-1' .* Mend that row and 2 more with such values, or take them out/,
    );
  });

  it.each([
    ["probe_asn", "4294967296", "UInt32"],
    ["probe_asn", "1.5", "UInt32"],
    ["probe_asn", "AS30722", "UInt32"],
    ["test_runtime", "fast", "Float32"],
    ["test_runtime", "1e39", "Float32"],
    ["measurement_start_time", "yesterday", "DateTime"],
    ["measurement_start_time", "2200-01-01 00:00:00", "DateTime"],
    ["measurement_start_time", "1969-12-31 23:59:59", "DateTime"],
    ["measurement_start_time", "2026-02-31 00:00:00", "DateTime"],
    ["measurement_start_time", "2026-01-01 24:00:00", "DateTime"],
    ["measurement_start_time", "0000-00-00 00:00:00", "DateTime"],
    ["test_start_time", "20260101", "DateTime"],
  ])("for %s %j, which the engine itself would often take", async (column, value, type) => {
    const changed = measurements(30, 4, { [column]: value });
    const message = await refusal("value.csv", csv(changed));
    expect(message).toContain(`value.csv line 6, column ${column}: '${value}' is not a ${type} (`);
    expect(await refusal("value.jsonl", jsonl(changed))).toContain(
      `value.jsonl line 5, column ${column}: '${value}' is not a ${type} (`,
    );
  });

  it("for a required value that is missing, null or empty", async () => {
    const missing = rows.map((row, number) => (number === 6 ? without(row, "report_id") : row));
    expect(await refusal("missing.jsonl", jsonl(missing))).toContain(
      "missing.jsonl line 7, column report_id: the value is missing.",
    );
    const text = replaceLine(jsonl(rows), 7, (line) =>
      line.replace(/"probe_asn":\d+/, '"probe_asn":null'),
    );
    expect(await refusal("null.jsonl", text)).toContain(
      "line 7, column probe_asn: the value is missing",
    );
    const blank = measurements(30, 4, { measurement_start_time: "" });
    expect(await refusal("blank.csv", csv(blank))).toContain(
      "blank.csv line 6, column measurement_start_time: the value is empty, not a DateTime",
    );
  });

  it("for text that is not UTF-8", async () => {
    const text = Buffer.from(csv(measurements(30, 4, { input: "https://x/@@" })));
    text.set([0xff, 0xfe], text.indexOf("@@"));
    expect(await refusal("latin.csv", text)).toMatch(
      /latin.csv line 6, column input: 'https:\/\/x\/.*' is not valid UTF-8 text/,
    );
  });
});

describe("a row that can't be parsed is refused with its line", () => {
  it("for text that is not JSON, and for a value that is not", async () => {
    const hello = replaceLine(jsonl(rows), 9, () => "hello");
    expect(await refusal("hello.jsonl", hello)).toMatch(
      /hello.jsonl line 9: the row can't be parsed/,
    );
    const oops = replaceLine(jsonl(rows), 9, (line) => line.replace('"IT"', "oops"));
    expect(await refusal("oops.jsonl", oops)).toMatch(/oops.jsonl line 9, column probe_cc: /);
    const twice = replaceLine(jsonl(rows), 9, (line) => line.replace('"probe_cc"', '"report_id"'));
    expect(await refusal("twice.jsonl", twice)).toMatch(
      /twice.jsonl line 9, column report_id: the row has this key twice/,
    );
  });

  it("for too few and too many values", async () => {
    const few = (text: string, separator: string) =>
      replaceLine(text, 9, (line) => line.split(separator).slice(0, 5).join(separator));
    const many = (text: string, separator: string) =>
      replaceLine(text, 9, (line) => `${line}${separator}more`);
    for (const [name, text, separator] of [
      ["rows.csv", csv(rows), ","],
      ["rows.tsv", tsv(rows), "\t"],
    ] as const) {
      expect(await refusal(name, few(text, separator))).toMatch(
        /line 9, column probe_asn: the row ends here, with fewer values than the header has columns/,
      );
      expect(await refusal(name, many(text, separator))).toMatch(
        /line 9, column test_helper_type: the row has more values than the header has columns/,
      );
    }
  });

  it("for a quote that is never closed", async () => {
    const open = replaceLine(csv(rows), 301, (line) => line.replace(/[^,]*$/, '"https'));
    expect(await refusal("open.csv", open)).toMatch(
      /open.csv: the file is cut, or a quote is missing: the quoted value that begins in line 301 is not closed/,
    );
  });
});

describe("a file that is cut is refused as cut", () => {
  it("in the middle of a row", async () => {
    const cut = (text: string) => text.slice(0, Math.floor(text.length / 2) + 3);
    const line = (text: string) => cut(text).split("\n").length;
    for (const [name, text] of [
      ["cut.jsonl", jsonl(rows)],
      ["cut.csv", csv(rows)],
      ["cut.tsv", tsv(rows)],
    ] as const) {
      const says = `Can't load ${name}: the file is cut, it ends in the middle of line ${line(text)}. Get the whole file and load it again.`;
      expect(await refusal(name, cut(text))).toBe(says);
      expect(await refusal(`${name}.gz`, gzipped(cut(text)))).toBe(
        says.replace(name, `${name}.gz`),
      );
    }
    const array = JSON.stringify(rows);
    expect(await refusal("cut.json", array.slice(0, -1))).toMatch(
      /is cut, its JSON array is not closed/,
    );
  });

  it("in the middle of the last value, which looks whole, unless told that it is", async () => {
    const says =
      /its last line has no line break, so the file may be cut in its last value. If it is whole, say so with --allow-missing-newline/;
    for (const [name, text] of [
      ["last.csv", csv(rows)],
      ["last.tsv", tsv(rows)],
    ] as const) {
      expect(await refusal(name, text.slice(0, -3))).toMatch(says);
      expect(await refusal(`${name}.gz`, gzipped(text.slice(0, -3)))).toMatch(says);
    }
    const path = await put(db.folder, "whole.csv", csv(rows).slice(0, -1));
    await loadFiles(db.writer, "fastpath", [path], { allowMissingNewline: true });
    expect(await contentOf(db.writer)).not.toBe(before);
  });

  it("in the middle of an archive, at every tenth and in its last bytes", async () => {
    const text = await put(db.folder, "text.jsonl", jsonl(rows));
    const to = { path: `${db.folder}/whole.zst`, format: "TSVRaw", compression: "zstd" };
    const zst = await readFile(
      await convert(db.writer, { path: text, format: "LineAsString" }, to),
    );
    for (const [ending, kind, whole] of [
      ["gz", "gzip", gzipped(jsonl(rows))],
      ["zst", "zstd", zst],
    ] as const) {
      const tenths = Array.from({ length: 9 }, (_, tenth) =>
        Math.ceil((whole.length * (tenth + 1)) / 10),
      );
      for (const length of [...tenths, whole.length - 5, whole.length - 1]) {
        expect(
          await refusal(`cut.jsonl.${ending}`, whole.subarray(0, length)),
          `${length}`,
        ).toMatch(
          new RegExp(`cut.jsonl.${ending}: the file is cut, the ${kind} archive ends before`),
        );
      }
    }
  });

  it("in the middle of Parquet", async () => {
    const text = await put(db.folder, "text.jsonl", jsonl(rows));
    const to = { path: `${db.folder}/whole.parquet`, format: "Parquet" };
    const whole = await readFile(
      await convert(db.writer, { path: text, format: "JSONEachRow" }, to),
    );
    for (const length of [8, 100, Math.floor(whole.length / 2), whole.length - 1]) {
      expect(await refusal("cut.parquet", whole.subarray(0, length))).toMatch(
        /the file is cut, the Parquet file ends before its footer/,
      );
    }
  });
});

describe("a file that is not what it should be is refused with the remedy", () => {
  it("lacks required columns: all of them are named", async () => {
    const lacking = rows.map((row) => without(row, "report_id", "probe_cc"));
    expect(await refusal("lacks.csv", csv(lacking))).toMatch(
      /^Can't load lacks.csv into fastpath: it lacks the columns report_id, probe_cc; it has measurement_uid, input, .* Rename/,
    );
    const semicolons = csv(rows).replaceAll(",", ";");
    expect(await refusal("semi.csv", semicolons)).toMatch(/separated by ";": write it with commas/);
    expect(await refusal("tabs.csv", tsv(rows))).toMatch(/separated by tabs: say --format tsv/);
    const twice = csv(rows).replace("test_version", "probe_cc");
    expect(await refusal("twice.csv", twice)).toMatch(/header names the column probe_cc twice/);
  });

  it("is empty, or has no rows", async () => {
    expect(await refusal("empty.jsonl", "")).toMatch(/empty.jsonl: the file is empty/);
    expect(await refusal("blank.jsonl", "\n\n")).toMatch(/there are no rows in it/);
    expect(await refusal("header.csv", csv(rows).split("\n")[0] + "\n")).toMatch(/no rows in it/);
    expect(await refusal("none.json", "[]")).toMatch(/no rows in it/);
    expect(await refusal("empty.csv.gz", gzipped(""))).toMatch(/no rows in it/);
  });

  it("is not packed as its name says", async () => {
    expect(await refusal("a.csv.gz", csv(rows))).toMatch(
      /not a gzip file, though its name says so/,
    );
    expect(await refusal("a.csv.zst", csv(rows))).toMatch(/not a zstd file/);
    expect(await refusal("a.csv", gzipped(csv(rows)))).toMatch(
      /packed with gzip. Say so with --format csv.gz/,
    );
    expect(await refusal("a.parquet", csv(rows))).toMatch(/not a Parquet file/);
    expect(await refusal("a.jsonl", Buffer.from(`\uFEFF${jsonl(rows)}`, "utf16le"))).toMatch(
      /UTF-16.*iconv/,
    );
    const broken = gzipped(csv(rows));
    broken.fill(0x55, 200, 400);
    expect(await refusal("b.csv.gz", broken)).toMatch(/archive is damaged/);
  });

  it("is not there, a directory, a pipe, or of no known format", async () => {
    expect(await refusalOf(`${db.folder}/none.jsonl`)).toMatch(/there is no such file/);
    await mkdir(`${db.folder}/folder`);
    expect(await refusalOf(`${db.folder}/folder/`)).toMatch(
      /is a directory. Name the files in it, such as folder\/\*\.jsonl/,
    );
    await promisify(execFile)("mkfifo", [`${db.folder}/pipe.jsonl`]);
    expect(await refusalOf(`${db.folder}/pipe.jsonl`)).toMatch(/a pipe or a device/);
    expect(await refusal("data.xls", "x")).toMatch(/Can't tell the format of data.xls .*--format/);
    expect(await refusal("data.csv", "x", { format: "xml" })).toMatch(
      /Can't read the format "xml": write jsonl, csv/,
    );
  });

  it.skipIf(process.getuid?.() === 0)("may not be read (skipped for root, who may)", async () => {
    const path = await put(db.folder, "secret.jsonl", jsonl(rows));
    await chmod(path, 0);
    expect(await refusalOf(path)).toMatch(/you may not read it. Allow it with: chmod/);
  });
});

describe("rows that are there already are refused", () => {
  it("also from a file packed anew, in another format and order; --again takes them", async () => {
    const first = Array.from({ length: 20 }, (_, number) => measurement(100_019 - number));
    const says =
      /its 20 measurements are in fastpath already, and would count twice. Load it all the same with --again/;
    expect(await refusal("again.jsonl", jsonl(first))).toMatch(says);
    expect(await refusal("again.csv.gz", gzipped(csv(first)))).toMatch(says);
    const some = await put(db.folder, "some.jsonl", jsonl([...first, ...rows]));
    expect(await refusalOf(some)).toMatch(/20 of its 320 measurements are in fastpath already/);
    await loadFiles(db.writer, "fastpath", [some], { again: true });
    expect(await db.writer.rows("SELECT count() AS rows FROM fastpath")).toEqual([{ rows: 340 }]);
  });
});

describe("loadFiles(writer, table, files)", () => {
  it("loads what is whole and names each file that is not", async () => {
    const paths = [
      await put(db.folder, "one.jsonl", jsonl(rows.slice(0, 100))),
      await put(db.folder, "two.jsonl", "hello\n"),
      await put(db.folder, "three.jsonl", jsonl(rows.slice(100))),
      `${db.folder}/four.jsonl`,
    ];
    const error = (await loadFiles(db.writer, "fastpath", paths).catch(
      (error: unknown) => error,
    )) as LoadError;
    expect(error.loaded.map((file) => file.rows)).toEqual([100, 200]);
    expect(error.message).toMatch(/two.jsonl line 1: .*\n.*four.jsonl: there is no such file/);
    expect(await db.writer.rows("SELECT count() AS rows FROM fastpath")).toEqual([{ rows: 320 }]);
  });

  it("refuses a table that is not one of its own", async () => {
    await expect(loadFiles(db.writer, "sample_info" as "logs", ["x.jsonl"])).rejects.toThrow(
      /Can't load into "sample_info": load into fastpath, logs, test_helper_instances/,
    );
  });
});
