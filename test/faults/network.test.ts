import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { parseAddress } from "../../src/database/address.js";
import { answerGate, type Change } from "../support/answer-gate.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

/** A server of one's own, such as that of compose.yaml, as a user with a password. */
const configured = process.env["PROBELAB_TEST_SERVER"];
let server: RestrictedServer | undefined;
let target: URL;
beforeAll(async () => {
  server = configured === undefined ? await restrictedServer() : undefined;
  target = new URL(configured ?? server?.as("ro2") ?? "");
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** The body as `write` leaves it; `summary` false: the server does not say how many rows it sent. */
const body =
  (write: (body: Buffer) => Buffer, summary = true): Change =>
  (answer) => {
    answer.body = write(answer.body);
    if (!summary) delete answer.headers["x-clickhouse-summary"];
  };
/** Another answer. */
const said =
  (text: string, status = 200, headers: Record<string, string> = {}): Change =>
  (answer) => {
    Object.assign(answer, { status, headers, body: Buffer.from(text) });
  };
/** An answer with a status that no ClickHouse gives, and a page that tells all that was asked. */
const page =
  (status: number, headers: Record<string, string> = {}): Change =>
  (answer, response, request) =>
    said(echo(request), status, headers)(answer, response, request);
function echo({ headers }: IncomingMessage): string {
  const lines = Object.entries(headers)
    .filter(([name]) => /auth|cookie|clickhouse/.test(name))
    .map(([name, value]) => `${name}: ${String(value)}`);
  return `<html><pre>\n${lines.join("\n")}\n</pre></html>`;
}
/** Does something else than answer, the first `times` times that each gate is asked. */
function instead(times: number, act: Change): Change {
  const asked = new Map<string | undefined, number>();
  return (answer, response, request) => {
    const { host } = request.headers;
    asked.set(host, (asked.get(host) ?? 0) + 1);
    return (asked.get(host) ?? 0) <= times ? act(answer, response, request) : undefined;
  };
}
/** Bytes as they are, below HTTP; then the connection ends. */
const raw = (write: (body: Buffer) => string): Change =>
  instead(9, (answer, response) => {
    const { socket } = response;
    response.detachSocket(socket!);
    socket?.write(write(answer.body), "latin1", () => socket.destroy());
  });
const drip = (every: number, size: number): Change =>
  instead(9, (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(Buffer.alloc(size)), every);
    response.on("close", () => clearInterval(timer));
  });
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

const ROWS =
  '[{"n":0,"text":"0"},{"n":1,"text":"1"},{"n":2,"text":"2"},{"n":3,"text":"3"},{"n":4,"text":"4"}]';
const OPEN = "ClickHouse";
const CHECK_URL =
  "Check that its URL is that of ClickHouse's HTTP interface (usually port 8123, or 8443 with https)";
const AGAIN = "The server, or what stands before it, is overloaded or down: ask again";
const cut = (found: string) =>
  `SERVER/probelab sent an answer that is not whole (${found}). Ask again; where it happens again, look for a proxy between here and the server that cuts answers.`;
const strange = (found: string) =>
  `SERVER/probelab gave an answer that ClickHouse does not give: ${found}. ${CHECK_URL}.`;
const answered = (status: string, remedy: string) =>
  `SERVER/probelab answered with HTTP status ${status}. ${remedy}.`;
const BROKEN = cut("the connection broke");
/** How long it is hangs on how long the server took, and on its version. */
const SOME_JSON = cut("some characters of JSON");
const NO_END = cut("some bytes without the mark of its end");
const silent =
  "SERVER/probelab does not answer (ECONNRESET). Check that the server is up and reachable from here, and that its URL and port are right.";
const LATE =
  "SERVER/probelab gave no whole answer within 2.2 s. Check that the server is up and not overloaded; or take a shorter range, a coarser bucket or more filters, or raise connect({ limits: { maxSeconds } }).";
const OTHER =
  "SERVER/probelab sent the answer of another question. Look for a proxy between here and the server that mixes answers up.";
const MEMORY =
  "Memory limit exceeded (MEMORY_LIMIT_EXCEEDED, code 241). Remedy: take a shorter range or more filters, or raise connect({ limits: { maxMemory } }).";
const tooLong = (bytes: string) =>
  `SERVER/probelab sends more than ${bytes} bytes. Aggregate in the query, take a shorter range, or raise connect({ limits: { maxMemory } }).`;
const ERROR = "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)";

/** What comes of it: of a question, of one for rows, of opening the database, or of all three. */
type Told = string | readonly [ask: string, rows: string, open: string];

const FAULTS: readonly (readonly [name: string, Told, Change, maxSeconds?: number])[] = [
  ["a delay", [ROWS, ROWS, OPEN], () => setTimeout(300)],
  [
    "gzip, cut",
    BROKEN,
    (answer) => {
      answer.body = half(gzipSync(answer.body));
      answer.headers = { ...answer.headers, "content-encoding": "gzip" };
    },
  ],
  ["gzip that nobody tells", strange("bytes of another kind"), body((bytes) => gzipSync(bytes))],
  ["half the body", [NO_END, SOME_JSON, SOME_JSON], body(half, false)],
  ["all but a byte", [NO_END, ROWS, OPEN], body((bytes) => bytes.subarray(0, -1))],
  [
    "a tail",
    [NO_END, SOME_JSON, SOME_JSON],
    body((bytes) => Buffer.concat([bytes, Buffer.from("</html>")])),
  ],
  ["a page", strange("<html>Welcome</html>"), body(() => Buffer.from("<html>Welcome</html>"))],
  [
    "a page that tells what was asked",
    strange("<html><pre> authorization: Basic *** </pre></html>"),
    (answer, _, request) => (answer.body = Buffer.from(echo(request))),
  ],
  ["JSON of somebody else", strange('{"a":"ok"}'), body(() => Buffer.from('{"a":"ok"}'))],
  [
    "more rows counted",
    [cut("5 of 7 rows"), cut("5 of 7 rows"), OPEN],
    ({ headers }) => (headers["x-clickhouse-summary"] = '{"result_rows":"7"}'),
  ],
  [
    "another question's name",
    [OTHER, OTHER, OPEN],
    ({ headers }) => (headers["x-clickhouse-query-id"] = "another"),
  ],
  ["a reset", silent, instead(9, (_, response) => response.socket?.resetAndDestroy())],
  [
    "a reset, once",
    [`${ROWS} asked 2 times`, ROWS, OPEN],
    instead(1, (_, response) => response.socket?.resetAndDestroy()),
  ],
  ["no HTTP", strange("Parse Error: Expected HTTP/, RTSP/ or ICE/"), raw(() => "SSH-2.0-x\r\n")],
  [
    "chunks without an end",
    BROKEN,
    raw((bytes) => {
      const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
      return `${head}${bytes.length.toString(16)}\r\n${bytes.toString("latin1")}\r\n`;
    }),
  ],
  ["silence", LATE, instead(9, () => setTimeout(60_000, undefined, { ref: false })), 0.2],
  ["a slow drip", LATE, drip(50, 1), 0.2],
  [
    "a body without end",
    [tooLong("10,000,000"), tooLong("10,000,000"), tooLong("1,048,576")],
    drip(1, 2 ** 16),
  ],
  [
    "301 to elsewhere",
    answered(
      "301 (Moved Permanently)",
      "It points to https://other.example: give the URL that it really has",
    ),
    page(301, { location: "https://ann:pw@other.example/x?a=b" }),
  ],
  [
    "401",
    answered(
      "401 (Unauthorized)",
      "Check the user and password, and that a proxy lets you through",
    ),
    page(401),
  ],
  [
    "404",
    answered(
      "404 (Not Found)",
      `${CHECK_URL}; behind a proxy's path it is https://host/path/database`,
    ),
    page(404),
  ],
  [
    "413",
    answered(
      "413 (Payload Too Large)",
      "Give shorter texts or shorter lists, or have the proxy before the server allow them",
    ),
    page(413),
  ],
  [
    "429",
    answered("429 (Too Many Requests)", `${AGAIN} in 7 s`),
    page(429, { "retry-after": "7" }),
  ],
  ["503", answered("503 (Service Unavailable)", `${AGAIN} later`), page(503)],
  ["an error after a 200", MEMORY, said(ERROR, 200, { "x-clickhouse-exception-code": "241" })],
  ["an error after a 200, untold", MEMORY, said(ERROR)],
  [
    "an error of another version",
    "SERVER/probelab refused the request: Poco::Exception. Code: 1000, e.code() = 0, Not found: x. Check what was asked.",
    said("Poco::Exception. Code: 1000, e.code() = 0, Not found: x", 500),
  ],
  [
    "an error that tells what was asked",
    "No database. You sent <html><pre> authorization: Basic *** </pre></html> (UNKNOWN_DATABASE, code 81). Remedy: check the database's name, in the SQL or at the end of the URL.",
    (answer, response, request) =>
      said(
        `Code: 81. DB::Exception: No database. You sent ${echo(request)} (UNKNOWN_DATABASE)`,
        500,
      )(answer, response, request),
  ],
];

const SQL = "SELECT number AS n, toString(number) AS text FROM numbers(5)";
const KINDS = ["ask", "rows", "open"] as const;

describe("between the server and us", () => {
  const cases = FAULTS.flatMap(([name, told, change, maxSeconds = 60]) =>
    KINDS.map((kind, at) => {
      const one = typeof told === "string" ? told : (told[at] ?? "");
      const isAnswer = /^(\[|ClickHouse)/.test(one);
      const error = `Can't ${kind === "open" ? "connect" : "ask"}: ${one}`;
      return { kind, name, change, maxSeconds, told: isAnswer ? one : error };
    }),
  );

  it.concurrent.for(cases)("$kind: $name", async (fault, { expect }) => {
    const { kind, change, maxSeconds, told } = fault;
    const { username, password } = target;
    await using gate = await answerGate(`${target.origin}${target.pathname}`);
    const url = gate.url.replace("//", `//${username}:${password}@`);
    const source = parseAddress(url, { root: "/", name: "test" });
    const ask = async (): Promise<string> => {
      if (kind === "open") gate.on("system.settings", change);
      await using database = await Database.open(source, { maxSeconds, maxMemory: 10_000_000 });
      if (kind === "open") return /^\d+\./.test(database.version) ? OPEN : "no version";
      gate.on("numbers(5)", change);
      if (kind === "rows") return JSON.stringify(await database.rows(SQL, {}, "ask"));
      const { table, retries } = await database.ask({ sql: SQL, parameters: {}, action: "ask" });
      return JSON.stringify(table.objects()) + (retries > 0 ? ` asked ${retries + 1} times` : "");
    };
    const text = await ask().catch((error: unknown) => (error as Error).message);
    const secrets = `:${password}|${btoa(`${username}:${password}`)}|ann:|pw@`;
    expect(text).not.toMatch(new RegExp(secrets));
    const shown = text.replaceAll(new URL(gate.url).origin, "SERVER");
    expect(shown.replace(/(?<![\d,])\d{3,} (characters|bytes)/, "some $1")).toBe(told);
  });
});
