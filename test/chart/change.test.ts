import { beforeAll, expect, test, vi } from "vitest";
import {
  type AnomaliesFinding,
  type ChangePoints,
  type Chart,
  changePoints,
  chart,
  type Finding,
  Result,
  show,
} from "../../src/index.js";
import { explainCells } from "../../src/change/cells/explain.js";
import { drawRecipe } from "../../src/chart/chart.js";
import type { VegaLiteSpec } from "../../src/chart/render/theme.js";
import { compiledSpec } from "../../src/chart/render/svg.js";
import { isRich, mimeBundles } from "../../src/kernel/show.js";
import { fromTaggedJson, toTaggedJson } from "../../src/result/json.js";
import { cellsOf } from "../support/change/cells.js";
import * as findings from "./support/findings.js";
import { pictureOf } from "./support/pictures.js";

type Name = keyof typeof findings;
const NAMES = Object.keys(findings) as Name[];
let made: Record<Name, Finding>;
beforeAll(async () => {
  const all = await Promise.all(NAMES.map(async (name) => [name, await findings[name]()] as const));
  made = Object.fromEntries(all) as Record<Name, Finding>;
});

type Row = Readonly<Record<string, unknown>>;
const valuesOf = (layer: unknown): Row[] => {
  const { data } = layer as { data?: { values?: Row[] } };
  return data?.values ?? [];
};
const layersOf = ({ layer }: VegaLiteSpec): VegaLiteSpec[] => (layer ?? []) as VegaLiteSpec[];
const subtitleOf = ({ title }: VegaLiteSpec): string[] =>
  (title as { subtitle: string[] }).subtitle;

test.each(NAMES)("the picture of %s is as it was", async (name) => {
  const picture = await pictureOf(chart.change(made[name]));
  await expect(picture).toMatchFileSnapshot(`snapshots/change-${name}.svg`);
});

test.each(NAMES)(
  "%s: says its sentence, draws fewer than 5,000 rows, and is drawn again from its recipe",
  async (name) => {
    const drawn = chart.change(made[name]);
    expect(drawn.spec.description).toContain(made[name].sentence.slice(0, 200));
    expect(subtitleOf(drawn.spec).join(" ")).toContain(made[name].sentence.slice(0, 60));
    expect(drawn.data.rows.length).toBeLessThan(5_000);
    const recipe = fromTaggedJson(toTaggedJson(drawn.recipe)) as never;
    expect(drawRecipe(drawn.result, recipe).spec).toEqual(drawn.spec);
    await expect(compiledSpec(drawn.spec)).resolves.toBeDefined();
  },
);

const barsOf = ({ spec }: Chart): Row[] => valuesOf(layersOf(spec)[0]);

test("causes are the bars, in the finding's order, and add up to the change that is told", () => {
  const finding = made.explanation as ReturnType<typeof findings.explanation>;
  const drawn = chart.change(finding);
  const bars = barsOf(drawn);
  const all = [...finding.causes, finding.rest];
  expect(bars.map(({ change, low, high }) => ({ change, low, high }))).toEqual(
    all.map(({ change, low, high }) => ({ change, low, high })),
  );
  expect(bars.map(({ other }) => other)).toEqual([...finding.causes.map(() => undefined), true]);
  expect(bars[0]!["name"]).toBe(finding.causes[0]!.text);
  const sum = Math.round(finding.after! - finding.before!);
  expect(subtitleOf(drawn.spec).join(" ")).toContain(
    `The bars add up to −${Math.abs(sum).toLocaleString("en-US")}.`,
  );
});

test("compared values stand in the finding's order; what is new has a bar without a percentage", () => {
  const drawn = chart.change(made.comparison);
  const bars = barsOf(drawn);
  expect(bars.map(({ change }) => change)).toEqual(made.comparison.result.column("change"));
  expect(bars[0]!["name"]).toBe("Country IT");
  expect(bars[0]).toMatchObject({ change: -23_850, _figures: "−23,850 (−58 %)" });
  expect(bars.find(({ change }) => change === 9_800)).toMatchObject({ _figures: "+9,800" });
  expect(drawn.data.names).toEqual(["name", "change", "before", "after", "figures"]);
});

