import { table } from "arquero";
import { describe, expect, it } from "vitest";
import { between, Result, testHelpers } from "../../src/index.js";

/** A failureRate Result of `[helper, failed, measurements]`. */
function rates(rows: readonly (readonly [string, number, number])[], other?: string): Result {
  const order = rows.map(([helper]) => helper);
  const columns = {
    test_helper_address: order,
    failed: rows.map(([, failed]) => failed),
    measurements: rows.map(([, , measurements]) => measurements),
  };
  const dimension = { name: "test_helper_address", order, ...(other !== undefined && { other }) };
  return new Result(table(columns), {
    sql: "",
    parameters: {},
    source: "embedded:test",
    server: "",
    reductions: [],
    notes: [],
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(0),
    range: between("2026-05-01", "2026-05-02"),
    columns: { dimensions: [dimension], measures: [] },
  });
}

const good = (size: number): [string, number, number][] =>
  Array.from({ length: size }, (_, index) => [`g${index}`, 10, 1000]);
const found = (result: Result) =>
  testHelpers.verdict(result).departures.map(({ helper, against }) => `${helper}: ${against}`);

describe("testHelpers.verdict(rates)", () => {
  it.each<[string, [string, number, number][], string[]]>([
    [
      "the helper that fails more, and none of the good ones",
      [["b", 60, 1000], ...good(3)],
      ["b: rest"],
    ],
    [
      "a second bad helper that a worse one would hide",
      [["b", 900, 1000], ["d", 80, 1000], ...good(2)],
      ["b: rest", "d: rest"],
    ],
    [
      "the sum of a helper's buckets",
      [
        ...Array.from(
          { length: 10 },
          () =>
            [
              ["b", 4, 100],
              ["a", 1, 100],
            ] as [string, number, number][],
        ).flat(),
      ],
      ["b: rest"],
    ],
    [
      "no chance",
      [
        ["a", 1, 10],
        ["b", 3, 10],
      ],
      [],
    ],
    [
      "no small difference",
      [
        ["a", 10_000, 1_000_000],
        ["b", 11_000, 1_000_000],
      ],
      [],
    ],
    [
      "nothing in one bucket",
      [
        ["b", 4, 100],
        ["a", 1, 100],
      ],
      [],
    ],
    [
      "all that fail",
      [
        ["a", 400, 1000],
        ["b", 410, 1000],
      ],
      ["a: limit", "b: limit"],
    ],
    ["one that is alone", [["a", 900, 1000]], ["a: limit"]],
  ])("finds %s", (_, rows, wanted) => {
    expect(found(rates(rows))).toEqual(wanted);
  });

  it("corrects for the number of helpers: one in 2,000 of chance is a departure of few, not of many", () => {
    // p of x alone is 0.0004 among 3, and 0.00016 among 31.
    expect(found(rates([["x", 27, 1000], ...good(1)]))).toEqual([]);
    expect(found(rates([["x", 28, 1000], ...good(3)]))).toEqual(["x: rest"]);
    expect(found(rates([["x", 24, 1000], ...good(30)]))).toEqual([]);
  });

  it("compares the rest of a top with the limit only", () => {
    const top = (failed: number) =>
      rates(
        [
          ["a", 12, 1000],
          ["other", failed, 1000],
        ],
        "other",
      );
    expect(found(top(60))).toEqual([]);
    expect(found(top(500))).toEqual(["other: limit"]);
    expect(testHelpers.verdict(top(10))).toMatchObject({
      alarm: null,
      text: expect.stringContaining("only seen together (pass top: Infinity)") as string,
    });
  });

  it("says what departs, from what, and when", () => {
    const { alarm, title, text, departures } = testHelpers.verdict(
      rates([
        ["a", 12, 1000],
        ["b", 60, 1000],
      ]),
    );
    expect(alarm).toBe(true);
    expect(title).toBe("b fails more than usual");
    expect(text).toBe(
      "Test helper b fails more than the rest: 6.00 % (95 % interval 4.69 % to 7.65 %; 60 of 1,000 measurements) against 1.20 %, 2026-05-01 to 2026-05-02 UTC.",
    );
    expect(departures).toMatchObject([
      { rate: 0.06, restRate: 0.012, failed: 60, measurements: 1000 },
    ]);
    expect(
      testHelpers.verdict(
        rates([
          ["a", 400, 1000],
          ["b", 410, 1000],
        ]),
      ).text,
    ).toMatch(/^All 2 test helpers fail\.\nTest helper a fails more than the limit: 40\.0 %/);
  });

  it("says how much was compared where nothing stands out", () => {
    expect(
      testHelpers.verdict(
        rates([
          ["a", 24, 2400],
          ["b", 26, 2400],
        ]),
      ),
    ).toEqual({
      alarm: false,
      title: "Test helpers fail more than usual",
      text: "No test helper stands out, 2026-05-01 to 2026-05-02 UTC: 2 compared, together 1.04 % (95 % interval 0.79 % to 1.37 %; 50 of 4,800 measurements); the highest is b, 1.08 % (95 % interval 0.74 % to 1.58 %; 26 of 2,400 measurements). Each interval ends below the limit of 10.0 %.",
      departures: [],
    });
  });

  it.each<[string, Result, RegExp]>([
    ["no measurement", rates([]), /no measurement names one/],
    ["only zeros", rates([["a", 0, 0]]), /no measurement names one/],
    [
      "few measurements",
      rates([
        ["a", 0, 10],
        ["b", 10, 1000],
      ]),
      /a has 0\.00 % .*; 0 of 10 meas/,
    ],
  ])("can't tell from %s", (_, result, why) => {
    const { alarm, text } = testHelpers.verdict(result);
    expect(alarm).toBeNull();
    expect(text).toMatch(/^Can't tell whether a test helper fails/);
    expect(text).toMatch(why);
  });

  it("refuses a Result of another question, a limit that is no share, unknown options", () => {
    const other = rates([]).with(table({ t: [1] }));
    expect(() => testHelpers.verdict(other)).toThrow(
      "Can't compare test helpers in a Result with the columns t: pass the one of lab.testHelpers.failureRate.",
    );
    expect(() => testHelpers.verdict(rates([]), { limit: 10 })).toThrow(/limit: 10: pass a share/);
    expect(() => testHelpers.verdict(rates([]), { limt: 0.1 } as object)).toThrow(
      /did you mean limit\?/,
    );
  });
});
