import { createClient } from "@clickhouse/client";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, type Lab } from "../../src/lab/connect.js";
import { between } from "../../src/time/time-range.js";
import { answerGate, type AnswerGate } from "../support/answer-gate.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-02");
let folder: string;
let gate: AnswerGate;
let lab: Lab;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "probelab-download-"));
  await own.writer.command(`CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), n UInt64,
    cc LowCardinality(Nullable(String)), runtime Float32, tags Array(String)) ENGINE = MergeTree ORDER BY measurement_start_time`);
  await own.writer
    .command(`INSERT INTO fastpath SELECT toDateTime('2026-04-30 23:00:00', 'UTC') + number, number,
    [NULL, '', 'IT', 'ü\\n"'][1 + number % 4], number / 8, ['a', toString(number)] FROM numbers(100000)`);
  const server = new URL(own.url);
  const { username, password } = server;
  gate = await answerGate(Object.assign(server, { username: "", password: "" }).href);
  lab = await connect({
    measurements: Object.assign(new URL(gate.url), { username, password }).href,
  });
});
beforeEach(() => gate.open());
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** What the server reads in the file that it wrote. */
async function rowsOf(path: string): Promise<unknown[]> {
  const admin = createClient({ url: new URL(own.url).origin });
  const database = new URL(own.url).pathname.slice(1);
  try {
    await admin.command({
      query: `CREATE OR REPLACE TABLE ${database}.copy AS ${database}.fastpath`,
    });
    const { stream } = await admin.exec({
      query: `INSERT INTO ${database}.copy FORMAT Parquet`,
      values: createReadStream(path),
    });
    await finished(stream.resume());
  } finally {
    await admin.close();
  }
  return own.writer.rows("SELECT * FROM copy ORDER BY n");
}

describe("lab.download(sql, { range, to })", () => {
  it("writes the rows of the range with the server's values", async () => {
    const to = join(folder, "new", "rows.parquet");
    const sql = "SELECT * FROM fastpath WHERE {range} AND n % 1000 = {rest:UInt8} ORDER BY n";
    const asked = await lab.download(sql, { range, to, params: { rest: 7 } });
    const wanted =
      "SELECT * FROM fastpath WHERE n >= 3600 AND n < 90000 AND n % 1000 = 7 ORDER BY n";
    expect(asked).toMatchObject({ path: to, rows: 86, notes: [] });
    expect(asked.bytes).toBe((await readFile(to)).length);
    expect(await rowsOf(to)).toEqual(await own.writer.rows(wanted));
    expect(await readdir(join(folder, "new"))).toEqual(["rows.parquet"]);
  });

  it("of more rows than a Result may have", async () => {
    await using few = await connect({ measurements: own.url, guard: { maxResultRows: 1_000 } });
    const to = pathToFileURL(join(folder, "many.parquet"));
    const { rows } = await few.download("SELECT n FROM fastpath WHERE {range}", { range, to });
    expect(rows).toBe(86_400);
  });

  it("of no rows is a file of none", async () => {
    const to = join(folder, "none.parquet");
    const sql = "SELECT * FROM fastpath WHERE {range} AND n = 999999999";
    expect(await lab.download(sql, { range, to })).toMatchObject({ rows: 0 });
    expect(await rowsOf(to)).toEqual([]);
  });

  it("leaves the file of before where the answer is cut anywhere, or the server fails in the middle", async () => {
    const to = join(folder, "kept.parquet");
    await writeFile(to, "before");
    const sql = "SELECT n, cc FROM fastpath WHERE {range} ORDER BY n";
    let size = 0;
    gate.on("FORMAT Parquet", ({ body }) => (size = body.length));
    await lab.download(sql, { range, to: join(folder, "whole.parquet") });
    expect(size).toBeGreaterThan(100_000);
    for (const part of [0, 1, 4, 1_000, size - 9, size - 8, size - 4, size - 1]) {
      gate.on("FORMAT Parquet", (answer) => {
        answer.body = answer.body.subarray(0, part);
      });
      await expect(lab.download(sql, { range, to })).rejects.toThrow(/^Can't download a query/);
    }
    gate.open();
    const late = `SELECT n, throwIf(n = 80000, 'in the middle') AS x FROM fastpath WHERE {range}`;
    await expect(lab.download(late, { range, to, params: {} })).rejects.toThrow(/in the middle/);
    expect(await readFile(to, "utf8")).toBe("before");
    expect((await readdir(folder)).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it("stops by its signal, and is refused without a range, beyond it, or to another kind of file", async () => {
    const to = join(folder, "refused.parquet");
    const all = "SELECT n FROM fastpath";
    const stop = new AbortController();
    stop.abort();
    const asked: [string, Parameters<Lab["download"]>[1], RegExp][] = [
      [`${all} WHERE {range}`, { range, to, signal: stop.signal }, /^Stopped/],
      [all, { range, to }, /^Can't download a query that does not use its time range/],
      [`${all} WHERE {range} OR 1`, { range, to }, /stays in its time range/],
      [`${all} WHERE {range} INTO OUTFILE 'x'`, { range, to }, /OUTFILE/],
      [`${all} WHERE {range}`, { range, to: join(folder, "rows.csv") }, /ends in \.parquet/],
      [
        `${all} WHERE {range}`,
        { range, to: join(folder, "many.parquet", "x.parquet") },
        /Can't write/,
      ],
      [`${all} WHERE {range}`, { to } as never, /^Can't download a query without a time range/],
      [`${all} WHERE {range}`, undefined as never, /without a time range/],
    ];
    for (const [sql, options, why] of asked) {
      await expect(lab.download(sql, options)).rejects.toThrow(why);
    }
    expect((await readdir(folder)).filter((name) => /refused|csv/.test(name))).toEqual([]);
  });
});
