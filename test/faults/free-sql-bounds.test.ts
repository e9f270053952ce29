import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { freeQuery } from "../../src/query/free-query.js";
import { between } from "../../src/time/time-range.js";
import { embeddedDatabase } from "../support/embedded-database.js";

const own = embeddedDatabase();
const range = between("2026-05-10", "2026-05-11");
let database: Database;

// 100 days of 1,000 measurements and lines, so that a read of all is more than one granule.
beforeAll(async () => {
  const time = "toDateTime('2026-04-01 00:00:00', 'UTC') + intDiv(number * 86400, 1000)";
  for (const sql of [
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32, n UInt32)
      ENGINE = MergeTree ORDER BY measurement_start_time SETTINGS index_granularity = 256`,
    `INSERT INTO fastpath SELECT ${time}, toString(intDiv(number, 40)), if(number % 2, 'IT', 'DE'), number % 7, number FROM numbers(100000)`,
    `CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP SETTINGS index_granularity = 256`,
    `INSERT INTO logs SELECT toInt64(toUnixTimestamp(${time})) * 1000000, toString(intDiv(number, 40)) FROM numbers(100000)`,
    `CREATE TABLE texts (at String, n UInt32) ENGINE = MergeTree ORDER BY at`,
    `INSERT INTO texts SELECT toString(${time}), number FROM numbers(100000)`,
    `CREATE TABLE days (day Date, n UInt32) ENGINE = MergeTree ORDER BY day`,
    `INSERT INTO days SELECT toDate('2026-04-01') + number, number FROM numbers(100)`,
    `CREATE TABLE fine (t Nullable(DateTime64(6, 'Asia/Kathmandu')), n UInt32) ENGINE = MergeTree ORDER BY n PARTITION BY toYYYYMM(assumeNotNull(t))`,
    `INSERT INTO fine SELECT ${time}, number FROM numbers(100000)`,
    `CREATE TABLE networks (probe_asn UInt32, name String, updated DateTime) ENGINE = MergeTree ORDER BY probe_asn`,
    `INSERT INTO networks SELECT number, concat('AS', toString(number)), now() FROM numbers(7)`,
    `CREATE VIEW seen AS SELECT * FROM fastpath`,
    `CREATE VIEW seen_of AS SELECT * FROM fastpath WHERE n = {one:UInt32}`,
    `CREATE TABLE odd (measurement_start_time DateTime('UTC'), \`x "y\` UInt8, \`{range}\` UInt8) ENGINE = MergeTree ORDER BY measurement_start_time`,
  ])
    await own.writer.command(sql);
  database = await Database.open(own.source);
});

afterAll(() => database[Symbol.asyncDispose]());

const ask = (sql: string, params: Record<string, unknown> = {}) =>
  freeQuery(database, sql, { range, params });
const bare =
  "measurement_start_time >= {start:DateTime64(3)} AND measurement_start_time < {end:DateTime64(3)}";

