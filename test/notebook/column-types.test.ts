import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeAll(async () => {
  folder = await notebookFolder();
});
afterAll(() => folder.remove());

const learn = (columns: string) =>
  `Reflect.set(globalThis, Symbol.for("probelab.columnTypes"),
    "export {}; declare global { interface LearnedColumns { ${columns} } }");`;

test("the types of columns that a cell learned are there for the cells after it", async () => {
  const path = await writeCells(folder.path, [
    "const begun = 1;",
    learn("probe_cc: string"),
    `const ran: string[] = []; const column = (name: keyof LearnedColumns) => name; column("probe_cc")`,
    `ran.push("never"); column("probe_c")`,
    `${learn("test_name: string")} ran.length`,
    `const other = (name: keyof LearnedColumns) => name; other("test_name")`,
    `const list = ${"[".repeat(1000)}${"]".repeat(1000)};`,
    `other("probe_cc")`,
  ]);
  const options = { allowErrors: true, out: join(folder.path, "out") };
  const outputs = await outputTexts((await runNotebook(path, options)).notebook);
  expect(outputs[2]).toEqual(["result: 'probe_cc'"]);
  expect(outputs[3]?.join()).toContain(`'"probe_c"' is not assignable`);
  expect(outputs[4]).toEqual(["result: 0"]);
  expect(outputs[5]).toEqual(["result: 'test_name'"]);
  expect(outputs[7]?.join()).toContain(`'"probe_cc"' is not assignable`);
});
