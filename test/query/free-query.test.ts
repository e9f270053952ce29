import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, type Lab } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
const range = between("2026-05-01", "2026-05-02");

beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc LowCardinality(String),
      text String) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(`INSERT INTO fastpath VALUES
    ('2026-04-30 23:59:59', 'r0', 'IT', 'before'), ('2026-05-01 00:00:00', 'r1', 'IT', 'first'),
    ('2026-05-01 23:59:59', 'r2', 'DE', 'last; -- no comment'), ('2026-05-02 00:00:00', 'r3', 'IT', 'after')`);
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
    [
      "SELECT count(), count() FROM fastpath WHERE {range}",
      /two columns named "count\(\)": give each/,
    ],
    ["SELECT 1 AS `__proto__` FROM fastpath WHERE {range}", /column named __proto__.*with AS/],
    [
      "SELECT 1 FROM fastpath WHERE {range:nope}",
      /by nope: no table that you may read has such a column\. Check the table's name/,
    ],
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
