import { describe, expect, test } from "vitest";
import { chart, type Value } from "../../src/index.js";
import { THEMES } from "../../src/chart/render/theme.js";
import { layers, legend, subtitle } from "./support/layers.js";
import { asked, counted } from "./support/sample-results.js";

const COUNTRIES = ["IT", "DE", "BR", "other"];
const RUNS = [counted("runs", "Runs")];
/** Runs by day and country, `rest` in "other". */
const byDay = (rest: number) => {
  const rows = [2, 3, 4].flatMap((day) =>
    COUNTRIES.map((probe_cc, at) => ({
      ...{ t: new Date(Date.UTC(2026, 1, day)), probe_cc },
      runs: at === 3 ? rest : 10 + at,
    })),
  );
  return asked(rows, { probe_cc: COUNTRIES }, RUNS, "day", { range: undefined as never });
};
const panels = (drawn: ReturnType<typeof chart.line>) =>
  (drawn.spec["concat"] as { title: { text: string } }[]).map(({ title }) => title.text);
const NOTE = "other: 2,700 of 2,799 (96 %), not drawn.";

describe('"other" where it would flatten the rest', () => {
  test("is no line, panel or row of a heat map; a note gives it", () => {
    const line = chart.line(byDay(900));
    expect(legend(line).names).toEqual(["IT", "DE", "BR"]);
    expect(subtitle(line)).toContain(NOTE);
    const facet = chart.line(byDay(900), { facet: "probe_cc" });
    expect(panels(facet)).toEqual(["IT", "DE", "BR"]);
    expect(subtitle(facet)).toContain(NOTE);
    const map = chart.heatmap(byDay(900));
    expect(map.data.rows.map(([, name]) => name)).not.toContain("other");
    expect(subtitle(map)).toContain("other (country): 2,700 of 2,799 (96 %), not drawn.");
  });

  test("is drawn where it is asked for, is no larger, has a scale of its own, or is part of a sum", () => {
    expect(legend(chart.line(byDay(900), { other: true })).names).toContain("other");
    expect(legend(chart.line(byDay(30))).names).toContain("other");
    expect(legend(chart.line(byDay(30), { other: false })).names).not.toContain("other");
    expect(legend(chart.area(byDay(900))).names).toContain("other");
    const own = chart.line(byDay(900), { facet: "probe_cc", scales: "own" });
    expect(panels(own)).toContain("other");
    expect(panels(chart.bar(byDay(900), { facet: "probe_cc", other: true }))).toContain("other");
    const map = chart.heatmap(byDay(900), { other: true });
    expect(map.data.rows.map(([, name]) => name)).toContain("other");
  });

  test("is a bar where it is at most three times as long as the longest, or asked for", () => {
    const bars = (rest: number, options = {}) => {
      const rows = COUNTRIES.map((probe_cc, at) => ({ probe_cc, runs: [30, 20, 10, rest][at]! }));
      return chart.bar(asked(rows, { probe_cc: COUNTRIES }, RUNS), options);
    };
    const names = (drawn: ReturnType<typeof bars>) => drawn.data.rows.map(([name]) => name);
    expect(names(bars(1_940))).toEqual(["IT", "DE", "BR"]);
    expect(subtitle(bars(1_940))).toContain("other: 1,940 of 2,000 (97 %), not drawn.");
    expect(names(bars(90))).toEqual(COUNTRIES);
    expect(names(bars(1_940, { other: true }))).toEqual(COUNTRIES);
    expect(names(bars(5, { other: false }))).not.toContain("other");
    for (const [horizontal, channel] of [
      [false, "x"],
      [true, "y"],
    ] as const) {
      const [bar] = layers(bars(1_940, { other: true, horizontal }));
      expect(bar!.encoding[channel]!["sort"]).toEqual(COUNTRIES);
    }
  });

  test("a heat map of two dimensions leaves out the one that flattens", () => {
    const rows = COUNTRIES.flatMap((probe_cc, i) =>
      ["a", "other"].map((test_name) => ({
        ...{ probe_cc, test_name },
        runs: i === 3 ? 900 : 10 + i,
      })),
    );
    const by = { probe_cc: COUNTRIES, test_name: ["a", "other"] };
    const drawn = chart.heatmap(asked(rows, by, RUNS));
    expect(drawn.data.rows.map(([test, country]) => [country, test])).toEqual(
      ["a", "other"].flatMap((test) => ["IT", "DE", "BR"].map((country) => [country, test])),
    );
  });
});

