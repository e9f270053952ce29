import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseParameter } from "../../src/kernel/parameters.js";
import { runNotebook, type RunNotebookOptions } from "../../src/kernel/run-notebook.js";
import {
  notebookFolder,
  outputText,
  readCells,
  runCells,
  writeCells,
  type CellText,
} from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

const run = (cells: readonly CellText[], options?: Omit<RunNotebookOptions, "out">) =>
  runCells(folder.path, cells, options);

describe("the cells of one notebook, run with allowErrors", () => {
  let shared: Awaited<ReturnType<typeof notebookFolder>>;
  let outcome: Awaited<ReturnType<typeof runNotebook>>;
  let cells: Awaited<ReturnType<typeof readCells>>;
  let page: string;
  const seen: string[] = [];
  const written = new Map<string, CellText>(
    Object.entries({
      title: {
        markdown: "# Drop <script>alert(1)</script>\n\n| a |\n|---|\n| 1 |",
      },
      streams: "console.log('hello'); console.error('beware'); 1 + 1",
      declaration: "const weeks: number = 12;",
      promise: "Promise.resolve({ weeks })",
      nothing: "undefined",
      lines: "let a = 1;\na",
      bundle: `({
        async [Symbol.for("Jupyter.display")]() {
          return { "text/html": "<b>x</b>", "text/plain": "x", "image/png": new Uint8Array([1, 2, 3]) };
        },
      })`,
      sized: `({ [Symbol.for("Jupyter.display")]: () => ({
        data: { "image/png": "AQID", "text/plain": "a chart" },
        metadata: { "image/png": { width: 10 } },
      }) })`,
      display: `import * as tslab from "tslab";
        tslab.display.html("<b>one</b>");
        const slot = tslab.newDisplay();
        slot.text("first");
        slot.text("second");`,
      late: "import { readFile } from 'node:fs/promises';\nconst b = 1;\nawait readFile('/nowhere/at/all');",
      causes:
        "const inner = new RangeError('too far');\nthrow new Error('outer', { cause: inner });",
      own: "import { ProbelabError, last } from 'probelab';\nlast('x');",
      told: "throw new ProbelabError(\"Can't count: no table x (UNKNOWN_TABLE).\", { cause: new Error('no table x. (version 26.1)') });",
      untold:
        "throw new ProbelabError(\"Can't count.\", { cause: new Error('the disk is full') });",
      thrown: "throw { code: 7 };",
      writes:
        "import { writeFileSync } from 'node:fs';\nwriteFileSync('made.ts', 'export const made: number = 5;');",
      reads: "import { made } from './made';\nmade + 1",
      half: "import { half } from './helper';\nhalf(4)",
      ten: "half(10)",
      odd: "half(5)",
      kept: "const kept: string = 'old';",
      failing: "const first = 'ran';\nthrow new Error('x');\nconst kept = 5;",
      after: "`${first.toUpperCase()} ${kept.toUpperCase()}`",
      options: "const some = 3; const options = { some: 4 }; let other = 0;",
      patterns: "const { some: within } = options;\n({ some, within })",
      assigned: "({ some: other } = options);\nother",
      vega: "import { compile } from 'vega-lite';\nimport * as vega from 'vega';\n[typeof compile, typeof vega.parse]",
      dynamic: "const { parse } = await import('vega');\ntypeof parse",
      itself: "import { last as latest } from 'probelab';\nlatest('3 months').timeZone",
      builtin:
        "import { setTimeout as sleep } from 'node:timers/promises';\nawait sleep(1);\ntypeof sleep",
      markdown: "import MarkdownIt from 'markdown-it';\nnew MarkdownIt().render('*a*')",
      using:
        "using file = { [Symbol.dispose]() { console.log('closed'); } };\n[3, 1, 2].toSorted()",
      forAwait: "for await (const n of [Promise.resolve(1), 2]) console.log(n);",
      out: "process.env.PROBELAB_OUT",
      hostile: "console.log('<img src=x onerror=alert(2)>');",
      hostileHtml:
        "tslab.display.html('<table><tr><td>7</td></tr></table><script>alert(3)</script>');",
    }),
  );
  const names = [...written.keys()];

  beforeAll(async () => {
    shared = await notebookFolder();
    await writeFile(
      join(shared.path, "helper.ts"),
      "export function half(n: number): number {\n  if (n % 2) throw new RangeError(`odd: ${n}`);\n  return n / 2;\n}\n",
    );
    const path = await writeCells(shared.path, [...written.values()]);
    outcome = await runNotebook(path, {
      out: join(shared.path, "out"),
      allowErrors: true,
      onProgress: ({ cell, of, state }) => seen.push(`${cell}/${of} ${state}`),
    });
    cells = await readCells(outcome.notebook);
    page = await readFile(outcome.page, "utf8");
  });
  afterAll(() => shared.remove());

  const at = (name: string) => cells[names.indexOf(name)];
  const numberOf = (name: string): number => names.indexOf(name); // Only the first one is no code.
  const outputs = (name: string): string[] => (at(name)?.outputs ?? []).map(outputText);

  test("all of them run, and progress tells of each when it begins and when it ended", () => {
    const of = names.length - 1;
    expect(outcome).toMatchObject({ status: "ok", cells: of, of, message: undefined });
    expect(seen).toHaveLength(2 * of);
    expect(seen.slice(0, 4)).toEqual([
      `1/${of} running`,
      `1/${of} ok`,
      `2/${of} running`,
      `2/${of} ok`,
    ]);
    const late = numberOf("late");
    expect(seen).toContain(`${late}/${of} error`);
  });

  test("streams and the last expression of a cell are shown", () => {
    expect(outputs("streams")).toEqual(["stdout: hello\n", "stderr: beware\n", "result: 2"]);
    expect(outputs("declaration")).toEqual([]);
    expect(outputs("promise")).toEqual(["result: { weeks: 12 }"]);
    expect(outputs("nothing")).toEqual([]);
  });

  test("nbformat 4.5 is written: ids, counts, lines", () => {
    expect(cells.map((cell) => cell.id)).toEqual(names.map((_, index) => `cell-${index}`));
    const count = numberOf("lines");
    expect(at("lines")).toMatchObject({ execution_count: count, source: ["let a = 1;\n", "a"] });
    expect(at("lines")?.outputs).toEqual([
      {
        output_type: "execute_result",
        data: { "text/plain": ["1"] },
        metadata: {},
        execution_count: count,
      },
    ]);
  });

  test("a value is shown as its Jupyter.display bundle, with its metadata", () => {
    expect(at("bundle")?.outputs?.[0]?.data).toEqual({
      "text/html": ["<b>x</b>"],
      "text/plain": ["x"],
      "image/png": "AQID",
    });
    expect(at("sized")?.outputs?.[0]).toMatchObject({ metadata: { "image/png": { width: 10 } } });
    expect(page).toContain(`<img src="data:image/png;base64,AQID" alt="a chart" width="10">`);
  });

  test("tslab.display goes on working, updates in place too", () => {
    expect(outputs("display")).toEqual(["display: <b>one</b>", "display: second"]);
  });

  test("an error that a library throws late points to the await in the cell", () => {
    expect(outputs("late")[0]).toContain("ENOENT");
    expect(outputs("late")[0]).toContain("> 3 | await readFile('/nowhere/at/all');");
  });

  test("an error shows its causes", () => {
    expect(outputs("causes")[0]).toMatch(
      /Error: outer[^]*line 2[^]*Caused by:\nRangeError: too far[^]*line 1/,
    );
  });

  test("an error of probelab shows neither its own frames nor a cause that it tells", () => {
    const place = `at cell ${numberOf("own")}, line 2`;
    expect(outputs("own")[0]).toMatch(
      new RegExp(`^ProbelabError: Can't [^\\n]*\\n {4}${place}\\n`),
    );
    expect(outputs("told")[0]).toMatch(/^ProbelabError: Can't count: no table x/);
    expect(outputs("told")[0]).not.toContain("Caused by");
    expect(outputs("untold")[0]).toContain("Caused by:\nError: the disk is full");
  });

  test("a thrown value that is no Error is shown", () => {
    expect(outputs("thrown")[0]).toContain("Thrown: { code: 7 }");
  });

  test("a cell may import a file that an earlier cell wrote", () => {
    expect(outputs("reads")).toEqual(["result: 6"]);
  });

  test("cells import files beside the notebook, whose errors point to their own lines", () => {
    expect([outputs("half"), outputs("ten")]).toEqual([["result: 2"], ["result: 5"]]);
    const [traceback] = outputs("odd");
    expect(traceback).toMatch(/RangeError: odd: 5\n {4}at .*helper\.ts, line 2\n/);
    expect(traceback).toContain("> 2 |   if (n % 2) throw new RangeError");
    expect(traceback).toContain(`at cell ${numberOf("odd")}, line 1`);
  });

  test("allowErrors keeps the error, goes on, and keeps what the failed cell declared", () => {
    expect(outputs("failing")[0]).toMatch(/^Error: x\n/);
    expect(outputs("after")).toEqual(["result: 'RAN OLD'"]);
  });

  test("names of earlier cells work in shorthand properties and in patterns", () => {
    expect(outputs("patterns")).toEqual(["result: { some: 3, within: 4 }"]);
    expect(outputs("assigned")).toEqual(["result: 4"]);
  });

  test("today's packages: ES modules with top-level await, exports only, the project itself by name", () => {
    expect(outputs("vega")).toEqual(["result: [ 'function', 'function' ]"]);
    expect(outputs("dynamic")).toEqual(["result: 'function'"]);
    expect(outputs("itself")).toEqual(["result: 'UTC'"]);
    expect(outputs("builtin")).toEqual(["result: 'function'"]);
    expect(outputs("markdown")).toEqual(["result: '<p><em>a</em></p>\\n'"]);
  });

  test("TypeScript of today: using, toSorted, for await", () => {
    expect(outputs("using")).toEqual(["stdout: closed\n", "result: [ 1, 2, 3 ]"]);
    expect(outputs("forAwait")).toEqual(["stdout: 1\n2\n"]);
  });

  test("PROBELAB_OUT in a notebook is the folder that the run writes to", () => {
    expect(outputs("out")).toEqual([`result: '${join(shared.path, "out")}'`]);
  });

  test("the page holds texts, code and outputs, escaped, and asks for nothing", () => {
    expect(page).toContain("default-src 'none'");
    expect(page).toContain("<table>");
    expect(page).toContain("<td>7</td>");
    expect(page).toContain("&lt;img src=x onerror=alert(2)&gt;");
    expect(page).not.toMatch(/<script/i);
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
  });
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

test("type errors of all cells are told, but not those that follow from others", async () => {
  const { outcome, outputs } = await run([
    "console.log('ran');\nconst weeks: number = 'three';",
    "const days = weeks * 7;",
    "days.toFixed()",
    "const name = 'x';",
    "name.toFixed();\n",
    "[1].at('0')",
  ]);
  expect(outcome.message?.split("\n")).toEqual([
    "Cells 1, 5 and 6 of 6 have type errors; nothing was run.",
    expect.stringContaining("'string' is not assignable to type 'number'. TS2322"),
    "    at cell 1, line 2",
    "      1 | console.log('ran');",
    "    > 2 | const weeks: number = 'three';",
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
  const wrong = await run([parameters, "span.toFixed()"], { params: { span: true } });
  expect(wrong.outcome.message).toBe(
    `Can't set the parameter span with --param span=true: Type 'boolean' is not assignable to type 'string'. Write text in quotes where it looks like something else: --param 'span="true"'.\nNothing was run.`,
  );
});

test("runNotebook(path) refuses to write over the notebook, or where it can't", async () => {
  const path = await writeCells(folder.path, ["1"]);
  await expect(runNotebook(path, { out: folder.path })).rejects.toThrow(
    /would replace .*test\.ipynb itself\. Name another folder with --out\./,
  );
  await expect(runNotebook(path, { out: join(path, "out") })).rejects.toThrow(/^Can't write to /);
});

test("a parameter of the wrong type is a type error, an unknown one is refused", async () => {
  const cells = [{ code: "let weeks = 12;", tags: ["parameters"] }];
  const { outcome } = await run(cells, { params: { weeks: "many" } });
  expect(outcome.message).toBe(
    `Can't set the parameter weeks with --param weeks="many": Type 'string' is not assignable to type 'number'. Give a value of the type that the notebook's parameters cell declares.\nNothing was run.`,
  );
  await expect(run(cells, { params: { week: 1 } })).rejects.toThrow(
    `Can't set the parameter "week": the notebook's parameters are weeks. Pass one of these, or declare week in the cell tagged "parameters".`,
  );
  await expect(run(["let week = 1;"], { params: { week: 2 } })).rejects.toThrow(
    `Can't set the parameter "week": no cell of the notebook is tagged "parameters". Declare week in one that is.`,
  );
});

test.each([
  ["let rate = 0.5;", "0.50", "[ 'number', 0.5 ]"],
  ["const rate: number = 0.5;", "1e3", "[ 'number', 1000 ]"],
  ["const rate = -1;", "3.10", "[ 'number', 3.1 ]"],
  ["const rate = '3.9';", "3.10", "[ 'string', '3.10' ]"],
  ["const rate: string | number = 1;", "3.10", "[ 'string', '3.10' ]"],
])("%s takes %s as what it declares", async (code, text, shown) => {
  const [name, value] = parseParameter(`rate=${text}`);
  const { outcome, outputs } = await run([{ code, tags: ["parameters"] }, "[typeof rate, rate]"], {
    params: { [name]: value },
  });
  expect(outcome.message).toBeUndefined();
  expect(outputs.at(-1)).toEqual([`result: ${shown}`]);
});

test.each([
  ["const severity: number = 2;", "severity=high", "number"],
  ["const severity = 2;", "severity=high", "number"],
  ["const severity = true;", "severity=1", "boolean"],
  ["const severity = ['IT', 'DE'];", "severity=[1]", "string"],
])("%s refuses --param %s", async (code, text, type) => {
  const [name, value] = parseParameter(text);
  const cells = [{ code, tags: ["parameters"] }, "console.log(severity)"];
  const { outcome } = await run(cells, { params: { [name]: value } });
  expect(outcome.status).toBe("error");
  expect(outcome.message).toMatch(/^Can't set the parameter severity with --param severity=/);
  expect(outcome.message).toContain(`type '${type}'`);
  expect(outcome.message).toMatch(/Nothing was run\.$/);
});

test("what is never closed is told where it was opened, and a cell after a chain of 20,000 runs", async () => {
  const { outcome, outputs } = await run(
    [
      "const n = [1];\nfor (const each of n) {\n  console.log(each);\n",
      "const text = `abc;\n",
      "const a = (1 + 2",
      `const sum = 0${" + 1".repeat(20_000)};`,
      "'fine'",
    ],
    { allowErrors: true },
  );
  expect(outcome.status).toBe("ok");
  expect(outputs[0]?.join()).toMatch(
    /^TypeScriptError: This \{ is never closed\. TS1005\n {4}'\}' expected\.\n {4}at cell 1, line 2\n/,
  );
  expect(outputs[1]?.join()).toMatch(/^TypeScriptError: Unterminated template literal\./);
  expect(outputs[2]?.join()).toMatch(
    /^TypeScriptError: '\)' expected\. TS1005\n {4}at cell 3, line 1/,
  );
  expect(outputs[3]?.join()).toContain("nested or chained more deeply");
  expect(outputs[4]).toEqual(["result: 'fine'"]);
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

test("a run keeps 5 MB of what its cells print, and 1 MB of a result's text", async () => {
  const left = "\nThis run printed more than 5 MB: the rest is left out, of later cells too.\n";
  const { outcome, outputs } = await run([
    "for (let line = 0; line < 30_000; line++) console.log('x'.repeat(99));",
    "for (let line = 0; line < 300_000; line++) console.log('y'.repeat(99));",
    "console.log('more'); const long = '«'.repeat(2_000_000);",
    "({ [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': long }) })",
  ]);
  expect(outcome.status).toBe("ok");
  const [first = [], second = [], ...later] = outputs;
  expect(first.map((text) => text.length)).toEqual(["stdout: ".length + 3_000_000]);
  expect(second.map((text) => text.length)).toEqual([
    "stdout: ".length + 2_000_000,
    `stderr: ${left}`.length,
  ]);
  expect(second[1]).toBe(`stderr: ${left}`);
  expect(later).toEqual([
    [],
    [`result: ${"«".repeat(1_000_000)}\nThis text is longer than 1 MB: the rest is left out.`],
  ]);
  expect((await readFile(outcome.page)).length).toBeLessThan(8_000_000);
});

test("a line that is printed anew a million times is a line", async () => {
  const { outputs } = await run([
    "for (let turn = 0; turn < 1_000_000; turn++) process.stdout.write(`\\r${turn} turns`);",
  ]);
  expect(outputs).toEqual([["stdout: 999999 turns"]]);
});

test("what a cell imports may be a folder, no text or not readable", async () => {
  await mkdir(join(folder.path, "folder.ts"));
  await writeFile(join(folder.path, "binary.ts"), Buffer.from([0xff, 0xfe, 0, 1]));
  const failed = async (name: string) =>
    (await run([`import * as all from "./${name}"; all`])).outcome.message;
  expect(await failed("folder")).toContain("Cannot find module './folder'");
  const path = join(folder.path, "binary.ts");
  expect(await failed("binary")).toContain(`TypeScriptError: File '${path}' is not a module.`);
});

test("a cell has no parent to send messages to", async () => {
  const { outcome, outputs } = await run([
    "process.send?.({ type: 'ended', outcome: { status: 'ok' } }); process.send?.(null);",
    "await null; throw new Error('fails');",
  ]);
  expect(outcome).toMatchObject({ status: "error", cells: 1 });
  expect(outputs[1]?.join()).toContain("Error: fails");
});

test("a recursion without end is told in a few lines", async () => {
  const { outcome } = await run(["function again(): number {\n  return again() + 1;\n}\nagain()"]);
  expect(outcome.message).toContain("RangeError: Maximum call stack size exceeded");
  expect(outcome.message!.split("\n").length).toBeLessThan(12);
});
