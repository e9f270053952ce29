import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { chart, postmortem, table } from "../../src/index.js";
import { readParquet } from "../support/read-parquet.js";
import { makeResult, weeklyCounts } from "../chart/support/sample-results.js";
import { ownFolder } from "../support/temporary-directory.js";
import { checkHashes, filesOf, read, rowsOf, textOf } from "./folder.js";
import { logLines, NOW } from "./report.js";

const SECRET = /203\.0\.113\.|2001:db8|jo@example/;
const small = { width: 120, height: 60 };
const begun = { title: "T", severity: 4, detectedAt: "2026-05-04" } as const;
const parent = ownFolder();
let folder = "";

function about() {
  const lines = logLines();
  return postmortem({
    ...begun,
    title: "203.0.113.7 floods the API",
    authors: ["A. Operator (ops@example.net)"],
    status: "see 203.0.113.7",
    summary: "203.0.113.7 asked too often",
  })
    .add(table(lines, { caption: "Lines of 203.0.113.7" }), { name: "lines" })
    .add(chart.bar(lines, { ...small, x: "host", title: "By 203.0.113.7" }), { name: "hosts" })
    .finding("From 203.0.113.7 and 2001:db8::1, as https://example.org/a?ip=203.0.113.7 shows")
    .timeline("2026-05-04 08:40:10", "jo@example.org calls", "https://203.0.113.9/dashboard")
    .action({
      what: "Ask jo@example.org",
      owner: "jo.owner@team.example",
      reference: "https://example.org/c?ip=203.0.113.7",
    });
}

/** Rows of free SQL, with addresses in odd places. */
function odd() {
  const annotations = [chart.annotation("2026-03-02", "2001:db8::7 blocked")];
  const clients = ["203.0.113.7", "2001:db8::1", "203.0.113.8", "203.0.113.7", "10.0.0.1"];
  const free = makeResult({ client: clients, n: [1, 2, 3, 4, 5], s: [2, 1, 4, 3, 5] });
  const nested = makeResult({
    named: [{ "203.0.113.10": "x", n: 1 }],
    map: [new Map([["203.0.113.11", ["2001:db8::1"]]])],
    bytes: [new Uint8Array([1, 2])],
  });
  const sql = "SELECT 1 AS n -- jo@example.net\nFROM fastpath WHERE {range}";
  const load = { ...small, title: "Load of 203.0.113.7", annotations };
  return about()
    .add(chart.dot(free, { ...small, x: "n", y: "s", color: "client" }), { name: "clients" })
    .add(table(nested), { name: "nested" })
    .add(chart.area(weeklyCounts(), load), { name: "load" })
    .add(table(makeResult({ n: [1] }, undefined, { sql })), { name: "commented" })
    .add(table(weeklyCounts().with(logLines().table)), { name: "changed" })
    .add(table(logLines(), { caption: "Asked by 203.0.113.7, jo@example.org" }));
}

beforeAll(async () => {
  folder = await odd().save(join(parent, "masked"), { now: NOW });
});

