import fc from "fast-check";
import { expect, it } from "vitest";
import { nameOf, replaceInCode, sqlCode, sqlParts } from "../../src/database/sql-text.js";
import { tableName } from "../../src/database/table-info.js";
import { quoteIdentifier } from "../../src/database/time-column.js";

it("sqlParts(sql) joined again are the text", () => {
  const piece = fc.constantFrom(
    "'",
    '"',
    "`",
    "\\",
    "--",
    "/*",
    "*/",
    "\n",
    "$$",
    "$a$",
    "# ",
    "{range}",
    "x",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const sql = pieces.join("");
      expect(
        sqlParts(sql)
          .map((part) => part.text)
          .join(""),
      ).toBe(sql);
    }),
    { numRuns: 500, seed: 3 },
  );
});

it.each([
  "SELECT '{range}'",
  "SELECT 'it''s {range}'",
  "SELECT 'it\\'s {range}'",
  'SELECT "{range}"',
  "SELECT `{range}`",
  "SELECT 1 -- {range}",
  "SELECT 1 # {range}",
  "SELECT /* {range} */ 1",
  "SELECT $x$ {range} $x$",
])("replaceInCode(sql) leaves %s alone", (sql) => {
  expect(replaceInCode(sql, /\{range\}/g, () => "BOUNDS")).toBe(sql);
  expect(sqlCode(sql)).not.toContain("{range}");
});

it("replaceInCode(sql) replaces between strings and comments", () => {
  const sql = "SELECT 'a' /* b */ WHERE {range} -- c\nAND {range}";
  expect(replaceInCode(sql, /\{range\}/g, () => "R")).toBe(
    "SELECT 'a' /* b */ WHERE R -- c\nAND R",
  );
});

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
  expect(nameOf("`a``b\\x0ac\\qd`")).toBe("a`b\nc\\qd");
});
