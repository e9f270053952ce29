import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkHashes } from "../incident/folder.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
import { sampleLab } from "./sample-lab.js";

let sample: Awaited<ReturnType<typeof sampleLab>>;
let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeAll(async () => {
  sample = await sampleLab(2_500_000, new Date("2026-05-01T00:00:00Z"));
  folder = await notebookFolder();
});
afterAll(async () => {
  await folder.remove();
  await sample[Symbol.asyncDispose]();
});

async function written(name: string, params: Record<string, string> = {}) {
  const out = join(folder.path, name);
  const path = fileURLToPath(new URL("../../notebooks/postmortem.ipynb", import.meta.url));
  const outcome = await runNotebook(path, { out, params });
  expect(outcome.message).toBeUndefined();
  const saved = join(out, "postmortem");
  return { saved, text: await readFile(join(saved, "postmortem.md"), "utf8") };
}

it("postmortem.ipynb writes a postmortem that tells the planted release, with its hashes", async () => {
  const truth = await sample.truth("unattended-runs-end-early");
  const { saved, text } = await written("planted");
  expect(text).toMatch(/Median measurements per run fell by \d\d \((5[5-9]|6[0-5]) %\), from 4\d to 1\d\./);
  expect(text).toMatch(/probe-android-unattended 3\.10\.0 ends its runs early/);
  expect(text).toMatch(/, (all|9\d %) of the change; its runs came as before/);
  const [, began = ""] = /- Began: (\d+ \w+ \d{4} [\d:]+ UTC)/.exec(text) ?? [];
  const days = (Date.parse(began) - truth.begins) / 86_400_000;
  expect(days).toBeGreaterThan(-1);
  expect(days).toBeLessThan(2);
  checkHashes(saved);
  expect(readdirSync(join(saved, "charts")).filter((path) => path.endsWith(".png"))).toHaveLength(3);
}, 300_000);

it.each([
  ["3.9.1", /3\.9\.1 does as the release before\. As before: median run duration .* of 3\.9\.0/],
  ["99.1", /how probe-android-unattended 99\.1 does\. No measurement .* has software_version 99\.1; the range holds /],
])("postmortem.ipynb with faulty %s, which broke nothing, doesn't blame it", async (faulty, says) => {
  const { text } = await written(faulty, { faulty });
  expect(text).toMatch(says);
  expect(text).toContain("Not known from the measurements.");
  expect(text).not.toMatch(/(3\.9|99)\.1 (changed|ends its runs)|median [^.;]* fell by/i);
  expect(text).toMatch(/- Began: not known/);
}, 240_000);
