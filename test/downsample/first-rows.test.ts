import { expect, test } from "vitest";
import { firstRows } from "../../src/downsample/first-rows.js";
import { plainResult } from "./sample-result.js";

test("firstRows(result) keeps the first and counts the rest", () => {
  const result = plainResult({ x: Array.from({ length: 7_000 }, (_, i) => i) });
  const { table, sentences, result: told } = firstRows(result);
  expect(table.array("x")).toEqual(Array.from({ length: 4_999 }, (_, i) => i));
  expect(sentences).toEqual(["The first 4,999 of 7,000 rows; 2,001 are left out."]);
  expect(told.origin.reductions).toEqual(sentences);
  expect(firstRows(told)).toEqual({ table, sentences: [], result: told });
});
