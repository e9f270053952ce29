import fc from "fast-check";
import { expect, it } from "vitest";
import { nameOf } from "../../src/database/sql-text.js";
import { tableName } from "../../src/database/table-info.js";
import { quoteIdentifier } from "../../src/database/time-column.js";

it("nameOf(written) is the name that quoteIdentifier wrote, and that doubled quotes stand for", () => {
  const name = fc.string({ unit: fc.constantFrom("`", '"', "\\", "'", ".", "n", "x", "0", "ö") });
  fc.assert(
    fc.property(name, (text) => {
      expect(nameOf(quoteIdentifier(text))).toBe(text);
      expect(
        tableName(`${quoteIdentifier(`d${text}`)}.${quoteIdentifier(`t${text}`)}`, ""),
      ).toEqual([`d${text}`, `t${text}`]);
    }),
    { numRuns: 500, seed: 4 },
  );
  expect(nameOf('"a""b`c"')).toBe('a"b`c');
  expect(nameOf("`a``b\\qd`")).toBe("a`b\\qd");
});
