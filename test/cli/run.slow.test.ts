import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  notebookFolder,
  outputTexts,
  writeCells,
  type CellText,
} from "../kernel/notebook-fixture.js";
import { start as startCommand } from "../support/command.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

const start = (...args: string[]) =>
  startCommand(["run", ...args, "--out", join(folder.path, "out")]);

async function run(cells: readonly CellText[], ...args: string[]) {
  return start(await writeCells(folder.path, cells), ...args).ended;
}

test("probelab run prints a line per cell and what it wrote", async () => {
  const { code, out, err } = await run(["1", "2"]);
  expect(code).toBe(0);
  expect(err).toMatch(/cell 1\/2 … [\d.]+ s\ncell 2\/2 … [\d.]+ s\n/);
  const files = out.trim().split("\n");
  expect(files).toEqual(["ipynb", "html"].map((type) => join(folder.path, "out", `test.${type}`)));
  expect(files.every((file) => existsSync(file))).toBe(true);
});

test.each([
  ["a failure", 1, /^Cell 2 of 2 failed/m, "throw new Error('x')"],
  ["a death", 5, /process ended in cell 2 of 2 \(exit code 3\)/, "process.exit(3)"],
] as const)(
  "probelab run tells %s by exit code %i and %s, and keeps what ran",
  async (_, status, message, cell) => {
    const { code, err } = await run(["console.log('so far')", cell]);
    expect({ code, err }).toMatchObject({ code: status });
    expect(err).toMatch(message);
    const outputs = await outputTexts(join(folder.path, "out", "test.ipynb"));
    expect(outputs[0]).toEqual(["stdout: so far\n"]);
  },
);

test("probelab run --param sets numbers, text and lists; --allow-errors goes on and exits with 0", async () => {
  const parameters = {
    code: "let n = 1, s = 'a', l: number[] = []; const v = '1.0', w = '';",
    tags: ["parameters"],
  };
  const { code } = await run(
    [parameters, "throw new Error('x')", "[n, s, l, v, w]"],
    ...[
      "--allow-errors",
      "--param",
      "n=2",
      "--param",
      "s=b c",
      "--param",
      "l=[3]",
      "--param",
      "v=3.10",
      "--param",
      "w=3.9",
    ],
  );
  expect(code).toBe(0);
  const outputs = await outputTexts(join(folder.path, "out", "test.ipynb"));
  expect(outputs[3]).toEqual(["result: [ 2, 'b c', [ 3 ], '3.10', '3.9' ]"]);
});

test("an interrupted run ends its cell and keeps what ran", async () => {
  // It hears nothing: only the process that runs it can be ended.
  const deaf = `await null; while (/^(a+)+$/.test("a".repeat(60) + "b"));`;
  const path = await writeCells(folder.path, ["'first'", deaf]);
  const { child, ended } = start(path);
  await until(() => workerRuns(2));
  child.kill("SIGTERM");
  const { code, err } = await ended;
  expect({ code, err }).toMatchObject({ code: 130 });
  expect(err.trim().split("\n").at(-1)).toBe(
    `Interrupted: 1 of 2 cells ran; they are in ${join(folder.path, "out", "test.ipynb")}.`,
  );
  const outputs = await outputTexts(join(folder.path, "out", "test.ipynb"));
  expect(outputs[0]).toEqual(["result: 'first'"]);
});

test("a runner that is killed leaves no notebook's process behind, not even one in a loop", async () => {
  const path = await writeCells(folder.path, ["'first'", "for (;;);"]);
  const { child, ended } = start(path);
  await until(() => workerRuns(2));
  child.kill("SIGKILL");
  await ended;
  await until(() => workers().length === 0);
});

/** True when the cells before `cell` are on disk, and its process is there. */
function workerRuns(cell: number): boolean {
  const file = join(folder.path, "out", "test.ipynb");
  if (!existsSync(file) || workers().length === 0) return false;
  const { cells } = JSON.parse(readFileSync(file, "utf8")) as {
    cells: { execution_count: number | null }[];
  };
  return cells[cell - 2]?.execution_count === cell - 1;
}

/** Processes that work in this test's folder. */
function workers(): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      const environment = readFileSync(join("/proc", name, "environ"), "utf8");
      const command = readFileSync(join("/proc", name, "cmdline"), "utf8");
      return command.includes("worker-main") && environment.includes(folder.path);
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}