test("a release's bars are its changes in percent, those of shares in points in a panel of their own, with both values at their ends", () => {
  const panels = chart.change(made.release).spec["concat"] as { layer: object[] }[];
  const bars = panels.flatMap(({ layer }) => valuesOf(layer[0]));
  const { result } = made.release;
  const relative = result.column("relative").map((part) => 100 * Number(part));
  expect(bars.map(({ by }) => by)).toEqual([
    ...relative.slice(0, 3),
    100 * Number(result.column("change")[3]),
  ]);
  expect(bars.map(({ _figures }) => _figures)).toEqual([
    "184 s → 73 s",
    "45 → 18",
    "4.18 s → 4.24 s (as before)",
    "1.2 % → 0.8 % (can't tell)",
  ]);
  // No text stands over the name of a bar, however narrow the place.
  const texts = panels.flatMap(({ layer }) => valuesOf(layer.at(-1)));
  expect(texts.map(({ end }) => Number(end) >= 0)).toEqual(bars.map(() => true));
  // A share can't fall by more than itself.
  expect(bars.at(-1)!["low"]).toBeCloseTo(-1.2, 5);
});

test("changes are rules or spans at their time, in a line of the fitted levels", () => {
  const finding = made.changes as ChangePoints;
  const rows = finding.result.rows();
  const { spec, result } = chart.change(finding);
  expect(result).toBe(finding.asked);
  const values = layersOf(spec).flatMap(valuesOf);
  const iso = (value: unknown): string => (value as Date).toISOString().replace(".000Z", "Z");
  const levels = new Set(
    values.flatMap((row) =>
      /^Fitted level/.test(String(row["series"])) ? [row["measurements"]] : [],
    ),
  );
  for (const row of rows) {
    expect(values).toContainEqual(expect.objectContaining({ time: iso(row["earliest"]) }));
    for (const name of ["before", "after"]) {
      const level = [...levels]
        .map(Number)
        .find((each) => Math.abs(each / Number(row[name]) - 1) < 0.02);
      expect(level, name).toBeDefined();
    }
  }
  const many = chart.change(made.manyChanges).spec;
  expect(subtitleOf(many).join(" ")).toContain("Drawn: 4 of 6 groups, the clearest.");
});

test("alarms are spans of the finding's times in the flow, with a band from limit to expectation", () => {
  const found = made.alarmed as AnomaliesFinding;
  const { spec } = chart.change(found);
  const values = layersOf(spec).flatMap((layer) => [layer, ...layersOf(layer)].flatMap(valuesOf));
  const labels = values.map(({ label }) => label).filter((label) => typeof label === "string");
  expect(new Set(labels.map((label) => label.slice(0, 4)))).toEqual(
    new Set(["drop", "gap", "not "]),
  );
  const iso = (value: unknown): string => (value as Date).toISOString().replace(".000Z", "Z");
  for (const row of found.result.rows()) {
    expect(values).toContainEqual(
      expect.objectContaining({ time: iso(row["t"]), end: iso(row["until"]) }),
    );
  }
  const buckets = new Map(found.buckets.rows().map((row) => [iso(row["t"]), row]));
  const drawn = values.filter((row) => "limit" in row);
  expect(drawn.length).toBeGreaterThan(100);
  for (const row of drawn) {
    expect(row).toMatchObject({ limit: buckets.get(String(row["t"]))!["limit"] });
  }
  expect(subtitleOf(spec).join(" ")).toMatch(/Shaded: Alarm limit to expected/);
  const groups = chart.change(made.alarmedGroups).spec["concat"] as VegaLiteSpec[];
  expect(groups.map(({ title }) => (title as { text: string }).text)).toEqual([
    "Country IT",
    "Country US",
  ]);
});

