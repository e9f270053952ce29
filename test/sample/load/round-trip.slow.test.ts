import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadFile } from "../../../src/sample/load.js";
import { measurement, measurements, REQUIRED } from "./measurement.js";
import { empty, openDatabase, tableNames, type TestDatabase } from "./open-database.js";
import { rowsOf } from "./table-content.js";
import { csv, gzipped, jsonl, parquetOf, put, tsv } from "./write-file.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await openDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => empty(db.writer));

const rows = measurements(300);
describe("loadFile(writer, table, file) takes each format and packing", () => {
  it.each(["jsonl", "csv", "tsv", "jsonl.gz", "csv.gz", "tsv.gz", "parquet"])(
    "reads %s: every row and column",
    async (format) => {
      const [kind, packed] = format.split(".") as ["jsonl" | "csv" | "tsv" | "parquet", "gz"?];
      const path = `${db.folder}/week.${format}`;
      if (kind === "parquet") {
        const plain = await put(db.folder, "plain.jsonl", jsonl(rows));
        await parquetOf(db.writer, plain, path);
      } else {
        const content = { jsonl, csv, tsv }[kind](rows);
        await put(db.folder, `week.${format}`, packed ? gzipped(content) : content);
      }
      const loaded = await loadFile(db.writer, "fastpath", path);
      expect(await rowsOf(db.writer)).toEqual(rows);
      expect(loaded).toEqual({
        rows: 300,
        span: ["2026-03-01 00:00:00", "2026-03-01 04:59:00"],
        defaulted: [],
        ignored: [],
      });
      expect(await tableNames(db.writer)).toEqual(["fastpath"]);
    },
  );

  it("reads a byte order mark, CRLF, blank lines between JSON, quotes around all of CSV", async () => {
    const all = csv(rows)
      .replaceAll(/[^,\n]+/g, '"$&"')
      .replaceAll("\n", "\r\n");
    const files = {
      "bom.csv": `\uFEFF${csv(rows, "\r\n")}`,
      "bom.tsv": `\uFEFF${tsv(rows, "\r\n")}`,
      "bom.jsonl": `\uFEFF${jsonl(rows).replaceAll("\n", "\r\n\r\n")}`,
      "quotes.csv": all,
      "end.csv": `${csv(rows)}\n\n`,
      "array.json": JSON.stringify(rows, null, 2),
      "lines.ndjson": jsonl(rows),
    };
    for (const [name, text] of Object.entries(files)) {
      await empty(db.writer);
      await loadFile(db.writer, "fastpath", await put(db.folder, name, text));
      expect(await rowsOf(db.writer), name).toEqual(rows);
    }
  });
});

