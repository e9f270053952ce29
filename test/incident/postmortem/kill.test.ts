import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkFiles } from "../../../src/incident/postmortem/folder/check-files.js";
import { readManifest } from "../../../src/incident/postmortem/folder/manifest.js";
import { writeFolder } from "../../../src/files/write-folder.js";
import { generator } from "../../chart/support/sample-results.js";

const dist = (path: string): string => new URL(`../../../dist/${path}`, import.meta.url).href;

/** Folders that a process saves at the same time, each of which it is killed on the way to. */
const FOLDERS = 5;

/**
 * A process of its own: `once` saves two postmortems and large files in three folders and says how
 * long each took; `save` and `write` replace folders by one and the other until they are killed.
 */
const CHILD = `
import { join } from "node:path";
import { writeFolder } from "${dist("files/write-folder.js")}";
import { MANIFEST, manifestOf } from "${dist("incident/postmortem/folder/manifest.js")}";
const [mode, folder, first, told] = process.argv.slice(1);
const now = "2026-05-05T10:00:00Z";
async function reports() {
  const [{ table }, { chart, postmortem }, { Result }, { between }] = await Promise.all([
    import("arquero"),
    Promise.all([import("${dist("chart/chart.js")}"), import("${dist("incident/postmortem/postmortem.js")}")]).then((parts) => Object.assign({}, ...parts)),
    import("${dist("result/result.js")}"), import("${dist("time/time-range.js")}"),
  ]);
  const result = new Result(table({ name: ["a", "b", "c"], n: [3, 2, 1] }), {
    sql: "", parameters: {}, range: between("2026-02-01", "2026-05-01"), source: "embedded:.probelab",
    server: "", rowsRead: 0, bytesRead: 0, seconds: 0, askedAt: new Date(now),
    columns: { dimensions: [], measures: [] }, reductions: [], notes: [],
  });
  return [["one", ["first"]], ["the other", ["second", "third"]]].map(([summary, figures]) => {
    const made = postmortem({ title: "Kill", severity: 4, detectedAt: "2026-05-04", summary });
    const size = { x: "name", y: "n", width: 120, height: 60 };
    for (const name of figures) made.add(chart.bar(result, { ...size, title: name }), { name });
    return made;
  });
}
// More and larger files, so that writing them takes most of the time.
const large = (text) => {
  const files = new Map(Array.from({ length: 30 }, (_, at) => ["data/" + text + "-" + at + ".csv", (text + at).repeat(8000)]));
  const manifest = manifestOf(files, { title: text, savedAt: new Date(now).toISOString(), versions: {} });
  return files.set(MANIFEST, JSON.stringify(manifest));
};
const larges = [large("one"), large("other")];
const yes = () => Promise.resolve();
const save = mode === "write" ? [] : (await reports()).map((report) => (to) => report.save(to, { now, replaceChanges: true }));
const write = larges.map((files) => (to) => writeFolder(to, files, yes));
if (mode === "once") {
  const lasts = {};
  for (const [name, ways] of Object.entries({ save, write })) {
    const begun = performance.now();
    await ways[0](join(folder, name + "-0"));
    lasts[name] = performance.now() - begun;
    await ways[1](join(folder, name + "-1"));
  }
  console.log(JSON.stringify(lasts));
} else {
  const ways = mode === "save" ? save : write;
  const folders = Array.from({ length: ${FOLDERS} }, (_, at) => join(folder, String(at), "report"));
  // Killed on the way to the first folders, or of some that are there, after as long as they took.
  if (told === "at once") process.stdout.write("0");
  const begun = performance.now();
  let once = 0;
  await Promise.all(folders.map(async (each, place) => {
    for (let at = (Number(first) + place) % 2, saves = 0; ; at = 1 - at, saves++) {
      await ways[at](each);
      if (saves === 0 && ++once === folders.length && told !== "at once")
        process.stdout.write(String(performance.now() - begun));
    }
  }));
}
`;

type Mode = "save" | "write";

