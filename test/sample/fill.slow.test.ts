import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { loadedTables, sampleFigures, sampleInfo } from "../../src/sample/info.js";
import { contents, numbers, temporaryWriter } from "./temporary-writer.js";

const END = new Date("2026-05-01T00:00:00Z");
const TABLES = ["fastpath", "logs", "test_helper_instances", "sample_truth"];
let writer: Writer;

beforeAll(async () => {
  writer = await temporaryWriter();
});
afterAll(() => writer[Symbol.asyncDispose]());

async function allContents(of: Writer): Promise<string[]> {
  return Promise.all(TABLES.map((table) => contents(of, table)));
}

async function tables(): Promise<string[]> {
  const found = await writer.rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = {database:String} ORDER BY name",
    { parameters: { database: writer.database } },
  );
  return found.map((table) => table.name);
}

describe("fillSample(writer, options)", () => {
  it("makes the same rows again, and with any number of threads", async () => {
    await fillSample(writer, { rows: 50_000, end: END });
    const first = await allContents(writer);
    const threads = { max_threads: 1, max_insert_threads: 1, max_block_size: 977 };
    const alone: Writer = {
      ...writer,
      command: (sql, options = {}) =>
        writer.command(sql, { ...options, settings: { ...options.settings, ...threads } }),
    };
    await fillSample(alone, { rows: 50_000, end: END });
    expect(await allContents(writer)).toEqual(first);
  });

  it("makes other rows for another seed", async () => {
    await fillSample(writer, { rows: 5_000, end: END });
    const first = await allContents(writer);
    await fillSample(writer, { rows: 5_000, end: END, seed: 2 });
    expect((await allContents(writer))[0]).not.toBe(first[0]);
    expect((await allContents(writer))[1]).not.toBe(first[1]);
  });

  it.each([1, 7, 1_000, 12_345, 200_000])("makes exactly %i rows", async (rows) => {
    const info = await fillSample(writer, { rows, end: END });
    expect(info.rows).toBe(rows);
    expect((await sampleFigures(writer)).measurements).toBe(rows);
  });

  it.each(["2026-05-01T00:00:00Z", "2025-01-05T15:30:10Z"])(
    "covers the 26 weeks up to %s, and nothing after it",
    async (text) => {
      const end = new Date(text);
      const info = await fillSample(writer, { rows: 100_000, end });
      expect(info.end).toEqual(end);
      expect(info.end.getTime() - info.start.getTime()).toBe(26 * 7 * 86_400_000);
      const found = await numbers(
        writer,
        `SELECT toUnixTimestamp(min(measurement_start_time)) AS first, toUnixTimestamp(max(measurement_start_time)) AS last,
           uniqExact(toDate(measurement_start_time)) AS days,
           (SELECT intDiv(max(__REALTIME_TIMESTAMP), 1000000) FROM logs) AS last_log FROM fastpath`,
      );
      expect(found["first"]).toBeGreaterThanOrEqual(info.start.getTime() / 1000);
      expect(found["first"]).toBeLessThan(info.start.getTime() / 1000 + 86_400);
      expect(found["last"]).toBeLessThan(end.getTime() / 1000);
      expect(found["last"]).toBeGreaterThan(end.getTime() / 1000 - 86_400);
      expect(found["last_log"]).toBeLessThan(end.getTime() / 1000);
      expect(found["days"]).toBeGreaterThanOrEqual(182);
    },
  );

  it("ends at the last midnight UTC unless an end is given", async () => {
    const before = Math.floor(Date.now() / 86_400_000);
    const { end } = await fillSample(writer, { rows: 1_000 });
    const after = Math.floor(Date.now() / 86_400_000);
    expect([before, after]).toContain(end.getTime() / 86_400_000);
  });

  it("leaves the sample that was there when it is interrupted, and nothing aside", async () => {
    await fillSample(writer, { rows: 2_000, end: END });
    const before = await allContents(writer);
    const interrupt = new AbortController();
    const filling = fillSample(writer, {
      rows: 3_000_000,
      end: END,
      onProgress: (message) => {
        if (message.startsWith("Making")) interrupt.abort(new Error("enough"));
      },
      signal: interrupt.signal,
    });
    await expect(filling).rejects.toThrow();
    expect(await allContents(writer)).toEqual(before);
    expect((await sampleInfo(writer))?.rows).toBe(2_000);
    expect(await tables()).toEqual([...TABLES, "sample_info"].sort());
  });

  it("keeps two fills at the same time apart", async () => {
    const both = await Promise.all([
      fillSample(writer, { rows: 6_000, end: END }),
      fillSample(writer, { rows: 6_000, end: END }),
    ]);
    expect(both.map((info) => info.rows)).toEqual([6_000, 6_000]);
    expect((await sampleFigures(writer)).measurements).toBe(6_000);
    expect(await tables()).toEqual([...TABLES, "sample_info"].sort());
  });

  it.each([
    [{ rows: 0 }, /sample of 0 rows: take a whole number from 1/],
    [{ rows: 1.5 }, /sample of 1.5 rows/],
    [{ rows: NaN }, /sample of NaN rows/],
    [{ seed: -1 }, /seed -1: take a whole number/],
    [{ end: new Date(NaN) }, /an invalid Date: take a Date from 1973/],
    [{ end: new Date("1970-02-01") }, /1970-02-01T00:00:00.000Z: take a Date/],
  ])("refuses %o", async (options, message) => {
    await expect(fillSample(writer, options)).rejects.toThrow(message);
  });
});

describe("sampleInfo(writer)", () => {
  it("tells which sample is there, and null where there is none", async () => {
    await using empty = await temporaryWriter();
    expect(await sampleInfo(empty)).toBeNull();
    await fillSample(empty, { rows: 1_234, seed: 5, end: END });
    const start = new Date("2025-10-31T00:00:00Z");
    expect(await sampleInfo(empty)).toMatchObject({ rows: 1_234, seed: 5, start, end: END });
  });
});

describe("loadedTables(writer)", () => {
  it("names tables with rows that no sample made", async () => {
    await using own = await temporaryWriter();
    expect(await loadedTables(own)).toEqual([]);
    await fillSample(own, { rows: 1_000, end: END });
    expect(await loadedTables(own)).toEqual([]);
    await own.command("DROP TABLE fastpath SYNC");
    await own.command("CREATE TABLE fastpath (x UInt8) ENGINE = MergeTree ORDER BY x");
    expect(await loadedTables(own)).toEqual([]);
    await own.command("INSERT INTO fastpath VALUES (1)");
    expect(await loadedTables(own)).toEqual(["fastpath"]);
  });
});
