import { table } from "arquero";
import { expect, test } from "vitest";
import { rowKeys } from "../../src/result/arquero-table.js";

test("keys are equal where the values are, and of long values as short", () => {
  const long = "x".repeat(100_000);
  const values = [long, `${long}y`, long, "x", null, "null"];
  const keys = rowKeys(table({ name: values }), ["name"]);
  expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 1, 0, 3, 4, 5]);
  expect(rowKeys(table({ name: [long] }), ["name"])).toEqual([keys[0]]);
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThan(1_100);
});
