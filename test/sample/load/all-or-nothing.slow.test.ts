import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Writer } from "../../../src/database/writer.js";
import { loadFile } from "../../../src/sample/load.js";
import { start } from "../../support/command.js";
import { measurement, measurements } from "./measurement.js";
import { empty, openDatabase, tableNames, type TestDatabase } from "./open-database.js";
import { contentOf } from "./table-content.js";
import { jsonl, put } from "./write-file.js";

const ROWS = 150_000;

let db: TestDatabase;
let large: string;
let small: string;
let before: string;
beforeAll(async () => {
  db = await openDatabase();
  large = join(db.folder, "large.jsonl");
  await writeLarge(db.writer, large, ROWS);
  small = await put(db.folder, "small.jsonl", jsonl(measurements(50)));
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await empty(db.writer);
  await loadFile(
    db.writer,
    "fastpath",
    await put(db.folder, "first.jsonl", jsonl([measurement(100_000)])),
  );
  before = await contentOf(db.writer);
});

/** Measurements over two months, so that they fall into two partitions; hardly compressible. */
async function writeLarge(writer: Writer, path: string, rows: number): Promise<void> {
  await writer.command(
    `INSERT INTO FUNCTION file({path:String}, 'JSONEachRow')
     SELECT toDateTime('2026-01-01 00:00:00', 'UTC') + number * 30 AS measurement_start_time,
       'probe-android' AS software_name, '3.8.5' AS software_version, 'web_connectivity' AS test_name,
       hex(sipHash128(intDiv(number, 40))) AS report_id, 'IT' AS probe_cc, 30722 AS probe_asn,
       concat(hex(sipHash128(number)), hex(sipHash128(number, 1)), hex(sipHash128(number, 2))) AS input
     FROM numbers({rows:UInt64})`,
    { parameters: { path, rows } },
  );
}

async function until(true_: () => Promise<boolean>): Promise<void> {
  while (!(await true_())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Waits until a load's INSERT runs in the server. */
const untilReading = () =>
  until(async () => {
    const running = await db.writer.rows(
      "SELECT 1 AS one FROM system.processes WHERE startsWith(Settings['log_comment'], 'probelab_aside')",
    );
    return running.length > 0;
  });

/** The command in a process of its own, which shares this test's server. */
const loadProcess = () => start(["load", "fastpath", large, "--into", `embedded:${db.directory}`]);

const rowsThere = async () => Number((await contentOf(db.writer)).split(" ")[0]);

describe("a load that is killed leaves all rows or none", () => {
  it("whenever SIGKILL ends it, from the first read to the last step", async () => {
    for (let step = 0; step < 4; step += 1) {
      await empty(db.writer);
      const content = jsonl([measurement(100_000)]);
      await loadFile(db.writer, "fastpath", await put(db.folder, "first.jsonl", content));
      const { child, ended } = loadProcess();
      await untilReading();
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, step * 300))]);
      child.kill("SIGKILL");
      await ended;
      expect([1, 1 + ROWS]).toContain(await rowsThere());
    }
    const there = await rowsThere();
    await loadFile(db.writer, "fastpath", small);
    expect(await rowsThere()).toBe(there + 50);
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  });

  it("when the server is killed, which the next load starts anew", async () => {
    const load = loadFile(db.writer, "fastpath", large).catch((error: unknown) => error);
    await untilReading();
    const record = await readFile(join(db.directory, "server.json"), "utf8");
    process.kill((JSON.parse(record) as { pid: number }).pid, "SIGKILL");
    expect(await load).toBeInstanceOf(Error);
    expect(await contentOf(db.writer)).toBe(before);
    await loadFile(db.writer, "fastpath", small);
    expect(await rowsThere()).toBe(51);
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  });
});

describe("a load that is stopped leaves nothing", () => {
  it("by an AbortSignal", async () => {
    const stop = new AbortController();
    await loadFile(db.writer, "fastpath", small);
    const load = loadFile(db.writer, "fastpath", large, { signal: stop.signal });
    const refused = expect(load).rejects.toMatchObject({
      code: "ABORTED",
      message: `Stopped loading ${large}: nothing of it was kept.`,
    });
    await untilReading();
    stop.abort();
    await refused;
    expect(await rowsThere()).toBe(51);
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
    const running = await db.writer.rows(
      "SELECT query FROM system.processes WHERE startsWith(Settings['log_comment'], 'probelab_aside')",
    );
    expect(running).toEqual([]);
  });

  it("by SIGINT, with exit code 130", async () => {
    const { child, ended } = loadProcess();
    await untilReading();
    child.kill("SIGINT");
    const { code, err } = await ended;
    expect(code).toBe(130);
    expect(err).toContain("Stopped loading");
    expect(await contentOf(db.writer)).toBe(before);
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  });
});

describe("loads at the same time", () => {
  it("take turns: no rows are lost, and who can't wait is told so", async () => {
    const files = await Promise.all(
      [1, 2, 3, 4].map((part) => {
        const rows = Array.from({ length: 10 }, (_, number) => measurement(part * 1000 + number));
        return put(db.folder, `part${part}.jsonl`, jsonl(rows));
      }),
    );
    const loads = await Promise.allSettled(
      files.map((file) => loadFile(db.writer, "fastpath", file)),
    );
    const done = loads.filter((load) => load.status === "fulfilled").length;
    expect(await rowsThere()).toBe(1 + 10 * done);
    for (const load of loads) {
      if (load.status === "rejected")
        expect(String(load.reason)).toMatch(/another process is filling it/);
    }
    expect(await tableNames(db.writer)).toEqual(["fastpath"]);
  });
});
