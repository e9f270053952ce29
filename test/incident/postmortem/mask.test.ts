import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chart } from "../../../src/chart/chart.js";
import { table } from "../../../src/chart/table.js";
import { readResultFile } from "../../../src/incident/postmortem/folder/result-file.js";
import { postmortem } from "../../../src/incident/postmortem/postmortem.js";
import { verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
import { makeResult, weeklyCounts } from "../../chart/support/sample-results.js";
import { logLines, NOW } from "./report.js";

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
    expect((await verifyPostmortem(folder)).intact).toBe(true);
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
    expect(lines.origin.question).toBeUndefined();
  });

  test("keeps a chart of addresses true: as many bars and lines as there are addresses, and says so", async () => {
    const addresses = ["203.0.113.7", "2001:db8::1", "203.0.113.8", "203.0.113.7", "10.0.0.1"];
    const free = makeResult({ client: addresses, n: [1, 2, 3, 4, 5] }, undefined, {
      sql: "SELECT client, n FROM logs",
    });
    const report = about().add(chart.points(free, { x: "n", y: "n", colour: "client" }), {
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
    expect((await verifyPostmortem(folder)).intact).toBe(true);
  });

  test("in titles and marks of other charts too, as an analyst wrote them", async () => {
    const counts = chart.area(weeklyCounts(), {
      title: "Load of 203.0.113.7",
      marks: [chart.mark("2026-03-02", "2001:db8::7 blocked")],
    });
    const report = about().add(counts, { name: "load", caption: "What 203.0.113.7 did" });
    const folder = await report.save(join(parent, "titles"), { now: NOW });
    const svg = readFileSync(join(folder, "charts", "load.svg"), "utf8");
    expect(svg).toContain("Load of [IPv4]");
    expect(svg).toContain("[IPv6] blocked");
    expect((await verifyPostmortem(folder)).intact).toBe(true);
  });

  test("measurements are no log lines: a version of four numbers stays", async () => {
    const folder = await about().save(join(parent, "versions"), { now: NOW });
    const counts = await readResultFile(readFileSync(join(folder, "data", "counts.parquet")));
    expect(new Set(counts.column("software_version"))).toContain("3.8.1.2");
  });

  test("unless asked otherwise, and then the document warns", async () => {
    const folder = await about().save(join(parent, "open"), { now: NOW, maskAddresses: false });
    const lines = await readResultFile(readFileSync(join(folder, "data", "lines.parquet")));
    expect(lines.rows()).toEqual(logLines().rows());
    expect(lines.origin.question).toEqual(logLines().origin.question);
    expect(readFileSync(join(folder, "postmortem.md"), "utf8")).toMatch(
      /Addresses are not masked: not for publication/,
    );
  });
});
