import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadFile } from "../../../src/sample/load.js";
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
async function refusal(name: string, content: string | Buffer) {
  return refusalOf(await put(db.folder, name, content));
}

async function refusalOf(path: string): Promise<string> {
  const error = await loadFile(db.writer, "fastpath", path).then(
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

describe("a value that can't be read is refused with its column", () => {
  const bad = measurements(300, 11, { probe_asn: "abc" });

  it("in every format", async () => {
    const says = (name: string) =>
      `Can't load ${name}: column probe_asn: a value is missing, or is no UInt32. Correct the file, or get it again; fastpath is unchanged.`;
    expect(await refusal("bad.jsonl", jsonl(bad))).toBe(says("bad.jsonl"));
    expect(await refusal("bad.csv", csv(bad))).toBe(says("bad.csv"));
    expect(await refusal("bad.tsv", tsv(bad))).toBe(says("bad.tsv"));
    expect(await refusal("bad.csv.gz", gzipped(csv(bad)))).toBe(says("bad.csv.gz"));
    expect(await refusal("array.json", JSON.stringify(bad, null, 1))).toBe(says("array.json"));
    const path = `${db.folder}/bad.parquet`;
    const text = await put(db.folder, "text.jsonl", jsonl(bad));
    await parquetOf(db.writer, text, path);
    expect(await refusalOf(path)).toBe(says("bad.parquet"));
  });

  it.each([
    ["probe_asn", "4294967296"],
    ["probe_asn", "1.5"],
    ["test_runtime", "1e39"],
    ["anomaly", "maybe"],
    ["measurement_start_time", "yesterday"],
    ["measurement_start_time", "2200-01-01 00:00:00"],
    ["measurement_start_time", "2026-02-31 00:00:00"],
    ["measurement_start_time", "0000-00-00 00:00:00"],
    ["measurement_start_time", ""],
    ["test_start_time", "01/02/2026"],
  ])("for %s %j, which the engine itself would often take", async (column, value) => {
    const changed = measurements(30, 4, { [column]: value });
    for (const [name, write] of [
      ["value.csv", csv],
      ["value.jsonl", jsonl],
    ] as const) {
      expect(await refusal(name, write(changed))).toMatch(
        new RegExp(
          `${name}: .*(${column}|out of bounds of type DateTime|NULL).*fastpath is unchanged`,
        ),
      );
    }
  });

  it("for a required value that is null, and text that is not UTF-8", async () => {
    const none = replaceLine(jsonl(rows), 7, (line) =>
      line.replace(/"probe_asn":\d+/, '"probe_asn":null'),
    );
    expect(await refusal("null.jsonl", none)).toMatch(/column probe_asn: a value is missing/);
    const text = Buffer.from(csv(measurements(30, 4, { input: "https://x/@@" })));
    text.set([0xff, 0xfe], text.indexOf("@@"));
    expect(await refusal("latin.csv", text)).toMatch(/column input: a value is missing, or is no /);
  });
});

describe("a row that can't be parsed is refused in the engine's words", () => {
  it.each([
    ["hello.jsonl", replaceLine(jsonl(rows), 9, () => "hello")],
    ["oops.jsonl", replaceLine(jsonl(rows), 9, (line) => line.replace('"IT"', "oops"))],
    [
      "twice.jsonl",
      replaceLine(jsonl(rows), 9, (line) => line.replace('"probe_cc"', '"report_id"')),
    ],
    ["few.csv", replaceLine(csv(rows), 10, (line) => line.split(",").slice(0, 5).join(","))],
    ["many.tsv", replaceLine(tsv(rows), 10, (line) => `${line}\tmore`)],
  ])("%s", async (name, text) => {
    expect(await refusal(name, text)).toMatch(
      new RegExp(
        `^Can't load ${name}: .+\\. Correct the file, or get it again; fastpath is unchanged\\.$`,
      ),
    );
  });
});

describe("a file that is cut is refused", () => {
  it("in the middle of a row, or of its last value", async () => {
    for (const [name, text, says] of [
      ["cut.jsonl", jsonl(rows), /EOF/],
      ["cut.csv", csv(rows), /ends without a line break, so it may be cut in its last row/],
      ["cut.tsv", tsv(rows), /ends without a line break, so it may be cut in its last row/],
    ] as const) {
      for (const length of [Math.floor(text.length / 2) + 3, text.length - 3]) {
        expect(await refusal(name, text.slice(0, length))).toMatch(says);
      }
    }
  });

  it("in the middle of an archive or of Parquet", async () => {
    for (const [name, whole] of [
      ["cut.jsonl.gz", gzipped(jsonl(rows))],
      ["cut.csv.gz", gzipped(csv(rows))],
    ] as const) {
      for (const length of [40, whole.length >> 1, whole.length - 5, whole.length - 1]) {
        expect(await refusal(name, whole.subarray(0, length))).toMatch(
          /inflate failed|end of file/,
        );
      }
      whole.fill(0x55, 200, 400);
      expect(await refusal(name, whole)).toMatch(/inflate failed|invalid|incorrect/);
    }
    const text = await put(db.folder, "text.jsonl", jsonl(rows));
    const parquet = await readFile(await parquetOf(db.writer, text, `${db.folder}/whole.parquet`));
    for (const length of [8, 100, parquet.length >> 1, parquet.length - 1]) {
      expect(await refusal("cut.parquet", parquet.subarray(0, length))).toMatch(/Parquet file/);
    }
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
      /^Can't load lacks.csv: it lacks the columns report_id, probe_cc of fastpath; it has measurement_uid, input, .* Name the columns as the table does/,
    );
    expect(await refusal("semi.csv", csv(rows).replaceAll(",", ";"))).toMatch(
      /separated by commas/,
    );
    const page = JSON.stringify({ metadata: { count: 300 }, results: rows }, null, 1);
    expect(await refusal("page.json", page)).toMatch(
      /it has metadata, results\. It is a page of an API: .* jq -c '\.results\[\]'\.$/,
    );
    const twice = csv(rows).replace("test_version", "probe_cc");
    expect(await refusal("twice.csv", twice)).toMatch(/^Can't load twice.csv: /);
  });

  it("is empty, has no rows, or is packed otherwise than its name says", async () => {
    for (const [name, content] of [
      ["empty.jsonl", ""],
      ["blank.jsonl", "\n\n"],
      ["header.csv", `${csv(rows).split("\n")[0]}\n`],
      ["none.json", "[]"],
      ["empty.csv.gz", gzipped("")],
      ["a.csv.gz", csv(rows)],
      ["a.csv", gzipped(csv(rows))],
      ["a.parquet", csv(rows)],
      ["a.jsonl", Buffer.from(`\uFEFF${jsonl(rows)}`, "utf16le")],
    ] as const) {
      expect(await refusal(name, content)).toMatch(new RegExp(`^Can't load ${name}: `));
    }
  });

  it("is not there, a directory, a pipe, or of no known format", async () => {
    expect(await refusalOf(`${db.folder}/none.jsonl`)).toMatch(/it can't be read \(ENOENT\)/);
    await mkdir(`${db.folder}/folder.jsonl`);
    expect(await refusalOf(`${db.folder}/folder.jsonl`)).toMatch(/no regular file/);
    await promisify(execFile)("mkfifo", [`${db.folder}/pipe.jsonl`]);
    expect(await refusalOf(`${db.folder}/pipe.jsonl`)).toMatch(/no regular file/);
    for (const name of ["data.xls", "a.csv.zst", "csv"]) {
      expect(await refusal(name, "x")).toMatch(/doesn't end in .jsonl, .csv, .tsv or .parquet/);
    }
    expect(await refusal("week{1,2}.jsonl", jsonl(rows))).toMatch(/holds one of .*Rename it/);
  });

  it("holds rows that are there already, in any format and order", async () => {
    const first = there.toReversed();
    const says =
      /20 of its 20 rows are in fastpath already, and would count twice. Leave them out of the file/;
    expect(await refusal("again.jsonl", jsonl(first))).toMatch(says);
    expect(await refusal("again.csv.gz", gzipped(csv(first)))).toMatch(says);
    expect(await refusal("some.jsonl", jsonl([...first, ...rows]))).toMatch(
      /20 of its 320 rows are in fastpath already/,
    );
  });
});
