import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { escapeXml } from "../../src/base/xml.js";
import { chart } from "../../src/chart/chart.js";
import { originRecord } from "../../src/render/origin/origin-record.js";
import { pngWithText } from "../../src/render/png.js";
import { runOrigin } from "../../src/cli/origin.js";
import { makeResult, weeklyCounts } from "../chart/support/sample-results.js";

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100, title: 'Runs & "probes" <é>' });
const record = (drawn.spec.usermeta as { probelab: Record<string, unknown> }).probelab;
let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "probelab-origin-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What the command prints for files of the test's folder. */
async function origin(names: string | readonly string[], flags: { json?: true } = {}) {
  const said = { out: "", err: "" };
  const files = [names].flat().map((name) => join(directory, name));
  const code = await runOrigin(files, flags, {
    out: (text) => (said.out += text),
    err: (text) => (said.err += text),
  });
  const short = (text: string) => text.replaceAll(`${directory}/`, "");
  return { code, out: short(said.out), err: short(said.err) };
}

function put(name: string, content: string | Buffer): string {
  writeFileSync(join(directory, name), content);
  return name;
}

/** The records that the command prints as JSON. */
async function records(name: string): Promise<{ title?: string; origin: unknown }[]> {
  const { out, err, code } = await origin(name, { json: true });
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return JSON.parse(out) as { title?: string; origin: unknown }[];
}

describe("probelab origin FILE", () => {
  test.each([
    ["svg", 'Runs & "probes" <é>'],
    ["png", 'Runs & "probes" <é>'],
    ["pdf", 'Runs & "probes" <é>'],
    ["html", 'Runs & "probes" <é>'],
    ["json", 'Runs & "probes" <é>'],
    ["parquet", 'Runs & "probes" <é>'],
  ])("reads the record of a saved .%s, whatever its name", async (format, title) => {
    const path = await drawn.save(join(directory, `saved.${format}`));
    const [found, ...more] = await records(put(`no-extension-${format}`, readFileSync(path)));
    expect(more).toEqual([]);
    expect(found?.origin).toEqual(record);
    expect(found?.title).toEqual(title);
  });

  test("prints range, source, what was read, parameters, reductions, notes, versions and SQL", async () => {
    const result = makeResult({ t: [new Date(0)], n: [1] }, undefined, {
      sql: "SELECT 1,\n\t2\nFROM fastpath",
      parameters: { from: "2026-02-01", versions: ["3.8"] },
      reductions: ["Cut to 10 rows."],
      notes: ["One.", "Two."],
      askedAt: new Date("2026-05-01T09:30:00Z"),
    });
    const origins = { ...originRecord(result.origin), versions: { probelab: "1.2.3" }, extra: [1] };
    put("a.json", JSON.stringify({ title: "Counts", usermeta: { probelab: origins } }));
    expect(await origin("a.json")).toEqual({
      code: 0,
      err: "",
      out: `a.json
  Counts
  Range       2026-02-01 to 2026-05-01 UTC
  Source      embedded:.probelab, ClickHouse 25.8.2.1
  Read        4,812,003 rows, 96.2 MB, in 0.41 s
  Asked at    2026-05-01 09:30 UTC
  Parameters  from = 2026-02-01
              versions = ["3.8"]
  Reductions  Cut to 10 rows.
  Notes       One.
              Two.
  Versions    probelab 1.2.3
  extra       [1]
  SQL
    SELECT 1,
        2
    FROM fastpath

`,
    });
  });

  test("goes on after a file without an origin, and ends with exit code 1", async () => {
    put("plain.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await drawn.save(join(directory, "good.svg"));
    const { code, out, err } = await origin(["plain.svg", "good.svg"]);
    expect(code).toBe(1);
    expect(err).toBe(
      "Can't read the origin of plain.svg: no origin in it: was it exported by probelab, or re-saved by a tool that strips metadata? Take the file that chart.save wrote.\n",
    );
    expect(out).toMatch(/^good\.svg\n/);
  });

  test("runs from the command line", async () => {
    const path = await drawn.save(join(directory, "cli.svg"));
    const run = promisify(execFile);
    const cli = new URL("../../dist/cli/main.js", import.meta.url).pathname;
    const { stdout } = await run(process.execPath, [cli, "origin", "--json", path]);
    expect(JSON.parse(stdout)).toMatchObject([{ file: path, origin: record }]);
    const failed = await run(process.execPath, [cli, "origin", `${path}.not`]).catch(
      (error: unknown) => error as { code: number; stderr: string },
    );
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no such file/) as string,
    });
  }, 240_000);
});

