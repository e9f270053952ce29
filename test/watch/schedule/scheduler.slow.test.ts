import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import {
  folderOf,
  readHistory,
  retain,
  writeRun,
  type Run,
} from "../../../src/watch/schedule/history.js";
import { readOverview } from "../../../src/watch/schedule/overview.js";
import { schedulePage } from "../../../src/watch/schedule/page.js";
import { notebookFolder, outputTexts, writeCells } from "../../notebook/notebook-fixture.js";
import { receiver } from "../alert/receiver.js";

const main = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const alongside = test.concurrent;
const EVERY = '// schedule: { "every": "1 day", "timeout": "2 minutes" }';

/** A project of a test's own, with a folder of notebooks. */
async function project(config: object = {}) {
  const { path, remove } = await notebookFolder();
  const notebooks = join(path, "notebooks");
  const out = join(path, "out");
  await mkdir(notebooks);
  await writeFile(join(path, "probelab.config.json"), JSON.stringify(config));
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const child = spawn(process.execPath, [main, "schedule", ...args, "--out", out], {
      ...{ cwd: path, env: { ...process.env, ...env } },
    });
    let told = "";
    child.stdout.on("data", (text: Buffer) => (told += text.toString()));
    child.stderr.on("data", (text: Buffer) => (told += text.toString()));
    const ended = new Promise<{ code: number | null; told: string }>((resolve) =>
      child.once("close", (code) => resolve({ code, told })),
    );
    return { child, ended, told: () => told };
  };
  return {
    ...{ path, notebooks, out, start },
    add: (name: string, ...cells: string[]) => writeCells(notebooks, cells, `${name}.ipynb`),
    once: (...args: string[]) => start(["notebooks", "--once", ...args]).ended,
    status: () => start(["status"]).ended,
    runs: async (name: string) => (await readHistory(folderOf(out, name))).runs,
    [Symbol.asyncDispose]: remove,
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The processes whose command line holds `text`. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

/** Code that starts a process which leaves its group, its session and its environment behind. */
const escape = (mark: string, code = "setInterval(() => {}, 1000)") => `
import { spawn } from "node:child_process";
const inner = ${JSON.stringify(`require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(code)}, ${JSON.stringify(mark)}], { detached: true, stdio: "ignore", env: {} }).unref()`)};
const middle = spawn(process.execPath, ["-e", inner], { detached: true, stdio: "ignore", env: {} });
await new Promise((resolve) => middle.once("exit", resolve));`;

alongside(
  "a failed cell is a failed run; a good one tells what it took; each once a period",
  async () => {
    await using own = await project();
    await own.add(
      "good",
      EVERY,
      "process.env.AUTORUN",
      'import { connect } from "probelab";\nconst lab = await connect();',
    );
    await own.add("bad", EVERY, "throw new Error('no luck')");
    await own.add("wrong", '// schedule: { "every": "5m" }');
    await own.add("plain", "1");
    expect((await own.once()).code).toBe(1);
    expect((await own.runs("bad"))[0]).toMatchObject({ state: "error", exit: 1 });
    expect((await own.runs("bad"))[0]?.error).toContain("no luck");
    const [good] = await own.runs("good");
    expect(good).toMatchObject({ state: "ok", exit: 0, error: null, periods: 1 });
    expect(good!.seconds).toBeGreaterThan(0.5);
    expect(good!.peakMemory).toBeGreaterThan(1e8);
    expect(good!.rowsRead).toBeGreaterThanOrEqual(0);
    const page = join(folderOf(own.out, "good"), good!.page!);
    expect(await outputTexts(page.replace(/html$/, "ipynb"))).toContainEqual(["result: '1'"]);
    await own.once();
    expect(await own.runs("good")).toHaveLength(1);
    const { code, told } = await own.status();
    expect(code).toBe(2);
    expect(told).toMatch(
      /^fails +bad .*no luck[^]*^fails +wrong .*m may be minutes or months[^]*^fine +good /m,
    );
    expect(told).not.toContain("plain");
  },
);