describe("loadFile(writer, table, file) matches columns by name", () => {
  it("takes them in any order, defaults missing ones, lists the ignored ones", async () => {
    const changed = rows.map((row, number) => ({
      ...Object.fromEntries([...REQUIRED].reverse().map((name) => [name, row[name] ?? ""])),
      ...(number === 299 && { added_late: "1" }),
      Probe_CC: "xx",
    }));
    const path = await put(db.folder, "few.jsonl", jsonl(changed));
    const loaded = await loadFile(db.writer, "fastpath", path);
    expect(loaded.ignored).toEqual(["Probe_CC", "added_late"]);
    expect(loaded.defaulted).toContain("input");
    const [first] = await rowsOf(db.writer);
    expect(first).toMatchObject({ input: "", test_runtime: "0", probe_cc: "IT" });
  });

  it("takes a default where an optional value is null, missing or empty", async () => {
    const base = measurement(1);
    const optional = ["test_runtime", "test_start_time", "input"];
    const without = Object.fromEntries(
      Object.entries(base).filter(([key]) => !optional.includes(key)),
    );
    const text =
      JSON.stringify({ ...without, test_runtime: null, test_start_time: null, input: null }) +
      JSON.stringify(without) +
      JSON.stringify({ ...without, test_runtime: "", test_start_time: "", input: "" }) +
      JSON.stringify(base);
    await loadFile(db.writer, "fastpath", await put(db.folder, "null.jsonl", text));
    const found = await db.writer.rows(
      "SELECT test_runtime, input, toString(test_start_time) AS start FROM fastpath ORDER BY input",
    );
    const none = { test_runtime: 0, input: "", start: "1970-01-01 00:00:00" };
    expect(found.slice(0, 3)).toEqual([none, none, none]);
    expect(found).toHaveLength(4);
  });

  it("reads flags as JSON and databases write them, and networks with AS before them", async () => {
    const flags = ["true", "False", "1", "0", "t", "f", ""];
    const text = flags
      .map((flag, at) => ({
        ...measurement(at),
        anomaly: at === 0 ? true : flag,
        probe_asn: `AS${at + 1}`,
      }))
      .map((row) => JSON.stringify(row))
      .join("\n");
    await loadFile(db.writer, "fastpath", await put(db.folder, "flags.jsonl", `${text}\n`));
    const found = await db.writer.rows<{ anomaly: string; probe_asn: number }>(
      "SELECT anomaly, probe_asn FROM fastpath ORDER BY probe_asn",
    );
    expect(found.map(({ anomaly }) => anomaly)).toEqual(["t", "f", "t", "f", "t", "f", ""]);
    expect(found.map(({ probe_asn }) => Number(probe_asn))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("reads times with a zone, as seconds and as milliseconds since 1970", async () => {
    const times = [
      "2026-03-01T00:00:00Z",
      "2026-03-01T02:00:00.999+02:00",
      "2026-02-28 19:00:00-0500",
      "2026-03-01",
      "1772323200",
      "1772323200.5",
      "1772323200000",
    ];
    const changed = times.map((time, number) =>
      measurement(number, { measurement_start_time: time }),
    );
    await loadFile(db.writer, "fastpath", await put(db.folder, "times.csv", csv(changed)));
    const [found] = await db.writer.rows(
      "SELECT count() AS rows, uniqExact(measurement_start_time) AS times, toString(any(measurement_start_time)) AS time FROM fastpath",
    );
    expect(found).toEqual({ rows: 7, times: 1, time: "2026-03-01 00:00:00" });
  });

  it("loads logs and test helpers too", async () => {
    const logs = `{"message":"check-in","SYSLOG_IDENTIFIER":"api","__REALTIME_TIMESTAMP":"1772323200000001","host":"h"}\n`;
    const helpers =
      "rdn,dns_zone,name,region,draining_at\n1,th.example.org,a-20260301,fra,\n2,th.example.org,b,fra,2026-03-01 00:00:00\n";
    const log = await loadFile(db.writer, "logs", await put(db.folder, "logs.jsonl", logs));
    expect(log).toMatchObject({ rows: 1, defaulted: ["PRIORITY"] });
    expect(log.span?.[0]).toBe("2026-03-01 00:00:00");
    await loadFile(db.writer, "test_helper_instances", await put(db.folder, "th.csv", helpers));
    const live = await db.writer.rows(
      "SELECT name FROM test_helper_instances WHERE draining_at IS NULL",
    );
    expect(live).toEqual([{ name: "a-20260301" }]);
  });
});

describe("what is loaded is what was written", () => {
  const odd = fc.constantFrom(...`"',\t\n\r\\ Né😀{;\u0000`);
  const text = fc
    .oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: odd }))
    // ClickHouse's CSV writes NULL so.
    .filter((written) => written !== "\\N");
  const row = fc.record({
    report_id: text,
    input: text,
    domain: text,
    probe_asn: fc.oneof(fc.constantFrom(0, 4294967295), fc.nat(4294967295)).map(String),
    test_runtime: fc.nat(4000).map((quarters) => String(quarters / 4)),
    measurement_start_time: fc
      .date({ min: new Date(0), max: new Date("2106-02-07T06:28:14Z"), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 19).replace("T", " ")),
  });

  it.each(Object.entries({ jsonl, csv, tsv }))(
    "holds for arbitrary rows of %s",
    async (format, write) => {
      const changes = fc.sample(row, { numRuns: 500, seed: 20260301 });
      const written = changes.map((change, number) => measurement(number, change));
      const path = await put(db.folder, `any.${format}`, write(written));
      await loadFile(db.writer, "fastpath", path);
      expect(await rowsOf(db.writer)).toEqual(written);
    },
  );
});
