import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pendingWork } from "../../src/base/pending-work.js";
import { keepSecret } from "../../src/base/redact.js";
import { incidentCommand } from "../../src/cli/incident.js";
import { chart, postmortem, table } from "../../src/index.js";
import { versionSummary, weeklyCounts } from "../chart/support/sample-results.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";
import { filesOf, read } from "./folder.js";

let home: TemporaryDirectory;
beforeEach(async () => {
  home = await temporaryDirectory();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-04T08:40:00Z") });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await pendingWork();
  await home[Symbol.asyncDispose]();
});

const at = (time: string) => vi.setSystemTime(new Date(`2026-05-04T${time}:00Z`));
const entries = (folder: string) => readdirSync(join(folder, "entries"));
const small = { width: 300, height: 90 };

/** The exit code of the last command. */
let code: typeof process.exitCode;

/** `probelab incident …` in this process, at its time. @returns what it printed. */
async function incident(...args: readonly string[]): Promise<string> {
  let printed = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  try {
    const name = args[0] === "status" ? [] : ["--author", "A. Operator"];
    const command = incidentCommand.exitOverride();
    await command.parseAsync([args[0]!, ...name, ...args.slice(1)], { from: "user" });
    return printed;
  } finally {
    write.mockRestore();
    code = process.exitCode;
    process.exitCode = undefined;
  }
}

async function open(title = "Probes can't submit", ...more: readonly string[]): Promise<string> {
  const before = new Set(readdirSync(home.path));
  await incident("open", title, "--severity", "2", "--out", home.path, ...more);
  return join(
    home.path,
    readdirSync(home.path).find((name) => !before.has(name))!,
  );
}

describe("postmortem.open(folder)", () => {
  test("goes on where another kernel stopped, and becomes the same postmortem from either", async () => {
    const folder = await open();
    const first = await postmortem.open(folder, { author: "Jo" });
    const counts = chart.area(weeklyCounts(), small);
    first.finding("The weekly count falls.", counts).add(counts, { name: "weekly" });
    const second = await postmortem.open(folder, { author: "B. Analyst" });
    expect(second.draft).toEqual(first.draft);
    second
      .set({ summary: "Runs end early.", respondedAt: new Date() })
      .add(table(versionSummary()), { name: "versions" })
      .timeline("2026-05-04 08:30", "Release", "https://example.org/r")
      .action({ what: "Alert on it", owner: "Jo" });
    const now = "2026-05-04T10:00:00Z";
    const saved = await first.save(undefined, { now });
    expect(saved).toBe(join(folder, "postmortem"));
    const again = await (await postmortem.open(folder)).save(join(home.path, "again"), { now });
    expect(filesOf(saved)).toContain("data/versions.parquet");
    expect(filesOf(again)).toEqual(filesOf(saved));
    for (const path of filesOf(saved)) {
      const same = readFileSync(join(again, path)).equals(readFileSync(join(saved, path)));
      expect(same, path).toBe(true);
    }
    expect(read(saved, "postmortem.json")).toContain('"Release (B. Analyst)"');
    expect(first.draft.authors).toEqual(["A. Operator", "Jo", "B. Analyst"]);
  });

  test("keeps apart what two kernels add under one name at the same time", async () => {
    const folder = await open();
    const [one, other] = [await postmortem.open(folder), await postmortem.open(folder)];
    const [counts, summary] = [chart.area(weeklyCounts(), small), table(versionSummary())];
    one.add(counts, { name: "weekly" }).finding("It is the count.", counts);
    other.add(summary, { name: "weekly" }).finding("It is the summary.", summary);
    const { draft, figures } = await one.reload();
    expect(figures.map(({ name, content }) => [name, content.constructor.name])).toEqual([
      ["weekly", "Chart"],
      ["weekly-2", "Table"],
    ]);
    expect(draft.findings.map(({ evidence }) => evidence)).toEqual([
      [{ figure: "weekly" }],
      [{ figure: "weekly-2" }],
    ]);
  });

  test("takes a finding out that holds no more, and the timeline says so", async () => {
    const folder = await open();
    const report = await postmortem.open(folder);
    report.finding("Fewer measurements from Italy.").finding("Measurements rose by 4 %.");
    await incidentCommand.parseAsync(["withdraw", folder, "Measurements rose"], { from: "user" });
    const { draft } = await report.reload();
    expect(draft.findings.map(({ text }) => text)).toEqual(["Fewer measurements from Italy."]);
    expect(draft.timeline.at(-1)?.event).toMatch(/^Withdrawn: Measurements rose by 4 %\./);
    expect(() => report.withdraw("Nothing")).toThrow(
      `Can't withdraw "Nothing": no finding begins with it. Pass the beginning of one: "Fewer measurements from Italy.".`,
    );
    report.finding("Measurements rose by 4 %.");
    expect(report.draft.findings).toHaveLength(2);
  });

  test("writes an entry before the call returns, and nothing for what is refused", async () => {
    const folder = await open();
    const report = await postmortem.open(folder);
    expect(() => report.set({ respondedAt: "2020-01-01" })).toThrow(/before the detection/);
    expect(() => report.finding("x", chart.area(weeklyCounts()), "no address")).toThrow(/rest/);
    await expect(incident("note", folder, "x", "--called", "--at", "2020-01-01")).rejects.toThrow(
      /before the detection/,
    );
    await expect(incident("note", folder, "x", "--at", "2026-05-04 10:40")).rejects.toThrow(
      "Can't take 2026-05-04T10:40:00.000Z as the time of an entry: it has not come yet. Times are UTC; leave it out for now.",
    );
    expect(() => report.close("Over.", "2026-05-05")).toThrow(/it has not come yet/);
    expect(entries(folder)).toHaveLength(1);
    report.set({ summary: "Told." });
    expect(entries(folder)).toHaveLength(2);
    await expect(postmortem.open(home.path)).rejects.toThrow(/it has no entries; pass the folder/);
  });
});