alongside("what a notebook forks, twice too, ends with it", async () => {
  await using own = await project();
  const mark = `escape-${process.pid}`;
  await own.add("forks", EVERY, escape(mark), "1 + 1");
  await own.once();
  expect((await own.runs("forks"))[0]).toMatchObject({ state: "ok" });
  expect(processesWith(mark)).toEqual([]);
});

alongside("memory is that of all processes together, also of those that got away", async () => {
  await using own = await project();
  const mark = `greedy-${process.pid}`;
  const greedy = "const all = []; setInterval(() => all.push(Buffer.alloc(2 ** 25, 1)), 20)";
  const limits = '// schedule: { "every": "1 day", "memory": "900 MB", "timeout": "1 minute" }';
  await own.add("greedy", limits, escape(mark, greedy), "await new Promise(() => {})");
  await own.once();
  const [run] = await own.runs("greedy");
  expect(run).toMatchObject({ state: "memory", exit: 4 });
  expect(run!.error).toMatch(/more than 900 MB/);
  expect(run!.peakMemory).toBeGreaterThan(9e8);
  expect(processesWith(mark)).toEqual([]);
});

alongside("one that never ends is ended, with what it had shown", async () => {
  await using own = await project();
  const limits = '// schedule: { "every": "1 day", "timeout": "30 seconds" }';
  await own.add(
    "long",
    limits,
    "console.log('begun')",
    'await null;\nwhile (/^(a+)+$/.test("a".repeat(60) + "b"));',
  );
  await own.once();
  const [run] = await own.runs("long");
  expect(run).toMatchObject({ state: "timeout", exit: 3 });
  const executed = join(folderOf(own.out, "long"), run!.page!).replace(/html$/, "ipynb");
  expect((await outputTexts(executed)).flat()).toContain("stdout: begun\n");
});

alongside("a hostile name reaches no shell, and stands as text", async () => {
  await using own = await project();
  const name = `$(touch pwned) --help <img src=x onerror=alert(1)>\n"'&\u202e`;
  await own.add(name, EVERY, "throw new Error('<script>alert(1)</script>')");
  await own.once();
  expect((await own.runs(name))[0]).toMatchObject({ state: "error" });
  expect((await readdir(own.path)).sort()).not.toContain("pwned");
  const page = await readFile(join(own.out, "index.html"), "utf8");
  expect(page).not.toMatch(/<img|<script|\u202e/);
  const [, link = ""] = /<h2><a href="([^"]+)"/.exec(page) ?? [];
  expect(
    existsSync(
      join(own.out, decodeURIComponent(link.replaceAll("&amp;", "&").replaceAll("&#39;", "'"))),
    ),
  ).toBe(true);
});

alongside("a password is in no output, error, history or page", async () => {
  await using own = await project();
  const password = "pa55-of-the-reader";
  await own.add(
    "tells",
    EVERY,
    "console.log(process.env.PROBELAB_MEASUREMENTS_PASSWORD)",
    "throw new Error('with ' + process.env.PROBELAB_MEASUREMENTS_PASSWORD)",
  );
  const { told } = await own.start(["notebooks", "--once"], {
    PROBELAB_MEASUREMENTS_PASSWORD: password,
  }).ended;
  const [run] = await own.runs("tells");
  const folder = join(folderOf(own.out, "tells"), run!.id);
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")),
  );
  files.push(told, await readFile(join(own.out, "index.html"), "utf8"));
  expect(files).toHaveLength(5);
  for (const text of files) expect(text).not.toContain(password);
});

alongside(
  "kill -9 of the scheduler: the run ends with it, is told as cut off, and made once more",
  async () => {
    await using own = await project();
    const mark = `orphan-${process.pid}`;
    const path = await own.add("long", EVERY, escape(mark), "await new Promise(() => {})");
    await own.add("quick", EVERY, "1");
    const { child, ended } = own.start(["notebooks"]);
    await until(
      async () => processesWith(mark).length === 1 && (await own.runs("quick"))[0]?.state === "ok",
    );
    child.kill("SIGKILL");
    await ended;
    await until(() => processesWith(mark).length === 0);
    const killed = await own.status();
    expect(killed).toMatchObject({
      code: 2,
      told: expect.stringContaining("scheduler doesn't run") as string,
    });
    await rm(path);
    await own.add("long", EVERY, "1");
    expect(await own.once()).toMatchObject({ code: 0 });
    expect((await own.runs("long")).map(({ state }) => state)).toEqual(["ok", "interrupted"]);
    expect((await own.runs("quick")).map(({ state }) => state)).toEqual(["ok"]);
  },
);