describe("free SQL that stays in its range is answered", () => {
  it.each<[sql: string, first: unknown]>([
    ["SELECT count() FROM fastpath WHERE {range}", 1000],
    ["SELECT count() FROM fastpath PREWHERE {range}", 1000],
    ["SELECT count() FROM fastpath PREWHERE n > 0 WHERE {range}", 1000],
    ["FROM fastpath SELECT count() WHERE {range}", 1000],
    ["SELECT count() FROM fastpath AS f WHERE {range} AND (f.n > 0 OR 1)", 1000],
    ["SELECT count() FROM fastpath WHERE ({range} AND n % 2) OR ({range} AND NOT n % 2)", 1000],
    ["SELECT count() FROM fastpath WHERE NOT (n > 1e9) AND (((({range}))))", 1000],
    [`SELECT count() FROM fastpath WHERE ${bare}`, 1000],
    [
      "SELECT count() FROM fastpath WHERE {end:DateTime('UTC')} > measurement_start_time AND {start:DateTime('UTC')} <= measurement_start_time",
      1000,
    ],
    [
      "SELECT count() FROM fastpath WHERE measurement_start_time BETWEEN {start:DateTime('UTC')} AND {end:DateTime('UTC')} AND measurement_start_time != {end:DateTime('UTC')}",
      1000,
    ],
    [
      "SELECT count() FROM fastpath WHERE measurement_start_time >= {start:DateTime64(3)} + INTERVAL 12 HOUR AND measurement_start_time < {end:DateTime64(3)}",
      500,
    ],
    ["SELECT count() FROM `fastpath` WHERE {range}", 1000],
    ['SELECT count() AS "all of it" FROM "probelab"."fastpath" WHERE {range}', 1000],
    ["SELECT /*+ a hint {range} */ count() FROM fastpath WHERE {range} -- {range} OR 1", 1000],
    ["SELECT count() FROM fastpath WHERE {range} AND report_id != $a$ {range} OR 1 $a$", 1000],
    ["SELECT count() FROM fastpath WHERE {range} AND report_id != ' OR 1 ;\\' {range}'", 1000],
    ['SELECT sum(`x "y`) FROM odd WHERE {range}', 0],
    ["SELECT count() FROM logs WHERE {range:__REALTIME_TIMESTAMP}", 1000],
    ["SELECT count() FROM logs WHERE {range:logs.__REALTIME_TIMESTAMP} AND message LIKE '%'", 1000],
    ["SELECT count() FROM texts WHERE {range:at}", 1000],
    ["SELECT n FROM days WHERE {range:day}", 39],
    ["SELECT count() FROM fine WHERE {range:t}", 1000],
    ["SELECT count() FROM seen WHERE {range}", 1000],
    [
      "SELECT sum(c) FROM (SELECT probe_cc, count() AS c FROM fastpath WHERE {range} GROUP BY 1)",
      1000,
    ],
    [
      "WITH x AS (SELECT * FROM fastpath WHERE {range}) SELECT count() FROM x WHERE n IN (SELECT n FROM x)",
      1000,
    ],
    [
      "WITH (SELECT max(n) FROM fastpath WHERE {range}) AS m SELECT count() FROM fastpath WHERE {range} AND n < m",
      999,
    ],
    [
      "SELECT count() FROM fastpath WHERE {range} AND n = (SELECT max(n) FROM fastpath WHERE {range})",
      1,
    ],
    [
      `SELECT count() FROM fastpath WHERE {range} AND n = (SELECT max(n) FROM fastpath WHERE ${bare})`,
      1,
    ],
    [
      "SELECT sum(n) FROM (SELECT count() AS n FROM fastpath WHERE {range} UNION ALL SELECT count() FROM logs WHERE {range:__REALTIME_TIMESTAMP})",
      2000,
    ],
    [
      "SELECT count() FROM fastpath AS f JOIN networks AS a ON f.probe_asn = a.probe_asn WHERE {range}",
      1000,
    ],
    [
      "SELECT count() FROM networks AS a JOIN fastpath AS f ON f.probe_asn = a.probe_asn AND {range}",
      1000,
    ],
    [
      "SELECT count() FROM (SELECT * FROM fastpath WHERE {range}) AS f LEFT JOIN (SELECT DISTINCT message FROM logs WHERE {range:__REALTIME_TIMESTAMP}) AS l ON f.report_id = l.message",
      1000,
    ],
    [
      "SELECT count() FROM networks AS a LEFT JOIN fastpath AS f ON f.probe_asn = a.probe_asn AND {range}",
      1000,
    ],
    [
      "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY n) AS r FROM fastpath WHERE {range})",
      1000,
    ],
    ["SELECT count() FROM fastpath ARRAY JOIN [1, 2] AS z WHERE {range}", 2000],
    [
      "SELECT count() FROM fastpath WHERE {range} AND probe_cc IN ('IT', 'DE') HAVING count() > 0",
      1000,
    ],
    ["SELECT count() FROM numbers(10) WHERE {start:DateTime64(3)} < {end:DateTime64(3)}", 10],
    [
      "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 3) SELECT sum(a) FROM r WHERE {start:DateTime} < {end:DateTime}",
      6,
    ],
    [
      "SELECT arraySum(arrayMap(x -> x + assumeNotNull((SELECT count() FROM fastpath WHERE {range})), [1]))",
      1001,
    ],
  ])("%s", async (sql, first) => {
    const { table, origin } = await ask(sql);
    expect(Object.values(table.object(0) ?? {})[0]).toEqual(first);
    // A day of a hundred, and the granules at its edges.
    expect(origin.rowsRead).toBeLessThanOrEqual(
      sql.includes("texts") || sql.includes(" fine ") ? 300_000 : 6_000,
    );
  });
});

const BEYOND =
  /Can't show that the query stays in its time range: .*reads? (fastpath|logs|seen|texts|days)/;

