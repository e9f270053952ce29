import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { momentText } from "../../src/time/time-zone.js";
import { sampleLab } from "./sample-lab.js";

const folder = new URL("../../notebooks/", import.meta.url);
let sample: Awaited<ReturnType<typeof sampleLab>>;
beforeAll(async () => {
  sample = await sampleLab(2_000_000);
});
afterAll(() => sample[Symbol.asyncDispose]());
afterEach(() => void vi.unstubAllEnvs());

const NAMES = [
  "autorun-incoming-measurements",
  "autorun-log-errors",
  "autorun-release-watch",
  "autorun-test-helper-failures",
];

it("notebooks/autorun-*.ipynb carry a schedule in their first code cell, parameters for links, and no outputs", async () => {
  const files = (await readdir(folder)).filter((file) => file.startsWith("autorun-")).sort();
  expect(files).toEqual(NAMES.map((name) => `${name}.ipynb`));
  for (const file of files) {
    const { cells } = JSON.parse(await readFile(new URL(file, folder), "utf8")) as {
      cells: { cell_type: string; source: string[]; outputs?: unknown[]; metadata: { tags?: string[] } }[];
    };
    const code = cells.filter(({ cell_type: type }) => type === "code");
    const [, schedule = ""] = /^\/\/ schedule: (.*)\n/.exec(code[0]!.source.join("")) ?? [];
    expect(JSON.parse(schedule), file).toMatchObject({ every: expect.any(String) as string });
    expect(code[0]!.metadata.tags).toEqual(["parameters"]);
    for (const name of ["notebook", "page", "runbook"]) {
      expect(code[0]!.source.join(""), file).toContain(`const ${name} = "";`);
    }
    expect(code.flatMap(({ outputs = [] }) => outputs)).toEqual([]);
  }
});

beforeEach(() => void vi.stubEnv("PROBELAB_WATCH", join(sample.path, "watch")));
const shown = async (...asked: Parameters<typeof sample.run>) =>
  (await sample.run(...asked)).join("\n");