alongside(
  "two schedulers: the second on a folder is refused, and no notebook runs twice at once",
  async () => {
    await using own = await project();
    await own.add(
      "long",
      EVERY,
      `import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");\nawait new Promise(() => {})`,
    );
    const { child, ended } = own.start(["notebooks"]);
    await until(() => existsSync(join(own.notebooks, "begun")));
    const second = await own.once();
    expect(second).toMatchObject({
      code: 1,
      told: expect.stringContaining("another scheduler works there") as string,
    });
    const other = await new Promise<string>((resolve) => {
      const elsewhere = spawn(
        process.execPath,
        [main, "schedule", "notebooks", "--once", "--out", "other"],
        { cwd: own.path },
      );
      let told = "";
      elsewhere.stderr.on("data", (text: Buffer) => (told += text.toString()));
      elsewhere.once("close", () => resolve(told));
    });
    expect(other).toContain("long: another process runs it just now");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    expect((await own.runs("long")).map(({ state }) => state)).toEqual(["interrupted"]);
  },
);

alongside(
  "changes take effect while it runs: new, paused, resumed, rescheduled, deleted in mid-run",
  async () => {
    await using own = await project();
    const { child, ended } = own.start(["notebooks"]);
    await until(() => existsSync(join(own.out, "schedule.json")));
    const path = await own.add(
      "late",
      EVERY,
      `import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");\nawait new Promise((resolve) => setTimeout(resolve, 3000))`,
    );
    await until(() => existsSync(join(own.notebooks, "begun")));
    await rm(path);
    await until(async () => (await own.runs("late"))[0]?.state === "ok");
    await own.add("other", EVERY, "1");
    await until(async () => (await own.runs("other"))[0]?.state === "ok");
    expect((await own.start(["pause", "other"]).ended).code).toBe(0);
    await own.add("other", '// schedule: { "every": "1 minute" }', "2");
    await until(async () => (await own.status()).told.includes("paused  other (every minute)"));
    expect(await own.runs("other")).toHaveLength(1);
    expect((await own.start(["resume", "other"]).ended).code).toBe(0);
    await until(async () => (await own.runs("other")).length > 1);
    expect((await own.start(["pause", "othr"]).ended).told).toContain("Did you mean other?");
    child.kill("SIGTERM");
    await ended;
  },
);

alongside("a notebook that fails calls once, and once more when it recovers", async () => {
  await using chat = await receiver();
  const alerts = { channels: [{ kind: "chat", url: chat.url }] };
  await using bare = await project({ alerts });
  expect((await bare.once()).told).toContain('Set "pages", "notebooks" and "runbook"');
  await using own = await project({
    alerts: {
      ...alerts,
      pages: "https://lab.example.org/schedule",
      notebooks: "https://hub.example.org/tree/",
      runbook: "https://docs.example.org/schedule",
    },
  });
  const soon = '// schedule: { "every": "1 minute", "runbook": "https://docs.example.org/own" }';
  await own.add("a b", soon, "throw new Error('no luck')");
  const { child, ended } = own.start(["notebooks"]);
  await until(
    async () => (await own.runs("a b")).filter(({ state }) => state === "error").length > 1,
  );
  expect(chat.texts()).toHaveLength(1);
  const [text = ""] = chat.texts();
  expect(text).toMatch(/Severity 3: The notebook a b fails/);
  expect(text).toContain("no luck");
  expect(text).toMatch(
    /<https:\/\/lab\.example\.org\/schedule\/a-b-[0-9a-f]{8}\/[^/]+\/a%20b\.html\|page>/,
  );
  expect(text).toContain("<https://hub.example.org/tree/a%20b.ipynb|notebook>");
  expect(text).toContain("<https://docs.example.org/own|runbook>");
  await own.add("a b", soon, "1");
  await until(() => chat.texts().length > 1);
  expect(chat.texts()[1]).toMatch(/Resolved: The notebook a b fails|Resolved/);
  child.kill("SIGTERM");
  await ended;
  expect(chat.texts()).toHaveLength(2);
});

