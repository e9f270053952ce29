import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../notebook/notebook-fixture.js";
import { sampleLab } from "./sample-lab.js";

it("docs/logs.md: every example runs as a cell, and most show what they say", async () => {
  const text = await readFile(new URL("../../docs/logs.md", import.meta.url), "utf8");
  const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);
  expect(examples.length).toBeGreaterThan(8);
  await using sample = await sampleLab(200_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
  const folder = await notebookFolder();
  try {
    const path = await writeCells(folder.path, examples, "docs.ipynb");
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: examples.length });
    const shown = (await outputTexts(outcome.notebook)).map((outputs) => outputs.join("\n"));
    const output = (call: string) => shown[examples.findIndex((code) => code.includes(call))];
    expect(output("logs.rates")).toMatch(/Line chart/);
    expect(output("logs.bursts")).toMatch(/fastpath/);
    expect(output("formatReportId({")).toMatch(
      /20231231T221448Z_webconnectivity_IT_18182_n1_zBswL4awQc3qUCnU/,
    );
    expect(output("logs.submissions")).toMatch(/submitted reports: .*stored/);
    expect(output("measurements.duplicates")).toMatch(/Rows of one measurement.*_uid/);
  } finally {
    await folder.remove();
  }
}, 120_000);
