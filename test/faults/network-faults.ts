import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Change, PassingAnswer } from "../support/answer-gate.js";

/** Something that happens between the server and us. */
export interface Fault {
  readonly name: string;
  /** What comes of it: of a question, of one for rows, of opening the database, or of all three. */
  readonly told: string | readonly [ask: string, rows: string, open: string];
  readonly change: Change;
  /** The question's limit; 60 where nothing is to be late. */
  readonly maxSeconds?: number;
}

const encoded =
  (encoding: string, write: (body: Buffer) => Buffer): Change =>
  (answer) => {
    answer.body = write(answer.body);
    answer.headers = { ...answer.headers, "content-encoding": encoding };
  };

/** The body as `write` leaves it; `summary` false: the server does not say how many rows it sent. */
const body =
  (write: (body: Buffer) => Buffer, summary = true): Change =>
  (answer) => {
    answer.body = write(answer.body);
    if (!summary) delete answer.headers["x-clickhouse-summary"];
  };

/** An answer with a status that no ClickHouse gives, and a page that tells all that was asked. */
const status =
  (code: number, headers: Record<string, string> = {}): Change =>
  (answer, _, request) => {
    answer.status = code;
    answer.headers = headers;
    answer.body = Buffer.from(echo(request.headers));
  };

function echo(headers: object): string {
  const lines = Object.entries(headers)
    .filter(([name]) => /auth|cookie|clickhouse/.test(name))
    .map(([name, value]) => `${name}: ${String(value)}`);
  return `<html><pre>\n${lines.join("\n")}\n</pre></html>`;
}

/** Does something else than answer, the first `times` times that each gate is asked. */
function instead(times: number, act: (...given: Parameters<Change>) => unknown): Change {
  const asked = new Map<string | undefined, number>();
  return (answer, response, request) => {
    const { host } = request.headers;
    asked.set(host, (asked.get(host) ?? 0) + 1);
    return (asked.get(host) ?? 0) <= times ? act(answer, response, request) : undefined;
  };
}

/** Bytes as they are, below HTTP. */
const raw = (write: (answer: PassingAnswer) => Buffer | string, end = true): Change =>
  instead(9, (answer, response) => {
    const { socket } = response;
    response.detachSocket(socket!);
    socket?.write(write(answer), () => end && socket.destroy());
  });

