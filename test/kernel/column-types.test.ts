import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { ownDatabase } from "../support/own-database.js";
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

describe("connect() in a cell", () => {
  const database = ownDatabase();
  beforeAll(async () => {
    const { writer } = database;
    await writer.command(`CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
      probe_cc LowCardinality(String), \`odd "name*/\` Nullable(Int64), kind Enum8('*/ end' = 1))
      ENGINE = MergeTree ORDER BY measurement_start_time`);
    await writer.command(
      `INSERT INTO fastpath VALUES ('2026-03-02 10:00:00', 'r1', 'IT', 1, '*/ end')`,
    );
    await writer.command(`CREATE TABLE logs (__REALTIME_TIMESTAMP DateTime64(6, 'UTC'), SYSLOG_IDENTIFIER String, MESSAGE String, message String)
      ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`);
  });

  test("an unknown column is a type error of the next cell, wherever it is named", async () => {
    const range = `range: between("2026-03-01", "2026-03-08")`;
    const cells = [
      `import { between, connect, count, sum, countDistinct } from "probelab";
       const lab = await connect({ measurements: ${JSON.stringify(database.url)} }); const asked: string[] = [];`,
      `asked.push("by"); await lab.measurements.counts({ ${range}, by: "probe_cx" })`,
      `asked.push("where"); await lab.measurements.counts({ ${range}, where: { probe_cx: "IT" } })`,
      `asked.push("measure"); await lab.measurements.ask({ ${range}, measures: { n: sum("probe_cx") } })`,
      `asked.push("log"); await lab.logs.rates({ ${range}, by: "priority" })`,
      `const found = await lab.measurements.ask({ ${range}, every: "all", by: ["probe_cc", "kind"], where: { 'odd "name*/': 1 }, measures: { n: count(), of: countDistinct("report_id") } });
       await lab.logs.rates({ ${range}, by: ["identifier", "SYSLOG_IDENTIFIER"] });
       JSON.stringify([asked, found.rows()])`,
      `import * as aq from "arquero"; const joined: aq.ColumnTable = aq.from([{ n: 1 }]).join(found.table, "n");
       const wrong: number = found.table;`,
      `await lab.measurements.counts({ ${range}, by: "country" })`,
      `await lab.measurements.counts({ ${range}, by: ["probe_cc", "tset"] })`,
    ];
    const path = await writeCells(folder.path, cells, "learned.ipynb");
    const options = { allowErrors: true, out: join(folder.path, "learned") };
    const outputs = await outputTexts((await runNotebook(path, options)).notebook);
    expect(outputs[0]).toEqual([]);
    for (const index of [1, 2, 3]) expect(outputs[index]?.join()).toContain("probe_cx");
    expect(outputs[4]?.join()).toContain("priority");
    expect(outputs[5]?.join()).toContain(
      JSON.stringify([[], [{ probe_cc: "IT", kind: "*/ end", n: 1, of: 1 }]]),
    );
    for (const [index, name] of [
      [7, "country"],
      [8, "tset"],
    ] as const) {
      expect(outputs[index]?.join()).toContain(
        `There is no column ${name}: await lab.columns() lists them. TS`,
      );
    }
    // A Result's table is Arquero's own, also where a later cell imports Arquero.
    expect(outputs[6]?.join()).toContain("Type 'ColumnTable' is not assignable to type 'number'");
    expect(outputs[6]?.join()).not.toContain("import(");
  });
});
