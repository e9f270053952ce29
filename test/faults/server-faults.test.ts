import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { arrowTable } from "../../src/database/arrow.js";
import { Database } from "../../src/database/database.js";
import { parseAddress } from "../../src/database/address.js";
import { answerGate, type AnswerGate, type PassingAnswer } from "../support/answer-gate.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

let server: RestrictedServer;
let gate: AnswerGate;
/** The database behind the gate. */
let gated: Database;
beforeAll(async () => {
  server = await restrictedServer();
  gate = await answerGate(server.url);
  for (const query of [
    "CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, n UInt32) ENGINE = MergeTree ORDER BY measurement_start_time",
    "INSERT INTO fastpath SELECT toDateTime('2026-05-01', 'UTC') + number, toString(number), number FROM numbers(100000)",
  ])
    await server.admin.command({ query });
  gated = await open(gate.url);
});
beforeEach(() => {
  gate.open();
  gate.ask(() => undefined);
});
afterAll(async () => {
  await gated[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const open = (url = server.url, limits = {}) =>
  Database.open(parseAddress(url, { root: "/", name: "test" }), limits);
const question = (sql: string) => ({
  sql,
  parameters: {},
  action: "ask",
});

/** Asks as a way does that drops "wait for the end": errors come in the middle of an answer. */
function atOnce(): void {
  gate.ask((url) => {
    for (const name of ["wait_end_of_query", "buffer_size"]) url.searchParams.delete(name);
    url.searchParams.set("max_block_size", "100");
  });
}

const LATE_ERROR = "throwIf(number = 60000, 'in the middle')";

it.each([
  ["46", "Unknown function toBool: While processing toBool(readonly). (UNKNOWN_FUNCTION)"],
  ["115", "Unknown setting additional_result_filter. (UNKNOWN_SETTING)"],
])(
  "says of a server that doesn't know the first question (%s) which ones can be asked",
  async (code, said) => {
    gate.on("system.settings", (answer) => {
      answer.status = 404;
      answer.headers = { "x-clickhouse-exception-code": code };
      answer.body = Buffer.from(
        `Code: ${code}. DB::Exception: ${said} (version 21.8.15.7 (altinity build))`,
      );
    });
    await expect(open(gate.url)).rejects.toThrow(
      /^Can't connect: Unknown .*Check that the server is ClickHouse 22\.8 or newer \(SELECT version\(\)\); an older one can't be asked\.$/,
    );
  },
);

it("refuses to connect through a proxy that adds a limit to the URL", async () => {
  for (const name of ["limit", "offset"]) {
    gate.ask((url) => url.searchParams.set(name, "5"));
    await expect(open(gate.url), name).rejects.toThrow(
      /Look for (a proxy .* that adds limit or offset|limit, offset or)/,
    );
    gate.ask((url) => url.searchParams.append(name, "1"));
    await expect(open(gate.url), name).rejects.toThrow(/Look for /);
  }
});

describe("an error in the middle of an answer", () => {
  it("is the server's own, where it waits for the end", async () => {
    await using database = await open();
    await expect(
      database.ask(question(`SELECT number, ${LATE_ERROR} FROM numbers(100000)`)),
    ).rejects.toThrow(/^Can't ask: in the middle: .*FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, code 395/);
  });

  it("is one after a 200 and rows as well", async () => {
    await using database = await open(gate.url);
    atOnce();
    const sql = `SELECT number, ${LATE_ERROR} AS x FROM numbers(100000)`;
    let status = 0;
    gate.on("numbers(100000)", (answer) => (status = answer.body.length > 0 ? answer.status : 0));
    await expect(database.ask(question(sql))).rejects.toThrow(
      /^Can't ask: (in the middle: .*code 395|.* is not whole \(the connection broke\))/,
    );
    expect(status).toBe(200);
  });
});

/** How many questions run whose SQL holds a text. */
async function running(part: string): Promise<number> {
  const answer = await server.admin.query({
    query:
      "SELECT count() AS n FROM system.processes WHERE query LIKE {part:String} AND query NOT LIKE '%system.processes%'",
    query_params: { part: `%${part}%sipHash64(number)%` },
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ n: string }>();
  return Number(row?.n ?? 0);
}

async function until(wanted: number, part: string): Promise<void> {
  for (let tries = 0; (await running(part)) !== wanted; tries++) {
    if (tries > 500) throw new Error(`${part}: not ${wanted} in system.processes`);
    await setTimeout(20);
  }
}

describe("a question that is stopped", () => {
  const slow = (mark: string) =>
    `SELECT '${mark}' AS m, max(sipHash64(number)) FROM system.numbers`;

  it("by its signal stops at the server", async () => {
    await using database = await open();
    const stop = new AbortController();
    const asked = database.ask({ ...question(slow("stopped here")), signal: stop.signal });
    const refused = expect(asked).rejects.toThrow("Stopped: ask.");
    await until(1, "stopped here");
    stop.abort();
    await refused;
    await until(0, "stopped here");
  });

  it("by KILL QUERY is told, and not asked again", async () => {
    await using database = await open();
    const asked = database.ask(question(slow("killed here")));
    const refused = expect(asked).rejects.toThrow(/QUERY_WAS_CANCELLED.*code 394/);
    await until(1, "killed here");
    await server.admin.command({
      query: "KILL QUERY WHERE query LIKE '%killed here%' AND query NOT LIKE '%KILL%' SYNC",
    });
    await refused;
    expect(await running("killed here")).toBe(0);
  });
});

describe("a server that goes away", () => {
  it("frozen is told when the time is over; killed within a question, at once", async () => {
    await using own = await restrictedServer();
    await using database = await open(own.url, { maxSeconds: 1 });
    own.signal("SIGSTOP");
    // The signal may take a moment.
    const untilRefused = async () => {
      for (;;) await database.ask(question("SELECT 1"));
    };
    await expect(untilRefused()).rejects.toThrow(/gave no whole answer within 3 s/);
    own.signal("SIGCONT");
    expect((await database.ask(question("SELECT 1 AS n"))).table.object(0)).toEqual({ n: 1 });
    const asked = database.ask(question("SELECT max(sipHash64(number)) FROM system.numbers"));
    const refused = expect(asked).rejects.toThrow(/does not answer \(ECONN\w+\)/);
    await setTimeout(200);
    own.signal("SIGKILL");
    await refused;
    await expect(database.ask(question("SELECT 1"))).rejects.toThrow(
      /does not answer \(ECONNREFUSED\)\. Check that the server is up/,
    );
  });
});

const MANY = "SELECT number, toString(number) AS text FROM numbers(200000)";
const askMany = () => gated.ask({ sql: MANY, parameters: {}, action: "count" });
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
    expect((await askMany()).table.numRows()).toBe(200_000);
    expect(places.length).toBeGreaterThanOrEqual(5);
    for (const at of places.map((place, index) => place + 4 * (index % 2))) {
      gate.on("FROM numbers(200000)", (answer) => {
        answer.body = answer.body.subarray(0, at);
        withoutSummary(answer);
      });
      await expect(askMany(), `cut at ${at}`).rejects.toThrow(NOT_WHOLE);
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
      await expect(askMany()).rejects.toThrow(rows);
    }
  });
});

it("arrowTable(bytes) refuses every cut that loses a row, also where data looks like the mark of the end", async () => {
  let body: Buffer = Buffer.alloc(0);
  gate.on("4294967295", (answer) => (body = answer.body));
  const { table } = await gated.ask({
    sql: "SELECT toUInt64(4294967295) AS n FROM numbers(3)",
    parameters: {},
    action: "ask",
  });
  expect(table.array("n")).toEqual([4294967295, 4294967295, 4294967295]);
  for (let size = 0; size < body.length; size++) {
    const rows = await arrowTable(body.subarray(0, size)).then(
      (table) => table.array("n"),
      () => table.array("n"),
    );
    expect(rows, `${size} bytes`).toEqual(table.array("n"));
  }
  await arrowTable(body);
});

describe("an abort after the answer's headers", () => {
  it("ends the connection and the question, which never answers", async () => {
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      gate.on("SELECT 17", ({ body }, response) => {
        response.writeHead(200, { "content-length": body.length });
        response.write(body.subarray(0, 50), () => stop.abort());
        response.on("close", resolve);
      });
    });
    const asked = gated.ask({ ...question("SELECT 17 AS n"), signal: stop.signal });
    await expect(asked).rejects.toThrow("Stopped: ask.");
    await closed;
  });
});