const head = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`;
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

const drip = (every: number, size: number): Change =>
  instead(9, (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(Buffer.alloc(size)), every);
    response.on("close", () => clearInterval(timer));
  });

/** A text in the place of the answer. */
const said =
  (text: string, code = 200, headers: Record<string, string> = {}): Change =>
  (answer) => {
    answer.status = code;
    answer.body = Buffer.from(text);
    answer.headers = headers;
  };

export const ROWS =
  '[{"n":0,"text":"0"},{"n":1,"text":"1"},{"n":2,"text":"2"},{"n":3,"text":"3"},{"n":4,"text":"4"}]';
const VERSION = "ClickHouse";
const WHOLE = [ROWS, ROWS, VERSION] as const;
const again = (times: number) => `${ROWS} asked ${times} times`;

const CHECK_URL =
  "Check that its URL is that of ClickHouse's HTTP interface (usually port 8123, or 8443 with https)";
const CHECK_USER = "Check the user and password, and that a proxy lets you through";
const SHORTER =
  "Give shorter texts or shorter lists, or have the proxy before the server allow them";
const overloaded = (when: string) =>
  `The server, or what stands before it, is overloaded or down: ask again ${when}`;

const cut = (found: string) =>
  `SERVER/probelab sent an answer that is not whole (${found}). Ask again; where it happens again, look for a proxy between here and the server that cuts answers.`;
const BROKEN = cut("the connection broke");
/** How long it is hangs on how long the server took, and on its version. */
const SOME_JSON = cut("some characters of JSON");
const strange = (found: string) =>
  `SERVER/probelab gave an answer that ClickHouse does not give: ${found}. ${CHECK_URL}.`;
const silent = (code: string) =>
  `SERVER/probelab does not answer (${code}). Check that the server is up and reachable from here, and that its URL and port are right.`;
const answered = (code: number, words: string, remedy: string) =>
  `SERVER/probelab answered with HTTP status ${code} (${words}). ${remedy}.`;
const LATE =
  "SERVER/probelab gave no whole answer within 2.2 s. Check that the server is up and not overloaded; or take a shorter range, a coarser bucket or more filters, or raise connect({ limits: { maxSeconds } }).";
const OTHER =
  "SERVER/probelab sent the answer of another question. Look for a proxy between here and the server that mixes answers up.";
const MEMORY =
  "Memory limit exceeded (MEMORY_LIMIT_EXCEEDED, code 241). Remedy: take a shorter range or more filters, or raise connect({ limits: { maxMemory } }).";
const tooLong = (bytes: string) =>
  `SERVER/probelab sends more than ${bytes} bytes. Aggregate in the query, take a shorter range, or raise connect({ limits: { maxMemory } }).`;
const TOO_LONG = [tooLong("10,000,000"), tooLong("10,000,000"), tooLong("1,048,576")] as const;

export const FAULTS: readonly Fault[] = [
  { name: "nothing", told: WHOLE, change: () => undefined },
  { name: "a delay", told: WHOLE, change: () => setTimeout(300) },
  { name: "gzip", told: WHOLE, change: encoded("gzip", (bytes) => gzipSync(bytes)) },
  { name: "gzip, cut", told: BROKEN, change: encoded("gzip", (bytes) => half(gzipSync(bytes))) },
  {
    name: "gzip of half an answer",
    told: [cut("some bytes without the mark of its end"), SOME_JSON, SOME_JSON],
    change: encoded("gzip", (bytes) => gzipSync(half(bytes))),
  },
  {
    name: "gzip that nobody tells",
    told: strange("bytes of another kind"),
    change: body((bytes) => gzipSync(bytes)),
  },
  {
    name: "half the body",
    told: [cut("some bytes without the mark of its end"), SOME_JSON, SOME_JSON],
    change: body(half, false),
  },
  {
    name: "all but a byte",
    told: [cut("some bytes without the mark of its end"), ROWS, VERSION],
    change: body((bytes) => bytes.subarray(0, -1)),
  },
  {
    name: "a tail",
    told: [cut("7 bytes after its end"), SOME_JSON, SOME_JSON],
    change: body((bytes) => Buffer.concat([bytes, Buffer.from("</html>")])),
  },
  {
    name: "a page",
    told: strange("<html>Welcome to nginx</html>"),
    change: body(() => Buffer.from("<html>Welcome to nginx</html>")),
  },
  {
    name: "a page that tells what was asked",
    told: strange("<html><pre> authorization: Basic *** </pre></html>"),
    change: (answer, _, request) => (answer.body = Buffer.from(echo(request.headers))),
  },
  {
    name: "JSON of somebody else",
    told: strange('{"status":"ok"}'),
    change: body(() => Buffer.from('{"status":"ok"}')),
  },
  {
    name: "more rows counted",
    told: [cut("5 of 7 rows"), cut("5 of 7 rows"), VERSION],
    change: ({ headers }) => (headers["x-clickhouse-summary"] = '{"result_rows":"7"}'),
  },
  {
    name: "another question's name",
    told: [OTHER, OTHER, VERSION],
    change: ({ headers }) => (headers["x-clickhouse-query-id"] = "another"),
  },
  {
    name: "no headers of ClickHouse",
    told: [OTHER, OTHER, VERSION],
    change: (answer) => (answer.headers = {}),
  },
  {
    name: "a reset",
    told: silent("ECONNRESET"),
    change: instead(9, (_, response) => response.socket?.resetAndDestroy()),
  },
  {
    name: "a reset, once",
    told: [again(2), ROWS, VERSION],
    change: instead(1, (_, response) => response.socket?.resetAndDestroy()),
  },
  {
    name: "no HTTP",
    told: strange("Parse Error: Expected HTTP/, RTSP/ or ICE/"),
    change: raw(() => "SSH-2.0-OpenSSH_9.6\r\n"),
  },
  { name: "the head alone", told: BROKEN, change: raw(() => head("content-length: 100")) },
  {
    name: "chunks without an end",
    told: BROKEN,
    change: raw(({ body: bytes }) =>
      Buffer.concat([
        Buffer.from(`${head("transfer-encoding: chunked")}${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from("\r\n"),
      ]),
    ),
  },
  {
    name: "silence",
    told: LATE,
    change: instead(9, () => setTimeout(60_000, undefined, { ref: false })),
    maxSeconds: 0.2,
  },
  { name: "a slow drip", told: LATE, change: drip(50, 1), maxSeconds: 0.2 },
  { name: "a body without end", told: TOO_LONG, change: drip(1, 2 ** 16) },
  { name: "204", told: answered(204, "No Content", CHECK_URL), change: status(204) },
  {
    name: "301 to elsewhere",
    told: answered(
      301,
      "Moved Permanently",
      "It points to https://other.example: give the URL that it really has",
    ),
    change: status(301, { location: "https://ann:pw@other.example/x?a=b" }),
  },
  ...(
    [
      [401, "Unauthorized", CHECK_USER],
      [404, "Not Found", CHECK_URL],
      [407, "Proxy Authentication Required", CHECK_USER],
      [413, "Payload Too Large", SHORTER],
      [429, "Too Many Requests", overloaded("later")],
      [500, "Internal Server Error", CHECK_URL],
      [503, "Service Unavailable", overloaded("later")],
    ] as const
  ).map(([code, words, remedy]) => ({
    name: String(code),
    told: answered(code, words, remedy),
    change: status(code),
  })),
  {
    name: "429 with a time",
    told: answered(429, "Too Many Requests", overloaded("in 7 s")),
    change: status(429, { "retry-after": "7" }),
  },
  {
    name: "an error after a 200",
    told: MEMORY,
    change: said("Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)", 200, {
      "x-clickhouse-exception-code": "241",
    }),
  },
  {
    name: "an error after a 200, untold",
    told: MEMORY,
    change: said("Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)"),
  },
  {
    name: "an error of another version",
    told: "SERVER/probelab refused the request: Poco::Exception. Code: 1000, e.code() = 0, Not found: x. Check what was asked.",
    change: said("Poco::Exception. Code: 1000, e.code() = 0, Not found: x", 500),
  },
  {
    name: "an error that tells what was asked",
    told: "No database. You sent <html><pre> authorization: Basic *** </pre></html> (UNKNOWN_DATABASE, code 81). Remedy: check the database's name, in the SQL or at the end of the URL.",
    change: (answer, _, request) => {
      answer.status = 500;
      answer.body = Buffer.from(
        `Code: 81. DB::Exception: No database. You sent ${echo(request.headers)} (UNKNOWN_DATABASE)`,
      );
    },
  },
];
