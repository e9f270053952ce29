import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { arrowTable } from "../../src/database/arrow.js";
import { Database } from "../../src/database/database.js";
import { parseSource } from "../../src/database/source.js";
import { answerGate, type AnswerGate, type PassingAnswer } from "../support/answer-gate.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

let server: RestrictedServer;
let gate: AnswerGate;
let database: Database;

beforeAll(async () => {
  server = await restrictedServer();
  gate = await answerGate(server.url);
  await server.admin.command({
    query:
      "CREATE TABLE fastpath (measurement_start_time DateTime, report_id String) ENGINE = MergeTree ORDER BY measurement_start_time",
  });
  database = await Database.open(parseSource(gate.url, { root: "/", name: "test" }));
});
beforeEach(() => gate.open());
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const SQL = "SELECT number, toString(number) AS text FROM numbers(200000)";
const ask = () => database.ask({ sql: SQL, parameters: {}, action: "count" });
const NOT_WHOLE =
  /^Can't count: http:\/\/127\.0\.0\.1:\d+\/probelab sent an answer that is not whole/;

/** Where a message of the stream begins: the bounds of its batches. */
function bounds(body: Buffer): number[] {
  const found: number[] = [];
  const begin = Buffer.from([0xff, 0xff, 0xff, 0xff]);
  for (let at = body.indexOf(begin); at >= 0; at = body.indexOf(begin, at + 1)) {
    if (at % 8 === 0) found.push(at);
  }
  return found;
}

function withoutSummary(answer: PassingAnswer): void {
  delete answer.headers["x-clickhouse-summary"];
}

describe("Database.ask(question) never takes a cut answer for a whole one", () => {
  it("at the bounds of record batches, or 4 bytes after them", async () => {
    let places: number[] = [];
    gate.on("FROM numbers(200000)", ({ body }) => (places = bounds(body)));
    expect((await ask()).table.numRows()).toBe(200_000);
    expect(places.length).toBeGreaterThanOrEqual(5);
    for (const at of places.map((place, index) => place + 4 * (index % 2))) {
      gate.on("FROM numbers(200000)", (answer) => {
        answer.body = answer.body.subarray(0, at);
        withoutSummary(answer);
      });
      await expect(ask(), `cut at ${at}`).rejects.toThrow(NOT_WHOLE);
    }
  });

  it("with the mark of the end put after a cut: the summary counts the rows", async () => {
    // Of its schema alone, and of one batch.
    for (const [messages, rows] of [
      [1, /not whole \(0 of 200,000 rows\)/],
      [2, /not whole \(\d[\d,]+ of 200,000 rows\)/],
    ] as const) {
      gate.on("FROM numbers(200000)", (answer) => {
        const end = answer.body.subarray(-8);
        const kept = answer.body.subarray(0, bounds(answer.body)[messages]);
        answer.body = Buffer.concat([kept, end]);
      });
      await expect(ask()).rejects.toThrow(rows);
    }
  });
});

it("arrowTable(bytes) refuses every cut, also where data looks like the mark of the end", async () => {
  let body: Buffer = Buffer.alloc(0);
  gate.on("4294967295", (answer) => (body = answer.body));
  const { table } = await database.ask({
    sql: "SELECT toUInt64(4294967295) AS n FROM numbers(3)",
    parameters: {},
    action: "ask",
  });
  expect(table.array("n")).toEqual([4294967295, 4294967295, 4294967295]);
  for (let size = 0; size < body.length; size++) {
    await expect(arrowTable(body.subarray(0, size)), `${size} bytes`).rejects.toThrow();
  }
  await arrowTable(body);
});

it("Database.rows(sql) refuses every cut, and a table that was cut is learned again", async () => {
  let size = 0;
  gate.on("DESCRIBE", ({ body }) => (size = body.length));
  await database.rows("DESCRIBE TABLE fastpath");
  for (const kept of [0, 1, Math.floor(size / 2), size - 3]) {
    gate.on("DESCRIBE", (answer) => {
      answer.body = answer.body.subarray(0, kept);
      withoutSummary(answer);
    });
    await expect(database.table("measurements")).rejects.toThrow(/not whole/);
  }
  gate.on("DESCRIBE", (answer) => {
    const json = JSON.parse(answer.body.toString()) as { data: unknown[] };
    json.data.pop();
    answer.body = Buffer.from(JSON.stringify(json));
  });
  await expect(database.table("measurements")).rejects.toThrow(/not whole \(1 of 2 rows\)/);
  gate.open();
  const { columns } = await database.table("measurements");
  expect([...columns.keys()]).toEqual(["measurement_start_time", "report_id"]);
});
