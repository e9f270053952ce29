import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test as sequential } from "vitest";
import { notebookFolder, outputTexts, writeCells } from "../../kernel/notebook-fixture.js";
import { receiver, status } from "../alert/receiver.js";

const main = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const test = sequential.concurrent;
const EVERY = '// schedule: { "every": "1 day", "timeout": "2 minutes" }';

/** Whether libfaketime can move a command's clock; the test of a clock that goes on is skipped where it can't, and says so. */
const canMoveTime = (() => {
  try {
    execFileSync("faketime", ["-f", "+1d", process.execPath, "--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("faketime is not installed: the test of a status that ages is skipped.");
    return false;
  }
})();

type Run = Record<"id" | "state" | "period", string> &
  Record<"error" | "page", string | null> &
  Record<"seconds" | "rowsRead", number | null>;

/** A project with a folder of notebooks, and the command in it. */
async function project(config: object = {}) {
  const { path, remove } = await notebookFolder();
  const notebooks = join(path, "notebooks");
  const out = join(path, "out");
  await mkdir(notebooks);
  await writeFile(join(path, "probelab.config.json"), JSON.stringify(config));
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, later?: string) => {
    const command = [process.execPath, main, "schedule", ...args];
    const moved = later === undefined ? command : ["faketime", "-f", later, ...command];
    const child = spawn(moved[0]!, moved.slice(1), {
      cwd: path,
      env: { ...process.env, ...env },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (part: Buffer) => (text += part.toString()));
    }
    const ended = new Promise<{ code: number | null; text: string }>((resolve) =>
      child.once("close", (code) => resolve({ code, text })),
    );
    return { child, ended };
  };
  /** The folder of a notebook's runs. */
  const folder = (name: string) => {
    const found = readdirSync(out).find((each) => new RegExp(`^${name}-[0-9a-f]{8}$`).test(each));
    return join(out, found!);
  };
  const runs = async (name: string): Promise<Run[]> => {
    const ids = (await readdir(folder(name))).filter((id) => /^\d/.test(id)).sort();
    const read = (id: string) => readFile(join(folder(name), id, "run.json"), "utf8");
    return (await Promise.all(ids.reverse().map(read))).map((text) => JSON.parse(text) as Run);
  };
  return {
    path,
    notebooks,
    out,
    folder,
    runs,
    add: (name: string, ...cells: string[]) => writeCells(notebooks, cells, `${name}.ipynb`),
    begin: () => start(["--once", "--out", out]),
    once: (env: NodeJS.ProcessEnv = {}, ...more: string[]) =>
      start(["notebooks", "--once", "--out", out, ...more], env).ended,
    status: (later?: string) => start(["notebooks", "--out", out], {}, later).ended,
    page: () => readFile(join(out, "index.html"), "utf8"),
    [Symbol.asyncDispose]: remove,
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The processes with an argument. */
function processesWith(argument: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(argument)
      );
    } catch {
      return false;
    }
  });
}

