import { expect, test } from "vitest";
import {
  between,
  chart,
  compare,
  connect,
  explain,
  last,
  postmortem,
  type Chart,
} from "../../src/index.js";
import { rangeText } from "../../src/time/time-range.js";
import { answerGate } from "../support/answer-gate.js";
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

test("asks each range once for its cells, and little besides: so many questions reach the database", async () => {
  const { origin, pathname, username, password } = new URL(own.url);
  await using gate = await answerGate(`${origin}${pathname}`);
  const url = gate.url.replace("//", `//${username}:${password}@`);
  await using lab = await connect({ measurements: url, logs: url });
  const questions = async (ask: () => Promise<unknown>) => {
    let many = 0;
    gate.on("measurement_start_time", () => (many += 1));
    await ask();
    gate.open();
    return many;
  };
  const explained = () => explain(lab.measurements, { before, after });
  await fill("true");
  // What is learned of the table is asked once.
  await lab.measurements.counts({ range: after, every: "day" });
  expect(await questions(() => compare(lab.measurements, { now: after, before }))).toBe(2);
  expect(await questions(explained)).toBe(2);
  await fill("NOT (cc = 'IT' AND t >= toDateTime('2026-05-10', 'UTC'))");
  // One more draws the lost country along time.
  expect(await questions(explained)).toBe(3);
  await fill("NOT (version = '1.10' AND part > 1)");
  // How long the release's runs last, before and after.
  expect(await questions(explained)).toBe(4);
});

test("refuses a dimension of more values than can be judged, and too many combinations, in that one question", async () => {
  await own.writer.command("DROP TABLE IF EXISTS fastpath");
  await own.writer.command(`CREATE TABLE fastpath (measurement_start_time DateTime('UTC'),
    measurement_uid UInt32, a UInt16, b UInt16) ENGINE = MergeTree ORDER BY measurement_start_time`);
  await own.writer.command(`INSERT INTO fastpath SELECT toDateTime('2026-05-02', 'UTC') AS t,
    number, number % 1001, intDiv(number, 1001) FROM numbers(1002001)`);
  await using lab = await own.open();
  const asked = (...dimensions: string[]) =>
    explain(lab.measurements, { before, after, dimensions: dimensions });
  await expect(asked("a", "measurement_uid")).rejects.toThrow(
    "Can't explain a change by measurement_uid: it has more than 20,000 different values. Leave it out of dimensions (a), or ask about fewer rows with where.",
  );
  await expect(asked("a", "b")).rejects.toThrow(
    "Can't explain a change by a, b: more than 1,000,000 combinations of their values occur. Take fewer dimensions, or ask about fewer rows with where.",
  );
});

test("what has no such evidence is refused", async () => {
  await fill("true");
  await using lab = await own.open();
  const why = await explain(lab.measurements, { before, after });
  expect(why.causes).toEqual([]);
  expect(() => chart.evidence(why)).toThrow(/Can't draw the evidence of "Nothing stands out"/);
  expect(() => chart.evidence(last("1 week") as never)).toThrow(/Can't draw .* as a change/);
});
