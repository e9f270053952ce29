import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { escapeXml } from "../../src/base/xml.js";
import { chart } from "../../src/index.js";
import { jsonScript } from "../../src/chart/render/page/page-document.js";
import { readOrigins } from "../../src/chart/render/origin.js";
import { weeklyCounts } from "../chart/support/sample-results.js";
import { probelab } from "../support/command.js";

const TITLE = 'Runs & "probes" <é>';
const drawn = chart.area(weeklyCounts(), { width: 300, height: 100, title: TITLE });
const record = (drawn.spec.usermeta as { probelab: Record<string, unknown> }).probelab;
let directory = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "probelab-origin-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The output of the command for files of the test's folder. */
const origin = (...given: string[]) => probelab(["origin", ...given], { cwd: directory });

const page = (origin: unknown) => `<html>${jsonScript("probelab-origin", origin)}</html>`;

describe("readOrigins(bytes)", () => {
  test.each(["svg", "png", "html"])("reads the record of a saved .%s", async (format) => {
    const path = await drawn.save(join(directory, `saved.${format}`));
    expect(readOrigins(readFileSync(path))).toEqual([record]);
  });

  test("reads every chart of an SVG and of a page", () => {
    const origin = `<metadata><origin xmlns="urn:probelab:origin">${escapeXml(JSON.stringify(record))}</origin></metadata>`;
    const svg = `\uFEFF<?xml version="1.0"?><!-- <html> --><!DOCTYPE svg [<!ENTITY x "y">]>
<svg xmlns="http://www.w3.org/2000/svg"><g><svg>${origin}</svg>
<svg>${origin}</svg><origin>no</origin></g></svg>`;
    expect(readOrigins(Buffer.from(svg))).toEqual([record, record]);
    const script = (source: string) => jsonScript("probelab-origin", { source });
    const html = `<!doctype html><html><script>const x = "<script class='probelab-origin'>";</script>
<figure aria-label="A &amp; B">${script("one </script>")}</figure>${script("two")}</html>`;
    expect(readOrigins(Buffer.from(html))).toMatchObject([
      { source: "one </script>" },
      { source: "two" },
    ]);
  });

  const wide = JSON.stringify({ source: "x".repeat(17 * 1024 * 1024) });
  const text = (data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
    return Buffer.concat([signature, length, Buffer.from("iTXt"), data, Buffer.alloc(4)]);
  };
  const packed = (data: Buffer) =>
    text(Buffer.concat([Buffer.from("probelab\0\x01\0\0\0", "latin1"), data]));
  test.each<[string, string | Buffer, RegExp]>([
    ["an empty file", "", /no origin in it: pass an SVG, a PNG or a page/],
    ["Parquet", "PAR1\n", /in Parquet see the metadata/i],
    ["a page whose origin is null", page(null), /no origin in it/],
    [
      "deep JSON",
      page([]).replace("[]", "[".repeat(1e5) + "]".repeat(1e5)),
      /a damaged origin in it/,
    ],
    [
      "a PNG cut short",
      Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\xffIHDR", "latin1"),
      /no origin in it/,
    ],
    ["a PNG that unpacks to 17 MiB", packed(deflateSync(wide)), /a damaged origin in it/],
  ])("refuses %s in one sentence", (_, content, message) => {
    expect(() => readOrigins(Buffer.from(content))).toThrow(message);
  });

  test.each(["<html><figure aria-label=", '<svg><origin xmlns="urn:probelab:origin">'])(
    "20 MB of %s are read in one pass",
    (part) => {
      const bytes = Buffer.from(part.repeat(20_000_000 / part.length));
      expect(() => readOrigins(bytes)).toThrow(/origin/);
    },
    20_000,
  );
});

describe("probelab origin FILE", () => {
  test("prints range, source, cost, parameters, reductions, notes, versions and SQL", async () => {
    const about = {
      sql: "SELECT 1,\n\t2\nFROM fastpath",
      range: { start: "2026-02-01T00:00:00Z", end: "2026-05-01T00:00:00Z", timeZone: "UTC" },
      source: "embedded:.probelab",
      server: "25.8.2.1",
      rowsRead: 4_812_003,
      bytesRead: 96_240_060,
      seconds: 0.4123,
      askedAt: "2026-05-01T09:30:00Z",
      parameters: { from: "2026-02-01", versions: ["3.8"] },
      reductions: ["Cut to 10 rows."],
      notes: ["One.", "Two."],
      versions: { probelab: "1.2.3" },
    };
    writeFileSync(join(directory, "a.html"), page(about));
    writeFileSync(join(directory, "plain.svg"), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    expect(await origin("plain.svg", "a.html")).toEqual({
      code: 1,
      err: "Can't read the origin of plain.svg: no origin in it: pass an SVG, a PNG or a page as chart.save wrote it (a tool that saves it again may strip it). In Parquet see the metadata probelab.origin, in a spec usermeta.probelab.\n",
      out: `a.html
  Range       2026-02-01 to 2026-05-01 UTC
  Source      embedded:.probelab, ClickHouse 25.8.2.1
  Read        4,812,003 rows, 96.2 MB, in 0.412 s
  Asked at    2026-05-01 09:30 UTC
  Parameters  from = 2026-02-01
              versions = ["3.8"]
  Reductions  Cut to 10 rows.
  Notes       One.
              Two.
  Versions    probelab 1.2.3
  SQL
    SELECT 1,
        2
    FROM fastpath

`,
    });
  });

  test("names a missing file and a folder", async () => {
    mkdirSync(join(directory, "folder"), { recursive: true });
    const { code, err } = await origin("\x1b[2Jx.svg", "folder");
    expect(code).toBe(1);
    // Node from 26 on names the folder once more.
    expect(err.replace("read 'folder'", "read")).toBe(
      "Can't read the origin of <U+001B>[2Jx.svg: ENOENT: no such file or directory, open '<U+001B>[2Jx.svg'\n" +
        "Can't read the origin of folder: EISDIR: illegal operation on a directory, read\n",
    );
  });

  test.each([[[]], [["--json"]]])("steers no terminal and holds no password: %j", async (flags) => {
    const hostile = "\x1b]0;pwned\x07\x9b31m\u202Etxt\u2028\r\nnext";
    const about = {
      sql: `SELECT '${hostile}' FROM url('http://admin:hunter2@host/?password=hunter2')`,
      parameters: { [hostile]: hostile, api_key: "hunter2", address: "https://u:hunter2@h/" },
      source: `http://user:hunter2@db:8123/x${hostile}`,
      notes: [hostile],
      password: "hunter2",
    };
    writeFileSync(join(directory, "hostile.html"), page(about));
    const { code, out } = await origin("hostile.html", ...flags);
    expect(code).toBe(0);
    expect(out).toContain("pwned");
    expect(out).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
    expect(out).not.toContain("hunter2");
  });
});