describe("bars of one's own rows", () => {
  const bars = (rows: object[], options = {}) => chart.bar(rows, options).data.rows.map(([x]) => x);

  test("are sorted as those of a question: the largest first, numbers and versions in their order", () => {
    const rows = [
      { c: "IT", v: "3.10", hour: 3, n: 3 },
      { c: "DE", v: "3.9", hour: 1, n: 9 },
      { c: "FR", v: "3.8", hour: 2, n: 5 },
    ];
    const shown = (x: "c" | "hour") => {
      const axis = layers(chart.bar(rows, { x, y: "n", color: null })).at(0)!.encoding["x"]!;
      return axis["sort"];
    };
    expect(shown("c")).toEqual(["DE", "FR", "IT"]);
    expect(shown("hour")).toEqual(["1", "2", "3"]);
    const versions = rows.map(({ v, n }) => ({ software_version: v, n }));
    const axis = layers(chart.bar(versions)).at(0)!.encoding["x"]!;
    expect(axis["sort"]).toEqual(["3.8", "3.9", "3.10"]);
    const given = layers(chart.bar(rows, { x: "c", y: "n", color: null, sort: "given" }));
    expect(given.at(0)!.encoding["x"]!["sort"]).toEqual(["IT", "DE", "FR"]);
  });

  test("of numbers that name something are a bar for each, in bars, lines, areas and heat maps", () => {
    const networks = [3269, 12874, 30722].map((probe_asn, at) => ({ probe_asn, runs: at + 1 }));
    expect(bars(networks).toSorted()).toEqual([12874, 30722, 3269]);
    expect(layers(chart.bar(networks)).at(0)!.encoding["x"]!["sort"]).toEqual([
      "AS30722",
      "AS12874",
      "AS3269",
    ]);
    const daily = networks.flatMap((row) =>
      [2, 3].map((day) => ({ t: new Date(Date.UTC(2026, 1, day)), ...row })),
    );
    for (const kind of ["line", "area"] as const) {
      expect(legend(chart[kind](daily)).names).toEqual(["AS3269", "AS12874", "AS30722"]);
    }
    const cells = networks.flatMap((row) => ["IT", "DE"].map((cc) => ({ ...row, cc })));
    expect(chart.heatmap(cells, { x: "probe_asn", y: "cc" }).data.rows).toHaveLength(6);
  });

  test("of few numbers have a place for each between the first and the last, and are as wide as others", () => {
    const sizes = [2, 10].map((size) => ({ size, n: size }));
    const x = layers(chart.bar(sizes)).at(0)!.encoding["x"]!;
    expect(x["type"]).toBe("nominal");
    expect(x["sort"]).toEqual(["2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    const many = Array.from({ length: 90 }, (_, at) => ({ size: at + (at % 2) / 3, n: 1 }));
    expect(() => chart.bar(many)).toThrow(/no common step; round them in the question/);
  });

  test("without a category, as rows of a join without a partner, are grey, and so is their series", () => {
    const rows: { region: Value; n: number }[] = [
      { region: "EU", n: 3 },
      { region: null, n: 9 },
    ];
    const [bar] = layers(chart.bar(rows));
    const { condition } = bar!.encoding["color"] as { condition: object };
    expect(condition).toMatchObject({ test: "datum.other", value: THEMES.light.neutral });
    expect(bar!.data.values.filter(({ other }) => other === true)).toHaveLength(1);
    const daily = rows.flatMap((row) =>
      [2, 3].map((day) => ({ t: new Date(Date.UTC(2026, 1, day)), ...row })),
    );
    const { names, colours } = legend(chart.line(daily));
    expect(colours[names.indexOf("(none)")]).toBe(THEMES.light.muted);
  });
});
