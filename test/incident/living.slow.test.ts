import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { postmortem } from "../../src/index.js";
import type { Draft } from "../../src/incident/fields.js";
import { verifyPostmortem } from "../../src/incident/manifest.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

const dist = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;
const CLI = fileURLToPath(dist("cli/main.js"));

let home: TemporaryDirectory;
beforeEach(async () => void (home = await temporaryDirectory()));
afterEach(() => home[Symbol.asyncDispose]());

function shell(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, "incident", ...args], {
    cwd: home.path,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

function opened(...more: readonly string[]): string {
  const { stdout, stderr } = shell("open", "Runs end early", "--severity", "2", ...more);
  expect(stderr).toBe("");
  return join(home.path, stdout.split("\n")[0]!);
}

/**
 * A kernel of its own that adds findings, each with a chart. With a number it ends as `kill -9` ends it
 * in place of its n-th call of the file system, a file that it would have written half there.
 */
const KERNEL = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const [folder, author, findings, at] = process.argv.slice(1);
const [{ table }, { chart }, { postmortem }, { Result }, { between }] = await Promise.all([
  import("arquero"),
  import("${dist("chart/chart.js")}"),
  import("${dist("incident/postmortem.js")}"),
  import("${dist("result/result.js")}"),
  import("${dist("time/time-range.js")}"),
]);
const result = new Result(table({ name: ["a", "b", "c"], n: [3, 2, 1] }), {
  sql: "", parameters: {}, range: between("2026-02-01", "2026-05-01"), source: "embedded:.probelab",
  server: "", rowsRead: 0, bytesRead: 0, seconds: 0, askedAt: new Date("2026-05-05"),
  columns: { dimensions: [], measures: [] }, reductions: [], notes: [],
});
const report = await postmortem.open(folder, { author });
let done = 0;
for (const name of ["writeFileSync", "renameSync", "openSync", "fsyncSync", "closeSync"]) {
  const own = fs[name];
  fs[name] = (...args) => {
    if (++done === Number(at)) {
      if (name === "writeFileSync") own(args[0], args[1].slice(0, args[1].length / 2));
      process.kill(process.pid, "SIGKILL");
    }
    return own(...args);
  };
}
syncBuiltinESMExports();
for (let one = 1; one <= Number(findings); one++) {
  const bars = chart.bar(result, { x: "name", y: "n", width: 120, height: 60, title: author + " " + one });
  report.finding(author + " " + one, bars);
}
if (at !== "never") process.exit();
`;

function kernel(folder: string, author: string, findings: number, at: number | "never") {
  const args = ["--input-type=module", "-e", KERNEL, "--", folder, author];
  return spawn(process.execPath, [...args, String(findings), String(at)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("kernels and shells that add to one folder at the same time lose nothing, and the page has all", async () => {
  const folder = opened();
  const kernels = ["Ada", "Bo", "Cy"].map((author) => kernel(folder, author, 4, "never"));
  const notes = ["one", "two", "three"].map((text) =>
    spawn(process.execPath, [CLI, "incident", "note", folder, text, "--author", "Di"]),
  );
  const codes = await Promise.all([...kernels, ...notes].map((one) => once(one, "close")));
  expect(codes.map(([code]) => code as number)).toEqual([0, 0, 0, 0, 0, 0]);
  const report = await postmortem.open(folder);
  const { findings, timeline } = report.draft;
  for (const author of ["Ada", "Bo", "Cy"]) {
    const own = findings.map(({ text }) => text).filter((text) => text.startsWith(author));
    expect(own).toEqual([1, 2, 3, 4].map((one) => `${author} ${one}`));
  }
  expect(findings).toHaveLength(12);
  expect(report.figures).toHaveLength(12);
  for (const { text, evidence } of findings) {
    const [rest] = evidence as { figure: string }[];
    expect(rest!.figure).toBe(text.toLowerCase().replace(" ", "-"));
  }
  expect(timeline.map(({ event }) => event).sort()).toEqual([
    "Opened: Runs end early",
    "one (Di)",
    "three (Di)",
    "two (Di)",
  ]);
  const page = readFileSync(join(folder, "index.html"), "utf8");
  for (const { text } of findings) expect(page).toContain(text);
  expect(page).toContain("of 16 entries");
}, 240_000);

test("a kernel killed at each of its calls leaves its entry whole or none, and hides nobody's", async () => {
  const folder = opened();
  const told: boolean[] = [];
  for (let at = 1; ; at++) {
    const [code, signal] = (await once(kernel(folder, `K${at}`, 1, at), "close")) as unknown[];
    if (signal === null) {
      expect(code).toBe(0);
      break;
    }
    const { draft, figures } = await postmortem.open(folder);
    const own = draft.findings.filter(({ text }) => text === `K${at} 1`);
    expect(own.length).toBeLessThanOrEqual(1);
    expect(figures).toHaveLength(draft.findings.length);
    told.push(own.length === 1);
  }
  expect(told.length).toBeGreaterThan(8);
  // First nothing, from the rename of the entry on all of it.
  expect(told.indexOf(true)).toBe(told.lastIndexOf(false) + 1);
  expect(told.indexOf(true)).toBeGreaterThan(0);
  // The first, those that were killed later, and the last, which was not killed.
  const before = 1 + told.filter(Boolean).length + 1;
  expect(shell("note", folder, "Goes on").status).toBe(0);
  expect(shell("status", folder).stdout).toContain(`${before + 1} entries`);
}, 240_000);

test("probelab incident: from the first minute to the postmortem", async () => {
  const folder = opened("--detected", "2026-01-01 08:00", "--author", "Ada");
  expect(shell("status", folder).status).toBe(0); // a year ago: nobody can act on it
  const late = new Date(Date.now() - 10 * 3_600_000).toISOString();
  const other = shell("open", "Late", "--severity", "2", "--detected", late);
  const second = other.stdout.split("\n")[0]!;
  const status = shell("status");
  expect(status.status).toBe(8);
  expect(status.stdout.match(/^ {2}Response: [a-z ]+/gm)).toEqual([
    "  Response: none is on record",
    "  Response: overdue by ",
  ]);
  const set = (...args: string[]) => shell("set", second, ...args).stderr;
  expect(set("summary", "Nobody could submit.") + set("impact", "a", "b")).toBe("");
  expect(shell("note", second, "On it", "--responded", "--called", "--sterile").stderr).toBe("");
  expect(shell("note", second, "--to", "Bo", "Rollback is out", "--author", "Ada").status).toBe(0);
  expect(shell("status", second).stdout).toContain("in charge: Bo");
  expect(shell("status", second).status).toBe(0);
  const closed = shell("close", second, "The rollback held", "--author", "Bo");
  expect(closed.stderr).toBe("");
  expect(closed.stdout.trim()).toBe(join(second, "postmortem"));
  const saved = join(home.path, second, "postmortem");
  expect((await verifyPostmortem(saved)).wrong).toEqual([]);
  const record = JSON.parse(readFileSync(join(saved, "postmortem.json"), "utf8")) as Draft;
  const { timeline, status: state, summary, impact } = record;
  expect([summary, impact]).toEqual([["Nobody could submit."], ["a", "b"]]);
  expect(state).toBe("closed");
  expect(timeline.slice(-2).map(({ event, evidence }) => [event, evidence[0]])).toEqual([
    ["Handed over to Bo: Rollback is out", { text: "said by Ada" }],
    ["Closed: The rollback held", { text: "said by Bo" }],
  ]);
  expect(readdirSync(join(home.path, second)).sort()).toEqual([
    "data",
    "entries",
    "index.html",
    "postmortem",
  ]);
  for (const [args, error] of [
    [["status", "nowhere"], /Can't find incidents in "nowhere": it can't be read \(ENOENT\)/],
    [["note", "nowhere", "x"], /Can't open the incident in "nowhere": it has no entries/],
    [["set", second, "sumary", "x"], /Can't write "sumary" into a postmortem: it takes title/],
    [["note", second, "x", "--at", "soon"], /Can't read "soon" as the time of an entry/],
    [["note", second, "x", "--link", "javascript:0"], /or an address that begins with https/],
    [["open", "x", "--severity", "5"], /Write 1, 2, 3 or 4/],
  ] as const) {
    const { status: code, stderr } = shell(...args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(error)]);
  }
}, 240_000);
