import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, connect, type Lab } from "../../src/index.js";
import { embeddedDatabase } from "../support/embedded-database.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

const range = between("2026-05-10", "2026-05-11");
const time = "toDateTime('2026-04-01 00:00:00', 'UTC') + intDiv(number * 86400, 1000)";
// 100 days of 1,000 measurements and lines, so that a read of all is more than one granule.
const TABLES = [
  `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32, n UInt32)
    ENGINE = MergeTree ORDER BY measurement_start_time SETTINGS index_granularity = 256`,
  `INSERT INTO fastpath SELECT ${time}, toString(intDiv(number, 40)), if(number % 2, 'IT', 'DE'), number % 7, number FROM numbers(100000)`,
  `CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP SETTINGS index_granularity = 256`,
  `INSERT INTO logs SELECT toInt64(toUnixTimestamp(${time})) * 1000000, toString(intDiv(number, 40)) FROM numbers(100000)`,
  `CREATE TABLE texts (at String, n UInt32) ENGINE = MergeTree ORDER BY at`,
  `INSERT INTO texts SELECT toString(toUnixTimestamp(${time})), number FROM numbers(100000)`,
  `CREATE TABLE days (day Date, n UInt32) ENGINE = MergeTree ORDER BY day`,
  `INSERT INTO days SELECT toDate('2026-04-01') + number, number FROM numbers(100)`,
  `CREATE TABLE fine (t Nullable(DateTime64(6, 'Asia/Kathmandu')), n UInt32) ENGINE = MergeTree ORDER BY n PARTITION BY toYYYYMM(assumeNotNull(t))`,
  `INSERT INTO fine SELECT ${time}, number FROM numbers(100000)`,
  `CREATE TABLE odd (measurement_start_time DateTime('UTC'), \`{range}\` UInt8) ENGINE = MergeTree ORDER BY measurement_start_time`,
];

const own = embeddedDatabase();
let lab: Lab;
beforeAll(async () => {
  for (const sql of TABLES) await own.writer.command(sql);
  lab = await own.open();
});
afterAll(() => lab.close());

describe("free SQL is bounded by each {range} in its own column's type", () => {
  it.each<[sql: string, first: unknown]>([
    ["SELECT count() FROM fastpath WHERE {range}", 1000],
    ["SELECT count() FROM fastpath PREWHERE {range} WHERE n > 0", 1000],
    ["FROM fastpath SELECT count() WHERE {range}", 1000],
    ["SELECT /*+ {range} */ count() FROM fastpath WHERE {range} -- {range} OR 1", 1000],
    ["SELECT count() FROM fastpath WHERE {range} AND report_id != $a$ {range} OR 1 $a$", 1000],
    ["SELECT count() FROM logs WHERE {range:__REALTIME_TIMESTAMP}", 1000],
    ["SELECT count() FROM texts WHERE {range:at}", 1000],
    ["SELECT n FROM days WHERE {range:day}", 39],
    ["SELECT count() FROM fine WHERE {range:t}", 1000],
    [
      "WITH x AS (SELECT * FROM fastpath WHERE {range}) SELECT count() FROM x WHERE n IN (SELECT n FROM x)",
      1000,
    ],
    [
      "SELECT sum(n) FROM (SELECT count() AS n FROM fastpath WHERE {range} UNION ALL SELECT count() FROM logs WHERE {range:__REALTIME_TIMESTAMP})",
      2000,
    ],
    [
      "SELECT {start:DateTime64(3)} FROM fastpath WHERE {range} AND {end:DateTime64(3)} > 0",
      range.start,
    ],
    [
      "SELECT count() FROM fastpath WHERE {range} AND measurement_start_time >= {start:DateTime64(3)} + INTERVAL 12 HOUR",
      500,
    ],
  ])("%s", async (sql, first) => {
    const { table, origin } = await lab.query(sql, { range });
    expect(Object.values(table.object(0) ?? {})[0]).toEqual(first);
    // A day of a hundred, and the granules at its edges.
    const most = /texts| fine /.test(sql) ? 300_000 : 6_000;
    expect(origin.rowsRead).toBeLessThanOrEqual(most);
  });
});

