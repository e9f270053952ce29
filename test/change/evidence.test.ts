import { expect, test } from "vitest";
import { between, chart, explain, last, postmortem, type Chart } from "../../src/index.js";
import { rangeText } from "../../src/time/time-range.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const after = between("2026-05-08", "2026-05-15");
const before = between("2026-05-01", "2026-05-08");

/** 800 runs a day of four measurements each, in 31 countries, of two releases. */
async function fill(rows: string): Promise<void> {
  await own.writer.command("DROP TABLE IF EXISTS fastpath");
  await own.writer.command(`CREATE TABLE fastpath (
    measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32,
    test_name String, software_name String, software_version String
  ) ENGINE = MergeTree ORDER BY measurement_start_time`);
  await own.writer.command(`INSERT INTO fastpath
    SELECT toDateTime('2026-05-01', 'UTC') + run * 108 + part * 20 AS t, toString(run),
      if(cityHash64(run, 1) % 4 = 0, 'IT', toString(cityHash64(run, 4) % 30)) AS cc, cityHash64(run, 5) % 20, 'web', 'app',
      if(cityHash64(run, 2) % 4 > 0 AND t >= toDateTime('2026-05-08', 'UTC'), '1.10', '1.9') AS version
    FROM (SELECT intDiv(number, 4) AS run, number % 4 AS part FROM numbers(44800)) WHERE ${rows}`);
}

test("of a country that is lost, its rows along time and what was expected, which adds up to the loss", async () => {
  await fill(
    "NOT (cc = 'IT' AND t >= toDateTime('2026-05-10', 'UTC') AND cityHash64(run, 3) % 5 > 0)",
  );
  await using lab = await own.open();
  const why = await explain(lab.measurements, { before, after });
  expect(why.causes[0]!.where).toMatchObject({ probe_cc: "IT" });
  expect(why.shown!.of).toBe("flow");
  const rows = why.shown!.result.rows() as { t: Date; observed: number; expected: number | null }[];
  expect(rows.filter(({ t }) => t < after.start).every(({ expected }) => expected === null)).toBe(
    true,
  );
  const judged = rows.filter(({ t }) => t >= after.start);
  const sum = (of: (row: (typeof rows)[number]) => number) =>
    judged.reduce((n, row) => n + of(row), 0);
  const [lost] = await own.writer.rows<{ was: number; is: number }>(
    "SELECT countIf(measurement_start_time < '2026-05-08') AS was, count() - was AS is FROM fastpath WHERE probe_cc = 'IT'",
  );
  expect(sum(({ observed }) => observed)).toBe(Number(lost!.is));
  expect(sum(({ expected }) => expected!)).toBeCloseTo(Number(lost!.was), 6);
  const drawn = chart.evidence(why);
  expect((drawn.spec["title"] as { text: string[] }).text).toEqual([
    "Measurements per day, against what was expected",
  ]);
  for (const text of [
    "probe_cc = IT",
    "Expected: the mean of the same weekdays in 1–7 May 2026.",
    "Shaded: Measurements to what was expected.",
  ]) {
    expect((drawn.spec["title"] as { subtitle: string[] }).subtitle.join(" ")).toContain(text);
  }
});

test("of a release whose runs hold less, the runs of each version and what they hold, as in the table", async () => {
  await fill("NOT (version = '1.10' AND part > 1)");
  await using lab = await own.open();
  const why = await explain(lab.measurements, { before, after });
  expect(why.causes[0]!.where).toMatchObject({ software_version: "1.10" });
  expect(why.shown!.of).toBe("runs by version");
  const [truth] = await own.writer.rows<{ runs: number; each: number }>(
    "SELECT uniqExact(report_id) AS runs, count() / runs AS each FROM fastpath WHERE software_version = '1.10'",
  );
  const [, , , now] = why.shown!.result.rows() as Record<string, unknown>[];
  expect(now).toEqual({
    software_version: "1.10",
    range: rangeText(after),
    runs: Number(truth!.runs),
    measurements_per_run: truth!.each,
  });
  expect(why.shown!.result.rows()[2]).toMatchObject({ runs: 0, measurements_per_run: null });
  const drawn = chart.evidence(why);
  expect(await drawn.svg()).toContain("Measurements a run");
  expect(drawn.data.rows).toHaveLength(8);
  const report = postmortem({ title: "x", severity: 3, detectedAt: after.start }).finding(why);
  const { title } = (report.figures[0]!.content as Chart).spec as { title: { text: string[] } };
  expect(title.text).toEqual((drawn.spec["title"] as typeof title).text);
});

test("what has no such evidence is refused", async () => {
  await fill("true");
  await using lab = await own.open();
  const why = await explain(lab.measurements, { before, after });
  expect(why.causes).toEqual([]);
  expect(() => chart.evidence(why)).toThrow(/Can't draw the evidence of "Nothing stands out"/);
  expect(() => chart.evidence(last("1 week") as never)).toThrow(/Can't draw .* as a change/);
});
