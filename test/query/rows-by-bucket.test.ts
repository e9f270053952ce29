import { table } from "arquero";
import { describe, expect, it } from "vitest";
import { ProbelabError } from "../../src/base/error.js";
import type { PlannedMeasure } from "../../src/query/plan.js";
import { bucketKey, rowsByBucket } from "../../src/query/rows-by-bucket.js";
import { buckets } from "../../src/time/bucket.js";
import { between } from "../../src/time/time-range.js";

const measure = (name: string, additive: boolean): PlannedMeasure => ({
  name,
  label: name,
  unit: name,
  additive,
  missing: "zero",
  value: (row) => Number(row["_n"]),
  ...(additive && { add: (a, b) => Number(a ?? 0) + Number(b ?? 0) }),
});
const count = measure("measurements", true);
const share = measure("share", false);
const range = between("2026-05-01", "2026-05-02");
const asked = { action: "count measurements", every: "hour", range } as const;
const starts = buckets(range, "hour").map(({ start }) => start);
const at = (time: string) => new Date(`2026-05-01T${time}:00Z`);

const answer = (rows: readonly (readonly [Date, number, number])[]) =>
  table({
    _t: rows.map(([time]) => time),
    _place: rows.map(([, place]) => place),
    _n: rows.map(([, , n]) => n),
  });

describe("rowsByBucket", () => {
  it("gives each row's values under its bucket and place", () => {
    const rows = answer([
      [at("00:00"), 1, 5],
      [at("00:00"), 2, 6],
      [at("23:00"), 1, 7],
    ]);
    const { found, moved } = rowsByBucket(rows, asked, starts, [count, share]);
    expect([...found]).toEqual([
      [bucketKey(at("00:00"), 1), [5, 5]],
      [bucketKey(at("00:00"), 2), [6, 6]],
      [bucketKey(at("23:00"), 1), [7, 7]],
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
    const { found, moved } = rowsByBucket(rows, asked, starts, [count]);
    expect(Object.fromEntries(found)).toEqual({
      [bucketKey(at("00:00"), 1)]: [7],
      [bucketKey(at("01:00"), 2)]: [8],
      [bucketKey(at("23:00"), 1)]: [16],
    });
    expect(moved).toEqual([expect.stringMatching(/^The database begins 4 of its buckets.*UTC/)]);
  });

  it("refuses rows that begin elsewhere where a measure can't be added up", () => {
    const rows = answer([[at("01:30"), 1, 4]]);
    const ask = () => rowsByBucket(rows, asked, starts, [count, share]);
    expect(ask).toThrow(ProbelabError);
    expect(ask).toThrow(/Can't count measurements by hour in UTC.*01:30.*another every.*"UTC"/);
  });

  it("takes the rows of a range that is one bucket as they are", () => {
    const rows = table({ _place: [1, 0], _n: [3, 4] });
    const { found } = rowsByBucket(rows, { ...asked, every: null }, [null], [share]);
    expect([...found]).toEqual([
      [bucketKey(null, 1), [3]],
      [bucketKey(null, 0), [4]],
    ]);
  });
});
