import * as aq from "arquero";
import { describe, expect, test } from "vitest";
import { chart, rows as ownRows, table } from "../../src/index.js";
import { mimeBundle } from "../../src/kernel/show.js";
import { weeklyCounts } from "./support/sample-results.js";
import { layers, legend, subtitle, title } from "./support/layers.js";

const rows = ["3.10", "3.9"].flatMap((version) =>
  [4, 11, 18].map((day) => ({ t: new Date(Date.UTC(2026, 4, day)), version, runs: day * 3 })),
);

describe("rows given by hand", () => {
  test.each([
    ["plain objects", rows],
    ["an Arquero table", aq.from(rows)],
  ])("%s are drawn, and nothing is invented of them", (_, given) => {
    const drawn = chart.line(given);
    expect(title(drawn)).toBe("Runs by version");
    expect(subtitle(drawn)).toBe("Your own rows.");
    const { range, sql, source } = drawn.result.origin;
    expect({ range, sql, source }).toEqual({
      range: undefined,
      sql: "",
      source: "your own rows",
    });
    const record = (drawn.spec.usermeta as { probelab: object }).probelab;
    expect(record).not.toHaveProperty("range");
    expect(record).toMatchObject({ sql: "", source: "your own rows" });
  });

  test("versions stand by component, 3.9 before 3.10, as series and along bars", () => {
    expect(legend(chart.line(rows)).names).toEqual(["3.9", "3.10"]);
    const bars = chart.bar([
      { software_version: "3.10", runs: 1 },
      { software_version: "3.9", runs: 2 },
    ]);
    expect(JSON.stringify(layers(bars)[0]?.encoding.x)).toContain('["3.9","3.10"]');
  });

  test("a version that was read as a number, and a time in the machine's zone, are refused", () => {
    const numbers = aq.fromCSV("software_version,runs\n3.10,1\n3.1,2");
    expect(() => ownRows(numbers, { software_version: "version" })).toThrow(
      /"software_version", a Float64, as a version: 3\.10 and 3\.1 are one number; keep it as text/,
    );
    const local = aq.fromCSV("t,runs\n2026-05-01T00:00:00,1");
    expect(() => ownRows(local, { t: "day" })).toThrow(
      /2026-05-01T04:00:00.000Z of the column "t" .* midnight in this machine's zone/,
    );
    const texts = aq.fromCSV("t,runs\n2026-05-01T00:00:00,1", { parse: { t: String } });
    expect(ownRows(texts, { t: "day" }).column("t")).toEqual([new Date("2026-05-01T00:00:00Z")]);
  });

  test("seconds of a year are refused, not listed", () => {
    const times = ["2026-01-01", "2026-12-31T23:59:59Z"].map((t) => ({ t, n: 1 }));
    expect(() => ownRows(times, { t: "second" })).toThrow(/31,536,000 buckets are too many/);
  });

  test("what a column holds is learned from all values", () => {
    const mixed = [
      { t: new Date("2026-05-04"), n: 1, who: 7 },
      { n: 2, who: "probe" },
      { t: null, n: 3 },
    ];
    expect(chart.bar(mixed, { x: "who", y: "n" }).data.rows).toHaveLength(3);
    expect(() => chart.line(mixed, { x: "t", y: "who" })).toThrow(/which holds text/);
    expect(subtitle(chart.line(mixed, { x: "t", y: "n", color: null }))).toContain(
      "2 rows without t left out.",
    );
  });

  test("a table of them, and an Arquero table as the last expression", async () => {
    expect(table(rows).model.caption).toBe("6 rows");
    expect(table(rows).markdown).toContain("| 2026-05-04 |");
    const { data } = await mimeBundle(aq.from(rows));
    expect(data["text/html"]).toContain("<caption>6 rows");
    expect(data["text/plain"]).toMatch(/^Result of 6 rows\n[^]*Your own rows\.$/);
  });
});

describe("an Arquero table of a Result's", () => {
  const counts = weeklyCounts();
  test("filtered: label, unit, range and SQL are known, and how many rows are left", () => {
    const late = chart.area(
      (counts.table.params({ from: new Date("2026-04-06") }) as typeof counts.table).filter(
        (d: { t: Date }, $: { from: Date }) => d.t >= $.from,
      ),
    );
    expect(title(late)).toBe("Measurements per week by version");
    expect(subtitle(late)).toMatch(/Changed after the query: \d+ of \d+ rows kept\./);
    expect(late.result.origin.sql).toBe(counts.origin.sql);
  });

  test("added up by hand: nothing says that the chart did", () => {
    const sums = chart.line(
      counts.table.groupby("t").rollup({ measurements: aq.op.sum("measurements") }),
    );
    expect(title(sums)).toBe("Measurements by week");
    expect(subtitle(sums)).not.toContain("added up");
  });
});

test.each(["line", "area", "dot", "bar", "heatmap"] as const)(
  "a time outside the years 1 to 9999 is refused by chart.%s, with the value",
  (kind) => {
    const far = [
      { t: new Date(8e15), n: 1, g: "a" },
      { t: new Date("2026-05-01"), n: 2, g: "a" },
    ];
    expect(() => chart[kind](far, { x: "t", y: kind === "heatmap" ? "g" : "n" })).toThrow(
      /holds \+255479-.*years 1 to 9999.*broken clocks/,
    );
  },
);
