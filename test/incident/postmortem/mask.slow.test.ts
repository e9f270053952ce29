import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chart, postmortem, table } from "../../../src/index.js";
import { readResultFile } from "../../../src/incident/postmortem/folder/result-file.js";
import { verifyPostmortem } from "../../../src/incident/postmortem/folder/manifest.js";
import { makeResult, weeklyCounts } from "../../chart/support/sample-results.js";
import { logLines, NOW } from "./report.js";

const V4 = "198.51.100.1";
const V6 = "2001:db8::7";

/** What free SQL gives that counts the lines of two addresses by day, and names columns after them. */
function byDay(names: readonly [string, string] = [V4, V6]) {
  const days = [1, 2, 3].map((day) => new Date(Date.UTC(2026, 2, day)));
  const sql = `SELECT day, countIf(a) AS \`${names[0]}\`, countIf(b) AS \`${names[1]}\` FROM logs GROUP BY day`;
  return makeResult(
    { day: days, [names[0]]: [30, 10, 20], [names[1]]: [1, 2, 3] },
    {
      dimensions: [],
      measures: [],
      kinds: { day: "time", [names[0]]: "number", [names[1]]: "number" },
    },
    { sql },
  );
}

/** The strokes of a picture's marks. */
function strokes(svg: string): string[] {
  return [...svg.matchAll(/ d="(M[^"]+)"/g)].map(([, path = ""]) => path);
}

const SECRET = /203\.0\.113\.|2001:db8|jo@example/;
let parent = "";

beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "probelab-mask-"));
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function about() {
  const lines = logLines();
  return postmortem({
    title: "203.0.113.7 floods the API",
    severity: 4,
    detectedAt: "2026-05-04",
    authors: ["A. Operator (ops@example.net)"],
    summary: "203.0.113.7 asked too often",
  })
    .add(table(lines, { caption: "Lines of 203.0.113.7" }), { name: "lines" })
    .add(chart.bar(lines, { x: "host", title: "By 203.0.113.7" }), { name: "hosts" })
    .add(chart.area(weeklyCounts({ versions: ["3.8.1.2", "3.8.1.3"] }), { width: 200 }), {
      name: "counts",
    })
    .finding("From 203.0.113.7 and 2001:db8::1")
    .timeline("2026-05-04 08:40:10", "jo@example.org calls", "https://203.0.113.9/dashboard")
    .action({ what: "Ask jo@example.org", owner: "jo.owner@team.example" });
}

/** Everything that a reader could find in the files, also inside compressed parts. */
function textOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      return bytes.toString("latin1") + (entry.name.endsWith(".png") ? pngText(bytes) : "");
    })
    .join("\n");
}

function pngText(png: Buffer): string {
  const at = png.indexOf("iTXtprobelab");
  const length = png.readUInt32BE(at - 4);
  return inflateSync(png.subarray(at + 4 + "probelab".length + 5, at + 4 + length)).toString();
}

