import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { keepSecret } from "../../../src/base/redact.js";
import { pendingWork } from "../../../src/base/pending-work.js";
import { chart } from "../../../src/chart/chart.js";
import { table } from "../../../src/chart/table.js";
import {
  addEntry,
  addPictures,
  incidentFolders,
  openIncident,
} from "../../../src/incident/living/incident.js";
import { readIncident } from "../../../src/incident/living/read-incident.js";
import { postmortem } from "../../../src/incident/postmortem/postmortem.js";
import { isAsSaved, verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
import { versionSummary, weeklyCounts } from "../../chart/support/sample-results.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";
import { filesOf } from "../postmortem/files-of.js";

let home: TemporaryDirectory;
beforeEach(async () => {
  home = await temporaryDirectory();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-04T08:40:00Z") });
});
afterEach(async () => {
  vi.useRealTimers();
  await pendingWork();
  await home[Symbol.asyncDispose]();
});

const at = (time: string) => vi.setSystemTime(new Date(`2026-05-04T${time}:00Z`));
const open = (more: object = {}) =>
  openIncident({ title: "Probes can't submit", severity: 2, ...more }, home.path, "A. Operator");
const read = (folder: string, path: string) => readFileSync(join(folder, path), "utf8");
const note = (event: string) => ({
  timeline: [{ time: new Date().toISOString(), event, evidence: [] }],
});
const small = { width: 300, height: 90 };

describe("postmortem.open(folder)", () => {
  test("goes on where another kernel stopped, and becomes the same postmortem from either", async () => {
    const folder = await open();
    const first = await postmortem.open(folder, { author: "Jo" });
    const counts = chart.area(weeklyCounts(), small);
    first.finding("The weekly count falls.", counts).add(counts, { name: "weekly" });
    const second = await postmortem.open(folder, { author: "B. Analyst" });
    expect(second.draft).toEqual(first.draft);
    second
      .set({ summary: "Runs end early, see [figure: weekly].", respondedAt: new Date() })
      .add(table(versionSummary()), { name: "versions" })
      .timeline("2026-05-04 08:30", "Release", "https://example.org/r")
      .action({ what: "Alert on it", owner: "Jo" });
    const now = "2026-05-04T10:00:00Z";
    const saved = await first.save(undefined, { now });
    expect(saved).toBe(join(folder, "postmortem"));
    const again = await (await postmortem.open(folder)).save(join(home.path, "again"), { now });
    expect(filesOf(again)).toEqual(filesOf(saved));
    for (const path of filesOf(saved)) {
      expect(readFileSync(join(again, path)).equals(readFileSync(join(saved, path))), path).toBe(
        true,
      );
    }
    expect(filesOf(saved)).toContain("data/versions.parquet");
    expect(isAsSaved(await verifyPostmortem(saved))).toBe(true);
    expect(read(saved, "postmortem.json")).toContain('"Release (B. Analyst)"');
    expect(first.draft.authors).toEqual(["A. Operator", "Jo", "B. Analyst"]);
  });

  test("hands over and closes, as the shell does", async () => {
    const folder = await open({ startedAt: "2026-05-04T08:30:00Z" });
    const report = await postmortem.open(folder, { author: "Jo" });
    at("09:00");
    report.handover("B. Analyst", "The rollback is out.");
    expect((await readIncident(folder)).inCharge).toBe("B. Analyst");
    expect(() => report.close("It held.", "2026-05-04 08:00")).toThrow(/resolvedAt/);
    expect(() => report.handover(" ", "The rollback is out.")).toThrow(/the name of somebody/);
    at("10:00");
    report.close("It held.");
    const { draft } = await readIncident(folder);
    expect(draft).toMatchObject({ resolvedAt: "2026-05-04T10:00:00.000Z", status: "closed" });
    expect(draft.timeline.slice(-2)).toMatchObject([
      {
        event: "Handed over to B. Analyst: The rollback is out.",
        evidence: [{ text: "said by Jo" }],
      },
      { event: "Closed: It held.", evidence: [{ text: "said by Jo" }] },
    ]);
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

  test("what is refused writes nothing; what is told is on the disk when the call returns", async () => {
    const folder = await open();
    const report = await postmortem.open(folder);
    const entries = () => readdirSync(join(folder, "entries")).length;
    expect(() => report.set({ respondedAt: "2020-01-01" })).toThrow(/before the detection/);
    expect(() => report.finding("x", chart.area(weeklyCounts()), "no address")).toThrow(
      /Can't rest/,
    );
    await expect(addEntry(folder, { told: { call: "2020-01-01" } })).rejects.toThrow(/before/);
    expect(entries()).toBe(1);
    expect(report.draft.respondedAt).toBe(null);
    report.set({ summary: "Told." });
    expect(entries()).toBe(2);
    await expect(postmortem.open(home.path)).rejects.toThrow(/it has no entries; pass the folder/);
  });

  test("holds no secret, whoever wrote it where", async () => {
    keepSecret("correct-horse-battery");
    const folder = await open({ title: "Fails with correct-horse-battery" });
    await addEntry(folder, note("psql password=correct-horse-battery"), "correct-horse-battery");
    const report = await postmortem.open(folder);
    report.finding("Seen correct-horse-battery", "https://u:correct-horse-battery@example.org/");
    await pendingWork();
    for (const path of filesOf(folder)) expect(read(folder, path)).not.toContain("correct-horse");
  });

  test("an entry that can't be read is told, hides no other, and is not left out of a postmortem", async () => {
    const folder = await open();
    await addEntry(folder, note("Still here"));
    writeFileSync(join(folder, "entries/00003-0123456789ab.json"), '{"format":"probelab entry 9"}');
    await addEntry(folder, note("And here"));
    const { unread, draft } = await readIncident(folder);
    expect(unread).toEqual(["entries/00003-0123456789ab.json"]);
    expect(draft.timeline).toHaveLength(3);
    expect(read(folder, "index.html")).toMatch(/Can’t|Can&#39;t|Can't be read/);
    await expect(postmortem.open(folder)).rejects.toThrow(/Can't read entries\/00003-0123456789ab/);
  });
});

describe("openIncident(fields, out)", () => {
  test.each([
    ["../../etc/passwd", "2026-05-04-etc-passwd"],
    ["<script>alert(1)</script>", "2026-05-04-script-alert-1-script"],
    ["収集", "2026-05-04"],
    ["x".repeat(300), "2026-05-04"],
  ])("%s stays in its folder and on its page", async (title, name) => {
    const folder = await open({ title });
    expect(folder).toBe(join(home.path, name));
    expect(read(folder, "index.html")).not.toContain("<script>alert");
    expect((await readIncident(folder)).draft.title).toBe(title);
  });

  test("refuses a folder that is there, whose entries stay", async () => {
    const folder = await open();
    await expect(open()).rejects.toThrow(
      /the folder is there\. If it holds this incident, add to it/,
    );
    expect((await readIncident(folder)).entries).toHaveLength(1);
    await open({ title: "Another" });
    expect(await incidentFolders(home.path)).toHaveLength(2);
  });

  test("due is the response, from the detection, until it is told or nobody can act", async () => {
    const folder = await open({ detectedAt: "2026-05-04 08:00" });
    const due = async () => (await readIncident(folder)).due;
    expect(await due()).toEqual({ at: "2026-05-04T16:00:00.000Z", overdue: false });
    expect(read(folder, "index.html")).toContain(
      '<time class="due" datetime="2026-05-04T16:00:00.000Z">due 2026-05-04 16:00 UTC</time>',
    );
    at("16:01");
    expect(await due()).toMatchObject({ overdue: true });
    await addEntry(folder, { told: { severity: 1 } });
    expect(await due()).toMatchObject({ at: "2026-05-04T10:00:00.000Z", overdue: true });
    vi.setSystemTime(new Date("2026-06-05"));
    expect(await due()).toBe(null);
    at("17:00");
    await addEntry(folder, { told: { respondedAt: "2026-05-04 16:30" } });
    expect(await due()).toBe(null);
    expect(read(folder, "index.html")).toContain(
      "Response: late: it began 6 h 30 min after it was due, 2026-05-04 10:00 UTC",
    );
  });
});

describe("addPictures(folder, files)", () => {
  test("a chart that was saved is a figure of the page and of the postmortem, its origin inside", async () => {
    const folder = await open();
    const [png, svg] = [join(home.path, "Weekly Counts.png"), join(home.path, "203.0.113.7.svg")];
    const counts = chart.area(weeklyCounts(), { ...small, title: "Weekly" });
    await counts.save(png);
    await counts.save(svg);
    await addPictures(folder, [png, svg], "Jo");
    expect(read(folder, "index.html").match(/<img src="data:image\/png/g)).toHaveLength(2);
    const report = await postmortem.open(folder);
    expect(report.figures.map(({ name, caption }) => [name, caption])).toEqual([
      ["weekly-counts", "Weekly"],
      ["ipv4", "Weekly"],
    ]);
    const saved = await report.save();
    expect(filesOf(saved).filter((path) => path.startsWith("charts/"))).toEqual([
      "charts/ipv4.png",
      "charts/weekly-counts.png",
    ]);
    expect(readFileSync(join(saved, "charts/weekly-counts.png")).equals(readFileSync(png))).toBe(
      true,
    );
    expect(read(saved, "postmortem.md")).toContain("![Weekly](charts/weekly-counts.png)");
    expect(read(saved, "postmortem.md")).toContain("but not in pictures that were saved elsewhere");
    expect(isAsSaved(await verifyPostmortem(saved))).toBe(true);
  });

  test.each([
    ["notes.txt", "hello", /it is no PNG or SVG\. Save the chart as \.png/],
    ["x.svg", '<svg><image href="/etc/shadow.png"/></svg>', /it loads other files/],
    ["y.svg", "<svg", /it can't be drawn/],
  ])("refuses %s", async (name, content, message) => {
    const folder = await open();
    writeFileSync(join(home.path, name), content);
    await expect(addPictures(folder, [join(home.path, name)])).rejects.toThrow(message);
    await expect(addPictures(folder, [home.path])).rejects.toThrow(/no file of up to 20 MiB/);
    await expect(addPictures(folder, ["nowhere.png"])).rejects.toThrow(
      /can't be opened \(ENOENT\)/,
    );
    expect(readdirSync(join(folder, "entries"))).toHaveLength(1);
  });

  test("a link for an entry is not followed", async () => {
    const folder = await open();
    symlinkSync("/etc/passwd", join(folder, "entries/00002-0123456789ab.json"));
    expect((await readIncident(folder)).unread).toEqual(["entries/00002-0123456789ab.json"]);
  });
});
