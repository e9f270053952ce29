import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../notebook/notebook-fixture.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

// Most of each test's time is the start of a notebook's process: they run side by side.
const alongside = test.concurrent;
const onLinux = existsSync("/proc/self/stat") ? alongside : test.skip;

/** A folder of a test's own. */
async function ownFolder(): Promise<{ path: string } & AsyncDisposable> {
  const { path, remove } = await notebookFolder();
  return { path, [Symbol.asyncDispose]: remove };
}

async function run(cells: readonly string[]) {
  await using folder = await ownFolder();
  const path = await writeCells(folder.path, cells);
  const outcome = await runNotebook(path, { out: join(folder.path, "out") });
  return { outcome, outputs: await outputTexts(outcome.notebook) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}

onLinux(
  "a million printed lines are kept, and need little memory; no file is watched",
  async () => {
    const held = "process.resourceUsage().maxRSS / 1024";
    const { outcome, outputs } = await run([
      `const before = ${held}; for (let i = 0; i < 1e6; i++) console.log(i);`,
      `Math.round(${held} - before) < 500`,
      `import { readdirSync, readFileSync, readlinkSync } from "node:fs";
    import { chart } from "probelab";
    const watched = readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        if (!readlinkSync("/proc/self/fd/" + fd).includes("inotify")) return [];
        return readFileSync("/proc/self/fdinfo/" + fd, "utf8").match(/^inotify/gm) ?? [];
      } catch {
        return [];
      }
    });
    [watched.length, process.getActiveResourcesInfo().filter((each) => /watch|FSEvent/i.test(each))]`,
    ]);
    expect(outcome.status).toBe("ok");
    const [text = ""] = outputs[0] ?? [];
    expect(text.split("\n").length).toBe(1e6 + 1);
    expect(text.endsWith("999998\n999999\n")).toBe(true);
    expect(outputs[1]).toEqual(["result: true"]);
    expect(outputs[2]).toEqual(["result: [ 0, [] ]"]);
  },
);

alongside(
  "no password reaches notebook or page: in pieces, late, or printed by a child",
  async () => {
    await using folder = await ownFolder();
    const password = "Zq-pieces-5ecret";
    const path = await writeCells(folder.path, [
      `import { connect } from "probelab";
     await connect({ measurements: "http://ann:${password}@127.0.0.1:1/db" }).catch(() => 1);
     const [first, second] = ["Zq-pieces", "-5ecret"];`,
      `process.stdout.write(first!); process.stdout.write(second!); process.stdout.write(" one\\n");`,
      `await new Promise((resolve) => setTimeout(resolve, 300));
     const { execSync, spawn } = await import("node:child_process");
     execSync("echo child $A$B; echo error $A$B >&2", { stdio: "inherit", env: { ...process.env, A: first, B: second } });`,
    ]);
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    const texts = (await outputTexts(outcome.notebook)).flat().join("\n");
    expect(texts).toContain("*** one");
    expect(texts).toContain("child ***");
    expect(texts).toContain("error ***");
    const page = readFileSync(outcome.page, "utf8");
    const cells = JSON.parse(readFileSync(outcome.notebook, "utf8")) as {
      cells: { outputs: unknown }[];
    };
    const outputs = JSON.stringify(cells.cells.map((cell) => cell.outputs));
    expect(outputs).not.toContain(password);
    // The first cell's code holds it, as its writer wrote it.
    expect(page.split(password)).toHaveLength(2);
  },
);

/** A project with a package installed in it that holds a notebook. */
async function projectWithPackage(folder: string, cells: readonly string[]): Promise<string> {
  const project = join(await realpath(folder), "project");
  const notebooks = join(project, "node_modules", "other", "notebooks");
  await mkdir(notebooks, { recursive: true });
  await writeFile(join(project, "package.json"), "{}");
  await writeFile(join(project, "node_modules", "other", "package.json"), "{}");
  await symlink(root, join(project, "node_modules", "probelab"), "junction");
  await writeCells(notebooks, cells);
  return project;
}

function probelab(project: string, ...args: string[]) {
  const main = join(root, "dist", "cli", "main.js");
  const running = spawn(process.execPath, [main, ...args], { cwd: project });
  let stderr = "";
  running.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    running.once("close", (code) => resolve({ code, stderr })),
  );
  return { running, ended };
}

const notebook = join("node_modules", "other", "notebooks", "test.ipynb");

alongside("a notebook in a package works on the project where the command was typed", async () => {
  await using folder = await ownFolder();
  const project = await projectWithPackage(folder.path, [
    `import { connect } from "probelab";\nconst lab = await connect();\nlab.source`,
  ]);
  const { code } = await probelab(project, "run", notebook).ended;
  expect(code).toBe(0);
  expect(existsSync(join(project, ".probelab"))).toBe(true);
  expect(existsSync(join(project, "node_modules", "other", ".probelab"))).toBe(false);
});

alongside(
  "SIGTERM ends a run whose cell hears nothing, with the process that an earlier cell left",
  async () => {
    await using folder = await ownFolder();
    const project = await projectWithPackage(folder.path, [
      `import { writeFileSync } from "node:fs";\nwriteFileSync("begun", "");\nawait null;\nwhile (/^(a+)+$/.test("a".repeat(60) + "b"));`,
    ]);
    const { running, ended } = probelab(project, "run", notebook);
    await until(() => existsSync(join(project, "node_modules", "other", "notebooks", "begun")));
    running.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toContain("Interrupted: 0 of 1 cells ran");
    const outputs = await outputTexts(join(project, "out", "test.ipynb"));
    expect(outputs[0]?.join()).toContain("The run was interrupted");
  },
);