describe("probelab origin of files with several charts", () => {
  test("an SVG with comments, a doctype and two pictures, each with its title", async () => {
    const origin = `<metadata><origin xmlns="urn:probelab:origin">${escapeXml(JSON.stringify(record))}</origin></metadata>`;
    put(
      "other.svg",
      `\uFEFF<?xml version="1.0"?><!-- <html> --><!DOCTYPE svg [<!ENTITY x "y">]>
<svg xmlns="http://www.w3.org/2000/svg"><g>&unknown;
<svg><title>A &lt;1&gt;</title>${origin}</svg>
<svg><title>B</title>${origin}</svg>
<origin>no</origin></g></svg>`,
    );
    const found = await records("other.svg");
    expect(found.map(({ origin }) => origin)).toEqual([record, record]);
    expect(found.map(({ title }) => title)).toEqual(["A <1>", "B"]);
  });

  test("a PNG whose origin isn't packed", async () => {
    const plain = Buffer.concat([
      Buffer.from("probelab\0\0\0\0\0"),
      Buffer.from(JSON.stringify(record)),
    ]);
    const png = pngWithText(await drawn.png(), "other", "x", 1);
    const at = png.indexOf("iTXt") - 4;
    put(
      "plain.png",
      Buffer.concat([png.subarray(0, at), pngChunk("iTXt", plain), png.subarray(at)]),
    );
    // The chart's own packed one comes after it.
    expect((await records("plain.png")).map(({ origin }) => origin)).toEqual([record, record]);
  });

  test("a page of several charts, each with its figure's name", async () => {
    const script = (source: string) =>
      `<script type="application/json" class="probelab-origin">{"source":"${source}"}</script>`;
    put(
      "page.html",
      `<!doctype html><html><script>const x = "<script class='probelab-origin'>";</script>
<figure aria-label="A &amp; B">${script("one \\u003c/script\\u003e")}</figure>
${script("two")}
<script class="probelab-origin">not JSON, not that type</script></html>`,
    );
    expect(await records("page.html")).toMatchObject([
      { title: "A & B", origin: { source: "one </script>" } },
      { origin: { source: "two" } },
    ]);
  });

  test("the charts of a notebook: their Vega-Lite, else their PNG", async () => {
    const output = (data: object) => ({
      cell_type: "code",
      outputs: [{ output_type: "display_data", data }],
    });
    const png = (await drawn.png()).toString("base64");
    put(
      "a.ipynb",
      JSON.stringify({
        nbformat: 4,
        cells: [
          { cell_type: "markdown" },
          output({ "application/vnd.vegalite.v5+json": drawn.spec, "image/png": png }),
          output({ "image/png": [png.slice(0, 76), png.slice(76)] }),
          output({ "text/plain": "42" }),
        ],
      }),
    );
    expect((await records("a.ipynb")).map(({ origin }) => origin)).toEqual([record, record]);
  });

  test("a PDF with several attachments, their names in brackets or in UTF-16", async () => {
    const utf16 = Buffer.from("\ufeff2-a.origin.json", "utf16le").swap16().toString("hex");
    put(
      "several.pdf",
      pdf([
        ["(10-b.origin.json)", "é"],
        [`<${utf16}>`, "a"],
        ["(other.json)", "no"],
        ["(origin.json)", "one", "(A \\(B\\) \\\\)"],
      ]),
    );
    expect(await records("several.pdf")).toMatchObject([
      { title: "2-a", origin: { source: "a" } },
      { title: "10-b", origin: { source: "é" } },
      { title: "A (B) \\", origin: { source: "one" } },
    ]);
  });
});

