import { readFileSync } from "node:fs";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRecord, TOKEN_HEADER } from "../../src/database/embedded/directory.js";
import { between, type Lab } from "../../src/index.js";
import { embeddedDatabase } from "../support/embedded-database.js";

const db = embeddedDatabase();
let lab: Lab;
let file: string;
beforeAll(async () => {
  await db.writer.command(
    "CREATE TABLE kept (t DateTime, word String) ENGINE = MergeTree ORDER BY t",
  );
  await db.writer.command("INSERT INTO kept VALUES ('2026-05-01 12:00:00', 'row')");
  file = join(db.directory.path, "secret.txt");
  writeFileSync(file, "secret of the machine");
  lab = await db.open();
});
afterAll(() => lab.close());

const range = between("2026-05-01", "2026-05-02");
const ask = (sql: string) => lab.query(`${sql} WHERE {range:t}`, { range });

/** The engine's answer to bare SQL, as its owner could send it with a token of the record. */
async function raw(token: string, sql: string, query: Record<string, string> = {}) {
  const server = readRecord(db.directory.path);
  const search = new URLSearchParams({ database: "probelab", ...query }).toString();
  const url = `http://127.0.0.1:${server?.port}/?${search}`;
  const answer = await fetch(url, {
    method: "POST",
    body: sql,
    headers: { [TOKEN_HEADER]: token },
  });
  return (await answer.text()).trim();
}

const readersToken = (): string => readRecord(db.directory.path)?.token ?? "";

// Each is refused twice: by the check of the statement, and by the engine's grants behind it.
const FILE = [
  "file('FILE')",
  "arrayMap(x -> file(x), ['FILE'])",
  "file('/proc/self/environ')",
  "(SELECT any(file(concat('/proc/', toString(number), '/environ'), '')) FROM numbers(100000))",
];
it.each(FILE)("SQL of a question reads no file: %s", async (expression) => {
  const sql = `SELECT ${expression.replace("FILE", file)} AS text FROM kept`;
  const refused = /questions may not read files|expect 1 arguments/;
  expect(await raw(readersToken(), sql)).toMatch(refused);
  await expect(ask(sql)).rejects.toThrow(/Can't run a query with file\(\)|questions may not/);
});

const TABLE_FUNCTIONS = [
  "file('FILE', 'LineAsString', 'text String')",
  "url('http://127.0.0.1:1/', 'LineAsString', 'text String')",
  "remote('127.0.0.1:1', 'system', 'one')",
  "sqlite('FILE', 'a')",
  "executable('sh', 'CSV', 'text String')",
  "deltaLakeLocal('FILE')",
  "format(CSV, '1')",
];
it.each(TABLE_FUNCTIONS)("SQL of a question reads the tables only, not %s", async (source) => {
  const sql = `SELECT * FROM ${source.replace("FILE", file)}, kept`;
  const refused = /Not enough privileges|ACCESS_DENIED|UNKNOWN_FUNCTION/;
  expect(await raw(readersToken(), sql)).toMatch(refused);
  await expect(lab.query(`${sql} WHERE {range:t}`, { range })).rejects.toThrow(
    /Can't run a query with \w+\(\)|Not enough privileges|ACCESS_DENIED|UNKNOWN_FUNCTION/,
  );
});

it("what a question needs is granted: the tables, system tables, numbers and views", async () => {
  const answer = await ask("SELECT word FROM kept");
  expect(answer.rows()).toEqual([{ word: "row" }]);
  const joined = await ask("SELECT number FROM numbers(2) AS n, kept");
  expect(joined.rows()).toHaveLength(2);
  const tables = await ask(
    "SELECT name FROM (SELECT name FROM system.tables WHERE name = 'kept') AS s, kept",
  );
  expect(tables.rows()).toEqual([{ name: "kept" }]);
});

it("the reader's token writes nothing and stays the reader's, also where a request lifts readonly", async () => {
  const token = readersToken();
  const out = join(db.directory.path, "out.csv");
  for (const sql of [
    "INSERT INTO kept VALUES ('2026-05-01 12:00:00', 'more')",
    "CREATE TABLE other (a UInt8) ENGINE = Memory",
    "CREATE TEMPORARY TABLE other (a UInt8)",
    "DROP TABLE kept",
    "ALTER TABLE kept DELETE WHERE 1",
    `INSERT INTO FUNCTION file('${out}', 'CSV') SELECT 1`,
    "CREATE FUNCTION other AS (a) -> a",
    "DROP FUNCTION file",
    "CREATE USER other",
    `BACKUP TABLE kept TO File('${out}')`,
    "SYSTEM SHUTDOWN",
    `SELECT * FROM file('${file}', 'LineAsString')`,
  ]) {
    expect(await raw(token, sql), sql).toMatch(/Not enough privileges/);
  }
  for (const analyzer of ["0", "1"]) {
    const said = await raw(token, `SELECT file('${file}')`, { enable_analyzer: analyzer });
    expect(said).toMatch(/questions may not read files/);
  }
  for (const user of ["writer", "default"]) {
    expect(await raw(token, "SELECT currentUser()", { user })).toMatch(/reader|FAILED|Exception/);
  }
  expect(existsSync(out)).toBe(false);
  expect(await raw(token, "SELECT count() FROM kept")).toBe("1");
});

it("the server's process has none of the notebook's passwords in its environment", async () => {
  process.env["PROBELAB_MEASUREMENTS_PASSWORD"] = "hunter2-of-the-test";
  try {
    const { pid } = readRecord(db.directory.path) ?? {};
    process.kill(pid ?? 0, "SIGKILL");
    await ask("SELECT word FROM kept");
    const after = readRecord(db.directory.path);
    expect(after?.pid).not.toBe(pid);
    const environment = readFileSync(`/proc/${after?.pid}/environ`, "utf8");
    expect(environment).not.toMatch(/hunter2|PROBELAB/);
  } finally {
    delete process.env["PROBELAB_MEASUREMENTS_PASSWORD"];
  }
});