describe("report.save(folder) masks addresses", () => {
  test("of rows, queries, titles, annotations and words, in every file and its name", () => {
    const text = textOf(folder);
    expect(SECRET.exec(text)?.[0]).toBeUndefined();
    expect(filesOf(folder).join(" ")).toContain("asked-by-ipv4-e-mail.csv");
    expect(filesOf(folder).join(" ")).not.toMatch(/203|jo-example/);
    checkHashes(folder);
  });

  test("but not the names of people; a link that held one is a link no longer", () => {
    const text = read(folder, "postmortem.md");
    expect(text).toContain("- Status: see \\[IPv4\\]");
    expect(text).toMatch(/\\\[IPv4\\\] asked too often/);
    expect(text).toContain("ops@example.net");
    expect(text).toContain("jo.owner@team.example");
    expect(text).not.toMatch(/\]\(<https:/);
  });

  test("so that two addresses stay two, in rows and on charts, and says so", () => {
    expect(rowsOf(folder, "hosts").map(([host]) => host)).toEqual([
      ...["host", "[IPv4 1]", "[IPv4 2]", "api-1"],
    ]);
    const clients = rowsOf(folder, "clients").map(([client]) => client);
    expect(clients.slice(1)).toEqual([
      ...["[IPv4 1]", "[IPv6 1]", "[IPv4 2]", "[IPv4 1]", "[IPv4 3]"],
    ]);
    expect(read(folder, "charts/clients.svg")).toContain("E-mail and IP addresses are masked.");
    expect(read(folder, "charts/load.svg")).toMatch(/Load of \[IPv4 1\][^]*\[IPv6 1\] blocked/);
  });

  test("in values that hold others: keys and members of tuples, maps and lists", async () => {
    const { rows } = await readParquet(readFileSync(join(folder, "data", "nested.parquet")));
    const map = new Map([["[IPv4 2]", ["[IPv6 1]"]]]);
    expect(rows).toEqual([[{ "[IPv4 1]": "x", n: 1 }, map, [1, 2]]]);
  });

  test("leaves no query that answers something else: it fails and says why", () => {
    const incomplete = /-- Addresses in it are masked.*\nSELECT throwIf\(1, /;
    expect(read(folder, "queries/lines.sql")).toMatch(incomplete);
    expect(read(folder, "queries/commented.sql")).toMatch(incomplete);
    expect(read(folder, "queries/commented.sql")).toContain("-- [e-mail 1]\nFROM");
    expect(read(folder, "queries/load.sql")).not.toContain("throwIf");
  });

  test("but not versions, wherever they are written", async () => {
    const versions = ["3.8.1.2", "3.8.1.3"];
    const rows = makeResult({
      software_version_2: versions,
      input: ["http://203.0.113.7/", "of 3.8.1.2"],
    });
    const title = "Runs of 3.8.1.2 end early, seen at 203.0.113.7";
    const report = postmortem({ ...begun, title })
      .add(chart.area(weeklyCounts({ versions }), { ...small, title }), { name: "counts" })
      .add(table(rows, { caption: title }), { name: "rows" });
    const saved = await report.save(join(parent, "versions"), { now: NOW });
    const shown = title.replace("203.0.113.7", String.raw`\[IPv4\]`);
    expect(read(saved, "postmortem.md").split("\n")[0]).toBe(`# ${shown}`);
    expect(read(saved, "charts/counts.svg")).toContain("3.8.1.2");
    expect(rowsOf(saved, "rows").slice(1)).toEqual([
      ["3.8.1.2", "http://[IPv4 1]/"],
      ["3.8.1.3", "of 3.8.1.2"],
    ]);
  });

  test("and refuses a column that is called after one", async () => {
    const named = makeResult({ day: [1], "203.0.113.7": [30] });
    for (const content of [table(named), chart.line(named)]) {
      const report = postmortem(begun).add(content, { name: "named" });
      await expect(report.save(join(parent, "refused"))).rejects.toThrow(
        /Can't mask the chart or table named: its column "203\.0\.113\.7" is called after/,
      );
    }
  });

  test("also in what a notebook shows; no file may be named after one", () => {
    const text = String(about());
    expect(text).toContain("Lines of");
    expect(text).not.toMatch(SECRET);
    const lines = table(logLines());
    expect(() => about().add(lines, { name: "host-203-0-113-7" })).toThrow(
      /"host-203-0-113-7": it holds an address, .* such as "host-ipv4"\.$/,
    );
    expect(() => about().add(lines, { name: "day-2026-05-04-10-v3-10-0" })).not.toThrow();
  });

  test("unless asked otherwise, and then the document warns", async () => {
    const open = await about().save(join(parent, "open"), { now: NOW, maskAddresses: false });
    expect(rowsOf(open, "lines")[1]?.[0]).toBe("203.0.113.7");
    expect(read(open, "postmortem.md")).toMatch(/not masked: not for publication/);
  });
});
