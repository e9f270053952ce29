import { cp, mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TIER_RULES } from "../../src/incident/tiers/rules.js";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../notebook/notebook-fixture.js";

const docs = new URL("../../docs/", import.meta.url);
const read = () => readFile(new URL("incidents.md", docs), "utf8");

it("docs/incidents.md: every example runs as a cell and shows what stands below it", async () => {
  const text = await read();
  const examples = [...text.matchAll(/```ts\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)];
  expect(examples.length).toBeGreaterThan(3);
  const folder = await notebookFolder();
  try {
    await mkdir(join(folder.path, "docs"));
    await cp(fileURLToPath(new URL("examples", docs)), join(folder.path, "docs", "examples"), {
      recursive: true,
    });
    const path = await writeCells(
      folder.path,
      examples.map(([, code = ""]) => code),
      "docs.ipynb",
    );
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: examples.length });
    const shown = await outputTexts(outcome.notebook);
    const told = examples.filter(([, , output]) => output !== undefined);
    expect(told.length).toBeGreaterThan(2);
    for (const [at, [, , output]] of examples.entries()) {
      if (output !== undefined) expect(shown[at]?.join("\n")).toBe(`result: ${output.trimEnd()}`);
    }
  } finally {
    await folder.remove();
  }
}, 120_000);

it("docs/incidents.md: its table of rules is that of tiers.rules", async () => {
  const text = await read();
  for (const { number, name, checked, unchecked } of TIER_RULES) {
    expect(text).toContain(`| ${number}, ${name} | ${checked || "–"} | ${unchecked || "–"} |`);
  }
});
