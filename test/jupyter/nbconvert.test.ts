import { stripVTControlCharacters } from "node:util";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../kernel/notebook-fixture.js";
import { jupyterEnvironment, python, skipped } from "./jupyter.js";

const run = promisify(execFile);

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function jupyter(args: string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  try {
    const ended = await run(python ?? "python3", ["-m", ...args], { env: environment });
    return { code: 0, ...ended };
  } catch (error) {
    return error as Ended;
  }
}

describe.skipIf(python === undefined)(`nbconvert with the installed kernel${skipped}`, () => {
  const environment = jupyterEnvironment();
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  const execute = (name: string, ...more: string[]) =>
    jupyter(
      [
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--ExecutePreprocessor.kernel_name=probelab",
        "--output",
        `executed-${name}`,
        ...more,
        join(folder.path, name),
      ],
      environment,
    );

  beforeAll(async () => {
    folder = await notebookFolder();
    await installKernel(environment);
  });
  afterAll(() => folder.remove());

  test("a notebook is executed, with counts and the same outputs as by probelab run", async () => {
    const path = await writeCells(
      folder.path,
      [
        { markdown: "# Text" },
        "import { last } from 'probelab';\nconst weeks = 3;\nconsole.log('printed');",
        "({ weeks, zone: last('1 day').timeZone })",
        "const { parse } = await import('vega');\ntypeof parse",
      ],
      "good.ipynb",
    );
    const { code } = await execute("good.ipynb");
    expect(code).toBe(0);
    const executed = join(folder.path, "executed-good.ipynb");
    const own = await runNotebook(path, { out: join(folder.path, "out") });
    expect(await outputTexts(executed)).toEqual(await outputTexts(own.notebook));
    const { cells } = JSON.parse(await readFile(executed, "utf8")) as {
      cells: { execution_count?: number }[];
    };
    expect(cells.map((cell) => cell.execution_count)).toEqual([undefined, 1, 2, 3]);
  });

  test("a failing cell ends nbconvert with code 1 and its error", async () => {
    await writeCells(folder.path, ["const a = 1;\nthrow new TypeError('broken');"], "bad.ipynb");
    const { code, stderr } = await execute("bad.ipynb");
    expect(code).toBe(1);
    expect(stripVTControlCharacters(stderr)).toContain("TypeError: broken");
    expect(stripVTControlCharacters(stderr)).toContain("> 2 | throw new TypeError('broken');");
  });

  test("what probelab run writes is valid for nbformat", async () => {
    const path = await writeCells(
      folder.path,
      [
        { markdown: "text" },
        "console.log('x'); 1",
        "({ [Symbol.for('Jupyter.display')]: () => ({ 'image/png': 'AQID', 'application/json': { a: [1] } }) })",
        "throw new Error('x')",
      ],
      "valid.ipynb",
    );
    const { notebook } = await runNotebook(path, { out: join(folder.path, "out") });
    const check = `import nbformat, sys; nbformat.validate(nbformat.read(sys.argv[1], as_version=nbformat.NO_CONVERT))`;
    await run(python ?? "python3", ["-c", check, notebook], { env: environment });
  });
});
