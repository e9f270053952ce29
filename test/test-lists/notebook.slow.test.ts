import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { fillSample } from "../../src/sample/fill.js";
import { executeNotebook } from "../support/executed-notebook.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

it("test-lists.ipynb finds the change of sample_truth, and says that its lists are made up", async () => {
  await using directory = await temporaryDirectory();
  await using writer = await openWriter(directory.source);
  await fillSample(writer, { rows: 1_000 });
  const [truth] = await writer.rows<{ changes: string }>(
    "SELECT changes FROM sample_truth WHERE name = 'test-list-replaced'",
  );
  const [, urls, country, poll] =
    /^(\d+) of the first 100 URLs of (\w\w) at poll (\d+)$/.exec(truth?.changes ?? "") ?? [];

  const { outcome, texts, errors } = await executeNotebook("test-lists", directory.path);
  expect(outcome.message).toBeUndefined();
  expect(errors).toBe(0);
  const found = texts.join("\n").match(/\w\w, poll \d+: churn [\d.]+ %, \d+ URLs in/g);
  expect(found).toHaveLength(1);
  const [, foundCountry, foundPoll, added] =
    /(\w\w), poll (\d+): churn [\d.]+ %, (\d+) URLs in/.exec(found?.[0] ?? "") ?? [];
  expect([foundCountry, foundPoll]).toEqual([country, poll]);
  // The one that changes at every poll may be among them.
  expect(Number(added) - Number(urls)).toBeGreaterThanOrEqual(0);
  expect(Number(added) - Number(urls)).toBeLessThanOrEqual(1);
  expect(texts.join("\n")).toContain("Made-up lists of the sample service");
  const svg = readFileSync(join(directory.path, "out", "test-lists-1-churn.svg"), "utf8");
  expect(svg).toContain("Churn of the first 100 URLs by poll");
});
