import { beforeAll, expect, test } from "vitest";
import { between, connect } from "../../src/index.js";
import { difference } from "../../src/change/finding.js";
import { failureShare, medianLevels, valueOf, valueTexts } from "../../src/service/release.js";
import { wilson } from "../../src/query/wilson.js";
import { seeded } from "../support/change/draws.js";
import { ownDatabase } from "../support/own-database.js";

const database = ownDatabase();
const DAY = 86_400_000;
const start = Date.UTC(2026, 2, 1);
const range = between(new Date(start), new Date(start + 42 * DAY));
const RELEASED = start + 20 * DAY;

interface Run {
  readonly at: number;
  readonly version: string;
  readonly n: number;
  readonly step: number;
  readonly failed: number;
}
/** Runs every 40 minutes of one version or two; of the new one half as many measurements. */
const runs = Array.from({ length: 42 * 36 }, (_, k): Run => {
  const at = start + k * 2_400_000;
  const version = at >= RELEASED && k % 3 > 0 ? "2.0" : "1.9";
  const n = 20 + (k % 7);
  return {
    at,
    version,
    n: version === "2.0" ? Math.floor(n / 2) : n,
    step: 3 + (k % 5),
    failed: k % 10 === 0 ? 1 : 0,
  };
});

beforeAll(async () => {
  await database.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name String, software_version String,
     test_name String, msm_failure String) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const rows = runs.flatMap(({ at, version, n, step, failed }, run) =>
    Array.from(
      { length: n },
      (_, k) =>
        `(${at / 1000 + k * step}, 'r${run}', 'probe', '${version}', 'web_connectivity', '${k < failed ? "t" : "f"}')`,
    ),
  );
  // A clock that is weeks behind is no release; another test's runs are longer; a developer's build.
  rows.push(`(${start / 1000 + 9 * 86_400}, 'early', 'probe', '2.0', 'web_connectivity', 'f')`);
  for (let k = 0; k < 400; k++)
    rows.push(`(${RELEASED / 1000 + k * 600}, 'other${k % 40}', 'probe', '2.0', 'dnscheck', 't')`);
  rows.push(`(${start / 1000 + 86_400}, 'dev', 'probe', '1.10-dev', 'web_connectivity', 'f')`);
  rows.push(`(${start / 1000 + 86_400}, 'dev', 'other', '3.0', 'web_connectivity', 'f')`);
  await database.writer.command(`INSERT INTO fastpath VALUES ${rows.join(",")}`);
});

test("lab.release gives the medians, shares and runs of both versions, as a plain reference does", async () => {
  await using lab = await database.open();
  const found = await lab.release("2.0", { range });
  const end = RELEASED + 14 * DAY;
  const of = (version: string, from: number, to: number) =>
    runs.filter((run) => run.version === version && run.at >= from && run.at < to);
  const sides = { before: of("1.9", RELEASED, end), after: of("2.0", RELEASED, end) };
  expect(found).toMatchObject({ software: "probe", previous: "1.9", since: new Date(RELEASED) });
  expect(found.runs).toEqual({ before: sides.before.length, after: sides.after.length });
  const measures: [string, (run: Run) => number][] = [
    ["Run duration, median", ({ n, step }) => (n - 1) * step],
    ["Measurements per run, median", ({ n }) => n],
    ["Seconds per measurement, median", ({ step }) => step],
  ];
  for (const [name, value] of measures) {
    const row = found.values.find(({ measure }) => measure === name)!;
    const median = (side: keyof typeof sides, by = 0) => {
      const half = 1.959963984540054 / (2 * Math.sqrt(sides[side].length));
      return r7(sides[side].map(value), 0.5 + by * half);
    };
    const [was, is] = (["before", "after"] as const).map((side) => {
      return { value: median(side), low: median(side, -1), high: median(side, 1) };
    });
    const change = difference(was!, is!);
    expect([row.before, row.after], name).toEqual([was!.value, is!.value]);
    expect([row.change, row.low, row.high], name).toEqual([change.value, change.low, change.high]);
  }
  const share = (own: readonly Run[]) =>
    own.reduce((sum, { failed }) => sum + failed, 0) / own.reduce((sum, { n }) => sum + n, 0);
  const failures = found.values.find(({ measure }) => measure.includes("failed"))!;
  // A run that crosses the release's midnight is of both days here.
  expect(failures.before).toBeCloseTo(share(sides.before), 4);
  expect(failures.after).toBeCloseTo(share(sides.after), 4);
  const short = found.values.find(({ measure }) => measure.includes("below half"))!;
  const half =
    r7(
      sides.before.map(({ n }) => n),
      0.5,
    ) / 2;
  const below = (own: readonly Run[]) => own.filter(({ n }) => n < half).length / own.length;
  expect([short.before, short.after]).toEqual([below(sides.before), below(sides.after)]);
  expect(found.values.map(({ verdict }) => verdict).slice(1, 3)).toEqual(["moved", "as before"]);
  expect(found.found).toBe(true);
  expect(found.sentence).toMatch(
    /^probe 2\.0: median run duration −55 %\. .*\d+ runs against \d+ of 1\.9 in web_connectivity, 21 Mar–3 Apr 2026\.$/,
  );
  expect(found.sentence.split(". ")[0]!.split(" ").length).toBeLessThanOrEqual(25);
  const later = between(new Date(RELEASED + 5 * DAY), range.end);
  expect((await lab.release("2.0", { range: later })).sentence).toMatch(
    /, 26 Mar–8 Apr 2026\. That is the first two weeks of the range, not of the release, which was there before\.$/,
  );
});

