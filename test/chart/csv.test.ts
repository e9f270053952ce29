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

  test("writes arrays, typed ones too, and objects as JSON", () => {
    const row = [[1, [2n]], Uint8Array.of(1, 2), { a: BigUint64Array.of(7n) }, [new Date(0), null]];
    expect(parseCsv(csv(["a", "b", "c", "d"], [row]))[1]).toEqual([
      '[1,["2"]]',
      "[1,2]",
      '{"a":["7"]}',
      '["1970-01-01T00:00:00.000Z",null]',
    ]);
  });
});
