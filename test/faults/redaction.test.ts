import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ProbelabError } from "../../src/index.js";
import { keepSecret, redact } from "../../src/base/redact.js";

/** A password that nobody told of, in each place where texts with one come from. */
const places: [place: string, text: (password: string) => string][] = [
  ["a clickhouse:// URL", (p) => `clickhouse://ann:${p}@host/db`],
  ["a URL without a scheme's slashes", (p) => `http://ann:${p}@host:99999/db`],
  ["a URL in a URL", (p) => `http://http://ann:${p}@host/db`],
  ["a list of URLs", (p) => `tcp://ann:${p}@a:9000,tcp://ann:${p}@b:9000`],
  ["a password parameter", (p) => `tcp://host:9000/db?password=${p}`],
  [
    "an address within an address",
    (p) => `https://host/login?next=${encodeURIComponent(`https://h/?a=b&password=${p}&c=d`)}`,
  ],
  ["JDBC", (p) => `jdbc:clickhouse://host:8123/db?user=ann&password=${p}`],
  ["JDBC with semicolons", (p) => `jdbc:ch://host:8123/db;user=ann;password=${p};ssl=1`],
  ["ODBC", (p) => `Driver=ClickHouse;Server=host;UID=ann;PWD=${p}`],
  ["a connection string", (p) => `host=h port=9000 password=${p} user=ann`],
  ["a command line", (p) => `clickhouse-client --user ann --password=${p} --query x`],
  ["an environment", (p) => `PROBELAB_MEASUREMENTS_PASSWORD=${p}`],
  ["JSON", (p) => JSON.stringify({ url: "http://h", password: p })],
  ["JSON in a text", (p) => JSON.stringify(JSON.stringify({ password: p }))],
  ["an inspected object", (p) => inspect({ measurements: { url: "http://h", password: p } })],
  ["a header", (p) => `Authorization: Basic ${Buffer.from(`ann:${p}`).toString("base64")} ${""}`],
  ["a bearer", (p) => `authorization: Bearer ${p}`],
  ["ClickHouse's header", (p) => `X-ClickHouse-User: ann\nX-ClickHouse-Key: ${p}`],
];

describe("redact(text) takes out what nobody told of", () => {
  const password = fc
    .stringMatching(/^[A-Za-z0-9!$*+._~-]{6,24}$/)
    .filter((text) => !/^\*+$/.test(text))
    .map((text) => `Zq${text}`);

  it.each(places)("%s", (_, write) => {
    fc.assert(
      fc.property(password, (secret) => {
        const text = write(secret);
        const base64 = Buffer.from(`ann:${secret}`).toString("base64");
        for (const out of [
          redact(text),
          redact(`before ${text}, after`),
          inspect(new ProbelabError("Can't.", { cause: new Error(text) }), { depth: 9 }),
        ]) {
          expect(out).not.toContain(secret);
          expect(out).not.toContain(base64);
        }
        expect(redact(redact(text))).toBe(redact(text));
      }),
      { numRuns: 40, seed: 17 },
    );
  });

  it("also where the password holds a slash, an @ or a #", () => {
    for (const secret of ["s3c/ret", "s3c@ret", "s3c#ret", "s3c?ret", "s3c:ret"])
      for (const text of [`clickhouse://ann:${secret}@host/db`, `htp://ann:${secret}@h:1/db`]) {
        expect(redact(text)).not.toMatch(/s3c|ret/);
      }
  });
});

describe("redact(text) takes out what it was told of", () => {
  it("in every form in which it is written", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 30, unit: "binary-ascii" }), (secret) => {
        fc.pre(/[a-z0-9]{2}/i.test(secret) && secret.trim() === secret);
        keepSecret(secret, "ann");
        const forms = [
          secret,
          encodeURIComponent(secret),
          JSON.stringify(secret).slice(1, -1),
          Buffer.from(`ann:${secret}`).toString("base64"),
          Buffer.from(`ann:${secret}`).toString("base64").replace(/=+$/, ""),
          Buffer.from(`ann:${secret}`).toString("base64url"),
          Buffer.from(`ann:${secret}`).toString("hex"),
          secret.replaceAll("'", "''"),
          encodeURIComponent(encodeURIComponent(secret)),
          encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
        ];
        for (const form of forms) {
          expect(redact(`x${form}y`)).not.toContain(form);
          expect(new ProbelabError(`Can't read (${form}).`).message).not.toContain(form);
        }
      }),
      { numRuns: 100, seed: 8 },
    );
  });

  it("a short one only where it is a word of its own", () => {
    keepSecret("demo", "ann");
    expect(redact("login demo failed")).toBe("login *** failed");
    expect(redact("democracy, my_demo1")).toBe("democracy, my_demo1");
  });
});

describe("redact(text) leaves alone what is no secret", () => {
  it.each([
    "SELECT count() FROM fastpath WHERE measurement_start_time >= {range_start:DateTime('UTC')}",
    "SELECT token, {password:String} AS p, {token: String} FROM t WHERE key = 'x' AND x>=1",
    "SELECT user, passwords FROM t WHERE token IN ('a', 'b') AND n != 3",
    "http://host:8123/db and mail to ann@example.org",
    "https://host:8443/path?country=IT&limit=5, jo@example.org",
    "Can't use the password: check PROBELAB_MEASUREMENTS_PASSWORD.",
    "Expected one of: token, DoubleColon, OR (SYNTAX_ERROR)",
    "embedded:.probelab",
    "Basic measurements, bearer of news",
    "a=b, key=value; 20260501T000000Z_webconnectivity_IT_1_n1_x",
  ])("%s", (text) => expect(redact(text)).toBe(text));

  it("in a time that grows no faster than the text", () => {
    for (const piece of ["password:", "http://a:", '"password":"', '\\"', "a=", "authorization:"])
      expect(redact(piece.repeat(20_000)).length).toBeGreaterThan(0);
  });
});
