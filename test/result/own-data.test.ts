import * as aq from "arquero";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  between,
  change,
  chart,
  count,
  type Lab,
  quantile,
  type Result,
  rows,
  sum,
} from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
let lab: Lab;
beforeAll(async () => {
  // From Monday 2026-03-30 on: IT falls silent on 20 April, in US it begins on 13 April; dirty values between.
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime64(3, 'UTC'), report_id String, anomaly String,
      probe_cc Nullable(String), test_runtime Float64) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT at, toString(number), if(number % 5 = 0, 't', 'f'), cc, number % 97 FROM (
       SELECT number, toDateTime64('2026-03-30 00:00:00', 3, 'UTC') + cityHash64(number) % (35 * 86400) AS at,
         ['IT', 'US', '', NULL][1 + cityHash64(number, 1) % 4] AS cc FROM numbers(4000))
     WHERE NOT (cc = 'IT' AND at >= '2026-04-20') AND NOT (cc = 'US' AND at < '2026-04-13')`,
  );
  lab = await own.open();
});
afterAll(() => lab.close());

const range = between("2026-03-30", "2026-05-01");

describe("change(result, period)", () => {
  const daily = () => lab.measurements.counts({ range, every: "day", by: "probe_cc" });

  test("is what the engine's own counts give, a day against the same weekday", async () => {
    const result = change(await daily(), "week");
    const counted = await lab.query<{ day: string; cc: string | null; n: number }>(
      `SELECT toString(toDate(measurement_start_time)) AS day, probe_cc AS cc, toUInt32(count()) AS n
       FROM fastpath WHERE {range} GROUP BY day, cc`,
      { range },
    );
    const place = (day: string, cc: unknown) => JSON.stringify([day, cc]);
    const known = new Map(counted.rows().map(({ day, cc, n }) => [place(day, cc), n]));
    const seen = new Set<string>();
    for (const row of result.rows()) {
      const t = row["t"] as Date;
      const [day, earlier] = [t, new Date(+t - 7 * 86_400_000)].map((at) =>
        at.toISOString().slice(0, 10),
      ) as [string, string];
      seen.add(place(day, row["probe_cc"]));
      const now = known.get(place(day, row["probe_cc"])) ?? 0;
      const before =
        earlier < "2026-03-30" ? null : (known.get(place(earlier, row["probe_cc"])) ?? 0);
      expect([row["measurements"], row["before"]]).toEqual([now, before]);
      if (before === null || before === 0) expect(row["change"]).toBeNull();
      else expect(row["change"]).toBeCloseTo(now / before - 1, 12);
    }
    // Italy's silence is a fall, for as long as there was something the week before.
    expect([...known.keys()].every((key) => seen.has(key))).toBe(true);
    const silent = result.filter((row) => row["probe_cc"] === "IT" && row["change"] === -1);
    expect(silent.numRows()).toBe(7);
  });

  test("knows nothing of a bucket that the range covers in part, nor from one", async () => {
    const cut = between("2026-04-01", "2026-04-30");
    const weekly = await lab.measurements.counts({ range: cut, every: "week" });
    const result = change(weekly);
    const known = result.rows().map(({ t, change }) => [(t as Date).getUTCDate(), change !== null]);
    expect(known).toEqual([
      [30, false],
      [6, false],
      [13, true],
      [20, true],
      [27, false],
    ]);
    expect(result.origin.notes.join(" ")).toContain(
      "Change: from the week before; none where there was nothing before, nor in or from an incomplete week.",
    );
    const drawn = chart.line(result);
    expect(drawn.data.names).toEqual(["t", "change"]);
    expect(drawn.spec["description"]).toContain("Measurements, change from the week before");
  });

  test("of a median is known where both are; another measure is named", async () => {
    const result = await lab.measurements.ask({
      range,
      every: "week",
      by: "probe_cc",
      measures: { half: quantile(0.5, "test_runtime"), n: count() },
    });
    const italian = (made: Result) =>
      made
        .filter((row) => row["probe_cc"] === "IT")
        .column("change")
        .map((one) => one !== null);
    expect(italian(change(result))).toEqual([false, true, true, false, false]);
    expect(italian(change(result, "2 weeks", "n"))).toEqual([false, false, true, true, false]);
  });

  test("refuses what has no buckets, other measures and periods", async () => {
    const all = await lab.measurements.counts({ range, every: "all", by: "probe_cc" });
    expect(() => change(all)).toThrow(/no buckets of time; ask with every: "week"/);
    const weekly = await lab.measurements.counts({ range, every: "week" });
    expect(() => change(weekly, "month")).toThrow(/months aren't made of weeks/);
    expect(() => change(weekly, "week", "runs")).toThrow(/no measure runs; its measures are meas/);
  });
});

describe("rows(list, columns)", () => {
  test("say which values differ only in case, or in the AS before a number", () => {
    const notes = (values: readonly unknown[]) =>
      rows(
        values.map((v) => ({ v })),
        { v: "dimension" },
      ).origin.notes;
    expect(notes(["AS27725", 27725])).toContain('v holds "AS27725" and 27725: they count as two.');
    expect(notes(["it", "IT"])).toContain('v holds "it" and "IT": they count as two.');
    expect(notes(["it", "de", "IT ", null])).toEqual(["Your own rows."]);
  });

  test("of a CSV join an answer, and are charted and rolled up with it", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "probelab-csv-")), "outages.csv");
    await writeFile(path, "t,probe_cc,hours\n2026-04-06,IT,3\n2026-04-13,IT,8\n2026-04-13,FR,5\n");
    const outages = rows(await aq.loadCSV(path), {
      t: "week",
      probe_cc: "dimension",
      hours: sum("hours", { unit: "h", label: "Hours of outage" }),
    });
    expect(outages.origin.columns).toMatchObject({
      time: { name: "t", every: "week", incomplete: [] },
      dimensions: [{ name: "probe_cc", order: ["IT", "FR"] }],
      measures: [{ name: "hours", label: "Hours of outage", additive: true, missing: "gap" }],
    });
    const counts = await lab.measurements.counts({ range, every: "week", by: "probe_cc" });
    const both = counts.join(outages);
    expect(both.numRows()).toBe(counts.numRows());
    const found = both.rows().filter(({ hours }) => hours !== null);
    expect(found.map(({ t, probe_cc, hours }) => [t, probe_cc, hours])).toEqual([
      [new Date("2026-04-06"), "IT", 3],
      [new Date("2026-04-13"), "IT", 8],
    ]);
    expect(both.origin.notes.join(" ")).toMatch(
      /Joined by t, probe_cc: hours \(your own rows\); none for \d+ of \d+ rows; 1 row of it in no place of these\./,
    );
    expect(both.origin.range).toEqual(range);
    const drawn = chart.dot(both, { x: "hours", y: "measurements" });
    expect(drawn.data.rows.filter(([hours]) => hours !== null)).toHaveLength(2);
    expect(chart.bar(outages, { color: null }).data.rows).toEqual([
      [new Date("2026-04-06"), 3],
      [new Date("2026-04-13"), 13],
    ]);
    const { op } = aq;
    const total = outages.with((table) => table.rollup({ hours: op.sum("hours") }));
    expect(total.column("hours")).toEqual([16]);
    expect(change(outages).column("change")).toContain(8 / 3 - 1);
  });

  test("of one column stand beside each value of another, and are not added up over these", async () => {
    const releases = rows([{ t: "2026-04-13", users: 1_200 }], { t: "week", users: sum("users") });
    const counts = await lab.measurements.counts({ range, every: "week", by: "probe_cc" });
    const both = counts.join(releases);
    expect(new Set(both.column("users"))).toEqual(new Set([null, 1_200]));
    expect(() => chart.line(both, { y: "users", color: null })).toThrow(/can't be added up/);
  });

  test("refuse what would be counted twice, and what isn't there", async () => {
    const weekly: Result<object> = await lab.measurements.counts({ range, every: "week" });
    const week = { t: "week", n: count() } as const;
    const twice = rows(
      [
        { t: "2026-04-06", n: 1 },
        { t: "2026-04-06", n: 2 },
      ],
      week,
    );
    expect(() => weekly.join(twice)).toThrow(/several rows for 1 place of t, so rows would be/);
    const daily = rows([{ t: "2026-04-06", n: 1 }], { t: "day", n: count() });
    expect(() => weekly.join(daily)).toThrow("one is by week, the other by day; ask both with");
    expect(() => weekly.join(rows([{ cc: "IT" }]))).toThrow(/no time or dimension is in both/);
    expect(() => weekly.join([{ t: 1 }] as never)).toThrow(/make rows of your own one/);
    expect(() => rows([{ t: "soon" }], { t: "day" })).toThrow(
      /Can't read "soon" as the column "t"/,
    );
    expect(() => rows([{ cc: "IT" }], { cx: "dimension" })).toThrow(/did you mean "cc"/);
    expect(() => rows(Promise.resolve([]) as never)).toThrow(/write await before it/);
  });
});
