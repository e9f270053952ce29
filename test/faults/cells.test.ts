import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notebookFolder, runCells } from "../kernel/notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
/** The outputs of each group of cells. */
const shown = new Map<keyof typeof GROUPS, string[][]>();
beforeAll(async () => {
  folder = await notebookFolder();
  await writeFile(
    join(folder.path, "counter.ts"),
    "export const state: { n: number } = { n: 0 };\n",
  );
  await Promise.all([runGroups("hostile"), runGroups("modules", "changed", "arquero")]);
}, 240_000);
afterAll(() => folder.remove());

/** Runs groups of cells as one notebook: its start takes longer than most cells. */
async function runGroups(...names: (keyof typeof GROUPS)[]): Promise<void> {
  const { outcome, outputs } = await run(
    names.flatMap((name) => [...GROUPS[name]]),
    { allowErrors: true, name: names.join("-") },
  );
  expect(outcome).toMatchObject({ status: "ok", cells: outputs.length });
  for (const name of names) shown.set(name, outputs.splice(0, GROUPS[name].length));
}

const run = (
  cells: readonly string[],
  { allowErrors = false, name = "checked" }: { allowErrors?: boolean; name?: string } = {},
) => runCells(folder.path, cells, { allowErrors }, `${name}.ipynb`);

const tooDeep = /^ProbelabError: Can't compile cell \d+: it is nested or chained more deeply/;

/** Cells that must end with an error, and what it says. */
const hostile: [code: string, error: RegExp][] = [
  [`const chained = text${".trim()".repeat(1000)};`, tooDeep],
  [`const list = ${"[".repeat(1000)}${"]".repeat(1000)};`, tooDeep],
  [`const sum = ${"(".repeat(2000)}1${")".repeat(2000)};`, tooDeep],
  [
    `const e = new TypeError("mine"); Object.defineProperty(e, "stack", { get() { throw 1; } }); throw e;`,
    /^Thrown: a value that throws/,
  ],
  [
    `const f = new Error("causes"); Object.defineProperty(f, "cause", { get() { return Object.create(f); } }); throw f;`,
    /^Error: causes/,
  ],
  [`throw new Proxy(new Error("x"), { get() { throw 2; } });`, /^Thrown: a value that throws/],
  [`throw new Proxy({}, { getPrototypeOf() { throw 2; } });`, /^Thrown: a value that throws/],
  [`const p = Proxy.revocable({}, {}); p.revoke(); throw p.proxy;`, /^Thrown: a value that throws/],
  [`throw Object.assign(new Error("y"), { name: Symbol("z") });`, /^Thrown: a value that throws/],
  [
    `throw Object.assign(new Error("y"), { [Symbol.toPrimitive]: 3, message: null });`,
    /^Error: null/,
  ],
];

const tooManyBrackets = `const list = ${"[".repeat(1000)}${"]".repeat(1000)};`;

const GROUPS = {
  hostile: [
    "const text: string = 'after ';",
    ...hostile.flatMap(([code], index) => [code, `text + ${index}`]),
  ],
  modules: [
    "import { state } from './counter';\nstate.n = 5;",
    tooManyBrackets,
    "import { state as again } from './counter';\nagain.n",
  ],
  changed: [
    "import { writeFileSync } from 'node:fs';\nwriteFileSync('made.ts', 'export const made: number = 5;');",
    "import { made } from './made';\nmade",
    "await new Promise((resolve) => setTimeout(resolve, 20));\nwriteFileSync('made.ts', 'export const made: string = \"six\";');",
    "import { made as anew } from './made';\nanew.toUpperCase()",
  ],
  // The last: with its types in scope, each cell takes longer to compile.
  arquero: [
    "import * as aq from 'arquero';\nimport { op, table } from 'arquero';\nconst least = 1;\nconst rows = table({ n: [1, 2, 3] });",
    "rows.rollup({ sum: (d: { n: number }) => op.sum(d.n), most: (d) => aq.op.max(d.n) }).objects()",
    "const more = 1;\nrows.filter((row) => row.n > least)",
    "rows.params({ least }).filter((row, $) => row.n > $.least).array('n')",
    "rows.filter(aq.escape((row: { n: number }) => row.n > least)).array('n')",
    "[1, 2].map((n) => n + least)",
  ],
} as const satisfies Record<string, readonly string[]>;

test("a hostile cell ends with an error, and the cell after it runs", () => {
  for (const [index, [, error]] of hostile.entries()) {
    expect(shown.get("hostile")?.[1 + 2 * index]?.join()).toMatch(error);
    expect(shown.get("hostile")?.[2 + 2 * index]).toEqual([`result: 'after ${index}'`]);
  }
});

test("a cell that can't be compiled is told before anything runs", async () => {
  const { outcome, outputs } = await run(["console.log('ran');", tooManyBrackets, "list"]);
  expect(outcome).toMatchObject({ status: "error", cells: 0 });
  expect(outcome.message).toContain("Can't compile cell 2: it is nested");
  expect(outputs[0]).toEqual([]);
});

test("files are not run a second time after a cell that can't be compiled", () => {
  expect(shown.get("modules")?.[1]?.join()).toMatch(tooDeep);
  expect(shown.get("modules")?.[2]).toEqual(["result: 5"]);
});

test("a file beside the notebook that changes between two cells is compiled anew", () => {
  expect(shown.get("changed")?.[1]).toEqual(["result: 5"]);
  expect(shown.get("changed")?.[3]).toEqual(["result: 'SIX'"]);
});

test("Arquero reads functions of cells as they were written, and says what a closure needs", () => {
  expect(shown.get("arquero")?.[1]).toEqual(["result: [ { sum: 6, most: 3 } ]"]);
  expect(shown.get("arquero")?.[2]?.join()).toMatch(
    /^Error: Invalid variable reference: "least"\nNote: [^]*aq\.escape[^]*table\.params[^]*at cell \d+, line 2\n/,
  );
  expect(shown.get("arquero")?.slice(3)).toEqual([
    ["result: [ 2, 3 ]"],
    ["result: [ 2, 3 ]"],
    ["result: [ 2, 3 ]"],
  ]);
});
