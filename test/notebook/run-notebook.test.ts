import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runNotebook, type RunNotebookOptions } from "../../src/notebook/run-notebook.js";
import {
  notebookFolder,
  outputTexts,
  readCells,
  writeCells,
  type CellText,
} from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

async function run(cells: readonly CellText[], options: Omit<RunNotebookOptions, "out"> = {}) {
  const path = await writeCells(folder.path, cells);
  const outcome = await runNotebook(path, { ...options, out: join(folder.path, "out") });
  return { outcome, outputs: await outputTexts(outcome.notebook) };
}

test("runNotebook(path) shows streams and the last expression of a cell", async () => {
  const { outcome, outputs } = await run([
    "console.log('hello'); console.error('beware'); 1 + 1",
    "const weeks: number = 12;",
    "Promise.resolve({ weeks })",
    "undefined",
  ]);
  expect(outcome).toMatchObject({ status: "ok", cells: 4, of: 4 });
  expect(outputs).toEqual([
    ["stdout: hello\n", "stderr: beware\n", "result: 2"],
    [],
    ["result: { weeks: 12 }"],
    [],
  ]);
});

test("runNotebook(path) writes nbformat 4.5: ids, counts, lines", async () => {
  const { outcome } = await run([{ markdown: "# Title" }, "let a = 1;\na"]);
  const cells = await readCells(outcome.notebook);
  expect(cells.map((cell) => cell.id)).toEqual(["cell-0", "cell-1"]);
  expect(cells[1]).toMatchObject({ execution_count: 1, source: ["let a = 1;\n", "a"] });
  expect(cells[1]?.outputs).toEqual([
    {
      output_type: "execute_result",
      data: { "text/plain": ["1"] },
      metadata: {},
      execution_count: 1,
    },
  ]);
});

test("runNotebook(path) shows a value as its Jupyter.display bundle", async () => {
  const { outcome } = await run([
    `({
      async [Symbol.for("Jupyter.display")]() {
        return { "text/html": "<b>x</b>", "text/plain": "x", "image/png": new Uint8Array([1, 2, 3]) };
      },
    })`,
  ]);
  const [cell] = await readCells(outcome.notebook);
  expect(cell?.outputs?.[0]?.data).toEqual({
    "text/html": ["<b>x</b>"],
    "text/plain": ["x"],
    "image/png": "AQID",
  });
});

test("runNotebook(path) keeps a bundle's metadata, such as the size of a picture", async () => {
  const { outcome } = await run([
    `({ [Symbol.for("Jupyter.display")]: () => ({
      data: { "image/png": "AQID", "text/plain": "a chart" },
      metadata: { "image/png": { width: 10 } },
    }) })`,
  ]);
  const [cell] = await readCells(outcome.notebook);
  expect(cell?.outputs?.[0]).toMatchObject({ metadata: { "image/png": { width: 10 } } });
  const page = await readFile(outcome.page, "utf8");
  expect(page).toContain(`<img src="data:image/png;base64,AQID" alt="a chart" width="10">`);
});

test("tslab.display goes on working, updates in place too", async () => {
  const { outputs } = await run([
    `import * as tslab from "tslab";
     tslab.display.html("<b>one</b>");
     const slot = tslab.newDisplay();
     slot.text("first");
     slot.text("second");`,
  ]);
  expect(outputs).toEqual([["display: <b>one</b>", "display: second"]]);
});

test("a failing cell stops the run with its message and a frame of its own lines", async () => {
  const { outcome, outputs } = await run([
    "const before = 1;",
    "function boom(n: number): never {\n  throw new TypeError(`bad ${n}`);\n}\nboom(before);",
    "console.log('never');",
  ]);
  expect(outcome).toMatchObject({ status: "error", cells: 1, of: 3 });
  const traceback = [
    "TypeError: bad 1",
    "    at cell 2, line 2",
    "      1 | function boom(n: number): never {",
    "    > 2 |   throw new TypeError(`bad ${n}`);",
    "        |         ^",
    "      3 | }",
    "      4 | boom(before);",
    "    at cell 2, line 4",
  ].join("\n");
  expect(outcome.message).toBe(`Cell 2 of 3 failed.\n${traceback}`);
  expect(outputs).toEqual([[], [traceback], []]);
});

test("an error that a library throws late points to the await in the cell", async () => {
  const { outcome } = await run([
    "import { readFile } from 'node:fs/promises';\nconst a = 1;\nawait readFile('/nowhere/at/all');",
  ]);
  expect(outcome.message).toContain("ENOENT");
  expect(outcome.message).toContain("> 3 | await readFile('/nowhere/at/all');");
});

