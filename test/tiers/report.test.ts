import { inspect } from "node:util";
import { expect, test } from "vitest";
import { tiers } from "../../src/tiers/tiers.js";

const graph = (components: Record<string, unknown>) => tiers.graph({ components }, { name: "g" });

test("a report is shown as tables in a notebook and as text on a console", () => {
  const report = graph({ api: { tier: 3, hard: ["db"] }, db: { tier: 1 } }).check();
  const display = (report as unknown as Record<symbol, () => Record<string, string>>)[
    Symbol.for("Jupyter.display")
  ]?.call(report);
  expect(Object.keys(display ?? {})).toEqual(["text/html", "text/markdown", "text/plain"]);
  expect(display?.["text/html"]).toContain("<caption>Reclassify at once</caption>");
  expect(display?.["text/markdown"]).toContain("| api | 3 → 1 | api → db | 6 |");
  expect(display?.["text/plain"]).toBe(inspect(report));
  expect(inspect(report)).toBe(`Tiers of g: 2 components, no rules broken, 1 to reclassify
Reclassify at once
  api: tier 3 → 1 because of api → db (rule 6)
Reviews (1.4)
  Component  Tier  Architecture  Code  Security  Change management
  api        1     yes +         yes   yes +     yes +
  db         1     yes           yes   yes       yes
  + comes with the reclassification
Not seen in a file: parts of rules 1, 2, 4, 5, 6, 7 and 9; tiers.rules tells which.`);
});

test("a report of many components tells how many lines it leaves out", () => {
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`c${at}`, { tier: 2, hard: at ? ["c0"] : [] }]),
  );
  const report = graph({ ...many, c0: { tier: 4 } }).check();
  expect(report.broken).toHaveLength(499);
  const text = report.toString();
  expect(text).toContain("  … 439 more\n");
  expect(text.split("\n").length).toBeLessThan(260);
  expect(report.html).toContain("299 more rows not shown.");
});

test("a graph's time is a Date or a text read in UTC", () => {
  const content = { components: { a: { tier: 1 } } };
  const at = (asOf: Date | string) => tiers.graph(content, { asOf }).picture().origin.askedAt;
  expect(at("2026-05-01 12:00").toISOString()).toBe("2026-05-01T12:00:00.000Z");
  expect(() => at(new Date(NaN))).toThrow(/^Can't read an invalid Date as the time of a component/);
});