describe("probelab origin of what it can't read", () => {
  const wide = JSON.stringify({ source: "x".repeat(17 * 1024 * 1024) });
  const png = (data: Buffer) =>
    Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), pngChunk("iTXt", data)]);

  test.each<[string, string | Buffer, RegExp]>([
    ["an empty file", "", /it is empty/],
    ["a CSV", "t,runs\r\n1,2\r\n", /looks like CSV, which has no place for an origin/],
    ["a picture of another kind", Buffer.from("GIF89a"), /format isn't known/],
    ["XML of another kind", "<rss></rss>", /format isn't known/],
    ["JSON cut short", '{"usermeta":', /isn't JSON to its end/],
    ["JSON without an origin", '{"mark":"line"}', /no origin in it/],
    ["JSON of 70 MB", `{"probelab":[${"1,".repeat(35e6)}1]}`, /larger than any chart or notebook/],
    ["a spec whose origin is null", '{"usermeta":{"probelab":null}}', /no origin in it/],
    ["a spec whose origin is a text", '{"usermeta":{"probelab":"x"}}', /its origin isn't a record/],
    ["JSON nested 200,000 deep", "[".repeat(200_000), /damaged/],
    [
      "a record nested 100,000 deep",
      `{"usermeta":{"probelab":{"sql":${"[".repeat(1e5)}${"]".repeat(1e5)}}}}`,
      /isn't a record|damaged/,
    ],
    [
      "an SVG with half a record",
      '<svg><origin xmlns="urn:probelab:origin">{"sql"</origin></svg>',
      /its origin isn't a record/,
    ],
    [
      "an SVG nested 20,000 deep",
      `<svg>${"<g>".repeat(20_000)}<origin xmlns="urn:probelab:origin">`,
      /no origin in it/,
    ],
    [
      "a page with half a script",
      '<!doctype html><script class="probelab-origin" type="application/json">{',
      /no origin in it/,
    ],
    [
      "a PNG cut short",
      Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\xffIHDR", "latin1"),
      /ends in the middle|its end is missing/,
    ],
    [
      "a PNG whose text unpacks to 17 MiB",
      png(Buffer.concat([Buffer.from("probelab\0\x01\0\0\0", "latin1"), deflateSync(wide)])),
      /larger than any/,
    ],
    [
      "a PNG whose text isn't packed as it says",
      png(Buffer.from("probelab\0\x01\0\0\0abc", "latin1")),
      /can't be unpacked/,
    ],
    ["a PDF that holds nothing", "%PDF-1.7\n", /no origin in it as probelab writes it.*\.svg/],
    [
      "a PDF whose attachment is damaged",
      Buffer.from(
        pdf([["(origin.json)", "x"]])
          .toString("latin1")
          .replace(/stream\n../, "stream\nxx"),
        "latin1",
      ),
      /can't be unpacked/,
    ],
    [
      "an encrypted PDF",
      "%PDF-1.7\n1 0 obj <</A 1>> endobj trailer <</Encrypt 1 0 R>>",
      /no origin in it as probelab writes it: a PDF that was encrypted/,
    ],
    ["a Parquet file cut short", Buffer.from("PAR1....abcd"), /begins as Parquet/],
  ])("%s: one sentence, exit code 1", async (_, content, message) => {
    const { code, out, err } = await origin(put("bad", content));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(message);
    expect(err).toMatch(/^Can't read the origin of bad: [^\n]+\n$/);
  });

  test("a missing file and a folder", async () => {
    mkdirSync(join(directory, "folder"), { recursive: true });
    const { code, err } = await origin(["missing.svg", "folder"]);
    expect(code).toBe(1);
    expect(err).toBe(
      "Can't read the origin of missing.svg: there is no such file; check the path.\n" +
        "Can't read the origin of folder: it is no file; give the exported file itself.\n",
    );
  });

  test.each([
    ["unfinished strings", "1 0 obj("],
    ["unfinished arrays", "1 0 obj[ 1 "],
    ["unfinished streams", "1 0 obj<</A 1>>stream\n"],
    ["dictionaries in dictionaries", "1 0 obj<</A"],
    ["attachments", "1 0 obj<</Type/Filespec/F 1 0 R/UF(origin.json)"],
  ])(
    "a PDF of 20 MB of %s is read in one pass",
    async (_, part) => {
      const text = `%PDF-1.7\n${part.repeat(20_000_000 / part.length)}`;
      expect((await origin(put("hostile.pdf", text))).code).toBe(1);
    },
    20_000,
  );

  test.each([
    ["scripts", '<html><script class="probelab-origin" '],
    ["figures", "<html><figure aria-label="],
    ["comments", "<html><!--"],
    ["pictures", '<svg xmlns:a="urn:probelab:origin">'],
    ["origins", '<svg><origin xmlns="urn:probelab:origin">'],
    ["prefixes", `<svg xmlns:${"a".repeat(99)}`],
  ])(
    "markup of 20 MB of %s is read in one pass",
    async (_, part) => {
      const text = part.repeat(20_000_000 / part.length);
      expect((await origin(put("hostile.html", text))).code).toBe(1);
    },
    20_000,
  );
});

describe("what probelab origin prints", () => {
  const hostile = "\x1b]0;pwned\x07\x9b31m\u202Etxt\u2028\r\nnext";
  const spec = {
    title: `Title ${hostile}`,
    usermeta: {
      probelab: {
        sql: `SELECT '${hostile}' FROM url('http://admin:hunter2@host/?password=hunter2')`,
        parameters: { [hostile]: hostile, api_key: "hunter2", address: "https://u:hunter2@h/" },
        source: `http://user:hunter2@db:8123/x${hostile}`,
        range: { start: hostile, end: "2026-01-01T00:00:00Z", timeZone: hostile },
        askedAt: "2026-01-01T00:00:00Z",
        notes: [hostile],
        password: "hunter2",
      },
    },
  };

  test.each([{}, { json: true as const }])(
    "steers no terminal and holds no password: %j",
    async (flags) => {
      const { code, out } = await origin(put("hostile.json", JSON.stringify(spec)), flags);
      expect(code).toBe(0);
      expect(out).toContain("pwned");
      expect(out).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
      expect(out).not.toContain("hunter2");
    },
  );

  test("a file's name neither", async () => {
    const { err } = await origin("\x1b[2Jx");
    expect(err).toBe(
      "Can't read the origin of <U+001B>[2Jx: there is no such file; check the path.\n",
    );
  });

  test("--json is the same record, escaped", async () => {
    const text = "a\u202Eb\x7f\u0085";
    put("same.json", JSON.stringify({ usermeta: { probelab: { source: text } } }));
    expect((await records("same.json"))[0]?.origin).toEqual({ source: text });
  });
});

/** The objects of a PDF with attachments: their names, the sources that their records tell, what they are. */
function pdf(files: readonly (readonly [name: string, source: string, about?: string])[]): Buffer {
  return Buffer.concat([
    Buffer.from("%PDF-1.7\n"),
    ...files.flatMap(([name, source, about], index) => {
      const bytes = deflateSync(JSON.stringify({ source }));
      const described = about === undefined ? "" : `/Desc ${about} `;
      return [
        Buffer.from(
          `${index + 1} 0 obj\n<< /Length ${bytes.length} /Type /EmbeddedFile /Filter /FlateDecode /Params << /Size 9 >> >>\nstream\n`,
        ),
        bytes,
        Buffer.from(
          `\nendstream\nendobj\n${index + 90} 0 obj\n<< /Type /Filespec /UF ${name} ${described}/EF << /F ${index + 1} 0 R >> >>\nendobj\n`,
        ),
      ];
    }),
  ]);
}

/** A chunk of a PNG. */
function pngChunk(type: "iTXt", data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
