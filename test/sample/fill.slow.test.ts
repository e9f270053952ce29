import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Writer } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { sampleInfo } from "../../src/sample/tables.js";
import { newDatabase } from "../support/own-database.js";
import { tableNames } from "./load/open-database.js";
import { contentOf, numbers } from "./load/table-content.js";

const END = new Date("2026-05-01T00:00:00Z");
const TABLES = ["fastpath", "logs", "test_helper_instances", "sample_truth"];
let writer: Writer;

beforeAll(async () => {
  writer = (await newDatabase()).writer;
});
afterAll(() => writer[Symbol.asyncDispose]());

async function allContents(of: Writer): Promise<string[]> {
  return Promise.all(TABLES.map((table) => contentOf(of, table)));
}

describe("fillSample(writer, options)", () => {
  it("makes the same rows again, with any number of threads, and others for another seed", async () => {
    await fillSample(writer, { rows: 20_000, end: END });
    const first = await allContents(writer);
    const threads = { max_threads: 1, max_insert_threads: 1, max_block_size: 977 };
    const alone: Writer = {
      ...writer,
      command: (sql, options = {}) =>
        writer.command(sql, { ...options, settings: { ...options.settings, ...threads } }),
    };
    await fillSample(alone, { rows: 20_000, end: END });
    expect(await allContents(writer)).toEqual(first);
    await fillSample(writer, { rows: 20_000, end: END, seed: 2 });
    const other = await allContents(writer);
    expect(other.map((content, at) => content === first[at])).toEqual([false, false, false, false]);
  });

  it.each([
    [1, "2026-05-01T00:00:00Z"],
    [100_000, "2025-01-05T15:30:10Z"],
  ])("makes exactly %i rows in the 26 weeks up to %s, and nothing after it", async (rows, text) => {
    const end = new Date(text);
    const info = await fillSample(writer, { rows, end });
    const start = new Date(end.getTime() - 26 * 7 * 86_400_000);
    expect(info).toMatchObject({ rows, seed: 1, start, end });
    const found = await numbers(
      writer,
      `SELECT count() AS rows, toUnixTimestamp(min(measurement_start_time)) AS first,
         toUnixTimestamp(max(measurement_start_time)) AS last, uniqExact(toDate(measurement_start_time)) AS days,
         (SELECT intDiv(max(__REALTIME_TIMESTAMP), 1000000) FROM logs) AS last_log FROM fastpath`,
    );
    expect(found["rows"]).toBe(rows);
    expect(found["first"]).toBeGreaterThanOrEqual(start.getTime() / 1000);
    expect(found["last"]).toBeLessThan(end.getTime() / 1000);
    expect(found["last_log"]).toBeLessThan(end.getTime() / 1000);
    if (rows < 10_000) return;
    expect(found["first"]).toBeLessThan(start.getTime() / 1000 + 86_400);
    expect(found["last"]).toBeGreaterThan(end.getTime() / 1000 - 86_400);
    expect(found["days"]).toBeGreaterThanOrEqual(182);
  });

  it("leaves the sample that was there when it is interrupted, and nothing aside", async () => {
    await fillSample(writer, { rows: 2_000, end: END });
    const before = await allContents(writer);
    const interrupt = new AbortController();
    const filling = fillSample(writer, {
      rows: 100_000,
      end: END,
      onProgress: (message) => {
        if (message.startsWith("Making")) interrupt.abort(new Error("enough"));
      },
      signal: interrupt.signal,
    });
    await expect(filling).rejects.toThrow();
    expect(await allContents(writer)).toEqual(before);
    expect((await sampleInfo(writer))?.rows).toBe(2_000);
    expect(await tableNames(writer)).toEqual([...TABLES, "sample_info"].sort());
  });

  it.each([
    [{ rows: 0 }, /sample of 0 rows: take a whole number from 1/],
    [{ rows: 1.5 }, /sample of 1.5 rows/],
    [{ rows: NaN }, /sample of NaN rows/],
    [{ end: new Date(NaN) }, /an invalid Date: take a day from 1973/],
    [{ end: new Date("1970-02-01") }, /1970-02-01T00:00:00.000Z: take a day/],
  ])("refuses %o", async (options, message) => {
    await expect(fillSample(writer, options)).rejects.toThrow(message);
  });
});
