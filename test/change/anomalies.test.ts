import { describe, expect, it } from "vitest";
import { seeded } from "../support/change/draws.js";
import { anomalies, between, Result } from "../../src/index.js";
import { resultOfRows } from "../../src/result/own-rows.js";
import { HOUR, START, hourlyResult, serviceCounts } from "../support/change/flow-results.js";

const WEEKS_8 = 1344;
const scaled = (values: readonly number[], from: number, to: number, by: number) =>
  values.map((n, at) => (at >= from && at < to ? Math.round(n * by) : n));
const clean = serviceCounts(WEEKS_8, 4);
const other = serviceCounts(WEEKS_8, 2);
const since = { since: "36 hours" };

describe("anomalies", () => {
  it("gives a drop with its time and size, and nothing where nothing dropped", async () => {
    const found = await anomalies(hourlyResult({ "": scaled(clean, 1320, 1326, 0.4) }), since);
    expect(found.found).toBe(true);
    expect(found.sentence).toMatch(
      /^Measurements dropped by \d\d %\. [\d,]+ instead of about [\d,]+, 1 Mar 2026 00:00–06:00 UTC\. The drop is over: measurements [+−][\d.]+ % in the last 18 hours against what was expected before it \(up to [\d.]+ % either way is usual\)\. The only alarm in .*; about 1 false alarm in 4 weeks is accepted\.$/,
    );
    const [row] = found.result.rows();
    expect(row).toMatchObject({ kind: "drop", t: new Date(START + 1320 * HOUR) });
    expect(row!["change"]).toBeLessThan(-0.45);
    expect(found.result.origin.columns.measures.map(({ name }) => name)).toEqual([
      "observed",
      "expected",
      "change",
    ]);
    const buckets = found.buckets.rows();
    expect(buckets).toHaveLength(WEEKS_8);
    expect(buckets[0]).toMatchObject({ state: "learning", expected: null, limit: null });
    expect(buckets[1320]).toMatchObject({ state: "drop" });
    const quiet = await anomalies(hourlyResult({ "": clean }), since);
    expect(quiet.found).toBe(false);
    expect(quiet.sentence).toMatch(
      /^No sudden drop of measurements\. A drop of [\d.]+ % or more over two hours, or a drop of [\d.]+ % or more over 24 hours would have been noticed\. 36 hours, .* UTC, were judged; about 1 false alarm in 4 weeks is accepted\. A slow fall over weeks becomes usual and isn't looked for\.$/,
    );
    expect(quiet.least).toBeLessThan(0.5);
  });

  it("says how small a drop it can see, and where it can't see even a stop", async () => {
    // Three an hour, as a Poisson process gives them: two hours without one are no alarm, a day is.
    const { poisson } = seeded(3);
    const few = clean.map(() => poisson(3));
    const long = await anomalies(hourlyResult({ "": few }), { ...since, falseAlarms: 0.1 });
    expect(long).toMatchObject({ found: false, least: null });
    expect(long.sentence).toMatch(
      /^No sudden drop of measurements\. A drop of \d\d % or more over 24 hours would have been noticed\. 36 hours, /,
    );
    const fewer = clean.map((_, at) => Number(at % 97 === 0));
    const blind = await anomalies(hourlyResult({ "": fewer }), since);
    expect(blind.sentence).toMatch(
      /^Can't tell whether measurements dropped\. Values are so few .*: ask with a coarser every\./,
    );
    const both = await anomalies(hourlyResult({ IT: fewer, US: clean }), since);
    expect(both.least).not.toBeNull();
    expect(both.sentence).toMatch(
      /would have been noticed in 1 of the groups, in the other 1 not even a stop\. 36 hours, .*; about 1 false alarm in 4 weeks is accepted\. A slow/,
    );
  });

  it("says that a drop goes on after its alarm, that it is half back, or that it began before what is asked", async () => {
    const asked = async (values: readonly number[], span: string) =>
      (await anomalies(hourlyResult({ "": values }), { since: span })).sentence;
    const on = scaled(clean, 1296, WEEKS_8, 0.4);
    const goesOn = / The drop goes on: measurements −\d\d % in the last (\d+ hours|hour)\./;
    expect(await asked(on, "3 days")).toMatch(goesOn);
    expect(
      await asked(scaled(scaled(clean, 1290, 1332, 0.1), 1332, WEEKS_8, 0.5), "3 days"),
    ).toMatch(goesOn);
    const before = await asked(scaled(clean, 1104, WEEKS_8, 0.4), "24 hours");
    expect(before).toMatch(
      /^Measurements dropped by .*, 20 Feb–1 Mar 2026.* began before 1 Mar 2026/,
    );
    expect(before).toMatch(goesOn);
  });

  it("judges a drop that ended more than four weeks ago by what came before it", async () => {
    const { poisson } = seeded(5);
    const days = Array.from({ length: 140 }, (_, at) =>
      poisson(4000 * (at % 7 > 4 ? 0.75 : 1) * (at >= 90 && at < 94 ? 0.5 : 1)),
    );
    const { sentence } = await anomalies(
      hourlyResult({ "": days }, { every: "day", step: 24 * HOUR }),
    );
    const [, change = "none"] =
      / The drop is over: measurements (\S+) % in the last \d+ days/.exec(sentence) ?? [];
    expect(Math.abs(Number(change.replace("−", "-"))), sentence).toBeLessThan(8);
  });

  it("follows the clock of the range's zone over a change of it", async () => {
    const { poisson } = seeded(6);
    const hours = 90 * 24;
    const local = (at: number) => at + (at < 83 * 24 + 1 ? 1 : 2);
    const values = Array.from({ length: hours }, (_, at) => {
      const hour = local(at) % 24;
      return poisson(hour >= 8 && hour < 18 ? 800 : 60);
    });
    const range = between(new Date(START), new Date(START + hours * HOUR), {
      timeZone: "Europe/Berlin",
    });
    const found = await anomalies(hourlyResult({ "": values }, { range }), {
      since: "14 days",
      falseAlarms: 0.1,
    });
    expect(found.found, found.sentence).toBe(false);
    const dropped = hourlyResult({ "": scaled(values, 2000, 2010, 0.3) }, { range });
    const [alarm] = (await anomalies(dropped, { since: "14 days" })).result.rows();
    expect(alarm).toMatchObject({ kind: "drop", t: new Date(START + 2000 * HOUR) });
  });

  it("tells a gap, silence, a group that stopped and a drop apart", async () => {
    const kinds = async (it: readonly number[], us: readonly number[]) => {
      const found = await anomalies(hourlyResult({ IT: it, US: us }), since);
      return found.result.rows().map((row) => [row["kind"], row["probe_cc"]]);
    };
    const hole = (values: readonly number[]) => scaled(values, 1325, 1328, 0);
    const end = (values: readonly number[]) => scaled(values, 1330, WEEKS_8, 0);
    expect(await kinds(hole(clean), other)).toEqual([["stop", "IT"]]);
    expect(new Set((await kinds(hole(clean), hole(other))).map(([kind]) => kind))).toEqual(
      new Set(["gap"]),
    );
    expect(new Set((await kinds(end(clean), end(other))).map(([kind]) => kind))).toEqual(
      new Set(["silence"]),
    );
    expect(await kinds(clean, scaled(other, 1325, 1330, 0.3))).toEqual([["drop", "US"]]);
    const silent = await anomalies(hourlyResult({ "": end(clean) }), since);
    expect(silent.sentence).toMatch(/^Silence: no row of any group since 1 Mar 2026 10:00/);
  });

  it("doesn't judge a group that began lately, and says so", async () => {
    // A week of rows, with three hours without any.
    const began = scaled(scaled(other, 0, WEEKS_8 - 168, 0), 1325, 1328, 0);
    const young = await anomalies(hourlyResult({ IT: began, US: clean }), since);
    expect(young.found).toBe(false);
    expect(young.sentence).toMatch(
      / 1 group began so late that the first 672 hours of it are learned from and aren't judged\.$/,
    );
    const states = young.buckets.rows().filter((row) => row["probe_cc"] === "IT");
    expect(new Set(states.map((row) => row["state"]))).toEqual(new Set(["learning"]));
    // One that began six weeks ago is judged, by its own weeks.
    const older = scaled(scaled(other, 0, 336, 0), 1325, 1328, 0);
    const found = await anomalies(hourlyResult({ IT: older, US: clean }), since);
    expect(found.result.rows()).toMatchObject([
      { kind: "stop", probe_cc: "IT", t: new Date(START + 1325 * HOUR) },
    ]);
  });

  it("doesn't judge what is incomplete, or may still get rows", async () => {
    const values = scaled(clean, 1342, WEEKS_8, 0.3);
    const at = new Date(START + (WEEKS_8 - 0.5) * HOUR);
    const half = hourlyResult({ "": scaled(clean, 1343, WEEKS_8, 0.3) }, { askedAt: at });
    const incomplete = await anomalies(half, since);
    expect(incomplete.found).toBe(false);
    expect(incomplete.sentence).toMatch(/The last hour may still get rows and isn't judged\.$/);
    const late = await anomalies(hourlyResult({ "": values }), { ...since, lag: "2 hours" });
    expect(late.found).toBe(false);
    expect(late.sentence).toMatch(/The last 2 hours may still get rows and aren't judged\.$/);
    expect(
      late.buckets
        .rows()
        .slice(-3)
        .map((row) => row["state"]),
    ).toEqual(["usual", "incomplete", "incomplete"]);
    expect((await anomalies(hourlyResult({ "": values }), since)).found).toBe(true);
  });

  it("works on days and on shares", async () => {
    const days = Array.from(
      { length: 120 },
      (_, at) => 5000 + ((at * 7919) % 400) - (at % 7 > 4 ? 1500 : 0),
    );
    const daily = hourlyResult(
      { "": scaled(days, 110, 111, 0.4) },
      { every: "day", step: 24 * HOUR },
    );
    expect((await anomalies(daily)).result.rows(1)).toMatchObject([
      { kind: "drop", t: new Date(START + 110 * 24 * HOUR) },
    ]);
    const shares = scaled(clean, 1320, 1326, 0.3).map((n) => n / 10_000);
    const low = await anomalies(
      hourlyResult({
        "": shares.map((n, at) => (at >= 1320 && at < 1326 ? clean[at]! * 3e-5 : n)),
      }),
      since,
    );
    expect(low.found).toBe(true);
  });

  it("says what it can't tell, and why", async () => {
    const short = await anomalies(hourlyResult({ "": clean.slice(0, 500) }));
    expect(short).toMatchObject({ kind: "anomalies", found: false });
    expect(short.sentence).toMatch(
      /^Can't tell whether measurements dropped\. The first 672 hours with rows are learned from and the answer has 500/,
    );
    const odd = hourlyResult({ "": clean }, { every: "5 hours", step: 5 * HOUR });
    expect((await anomalies(odd)).sentence).toMatch(
      /No whole number of 5-hour buckets makes a week/,
    );
    const zeros = hourlyResult({
      IT: [...clean.slice(0, 1).map(() => 1), ...Array<number>(1343).fill(0)],
    });
    expect((await anomalies(zeros)).found).toBe(false);
    expect((await anomalies(hourlyResult({ "": clean }).filter(() => false))).sentence).toMatch(
      /hours with rows are learned from and the answer has 0 complete ones/,
    );
  });

  it("doesn't judge three days of history, nor calls hours with few rows quiet", async () => {
    const { poisson } = seeded(9);
    const late = clean.map((n, at) => (at < WEEKS_8 - 72 ? 0 : at < WEEKS_8 - 10 ? n : n * 0.2));
    const short = await anomalies(hourlyResult({ "": late }), since);
    expect(short).toMatchObject({ found: false, least: null });
    expect(short.sentence).toMatch(
      /dropped\. The first 672 hours with rows are learned from and the answer has 72 complete ones/,
    );
    const few = clean.map((_, at) => (at < WEEKS_8 - 100 ? poisson(2) : 0));
    const { sentence } = await anomalies(hourlyResult({ "": few }), since);
    expect(sentence).not.toMatch(/No sudden drop|is over:/);
  });

  it("refuses what isn't a flow", async () => {
    await expect(anomalies(resultOfRows([{ n: 1 }]))).rejects.toThrow(
      /has no buckets of time\. Ask with every: "hour"/,
    );
    await expect(anomalies(hourlyResult({ "": [-1, 2] }))).rejects.toThrow(
      /in measurements: it holds -1\./,
    );
    await expect(anomalies(hourlyResult({ "": clean }), { falseAlarms: 0 })).rejects.toThrow(
      /falseAlarms: 0: pass how many/,
    );
    const { table, origin } = hourlyResult({ "": clean });
    const bare = new Result(table, { ...origin, columns: { ...origin.columns, measures: [] } });
    await expect(anomalies(bare)).rejects.toThrow(/has no measure\. Ask with measures: /);
  });
});

describe("a stop of a country with four runs an hour, where an hour without a run is usual", () => {
  const large = serviceCounts(WEEKS_8, 4);
  /** Runs of 20 measurements, more by day than at night. */
  const runs = (seed: number): number[] => {
    const { poisson } = seeded(seed);
    const perHour = (hour: number) => 4 * (1 - 0.6 * Math.cos((2 * Math.PI * hour) / 24));
    return large.map((_, hour) => 20 * poisson(perHour(hour)));
  };

  it("is an alarm within ten hours, and begins with the first hour without a row", async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const stop = 1_300 + 4 * seed;
      const values = runs(seed);
      const first = values.findLastIndex((n, at) => at < stop && n > 0) + 1;
      const IT = values.map((n, at) => (at < stop ? n : 0));
      const until = (end: number) =>
        anomalies(hourlyResult({ US: large.slice(0, end), IT: IT.slice(0, end) }), since);
      const { found, result } = await until(stop + 10);
      expect(found).toBe(true);
      const t = new Date(START + first * HOUR);
      expect(result.rows()[0]).toMatchObject({ kind: "stop", probe_cc: "IT", t });
    }
  });

  it("is told where none is no more often than is accepted, 12 times here", async () => {
    const found = await Promise.all(
      Array.from({ length: 12 }, (_, seed) =>
        anomalies(hourlyResult({ US: large, IT: runs(20 + seed) }), { since: "4 weeks" }),
      ),
    );
    const stops = found.flatMap(({ result }) =>
      result.rows().filter(({ kind }) => kind === "stop"),
    );
    expect(stops.length).toBeLessThanOrEqual(6);
  });
});