test("a finding in a cell is its headline and evidence, its live chart, and the rest folded; in plain Node its sentence and table", async () => {
  const finding = made.explanation;
  expect(isRich(finding)).toBe(true);
  // How much it is of all rows is read first, too.
  const howMuch = finding.details.find((text) => text.startsWith("Measurements fell by"))!;
  const [said, drawn, rest, ...more] = await mimeBundles(Promise.resolve(finding));
  expect(more).toEqual([]);
  expect(Object.keys(drawn!.data)).toEqual([
    "application/vnd.vegalite.v5+json",
    "image/png",
    "text/plain",
  ]);
  // A number doesn't stand at the end of a line without its unit.
  expect(String(said!.data["text/html"]).replaceAll("\u00a0", " ")).toBe(
    [`<strong>${finding.headline}.</strong>`, howMuch, finding.evidence]
      .map((text) => `<p>${text}</p>\n`)
      .join(""),
  );
  expect(said!.data["text/html"]).not.toMatch(/\d %/);
  expect(rest!.data["text/html"]).toMatch(/^<details>.*<table>.*<\/details>\n$/s);
  // No sentence twice, and none lost.
  const all = `${String(said!.data["text/plain"])} ${String(rest!.data["text/plain"])}`;
  expect(all.trim()).toHaveLength(finding.sentence.length);
  for (const text of [finding.headline, finding.evidence, ...finding.details]) {
    expect(all.split(text)).toHaveLength(2);
  }
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    await show(finding);
    expect(log.mock.calls.map(([text]) => String(text))).toEqual([
      finding.sentence,
      finding.result.toString(),
    ]);
  } finally {
    log.mockRestore();
  }
});

test("how fresh the data is has no chart: a cell shows its headline and table", async () => {
  const fresh = { ...made.funnel, kind: "freshness", headline: "Data comes as usual" } as const;
  expect(() => chart.change(fresh)).toThrow(/it has no chart. Show its table, finding.result/);
  const [said, rest, ...more] = await mimeBundles(fresh);
  expect(more).toEqual([]);
  expect(said!.data["text/html"]).toMatch(/^<p><strong>Data comes as usual\.<\/strong>/);
  expect(rest!.data["text/html"]).toContain("<table>");
});

test("what is no finding is refused, and so are options that it doesn't know", () => {
  const result = made.explanation.result;
  expect(() => chart.change(result as never)).toThrow(
    /Can't draw .* as a change: pass what explain, compare, changePoints/,
  );
  expect(() => chart.change(made.explanation, { y: "change" } as never)).toThrow(
    /with the option "y"/,
  );
});

test("a finding of ranges without a row has its columns, is shown, is drawn and says so", async () => {
  const finding = explainCells(cellsOf(["software_name"], []));
  expect(finding.result.table.columnNames()).toContain("cause");
  const shown = await mimeBundles(finding);
  expect(String(shown.at(-1)!.data["text/html"])).toContain("<table>");
  const drawn = chart.change(finding);
  expect((drawn.spec["title"] as { text: string[] }).text).toEqual([
    "Measurements: nothing to compare",
  ]);
  expect(await drawn.svg()).toContain("No data in this range.");
});

test("changes that can't be told aren't titled as none", async () => {
  const { asked } = made.changes as ChangePoints;
  const finding = await changePoints(asked.with(asked.table.slice(0, 5)));
  const { text } = chart.change(finding).spec["title"] as { text: string[] };
  expect(text).toEqual(["Measurements per hour: can't tell"]);
});

test.each(NAMES)("%s: without a row it is drawn as one that has none", async (name) => {
  const emptied = (result: Result): Result =>
    new Result(result.table.slice(0, 0), { ...result.origin, notes: [] });
  const { asked, buckets, ...finding } = made[name] as Finding & Partial<Record<string, Result>>;
  const drawn = chart.change({
    ...finding,
    result: emptied(finding.result),
    ...(asked && { asked: emptied(asked) }),
    ...(buckets && { buckets: emptied(buckets) }),
  });
  expect(await drawn.svg()).toContain("No data in this range.");
});
