import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFile, type LoadOptions } from "../../../src/sample/load/load-files.js";
import { measurement, measurements, type Measurement } from "./measurement.js";
import { openDatabase, tableNames, type TestDatabase } from "./open-database.js";
import { contentOf } from "./table-content.js";
import { csv, gzipped, jsonl, parquetOf, put, tsv } from "./write-file.js";

let db: TestDatabase;
let before: string;
const there = Array.from({ length: 20 }, (_, number) => measurement(100_000 + number));
beforeAll(async () => {
  db = await openDatabase();
  await loadFile(db.writer, "fastpath", await put(db.folder, "first.jsonl", jsonl(there)));
  before = await contentOf(db.writer);
});
afterAll(() => db[Symbol.asyncDispose]());

/** The message that a file is refused with; the table must be as it was, and nothing left over. */
async function refusal(name: string, content: string | Buffer, options: LoadOptions = {}) {
  return refusalOf(await put(db.folder, name, content), options);
}

async function refusalOf(path: string, options: LoadOptions = {}): Promise<string> {
  const error = await loadFile(db.writer, "fastpath", path, options).then(
    () => new Error(`${path} was loaded`),
    (error: unknown) => error as Error,
  );
  expect(await contentOf(db.writer), error.message).toBe(before);
  expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  return error.message.replaceAll(`${db.folder}/`, "");
}

const rows = measurements(300);
const replaceLine = (text: string, line: number, change: (line: string) => string): string =>
  text
    .split("\n")
    .map((old, index) => (index === line - 1 ? change(old) : old))
    .join("\n");

const UNCHANGED = "Correct the file, or get it again; fastpath is unchanged.";

describe("a value that can't be read is refused with file and column", () => {
  const says = (name: string, column: string, type: string) =>
    `Can't load ${name}: column ${column}: a value is missing, or is no ${type}. ${UNCHANGED}`;

  it("in every format", async () => {
    const bad = measurements(300, 11, { probe_asn: "abc" });
    for (const [name, content] of [
      ["bad.jsonl", jsonl(bad)],
      ["bad.csv", csv(bad)],
      ["bad.tsv", tsv(bad)],
      ["bad.csv.gz", gzipped(csv(bad))],
      ["array.json", JSON.stringify(bad, null, 1)],
    ] as const) {
      expect(await refusal(name, content)).toBe(says(name, "probe_asn", "UInt32"));
    }
    const path = `${db.folder}/bad.parquet`;
    const text = await put(db.folder, "text.jsonl", jsonl(bad));
    await parquetOf(db.writer, text, path);
    expect(await refusalOf(path)).toBe(says("bad.parquet", "probe_asn", "UInt32"));
  });

  it.each([
    ["anomaly", "maybe", "LowCardinality(String)"],
    ["probe_asn", "4294967296", "UInt32"],
    ["probe_asn", "1.5", "UInt32"],
    ["probe_asn", "", "UInt32"],
    ["test_runtime", "1e39", "Float32"],
    ["measurement_start_time", "yesterday", "DateTime('UTC')"],
    ["measurement_start_time", "2200-01-01 00:00:00", "DateTime('UTC')"],
    ["measurement_start_time", "2026-02-31 00:00:00", "DateTime('UTC')"],
    ["measurement_start_time", "0000-00-00 00:00:00", "DateTime('UTC')"],
    ["measurement_start_time", "", "DateTime('UTC')"],
    ["test_start_time", "20260101", "DateTime('UTC')"],
  ])("for %s %j, which the engine itself would often take", async (column, value, type) => {
    const text = csv(measurements(30, 4, { [column]: value }));
    expect(await refusal("value.csv", text)).toBe(says("value.csv", column, type));
  });

  it("for text that is not UTF-8", async () => {
    const text = Buffer.from(csv(measurements(30, 4, { input: "https://x/@@" })));
    text.set([0xff, 0xfe], text.indexOf("@@"));
    expect(await refusal("latin.csv", text)).toContain("column input: ");
  });
});

