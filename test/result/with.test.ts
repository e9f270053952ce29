import * as aq from "arquero";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chart, ProbelabError, type Result } from "../../src/index.js";
import { makeResult, RANGE, weeklyCounts } from "../chart/support/sample-results.js";

interface Week {
  readonly t: Date;
  readonly software_version: string | null;
  readonly measurements: number;
}
const untyped = weeklyCounts();
const counts = untyped.with<Week>(untyped.table);
const changed = (result: Result<object>): string =>
  result.origin.notes.find((note) => note.startsWith("Changed after the query")) ?? "";
const [measurements] = counts.origin.columns.measures;

describe("result.filter(keep)", () => {
  test("gives what an array's filter gives, with variables of the cell", () => {
    const rows = fc.array(fc.record({ n: fc.option(fc.integer({ min: -5, max: 5 })) }));
    fc.assert(
      fc.property(rows, fc.integer({ min: -5, max: 5 }), (rows, least) => {
        const result = makeResult({ n: rows.map(({ n }) => n) });
        const keep = ({ n }: { readonly n?: unknown }) => Number(n ?? -9) > least;
        expect(result.filter(keep).rows()).toEqual(rows.filter(keep));
      }),
    );
  });

  test("keeps range, SQL and meanings; a missing row is a gap then", () => {
    const kept = counts.filter((row) => row.software_version === "3.9.0");
    expect(kept.origin).toMatchObject({ range: RANGE, sql: counts.origin.sql });
    expect(kept.origin.columns.measures).toEqual([{ ...measurements, missing: "gap" }]);
    expect(kept.origin.columns.time).toEqual(counts.origin.columns.time);
    expect(kept.origin.columns.dimensions).toMatchObject([{ order: ["3.9.0"] }]);
    expect(changed(kept)).toBe(
      `Changed after the query: ${kept.numRows()} of ${counts.numRows()} rows kept.`,
    );
    expect(JSON.stringify(chart.line(kept).spec)).toContain(changed(kept));
  });

  test("says first that no row is left", () => {
    const none = counts.filter(() => false);
    expect(none.origin.notes[0]).toBe(
      `Changed after the query: 0 of ${counts.numRows()} rows kept.`,
    );
  });

  test("refuses what is no function", () => {
    expect(() => counts.filter("measurements > 0" as never)).toThrow(ProbelabError);
  });
});

describe("result.with(table => …)", () => {
  test("of the same rows in another order keeps all that is known", () => {
    const ordered = counts.with((table) => table.orderby(aq.desc("measurements")));
    expect(ordered.origin.columns).toEqual(counts.origin.columns);
    expect(ordered.origin.notes).toEqual(counts.origin.notes);
    expect(counts.with(counts.table).origin).toEqual(counts.origin);
  });

  test("drops the meaning of what was computed anew, and names it", () => {
    const doubled = counts.with((table) =>
      table.derive({ measurements: (d: Week) => d.measurements * 2, half: () => 1 }),
    );
    expect(doubled.origin.columns.measures).toEqual([]);
    expect(doubled.origin.columns.dimensions).toEqual(counts.origin.columns.dimensions);
    expect(changed(doubled)).toBe(
      "Changed after the query: column half added, column measurements computed anew.",
    );
  });

  test("drops measures whose groups are gone: sums of them are not the question's", () => {
    const total = counts.with((table) =>
      table.groupby("t").rollup({ measurements: (d: Week) => aq.op.sum(d.measurements) }),
    );
    expect(total.origin.columns.measures).toEqual([]);
    expect(total.origin.columns.dimensions).toEqual([]);
    expect(total.origin.columns.time).toEqual(counts.origin.columns.time);
    expect(changed(total)).toMatch(/column software_version left out, \d+ rows became \d+\.$/);
  });

  test("doesn't take a value for a measure's that stood in another row", () => {
    const moved = counts.with((table) =>
      table.assign({ measurements: [...counts.column("measurements")].reverse() }),
    );
    expect(moved.origin.columns.measures).toEqual([]);
  });

  test("joins own rows and other answers; repeated rows are not added up", () => {
    const regions = aq.table({ software_version: ["3.9.0", "3.9.0"], region: ["a", "b"] });
    const joined = counts.with((table) => table.join(regions, "software_version"));
    expect(joined.column("region").slice(0, 2)).toEqual(["a", "b"]);
    expect(joined.origin.columns.measures).toEqual([
      { ...measurements, additive: false, missing: "gap" },
    ]);
    expect(joined.origin.range).toEqual(RANGE);
  });

  test("collects what was done in one note", () => {
    const some = counts.with((table) => table.slice(0, 10));
    const fewer = some.with((table) => table.derive({ one: () => 1 }).slice(0, 2));
    expect(changed(fewer)).toBe(
      `Changed after the query: 10 of ${counts.numRows()} rows kept, column one added, 2 of 10 rows kept.`,
    );
  });

  test("a chart takes the Arquero table itself, with the same origin", () => {
    const direct = chart.line(counts.table.slice(0, 10));
    const wrapped = chart.line(counts.with((table) => table.slice(0, 10)));
    expect(direct.spec).toEqual(wrapped.spec);
  });

  test("refuses what is no table", () => {
    expect(() => counts.with((() => counts) as never)).toThrow(/Can't make a Result of a Result/);
    expect(() => counts.with([{ n: 1 }] as never)).toThrow(/pass one, or a function/);
  });
});

test("result.column(name) names the columns there are", () => {
  expect(() => untyped.column("measurement")).toThrow(/did you mean measurements\?/);
});