it("autorun-release-watch finds the planted release, and writes the report that two reviewers sign", async () => {
  const text = await shown("autorun-release-watch", {
    span: "16 weeks", watched: "60 days", software: "probe-android-unattended",
  });
  expect(text).toMatch(/began in the last 60 days: probe-android-unattended 3\.10\.0 \(/);
  expect(text).toMatch(/Severity 3: probe-android-unattended 3\.10\.0 against 3\.9\.1: runs changed/);
  expect(text).toMatch(/runbook: missing/);
  expect(text).toMatch(/Two people read and sign .*3\.10\.0-\d{4}-\d\d-\d\d\.md/);
  const reports = join(sample.path, "watch", "releases");
  const kept = await readdir(reports);
  expect(kept).toHaveLength(1);
  expect(kept[0]).toMatch(/^probe-android-unattended-3\.10\.0-\d{4}-\d\d-\d\d\.md$/);
  const report = await readFile(join(reports, kept[0]!), "utf8");
  expect(report).toMatch(/median measurements per run fell by/i);
  expect(report).toMatch(/\| Run duration, median \|/);
  expect(report).toMatch(/\| first \| \| \| \| \|\n\| second \| \| \| \| \|\n/);
}, 300_000);

it("autorun-test-helper-failures names the planted helper, with what to do next", async () => {
  const text = await shown("autorun-test-helper-failures", { span: "1 week" });
  expect(text).toMatch(/Severity 2: https:\/\/1\.th\.probe\.example fails more than usual/);
  expect(text).toMatch(/rotate it if it is next:\n.*Next to rotate: th-/s);
}, 300_000);

it("autorun-log-errors says that the logs are as usual now, and that they were not", async () => {
  expect(await shown("autorun-log-errors")).toMatch(
    /No program logs more than usual in the last 2 hours, err and worse: no minute stands out by 6 spreads/,
  );
  const burst = await shown("autorun-log-errors", { span: "12 weeks", recent: "12 weeks" });
  expect(burst).toMatch(/Severity 3: fastpath logs more errors than usual/);
  expect(burst).toMatch(/Most common: cannot write <n> measurements: too many parts/);
}, 300_000);

const FAULT = "accepted-reports-not-stored";

it("logs.ipynb finds the planted burst: the program, its beginning, how long it lasts", async () => {
  const { begins, changes } = await sample.truth(FAULT);
  const [, program = "", perMinute = "", minutes = ""] =
    /^(\w+) logs (\d+) errors a minute for (\d+) minutes/.exec(changes) ?? [];
  const texts = await sample.run("logs");
  const finding = texts.find((text) => text.includes("messages in")) ?? "";
  const found = /(\w[\w-]*): (\d+) messages in (\d+) minutes from (\S+) on.*most common: "(.*)"\. Searched/.exec(
    finding,
  );
  expect(found?.[1], finding).toBe(program);
  expect(Number(found?.[3])).toBeGreaterThanOrEqual(Number(minutes));
  expect(Number(found?.[3])).toBeLessThanOrEqual(Number(minutes) + 1);
  expect(Number(found?.[2])).toBeGreaterThanOrEqual(Number(perMinute) * Number(minutes));
  expect(Number(found?.[2])).toBeLessThan(Number(perMinute) * Number(minutes) * 1.1);
  expect(Math.abs(Date.parse(found?.[4] ?? "") - begins)).toBeLessThanOrEqual(60_000);
  expect(found?.[5]).toBe("cannot write <n> measurements: too many parts (<n>)");
  expect(texts.join("\n")).not.toMatch(/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/);
}, 300_000);

it("incoming-measurements.ipynb finds the reports that were accepted and are not stored", async () => {
  const { begins, changes } = await sample.truth(FAULT);
  const [, minutes = "", lost = ""] =
    /for (\d+) minutes; (\d+) reports accepted and not stored/.exec(changes) ?? [];
  const texts = await sample.run("incoming-measurements");
  const finding = texts.find((text) => text.includes("submitted reports")) ?? "";
  const [, all = "", ...found] = /Of ([\d,]+) submitted reports: (\d+) missing, ([\d,]+) stored\./.exec(finding) ?? [];
  const [total, missing, stored] = [all, ...found].map((count) => Number(count.replace(",", "")));
  expect(missing, finding).toBe(Number(lost));
  expect(total).toBeGreaterThan(500);
  expect(stored).toBe(total! - missing!);
  const table = texts.find((text) => text.includes("Report ID")) ?? "";
  const times = [...table.matchAll(/^\| (\S+ \S+) \| .* \| missing \|/gm)].map(([, time]) => Date.parse(`${time}Z`));
  expect(times).toHaveLength(missing!);
  expect(times[0]).toBeGreaterThanOrEqual(begins);
  expect(times.at(-1)).toBeLessThan(begins + (Number(minutes) + 1) * 60_000);
}, 300_000);

it("test-helpers.ipynb finds the helper that fails more and the hasty rotation", async () => {
  const failing = await sample.truth("test-helper-fails-more");
  const hasty = await sample.truth("test-helpers-rotated-too-quickly");
  const [, helper, percent] = /of (\S+) from \S+ % to (\S+) %/.exec(failing.changes) ?? [];
  const texts = await sample.run("test-helpers");
  const alert = texts.find((text) => text.includes("fails more than the rest")) ?? "";
  expect(alert.match(/Test helper \S+ fails/g)).toEqual([`Test helper ${helper} fails`]);
  // A good part of the three weeks lies before the fault.
  const rate = Number(/rest: (\S+) %/.exec(alert)?.[1]);
  expect(rate).toBeGreaterThan(2);
  expect(rate).toBeLessThan(Number(percent));
  const findings = texts.find((text) => text.includes("Next to rotate")) ?? "";
  const at = momentText(new Date(hasty.begins), "UTC");
  expect(findings).toContain(`began to drain at ${at}`);
  expect(findings).toContain(`${/^\d+ min/.exec(hasty.changes)?.[0]} after the rotation`);
  expect(findings.match(/too close for DNS/g)).toHaveLength(1);
  expect(findings).toContain("staggered by 7 ± 3 days");
}, 300_000);

it("explore.ipynb draws linked views, and explains the same; snapshot.ipynb answers as the table does", async () => {
  const explored = await sample.run("explore");
  expect(explored.filter((text) => text.includes("Linked views: "))).toHaveLength(2);
  const kept = await sample.run("snapshot");
  const table = kept.find((text) => text.includes("One question, asked twice")) ?? "";
  const [, asked = "no", again] =
    /the table \| ([\d,]+) \|.*\n.*the snapshot \| ([\d,]+) \|/.exec(table) ?? [];
  expect(again, table).toBe(asked);
}, 300_000);

it("test-lists.ipynb finds the list that was replaced, and says that its lists are made up", async () => {
  const { changes } = await sample.truth("test-list-replaced");
  const [, urls, country, poll] = /^(\d+) of the first 100 URLs of (\w\w) at poll (\d+)$/.exec(changes) ?? [];
  const text = (await sample.run("test-lists")).join("\n");
  const found = [...text.matchAll(/(\w\w), poll (\d+): churn [\d.]+ %, (\d+) URLs in/g)];
  expect(found.map(([, where, when]) => [where, when])).toEqual([[country, poll]]);
  // The one that changes at every poll may be among them.
  expect([0, 1]).toContain(Number(found[0]?.[3]) - Number(urls));
  expect(text).toContain("Made-up lists of the sample service");
}, 300_000);
