import { table } from "arquero";
import { describe, expect, it } from "vitest";
import { Result } from "../../src/result/result.js";
import { helperAlert, helperDepartures } from "../../src/test-helpers/departures.js";
import { between } from "../../src/time/time-range.js";

/** A failureRate Result of `[helper, failed, measurements]`. */
function rates(rows: readonly (readonly [string, number, number])[], other?: string): Result {
  const columns = {
    test_helper_address: rows.map(([helper]) => helper),
    failed: rows.map(([, failed]) => failed),
    measurements: rows.map(([, , measurements]) => measurements),
  };
  return new Result(table(columns), {
    sql: "",
    parameters: {},
    range: between("2026-05-01", "2026-05-02"),
    source: "embedded:test",
    server: "",
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(0),
    columns: {
      dimensions: [
        {
          name: "test_helper_address",
          order: columns.test_helper_address,
          ...(other !== undefined && { other }),
        },
      ],
      measures: [],
    },
    reductions: [],
    notes: [],
  });
}

const names = (result: Result) => helperDepartures(result).map(({ helper }) => helper);

describe("helperDepartures(rates)", () => {
  it("finds the helper that fails more, and none of the good ones", () => {
    const found = helperDepartures(
      rates([
        ["a", 12, 1000],
        ["b", 60, 1000],
        ["c", 10, 1000],
        ["d", 13, 1000],
      ]),
    );
    expect(found.map(({ helper }) => helper)).toEqual(["b"]);
    expect(found[0]).toMatchObject({ rate: 0.06, restRate: 35 / 3000, measurements: 1000 });
    expect(found[0]?.p).toBeLessThan(1e-9);
  });

  it("finds a second bad helper that a worse one would hide", () => {
    expect(
      names(
        rates([
          ["a", 12, 1000],
          ["b", 900, 1000],
          ["c", 10, 1000],
          ["d", 80, 1000],
        ]),
      ),
    ).toEqual(["b", "d"]);
  });

  it("adds up the buckets of a helper", () => {
    const bucket = (failed: number): [string, number, number][] => [
      ["a", 1, 100],
      ["b", failed, 100],
    ];
    expect(names(rates(bucket(4)))).toEqual([]);
    expect(names(rates(Array.from({ length: 10 }, () => bucket(4)).flat()))).toEqual(["b"]);
  });

  it("says nothing of chance, of a small difference, of one helper alone, of none", () => {
    expect(
      names(
        rates([
          ["a", 1, 10],
          ["b", 3, 10],
        ]),
      ),
    ).toEqual([]);
    expect(
      names(
        rates([
          ["a", 10_000, 1_000_000],
          ["b", 11_000, 1_000_000],
        ]),
      ),
    ).toEqual([]);
    expect(names(rates([["a", 900, 1000]]))).toEqual([]);
    expect(
      names(
        rates([
          ["a", 0, 0],
          ["b", 5, 10],
        ]),
      ),
    ).toEqual([]);
    expect(names(rates([]))).toEqual([]);
  });

  it("never accuses the rest of the top", () => {
    expect(
      names(
        rates(
          [
            ["a", 12, 1000],
            ["other", 500, 1000],
          ],
          "other",
        ),
      ),
    ).toEqual([]);
  });

  it("corrects for the number of helpers compared", () => {
    const good = (size: number): [string, number, number][] =>
      Array.from({ length: size }, (_, index) => [`g${index}`, 10, 1000]);
    const few = helperDepartures(rates([["x", 28, 1000], ...good(3)]));
    expect(few.map(({ helper }) => helper)).toEqual(["x"]);
    const p = few[0]?.p ?? NaN;
    expect(p).toBeLessThan(0.001);
    // Under one family of 4 the corrected p is 4 times the plain one.
    const strict = helperDepartures(rates([["x", 28, 1000], ...good(3)]), { alpha: p * 0.99 });
    expect(strict).toEqual([]);
  });

  it("refuses a Result of another question", () => {
    const other = rates([]).with(table({ t: [1] }));
    expect(() => helperDepartures(other)).toThrow(
      "Can't compare test helpers in a Result with the columns t: pass the one of lab.testHelpers.failureRate.",
    );
  });
});

describe("helperAlert(rates, links)", () => {
  it("says which helper, how much, since when, and carries the links", () => {
    const text = helperAlert(
      rates([
        ["a", 12, 1000],
        ["b", 60, 1000],
      ]),
      {
        runbook: "https://docs.example.org/th",
      },
    );
    expect(text).toBe(
      "Test helper b fails more than the rest: 6.00 % (95 % interval 4.69 % to 7.65 %; 60 of 1,000 measurements) against 1.20 %, 2026-05-01 to 2026-05-02 UTC.\nrunbook: https://docs.example.org/th",
    );
  });

  it("is null where no helper departs", () => {
    expect(
      helperAlert(
        rates([
          ["a", 12, 1000],
          ["b", 13, 1000],
        ]),
      ),
    ).toBeNull();
  });
});
