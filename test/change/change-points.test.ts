import { expect, test } from "vitest";
import { changePoints, Result } from "../../src/index.js";
import type { MeasureColumn } from "../../src/result/origin.js";
import { asResult, seededCounts } from "../support/change/counts.js";
import { seeded } from "../support/change/draws.js";
import { HOUR, hourlyResult, START } from "../support/change/flow-results.js";

const hourAt = (i: number): Date => new Date(START + i * HOUR);

/** An answer by hour: a series for each version; null where nothing is known. */
function answer(
  series: Readonly<Record<string, readonly (number | null)[]>>,
  measure: Partial<MeasureColumn> = {},
  { dimension = "software_version", incomplete = [] as readonly Date[] } = {},
): Result {
  const [only, ...others] = Object.values(series);
  const groups = others.length === 0 ? { "": only! } : series;
  return hourlyResult(groups, { dimension, measure, incomplete });
}

/** Poisson counts around a level that is another from `at` on. */
function counts(seed: number, n: number, level: number, at = n, after = level): number[] {
  const { poisson } = seeded(seed);
  return Array.from({ length: n }, (_, i) => poisson(i < at ? level : after));
}

test("changePoints finds a drop in counts with day and week within an hour", async () => {
  const seededDrop = seededCounts(31, "hour", 0.5);
  const planted = hourAt(seededDrop.at);
  const finding = await changePoints(Promise.resolve(asResult(seededDrop)));
  expect(finding).toMatchObject({ kind: "change points", found: true });
  const rows = finding.result.rows();
  const row = rows.find(({ t }) => Math.abs(Number(t) - Number(planted)) <= HOUR);
  expect(Number(row?.["relative"])).toBeCloseTo(-0.5, 1);
  expect(Number(row?.["size_low"])).toBeLessThan(Number(row?.["size"]));
  expect(finding.sentence).toMatch(
    /^Measurements by hour fell by \d\d % at \d+ \w+ 2026 .*−\d\d %/,
  );
});

test("changePoints gives a fall of counts no interval beyond all of them", async () => {
  const { result, sentence } = await changePoints(answer({ "": counts(4, 40, 9, 30, 0.2) }));
  const [row] = result.rows();
  expect(Number(row!["size_low"])).toBeGreaterThanOrEqual(-Number(row!["before"]));
  expect(sentence).toMatch(/95 % interval −100 % to −\d+ %/);
});

test("changePoints names the series that changed", async () => {
  const finding = await changePoints(
    answer(
      {
        IT: counts(1, 96, 400, 60, 150),
        DE: counts(2, 96, 0, 60, 250),
        US: counts(3, 96, 300),
      },
      {},
      { dimension: "probe_cc" },
    ),
  );
  const rows = finding.result.rows();
  expect(rows.map((row) => row["probe_cc"]).sort()).toEqual(["DE", "IT"]);
  for (const row of rows) {
    expect(row["t"]).toEqual(hourAt(60));
  }
  expect(finding.sentence).toContain("2 changes in 2 of 3 series");
  expect(finding.result.origin.columns.dimensions[0]?.order).toEqual(["IT", "DE"]);
  const long = "word ".repeat(5_000);
  const { sentence } = await changePoints(
    answer(
      { [long]: counts(1, 96, 400, 60, 150), US: counts(3, 96, 300) },
      {},
      { dimension: "probe_cc" },
    ),
  );
  expect(sentence).toContain(" of probe_cc word word");
  expect(sentence.length).toBeLessThan(500);
});

test("changePoints over versions tells what they hold together, and that users moved between them", async () => {
  const upgrade = await changePoints(
    answer({ "3.9": counts(1, 96, 400, 60, 150), "3.10": counts(2, 96, 0, 60, 250) }),
  );
  expect(upgrade.headline).toBe("No change of level was found in Measurements by hour");
  expect(upgrade.sentence).toContain(
    "2 changes of 2 versions in the table, as users go from one to another.",
  );
  expect(upgrade.result.numRows()).toBe(2);
  const loss = await changePoints(
    answer({ "3.9": counts(1, 96, 400, 60, 100), "3.10": counts(2, 96, 0, 60, 100) }),
  );
  expect(loss.headline).toMatch(/^Measurements by hour fell by (49|50|51) % at /);
  expect(loss.sentence).toContain("2 changes of 2 versions in the table");
});

