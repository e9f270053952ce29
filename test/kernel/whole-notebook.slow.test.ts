import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notebookFolder, runCells } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeAll(async () => {
  folder = await notebookFolder();
});
afterAll(() => folder.remove());

const run = async (cells: readonly string[]) => {
  const { outcome, outputs } = await runCells(folder.path, cells);
  return { outcome, last: outputs.at(-1)?.join() };
};

test("cells that are judged as one text share their variables, functions, classes and enums", async () => {
  await writeFile(join(folder.path, "given.d.ts"), "export const given: number;");
  await writeFile(join(folder.path, "given.js"), "exports.given = 7;");
  const cells = [
    `enum Colour { Red = 1, Blue } interface Point { x: number }
     class Base { name() { return "base"; } } function twice(n: number) { return 2 * n; } let count = 1;`,
    `import { type Lab, last, Result } from "probelab"; import type { ColumnTable } from "arquero";
     import { given } from "./given"; let lab: Lab | undefined; let table: ColumnTable | undefined;
     class Derived extends Base {} const point: Point = { x: twice(Colour.Blue) }; count = point.x;`,
    `import { last } from "probelab"; const all = { twice, given };
     [count, new Derived().name(), all.twice(4), all.given, lab, table, typeof last, typeof Result].join(" ")`,
  ];
  const first = await run(cells);
  expect(first.outcome).toMatchObject({ status: "ok", cells: 3 });
  expect(first.last).toBe("result: '4 base 8 7   function function'");
  expect((await run(cells)).last).toBe(first.last);

  // It is checked anew.
  await writeFile(join(folder.path, "given.d.ts"), "export const another: string;");
  const { message } = (await run(cells)).outcome;
  expect(message).toContain("Cell 2 of 3 has a type error; nothing was run.");
  expect(message).toContain("has no exported member 'given'");
});
