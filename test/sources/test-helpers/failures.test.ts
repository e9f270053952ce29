import { table } from "arquero";
import { describe, expect, it } from "vitest";
import { between, chart, Result, testHelpers, type Lab } from "../../../src/index.js";
import { wilson } from "../../../src/query/wilson.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-01T03:00:00Z");

async function given<T>(
  columns: string,
  values: string,
  ask: (lab: Lab) => Promise<T>,
): Promise<T> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), ${columns}) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  if (values !== "") await own.writer.command(`INSERT INTO fastpath VALUES ${values}`);
  await using lab = await own.open();
  return await ask(lab);
}

const ROWS = `('2026-05-01 00:00:00', 'a', 't'), ('2026-05-01 00:01:00', 'a', 'f'), ('2026-05-01 00:59:59', 'a', 'f'),
  ('2026-05-01 00:10:00', 'b', 'f'), ('2026-05-01 02:10:00', 'b', 'f'), ('2026-05-01 00:10:00', '', 't'),
  ('2026-05-01 03:00:00', 'a', 't')`;

describe("failureRate({ range, every })", () => {
  it("counts by helper and hour, leaves out what names no helper, and has gaps, not zeros", async () => {
    const result = await given("test_helper_address String, msm_failure String", ROWS, (lab) =>
      lab.testHelpers.failureRate({ range, every: "hour" }),
    );
    const row = (hour: number, helper: string, failed: number, measurements: number) => ({
      t: new Date(Date.UTC(2026, 4, 1, hour)),
      test_helper_address: helper,
      rate: measurements === 0 ? null : failed / measurements,
      rate_low: wilson(failed, measurements)?.low ?? null,
      rate_high: wilson(failed, measurements)?.high ?? null,
      failed,
      measurements,
    });
    expect(result.rows()).toEqual([
      ...[row(0, "a", 1, 3), row(0, "b", 0, 1), row(1, "a", 0, 0), row(1, "b", 0, 0)],
      ...[row(2, "a", 0, 0), row(2, "b", 0, 1)],
    ]);
    expect(await chart.line(result, { y: "rate" }).svg()).toContain(
      "Share of failed measurements (%)",
    );
  });

  it.each([
    ["Enum8('f' = 0, 't' = 1)", "t", "f"],
    ["UInt8", "1", "0"],
    ["Bool", "true", "false"],
    ["Nullable(String)", "t", "f"],
    ["String", "true", "false"],
    ["LowCardinality(String)", "True", "False"],
    ["Int8", "1", "0"],
  ])("reads a msm_failure of type %s", async (type, yes, no) => {
    const rows = ROWS.replaceAll("'t'", `'${yes}'`).replaceAll("'f'", `'${no}'`);
    const columns = `test_helper_address Nullable(String), msm_failure ${type}`;
    const result = await given(columns, rows, (lab) => lab.testHelpers.failureRate({ range }));
    expect(result.column("failed")).toEqual([1, 0]);
    expect(result.column("measurements")).toEqual([3, 2]);
  });

  it("refuses a msm_failure that is neither set nor clear: it would count as no failure", async () => {
    const rows = ROWS.replaceAll("'f'", "'maybe'");
    const asked = given("test_helper_address String, msm_failure String", rows, (lab) =>
      lab.testHelpers.failureRate({ range }),
    );
    await expect(asked).rejects.toThrow(
      `Can't tell which measurements have msm_failure: it holds "maybe" (4 rows). Say which value it is: where: { msm_failure: "maybe" }.`,
    );
  });

  it("takes another sign of failure, beside a filter", async () => {
    const result = await given(
      "test_helper_address String, anomaly String, probe_cc String",
      "('2026-05-01 00:00:00', 'a', 't', 'IT'), ('2026-05-01 00:00:01', 'a', 'f', 'IT'), ('2026-05-01 00:00:01', 'a', 't', 'GE')",
      (lab) =>
        lab.testHelpers.failureRate({ range, failed: { anomaly: "t" }, where: { probe_cc: "IT" } }),
    );
    expect(result.rows()).toMatchObject([{ failed: 1, measurements: 2, rate: 0.5 }]);
  });

  const both = "test_helper_address String, msm_failure String";
  it.each([
    [
      "msm_failure String",
      { range },
      "Can't ask for the failure rate of test helpers: fastpath has no column test_helper_address, which only wider tables have.",
    ],
    [
      "test_helper_address String",
      { range },
      'has no column msm_failure, which only wider tables have. Pass the condition of a failed one, such as failed: { anomaly: "t" }.',
    ],
    [both, {} as { range: typeof range }, "without a time range"],
    [both, { range, failed: {} }, "with failed: {}"],
  ])("refuses what it can't answer, with a remedy: %s, %o", async (columns, options, message) => {
    const asked = given(columns, "", (lab) => lab.testHelpers.failureRate(options));
    await expect(asked).rejects.toThrow(message);
  });
});

type Row = [helper: string, failed: number, measurements: number];

