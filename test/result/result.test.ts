import { describe, expect, test } from "vitest";
import { weeklyCounts } from "../chart/support/sample-results.js";

const counts = weeklyCounts();

describe("result.with(table)", () => {
  test("notes that rows were changed, once, and how many are left", () => {
    const fewer = counts.with(counts.table.slice(0, 10));
    expect(fewer.origin.notes).toEqual([
      ...counts.origin.notes,
      `The rows were changed after the answer: 10 of ${counts.numRows} rows.`,
    ]);
    const one = fewer.with(fewer.table.slice(0, 1));
    expect(one.origin.notes.filter((note) => note.includes("were changed"))).toEqual([
      "The rows were changed after the answer: 1 of 10 rows.",
    ]);
    const doubled = counts.with(
      counts.table.derive({ double: (row: { measurements: number }) => row.measurements * 2 }),
    );
    expect(doubled.origin.notes.at(-1)).toBe("The rows were changed after the answer.");
  });

  test("notes nothing where the rows are the same, or where what was done is told as a reduction", () => {
    expect(counts.with(counts.table).origin.notes).toEqual(counts.origin.notes);
    const told = counts.with(counts.table.slice(0, 1), { reductions: ["The first row only."] });
    expect(told.origin.notes).toEqual(counts.origin.notes);
  });
});
