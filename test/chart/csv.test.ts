import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csv } from "../../src/render/save.js";
import { parseCsv } from "./support/parse-csv.js";
import { PAYLOADS } from "./support/payloads.js";

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom(...PAYLOADS.filter(({ length }) => length < 1_000)),
);

describe("csv(names, rows)", () => {
  test("gives every text back to a reader, but for the ' before a formula", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, texts)), (rows) => {
        const inert = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
        const expected = [["a", "b"], ...rows.map((row) => row.map(inert))];
        expect(parseCsv(csv(["a", "b"], rows))).toEqual(expected);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
