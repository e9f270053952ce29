import { describe, expect, it } from "vitest";
import { ProbelabError } from "../../src/base/error.js";
import type { AnswerRow, PlannedMeasure } from "../../src/query/plan.js";
import { cellKey, cellsByBucket } from "../../src/query/grouped-result.js";
import { buckets } from "../../src/time/bucket.js";
import { between } from "../../src/time/time-range.js";

const measure = (name: string, additive: boolean): PlannedMeasure => ({
  name,
  label: name,
  unit: name,
  additive,
  missing: "zero",
  value: (row) => Number(row["_n"]),
});
const count = measure("measurements", true);
const share = measure("share", false);
const range = between("2026-05-01", "2026-05-02");
const asked = { action: "count measurements", every: "hour", range } as const;
const starts = buckets(range, "hour").map(({ start }) => start);
const at = (time: string) => new Date(`2026-05-01T${time}:00Z`);

const answer = (rows: readonly (readonly [Date, number, number])[]) =>
  rows.map(([_t, _place, _n]) => ({ _t, _place, _n }));
const place = (row: AnswerRow) => Number(row["_place"]);

describe("cellsByBucket", () => {
  it("gives each row's values under its bucket and place", () => {
    const rows = answer([
      [at("00:00"), 1, 5],
      [at("00:00"), 2, 6],
      [at("23:00"), 1, 7],
    ]);
    const { found, moved } = cellsByBucket(
      rows,
      { ...asked, measures: [count, share] },
      starts,
      place,
    );
    expect([...found]).toEqual([
      [cellKey(at("00:00"), 1), [5, 5]],
      [cellKey(at("00:00"), 2), [6, 6]],
      [cellKey(at("23:00"), 1), [7, 7]],
    ]);
    expect(moved).toEqual([]);
  });

  it("adds rows that begin elsewhere to the bucket that holds their beginning, and says so", () => {
    const early = new Date(range.start.getTime() - 1_800_000);
    const rows = answer([
      [early, 1, 1],
      [at("00:00"), 1, 2],
      [at("00:30"), 1, 4],
      [at("01:30"), 2, 8],
      [at("23:30"), 1, 16],
    ]);
    const { found, moved } = cellsByBucket(rows, { ...asked, measures: [count] }, starts, place);
    expect(Object.fromEntries(found)).toEqual({
      [cellKey(at("00:00"), 1)]: [7],
      [cellKey(at("01:00"), 2)]: [8],
      [cellKey(at("23:00"), 1)]: [16],
    });
    expect(moved).toEqual([expect.stringMatching(/^The database begins 4 of its buckets.*UTC/)]);
  });

  it("refuses rows that begin elsewhere where a measure can't be added up", () => {
    const rows = answer([[at("01:30"), 1, 4]]);
    const ask = () => cellsByBucket(rows, { ...asked, measures: [count, share] }, starts, place);
    expect(ask).toThrow(ProbelabError);
    expect(ask).toThrow(/Can't count measurements by hour in UTC.*01:30.*another every.*"UTC"/);
  });

  it("takes the rows of a range that is one bucket as they are", () => {
    const rows = [
      { _place: 1, _n: 3 },
      { _place: 0, _n: 4 },
    ];
    const whole = { ...asked, every: null, measures: [share] };
    const { found } = cellsByBucket(rows, whole, [null], place);
    expect([...found]).toEqual([
      [cellKey(null, 1), [3]],
      [cellKey(null, 0), [4]],
    ]);
  });
});