test("an error shows its causes", async () => {
  const { outcome } = await run([
    "const inner = new RangeError('too far');\nthrow new Error('outer', { cause: inner });",
  ]);
  expect(outcome.message).toMatch(
    /Error: outer[^]*line 2[^]*Caused by:\nRangeError: too far[^]*line 1/,
  );
});

test("an error of probelab shows neither its own frames nor a cause that it tells", async () => {
  const { outcome } = await run(
    [
      "import { ProbelabError, last } from 'probelab';",
      "last('x');",
      "throw new ProbelabError(\"Can't count: no table x (UNKNOWN_TABLE).\", { cause: new Error('no table x. (version 26.1)') });",
      "throw new ProbelabError(\"Can't count.\", { cause: new Error('the disk is full') });",
    ],
    { allowErrors: true },
  );
  const [, frames, said, unsaid] = await outputTexts(outcome.notebook);
  expect(frames?.[0]).toMatch(/^ProbelabError: Can't [^\n]*\n {4}at cell 2, line 1\n/);
  expect(said?.[0]).not.toContain("Caused by");
  expect(unsaid?.[0]).toContain("Caused by:\nError: the disk is full");
});

test("a thrown value that is no Error is shown", async () => {
  const { outcome } = await run(["throw { code: 7 };"]);
  expect(outcome.message).toContain("Thrown: { code: 7 }");
});

test("type errors are shown before anything of the cell runs", async () => {
  const { outcome, outputs } = await run(["console.log('ran');\nconst n: number = 'text';"]);
  expect(outcome.status).toBe("error");
  expect(outputs).toEqual([
    [
      [
        "TypeScriptError: Type 'string' is not assignable to type 'number'. TS2322",
        "    at cell 1, line 2",
        "      1 | console.log('ran');",
        "    > 2 | const n: number = 'text';",
        "        |       ^",
      ].join("\n"),
    ],
  ]);
});

test("a type error in a later cell is shown before anything of the notebook runs", async () => {
  const { outcome, outputs } = await run([
    "const weeks = 3;\nconsole.log('ran');",
    "weeks.toFixed(1)",
    "weeks.toUpperCase()",
  ]);
  expect(outcome).toMatchObject({ status: "error", cells: 0, of: 3 });
  expect(outcome.message).toMatch(
    /^Cell 3 of 3 has a type error; nothing was run\.\nTypeScriptError: Property 'toUpperCase'/,
  );
  expect(outputs.map((texts) => texts.length)).toEqual([0, 0, 1]);
});

test("type errors of all cells are told, but not those that follow from others", async () => {
  const { outcome, outputs } = await run([
    "const weeks: number = 'three';",
    "const days = weeks * 7;",
    "days.toFixed()",
    "const name = 'x';",
    "name.toFixed();\n",
    "[1].at('0')",
  ]);
  expect(outcome.message?.split("\n")).toEqual([
    "Cells 1, 5 and 6 of 6 have type errors; nothing was run.",
    expect.stringContaining("'string' is not assignable to type 'number'. TS2322"),
    "    at cell 1, line 1",
    "    > 1 | const weeks: number = 'three';",
    "        |       ^^^^^",
    expect.stringMatching(/^Cell 5, line 1: Property 'toFixed' does not exist/),
    expect.stringMatching(/^Cell 6, line 1: Argument of type 'string'/),
  ]);
  expect(outputs.map((texts) => texts.length)).toEqual([1, 0, 0, 0, 1, 1]);
});

test("numbers of cells are those of the notebook, without the cell that sets parameters", async () => {
  const parameters = { code: "let span = '3 months';", tags: ["parameters"] };
  const seen: string[] = [];
  const onProgress: RunNotebookOptions["onProgress"] = ({ cell, of, state }) =>
    seen.push(`${cell}/${of} ${state}`);
  const { outcome } = await run([parameters, "throw new Error(span);"], {
    params: { span: "1 week" },
    onProgress,
  });
  expect(outcome).toMatchObject({ cells: 1, of: 2 });
  expect(outcome.message).toMatch(/^Cell 2 of 2 failed\.\nError: 1 week\n {4}at cell 2, line 1\n/);
  expect(seen).toEqual(["1/2 running", "1/2 ok", "2/2 running", "2/2 error"]);
  const page = await readFile(outcome.page, "utf8");
  expect(page).toContain("parameters of this run");
  expect(page).toContain("Code, cell 2<");
  expect(page).not.toContain("Code, cell 3<");
  const wrong = await run([parameters, "span.toFixed()"], { params: { span: 3 } });
  expect(wrong.outcome.message).toBe(
    `Can't set the parameter span with --param span=3: Type 'number' is not assignable to type 'string'. Write text in quotes where it looks like something else: --param 'span="3"'.\nNothing was run.`,
  );
});

test("a cell may import a file that an earlier cell wrote", async () => {
  const { outcome, outputs } = await run([
    "import { writeFileSync } from 'node:fs';\nwriteFileSync('made.ts', 'export const made: number = 5;');",
    "import { made } from './made';\nmade + 1",
  ]);
  expect(outcome.message).toBeUndefined();
  expect(outputs[1]).toEqual(["result: 6"]);
});

test("cells import files beside the notebook, whose errors point to their own lines", async () => {
  await writeFile(
    join(folder.path, "helper.ts"),
    "export function half(n: number): number {\n  if (n % 2) throw new RangeError(`odd: ${n}`);\n  return n / 2;\n}\n",
  );
  const { outcome, outputs } = await run([
    "import { half } from './helper';\nhalf(4)",
    "half(10)",
    "half(5)",
  ]);
  expect(outputs.slice(0, 2)).toEqual([["result: 2"], ["result: 5"]]);
  expect(outcome.message).toMatch(/RangeError: odd: 5\n {4}at .*helper\.ts, line 2\n/);
  expect(outcome.message).toContain("> 2 |   if (n % 2) throw new RangeError");
  expect(outcome.message).toContain("at cell 3, line 1");
});

test("a cell with @module is a module for later cells", async () => {
  const { outputs } = await run([
    "/** @module shared */\nexport const answer: number = 42;",
    "import { answer } from './shared';\nanswer",
  ]);
  expect(outputs).toEqual([[], ["result: 42"]]);
});

test("runNotebook(path) refuses to write over the notebook, or where it can't", async () => {
  const path = await writeCells(folder.path, ["1"]);
  await expect(runNotebook(path, { out: folder.path })).rejects.toThrow(
    /would replace .*test\.ipynb itself\. Name another folder with --out\./,
  );
  await expect(runNotebook(path, { out: join(path, "out") })).rejects.toThrow(/^Can't write to /);
});

test("allowErrors keeps the error, goes on, and keeps what the failed cell declared", async () => {
  const { outcome, outputs } = await run(
    [
      "const kept: string = 'old';",
      "const first = 'ran';\nthrow new Error('x');\nconst kept = 5;",
      "`${first.toUpperCase()} ${kept.toUpperCase()}`",
    ],
    { allowErrors: true },
  );
  expect(outcome).toMatchObject({ status: "ok", cells: 3 });
  expect(outputs[2]).toEqual(["result: 'RAN OLD'"]);
});

test("names of earlier cells work in shorthand properties and in patterns", async () => {
  const { outputs } = await run([
    "const weeks = 3; const options = { weeks: 4 }; let other = 0;",
    "const { weeks: inner } = options;\n({ weeks, inner })",
    "({ weeks: other } = options);\nother",
  ]);
  expect(outputs.slice(1)).toEqual([["result: { weeks: 3, inner: 4 }"], ["result: 4"]]);
});

test("today's packages: ES modules with top-level await, exports only, the project itself by name", async () => {
  const { outcome, outputs } = await run([
    "import { compile } from 'vega-lite';\nimport * as vega from 'vega';\n[typeof compile, typeof vega.parse]",
    "const { parse } = await import('vega');\ntypeof parse",
    "import { last } from 'probelab';\nlast('3 months').timeZone",
    "import { setTimeout as sleep } from 'node:timers/promises';\nawait sleep(1);\ntypeof sleep",
    "import MarkdownIt from 'markdown-it';\nnew MarkdownIt().render('*a*')",
  ]);
  expect(outcome.message).toBeUndefined();
  expect(outputs).toEqual([
    ["result: [ 'function', 'function' ]"],
    ["result: 'function'"],
    ["result: 'UTC'"],
    ["result: 'function'"],
    ["result: '<p><em>a</em></p>\\n'"],
  ]);
});

test("TypeScript of today: using, toSorted, for await", async () => {
  const { outputs } = await run([
    "using file = { [Symbol.dispose]() { console.log('closed'); } };\n[3, 1, 2].toSorted()",
    "for await (const n of [Promise.resolve(1), 2]) console.log(n);",
  ]);
  expect(outputs).toEqual([["stdout: closed\n", "result: [ 1, 2, 3 ]"], ["stdout: 1\n2\n"]]);
});

test("params are assigned in a cell after the one tagged parameters", async () => {
  const { outcome, outputs } = await run(
    [
      { code: "let weeks = 12;\nlet name = 'a';\nconst top = 3;", tags: ["parameters"] },
      "[weeks, name, top]",
    ],
    { params: { weeks: 26, top: 5 } },
  );
  expect(outputs).toEqual([[], [], ["result: [ 26, 'a', 5 ]"]]);
  const cells = await readCells(outcome.notebook);
  expect(cells[1]).toMatchObject({ metadata: { tags: ["injected-parameters"] } });
});

test("a parameter of the wrong type is a type error, an unknown one is refused", async () => {
  const cells = [{ code: "let weeks = 12;", tags: ["parameters"] }];
  const { outcome } = await run(cells, { params: { weeks: "many" } });
  expect(outcome.message).toBe(
    `Can't set the parameter weeks with --param weeks="many": Type 'string' is not assignable to type 'number'. Give a value of the type that the notebook's parameters cell declares.\nNothing was run.`,
  );
  await expect(run(cells, { params: { week: 1 } })).rejects.toThrow(
    `Can't set the parameter "week": the notebook's parameters cell declares weeks.`,
  );
});

test("a cell that takes too long is stopped, awaiting or looping", async () => {
  for (const code of ["await new Promise(() => {});", "for (;;);"]) {
    const { outcome, outputs } = await run(["console.log('so far')", code], { timeout: 1 });
    expect(outcome.status).toBe("timeout");
    expect(outcome.message).toBe(
      "Cell 2 of 2 took longer than 1 s and was stopped. Allow more with --timeout, or ask for a shorter range.",
    );
    expect(outputs[0]).toEqual(["stdout: so far\n"]);
  }
});

test("a cell that takes too much memory ends the run with what was written so far", async () => {
  const { outcome, outputs } = await run(
    ["console.log('so far')", "const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1));"],
    { memory: 400 },
  );
  expect(outcome.status).toBe("memory");
  expect(outcome.message).toMatch(/^Cell 2 of 2 needed more than 400 MB/);
  expect(outputs[0]).toEqual(["stdout: so far\n"]);
});

test("a cell that ends its process is told apart from one that fails", async () => {
  const { outcome, outputs } = await run(["console.log('so far'); process.exit(3);"]);
  expect(outcome.status).toBe("died");
  expect(outcome.message).toMatch(/^The notebook's process ended in cell 1 of 1 \(exit code 3\)/);
  expect(outputs[0]?.[0]).toBe("stdout: so far\n");
});

test("progress tells of each cell when it begins and when it ended", async () => {
  const seen: string[] = [];
  await run([{ markdown: "text" }, "1", "2"], {
    onProgress: ({ cell, of, state }) => seen.push(`${cell}/${of} ${state}`),
  });
  expect(seen).toEqual(["1/2 running", "1/2 ok", "2/2 running", "2/2 ok"]);
});

test("PROBELAB_OUT in a notebook is the folder that the run writes to", async () => {
  const { outcome } = await run(["process.env.PROBELAB_OUT"]);
  expect(await outputTexts(outcome.notebook)).toEqual([[`result: '${join(folder.path, "out")}'`]]);
});

test("the page holds texts, code and outputs, escaped, and asks for nothing", async () => {
  const { outcome } = await run([
    { markdown: "# Drop <script>alert(1)</script>\n\n| a |\n|---|\n| 1 |" },
    "console.log('<img src=x onerror=alert(2)>');",
    "import * as tslab from 'tslab';\ntslab.display.html('<table><tr><td>7</td></tr></table><script>alert(3)</script>');",
  ]);
  const page = await readFile(outcome.page, "utf8");
  expect(page).toContain("default-src 'none'");
  expect(page).toContain("<table>");
  expect(page).toContain("<td>7</td>");
  expect(page).toContain("&lt;img src=x onerror=alert(2)&gt;");
  expect(page).not.toMatch(/<script/i);
  expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
});

test("runNotebook(path) says what is wrong with a file that is no notebook", async () => {
  const texts = { "text.ipynb": "# Weeks", "list.ipynb": "[1]", "old.ipynb": '{"nbformat": 3}' };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder.path, name), text);
  const reasons = {
    "none.ipynb": "there is no such file. Check the path.",
    ".": "it is a folder: name the .ipynb in it.",
    "text.ipynb": "it is not a notebook (no JSON).",
    "list.ipynb": "it is JSON, but not a notebook of nbformat 4.",
    "old.ipynb": "it is JSON, but not a notebook of nbformat 4.",
  };
  for (const [name, reason] of Object.entries(reasons)) {
    const path = join(folder.path, name);
    await expect(runNotebook(path)).rejects.toThrow(`Can't read the notebook ${path}: ${reason}`);
  }
});
