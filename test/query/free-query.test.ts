import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
const range = between("2026-05-01", "2026-05-02");

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc LowCardinality(String),
      kind Enum8('a' = 1, 'it\\'s' = 2), address IPv4, big UInt64, maybe Nullable(DateTime('UTC')), text String)
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    "CREATE TABLE logs (__REALTIME_TIMESTAMP Int64, message String, SYSLOG_IDENTIFIER String) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
  );
  await own.writer.command(`INSERT INTO fastpath VALUES
    ('2026-04-30 23:59:59', 'r0', 'IT', 'a', '10.0.0.1', 1, NULL, 'before'),
    ('2026-05-01 00:00:00', 'r1', 'IT', 'it\\'s', '192.0.2.1', 18446744073709551615, '2026-05-01 01:00:00', 'first'),
    ('2026-05-01 23:59:59', 'r2', 'DE', 'a', '10.0.0.2', 2, NULL, 'last; -- no comment'),
    ('2026-05-02 00:00:00', 'r3', 'IT', 'a', '10.0.0.3', 3, NULL, 'after')`);
  await own.writer.command(
    "INSERT INTO logs VALUES (1777593600000000, 'in', 'api'), (1777680000000000, 'out', 'api')",
  );
  lab = await own.open();
});
afterAll(() => lab.close());

describe("lab.query(sql, { range, params })", () => {
  it("binds {range} half-open on measurement_start_time and values by their types", async () => {
    const result = await lab.query(
      "SELECT text FROM fastpath WHERE {range} AND probe_cc IN {cc:Array(String)} ORDER BY text; ",
      { range, params: { cc: ["IT", "DE"] } },
    );
    expect(result.column("text")).toEqual(["first", "last; -- no comment"]);
    expect(result.origin.sql).not.toContain("2026");
    expect(result.origin.parameters).toMatchObject({ cc: ["IT", "DE"], range_start: 1777593600 });
    expect(result.origin.rowsRead).toBeGreaterThan(0);
  });

  it("gives times as Dates, enums and addresses as text, integers beyond 2^53 exactly, null as null", async () => {
    const result = await lab.query(
      "SELECT measurement_start_time, kind, address, big, maybe, text FROM fastpath WHERE {range} ORDER BY text",
      { range },
    );
    expect(result.rows()).toEqual([
      {
        measurement_start_time: new Date("2026-05-01T00:00:00Z"),
        kind: "it's",
        address: "192.0.2.1",
        big: 18446744073709551615n,
        maybe: new Date("2026-05-01T01:00:00Z"),
        text: "first",
      },
      expect.objectContaining({ kind: "a", address: "10.0.0.2", big: 2n, maybe: null }),
    ]);
  });

  it("bounds another table by {range:column} in its own type", async () => {
    const result = await lab.query("SELECT message FROM logs WHERE {range:__REALTIME_TIMESTAMP}", {
      range,
    });
    expect(result.column("message")).toEqual(["in"]);
    expect(result.origin.parameters).toEqual({
      range_start: "1777593600000000",
      range_end: "1777680000000000",
    });
  });

  it("offers bare bounds as {start:…} and {end:…}", async () => {
    const result = await lab.query(
      "SELECT {start:DateTime64(3)} AS a, {end:DateTime64(3)} AS b, count() AS n FROM fastpath WHERE {range}",
      { range },
    );
    expect(result.rows()).toEqual([{ a: range.start, b: range.end, n: 2 }]);
  });

  it("keeps comments, strings and a hostile value out of the way", async () => {
    const hostile = "x' OR 1=1 -- {range}";
    const result = await lab.query(
      "SELECT {v:String} AS v, '{range}' AS s FROM fastpath WHERE {range} LIMIT 1 -- the end",
      { range, params: { v: hostile } },
    );
    expect(result.rows()).toEqual([{ v: hostile, s: "{range}" }]);
  });

  it("says that an empty answer is empty", async () => {
    const result = await lab.query(
      "SELECT probe_cc, count() AS n FROM fastpath WHERE {range} AND probe_cc = 'XX' GROUP BY probe_cc",
      { range },
    );
    expect(result.numRows()).toBe(0);
    expect(result.columnNames()).toEqual(["probe_cc", "n"]);
    expect(String(result)).toMatch(/0 rows, 2026-05-01 to 2026-05-02 UTC\nThe query found no rows/);
  });

  it.each([
    ["SELECT 1", /does not use its time range: put \{range\} into its WHERE/],
    ["SELECT '{range}' -- {range}", /does not use its time range/],
    ["SELECT 1 FROM fastpath WHERE {range} FORMAT JSON", /its own FORMAT/],
    [
      "SELECT count(), count() FROM fastpath WHERE {range}",
      /two columns named "count\(\)": give each/,
    ],
    ["SELECT 1 AS `__proto__` FROM fastpath WHERE {range}", /column named __proto__.*with AS/],
    ["SELECT 1 FROM fastpath WHERE {range:nope}", /by nope: the database has no such column/],
    [
      "SELECT nope FROM fastpath WHERE {range}",
      /Can't run the query: .*`nope`.*UNKNOWN_IDENTIFIER, code 47/,
    ],
    ["INSERT INTO fastpath SELECT * FROM fastpath WHERE {range}", /Can't run the query/],
    ["SELECT * FROM nowhere WHERE {range}", /nowhere.*UNKNOWN_TABLE.*Remedy/],
    [
      "SELECT * FROM fastpth WHERE {range}",
      /Maybe you meant \w+\.fastpath\? \(UNKNOWN_TABLE, code 60\)\.$/,
    ],
    [
      "SELECT {cc:String} FROM fastpath WHERE {range}",
      /cc.*UNKNOWN_QUERY_PARAMETER.*give its value in params/,
    ],
  ])("refuses %j", async (sql, message) => {
    await expect(lab.query(sql, { range })).rejects.toThrow(message);
  });

  it("refuses to run without a range and shows how", async () => {
    const options = {} as { range: typeof range };
    await expect(lab.query("SELECT 1", options)).rejects.toThrow(
      /Can't run a query without a time range: pass \{ range: last\("3 months"\) \}/,
    );
  });
});
