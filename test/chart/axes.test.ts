import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { between, change, chart, downsample, table } from "../../src/index.js";
import { DAY } from "../../src/time/span.js";
import { layers, subtitle, title } from "./support/layers.js";
import { columnsOf, counted, makeResult, weeklyDurations } from "./support/sample-results.js";

const START = Date.UTC(2026, 4, 1);
const labels = (svg: string): string[] =>
  [...svg.matchAll(/role-axis-label.*?<\/g>/gs)].flatMap(([group]) =>
    [...group.matchAll(/>([^<>]+)<\/text>/g)].map(([, text = ""]) => text),
  );

describe("the labels of a vertical axis", () => {
  test.each([
    [1e9, 1],
    [1e9, 1e-3],
    [1e9, 1e6],
    [123_456_789, 10],
    [0.9991, 1e-5],
    [99.99, 1e-7],
    [5e15, 1],
  ])("have as many digits as tell its ticks apart: %d and steps of %d", async (first, step) => {
    const rows = [0, 1, 2, 3, 4].map((at) => ({
      t: new Date(START + at * DAY),
      n: first + at * step,
    }));
    for (const measures of [[], [{ name: "n", label: "Share", unit: "share" }]]) {
      const given = makeResult(columnsOf(rows), {
        dimensions: [],
        measures: measures.map((one) => ({ ...one, additive: false, missing: "gap" as const })),
      });
      const drawn = chart.line(given, { x: "t", y: { value: "n", zero: false } });
      const shown = labels(await drawn.svg()).filter((text) => !/May|:|^20\d\d$/.test(text));
      expect(shown.length).toBeGreaterThan(3);
      expect(new Set(shown).size).toBe(shown.length);
    }
  });

  test("edges of bins that differ only in a late digit are told apart", () => {
    const from = [0, 1, 2].map((at) => 1_700_000_000 + at);
    const bins = makeResult(
      { from, to: from.map((edge) => edge + 1), n: [1, 2, 3] },
      { dimensions: [], measures: [counted("n", "Measurements")] },
    );
    expect(JSON.stringify(chart.histogram(bins).spec)).toContain("1,700,000,001");
  });
});

describe("an empty chart says why", () => {
  const empty = (notes: string[]) =>
    makeResult(
      { t: [], n: [] },
      {
        time: { name: "t", every: "day", incomplete: [] },
        dimensions: [],
        measures: [counted("n", "Measurements")],
      },
      { notes },
    );
  const auto = "Grouped by day, the finest bucket that keeps the rows under 5,000.";

  test("by the note that gives the reason, not by the first", async () => {
    const why = "No measurement from 2026-02-01 to 2026-05-01 has test_name webconnectivity.";
    const drawn = chart.line(empty([auto, why]));
    expect((await drawn.svg()).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ")).toContain(
      `No data: ${why}`,
    );
    expect(subtitle(drawn)).toContain(auto);
    expect(subtitle(drawn)).not.toContain(why);
    expect(await chart.line(empty([auto])).svg()).toContain("No data in this range.");
  });
});

test("a heat map of hours says where clocks change", () => {
  const rows = ["Saturday", "Sunday"].flatMap((weekday) =>
    ["01", "02", "03"].map((hour_of_day) => ({ weekday, hour_of_day, n: 5 })),
  );
  const map = (start: string, end: string) =>
    subtitle(
      chart.heatmap(
        makeResult(
          columnsOf(rows),
          {
            dimensions: [
              { name: "weekday", order: ["Saturday", "Sunday"], ordered: true },
              { name: "hour_of_day", order: ["01", "02", "03"], ordered: true },
            ],
            measures: [counted("n", "Measurements")],
          },
          { range: between(start, end, { timeZone: "Europe/Rome" }) },
        ),
      ),
    );
  expect(map("2026-10-20", "2026-10-27")).toContain(
    "Clocks change on 25 Oct 2026: an hour of it counts twice.",
  );
  expect(map("2026-03-24", "2026-03-31")).toContain(
    "Clocks change on 29 Mar 2026: an hour of it is missing.",
  );
  expect(map("2026-06-01", "2026-06-08")).not.toContain("Clocks");
});