describe("free SQL without a {range} in its code is refused", () => {
  it.each([
    "SELECT count() FROM fastpath",
    "SELECT count() FROM fastpath -- WHERE {range}",
    "SELECT count() FROM fastpath /* {range} */",
    "SELECT count() FROM fastpath WHERE '{range}' != ''",
    "SELECT count() FROM fastpath WHERE $$ {range} $$ != ''",
    "SELECT count(), max(`{range}`) FROM odd",
    "SELECT count() FROM fastpath WHERE measurement_start_time > {start:DateTime}",
  ])("%s", async (sql) => {
    await expect(lab.query(sql, { range })).rejects.toThrow(
      /does not use its time range: put \{range\} into its WHERE/,
    );
  });
});

/** Statements that are no question, whoever asks. */
const NO_QUESTION: readonly (readonly [sql: string, message: RegExp])[] = [
  ["SELECT 1 FROM fastpath WHERE {range}; SELECT 2", /SYNTAX_ERROR/],
  ["SELECT 1 FROM fastpath WHERE {range}; DROP TABLE logs", /SYNTAX_ERROR/],
  ["SELECT 1 FROM fastpath WHERE {range}) ; DROP TABLE logs; SELECT (1", /SYNTAX_ERROR/],
  ["INSERT INTO logs SELECT 1, 'x' FROM fastpath WHERE {range}", /Can't run the query/],
  ["DROP TABLE logs -- \n {range}", /Can't run the query/],
  ["ALTER TABLE logs DELETE WHERE {range:__REALTIME_TIMESTAMP}", /Can't run the query/],
  ["SELECT 1 FROM fastpath WHERE {range} FORMAT JSON", /its own FORMAT/],
  ["SELECT 1 FROM fastpath WHERE {range} INTO OUTFILE 'x'", /its own FORMAT or INTO OUTFILE/],
  ["SELECT 1 FROM fastpath WHERE {range} SETTINGS max_execution_time = 0", /its own SETTINGS/],
  [
    "SELECT 1 FROM (SELECT 1 FROM fastpath WHERE {range} SETTINGS max_memory_usage = 0)",
    /its own SETTINGS/,
  ],
];

describe("free SQL can't write and can't lift its limits", () => {
  it.each(NO_QUESTION)("the embedded server refuses %s", async (sql, message) => {
    await expect(lab.query(sql, { range })).rejects.toThrow(message);
    expect(existsSync("x")).toBe(false);
  });

  it.each([
    "SELECT * FROM file('/etc/passwd', 'LineAsString') WHERE {range} OR 1",
    "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString', 'a String') WHERE {range} OR 1",
    "SELECT * FROM remote('127.0.0.1', probelab.fastpath) WHERE {range}",
  ])("the embedded server's reader has no right to %s", async (sql) => {
    await expect(lab.query(sql, { range })).rejects.toThrow(/ACCESS_DENIED|UNKNOWN_IDENTIFIER/);
  });

  describe("of a user who may do everything", () => {
    let server: RestrictedServer;
    beforeAll(async () => {
      server = await restrictedServer({ all: { settings: {} } });
      for (const query of TABLES) await server.admin.command({ query });
    });
    afterAll(() => server[Symbol.asyncDispose]());

    it("nothing that is no question runs", async () => {
      await using lab = await connect({ measurements: server.as("all") });
      for (const [sql, message] of NO_QUESTION) {
        await expect(lab.query(sql, { range }), sql).rejects.toThrow(message);
      }
      const sql = "SELECT count() AS n FROM fastpath WHERE {range}";
      expect((await lab.query(sql, { range })).rows()).toEqual([{ n: 1000 }]);
    });

    it("the limits hold", async () => {
      const limits = { maxSeconds: 1, maxResultRows: 500, maxRowsRead: 50_000 };
      await using lab = await connect({ measurements: server.as("all"), limits });
      const run = (sql: string) => lab.query(sql, { range });
      await expect(run("SELECT n FROM fastpath WHERE {range}")).rejects.toThrow(/maxResultRows/);
      await expect(run("SELECT count() FROM fastpath WHERE {range} OR n >= 0")).rejects.toThrow(
        /maxRowsRead/,
      );
      await expect(
        run("SELECT sum(sleepEachRow(0.01)) FROM fastpath WHERE {range}"),
      ).rejects.toThrow(/TIMEOUT_EXCEEDED|TOO_SLOW/);
    });
  });
});