alongside(
  "a disk that takes nothing is told, and calls; what ran is written once it does",
  async () => {
    await using own = await project();
    await own.add("good", EVERY, "1");
    // A folder in the way of the notebook's own can't be written into, by root either.
    await mkdir(own.out);
    await writeFile(folderOf(own.out, "good"), "");
    const full = await own.once();
    expect(full).toMatchObject({ code: 1, told: expect.stringContaining("Can't write") as string });
    expect(full.told).not.toMatch(/^\s+at /m);
    await rm(folderOf(own.out, "good"));
    expect((await own.once()).code).toBe(0);
  },
);

const record = (index: number, state: Run["state"] = "ok"): Run => {
  const started = new Date(Date.UTC(2026, 0, 1) + index * 1_800_000).toISOString();
  const id = `${started.replace(/[-:]|\.\d+/g, "")}-${index.toString(16).padStart(6, "0")}`;
  return {
    ...{ id, notebook: "n", period: started, periods: 1, started, state, seconds: index % 7 },
    ...{ peakMemory: 3e8, exit: 0, error: null, rowsRead: 10, page: `${id}/n.html` },
  };
};

alongside(
  "outputs are kept for the last runs and the last good one, the history of all",
  async () => {
    await using own = await project();
    const folder = folderOf(own.out, "n");
    const all = Array.from({ length: 30 }, (_, index) =>
      record(index, index === 3 ? "ok" : "error"),
    );
    for (const run of all) {
      await writeRun(folder, run);
      await retain(folder, await readHistory(folder), 5);
    }
    const { runs, damaged } = await readHistory(folder);
    expect(runs.map(({ id }) => id)).toEqual(all.map(({ id }) => id).reverse());
    expect(damaged).toEqual([]);
    const kept = (await readdir(folder)).filter((name) => name.startsWith("2026"));
    expect(kept).toEqual([all[3]!.id, ...all.slice(25).map(({ id }) => id)]);
  },
);

alongside("a history that was cut is told, and the rest of it is there", async () => {
  await using own = await project();
  const folder = folderOf(own.out, "n");
  for (let index = 0; index < 20; index += 1) await writeRun(folder, record(index));
  await retain(folder, await readHistory(folder), 5);
  const path = join(folder, "history.jsonl");
  const { length } = await readFile(path);
  await truncate(path, Math.floor(length / 2));
  await truncate(join(folder, record(19).id, "run.json"), 20);
  const cut = await readHistory(folder);
  expect(cut.damaged.join("\n")).toMatch(
    /8 runs are lost: history\.jsonl was cut[^]*The run .* can't be read/,
  );
  expect(cut.runs).toHaveLength(11);
  await writeRun(folder, record(20));
  await writeRun(folder, record(21));
  await retain(folder, await readHistory(folder), 5);
  const after = await readHistory(folder);
  expect(after.runs).toHaveLength(13);
  expect(after.damaged.join("\n")).toContain(".damaged is what was left");
  await writeFile(path, "");
  expect((await readHistory(folder)).damaged.join("\n")).toContain("runs are lost");
  const at = new Date("2026-01-02");
  const seen = {
    version: 1,
    folder: "f",
    stays: false,
    looked: at.toISOString(),
    troubles: [],
    notebooks: [{ name: "n", path: "n.ipynb" }],
  };
  await writeFile(join(own.out, "schedule.json"), JSON.stringify(seen));
  const now = await readOverview(own.out, at);
  expect(now.code).toBe(1);
  expect(schedulePage(now)).toContain("runs are lost");
});
