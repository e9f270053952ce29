import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { hideSecrets, keepSecret, redact } from "../../src/base/redact.js";
import { ProbelabError } from "../../src/index.js";
import { StreamBatch, type CellOutput } from "../../src/kernel/outputs.js";

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

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" },
};
const html = (text: string) => text.replace(/[&<>"']/g, (each) => ENTITIES[each]!);
const cut = (text: string, between: string) => {
  const characters = Array.from(text);
  return characters.slice(0, 3).join("") + between + characters.slice(3).join("");
};

/** How programs write a text into another. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "HTML, named": html,
  "HTML, decimal": (text) => Array.from(text, (each) => `&#${each.codePointAt(0)};`).join(""),
  "HTML, hexadecimal": (text) =>
    Array.from(text, (each) => `&#x${each.codePointAt(0)!.toString(16).toUpperCase()};`).join(""),
  "HTML of HTML": (text) => html(html(text)),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  "JSON of JSON": (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  "JSON in a script": (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[<>&']/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`),
  CSV: (text) => text.replaceAll('"', '""'),
  "SQL, doubled": (text) => text.replaceAll("'", "''"),
  "SQL, backslashes": (text) => text.replace(/['\\]/g, "\\$&"),
  URL: (text) => encodeURIComponent(text),
  "URL in small letters": (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  "URL of a URL": (text) => encodeURIComponent(encodeURIComponent(text)),
  "a form": (text) => new URLSearchParams({ "": text }).toString().slice(1),
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex"),
  "hex in capitals": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "a header of Basic": (text) => Buffer.from(`ann:${text}`).toString("base64"),
  "a header of Basic, cut": (text) =>
    Buffer.from(`ann:${text}`).toString("base64").replace(/=+$/, ""),
  "a header of Basic as hex": (text) => Buffer.from(`ann:${text}`).toString("hex"),
  "with a colour inside": (text) => cut(text, "\u001b[31m"),
  "with a line break inside": (text) => cut(text, "\n  "),
};

const PRINTABLE = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const told = fc
  .array(fc.constantFrom(...PRINTABLE, "é", "ß", "€", "𝒳"), { minLength: 8, maxLength: 20 })
  .map((characters) => characters.join(""))
  .filter((text) => text.trim() === text && new Set(text).size > 4);

describe("redact(text) takes out what it was told of", () => {
  it.each(Object.entries(FORMS))("written as %s", (_, form) => {
    fc.assert(
      fc.property(told, (secret) => {
        keepSecret(secret, "ann");
        const written = form(secret);
        for (const text of [written, `before ${written} after`, `"${written}"`]) {
          for (const hidden of [
            hideSecrets(text),
            redact(text),
            new ProbelabError(`Can't read (${text}).`).message,
          ]) {
            expect(hidden).not.toContain(written);
            expect(hidden).toContain("***");
          }
        }
      }),
      { numRuns: 25, seed: 6 },
    );
  });

  it("a short one only where it is a word of its own", () => {
    keepSecret("demo", "ann");
    expect(redact("login demo failed")).toBe("login *** failed");
    expect(redact("democracy, my_demo1")).toBe("democracy, my_demo1");
  });

  it("and nothing like it", () => {
    keepSecret("it's-secret-9");
    expect(hideSecrets("it's no secret; it&#39;s 9 %27s")).toBe("it's no secret; it&#39;s 9 %27s");
  });

  it("however a printed text is cut into writes", () => {
    const secret = "Zq-pieces-5ecret";
    keepSecret(secret);
    const words = fc.constantFrom(secret, "hello ", "Zq", "Z", "-5", "\n", "xZq-", "ret ");
    const lengths = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 90 });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 5 }), lengths, (parts, cuts) => {
        const text = `<${parts.join("")}>`;
        let shown = "";
        const batch = new StreamBatch((output: CellOutput) => {
          if (output.output_type === "stream") shown += output.text;
        });
        for (let at = 0, turn = 0; at < text.length; at += cuts[turn++]!) {
          batch.write("stdout", text.slice(at, at + cuts[turn]!));
        }
        batch.flush();
        expect(shown).toBe(text.replaceAll(secret, "***"));
      }),
      { numRuns: 300, seed: 5 },
    );
  });
});
