import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { executeNotebook } from "../support/executed-notebook.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

it("test-helpers.ipynb finds the helper that fails more and the hasty rotation of sample_truth", async () => {
  await using directory = await temporaryDirectory();
  await using writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 500_000 });
  const truth = await writer.rows<{ name: string; changes: string; at: string }>(
    "SELECT name, changes, formatDateTime(released_at, '%Y-%m-%d %H:%i:%S', 'UTC') AS at FROM sample_truth",
  );
  const planted = (name: string) => truth.find((row) => row.name === name);

  const { outcome, texts, errors } = await executeNotebook("test-helpers", directory.path);
  expect(outcome.message).toBeUndefined();
  expect(errors).toBe(0);

  const failing = planted("test-helper-fails-more");
  const [, helper, percent] = /of (\S+) from \S+ % to (\S+) %/.exec(failing?.changes ?? "") ?? [];
  const alert = texts.find((text) => text.includes("fails more than the rest")) ?? "";
  expect(alert.match(/Test helper \S+ fails/g)).toEqual([`Test helper ${helper} fails`]);
  // A good part of the three weeks lies before the fault.
  const rate = Number(/rest: (\S+) %/.exec(alert)?.[1]);
  expect(rate).toBeGreaterThan(2);
  expect(rate).toBeLessThan(Number(percent));

  const hasty = planted("test-helpers-rotated-too-quickly");
  const findings = texts.find((text) => text.includes("Next to rotate")) ?? "";
  const at = hasty?.at.replace(/:00$/, "") ?? "";
  expect(findings).toContain(`began to drain at ${at}`);
  expect(findings).toContain(
    `${/^\d+ minutes/.exec(hasty?.changes ?? "")?.[0]} after the rotation`,
  );
  expect(findings.match(/too close for DNS/g)).toHaveLength(1);
  expect(findings).toContain("staggered by 7 ± 3 days");

  const svg = readFileSync(join(directory.path, "out", "test-helpers-failure-rate.svg"), "utf8");
  expect(svg).toContain("<path");
});