let parent = "";
let expected: Record<Mode, readonly string[]> = { save: [], write: [] };
let lasts: Record<Mode, number> = { save: 0, write: 0 };

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "probelab-kill-"));
  const known = join(parent, "known");
  const child = start("once", known);
  let out = "";
  child.stdout.on("data", (text: Buffer) => (out += text.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  lasts = JSON.parse(out) as typeof lasts;
  const manifest = (name: string) => readFileSync(join(known, name, "manifest.json"), "utf8");
  expected = {
    save: [manifest("save-0"), manifest("save-1")],
    write: [manifest("write-0"), manifest("write-1")],
  };
}, 240_000);
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function start(mode: Mode | "once", folder: string, first = 0, told = "after one") {
  return spawn(
    process.execPath,
    ["--input-type=module", "-e", CHILD, "--", mode, folder, String(first), told],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
}

/**
 * Lets a child replace its folders, and kills it after so many times what a save of all takes: of its
 * own first one, which it has finished, or `at once` on the way to it.
 *
 * @returns the folders that it was killed on the way to
 */
async function killAfter(
  saves: number,
  mode: Mode,
  folder: string,
  first: number,
  told?: "at once",
): Promise<string[]> {
  const child = start(mode, folder, first, told);
  const took = await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve));
  const all = Number(took) || FOLDERS * lasts[mode];
  await new Promise((resolve) => setTimeout(resolve, saves * all));
  child.kill("SIGKILL");
  const signal = await new Promise((resolve) => child.once("exit", (_, killed) => resolve(killed)));
  expect(signal).toBe("SIGKILL");
  return Array.from({ length: FOLDERS }, (_, at) => join(folder, String(at), "report"));
}

/** Which of all folders that a child writes is there, whole: none, or the place of its manifest. */
async function stateOf(folder: string): Promise<string | undefined> {
  if (!existsSync(folder)) return undefined;
  const text = readFileSync(join(folder, "manifest.json"), "utf8");
  const checks = await checkFiles(folder, readManifest(text, folder));
  expect(checks.filter(({ state }) => state !== "same")).toEqual([]);
  return text;
}

const abandoned = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((name) => /^\..*\.tmp$/.test(name));

describe("a process killed while it saves a postmortem", () => {
  test("50 times at random moments: the old folder or the new one, and what it left goes with the next", async () => {
    const seen = { save: new Set<string>(), write: new Set<string>() };
    const inWriting = { save: 0, write: 0 };
    const lane = async (mode: Mode, kills: number, seed: number): Promise<void> => {
      const random = generator(seed);
      for (let kill = 0; kill < kills / FOLDERS; kill++) {
        const saves = random() * (mode === "save" ? 1 : 3);
        for (const folder of await killAfter(saves, mode, join(parent, mode), kill % 2)) {
          const state = await stateOf(folder);
          expect(expected[mode]).toContain(state);
          seen[mode].add(state ?? "");
          const left = abandoned(dirname(folder));
          expect(left.length).toBeLessThanOrEqual(1);
          inWriting[mode] += left.length;
        }
      }
    };
    await Promise.all([lane("save", 15, 1), lane("write", 35, 2)]);
    // Both came to stand there, and many kills fell into the writing: else this test would show nothing.
    expect(seen.write.size).toBe(2);
    expect(inWriting.write).toBeGreaterThan(10);
    for (const mode of ["save", "write"] as const) {
      for (let at = 0; at < FOLDERS; at++) {
        const above = join(parent, mode, String(at));
        const files = new Map([["x.txt", "x"]]);
        await writeFolder(join(above, "report"), files, () => Promise.resolve());
        expect(readdirSync(above)).toEqual(["report"]);
      }
    }
  }, 240_000);

  test("at the first save: nothing, or the new folder", async () => {
    const random = generator(3);
    let none = 0;
    for (let kill = 0; kill < 2; kill++) {
      const above = join(parent, "first", String(kill));
      for (const folder of await killAfter(random(), "write", above, kill % 2, "at once")) {
        const state = await stateOf(folder);
        if (state === undefined) none++;
        else expect(expected.write).toContain(state);
      }
    }
    expect(none).toBeGreaterThan(0);
  }, 240_000);
});
