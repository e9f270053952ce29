import { describe, expect, test } from "vitest";
import { between, type Chart, chart, table, type Value } from "../../src/index.js";
import type { MeasureColumn } from "../../src/result/origin.js";
import { shownText } from "../../src/chart/render/svg.js";
import { layers, legend, subtitle } from "./support/layers.js";
import { asked, columnsOf, counted, makeResult } from "./support/sample-results.js";
import { drawnData } from "./support/seen.js";

const day = (at: number): Date => new Date(Date.UTC(2026, 9, 1 + at));
const series = (s: string, values: readonly (number | null)[]) =>
  values.map((n, at) => ({ t: day(at), s, n }));
const rising = (from: number) => Array.from({ length: 7 }, (_, at) => from + at);

test("the words of panels are those of each", () => {
  const rows = [...series("US", rising(30_000)), ...series("AR", rising(3_000))];
  const { description } = chart.line(rows, { facet: "s" }).spec;
  expect(description).toContain("2 panels");
  expect(description).toContain("US: from 30,000 (1 Oct 2026) to 30,010 (7 Oct 2026)");
  expect(description).toContain("AR: from 3,000 (1 Oct 2026) to 3,006 (7 Oct 2026)");
});

describe("the ends of an axis carry what tells them apart", () => {
  const textOf = async (drawn: Chart) =>
    shownText(await drawn.svg())
      .replace(/<\/tspan><tspan[^>]*>/g, " ")
      .replace(/<[^>]*>/g, "");
  const shown = (rows: readonly object[], options: object = {}) =>
    textOf(chart.dot(rows, { width: 400, ...options }));
  test("a week of days in narrow panels has two dates", async () => {
    const rows = [...series("US", rising(1)), ...series("AR", rising(5))];
    expect(await shown(rows, { facet: "s", width: 400 })).toMatch(/Oct 1 2026 .*Oct 7/);
  });
  test("milliseconds have both their times", async () => {
    const rows = [480, 499].map((at) => ({ t: new Date(+day(0) + at), n: at }));
    expect(await shown(rows)).toMatch(/00:00:00\.480 Oct 1, 2026 00:00:00\.499/);
  });
  test("years are no amounts", async () => {
    const text = await shown([2023, 2024, 2025].map((year) => ({ year, n: year / 7 })));
    expect(text).toContain("2023 2024 2025");
  });
  test("a lone bar has one", async () => {
    const text = await textOf(chart.bar([{ t: day(0), n: 5 }], { x: "t", width: 300 }));
    expect(text).toContain("Oct 1 2026");
    expect(text).not.toContain("00:00");
  });
});

test("bins of one's own rows are drawn by their counts, with their widths", () => {
  const drawn = chart.histogram([
    { from: 0, to: 1, n: 5 },
    { from: 1, to: 10, n: 9 },
    { from: 10, to: 11, n: 5 },
  ]);
  const bars = layers(drawn)[0]!.data.values;
  expect(bars.map(({ bin, end, n }) => [bin, end, n])).toEqual([
    [0, 1, 5],
    [1, 10, 9],
    [10, 11, 5],
  ]);
  expect(subtitle(drawn)).toContain("Bins of different widths");
  expect(() => chart.histogram([{ from: 0, to: 1 }])).toThrow(/numbers beside from and to/);
});

test("a table writes two digits of each number at least", () => {
  const { rows } = table([{ s: 185.25 }, { s: 0.618 }, { s: 3 }, { s: 0 }]).model;
  expect(rows.flat()).toEqual(["185", "0.62", "3.0", "0"]);
});

