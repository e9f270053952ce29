import { describe, expect, it } from "vitest";
import { fileFormat } from "../../src/load/input-file.js";
import { headerNames } from "../../src/load/file-columns.js";

describe("fileFormat(path, override)", () => {
  it.each([
    ["a.jsonl", undefined, "jsonl", "none"],
    ["/x/a.b.NDJSON.GZ", undefined, "jsonl", "gzip"],
    ["a.json.zst", undefined, "jsonl", "zstd"],
    ["a.tsv", undefined, "tsv", "none"],
    ["a.csv.gz", "tsv", "tsv", "gzip"],
    ["a", "csv.zst", "csv", "zstd"],
    ["a.gz", "Parquet", "parquet", "gzip"],
  ])("reads %s with %s", (path, override, format, compression) => {
    expect(fileFormat(path, override)).toEqual({ format, compression });
  });

  it.each(["a", "a.gz", "csv", "a.txt", "x.csv/a"])("can't tell the format of %s", (path) => {
    expect(() => fileFormat(path)).toThrow(/Can't tell the format of .* --format/);
  });
});

describe("headerNames(line, separator)", () => {
  it("reads names in and out of quotes, empty ones, a byte order mark and a carriage return", () => {
    expect(headerNames('\uFEFFa,"b ""c"", d",,e\r', ",")).toEqual(["a", 'b "c", d', "", "e"]);
    expect(headerNames("a,", ",")).toEqual(["a", ""]);
    expect(headerNames("a\t\tb c\r", "\t")).toEqual(["a", "", "b c"]);
    expect(headerNames("\uFEFF\r", ",")).toEqual([]);
  });
});
