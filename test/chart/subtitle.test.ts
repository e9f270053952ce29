import { describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { chartFigure } from "../../src/render/page/figures.js";
import { textWidth } from "../../src/fonts/shipped-font.js";
import type { Layer } from "./support/layers.js";
import { versionSummary, weeklyCounts } from "./support/sample-results.js";

const subtitle = (made: { spec: Record<string, unknown> }): readonly string[] =>
  (made.spec["title"] as { subtitle?: string[] }).subtitle ?? [];
const notes = (made: { spec: Record<string, unknown> }): readonly string[] =>
  (made.spec["usermeta"] as { notes?: string[] }).notes ?? [];

const TOP = "Top 6 of 37 versions by measurements; other: 31 more.";

describe.each(["line", "area", "bar", "dot"] as const)("chart.%s with a subtitle", (mark) => {
  const [own = "", ...none] = subtitle(chart[mark](weeklyCounts(), { width: 600 }));

  test("of its own has one line", () => {
    expect(own).toMatch(/^The first and last week are incomplete \(\w+\)\. Top 6 of 37/);
    expect(none).toEqual([]);
  });

  test("has it as a line of its own, before the chart's sentences", () => {
    const told = chart[mark](weeklyCounts(), { width: 600, subtitle: "my sub" });
    expect(subtitle(told)).toEqual(["my sub", own]);
  });

  test("and a title: the range begins the chart's sentences", () => {
    const told = chart[mark](weeklyCounts(), { width: 800, title: "T", subtitle: "my sub" });
    expect(subtitle(told)).toEqual(["my sub", `2026-02-01 to 2026-05-01 UTC. ${own}`]);
  });
});

describe("what a subtitle has no room for", () => {
  const told = 'A note with <b>&amp;"quotes"</b> that says what a reader has to know of it.';
  const counts = weeklyCounts();
  const noted = counts.with(counts.table, { notes: [told] });
  const narrow = chart.area(noted, { width: 420, title: "T" });

  test("are notes, whole sentences: none is lost at any width", () => {
    for (const width of [50, 150, 300, 420, 700, 1000, 2000]) {
      const made = chart.area(noted, { width, title: "T" });
      const [line = "", ...more] = subtitle(made);
      expect(more).toEqual([]);
      expect(textWidth(line, 12)).toBeLessThanOrEqual(width + 110);
      const said = [line, ...notes(made)].join(" ");
      for (const sentence of [
        "2026-02-01 to 2026-05-01 UTC.",
        "The first and last week are incomplete (faded).",
        TOP,
        told,
      ]) {
        expect(said).toContain(sentence);
        expect(made.spec["description"]).toContain(sentence);
      }
    }
  });

  test("stand below the picture in a file", async () => {
    expect(notes(narrow)).toEqual([TOP, told]);
    const svg = await narrow.svg();
    const words = svg.replace(/<desc>.*?<\/metadata>/s, "").replace(/<[^>]*>/g, " ");
    expect(words).toContain("other: 31 more.");
    expect(words).toContain("has to know of it.");
    expect(words).not.toContain("+ 2 notes");
    const [, height = ""] = /height="(\d+)" viewBox="0 0 \d+ \1"/.exec(svg) ?? [];
    const wide = await chart.area(counts, { width: 420, title: "T" }).svg();
    expect(Number(height)).toBeGreaterThan(Number(/height="(\d+)"/.exec(wide)?.[1]));
  });

  test("stand behind the pointer where the chart is live, and in a list on a page", async () => {
    const { data, encoding } = (narrow.spec["layer"] as Layer[]).at(-1)!;
    const fields = encoding["tooltip"] as unknown as readonly { field: string }[];
    expect(fields.map(({ field }) => data.values[0]?.[field])).toEqual([TOP, told]);
    const figure = await chartFigure(narrow, "a");
    expect(figure).toContain(`<summary>2 notes</summary><ul><li>${TOP}</li>`);
    expect(figure).toContain("A note with &lt;b&gt;");
  });

  test("there is none where all has room", () => {
    const wide = chart.area(counts, { title: "T" });
    expect(notes(wide)).toEqual([]);
    expect(subtitle(wide)).toEqual([
      `2026-02-01 to 2026-05-01 UTC. The first and last week are incomplete (faded). ${TOP}`,
    ]);
  });
});

test("a long subtitle of one's own is wrapped, and ends before the chart's sentences", () => {
  const long = "what the reader must know ".repeat(9).trim();
  const lines = subtitle(chart.area(weeklyCounts(), { width: 300, subtitle: long }));
  const end = lines.findIndex((line) => line.startsWith("The first and last"));
  expect(end).toBeGreaterThan(1);
  expect(lines.slice(0, end).join(" ")).toBe(long);
});

test("an empty subtitle is none; alone it is the only line", () => {
  for (const none of ["", " "]) {
    expect(subtitle(chart.bar(versionSummary(), { subtitle: none }))).toEqual([]);
  }
  expect(subtitle(chart.bar(versionSummary(), { subtitle: "alone\n" }))).toEqual(["alone"]);
});