describe("a stack", () => {
  const rows = [...series("a", [3, null, 5]), ...series("b", [4, 4, 4])];
  test("has a gap where one of its series is unknown, and says so", async () => {
    const drawn = chart.area(rows);
    expect(subtitle(drawn)).toContain("Gaps: 1 place where a series is unknown.");
    const ends = (await drawnData(drawn)).map(({ datum }) => [datum["n"], datum["upper"]]);
    expect(ends).toContainEqual([3, 7]);
    expect(ends.filter(([n]) => n === null)).toHaveLength(2);
    expect(subtitle(chart.bar(rows))).toContain("Gaps: 1 place");
  });
  test("of shares has a gap where there is nothing to share", () => {
    const none = [...series("a", [3, 0, 5]), ...series("b", [4, 0, 4])];
    const drawn = chart.area(none, { stack: "normalize" });
    expect(drawn.data.rows.map((row) => row.at(-1))).toEqual([
      3 / 7,
      4 / 7,
      null,
      null,
      5 / 9,
      4 / 9,
    ]);
    expect(subtitle(drawn)).toContain("0 of 0 is no share");
  });
  test.each<[string, MeasureColumn["only"], MeasureColumn["only"], boolean]>([
    ["a part and its whole", { anomaly: ["t"] }, {}, false],
    ["parts of different columns", { anomaly: ["t"] }, { confirmed: ["t"] }, false],
    ["lists that share a value", { cc: ["IT", "DE"] }, { cc: ["DE"] }, false],
    ["parts that exclude each other", { anomaly: ["t"], cc: ["IT"] }, { anomaly: ["f"] }, true],
    ["measures that nobody knows the conditions of", undefined, {}, true],
  ])("of %s", (_name, one, other, stacks) => {
    const measure = (name: string, only: MeasureColumn["only"]): MeasureColumn => ({
      ...{ ...counted(name, name), unit: "rows" },
      ...(only && { only }),
    });
    const rows = [0, 1].map((at) => ({ t: day(at), a: 3, b: 4 }));
    const result = asked(rows, {}, [measure("a", one), measure("b", other)], "day");
    const draw = () => chart.area(result, { y: ["a", "b"] });
    if (stacks) expect(draw).not.toThrow();
    else expect(draw).toThrow(/Can't stack "a", "b": .* would count twice/);
    expect(() => chart.line(result, { y: ["a", "b"] })).not.toThrow();
  });
});

test("a heat map of changes has its middle at none", () => {
  const cells = ["IT", "DE"].flatMap((cc, at) =>
    ["00", "01"].map((hour, by) => ({ cc, hour, change: at - by * 0.4 })),
  );
  const scale = (drawn: readonly Record<string, Value>[]) =>
    layers(chart.heatmap(drawn, { x: "hour", y: "cc", color: "change" }))[0]!.encoding["color"]!
      .scale as { domain?: number[] };
  expect(scale(cells).domain).toEqual([-1, 1]);
  expect(scale(cells.filter(({ change }) => change >= 0)).domain).toBeUndefined();
});

test("a value keeps its color in every chart of a notebook, whatever stands beside it", () => {
  const versions = Array.from({ length: 12 }, (_, at) => `4.${at}.0`);
  const drawn = [
    versions.slice(0, 3),
    versions.slice(2, 9),
    versions.slice(6),
    versions.slice(1, 4),
  ];
  const seen = new Map<string, Set<string>>();
  for (const some of drawn) {
    const rows = some.flatMap((build, at) => [0, 1].map((t) => ({ t: day(t), build, n: at + 1 })));
    const { names, colours } = legend(chart.area(rows));
    for (const [at, name] of names.entries()) {
      seen.set(name, (seen.get(name) ?? new Set()).add(colours[at]!));
    }
  }
  expect([...seen.values()].filter(({ size }) => size > 1)).toEqual([]);
  expect(new Set([...seen.values()].flatMap((colors) => [...colors])).size).toBe(versions.length);
});

test("free SQL by week says which edges the range cuts, and fades them", () => {
  const weeks = [0, 1, 2, 3].map((at) => new Date(Date.UTC(2026, 3, 27 + 7 * at)));
  const rows = columnsOf(weeks.map((week, at) => ({ week, n: at === 0 ? 4 : 40 })));
  const meaning = { dimensions: [], measures: [] };
  const cut = makeResult(rows, meaning, { range: between("2026-05-01", "2026-05-25") });
  expect(subtitle(chart.line(cut))).toContain("The first bucket is incomplete (dashed).");
  const whole = makeResult(rows, meaning, { range: between("2026-04-27", "2026-05-25") });
  expect(subtitle(chart.line(whole))).not.toContain("incomplete");
});

test("a dot plot has a row for each category, the largest first, its intervals, and no zero where none is wanted", async () => {
  const rows = ["IT", "DE", "FR"].map((country, at) => {
    const rate = [0.52, 0.61, 0.55][at]!;
    return { country, rate, low: rate - 0.02, high: rate + 0.03 };
  });
  const drawn = chart.dotPlot(rows, {
    y: { value: "rate", zero: false },
    interval: ["low", "high"],
  });
  const [rules, dots] = layers(drawn);
  expect(dots!.encoding["y"]).toMatchObject({ sort: ["DE", "FR", "IT"] });
  expect(rules!.data.values.map(({ low, high }) => [low, high])).toContainEqual([0.5, 0.55]);
  expect(dots!.encoding["x"]).toMatchObject({ field: "rate", scale: { zero: false } });
  expect(shownText(await drawn.svg())).toContain("DE FR IT");
  expect(() => chart.dotPlot([{ t: day(0), n: 3 }])).toThrow(/holds no names.*chart\.dot/);
});

test("the words of linked views of a share tell the share of all", () => {
  const rows = [0, 1].map((at) => ({ t: day(at), cc: "IT", part: 1 + at, whole: 10, failed: 0 }));
  const share = { ...counted("failed", "Failed"), unit: "share", additive: false } as const;
  const main = { ...share, main: true, quotient: ["part", "whole"] } as const;
  const measures = [main, counted("part", "Part"), counted("whole", "Whole")];
  const cells = asked(rows, { cc: ["IT"] }, measures, "day");
  const { description } = chart.explore(cells).spec;
  expect(description).toContain("0.15 in ");
});