describe("report.save(folder) masks addresses", () => {
  test("of log rows, their queries and all words, in every file; names of people and links stay", async () => {
    const folder = await about().save(join(parent, "masked"), { now: NOW });
    const text = textOf(folder);
    expect(SECRET.exec(text)?.[0]).toBeUndefined();
    expect(text).toContain("ops@example.net");
    expect(text).toContain("jo.owner@team.example");
    expect(readFileSync(join(folder, "postmortem.md"), "utf8")).toMatch(
      /\\\[IPv4\\\] asked too often/,
    );
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("in the names of files, which are made of titles", async () => {
    const report = about().add(
      table(logLines(), { caption: "Asked by 203.0.113.7, jo@example.org" }),
    );
    const folder = await report.save(join(parent, "names"), { now: NOW });
    const names = readdirSync(folder, { recursive: true }).join(" ");
    expect(names).toContain("asked-by-ipv4-e-mail.csv");
    expect(names).not.toMatch(/203|jo-example/);
  });

  test("two addresses that rows are grouped by stay two", async () => {
    const folder = await about().save(join(parent, "grouped"), { now: NOW });
    const lines = await readResultFile(readFileSync(join(folder, "data", "hosts.parquet")));
    expect(lines.column("host")).toEqual(["[IPv4 1]", "[IPv4 2]", "api-1"]);
    expect(lines.origin.columns.dimensions[0]?.order).toEqual(["[IPv4 1]", "[IPv4 2]", "api-1"]);
  });

  test("keeps a chart of addresses true: as many bars and lines as there are addresses, and says so", async () => {
    const addresses = ["203.0.113.7", "2001:db8::1", "203.0.113.8", "203.0.113.7", "10.0.0.1"];
    const free = makeResult(
      { client: addresses, n: [1, 2, 3, 4, 5], s: [2, 1, 4, 3, 5] },
      undefined,
      {
        sql: "SELECT client, n, s FROM logs",
      },
    );
    const report = about().add(chart.dot(free, { x: "n", y: "s", color: "client" }), {
      name: "clients",
    });
    const folder = await report.save(join(parent, "numbered"), { now: NOW });
    const masked = await readResultFile(readFileSync(join(folder, "data", "clients.parquet")));
    expect(masked.column("client")).toEqual([
      "[IPv4 1]",
      "[IPv6 1]",
      "[IPv4 2]",
      "[IPv4 1]",
      "[IPv4 3]",
    ]);
    expect(readFileSync(join(folder, "charts", "clients.svg"), "utf8")).toContain(
      "E-mail and IP addresses are masked.",
    );
  });

  test("leaves no query that answers something else: it fails and says why", async () => {
    const folder = await about().save(join(parent, "query"), { now: NOW });
    const query = readFileSync(join(folder, "queries", "lines.sql"), "utf8");
    expect(query).toMatch(/-- Addresses in it are masked.*\nSELECT throwIf\(1, /);
    expect(readFileSync(join(folder, "queries", "counts.sql"), "utf8")).not.toContain("throwIf");
  });

  test("of links, which are links no longer, of the status and of action items", async () => {
    const report = about()
      .set({ status: "see 203.0.113.7" })
      .finding(
        "As https://example.org/a?ip=203.0.113.7 shows",
        "https://example.org/b?ip=203.0.113.7",
      )
      .action({
        what: "x",
        type: "ask 203.0.113.7",
        reference: "https://example.org/c?ip=203.0.113.7",
      });
    const folder = await report.save(join(parent, "links"), { now: NOW });
    const text = readFileSync(join(folder, "postmortem.md"), "utf8");
    expect(text).toContain("| Status | see \\[IPv4\\] |");
    expect(text).not.toMatch(/203|\]\(<https:\/\/example/);
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("in titles and annotations of other charts too, as an analyst wrote them", async () => {
    const counts = chart.area(weeklyCounts(), {
      title: "Load of 203.0.113.7",
      annotations: [chart.annotation("2026-03-02", "2001:db8::7 blocked")],
    });
    const report = about().add(counts, { name: "load", caption: "What 203.0.113.7 did" });
    const folder = await report.save(join(parent, "titles"), { now: NOW });
    const svg = readFileSync(join(folder, "charts", "load.svg"), "utf8");
    expect(svg).toContain("Load of [IPv4 1]");
    expect(svg).toContain("[IPv6 1] blocked");
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("of rows of every table alike, but for versions, wherever they are written", async () => {
    const versions = ["3.8.1.2", "3.8.1.3"];
    const [week] = weeklyCounts().column("t");
    const rows = makeResult(
      {
        t: [week, week],
        software_version_2: versions,
        input: ["http://203.0.113.7/", "of 3.8.1.2"],
      },
      undefined,
      {
        sql: "SELECT 1 FROM fastpath WHERE software_version = '3.9.1.1'",
      },
    );
    const title = "Runs of 3.8.1.2 end early since 3.9.1.1, seen at 203.0.113.7";
    const report = postmortem({ title, severity: 4, detectedAt: "2026-05-04" })
      .add(chart.area(weeklyCounts({ versions }), { width: 200, title }), { name: "counts" })
      .add(table(rows, { caption: title }), { name: "rows" });
    const folder = await report.save(join(parent, "versions"), { now: NOW });
    const read = (name: string) => readFileSync(join(folder, ...name.split("/")), "utf8");
    const shown = (address: string) => title.replace("203.0.113.7", address);
    expect(read("postmortem.md").split("\n")[0]).toBe(`# ${shown(String.raw`\[IPv4\]`)}`);
    expect(read("charts/counts.svg")).toContain("3.8.1.2");
    const counts = await readResultFile(readFileSync(join(folder, "data", "counts.parquet")));
    expect(counts.column("software_version")).toEqual(expect.arrayContaining(versions));
    const masked = await readResultFile(readFileSync(join(folder, "data", "rows.parquet")));
    expect(masked.column("software_version_2")).toEqual(versions);
    expect(masked.column("input")).toEqual(["http://[IPv4 1]/", "of 3.8.1.2"]);
    expect(masked.origin.sql).toContain("'3.9.1.1'");
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("of log figures in the names of columns, alike in the rows, their meaning and the recipe", async () => {
    const result = byDay();
    const report = about()
      .add(table(result), { name: "table" })
      .add(table(result, { columns: ["day", V4], bars: [V4] }), { name: "some" })
      .add(chart.line(result), { name: "first" })
      .add(chart.line(result, { x: "day", y: V6, title: V6 }), { name: "named" });
    const folder = await report.save(join(parent, "columns"), { now: NOW });
    expect(/198.51.100|2001.db8/.exec(textOf(folder))?.[0]).toBeUndefined();
    for (const name of ["table", "some", "first", "named"]) {
      const read = await readResultFile(readFileSync(join(folder, "data", `${name}.parquet`)));
      const { origin } = read;
      expect(read.columnNames()).toEqual(["day", "[IPv4 1]", "[IPv6 1]"]);
      expect(Object.keys(origin.columns.kinds ?? {})).toEqual(read.columnNames());
      expect(origin.notes.at(-1)).toMatch(/^E-mail and IP addresses are masked/);
    }
    expect(readFileSync(join(folder, "data", "named.csv"), "utf8")).toMatch(/^day,\[IPv4 1\]/);
    const svg = readFileSync(join(folder, "charts", "named.svg"), "utf8");
    const open = await chart.line(result, { x: "day", y: V6, title: V6 }).svg();
    expect(strokes(svg)).toEqual(strokes(open));
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("of columns with a meaning: times, dimensions and measures", async () => {
    const result = makeResult(
      { [`t ${V4}`]: [new Date("2026-02-02")], [`of ${V6}`]: ["a"], [V4]: [3] },
      {
        time: { name: `t ${V4}`, every: "week", incomplete: [] },
        dimensions: [{ name: `of ${V6}`, order: ["a", V4], other: V4 }],
        measures: [
          { name: V4, label: `Lines of ${V4}`, unit: V6, additive: true, missing: "zero" },
        ],
      },
      { sql: "SELECT 1 FROM logs_local" },
    );
    const report = about().add(chart.bar(result), { name: "meant" });
    const folder = await report.save(join(parent, "meant"), { now: NOW });
    const { origin } = await readResultFile(readFileSync(join(folder, "data", "meant.parquet")));
    expect(origin.columns).toEqual({
      time: { name: "t [IPv4 1]", every: "week", incomplete: [] },
      dimensions: [{ name: "of [IPv6 1]", order: ["a", "[IPv4 1]"], other: "[IPv4 1]" }],
      measures: [
        {
          name: "[IPv4 1]",
          label: "Lines of [IPv4 1]",
          unit: "[IPv6 1]",
          additive: true,
          missing: "zero",
        },
      ],
    });
    expect(/198.51.100|2001.db8/.exec(textOf(folder))?.[0]).toBeUndefined();
  });

  test("in the specs of free charts; one whose columns are called after addresses is refused", async () => {
    const spec = (field: string) => ({
      mark: "line",
      title: `Asked by ${V4}`,
      width: 120,
      height: 60,
      encoding: {
        x: { field: "day", type: "temporal" },
        y: { field, type: "quantitative" },
      },
    });
    const open = chart.vegaLite(byDay(["first", "second"]), spec("first"));
    const folder = await about()
      .add(open, { name: "free" })
      .save(join(parent, "free"), { now: NOW });
    const svg = readFileSync(join(folder, "charts", "free.svg"), "utf8");
    expect(svg).toContain("Asked by [IPv4 1]");
    expect(strokes(svg)).toEqual(strokes(await open.svg()));
    const named = about().add(chart.vegaLite(byDay(), spec(V6)), { name: "named" });
    await expect(named.save(join(parent, "refused"))).rejects.toThrow(
      /Can't mask the addresses of the chart named: its column "198\.51\.100\.1" is called after one/,
    );
  });

  test("of values that hold others: keys and members of tuples, maps and lists", async () => {
    const free = makeResult(
      {
        named: [{ "203.0.113.10": "x", n: 1 }],
        map: [new Map([["203.0.113.11", ["2001:db8::1"]]])],
        bytes: [new Uint8Array([1, 2])],
      },
      undefined,
      { sql: "SELECT * FROM logs" },
    );
    const report = about().add(table(free), { name: "nested" });
    const folder = await report.save(join(parent, "nested"), { now: NOW });
    const rows = (
      await readResultFile(readFileSync(join(folder, "data", "nested.parquet")))
    ).rows();
    expect(rows).toEqual([
      {
        named: { "[IPv4 1]": "x", n: 1 },
        map: new Map([["[IPv4 2]", ["[IPv6 1]"]]]),
        bytes: [1, 2],
      },
    ]);
    expect(SECRET.exec(textOf(folder))?.[0]).toBeUndefined();
  });

  test("of rows that nothing proves to be none of the logs", async () => {
    const rows = logLines().table;
    const report = about()
      .add(table(weeklyCounts().with(rows)), { name: "changed" })
      .add(table(weeklyCounts().with(rows, { reductions: ["The newest."] })), { name: "reduced" })
      .add(table(makeResult({ m: ["203.0.113.7"] }, undefined, { parameters: { from: "logs" } })), {
        name: "asked",
      });
    const folder = await report.save(join(parent, "unproven"), { now: NOW });
    expect(SECRET.exec(textOf(folder))?.[0]).toBeUndefined();
    expect((await verifyPostmortem(folder)).asSaved).toBe(true);
  });

  test("in the comments of queries, which can't be asked again then", async () => {
    const sql = "SELECT 1 AS measurements -- jo@example.net\nFROM fastpath WHERE {range}";
    const result = makeResult({ measurements: [1] }, undefined, {
      sql,
    });
    const report = about().add(table(result), { name: "commented" });
    const folder = await report.save(join(parent, "comments"), { now: NOW });
    const { origin } = await readResultFile(
      readFileSync(join(folder, "data", "commented.parquet")),
    );
    expect(origin.sql).toBe(sql.replace("jo@example.net", "[e-mail 1]"));
    const query = readFileSync(join(folder, "queries", "commented.sql"), "utf8");
    expect(query).toContain("throwIf");
  });

  test("in what a notebook shows, captions too", () => {
    const text = String(about());
    expect(text).toContain("Lines of");
    expect(text).not.toMatch(SECRET);
  });

  test("and no file is named after an address", () => {
    const lines = table(logLines());
    expect(() => about().add(lines, { name: "host-203-0-113-7" })).toThrow(
      /"host-203-0-113-7": it holds an address, .* such as "host-ipv4"\.$/,
    );
    expect(() => about().add(lines, { name: "day-2026-05-04-10-v3-10-0" })).not.toThrow();
  });

  test("unless asked otherwise, and then the document warns", async () => {
    const folder = await about().save(join(parent, "open"), { now: NOW, maskAddresses: false });
    const lines = await readResultFile(readFileSync(join(folder, "data", "lines.parquet")));
    expect(lines.rows()).toEqual(logLines().rows());
    expect(readFileSync(join(folder, "postmortem.md"), "utf8")).toMatch(
      /Addresses are not masked: not for publication/,
    );
  });
});
