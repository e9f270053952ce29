import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { between, chart, type Lab, type Result, table } from "../../src/index.js";
import { readResultText, resultText } from "../../src/incident/figure.js";
import { csv } from "../../src/chart/render/save.js";
import { ownDatabase } from "../support/own-database.js";
import { parseCsv } from "./support/parse-csv.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), probe_cc LowCardinality(String), seconds Nullable(Float64))
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(`INSERT INTO fastpath VALUES ('2026-05-01 12:00:00', 'IT', NULL)`);
  lab = await own.open();
});
afterAll(() => lab.close());

const ask = (sql: string, day = "2026-05-01"): Promise<Result> =>
  lab.query(sql, { range: between(day, `${day.slice(0, 8)}02`) });

describe("a chart of a free query that finds nothing", () => {
  const from = "FROM fastpath WHERE {range}";
  test.each([
    [
      "bar",
      `SELECT probe_cc, count() AS n ${from} GROUP BY probe_cc`,
      "probe_cc",
      "Number by country",
    ],
    [
      "line",
      `SELECT toStartOfHour(measurement_start_time) AS t, avg(seconds) AS s ${from} GROUP BY t`,
      "t",
      "s",
    ],
    [
      "area",
      `SELECT toDate(measurement_start_time) AS day, count() AS n ${from} GROUP BY day`,
      "day",
      "Number",
    ],
    [
      "dot",
      `SELECT seconds, toUInt8(1) AS n, probe_cc AS cc ${from}`,
      "n",
      "Seconds against number",
    ],
  ] as const)("is a %s chart that says why it is empty", async (mark, sql, x, title) => {
    const result = await ask(sql, "2026-01-01");
    const options = mark === "dot" ? { x, y: "seconds" } : {};
    const made = chart[mark](result, options);
    const { spec } = made;
    expect([result.numRows(), spec["width"], made.data.names[0]]).toEqual([0, 1000, x]);
    expect(spec["title"]).toMatchObject({ text: [title] });
    expect(JSON.stringify(spec["title"])).toContain("1 Jan 2026.");
    expect(await made.svg()).toContain("No data: The query found no rows in the range.");
    // A postmortem draws it again from its file.
    const again = await readResultText(resultText(result));
    expect(again.origin.columns).toEqual(result.origin.columns);
    expect(chart[mark](again, options).spec).toEqual(spec);
  });

  test("is one too where all its values are missing", async () => {
    const svg = await chart.bar(await ask(`SELECT probe_cc, seconds ${from}`)).svg();
    expect(svg).toContain("No data: Seconds is unknown in the only row.");
    expect(svg).toContain(">IT<");
  });
});

const WITHIN = "{start:DateTime64(3)} < {end:DateTime64(3)}";

test.each([28, 28_000])(
  "a line has a series for each array, however many rows: %i",
  async (rows) => {
    const tags = "[if(number % 2 = 0, 'dnscheck', 'ndt')] AS tags";
    const result = await ask(
      `SELECT number AS x, number % 10 AS y, ${tags} FROM numbers(${rows}) WHERE ${WITHIN}`,
    );
    const { names, rows: drawn } = chart.line(result, { x: "x", y: "y", color: "tags" }).data;
    const cell = (name: string) => drawn.map((row) => row[names.indexOf(name)]);
    expect(cell("tags").map(String)).toEqual(
      cell("x").map((x) => (Number(x) % 2 === 0 ? "dnscheck" : "ndt")),
    );
  },
);

test("a table and CSV hold every digit and every element", async () => {
  const uuid = "61f0c404-5cb3-11e7-907b-a6006ad3dba0";
  const shown = table(
    await ask(
      `SELECT toUInt64(18446744073709551615) AS big, [toUInt8(1), 2] AS list, [toDateTime('2026-05-01 00:00:00', 'UTC')] AS times, map('a', toUUID('${uuid}')) AS ids, toFixedString('ab', 4) AS fixed FROM numbers(1) WHERE ${WITHIN}`,
    ),
  );
  const rest = ["[1,2]", '["2026-05-01T00:00:00.000Z"]', `{"a":"${uuid}"}`, "ab"];
  expect(shown.model.rows[0]).toEqual(["18,446,744,073,709,551,615", ...rest]);
  const { names, rows } = shown.data;
  expect(parseCsv(csv(names, rows))[1]).toEqual(["18446744073709551615", ...rest]);
});
