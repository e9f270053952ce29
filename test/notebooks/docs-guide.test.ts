import { expect, it } from "vitest";
import { runDoc } from "./run-doc.js";
import { sampleLab } from "./sample-lab.js";

it("docs/guide.md: every example runs as a cell", async () => {
  await using sample = await sampleLab(50_000);
  expect(await sample.truth("unattended-runs-end-early")).toBeDefined();
  await using doc = await runDoc("guide.md");
  const output = (code: string) =>
    doc.shown[doc.examples.findIndex((example) => example.code.includes(code))];
  expect(output("lab.runs.ask")).toMatch(/60 to 600/);
  expect(output("hourOfDay()]")).toMatch(/Monday/);
  expect(output(".pivot(")).toMatch(/probe_cc/);
  expect(output("sample_truth")).toMatch(/3\.10\.0/);
}, 300_000);