it.each([
  ["hello.jsonl", replaceLine(jsonl(rows), 9, () => "hello")],
  ["oops.jsonl", replaceLine(jsonl(rows), 9, (line) => line.replace('"IT"', "oops"))],
  ["few.csv", replaceLine(csv(rows), 10, (line) => line.split(",").slice(0, 5).join(","))],
  ["many.tsv", replaceLine(tsv(rows), 10, (line) => `${line}\tmore`)],
  ["quote.csv", replaceLine(csv(rows), 10, (line) => `"${line}`)],
  ["cut.jsonl", jsonl(rows).slice(0, -3)],
  ["packed.csv", gzipped(csv(rows))],
  ["plain.csv.gz", csv(rows)],
  ["text.parquet", csv(rows)],
  ["wide.jsonl", Buffer.from(`\uFEFF${jsonl(rows)}`, "utf16le")],
] as const)("%s can't be parsed and is refused", async (name, text) => {
  const message = await refusal(name, text);
  expect(message).toMatch(new RegExp(`^Can't load ${name}`));
  expect(message).toMatch(/fastpath is unchanged|separated by commas|ends without a line break/);
});

describe("a file that is cut is refused", () => {
  it("in the middle of a row, or of its last value", async () => {
    for (const [name, text] of [
      ["cut.csv", csv(rows)],
      ["cut.tsv", tsv(rows)],
    ] as const) {
      for (const length of [Math.floor(text.length / 2) + 3, text.length - 3]) {
        expect(await refusal(name, text.slice(0, length))).toContain(
          "it ends without a line break, so it may be cut in its last row",
        );
      }
    }
  });

  it("in the middle of an archive or of Parquet", async () => {
    const whole = gzipped(jsonl(rows));
    const text = await put(db.folder, "text.jsonl", jsonl(rows));
    const parquet = await readFile(await parquetOf(db.writer, text, `${db.folder}/whole.parquet`));
    for (const [name, content] of [
      ["cut.jsonl.gz", whole],
      ["cut.parquet", parquet],
    ] as const) {
      for (const length of [40, content.length >> 1, content.length - 5, content.length - 1]) {
        expect(await refusal(name, content.subarray(0, length))).toContain(UNCHANGED);
      }
    }
    const broken = gzipped(csv(rows));
    broken.fill(0x55, 200, 400);
    expect(await refusal("b.csv.gz", broken)).toContain(UNCHANGED);
  });
});

describe("a file that is not what it should be is refused with the remedy", () => {
  it("lacks required columns: all of them are named", async () => {
    const lacking = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => !["report_id", "probe_cc"].includes(name)),
      ),
    ) as Measurement[];
    expect(await refusal("lacks.csv", csv(lacking))).toMatch(
      /^Can't load lacks.csv into fastpath: it lacks the columns report_id, probe_cc; it has measurement_uid, input, .* Rename/,
    );
    expect(await refusal("semi.csv", csv(rows).replaceAll(",", ";"))).toMatch(
      /separated by commas/,
    );
  });

  it("is empty, or has no rows", async () => {
    for (const [name, content] of [
      ["empty.jsonl", ""],
      ["blank.jsonl", "\n\n"],
      ["header.csv", `${csv(rows).split("\n")[0]}\n`],
      ["none.json", "[]"],
      ["empty.csv.gz", gzipped("")],
    ] as const) {
      expect(await refusal(name, content)).toMatch(/no rows in it|empty/);
    }
  });

  it("is not there, a directory, a pipe, or of no known format", async () => {
    expect(await refusalOf(`${db.folder}/none.jsonl`)).toMatch(/it can't be read \(ENOENT\)/);
    await mkdir(`${db.folder}/folder`);
    expect(await refusalOf(`${db.folder}/folder/`)).toMatch(/no regular file/);
    await promisify(execFile)("mkfifo", [`${db.folder}/pipe.jsonl`]);
    expect(await refusalOf(`${db.folder}/pipe.jsonl`)).toMatch(/no regular file/);
    expect(await refusal("data.xls", "x")).toMatch(
      /"data.xls" names no known format. Say --format/,
    );
    expect(await refusal("data.csv", "x", { format: "xml" })).toMatch(/"xml" names no known/);
    expect(await refusal("week{1,2}.jsonl", jsonl(rows))).toMatch(/holds one of .*Rename it/);
  });
});

it("rows that are there already are refused, in any format and order; an option takes them", async () => {
  const first = there.toReversed();
  const says =
    /20 of its 20 rows are in fastpath already, and would count twice. Load it all the same with --again/;
  expect(await refusal("again.jsonl", jsonl(first))).toMatch(says);
  expect(await refusal("again.csv.gz", gzipped(csv(first)))).toMatch(says);
  const some = await put(db.folder, "some.jsonl", jsonl([...first, ...rows]));
  expect(await refusalOf(some)).toMatch(/20 of its 320 rows are in fastpath already/);
  await loadFile(db.writer, "fastpath", some, { again: true });
  expect(await db.writer.rows("SELECT count() AS rows FROM fastpath")).toEqual([{ rows: 340 }]);
});
