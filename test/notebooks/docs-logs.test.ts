import { expect, it } from "vitest";
import { runDoc } from "./run-doc.js";
import { sampleLab } from "./sample-lab.js";

it("docs/logs.md: every example runs as a cell, and most show what they say", async () => {
  await using sample = await sampleLab(200_000);
  expect(await sample.truth("accepted-reports-not-stored")).toBeDefined();
  await using doc = await runDoc("logs.md");
  expect(doc.examples.length).toBeGreaterThan(8);
  const output = (call: string) =>
    doc.shown[doc.examples.findIndex(({ code }) => code.includes(call))];
  expect(output("logs.rates")).toMatch(/Line chart/);
  expect(output("logs.bursts")).toMatch(/fastpath/);
  expect(output("formatReportId({")).toMatch(
    /20231231T221448Z_webconnectivity_IT_18182_n1_zBswL4awQc3qUCnU/,
  );
  expect(output("logs.submissions")).toMatch(/submitted reports: .*stored/);
  expect(output("measurements.duplicates")).toMatch(/Rows of one measurement.*_uid/);
}, 300_000);
