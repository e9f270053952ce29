import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { csv } from "../../src/render/save.js";
import { parseCsv } from "./support/parse-csv.js";
import { PAYLOADS } from "./support/payloads.js";

describe("csv(names, rows)", () => {
  test("gives every text back to a reader, but for the ' before a formula", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (rows) => {
        const inert = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
        const expected = [["a", "b"], ...rows.map((row) => row.map(inert))];
        expect(parseCsv(csv(["a", "b"], rows))).toEqual(expected);
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  test("no cell of hostile data begins a formula", () => {
    const rows = parseCsv(
      csv(
        ["a", "b"],
        PAYLOADS.map((text) => [text, 1]),
      ),
    );
    expect(rows).toHaveLength(PAYLOADS.length + 1);
    for (const [cell = ""] of rows) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });
});
