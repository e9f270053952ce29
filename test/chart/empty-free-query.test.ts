import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { between, chart, type Result } from "../../src/index.js";
import { Database } from "../../src/database/database.js";
import { freeQueries } from "../../src/query/free-query.js";
import { openWriter } from "../../src/database/writer.js";
import { readResultText, resultText } from "../../src/incident/figure-file.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

let directory: TemporaryDirectory;
let database: Database;

beforeAll(async () => {
  directory = await temporaryDirectory();
  await using writer = await openWriter(directory.source);
  await writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), probe_cc LowCardinality(String), seconds Nullable(Float64))
      ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await writer.command(`INSERT INTO fastpath VALUES ('2026-05-01 12:00:00', 'IT', NULL)`);
  database = await Database.open(directory.source);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const from = "FROM fastpath WHERE {range}";
const ask = (select: string, day = "2026-01-01"): Promise<Result> =>
  freeQueries(database)(select, { range: between(day, `${day.slice(0, 8)}02`) });

describe("a chart of a free query that finds nothing", () => {
  it.each([
    ["bar", `SELECT probe_cc, count() AS n ${from} GROUP BY probe_cc`, "probe_cc", "n by country"],
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
      "n",
    ],
    ["dot", `SELECT seconds, toUInt8(1) AS n, probe_cc AS cc ${from}`, "n", "Seconds"],
  ] as const)("is a %s chart that says why it is empty", async (mark, sql, x, title) => {
    const result = await ask(sql);
    expect(result.numRows()).toBe(0);
    const made = chart[mark](result, mark === "dot" ? { x, y: "seconds" } : {});
    const { spec } = made;
    expect(spec["width"]).toBe(1000);
    expect(made.data.names[0]).toBe(x);
    expect(spec["title"]).toMatchObject({ text: [title] });
    expect(JSON.stringify(spec["title"])).toContain("2026-01-01 to 2026-01-02 UTC.");
    const svg = await made.svg();
    expect(svg).toContain("No data: The query found no rows in the range.");
    // A postmortem draws it again from its file.
    const again = await readResultText(resultText(result));
    expect(again.origin.columns).toEqual(result.origin.columns);
    expect(chart[mark](again, mark === "dot" ? { x, y: "seconds" } : {}).spec).toEqual(spec);
  });

  it("is one too where all its values are missing", async () => {
    const result = await ask(`SELECT probe_cc, seconds ${from}`, "2026-05-01");
    expect(result.rows()).toEqual([{ probe_cc: "IT", seconds: null }]);
    const svg = await chart.bar(result).svg();
    expect(svg).toContain("No data in this range.");
    expect(svg).toContain(">IT<");
  });
});
