import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readOrigins } from "../../src/chart/render/origin.js";
import type { RunNotebookOptions } from "../../src/kernel/run-notebook.js";
import { handMade, notebookFolder, runCells, type CellText } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeEach(async () => {
  folder = await notebookFolder();
});
afterEach(() => folder.remove());

const run = (cells: readonly CellText[], options?: Omit<RunNotebookOptions, "out">) =>
  runCells(folder.path, cells, options);

/** Saves into the folder's `files`, which nothing awaits. */
const saves = `
const at = ${"`${process.cwd()}/files`"};
const line = chart.line(result);
for (const end of ["svg", "png", "html", "json", "csv", "parquet"]) line.save(\`\${at}/x.\${end}\`);
const report = postmortem({ title: "Short runs", severity: 2, detectedAt: "2026-02-01" });
report.add(line);
report.save(at + "/pm");
1;`;

async function expectSaved(): Promise<void> {
  const files = join(folder.path, "files");
  expect((await readdir(files)).sort()).toEqual([
    "pm",
    ...["csv", "html", "json", "parquet", "png", "svg"].map((end) => `x.${end}`),
  ]);
  for (const name of ["x.html", "x.png", "x.svg"]) {
    expect(readOrigins(await readFile(join(files, name)))).toHaveLength(1);
  }
  expect(await readdir(join(files, "pm"))).toContain("postmortem.md");
}

test("what cells save, ask and draw without an await is there after the run", async () => {
  const { outcome, outputs } = await run([
    handMade,
    `async function saveAll() {
       for (const name of ["a", "b", "c"]) await chart.line(result).save(\`more/\${name}.svg\`);
     }
     void saveAll(); 1;`,
    `import { connect } from "probelab";
     async function report() {
       await using lab = await connect({ measurements: \`embedded:\${process.cwd()}/database\` });
       const result = await lab.query(
         "SELECT number AS x, sqrt(number) AS y FROM numbers(100) WHERE {start:DateTime64(3)} < {end:DateTime64(3)}",
         { range: between("2026-02-01", "2026-02-02") },
       );
       await chart.line(result, { x: "x", y: "y" }).save("asked/roots.svg");
     }
     void report(); 1;`,
    `import { postmortem } from "probelab";\n${saves}`,
  ]);
  expect(outcome).toMatchObject({ status: "ok", message: undefined, cells: 4 });
  expect(outputs[3]).toEqual(["result: 1"]);
  await expectSaved();
  expect((await readdir(join(folder.path, "more"))).sort()).toEqual(["a.svg", "b.svg", "c.svg"]);
  const [root] = readOrigins(await readFile(join(folder.path, "asked", "roots.svg")));
  expect(root?.["sql"]).toMatch(/^SELECT number AS x/);
});

test("what a cell saves without an await is there also where a later cell fails", async () => {
  const { outcome } = await run([
    handMade,
    `chart.line(result).save(process.cwd() + "/files/x.png"); 1;`,
    "throw new Error('no');",
  ]);
  expect(outcome.message).toMatch(/^Cell 3 of 3 /);
  expect(await readdir(join(folder.path, "files"))).toEqual(["x.png"]);
});

test("a save that fails and that nothing awaits makes the run fail, and names its cell", async () => {
  await writeFile(join(folder.path, "taken"), "");
  const failing = `chart.line(result).save(process.cwd() + "/taken/x.svg"); 1;`;
  const message = [
    /^Cell 2 of \d started something that failed later\.\n/,
    /ProbelabError: Can't write ".*taken\/x\.svg" \(E\w+\): nothing was changed/,
    /\nNothing waited for it: an await may be missing\.\n/,
  ];
  const last = await run([handMade, failing]);
  expect(last.outcome).toMatchObject({ status: "error", cells: 2, of: 2 });
  for (const part of message) expect(last.outcome.message).toMatch(part);
  expect(last.outputs[1]?.[0]).toBe("result: 1");
  expect(last.outputs[1]?.[1]).toMatch(/^ProbelabError: Can't write .*\n.*an await may be missing/);
});

test("allowErrors goes on over what failed in the background, and shows it", async () => {
  const { outcome, outputs } = await run(
    [
      "void Promise.reject(new Error('floating')); 1;",
      // The cell itself takes care of it later.
      `const failing = Promise.reject(new Error("handled"));
       await new Promise((resolve) => process.once("unhandledRejection", resolve));
       await failing.catch((error: Error) => error.message);`,
      "void Promise.reject('end');",
    ],
    { allowErrors: true },
  );
  expect(outcome).toMatchObject({ status: "ok", message: undefined, cells: 3 });
  expect(outputs[0]?.[1]).toMatch(/^Error: floating\n.*an await may be missing/);
  expect(outputs[1]).toEqual(["result: 'handled'"]);
  expect(outputs[2]?.[0]).toMatch(/^Thrown: 'end'\n/);
});

test("a rejection in the last turn of a cell, and an error in a timer, make the run fail", async () => {
  const rejected = await run(["Promise.reject(new Error('floating')); 1;", "2"]);
  expect(rejected.outcome).toMatchObject({ status: "error", cells: 1, of: 2 });
  expect(rejected.outcome.message).toMatch(
    /^Cell 1 of 2 started [^]*Error: floating\nNothing waited [^]*cell 1, line 1/,
  );
  const thrown = await run([
    "setTimeout(() => { throw new Error('late'); }, 1); await new Promise((go) => setTimeout(go, 50)); 1;",
  ]);
  expect(thrown.outcome.message).toMatch(/^Cell 1 of 1 started [^]*Error: late\n[^]*nothing could/);
});

test("an aborted run ends although something is still pending", async () => {
  const abort = new AbortController();
  const { outcome } = await run(["1", "await new Promise(() => {});"], {
    signal: abort.signal,
    onProgress: ({ cell, state }) => {
      if (cell === 2 && state === "running") abort.abort();
    },
  });
  expect(outcome).toMatchObject({ status: "error", cells: 1, of: 2 });
});
