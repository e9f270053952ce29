import { beforeAll, describe, expect, it } from "vitest";
import { between, compare, count, countDistinct, quantile, share } from "../../src/index.js";
import { compareCells, weekBefore } from "../../src/change/cells/compare.js";
import { cellsOf, type Row } from "../support/change/cells.js";
import { seeded } from "../support/change/draws.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const now = between("2026-05-08", "2026-05-15");

/** Runs of three rows each; of the later week two thirds of Italy's are gone, and half of Italy's rows fail. */
beforeAll(async () => {
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String,
       software_version LowCardinality(String), probe_cc LowCardinality(Nullable(String)),
       probe_asn UInt32, test_name Enum8('web_connectivity' = 1, 'dnscheck' = 2), failed Nullable(Bool),
       runtime Nullable(Float64)) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT toDateTime('2026-05-01', 'UTC') + intDiv(number, 3) * 60, toString(intDiv(number, 3)),
       ['3.9.1', '3.10.0', ''][1 + cityHash64(1, intDiv(number, 3)) % 3],
       [NULL, 'IT', 'FR', 'it\\'s'][1 + cityHash64(2, intDiv(number, 3)) % 4] AS cc,
       cityHash64(3, intDiv(number, 3)) % 20, 1 + cityHash64(4, number) % 2,
       ifNull(cc, '') = 'IT' AND number > 30240 ? number % 2 : number % 10 = 0, number % 100
     FROM numbers(60480) WHERE NOT (ifNull(cc, '') = 'IT' AND number > 30240 AND cityHash64(5, intDiv(number, 3)) % 3 > 0)`,
  );
});

describe("compare", () => {
  it("says first that weekends differ or ranges overlap, and refuses ranges in the wrong order", async () => {
    await using lab = await own.open();
    const first = async (before: [string, string], now: [string, string]) => {
      const asked = { before: between(...before), now: between(...now) };
      return (await compare(lab.measurements, asked)).sentence;
    };
    expect(await first(["2026-05-06", "2026-05-08"], ["2026-05-09", "2026-05-11"])).toMatch(
      /Saturdays and Sundays are 100 % of the later range and 0(\.0+)? % of the earlier one/,
    );
    expect(await first(["2026-05-04", "2026-05-11"], ["2026-05-08", "2026-05-15"])).toMatch(
      /the ranges overlap, so that rows of both count on both sides/,
    );
    const longer = await compare(lab.measurements, {
      now,
      before: between("2026-05-06", "2026-05-10"),
    });
    expect(longer.sentence).toMatch(/the ranges overlap/);
    expect(longer.result.origin.notes.join(" ")).toMatch(/^The ranges differ in length/);
    const alike = await compare(lab.measurements, { now, dimensions: ["probe_cc"] });
    expect(alike.result.origin.notes).toEqual([]);
    await expect(first(["2026-05-08", "2026-05-15"], ["2026-05-01", "2026-05-08"])).rejects.toThrow(
      /begins later than the range in question .*Swap them\./,
    );
  });

  it("lists each value's rows of both weeks, and says which moved beyond the whole", async () => {
    await using lab = await own.open();
    const found = await compare(lab.measurements, { now, top: Infinity });
    const rows = found.result.rows();
    for (const dimension of ["software_version", "probe_cc", "probe_asn", "test_name"]) {
      const [before, after] = await Promise.all(
        [weekBefore(now), now].map((range) =>
          lab.measurements.ask({
            range,
            every: "all",
            by: dimension,
            top: Infinity,
            measures: { n: count() },
          }),
        ),
      );
      const given = rows.filter((row) => row["dimension"] === dimension);
      for (const [column, answer] of [["before", before] as const, ["after", after] as const]) {
        const asked = answer!.rows() as { n: number }[];
        const value = (row: object) => (row as Record<string, string | null>)[dimension];
        expect(new Map(given.map((row) => [row["value"], row[column]]))).toEqual(
          new Map(asked.map((row) => [value(row), row.n])),
        );
      }
    }
    expect(found.found).toBe(true);
    expect(found.values[0]).toMatchObject({ dimension: "probe_cc", value: "IT" });
    expect(found.sentence).toMatch(
      /^probe_cc IT lost 6\d % of its measurements\. .* Measurements fell by /,
    );
    expect(found.result.origin.notes).toContain("The table has no software_name: not looked at.");
  });

  it("compares shares with an interval, and refuses what has no parts", async () => {
    await using lab = await own.open();
    const shares = await compare(lab.measurements, { now, measure: share({ failed: true }) });
    expect(shares.values[0]).toMatchObject({ dimension: "probe_cc", value: "IT" });
    const { low, high, change } = shares.values[0]!;
    expect(low!).toBeLessThan(change!);
    expect(high!).toBeGreaterThan(change!);
    expect(shares.sentence).toContain("percentage points");

    for (const measure of [quantile(0.5, "runtime"), countDistinct("probe_asn")]) {
      await expect(compare(lab.measurements, { now, measure })).rejects.toThrow(
        /its values don't add up to the whole\. Ask the same source for each range/,
      );
    }
  });

  it("says that nothing can be compared where there are no rows", async () => {
    await using lab = await own.open();
    const empty = await compare(lab.measurements, { now: between("2020-01-08", "2020-01-15") });
    expect(empty).toMatchObject({ found: false, values: [] });
    expect(empty.sentence).toMatch(/^I can't tell what changed/);
    const gone = await compare(lab.measurements, { now: between("2026-05-15", "2026-05-22") });
    expect(gone.result.origin.notes.join(" ")).toMatch(/holds no measurement of 15–21 May 2026/);
  });

  it("refuses unknown options, columns and sources with what to pass", async () => {
    await using lab = await own.open();
    const odd = { now, dimension: ["probe_cc"] };
    await expect(compare(lab.measurements, odd)).rejects.toThrow(/did you mean dimensions\?/);
    await expect(compare(lab.measurements, { now, dimensions: ["probe_c"] })).rejects.toThrow(
      /did you mean probe_cc\?/,
    );
    await expect(compare(lab.measurements, { now, top: 2.5 })).rejects.toThrow(/whole number/);
    await expect(compare(lab.measurements, { now, dimensions: [] })).rejects.toThrow(
      /by dimensions: \[\]\. Pass a list of up to 7/,
    );
    const none = compare(lab.measurements, { now: "24 hours" } as never);
    await expect(none).rejects.toThrow(/pass \{ now: last/);
    await expect(compare(lab as never, { now })).rejects.toThrow(/pass lab.measurements/);
  });
});

it("compareCells: the order of the table is the same in whatever order the server answers", () => {
  const { count: drawn } = seeded(3);
  const rows = Array.from({ length: 60 }, (_, at): Row => {
    const values = [["a", "b"][at % 2]!, `v${at % 7}`, at % 4 < 2 ? null : ""];
    return { values, before: drawn(90), after: drawn(80) };
  });
  const listed = (given: readonly Row[]) =>
    compareCells(cellsOf(["two", "seven", "none"], given), 20).values.map(
      ({ dimension, value }) => `${dimension} ${value}`,
    );
  for (let turn = 1; turn < 60; turn += 7) {
    expect(listed([...rows.slice(turn), ...rows.slice(0, turn)])).toEqual(listed(rows));
  }
});

it("compareCells: 3.10.0 of one program is another release than that of the next", () => {
  const rows = ["a", "b"].flatMap((program): Row[] => [
    { values: [program, "3.10.0"], before: 9_000, after: program === "a" ? 900 : 9_000 },
    { values: [program, "3.9.1"], before: 9_000, after: 9_000 },
  ]);
  const { values } = compareCells(cellsOf(["software_name", "software_version"], rows), 20);
  const versions = values.filter(({ dimension }) => dimension === "software_version");
  expect(versions).toMatchObject([{ value: "a 3.10.0", before: 9_000, after: 900 }, {}, {}, {}]);
});

it("compareCells: upgrades are no noise, and versions that users left don't stand out", () => {
  const { count: drawn } = seeded(1);
  const rows = Array.from({ length: 60 }, (_, at) => at).flatMap((network): Row[] =>
    ["a", "b"].flatMap((program) => [
      { values: [program, "1.0", `AS${network}`], before: drawn(400), after: 0 },
      {
        values: [program, "1.1", `AS${network}`],
        before: 0,
        after: drawn(program === "a" ? 400 : 200),
      },
    ]),
  );
  const asked = cellsOf(["software_name", "software_version", "probe_asn"], rows);
  const { sentence, values } = compareCells(asked, 20);
  expect(sentence).toMatch(/^b 1\.1 lost (49|5\d) % of its measurements\. /);
  const kept = values.find(({ value }) => value === "a")!;
  expect(Math.max(-kept.low!, kept.high!)).toBeLessThan(0.1 * kept.before!);
  const left = values.find(({ value }) => value === "a 1.0")!;
  expect(left.high! - left.low!).toBeGreaterThan(0);
});

it("weekBefore keeps the clock of the zone, and two ranges apart", () => {
  const rome = between("2026-03-30", "2026-03-31", { timeZone: "Europe/Rome" });
  expect(weekBefore(rome)).toEqual(
    between("2026-03-23", "2026-03-24", { timeZone: "Europe/Rome" }),
  );
  const month = between("2026-05-01", "2026-06-01");
  expect(weekBefore(month)).toEqual(between("2026-03-27", "2026-04-27"));
});

it("compareCells: the interval of a quiet value holds no change in 95 of 100", () => {
  let [holding, found] = [0, 0];
  for (let seed = 1; seed <= 40; seed += 1) {
    const { count: drawn } = seeded(seed);
    const rows = Array.from({ length: 400 }, (_, at): Row => {
      return { values: [String(at % 20)], before: drawn(40), after: drawn(40) };
    });
    const compared = compareCells(cellsOf(["x"], rows), 20);
    holding += compared.values.filter(({ low, high }) => low! <= 0 && high! >= 0).length;
    found += Number(compared.found);
  }
  expect(holding / 800).toBeGreaterThan(0.9);
  expect(found).toBe(0);
});
