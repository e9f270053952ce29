import * as aq from "arquero";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProbelabError } from "../../src/base/error.js";
import { compareVersions } from "../../src/result/version-order.js";
import type { Result } from "../../src/result/result.js";
import { formatRange } from "../../src/time/time-range.js";
import { makeResult, RANGE, weeklyCounts } from "../chart/support/sample-results.js";

interface Row {
  readonly n: number | null;
  readonly version: string | null;
  readonly t: Date;
}

const row = fc.record<Row>({
  n: fc.option(fc.integer({ min: -5, max: 5 })),
  version: fc.constantFrom("3.9", "3.10", "3.10-rc1", "", null),
  t: fc.integer({ min: 0, max: 4 }).map((day) => new Date(Date.UTC(2026, 1, 1 + day))),
});
const rowLists = fc.array(row, { maxLength: 25 });

function resultOf(rows: readonly Row[]): Result<Row> {
  const plain = makeResult({
    n: rows.map(({ n }) => n),
    version: rows.map(({ version }) => version),
    t: rows.map(({ t }) => t),
  });
  return plain.with<Row>(plain.table, {});
}

interface Week {
  readonly t: Date;
  readonly software_version: string | null;
  readonly measurements: number;
}
const untyped = weeklyCounts();
const counts = untyped.with<Week>(untyped.table);
const done = (result: Result<object>): string =>
  result.origin.notes.find((note) => note.startsWith("The rows were changed")) ?? "";

describe("verbs give what plain arrays give", () => {
  test("filter, slice and derive, with variables of the cell", () => {
    fc.assert(
      fc.property(
        rowLists,
        fc.integer({ min: -5, max: 5 }),
        fc.integer(),
        fc.integer(),
        (rows, least, a, b) => {
          const result = resultOf(rows);
          expect(result.filter((each) => (each.n ?? -9) > least).rows()).toEqual(
            rows.filter((each) => (each.n ?? -9) > least),
          );
          expect(result.slice(a % 30, b % 30).rows()).toEqual(rows.slice(a % 30, b % 30));
          expect(
            result
              .derive({ double: (each) => (each.n ?? 0) * least, n: (_, index) => index })
              .rows(),
          ).toEqual(
            rows.map((each, index) => ({ ...each, n: index, double: (each.n ?? 0) * least })),
          );
        },
      ),
    );
  });

  test("orderby is stable, knows versions, and puts null last in either order", () => {
    fc.assert(
      fc.property(
        rowLists,
        fc.constantFrom("ascending" as const, "descending" as const),
        (rows, order) => {
          const sign = order === "descending" ? -1 : 1;
          const last = (a: unknown, b: unknown): number => Number(a === null) - Number(b === null);
          const byVersion = (a: Row, b: Row): number =>
            last(a.version, b.version) || sign * compareVersions(a.version, b.version);
          const byNumber = (a: Row, b: Row): number =>
            last(a.n, b.n) || sign * ((a.n ?? 0) - (b.n ?? 0));
          const result = resultOf(rows);
          expect(result.orderby(["version", (each) => each.n], order).rows()).toEqual(
            rows.toSorted((a, b) => byVersion(a, b) || byNumber(a, b)),
          );
          expect(result.orderby("t", order).rows()).toEqual(
            rows.toSorted((a, b) => sign * (+a.t - +b.t)),
          );
        },
      ),
    );
  });

  test("join matches equal values, dates and null too", () => {
    fc.assert(
      fc.property(
        rowLists,
        rowLists,
        fc.constantFrom("inner" as const, "left" as const),
        (left, right, kind) => {
          const other = resultOf(right).rename({ n: "m" });
          const joined = resultOf(left).join(other, ["t", "version"], kind);
          const expected = left.flatMap((one) => {
            const found = right.filter(
              (each) => +each.t === +one.t && each.version === one.version,
            );
            if (found.length === 0) return kind === "left" ? [{ ...one, m: null }] : [];
            return found.map(({ n }) => ({ ...one, m: n }));
          });
          expect(joined.rows()).toEqual(expected);
        },
      ),
    );
  });

  test("pivot puts each value where its row and its name meet", () => {
    fc.assert(
      fc.property(rowLists, (rows) => {
        const unique = [
          ...new Map(rows.map((each) => [`${+each.t} ${each.version}`, each])).values(),
        ];
        const wide = resultOf(unique).pivot({ rows: "version", names: "t", values: "n" });
        for (const each of unique) {
          const at = wide.column("version").indexOf(each.version);
          expect(wide.column(each.t.toISOString().slice(0, 10))[at]).toBe(each.n);
        }
        const names = wide.columnNames.slice(1);
        expect(names).toEqual(names.toSorted());
        expect(wide.numRows).toBe(new Set(unique.map(({ version }) => version)).size);
      }),
    );
  });
});

