import { cp, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TIER_RULES } from "../../src/incident/tiers/rules.js";
import { runDoc } from "./run-doc.js";

const docs = new URL("../../docs/", import.meta.url);

it("docs/incidents.md: every example runs as a cell and shows what stands below it", async () => {
  await using doc = await runDoc("incidents.md", (folder) =>
    cp(fileURLToPath(new URL("examples", docs)), join(folder, "docs", "examples"), {
      recursive: true,
    }),
  );
  expect(doc.examples.filter(({ output }) => output !== undefined).length).toBeGreaterThan(2);
  for (const [at, { output }] of doc.examples.entries()) {
    if (output !== undefined) expect(doc.shown[at]).toBe(`result: ${output.trimEnd()}`);
  }
}, 300_000);

it("docs/incidents.md: its table of rules is that of tiers.rules", async () => {
  const text = await readFile(new URL("incidents.md", docs), "utf8");
  for (const { number, name, checked, unchecked } of TIER_RULES) {
    expect(text).toContain(`| ${number}, ${name} | ${checked || "–"} | ${unchecked || "–"} |`);
  }
});