/** A failureRate Result. */
function rates(...rows: Row[]): Result {
  const column = (at: number) => rows.map((row) => row[at]);
  const columns = {
    test_helper_address: column(0),
    failed: column(1),
    measurements: column(2),
  };
  return new Result(table(columns), {
    ...{ sql: "", parameters: {}, source: "embedded:test", server: "", reductions: [], notes: [] },
    ...{ rowsRead: 0, bytesRead: 0, seconds: 0, askedAt: new Date(0) },
    range: between("2026-05-01", "2026-05-02"),
    columns: { dimensions: [], measures: [] },
  });
}

const good = (size: number): Row[] =>
  Array.from({ length: size }, (_, index) => [`g${index}`, 10, 1000]);
const buckets = (count: number): Row[] =>
  Array.from({ length: count }, (): Row[] => [
    ["b", 4, 100],
    ["a", 1, 100],
  ]).flat();

describe("testHelpers.verdict(rates)", () => {
  it.each<[string, Row[], string[]]>([
    ["the one that fails more, and none of the good", [["b", 60, 1000], ...good(3)], ["b: rest"]],
    [
      "a second bad helper that a worse one would hide",
      [["b", 900, 1000], ["d", 80, 1000], ...good(2)],
      ["b: rest", "d: rest"],
    ],
    ["the sum of a helper's buckets", buckets(10), ["b: rest"]],
    ["nothing in one bucket", buckets(1), []],
    ["no chance", [["a", 1, 10], ["b", 3, 10]], []], // prettier-ignore
    ["no small difference", [["a", 10_000, 1_000_000], ["b", 11_000, 1_000_000]], []], // prettier-ignore
    ["all that fail", [["a", 400, 1000], ["b", 410, 1000]], ["a: limit", "b: limit"]], // prettier-ignore
    ["one that is alone", [["a", 900, 1000]], ["a: limit"]],
    // p of x alone is 0.0004 among 3, and 0.00016 among 31: helpers are counted against it.
    ["no chance among two", [["x", 27, 1000], ...good(1)], []],
    ["one in 2,000 among four", [["x", 28, 1000], ...good(3)], ["x: rest"]],
    ["no chance among 31", [["x", 24, 1000], ...good(30)], []],
  ])("finds %s", (_, rows, wanted) => {
    const { departures } = testHelpers.verdict(rates(...rows));
    expect(departures.map(({ helper, against }) => `${helper}: ${against}`)).toEqual(wanted);
  });

  it("says what departs, from what, and when", () => {
    expect(testHelpers.verdict(rates(["a", 12, 1000], ["b", 60, 1000]))).toMatchObject({
      alarm: true,
      title: "b fails more than usual",
      text: "Test helper b fails more than the rest: 6.00 % (95 % interval 4.69 % to 7.65 %; 60 of 1,000 measurements) against 1.20 %, 1 May 2026.",
      departures: [{ rate: 0.06, restRate: 0.012, failed: 60, measurements: 1000 }],
    });
    expect(testHelpers.verdict(rates(["a", 400, 1000], ["b", 410, 1000])).text).toMatch(
      /^All 2 test helpers fail\.\nTest helper a fails more than the limit: 40\.0 %/,
    );
  });

  it("says how much was compared where nothing stands out", () => {
    expect(testHelpers.verdict(rates(["a", 24, 2400], ["b", 26, 2400]))).toEqual({
      alarm: false,
      title: "Test helpers fail more than usual",
      text: "No test helper stands out, 1 May 2026: 2 compared, together 1.04 % (95 % interval 0.79 % to 1.37 %; 50 of 4,800 measurements); the highest is b, 1.08 % (95 % interval 0.74 % to 1.58 %; 26 of 2,400 measurements). Each interval ends below the limit of 10.0 %.",
      departures: [],
    });
  });

  it.each<[string, Row[], RegExp]>([
    ["no measurement", [], /no measurement names one/],
    ["only zeros", [["a", 0, 0]], /no measurement names one/],
    ["few measurements", [["a", 0, 10], ["b", 10, 1000]], /a has 0\.00 % .*; 0 of 10 meas/], // prettier-ignore
  ])("can't tell from %s", (_, rows, why) => {
    const { alarm, text } = testHelpers.verdict(rates(...rows));
    expect(alarm).toBeNull();
    expect(text).toMatch(/^Can't tell whether a test helper fails/);
    expect(text).toMatch(why);
  });

  it("refuses a Result of another question, a limit that is no share, unknown options", () => {
    const other = rates().with(table({ t: [1] }));
    expect(() => testHelpers.verdict(other)).toThrow(
      "Can't compare test helpers in a Result with the columns t: pass the one of lab.testHelpers.failureRate.",
    );
    expect(() => testHelpers.verdict(rates(), { limit: 10 })).toThrow(/limit: 10: pass a share/);
    expect(() => testHelpers.verdict(rates(), { limt: 0.1 } as object)).toThrow(
      /did you mean limit\?/,
    );
  });
});
