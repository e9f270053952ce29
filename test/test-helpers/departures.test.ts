import { once } from "node:events";
import { table } from "arquero";
import { describe, expect, it } from "vitest";
import { Result } from "../../src/result/result.js";
import { helperVerdict, testHelpers } from "../../src/test-helpers/test-helpers.js";
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

const names = (result: Result) => testHelpers.departures(result).map(({ helper }) => helper);

describe("testHelpers.departures(rates)", () => {
  it("finds the helper that fails more, and none of the good ones", () => {
    const found = testHelpers.departures(
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

  it("says nothing of chance, of a small difference, of none", () => {
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

  it("never accuses the rest of the top of failing more than the others, but of the limit", () => {
    expect(
      names(
        rates(
          [
            ["a", 12, 1000],
            ["other", 60, 1000],
          ],
          "other",
        ),
      ),
    ).toEqual([]);
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
    ).toEqual(["other"]);
  });

  it("corrects for the number of helpers compared", () => {
    const good = (size: number): [string, number, number][] =>
      Array.from({ length: size }, (_, index) => [`g${index}`, 10, 1000]);
    const few = testHelpers.departures(rates([["x", 28, 1000], ...good(3)]));
    expect(few.map(({ helper }) => helper)).toEqual(["x"]);
    const p = few[0]?.p ?? NaN;
    expect(p).toBeLessThan(0.001);
    // Under one family of 4 the corrected p is 4 times the plain one.
    const strict = testHelpers.departures(rates([["x", 28, 1000], ...good(3)]), {
      alpha: p * 0.99,
    });
    expect(strict).toEqual([]);
  });

  it("refuses a Result of another question", () => {
    const other = rates([]).with(table({ t: [1] }));
    expect(() => testHelpers.departures(other)).toThrow(
      "Can't compare test helpers in a Result with the columns t: pass the one of lab.testHelpers.failureRate.",
    );
  });
});

const links = {
  notebook: "https://lab.example.org/th.ipynb",
  page: "https://lab.example.org/th.html",
  runbook: "https://docs.example.org/th",
};

it("helperVerdict answers as testHelpers.verdict, and warns", async () => {
  const failing = rates([
    ["a", 12, 1000],
    ["b", 60, 1000],
  ]);
  const warned = once(process, "warning");
  expect(helperVerdict(failing)).toEqual(testHelpers.verdict(failing));
  expect(String(((await warned) as unknown[])[0])).toContain(
    "helperVerdict is now testHelpers.verdict; the old name works until probelab 1.0.",
  );
});

describe("testHelpers.alert(rates, links)", () => {
  it("is what alert.send takes: which helper, how much, since when, and the links", () => {
    const failing = testHelpers.alert(
      rates([
        ["a", 12, 1000],
        ["b", 60, 1000],
      ]),
      links,
    );
    expect(failing).toEqual({
      key: "test helpers fail",
      title: "b fails more than usual",
      text: "Test helper b fails more than the rest: 6.00 % (95 % interval 4.69 % to 7.65 %; 60 of 1,000 measurements) against 1.20 %, 2026-05-01 to 2026-05-02 UTC.",
      severity: 2,
      links,
    });
    // @ts-expect-error without a runbook nobody knows what to do
    testHelpers.alert(rates([]), { notebook: links.notebook, page: links.page });
  });

  it("is null where no helper departs", () => {
    expect(
      testHelpers.alert(
        rates([
          ["a", 12, 1000],
          ["b", 13, 1000],
        ]),
        links,
      ),
    ).toBeNull();
  });
});

/** A failureRate Result of hours: each helper's `[failed, measurements]` an hour. */
function hourly(helpers: Readonly<Record<string, readonly (readonly [number, number])[]>>): Result {
  const rows = Object.entries(helpers).flatMap(([helper, hours]) =>
    hours.map(([failed, measurements], hour) => ({ helper, failed, measurements, hour })),
  );
  const plain = rates(rows.map((row) => [row.helper, row.failed, row.measurements]));
  const start = Date.UTC(2026, 4, 1);
  const t = rows.map(({ hour }) => new Date(start + hour * 3_600_000));
  const columns = {
    ...plain.origin.columns,
    time: { name: "t", every: "hour", incomplete: [] },
  } as const;
  return plain.with(plain.table.assign(table({ t })), { columns });
}

const day = (usual: readonly [number, number], last: readonly [number, number]) =>
  Array.from({ length: 24 }, (_, hour) => (hour < 21 ? usual : last));

describe("testHelpers.verdict(rates)", () => {
  const good = day([1, 100], [1, 100]);

  it("alarms where all helpers fail, and where one alone does", () => {
    const all = testHelpers.verdict(
      rates([
        ["a", 400, 1000],
        ["b", 410, 1000],
        ["c", 390, 1000],
      ]),
    );
    expect(all.alarm).toBe(true);
    expect(all.departures.map(({ against }) => against)).toEqual(["limit", "limit", "limit"]);
    expect(all.text).toMatch(
      /^All 3 test helpers fail\.\nTest helper a fails more than the limit: 40\.0 %/,
    );
    const alone = testHelpers.verdict(rates([["a", 900, 1000]]));
    expect([alone.alarm, alone.departures[0]?.against]).toEqual([true, "limit"]);
  });

  it("alarms where all are together beyond the limit, though none is by itself", () => {
    const few = Array.from({ length: 8 }, (_, at): [string, number, number] => [`h${at}`, 5, 20]);
    const found = testHelpers.verdict(rates(few));
    expect(found.departures.map(({ helper }) => helper)).toEqual(["the 8 others together"]);
  });

  it("alarms where one helper alone, or all, fail more than in their own past", () => {
    const worse = day([1, 100], [7, 100]);
    const alone = testHelpers.verdict(hourly({ a: worse }));
    expect(alone.departures).toMatchObject([
      { helper: "a", against: "past", failed: 21, restRate: 0.01 },
    ]);
    expect(alone.text).toContain(
      "since 2026-05-01 21:00 UTC against 2026-05-01 to 2026-05-01 21:00 UTC",
    );
    expect(testHelpers.verdict(hourly({ a: worse, b: worse })).departures).toHaveLength(2);
    const before = rates([["a", 10, 1000]]);
    expect(testHelpers.departures(rates([["a", 60, 1000]]), { baseline: before })).toMatchObject([
      { against: "past", restRate: 0.01 },
    ]);
  });

  it("says what was looked at where nothing stands out", () => {
    const { alarm, text } = testHelpers.verdict(hourly({ a: good, b: good }));
    expect(alarm).toBe(false);
    expect(text).toMatch(
      /^No test helper stands out, 2026-05-01 to 2026-05-02 UTC: 2 looked at, together 1\.00 % \(95 % interval 0\.76 % to 1\.32 %; 48 of 4,800 measurements\).*below the limit of 10\.0 %.*as often as the rest, or as before \(since 2026-05-01 21:00 UTC/,
    );
    expect(testHelpers.verdict(rates([["a", 10, 1000]])).text).toMatch(
      /Not compared with the past/,
    );
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
    [
      "a silent helper",
      hourly({ a: good, b: day([1, 100], [0, 0]) }),
      /b has no measurement since/,
    ],
    [
      "few recent ones",
      hourly({ a: good, b: day([1, 100], [0, 1]) }),
      /b has 0\.00 % .*0 of 3 .* since/,
    ],
    [
      "a rest",
      rates(
        [
          ["a", 10, 1000],
          ["other", 10, 1000],
        ],
        "other",
      ),
      /only seen together/,
    ],
  ])("can't tell from %s", (_, result, why) => {
    const { alarm, text } = testHelpers.verdict(result);
    expect(alarm).toBeNull();
    expect(text).toMatch(/can't be told/);
    expect(text).toMatch(why);
    expect(testHelpers.alert(result, links)).toBeNull();
  });

  it("refuses a limit that is no share, and unknown options", () => {
    expect(() => testHelpers.verdict(rates([]), { limit: 10 })).toThrow(/limit: 10: pass a share/);
    expect(() => testHelpers.alert(rates([]), links, { limt: 0.1 } as object)).toThrow(
      /did you mean limit\?/,
    );
  });
});
