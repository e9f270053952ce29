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

describe("a value that can't be read is refused with file, row and column", () => {
  const bad = measurements(300, 11, { probe_asn: "abc" });

  it("as a flag that is neither set nor clear", async () => {
    const odd = measurements(3, 1, { anomaly: "maybe" });
    expect(await refusal("odd.jsonl", jsonl(odd))).toBe(
      `Can't load odd.jsonl: row 2, column anomaly: "maybe" is no flag: t, f, true, false, 1 or 0. Correct or remove the row; fastpath is unchanged.`,
    );
  });

  it("in every format", async () => {
    const says = (name: string) =>
      `Can't load ${name}: row 12, column probe_asn: "abc" is no UInt32. Correct or remove the row; fastpath is unchanged.`;
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
    ["probe_asn", "4294967296", "UInt32"],
    ["probe_asn", "1.5", "UInt32"],
    ["test_runtime", "1e39", "Float32"],
    ["measurement_start_time", "yesterday", "DateTime"],
    ["measurement_start_time", "2200-01-01 00:00:00", "DateTime"],
    ["measurement_start_time", "2026-02-31 00:00:00", "DateTime"],
    ["measurement_start_time", "0000-00-00 00:00:00", "DateTime"],
    ["test_start_time", "20260101", "DateTime"],
  ])("for %s %j, which the engine itself would often take", async (column, value, type) => {
    const changed = measurements(30, 4, { [column]: value });
    for (const [name, write] of [
      ["value.csv", csv],
      ["value.jsonl", jsonl],
    ] as const) {
      expect(await refusal(name, write(changed))).toContain(
        `${name}: row 5, column ${column}: "${value}" is no ${type}`,
      );
    }
  });

  it("for a required value that is null or empty, and text that is not UTF-8", async () => {
    const none = replaceLine(jsonl(rows), 7, (line) =>
      line.replace(/"probe_asn":\d+/, '"probe_asn":null'),
    );
    expect(await refusal("null.jsonl", none)).toContain(
      "row 7, column probe_asn: the value is missing",
    );
    const blank = measurements(30, 4, { measurement_start_time: "" });
    expect(await refusal("blank.csv", csv(blank))).toContain(
      "row 5, column measurement_start_time: the value is missing",
    );
    const text = Buffer.from(csv(measurements(30, 4, { input: "https://x/@@" })));
    text.set([0xff, 0xfe], text.indexOf("@@"));
    expect(await refusal("latin.csv", text)).toMatch(/row 5, column input: /);
  });
});

describe("a row that can't be parsed is refused in the engine's words, with its row", () => {
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
        `^Can't load ${name}: row \\d+: .+\\. Correct the file, or get it again; fastpath is unchanged\\.$`,
      ),
    );
  });
});

describe("a file that is cut is refused", () => {
  it("in the middle of a row, or of its last value", async () => {
    for (const [name, text] of [
      ["cut.jsonl", jsonl(rows)],
      ["cut.csv", csv(rows)],
      ["cut.tsv", tsv(rows)],
    ] as const) {
      for (const length of [Math.floor(text.length / 2) + 3, text.length - 3]) {
        const says = new RegExp(
          `^Can't load ${name}(\\.gz)?: it ends without a line break, so it may be cut in its last row`,
        );
        expect(await refusal(name, text.slice(0, length))).toMatch(says);
        expect(await refusal(`${name}.gz`, gzipped(text.slice(0, length)))).toMatch(says);
      }
    }
  });

  it("in the middle of an archive or of Parquet", async () => {
    const whole = gzipped(jsonl(rows));
    for (const length of [40, whole.length >> 1, whole.length - 5, whole.length - 1]) {
      expect(await refusal("cut.jsonl.gz", whole.subarray(0, length))).toMatch(
        /cut.jsonl.gz: the gzip file is cut/,
      );
    }
    const broken = gzipped(csv(rows));
    broken.fill(0x55, 200, 400);
    expect(await refusal("b.csv.gz", broken)).toMatch(
      /it can't be read \(.+\). Get the file again/,
    );
    const text = await put(db.folder, "text.jsonl", jsonl(rows));
    const parquet = await readFile(await parquetOf(db.writer, text, `${db.folder}/whole.parquet`));
    for (const length of [8, 100, parquet.length >> 1, parquet.length - 1]) {
      expect(await refusal("cut.parquet", parquet.subarray(0, length))).toMatch(/it is cut/);
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
      /^Can't load lacks.csv into fastpath: it lacks the columns report_id, probe_cc; it has measurement_uid, input, .* Rename/,
    );
    expect(await refusal("semi.csv", csv(rows).replaceAll(",", ";"))).toMatch(
      /separated by commas/,
    );
    const twice = csv(rows).replace("test_version", "probe_cc");
    expect(await refusal("twice.csv", twice)).toMatch(/^Can't load twice.csv: /);
  });

  it("is empty, or has no rows", async () => {
    for (const [name, content] of [
      ["empty.jsonl", ""],
      ["blank.jsonl", "\n\n"],
      ["header.csv", `${csv(rows).split("\n")[0]}\n`],
      ["none.json", "[]"],
      ["empty.csv.gz", gzipped("")],
    ] as const) {
      expect(await refusal(name, content)).toMatch(/no rows in it/);
    }
  });

  it("is packed otherwise than its name says", async () => {
    expect(await refusal("a.csv.gz", csv(rows))).toMatch(/it can't be read \(.*header/);
    expect(await refusal("a.csv", gzipped(csv(rows)))).toMatch(/Say --format csv.gz/);
    expect(await refusal("a.csv.zst", "x")).toMatch(/zstd isn't read. Unpack it first/);
    expect(await refusal("a.parquet", csv(rows))).toMatch(/not a Parquet file/);
    expect(await refusal("a.jsonl", Buffer.from(`\uFEFF${jsonl(rows)}`, "utf16le"))).toMatch(
      /UTF-16.*iconv/,
    );
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