describe("a scatter plot", () => {
  test("names both measures in its title", () => {
    expect(title(chart.dot(weeklyDurations(), { x: "runs", y: "q50" }))).toBe(
      "Run duration, median against runs, by version",
    );
  });

  test("may have a log x, which draws no zeros; no other chart has", () => {
    const rows = [0, 1, 10, 100].map((size) => ({ size, ms: 5 }));
    const drawn = chart.dot(rows, { x: { value: "size", type: "log" }, y: "ms" });
    expect(layers(drawn)[0]!.encoding["x"]!["scale"]).toMatchObject({ type: "log" });
    expect(drawn.data.rows.map(([size]) => size)).toEqual([1, 10, 100]);
    expect(subtitle(drawn)).toContain("1 value of zero or below left out.");
    expect(() => chart.line(rows, { x: { value: "size", type: "log" } })).toThrow(/x\.type/);
  });
});

test("a title has the words of columns: of the parts of a version, and of n", () => {
  const rows = [2, 3].map((day) => ({
    t: new Date(Date.UTC(2026, 1, day)),
    ...{ software_version_2: "3.9", n: 1 },
  }));
  expect(title(chart.line(rows))).toBe("Number by version");
});

describe("files for others", () => {
  const directory = mkdtempSync(join(tmpdir(), "probelab-digits-"));
  const rows = [
    { cc: "IT", big: 9_007_199_254_740_993n },
    { cc: "DE", big: 12n },
  ];

  test("integers beyond 2^53 keep their digits in CSV, Parquet and tables", async () => {
    for (const one of [chart.bar(rows), table(rows)]) {
      expect(readFileSync(await one.save(join(directory, "a.csv")), "utf8")).toContain(
        "9007199254740993",
      );
      const parquet = readFileSync(await one.save(join(directory, "a.parquet")));
      const file = parquet.buffer.slice(parquet.byteOffset, parquet.byteOffset + parquet.length);
      const read = (await parquetReadObjects({ file: file })) as { big: bigint }[];
      expect(read.map(({ big }) => big).toSorted()).toEqual([12n, 9_007_199_254_740_993n]);
    }
    expect(table(rows).markdown).toContain("9,007,199,254,740,993");
  });

  test("a CSV begins with a byte order mark where it is asked for, and nothing else does", async () => {
    for (const one of [chart.bar(rows), table(rows)]) {
      const path = join(directory, "b.csv");
      await one.save(path, { bom: true });
      expect([...readFileSync(path).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
      await one.save(path);
      expect(readFileSync(path)[0]).not.toBe(0xef);
      await expect(one.save(join(directory, "b.html"), { bom: true })).rejects.toThrow(
        /only a \.csv/,
      );
    }
  });
});

test.each([undefined, null, 5, {}, { a: [1] }, "x", [{ t: 1, n: 2 }]])(
  "downsample(%j) and change(%j) say what to pass",
  (bad) => {
    expect(() => downsample(bad as never, { x: "t", y: "n" })).toThrow(
      /^Can't downsample .*: pass a Result or an Arquero table/,
    );
    expect(() => change(bad as never)).toThrow(
      /^Can't take the change of .*: pass a Result by time/,
    );
  },
);

test("downsample without x or y, and own rows with a column __proto__, are refused in a sentence", () => {
  expect(() => downsample(weeklyDurations(), undefined as never)).toThrow(
    "without x: name its column",
  );
  expect(() => downsample(weeklyDurations(), { x: "t" } as never)).toThrow(
    "without y: name its column",
  );
  const row = JSON.parse('{ "__proto__": "a", "n": 1 }') as object;
  expect(() => chart.bar([row])).toThrow("which no table can hold: rename it");
});

test.each(["__proto__", "constructor", "toString", "valueOf"])(
  "a value %s is drawn as any other",
  async (name) => {
    const rows = ["a", name].flatMap((s) =>
      [0, 1].map((day) => ({ t: new Date(START + day * DAY), s, n: 1 })),
    );
    for (const made of [
      chart.line(rows),
      chart.line(rows, { facet: "s" }),
      chart.bar([{ s: name, n: 1 }], { horizontal: true }),
      chart.heatmap([{ s: name, b: "x", n: 1 }], { x: "s", y: "b" }),
    ]) {
      expect(await made.svg()).toContain(name);
    }
  },
);