describe("what is still true after a verb", () => {
  test("filter by a dimension: the range, the order, 'other' and zero stay, the question goes", () => {
    const asked = counts.with<Week>(counts.table, { question: { ask: "x", arguments: [] } });
    const kept = asked.filter((each) => each.software_version !== "3.8.2");
    const { range, columns, question } = kept.origin;
    expect(range).toEqual(RANGE);
    expect(question).toBeUndefined();
    expect(columns.dimensions[0]?.order).not.toContain("3.8.2");
    expect(columns.dimensions[0]?.other).toBe("other");
    expect(columns.measures).toEqual(counts.origin.columns.measures);
    expect(columns.time).toEqual(counts.origin.columns.time);
    expect(done(kept)).toBe(
      `The rows were changed after the answer: kept ${kept.numRows} of ${counts.numRows} rows (filter).`,
    );
  });

  test("filter by time: the range ends where the rows do, with its incomplete buckets", () => {
    const kept = counts.filter(
      ({ t }) => t >= new Date("2026-03-02") && t < new Date("2026-03-30"),
    );
    expect(kept.origin.range && formatRange(kept.origin.range)).toBe(
      "2026-03-02 to 2026-03-30 UTC",
    );
    expect(kept.origin.columns.time?.incomplete).toEqual([]);
    expect(kept.origin.columns.measures[0]?.missing).toBe("zero");
  });

  test("filter by a measure: a missing row means nothing any more", () => {
    const kept = counts.filter(({ measurements }) => measurements > 5_000);
    expect(kept.origin.columns.measures[0]).toMatchObject({ missing: "gap", additive: true });
  });

  test("nothing left: the range stays, and the note says why", () => {
    const none = counts.filter(() => false);
    expect(none.origin.range).toEqual(RANGE);
    expect(none.origin.notes[0]).toContain(`kept 0 of ${counts.numRows} rows (filter)`);
  });

  test("derive: others keep their meaning, a replaced one has none", () => {
    const both = counts.derive({ share: (each) => each.measurements / 2 });
    expect(both.origin.columns).toEqual(counts.origin.columns);
    const replaced = counts.derive({ measurements: (each) => each.measurements / 2 });
    expect(replaced.origin.columns.measures).toEqual([]);
    expect(replaced.origin.range).toEqual(RANGE);
    const text = done(both.filter((each) => each.share > 1).derive({ a: () => 1 }));
    expect(text).toMatch(
      /: computed column share \(derive\); kept \d+ of \d+ rows \(filter\); computed column a \(derive\)\.$/,
    );
  });

  test("without what rows are grouped by a measure is not that of the whole", () => {
    const { columns, range } = counts.select("t", "measurements").origin;
    expect(columns.measures).toEqual([]);
    expect(columns.dimensions).toEqual([]);
    expect(columns.time).toEqual(counts.origin.columns.time);
    expect(range).toEqual(RANGE);
  });

  test("rename keeps the meaning, join brings that of the other, pivot makes measures", () => {
    const named = counts.rename({ measurements: "before", t: "week" });
    expect(named.origin.columns.time?.name).toBe("week");
    const both = counts.rename({ t: "week" }).join(named, ["week", "software_version"]);
    expect(both.origin.columns.measures.map(({ name, additive }) => [name, additive])).toEqual([
      ["measurements", true],
      ["before", true],
    ]);
    const total = counts
      .filter((each) => each.software_version === "other")
      .select("t", "measurements");
    const totals = total
      .rename({ measurements: "all" })
      .with(total.rename({ measurements: "all" }).table, {
        columns: {
          dimensions: [],
          measures: [
            { name: "all", label: "All", unit: "measurements", additive: true, missing: "zero" },
          ],
        },
      });
    const repeated = untyped.join(totals, "t").origin.columns.measures;
    expect(repeated.map(({ additive }) => additive)).toEqual([true, false]);
    const wide = counts.pivot({ rows: "software_version", names: "t", values: "measurements" });
    expect(wide.columnNames.slice(0, 3)).toEqual(["software_version", "2026-01-26", "2026-02-02"]);
    expect(wide.origin.columns.measures[0]).toMatchObject({
      label: "Measurements, 2026-01-26",
      unit: "measurements",
    });
    expect(wide.origin.range).toEqual(RANGE);
  });
});