describe("probelab incident", () => {
  test("closes as a report does", async () => {
    const folder = await open("No submits", "--start", "2026-05-04T08:30:00Z");
    const report = await postmortem.open(folder, { author: "Jo" });
    at("09:00");
    await incident("note", folder, "Look at the submits.", "--responded");
    expect(() => report.close("It held.", "2026-05-04 08:00")).toThrow(/resolvedAt/);
    at("10:00");
    report.close("It held.");
    const { draft } = await report.reload();
    expect(draft).toMatchObject({
      resolvedAt: "2026-05-04T10:00:00.000Z",
      respondedAt: "2026-05-04T09:00:00.000Z",
      status: "closed",
    });
    expect(draft.timeline.at(-1)).toMatchObject({
      event: "Closed: It held.",
      evidence: [{ text: "said by Jo" }],
    });
  });

  test("says on closing what the postmortem still lacks", async () => {
    const folder = await open();
    expect(await incident("close", folder, "It held.")).toMatch(
      /postmortem\n {2}It still lacks: summary, .*findings, action items\.\n$/,
    );
  });

  test("keeps no secret, whoever wrote it where", async () => {
    keepSecret("correct-horse-battery");
    const folder = await open("Fails with correct-horse-battery");
    await incident("note", folder, "psql password=correct-horse-battery");
    const report = await postmortem.open(folder, { author: "correct-horse-battery" });
    report.finding("Seen correct-horse-battery", "https://u:correct-horse-battery@example.org/");
    await pendingWork();
    for (const path of filesOf(folder)) expect(read(folder, path)).not.toContain("correct-horse");
  });

  test("an entry that can't be read hides no other, is named, and is not left out of a postmortem", async () => {
    const folder = await open();
    const damaged = "entries/999999999999999999999-0123456789ab.json";
    writeFileSync(join(folder, damaged), '{"format":"probelab entry 9"}');
    symlinkSync("/etc/passwd", join(folder, "entries/00002-0123456789ab.json"));
    await incident("note", folder, "Still here");
    await incident("note", folder, "And here");
    const printed = await incident("status", folder);
    expect(printed).toContain("3 entries");
    expect(printed).toContain(`Can't be read: ${damaged}`);
    expect(printed).toContain("Can't be read: entries/00002-0123456789ab.json");
    await expect(postmortem.open(folder)).rejects.toThrow(/Can't read entries\/00002-0123456789ab/);
  });

  test.each([
    ["../../etc/passwd", "2026-05-04-etc-passwd"],
    ["<script>alert(1)</script>", "2026-05-04-script-alert-1-script"],
    ["収集", "2026-05-04"],
    ["x".repeat(300), "2026-05-04"],
  ])("%s stays in its folder and in its page", async (title, name) => {
    const folder = await open(title);
    expect(folder).toBe(join(home.path, name));
    expect((await postmortem.open(folder)).draft.title).toBe(title);
    await incident("save", folder);
    expect(read(folder, "postmortem/postmortem.html")).not.toContain("<script>alert");
    await expect(open(title)).rejects.toThrow(/the folder is there\. If it holds this incident/);
    expect(entries(folder)).toHaveLength(1);
  });

  test("status says when the response is due, that it was missed, and how late it began", async () => {
    at("08:00");
    const folder = await open("No <submits>");
    expect(await incident("status", folder)).toContain("due 4 May 2026 16:00 UTC, 8 h left");
    at("16:01");
    expect(await incident("status", folder)).toContain("Response: overdue by 1 min, due");
    expect(code).toBe(8);
    at("16:08");
    await incident("note", folder, "On it", "--responded", "--at", "2 minutes ago");
    expect(await incident("status", folder)).toMatch(
      /Response: late: it began 6 min after it was due/,
    );
    expect(code).toBeUndefined();
    vi.setSystemTime(new Date("2026-07-01")); // nobody can act on it
    const old = await open("Old", "--detected", "2026-05-01 08:00");
    expect(await incident("status", old)).toContain("Response: none recorded");
    expect(code).toBeUndefined();
  });

  test.each([
    [["status", "nowhere"], /Can't find incidents in "nowhere": it can't be read \(ENOENT\)/],
    [["note", "nowhere", "x"], /Can't open the incident in "nowhere": it has no entries/],
    [["set", "FOLDER", "sumary", "x"], /Can't write "sumary" into a postmortem: it takes title/],
    [["note", "FOLDER", "x", "--at", "soon"], /Can't read "soon" as the time of an entry/],
    [["note", "FOLDER", "x", "--link", "javascript:0"], /or an address that begins with https/],
  ])("%j is refused", async (args, message) => {
    const folder = await open();
    const given = args.map((arg) => (arg === "FOLDER" ? folder : arg));
    await expect(incident(...given)).rejects.toThrow(message);
  });
});