/** Code that starts a process whose parent ends before it. */
const orphan = (mark: string) => `
import { spawn } from "node:child_process";
const inner = ${JSON.stringify(`require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", ${JSON.stringify(mark)}], { stdio: "ignore" }).unref()`)};
const middle = spawn(process.execPath, ["-e", inner], { stdio: "ignore" });
await new Promise((resolve) => middle.once("exit", resolve));`;

test("each notebook runs once a period; page, status and exit code say how it went", async () => {
  await using own = await project();
  await own.add("good", EVERY, "process.env.AUTORUN", "const lab = 1;");
  await own.add("sub/../bad", EVERY, "throw new Error('no <luck>')");
  await own.add("plain", "1");
  expect((await own.status()).code).toBe(1); // They never ran.
  const first = await own.once();
  expect(first.code).toBe(1);
  expect(first.text).toMatch(/^good: ok$/m);
  expect(first.text).toMatch(/^bad: error\. Cell 2 of 2 .*no <luck>/m);
  const [good] = await own.runs("good");
  expect(good).toMatchObject({ state: "ok", error: null, page: "good.html" });
  expect(good!.seconds).toBeGreaterThan(0.3);
  const executed = join(own.folder("good"), good!.id, "good.ipynb");
  expect(await outputTexts(executed)).toContainEqual(["result: '1'"]);
  // The bad one had its run too.
  expect(await own.once()).toEqual({ code: 0, text: "" });
  const shown = await own.status();
  expect(shown.code).toBe(2);
  expect(shown.text).toMatch(
    /^fails +bad +day .*\nfine +good +day .*\n\nbad: Cell 2 of 2 [^]*no <luck>[^]*\n1 fails, 1 fine\./m,
  );
  const page = await own.page();
  expect(page).toMatch(/<h2>.*bad.*<\/h2>[^]*no &lt;luck&gt;[^]*<h2>.*good/);
  expect(page).not.toMatch(/plain|<script/);
  expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'/);
  for (const [, link = ""] of page.matchAll(/href="([^"]+)"/g)) {
    expect(existsSync(join(own.out, link)), link).toBe(true);
  }
});

test("a period without a run gets one, however many were missed; old runs go, the last good one stays", async () => {
  await using own = await project();
  await own.add("n", EVERY, "throw new Error('once more')");
  await own.once();
  const folder = own.folder("n");
  const [run] = await own.runs("n");
  await rm(join(folder, run!.id), { recursive: true });
  // As runs of two and more days ago had left them.
  const day = 86_400_000;
  for (let ago = 2; ago < 8; ago += 1) {
    const started = new Date(Date.parse(run!.period) - ago * day).toISOString();
    const id = `${started.replace(/[-:]|\.\d+/g, "")}-0000000${ago}`;
    await mkdir(join(folder, id));
    const state = ago === 7 ? "ok" : "error";
    const old = { ...run, id, started, period: started, state, page: null };
    await writeFile(join(folder, id, "run.json"), JSON.stringify(old));
  }
  const left = async (...keep: string[]) => {
    await rm(join(folder, (await own.runs("n"))[0]!.id), { recursive: true });
    await own.once({}, ...keep);
    const periods = (await own.runs("n")).map(({ period }) => Date.parse(period));
    return periods.map((each) => (Date.parse(run!.period) - each) / day);
  };
  expect(await left("--keep", "6")).toEqual([0, 3, 4, 5, 6, 7]);
  expect(await left("--keep", "2")).toEqual([0, 3, 7]);
  expect((await own.once()).text).toBe("");
});

test("a good run that a clock ahead recorded hides no failure, and is said", async () => {
  await using own = await project();
  await own.add("n", EVERY, "throw new Error('broken')");
  await own.once();
  const [run] = await own.runs("n");
  const started = new Date(Date.parse(run!.period) + 365 * 86_400_000).toISOString();
  const id = `${started.replace(/[-:]|\.\d+/g, "")}-00000001`;
  const folder = join(own.folder("n"), id);
  await mkdir(folder);
  const good = { ...run, id, started, period: started, state: "ok", error: null, page: null };
  await writeFile(join(folder, "run.json"), JSON.stringify(good));
  const { code, text } = await own.status();
  expect(text).toMatch(/^fails +n/m);
  expect(text).toContain("n: 1 run of a clock ahead left out.");
  expect(code).toBe(2);
});

sequential.skipIf(!canMoveTime)(
  "the clock goes on without a round: the status is late from the first missed period on, then at every minute",
  async () => {
    await using own = await project();
    // A period so short that its first 15 minutes are never over.
    await own.add("n", '// schedule: { "every": "5 minutes" }', "1");
    await own.once();
    for (const [later, state] of [
      ["+4m", "fine"],
      ["+26m", "late"],
      ["+3d", "late"],
      ["+4321m", "late"],
    ] as const) {
      const { code, text } = await own.status(later);
      expect(text, later).toMatch(new RegExp(`^${state} +n`, "m"));
      expect(code).toBe(state === "fine" ? 0 : 2);
    }
  },
);

test("a schedule or a state file that can't be read is a sentence, and the others run", async () => {
  await using own = await project();
  const wrong: [comment: string, why: RegExp][] = [
    ['{ every: "1 hour" }', /it is no JSON/],
    ['{ "evry": "1 hour" }', /did you mean every/],
    ['{ "every": "20 seconds" }', /shortest period is a minute/],
    ['{ "every": "1 hour", "timeout": 5 }', /a time of up to a day/],
    ["null", /Can't schedule a notebook with null/],
  ];
  for (const [at, [comment]] of wrong.entries()) await own.add(`w${at}`, `// schedule: ${comment}`);
  await own.add("good", `${EVERY}\n${"\n".repeat(160_000)}`, "1");
  execFileSync("mkfifo", [join(own.notebooks, "pipe.ipynb")]);
  await writeFile(join(own.notebooks, "cut.ipynb"), '{ "cells": [');
  expect((await own.once()).text).toMatch(/^good: ok$/m);

  const [good] = await own.runs("good");
  const shapes = ["pipe", "{", "null", '{ "state": "<script>" }'];
  for (const [at, shape] of shapes.entries()) {
    const folder = join(own.folder("good"), `20260101T000000Z-0000000${at}`);
    await mkdir(folder);
    const text = shape.includes("state") ? JSON.stringify({ ...good, state: "<script>" }) : shape;
    if (shape === "pipe") execFileSync("mkfifo", [join(folder, "run.json")]);
    else await writeFile(join(folder, "run.json"), text);
  }
  const { code, text } = await own.once();
  expect(code).toBe(1);
  for (const [at, [, why]] of wrong.entries()) {
    expect(text.split("\n").find((each) => each.startsWith(`w${at}: `))).toMatch(why);
  }
  expect(text).toMatch(/^cut: Can't read the notebook/m);
  expect(text).not.toMatch(/TypeError|^\s+at /m);
  expect(await own.page()).not.toContain("<script");
});

