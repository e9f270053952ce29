import { beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { checkReads } from "../../src/database/database.js";
import { between } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-02");
const TEXTS = texts();

/** Every sign that SQL, TSV, URLs and forms write otherwise: alone, between others, after a backslash. */
function texts(): string[] {
  const signs = Array.from({ length: 0xa1 }, (_, code) => String.fromCodePoint(code));
  const odd = signs.filter((sign) => !/[\w ]/.test(sign));
  return [
    ...new Set([
      ...signs,
      ...odd.flatMap((sign) => [`a${sign}b`, `\\${sign}`, `${sign}\\`, `'${sign}`]),
      ...["\\N", "NULL", "[]", "['a']", "{'a':'b'}", "%00", "{range}", "{x:String}", "__proto__"],
      ...["\u2028", "\uFEFF", "\uFEFFa", "\uFFFD", "\uFFFE", "😀", "\\x41", "\r\n", "nan"],
    ]),
  ];
}

beforeAll(async () => {
  await own.writer.command(
    "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String, SYSLOG_IDENTIFIER LowCardinality(String)) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
  );
  const start = range.start.getTime() * 1000;
  const rows = TEXTS.map((text, at) => {
    const value = `unhex('${Buffer.from(text).toString("hex")}')`;
    return `(${start + at}, ${value}, ${value})`;
  });
  await own.writer.command(`INSERT INTO logs VALUES ${rows.join(", ")}`);
});

describe("a text matches itself and nothing else", () => {
  it.each(["", "x".repeat(5000)])("as String, in arrays and maps, beside %s", async (beside) => {
    await using database = await Database.open(own.source);
    for (let at = 0; at < TEXTS.length; at += 40) {
      const some = TEXTS.slice(at, at + 40);
      const names = some.map((_, index) => index);
      const all = {
        a: some,
        m: Object.fromEntries(some.map((text, index) => [`k${index}`, text])),
      };
      const keys = new Map(some.map((text, index) => [text, index]));
      const [row] = await database.rows<{
        one: string[];
        list: string[];
        map: string[];
        key: string[];
        n: number;
      }>(
        `SELECT [${names.map((name) => `hex({s${name}:String})`).join(", ")}] AS one, arrayMap(s -> hex(s), {a:Array(String)}) AS list,
arrayMap(s -> hex(s), mapValues({m:Map(String, String)})) AS map, arrayMap(s -> hex(s), mapKeys({keys:Map(String, UInt32)})) AS key, length({beside:String}) AS n`,
        {
          ...Object.fromEntries(some.map((text, index) => [`s${index}`, text])),
          ...all,
          keys,
          beside,
        },
      );
      const wanted = some.map((text) => Buffer.from(text).toString("hex").toUpperCase());
      expect(row).toEqual({
        one: wanted,
        list: wanted,
        map: wanted,
        key: wanted,
        n: beside.length,
      });
    }
  });

  it("in filters of logs", async () => {
    await using lab = await own.open();
    const found = await lab.logs.search({ range, identifier: TEXTS, limit: 10_000 });
    expect(found.numRows()).toBe(TEXTS.length);
    for (const text of ["\0", "\b", "\t", "\n", "\r", "\\", "'", "\\N", "\uFEFFa", "a\0b", "\\'"]) {
      const exact = await lab.logs.search({ range, where: { message: text } });
      expect(exact.numRows(), JSON.stringify(text)).toBe(1);
      const holds = TEXTS.filter((each) => each.includes(text)).length;
      const held = await lab.logs.search({ range, contains: text, limit: 10_000 });
      expect(held.numRows(), JSON.stringify(text)).toBe(holds);
    }
  });

  it("or is refused: half of a surrogate pair", async () => {
    await using database = await Database.open(own.source);
    for (const v of ["\ud800", ["a\udc00"], { a: "\ud800" }, new Map([["\udfff", 1]])]) {
      await expect(database.rows("SELECT 1", { v }, "ask")).rejects.toThrow(
        /Can't ask with ".*" in v: it holds half of a surrogate pair/,
      );
    }
  });
});

describe("checkReads(sql) lets only what reads leave", () => {
  it.each([
    "SELECT 1",
    " -- DROP TABLE x\n/* INSERT INTO t */ ((SELECT 'INSERT INTO t'))",
    "WITH 1 AS a SELECT a, `INTO OUTFILE`",
    "FROM t SELECT insert, update",
    "EXPLAIN AST (\nSELECT 1\n) FORMAT Null",
    "DESCRIBE TABLE (SELECT 1)",
    "show tables",
  ])("%s", (sql) => expect(() => checkReads(sql)).not.toThrow());

  it.each([
    "",
    "-- SELECT 1",
    "'SELECT 1'",
    "INSERT INTO t SELECT 1",
    "WITH 1 AS a INSERT INTO t SELECT a",
    "/* SELECT */ DROP TABLE t",
    "EXPLAIN AST (\nINSERT/**/INTO t SELECT 1\n)",
    "explain plan alter table t delete where 1",
    "SELECT 1 INTO\nOUTFILE 'x'",
    ...["ALTER TABLE t DELETE WHERE 1", "SYSTEM SHUTDOWN", "SET readonly = 0"],
  ])("not %s", (sql) => expect(() => checkReads(sql)).toThrow("questions only read"));
});
