import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runOrigin } from "../../src/cli/origin.js";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, writeCells } from "../notebook/notebook-fixture.js";
import { sampleLab } from "./sample-lab.js";

it("docs/exports.md: its cells save every format, and each but CSV tells its origin", async () => {
  const text = await readFile(new URL("../../docs/exports.md", import.meta.url), "utf8");
  const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);
  await using sample = await sampleLab(50_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
  const folder = await notebookFolder();
  try {
    const path = await writeCells(folder.path, examples, "docs.ipynb");
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: examples.length });
    const formats = ["svg", "png", "pdf", "html", "json", "csv", "parquet"];
    const files = formats.map((format) => join(folder.path, "out", `counts.${format}`));
    const said = { out: "", err: "" };
    const code = await runOrigin([...files, outcome.notebook], { json: true }, {
      out: (part) => (said.out += part),
      err: (part) => (said.err += part),
    });
    expect({ code, err: said.err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^Can't read the origin of \S+counts\.csv: it looks like CSV.*\n$/) as string,
    });
    const origins = (JSON.parse(said.out) as { origin: unknown }[]).map(({ origin }) => origin);
    expect(origins).toHaveLength(7);
    expect(origins[0]).toMatchObject({ sql: expect.stringContaining("fastpath") as string });
    for (const origin of origins) expect(origin).toEqual(origins[0]);
  } finally {
    await folder.remove();
  }
}, 120_000);
