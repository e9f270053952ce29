import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verificationText, verifyPostmortem } from "../../src/incident/manifest.js";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder } from "../notebook/notebook-fixture.js";
import { sampleLab } from "./sample-lab.js";

it("postmortem.ipynb writes a postmortem that tells the planted release, and that verifies", async () => {
  await using sample = await sampleLab(1_000_000);
  const truth = await sample.truth("unattended-runs-end-early");
  const folder = await notebookFolder();
  try {
    const path = fileURLToPath(new URL("../../notebooks/postmortem.ipynb", import.meta.url));
    const outcome = await runNotebook(path, { out: folder.path });
    expect(outcome.message).toBeUndefined();
    expect(outcome.status).toBe("ok");
    const saved = join(folder.path, "postmortem");
    const text = await readFile(join(saved, "postmortem.md"), "utf8");
    expect(text).toMatch(/Measurements per run of web\\_connectivity went from \d\d\.\d to 1\d\.\d \\\(−(5[5-9]|6[0-5]) %\\\)/);
    const [, began = ""] = /- Began: ([\d-]+)/.exec(text) ?? [];
    const days = (Date.parse(began) - truth.begins) / 86_400_000;
    expect(days).toBeGreaterThan(-1);
    expect(days).toBeLessThan(2);
    const verification = await verifyPostmortem(saved);
    expect(verificationText(verification)).toMatch(/The postmortem is as it was saved/);
    expect(Object.keys(verification.manifest.files).filter((path) => path.endsWith(".png"))).toHaveLength(3);
  } finally {
    await folder.remove();
  }
}, 300_000);

describe("a version that broke nothing", () => {
let sample: Awaited<ReturnType<typeof sampleLab>>;
beforeAll(async () => {
  sample = await sampleLab(300_000, new Date("2026-05-01T00:00:00Z"));
  expect(await sample.truth("unattended-runs-end-early")).toBeDefined();
});
afterAll(() => sample[Symbol.asyncDispose]());

it.each([
  ["3.9.1", /are about as long as those of 3\\?\.9\\?\.0/],
])("postmortem.ipynb with faulty %s makes no claim of short runs", async (faulty, says) => {
  const folder = await notebookFolder();
  try {
    const path = fileURLToPath(new URL("../../notebooks/postmortem.ipynb", import.meta.url));
    const outcome = await runNotebook(path, { out: folder.path, params: { faulty } });
    expect(outcome.message).toBeUndefined();
    const text = await readFile(join(folder.path, "postmortem", "postmortem.md"), "utf8");
    expect(text).toMatch(says);
    expect(text).toContain("Not known from the measurements.");
    expect(text).not.toMatch(/(are shorter|hold fewer|end early|ends before)/);
    expect(text).toMatch(/- Began: not known/);
  } finally {
    await folder.remove();
  }
}, 240_000);
});