describe("rows that Arquero made", () => {
  test("a filtered table keeps what is true, also without result.with", () => {
    const table = counts.table.params({ from: new Date("2026-04-06") }) as typeof counts.table;
    const late = counts.with(
      table.filter((each: { t: Date }, $: { from: Date }) => each.t >= $.from),
    );
    expect(late.origin.range && formatRange(late.origin.range)).toBe(
      "2026-04-06 to 2026-05-01 UTC",
    );
    expect(late.origin.columns.measures).toEqual(counts.origin.columns.measures);
  });

  test("sums over a dimension are no longer by it", () => {
    const sums = counts.with(
      counts.table.groupby("t").rollup({ measurements: aq.op.sum("measurements") }),
    );
    expect(sums.origin.columns).toMatchObject({ dimensions: [], measures: [] });
    expect(sums.origin.columns.time?.every).toBe("week");
    expect(sums.origin.range).toEqual(RANGE);
  });

  test("without a time nothing tells what range the rows cover: the note says what was asked", () => {
    const sums = counts.with(
      counts.table.groupby("software_version").rollup({ n: aq.op.sum("measurements") }),
    );
    expect(sums.origin.range).toBeUndefined();
    expect(done(sums)).toContain("asked of 2026-02-01 to 2026-05-01 UTC");
    expect(sums.toString()).not.toMatch(/^Result of 7 rows,/);
  });

  test("changed values have lost their meaning", () => {
    const half = counts.with(
      counts.table.derive({ measurements: (each: Week) => each.measurements / 2 }),
    );
    expect(half.origin.columns.measures).toEqual([]);
  });
});

describe("what can't be done is refused", () => {
  test.each([
    [() => counts.column("measurement" as "t"), /did you mean measurements\? Its columns are t, /],
    [() => counts.select("tt" as "t"), /Can't take the column "tt"/],
    [() => counts.orderby("x" as "t"), /Can't take the column "x"/],
  ])("%#: a RangeError with the columns", (call, message) => {
    expect(call).toThrow(RangeError);
    expect(call).toThrow(message);
  });

  test.each([
    [() => counts.filter("t > 1" as never), /pass a function of a row/],
    [() => counts.derive({ a: 1 as never }), /Can't derive a by 1: pass a function/],
    [() => counts.orderby("t", "down" as never), /pass "ascending" or "descending"/],
    [() => counts.join(counts, "t"), /rename them first, other\.rename/],
    [() => counts.join(counts.table as never, []), /Can't join an Arquero table/],
    [() => counts.join(counts, ["t"], "outer" as never), /pass "inner" or "left"/],
    [() => counts.rename({ t: "measurements" }), /two columns to "measurements"/],
    [
      () => counts.pivot({ rows: [], names: "t", values: "measurements" }),
      /several rows are of t 2026-01-26.*software_version/,
    ],
  ])("%#: with what to write", (call, message) => {
    expect(call).toThrow(ProbelabError);
    expect(call).toThrow(message);
  });
});
