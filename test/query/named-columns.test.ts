import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, chart, count, type Lab, share, sum, type TimeRange } from "../../src/index.js";
import type { ColumnMeaning } from "../../src/query/named-columns.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  // Four a day and version from 2026-04-01 on, of which every second of 3.10 is blocked.
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_version LowCardinality(String),
      probe_asn UInt32, anomaly LowCardinality(String)) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer
    .command(`INSERT INTO fastpath SELECT toDateTime('2026-04-01 00:00:00', 'UTC') + intDiv(number, 3) * 21600, 'r',
    ['3.10', '3.9', '3.8-rc1'][number % 3 + 1], 64500 + number % 7, if(number % 3 = 0 AND intDiv(number, 3) % 2 = 0, 't', 'f') FROM numbers(360)`);
  lab = await own.open();
});
afterAll(() => lab.close());

const range = between("2026-04-03", "2026-04-28");
const WEEKLY = `SELECT toStartOfWeek(measurement_start_time, 1) AS t, software_version,
  countIf(anomaly = 't') / count() AS blocked, count() AS n
FROM fastpath WHERE {range} GROUP BY t, software_version`;
const NAMED = {
  t: "week",
  software_version: "version",
  blocked: share(),
  n: count({ label: "Measurements" }),
} as const;
const ask = (sql: string, columns: Record<string, ColumnMeaning>, within: TimeRange = range) =>
  lab.query(sql, { range: within, columns });

describe("lab.query(sql, { columns })", () => {
  it("lets a chart order versions, write shares as percent and mark incomplete weeks", async () => {
    const result = await ask(WEEKLY, NAMED);
    const { time, dimensions, measures, kinds } = result.origin.columns;
    expect(time).toEqual({
      name: "t",
      every: "week",
      incomplete: [new Date("2026-03-30"), new Date("2026-04-27")],
    });
    expect(dimensions).toEqual([{ name: "software_version", order: ["3.8-rc1", "3.9", "3.10"] }]);
    expect(measures).toEqual([
      { name: "blocked", label: "blocked", unit: "share", additive: false, missing: "gap" },
      { name: "n", label: "Measurements", unit: "", additive: true, missing: "zero" },
    ]);
    expect(kinds).toEqual({ t: "time", software_version: "text", blocked: "number", n: "number" });
    expect(result.origin.notes).toEqual([
      "The weeks of 30 Mar 2026 and 27 Apr 2026 are covered only in part by the range.",
    ]);
    const drawn = chart.line(result);
    const spec = JSON.stringify(drawn.spec);
    expect(spec).toContain('["3.8-rc1","3.9","3.10"]');
    expect(spec).toMatch(/%/);
    const svg = await drawn.svg();
    expect(svg).toMatch(/>50 ?%</);
  });

  it("orders other dimensions by size, the rest last, and gives numbers of networks as text", async () => {
    const sql = `SELECT if(probe_asn < 64504, toString(probe_asn), 'other') AS network, probe_asn % 2 AS odd, sum(probe_asn = 64501) + count() AS n
      FROM fastpath WHERE {range} GROUP BY network, odd`;
    const result = await ask(sql, {
      network: "dimension",
      odd: "dimension",
      n: sum("n", { unit: "measurements" }),
    });
    const [network, odd] = result.origin.columns.dimensions;
    expect(network?.order[0]).toBe("64501");
    expect(network?.order.at(-1)).toBe("other");
    expect(network?.other).toBe("other");
    expect([...(odd?.order ?? [])].sort()).toEqual(["0", "1"]);
    expect(new Set(result.column("odd"))).toEqual(new Set(["0", "1"]));
    const { spec } = chart.bar(result, { x: "network", y: "n", color: null });
    expect(JSON.stringify(spec)).toMatch(/\["64501",("\d+",){3}"other"\]/);
  });

  it("says that a missing row is zero, but that nothing is known where the SQL leaves out groups", async () => {
    const sql =
      "SELECT toStartOfDay(measurement_start_time) AS t, count() AS n FROM fastpath WHERE {range} GROUP BY t";
    const missing = async (end: string) =>
      (await ask(`${sql} ${end}`, { t: "day", n: count() })).origin.columns.measures[0]?.missing;
    expect(await missing("ORDER BY t -- LIMIT 5")).toBe("zero");
    expect(await missing("HAVING n > 5")).toBe("gap");
    expect(await missing("ORDER BY n LIMIT 5")).toBe("gap");
  });

  const refused: [columns: Record<string, unknown>, message: RegExp][] = [
    [
      { software_verson: "version" },
      /"software_verson".*: did you mean "software_version"\? It has t,/,
    ],
    [{ nowhere: "dimension" }, /"nowhere" in the answer\. It has t, software_version, blocked, n/],
    [
      { software_version: "week" },
      /"software_version", a LowCardinality\(String\), as the start of weeks: give a time, such as toStartOfInterval\(measurement_start_time, INTERVAL 1 WEEK, 'UTC'\)/,
    ],
    [{ software_version: share() }, /"software_version", .* as share\(\): it must hold a number/],
    [{ t: count() }, /"t", a Date, as count\(\): it must hold a number/],
    [{ t: "dimension" }, /"t", a Date, as a dimension: give a text/],
    [{ blocked: share({ anomaly: "t" }) }, /as share\(\) of some rows: the SQL says of which/],
    [{ n: count({ where: { anomaly: "t" } }) }, /as count\(\) of some rows/],
    [{ t: "wek" }, /"t" as "wek": pass a span, "dimension", "version"/],
    [{ t: 7 }, /"t" as 7: pass a span/],
    [{ n: { measure: "constructor" } }, /pass a span/],
  ];
  it.each(refused)("refuses %j", async (columns, message) => {
    await expect(ask(WEEKLY, columns as Record<string, ColumnMeaning>)).rejects.toThrow(message);
  });

  it("refuses unknown options, in plain JavaScript too", async () => {
    const options = { range, colums: NAMED };
    await expect(lab.query(WEEKLY, options as { range: TimeRange })).rejects.toThrow(
      /Can't run a query with the option "colums": did you mean columns\?/,
    );
    await expect(ask(WEEKLY, "week" as unknown as Record<string, ColumnMeaning>)).rejects.toThrow(
      /name columns by "week"/,
    );
  });
});