test("a run that never ends is ended at its timeout, with its output so far", async () => {
  await using own = await project();
  const mark = `endless-${process.pid}`;
  const reached = join(own.notebooks, "reached");
  const endless = `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(reached)}, "");
await null;
while (/^(a+)+$/.test("a".repeat(60) + "b"));`;
  // A busy machine may need more time to reach the endless cell.
  for (let seconds = 8; !existsSync(reached); seconds *= 2) {
    const limits = `// schedule: { "every": "1 day", "timeout": "${seconds} seconds" }`;
    await own.add("long", limits, "console.log('begun')", orphan(mark), endless);
    await rm(own.out, { recursive: true, force: true });
    expect((await own.once()).code).toBe(1);
    const [run] = await own.runs("long");
    expect(run!.state).toBe("timeout");
    expect(run!.error).toMatch(/^It took more than \d+ (s|min) and was ended\.$/);
    expect(processesWith(mark)).toEqual([]);
  }
  const [run] = await own.runs("long");
  const executed = join(own.folder("long"), run!.id, "long.ipynb");
  expect((await outputTexts(executed)).flat()).toContain("stdout: begun\n");
});

test("kill -9 of the scheduler: the run ends with it, is interrupted, and is made once more", async () => {
  await using own = await project();
  const mark = `orphan-${process.pid}`;
  await own.add("long", EVERY, orphan(mark), "await new Promise(() => {})");
  for (let time = 0; time < 2; time += 1) {
    const { child, ended } = own.begin();
    await until(() => processesWith(mark).length === 1);
    child.kill("SIGKILL");
    await ended;
    await until(() => processesWith(mark).length === 0);
  }
  // Twice is enough.
  expect((await own.once()).text).toBe("");
  expect((await own.runs("long")).map(({ state }) => state)).toEqual([
    "interrupted",
    "interrupted",
  ]);
  const { code, text } = await own.status();
  expect(code).toBe(2);
  expect(text).toMatch(
    /^fails +long .*\n\nlong: The scheduler or its machine ended before it did\./m,
  );
});

test("two schedulers at once never run a notebook twice; SIGTERM ends its run", async () => {
  await using own = await project();
  const begun = `import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");`;
  await own.add("long", EVERY, `${begun}\nawait new Promise(() => {})`);
  const { child, ended } = own.begin();
  await until(() => existsSync(join(own.notebooks, "begun")));
  await own.add("other", EVERY, "1");
  expect(await own.once()).toEqual({
    code: 0,
    text: "long: another process runs it at the moment.\nother: ok\n",
  });
  child.kill("SIGTERM");
  expect((await ended).code).toBe(130);
  expect((await own.runs("long")).map(({ state }) => state)).toEqual(["interrupted"]);
});