test("lab.release can't tell with few runs, without an earlier version, without the version; and says what next", async () => {
  await using lab = await database.open();
  const young = between(new Date(start), new Date(RELEASED + 4 * 3_600_000));
  const few = await lab.release("2.0", { range: young, where: { test_name: "web_connectivity" } });
  expect(few).toMatchObject({ found: false, undecided: true });
  expect(few.sentence).toMatch(
    /^I can't tell yet how probe 2\.0 does\. probe 2\.0 has \d runs, \d+ Mar \d\d:00 – 21 Mar 2026 02:00 UTC; 20 are needed\. Ask again when there are more\.$/,
  );
  const first = await lab.release("3.0", { range });
  expect(first.sentence).toMatch(/[Nn]o earlier version of it was found.*pass a longer range/);
  const none = await lab.release("2.1", { range });
  expect(none.sentence).toMatch(
    /[Nn]o measurement of .* 2026.* has software_version 2\.1; the range holds "2\.0", "1\.9"/,
  );
  await expect(lab.release("2.0", {} as { range: typeof range })).rejects.toThrow(
    /Can't compare a release .*range/,
  );
});

test("lab.release goes on without msm_failure, and asks which program where several have the version", async () => {
  await database.writer.command(
    `CREATE TABLE bare ENGINE = MergeTree ORDER BY measurement_start_time AS SELECT * EXCEPT msm_failure FROM fastpath
     UNION ALL SELECT * EXCEPT msm_failure REPLACE ('twin' AS software_name) FROM fastpath`,
  );
  await using lab = await connect({
    measurements: database.url,
    tables: { measurements: { table: "bare" } },
  });
  await expect(lab.release("2.0", { range })).rejects.toThrow(
    /several programs have a version 2\.0: probe, twin\. Name one: software: "probe", or --software/,
  );
  const found = await lab.release("2.0", { range, software: "probe" });
  expect(found.values).toHaveLength(4);
  expect(found.result.origin.notes.join(" ")).toMatch(
    /no msm_failure: the share of failed measurements isn't known/,
  );
});

/** A run every ten minutes, of IT and DE in turns; SQL of its version and its number of measurements. */
async function given(version: string, n: string) {
  await database.writer.command(
    `CREATE OR REPLACE TABLE odd ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT toDateTime(toUInt32(at + 3 * k), 'UTC') AS measurement_start_time, toString(run) AS report_id,
       'probe' AS software_name, CAST(${version}, 'Nullable(String)') AS software_version, 'dns' AS test_name, cc AS probe_cc
     FROM (SELECT number AS run, ${start / 1000} + 600 * run AS at, at > ${RELEASED / 1000} AS out, if(run % 4 < 2, 'IT', 'DE') AS cc
       FROM numbers(6048)) ARRAY JOIN range(toUInt8(${n})) AS k`,
  );
  return connect({ measurements: database.url, tables: { measurements: { table: "odd" } } });
}

test.each(["''", "NULL"])(
  "lab.release takes no rows with the version %s for a release",
  async (none) => {
    await using lab = await given(`if(out AND run % 2, '2.0', ${none})`, "5");
    expect((await lab.release("2.0", { range })).sentence).toMatch(
      /No earlier version of it was found, .*: pass a longer range, or name one as previous\.$/,
    );
  },
);

test("lab.release compares a release of hours with those hours of the version before, not with its whole day", async () => {
  const noon = start + 41 * DAY + 11 * 3_600_000;
  const [version, n] = [
    `if(at >= ${noon / 1000} AND run % 2, '2.0', '1.9')`,
    "if(at % 86400 >= 39600, 40, 10)",
  ];
  await using lab = await given(version, n);
  const until = new Date(noon + 13 * 3_600_000);
  const { sentence, since, values } = await lab.release("2.0", {
    range: between(new Date(start), until),
  });
  expect(since).toEqual(new Date(noon));
  expect(values[1]).toMatchObject({ before: 40, after: 40, verdict: "as before" });
  expect(sentence).toMatch(/As before: .*median measurements per run \(40; 95 %: 0 to 0\)/);
});