test("changePoints finds which of many series changed, and seldom another", async () => {
  let [found, wrong] = [0, 0];
  for (let seed = 0; seed < 5; seed++) {
    const series = Object.fromEntries(
      Array.from({ length: 40 }, (_, k) => [
        `AS${k}`,
        counts(1_000 * seed + k, 80, 100, 40, k < 4 ? 40 : 100),
      ]),
    );
    const { result } = await changePoints(answer(series, {}, { dimension: "probe_asn" }));
    const names = new Set(result.column("probe_asn") as string[]);
    found += [...names].filter((name) => Number(name.slice(2)) < 4).length;
    wrong += [...names].filter((name) => Number(name.slice(2)) >= 4).length;
  }
  expect(found).toBe(20);
  expect(wrong).toBeLessThanOrEqual(2);
});

test("changePoints leaves incomplete buckets out and says so", async () => {
  const values = counts(5, 72, 500);
  values[71] = 120;
  values[70] = 130;
  values[69] = 125;
  const incomplete = [69, 70, 71].map(hourAt);
  expect((await changePoints(answer({ all: values }))).found).toBe(true);
  const finding = await changePoints(answer({ all: values }, {}, { incomplete }));
  expect(finding.found).toBe(false);
  expect(finding.sentence).toContain("No change of level was found");
  expect(finding.result.origin.notes.join(" ")).toContain("Left out of the search: the hours of");
  expect(finding.result.numRows()).toBe(0);
});

test("changePoints reads shares over gaps, in which a change may have come", async () => {
  const { normal } = seeded(9);
  const shares = Array.from({ length: 90 }, (_, i) =>
    i % 7 === 3 ? null : (i < 53 ? 0.2 : 0.5) + 0.02 * normal(),
  );
  const measure = { name: "failed", label: "Failed", unit: "share", additive: false } as const;
  const finding = await changePoints(answer({ all: shares }, { ...measure, missing: "gap" }));
  expect(finding.result.rows()).toMatchObject([{ t: hourAt(53), earliest: hourAt(52) }]);
  expect(finding.sentence).toMatch(
    /^Failed by hour rose .* From [12]\d(\.\d)? % to [45]\d(\.\d)? %/,
  );
});

test("changePoints gives an outage from its beginning, nothing as nothing, and what would have been seen", async () => {
  const { poisson } = seeded(3);
  const values = Array.from({ length: 672 }, (_, i) =>
    i >= 400 && i < 448 ? 0 : poisson(300 + 150 * Math.sin((2 * Math.PI * i) / 24)),
  );
  const finding = await changePoints(answer({ all: values }));
  expect(finding.result.column("t")).toEqual([hourAt(400), hourAt(448)]);
  expect(finding.result.rows()).toMatchObject([{ after: 0 }, { before: 0, relative: null }]);
  expect(finding.sentence).toMatch(/^Measurements by hour fell by 100 % at .* to 0 \(/);
  const quiet = await changePoints(answer({ all: counts(8, 200, 300) }));
  expect(quiet.sentence).toMatch(
    / A step of [\d.]+ % or more for a quarter of them would have been noticed in 9 of 10 cases\. Slow rises and falls aren't looked for\./,
  );
  const grown = Array.from({ length: 84 }, (_, i) => poisson(2_000 + 12 * i));
  expect((await changePoints(answer({ all: grown }))).sentence).toMatch(
    /^No change of level .* Slow rises and falls aren't looked for\./,
  );
});

test.each([
  ["few buckets", [5, 6, 5, 1], "fewer than 8 whole buckets"],
  ["zeros", new Array<number>(40).fill(0), "nothing but zeros"],
])("changePoints says that it can't tell from %s", async (_, values, why) => {
  const finding = await changePoints(answer({ all: values }));
  expect(finding.found).toBe(false);
  expect(finding.sentence).toMatch(/^Can't tell whether Measurements by hour changed\. It has/);
  expect(finding.sentence).toContain(why);
});

test("changePoints says what is wrong with what was asked", async () => {
  const asked = answer({ all: counts(1, 30, 50) });
  const { time, ...columns } = asked.origin.columns;
  expect(time?.every).toBe("hour");
  const timeless = new Result(asked.table, { ...asked.origin, columns });
  await expect(changePoints(timeless)).rejects.toThrow('Ask with every: "hour"');
  await expect(changePoints([] as never)).rejects.toThrow("Pass one with buckets of time");
});

test("changePoints says that a weekend looks like a change in less than two weeks", async () => {
  const { poisson } = seeded(4);
  const level = (i: number) => (Math.floor(i / 24) % 7 > 4 ? 300 : 400);
  const weeks = async (count: number) =>
    changePoints(answer({ all: Array.from({ length: 168 * count }, (_, i) => poisson(level(i))) }));
  expect((await weeks(1)).sentence).toMatch(
    / With less than 2 weeks a weekend looks like a change\.$/,
  );
  expect((await weeks(2)).found).toBe(false);
});