test("a hostile name reaches no shell and no markup; a password is in no file", async () => {
  await using own = await project();
  const name = `$(touch pwned) --help <img src=x onerror=alert(1)>\n"'&\u202e`;
  const password = "pa55-of-the-reader";
  const print = "console.log(process.env.PROBELAB_MEASUREMENTS_PASSWORD)";
  await own.add(
    name,
    EVERY,
    print,
    `throw new Error('<script>' + process.env.PROBELAB_MEASUREMENTS_PASSWORD)`,
  );
  const { text } = await own.once({ PROBELAB_MEASUREMENTS_PASSWORD: password });
  expect((await readdir(own.path)).sort()).not.toContain("pwned");
  const page = await own.page();
  expect(page).not.toMatch(/<img|<script|\u202e/);
  const [, link = ""] = /<h2><a href="([^"]+)"/.exec(page) ?? [];
  const target = join(
    own.out,
    decodeURIComponent(link.replace("&amp;", "&").replace("&#39;", "'")),
  );
  expect(existsSync(target)).toBe(true);
  const folder = join(target, "..");
  const files = await Promise.all(
    (await readdir(folder)).map((each) => readFile(join(folder, each), "utf8")),
  );
  expect(files).toHaveLength(3);
  for (const each of [...files, text, page]) expect(each).not.toContain(password);
});

test("a notebook that fails is an alert with its links until it recovers, whatever becomes of others'", async () => {
  await using chat = await receiver();
  const channels = [{ kind: "chat", url: chat.url }];
  await using bare = await project({ alerts: { channels } });
  expect((await bare.once()).text).toContain('set "pages", "notebooks" and "runbook"');
  await using own = await project({
    alerts: {
      channels,
      pages: "https://lab.example.org/schedule",
      notebooks: "https://hub.example.org/tree/",
      runbook: "https://docs.example.org/schedule",
    },
  });
  await own.add("a b", EVERY, "throw new Error('no luck')");
  chat.answer(status(403));
  // Nobody was called: the next run, in which it isn't due, calls.
  expect((await own.once()).text).toMatch(/no channel took it \(chat: failed, it answered 403\)/);
  expect(await own.once()).toEqual({ code: 0, text: "" });
  expect(chat.texts()).toHaveLength(2);
  const [, text = ""] = chat.texts();
  expect(text).toMatch(/Severity 3: The notebook a b fails/);
  expect(text).toContain("no luck");
  expect(text).toMatch(
    /<https:\/\/lab\.example\.org\/schedule\/a-b-[0-9a-f]{8}\/[^/]+\/a%20b\.html\|page>/,
  );
  expect(text).toContain("<https://hub.example.org/tree/a%20b.ipynb|notebook>");
  expect(text).toContain("<https://docs.example.org/schedule|runbook>");
  await own.once();
  expect(chat.texts()).toHaveLength(2);

  // It recovers while the alert of another, which comes before it, can't be sent.
  await rm(own.folder("a-b"), { recursive: true });
  await own.add("a b", EVERY, "1");
  await own.add("a", EVERY, "throw new Error('another')");
  chat.answer(status(500));
  await own.once();
  expect(chat.texts()[3]).toMatch(/Resolved: The notebook a b fails/);
});

test("each round is heard of by a URL and by an alert that expires, unless the disk is full", async () => {
  await using listener = await receiver();
  const heartbeat = [
    { kind: "url", url: `${listener.url}/ping` },
    { kind: "alertmanager", url: listener.url },
  ];
  await using own = await project({ alerts: { heartbeat } });
  await own.add("n", EVERY, "1");
  listener.answer(status(500));
  const first = await own.once();
  expect(first).toMatchObject({ code: 1 });
  expect(first.text).toMatch(
    /^Can't send the heartbeat to (url|alertmanager): it answered 500\.$/m,
  );
  const paths = listener.received.map(({ path }) => path).sort();
  expect(paths).toEqual(["/api/v2/alerts", "/api/v2/alerts", "/ping", "/ping"]);
  const posted = listener.received.find(({ path }) => path !== "/ping")!;
  const [beat] = JSON.parse(posted.body.toString()) as Record<
    string,
    Record<string, string> & string
  >[];
  expect(beat!["labels"]).toMatchObject({ severity: "info", source: "probelab" });
  expect(beat!["labels"]!["alertname"]).toMatch(/^probelab heartbeat of .*:.*\/notebooks$/);
  const minutes = (Date.parse(beat!["endsAt"]!) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(10);
  expect(minutes).toBeLessThan(15.1);

  // A folder in its place can't be written into by root either.
  listener.received.length = 0;
  await rm(join(own.out, "index.html"));
  await mkdir(join(own.out, "index.html", "in the way"), { recursive: true });
  expect((await own.once()).code).toBe(1);
  expect(listener.received).toEqual([]);
});