describe("free SQL that can't be shown to stay in its range is refused", () => {
  it.each<[sql: string, message: RegExp]>([
    ["SELECT count() FROM fastpath WHERE {range} OR 1", BEYOND],
    ["SELECT count() FROM fastpath WHERE {range} OR n > 5", BEYOND],
    ["SELECT count() FROM fastpath WHERE NOT {range}", BEYOND],
    ["SELECT count() FROM fastpath WHERE ({range}) = 0", BEYOND],
    ["SELECT count() FROM fastpath WHERE if({range}, 1, 1)", BEYOND],
    ["SELECT count() FROM fastpath WHERE xor({range}, n > 3)", BEYOND],
    ["SELECT count() FROM fastpath WHERE indexHint({range})", BEYOND],
    ["SELECT {range} AS inside, count() FROM fastpath GROUP BY 1", BEYOND],
    ["SELECT countIf({range}) FROM fastpath", BEYOND],
    [
      "SELECT measurement_start_time FROM fastpath HAVING {range}",
      /HAVING or QUALIFY limits no read/,
    ],
    [
      "SELECT count() FROM fastpath GROUP BY measurement_start_time HAVING {range}",
      /HAVING or QUALIFY limits no read/,
    ],
    ["SELECT n FROM fastpath QUALIFY {range}", /HAVING or QUALIFY limits no read/],
    ["SELECT count() FROM fastpath WHERE {range} UNION ALL SELECT count() FROM fastpath", BEYOND],
    ["SELECT count() FROM fastpath WHERE {range} UNION DISTINCT SELECT count() FROM logs", BEYOND],
    ["SELECT n FROM fastpath WHERE {range} INTERSECT SELECT n FROM fastpath", BEYOND],
    ["SELECT n FROM fastpath WHERE {range} EXCEPT SELECT n FROM fastpath", BEYOND],
    [
      "SELECT count() FROM fastpath AS a JOIN logs AS b ON a.report_id = b.message WHERE {range}",
      BEYOND,
    ],
    [
      "SELECT count() FROM fastpath AS a LEFT JOIN networks AS b ON a.probe_asn = b.probe_asn AND {range}",
      BEYOND,
    ],
    [
      "SELECT count() FROM fastpath AS f FULL JOIN networks AS a ON f.probe_asn = a.probe_asn AND {range}",
      BEYOND,
    ],
    ["SELECT count() FROM fastpath AS f, logs AS l WHERE {range}", BEYOND],
    [
      "SELECT count() FROM fastpath WHERE {range} AND report_id IN (SELECT message FROM logs)",
      BEYOND,
    ],
    ["SELECT count() FROM fastpath WHERE {range} AND (n, n) IN days", BEYOND],
    ["SELECT (SELECT count() FROM logs), count() FROM fastpath WHERE {range}", BEYOND],
    [
      "SELECT (SELECT count() FROM logs WHERE message > '' AND n < 3), count() FROM fastpath WHERE {range}",
      /Can't/,
    ],
    ["WITH x AS (SELECT * FROM fastpath) SELECT count() FROM x WHERE {range}", BEYOND],
    ["SELECT count() FROM (SELECT * FROM fastpath) WHERE {range}", BEYOND],
    ["SELECT count() FROM seen WHERE {range} OR 1", BEYOND],
    [
      "SELECT 1 AS measurement_start_time, count() FROM fastpath WHERE {range} OR measurement_start_time",
      BEYOND,
    ],
    [
      "SELECT toDateTime('2026-05-10 12:00:00', 'UTC') AS measurement_start_time, count() FROM fastpath WHERE {range}",
      BEYOND,
    ],
    ["SELECT count() FROM fastpath WHERE {range} AND 0 OR 1", BEYOND],
    [
      "SELECT count() FROM fastpath WHERE exists(SELECT 1 FROM logs WHERE message != '') AND {range}",
      BEYOND,
    ],
    [
      "SELECT count() FROM fastpath WHERE measurement_start_time >= {start:DateTime64(3)} - INTERVAL 90 DAY AND measurement_start_time < {end:DateTime64(3)}",
      BEYOND,
    ],
    [
      "SELECT count() FROM fastpath WHERE measurement_start_time >= '2026-01-01' AND {start:DateTime} < {end:DateTime}",
      BEYOND,
    ],
    ["SELECT count() FROM fastpath WHERE {start:DateTime} < {end:DateTime}", BEYOND],
    [
      "SELECT count() FROM logs WHERE __REALTIME_TIMESTAMP > 0 AND {start:DateTime} < {end:DateTime}",
      BEYOND,
    ],
    ["SELECT count() FROM days, texts WHERE {range:at}", BEYOND],
    ["SELECT count() FROM fastpath -- WHERE {range}", /does not use its time range/],
    ["SELECT count() FROM fastpath /* {range} */", /does not use its time range/],
    ["SELECT count() FROM fastpath WHERE '{range}' != ''", /does not use its time range/],
    ["SELECT count() FROM fastpath WHERE $$ {range} $$ != ''", /does not use its time range/],
    ["SELECT count(), max(`{range}`) FROM odd", /does not use its time range/],
    ['SELECT count(), max("{range}") FROM odd', /does not use its time range/],
    ["SELECT count() FROM fastpath WHERE ‘{range}’ != ''", /Can't/],
    ["SELECT count() FROM fastpath # {range}", /does not use its time range/],
    [
      "SELECT count() FROM fastpath WHERE {range} SETTINGS max_execution_time = 0",
      /Can't run.*(SETTINGS|READONLY)/,
    ],
    [
      "SELECT count() FROM (SELECT 1 FROM fastpath WHERE {range} SETTINGS max_threads = 9)",
      /Can't run.*(SETTINGS|READONLY)/,
    ],
    ["SELECT 1 FROM fastpath WHERE {range}; SELECT 2", /Can't run the query.*SYNTAX_ERROR/],
    ["SELECT 1 FROM fastpath WHERE {range}) UNION ALL (SELECT n FROM fastpath", BEYOND],
    ["SELECT 1 FROM fastpath WHERE {range} INTO OUTFILE 'x'", /its own FORMAT or INTO OUTFILE/],
    ["SELECT file('/etc/passwd') FROM fastpath WHERE {range}", /Can't run a query with file\(\)/],
    [
      "SELECT * FROM file('/etc/passwd', 'LineAsString') WHERE {start:DateTime} < {end:DateTime}",
      /Can't run a query with file\(\)/,
    ],
    [
      "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString', 'a String') WHERE {start:DateTime} < {end:DateTime}",
      /with url\(\)/,
    ],
    [
      "SELECT * FROM s3('http://127.0.0.1:9/x') WHERE {start:DateTime} < {end:DateTime}",
      /with s3\(\)/,
    ],
    ["SELECT * FROM remote('127.0.0.1', probelab.fastpath) WHERE {range}", /with remote\(\)/],
    ["SELECT * FROM merge('probelab', 'fast.*') WHERE {range}", /with merge\(\)/],
    ["SELECT * FROM seen_of(one = 1) WHERE {range}", /with seen_of\(\)/],
    ["SELECT * FROM (EXPLAIN SELECT count() FROM fastpath WHERE {range})", /with viewExplain\(\)/],
    [
      "SELECT hasColumnInTable('127.0.0.1', 'u', 'p', 'system', 'one', 'dummy') FROM fastpath WHERE {range}",
      /with hasColumnInTable\(\)/,
    ],
    [
      "SELECT getClientHTTPHeader('Authorization') FROM fastpath WHERE {range}",
      /with getClientHTTPHeader\(\)/,
    ],
    ["EXPLAIN SELECT 1 FROM fastpath WHERE {range}", /Can't run/],
    ["SHOW TABLES -- \n LIKE {range}", /Can't run/],
    ["SELECT 1 AS `a\n  WHERE\n    b` FROM fastpath WHERE {range} OR 1", /a line break/],
    ["SELECT 1 AS `a\\n  WHERE` FROM fastpath WHERE {range} OR 1", /a backslash/],
    ["SELECT 1 AS {name:Identifier} FROM fastpath WHERE {range} OR 1", /a line break/],
  ])("%s", async (sql, message) => {
    const params = sql.includes(":Identifier") ? { name: "a\n  WHERE" } : {};
    await expect(ask(sql, params)).rejects.toThrow(message);
  });

  it("before any of it runs", async () => {
    const before = await read();
    const slow = "sleepEachRow(0.001)";
    for (const sql of [
      `SELECT count() FROM fastpath WHERE {range} OR ${slow}`,
      `SELECT (SELECT count() FROM logs WHERE NOT ${slow}), count() FROM fastpath WHERE {range}`,
      `SELECT count() FROM fastpath WHERE {range} UNION ALL SELECT sum(${slow}) FROM logs`,
    ])
      await expect(ask(sql)).rejects.toThrow(BEYOND);
    expect((await read()) - before).toBeLessThan(50_000);
  });
});

/** Rows that the server read from tables since it started, but for those of its own tables. */
async function read(): Promise<number> {
  const [row] = await database.rows<{ value: string }>(
    "SELECT toString(value) AS value FROM system.events WHERE event = 'SelectedRows'",
  );
  return Number(row?.value ?? 0);
}