test("lab.release takes a version that all left from the two weeks before, and says so", async () => {
  await using lab = await given("if(out, '2.0', '1.9')", "8");
  const { sentence, runs } = await lab.release("2.0", { range });
  expect(runs).toEqual({ before: 2016, after: 2015 });
  expect(sentence).toMatch(
    / 1\.9 has 1 run left since then: its runs are those of 7–20 Mar 2026\.$/,
  );
});

function r7(values: readonly number[], level: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * level;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

const next = seeded(7).uniform;
const medianOf = (values: readonly number[]) => {
  const { value, low, high } = medianLevels(values.length);
  return { value: r7(values, value), low: r7(values, low), high: r7(values, high) };
};
/** How often of 2,000 drawings the interval holds the truth. */
const held = (draw: () => { low: number; high: number }, truth: number) => {
  let inside = 0;
  for (let k = 0; k < 2_000; k++) {
    const { low, high } = draw();
    if (low <= truth && truth <= high) inside += 1;
  }
  return inside / 2_000;
};

test.each([20, 200])("medianLevels(%i): the interval holds the median 19 times in 20", (many) => {
  const skew = () => medianOf(Array.from({ length: many }, () => Math.exp(3 * next())));
  const share = held(skew, Math.exp(1.5));
  expect(share).toBeGreaterThan(0.925);
  expect(share).toBeLessThan(0.98);
});

test("difference(was, is): the interval of two medians holds their difference", () => {
  const sample = (many: number, to: number) =>
    medianOf(Array.from({ length: many }, () => to * next() ** 2));
  const share = held(() => difference(sample(60, 100), sample(150, 80)), 20 - 25);
  expect(share).toBeGreaterThan(0.93);
  expect(share).toBeLessThan(0.985);
});

test("failureShare(hours, runs): the interval holds the share where failures of a run hang together", () => {
  // 3 to 8 runs an hour; of one in twenty nearly all of 40 measurements fail.
  const hour = () => {
    const runs = 3 + Math.floor(6 * next());
    const failed = Array.from({ length: runs }, () => (next() < 0.05 ? 36 : 0));
    return { n: 40 * runs, failed: failed.reduce<number>((sum, one) => sum + one, 0) };
  };
  const draw = () => failureShare(Array.from({ length: 14 * 24 }, hour), 14 * 24 * 5)!;
  const share = held(draw, 0.045);
  expect(share).toBeGreaterThan(0.92);
  expect(share).toBeLessThan(0.98);
  // As if they were independent it would be told far too sure.
  const { value, low, high } = draw();
  const naive = wilson(value * 40 * 1_680, 40 * 1_680)!;
  expect((high - low) / (naive.high - naive.low)).toBeGreaterThan(4);
});

test("failureShare(hours, runs) takes runs for trials where few hours tell nothing, and has no value without rows", () => {
  const none = { n: 1_000, failed: 0 };
  expect(failureShare([none, none], 20)).toEqual({ value: 0, ...wilson(0, 20)! });
  expect(failureShare([{ n: 0, failed: 0 }], 0)).toBeNull();
});

const at = (value: number, by: number) => ({ value, low: value - by, high: value + by });
test.each([
  [at(100, 2), at(60, 2), "moved"],
  [at(100, 2), at(103, 2), "as before"],
  // It may be: the interval lies on one side of nothing, and not beyond twice itself.
  [at(100, 12), at(120, 12), "can't tell"],
  [at(100, 20), at(100, 20), "can't tell"],
  [null, at(100, 1), "can't tell"],
] as const)("valueOf: from %o to %o it %s", (before, after, verdict) => {
  const value = valueOf("Run duration, median", "s", before, after);
  expect(value.verdict).toBe(verdict);
  expect(valueTexts([value])[0]!.evidence).toMatch(
    {
      moved: /^Median run duration fell by 40 s \(40 %\)/,
      "as before": /^As before: /,
      "can't tell": /^I can't tell yet from so few runs: /,
    }[verdict],
  );
});

test("valueOf: a share moves by half of itself or a percentage point", () => {
  const of = (was: number, is: number) =>
    valueOf("Share", "share", at(was, 1e-5), at(is, 1e-5)).verdict;
  expect([of(0.02, 0.029), of(0.02, 0.031), of(0.004, 0.0055), of(0.004, 0.0065)]).toEqual([
    ...["as before", "moved", "as before", "moved"],
  ]);
});
