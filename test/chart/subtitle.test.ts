import { expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { textWidth } from "../../src/chart/render/fonts/shipped-font.js";
import { weeklyCounts } from "./support/sample-results.js";

const subtitle = (made: { spec: Record<string, unknown> }): readonly string[] =>
  (made.spec["title"] as { subtitle?: string[] }).subtitle ?? [];

const TOP = "Top 6 of 37 versions by measurements; other: 31 more.";
const SPAN = "1 Feb–30 Apr 2026.";

test("every sentence stands in the subtitle, whole, at any width", () => {
  const told = 'A note with <b>&amp;"quotes"</b> that says what a reader has to know of it.';
  const counts = weeklyCounts();
  const noted = counts.with(counts.table, { notes: [told] });
  for (const width of [150, 300, 420, 700, 1000, 2000]) {
    const made = chart.area(noted, { width, title: "T", subtitle: "my sub" });
    expect(subtitle(made)[0]).toBe("my sub");
    for (const line of subtitle(made)) expect(textWidth(line, 12)).toBeLessThan(width + 110);
    const said = subtitle(made).join(" ");
    for (const sentence of [SPAN, "The first and last week are incomplete (faded).", TOP, told]) {
      expect(said).toContain(sentence);
      expect(made.spec["description"]).toContain(sentence);
    }
  }
});

test("a title that is made of the question takes one line, however narrow its place", () => {
  const counts = weeklyCounts();
  for (const width of [200, 260, 420, 1000]) {
    const made = chart.line(counts, { width, y: { label: "Rows" } });
    expect(made.spec["title"]).toMatchObject({
      text: [expect.stringMatching(/^Measurements per week/)],
    });
    const panels = chart.line(counts, { facet: "software_version", width });
    expect((panels.spec["title"] as { text: string[] }).text).toHaveLength(1);
  }
});
