import { describe, expect, test } from "vitest";
import { chart } from "../../../src/chart/chart.js";
import { table } from "../../../src/chart/table.js";
import { documentHtml } from "../../../src/incident/postmortem/document/document-html.js";
import { documentMarkdown } from "../../../src/incident/postmortem/document/document-markdown.js";
import { documentBlocks } from "../../../src/incident/postmortem/document/document.js";
import { figureName, recordOf } from "../../../src/incident/postmortem/figure.js";
import { postmortem, type Postmortem } from "../../../src/incident/postmortem/postmortem.js";
import {
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "../../chart/support/sample-results.js";

const begun = { title: "T", severity: 1, detectedAt: "2026-05-04T08:40:00Z" } as const;
const small = { width: 300, height: 90 };
const SAVED = new Date("2026-05-05T10:00:00Z");

const blocksOf = (report: Postmortem, savedAt = SAVED) =>
  documentBlocks(recordOf(report.draft, report.figures, savedAt, true), report.figures);

/** The headings of the sections and the figures, in order. */
const outline = (report: Postmortem): string[] =>
  blocksOf(report).flatMap((block) =>
    block.kind === "heading" && block.level === 2
      ? [block.text]
      : block.kind === "figure"
        ? [`${block.number} ${block.figure.name}`]
        : [],
  );

describe("figures stand below what speaks of them first", () => {
  const counts = chart.area(weeklyCounts(), small);
  const line = chart.line(weeklyDurations(), { ...small, y: "q50" });
  const summary = table(versionSummary());
  const report = postmortem({
    ...begun,
    impact: ["Half is lost [figure: counts].", "Nobody cares."],
  })
    .add(summary, { name: "summary" })
    .add(chart.bar(versionSummary(), small), { name: "alone" })
    .add(line, { name: "line" })
    .add(counts, { name: "counts" })
    .finding("One", line)
    .finding("Two", counts, line)
    .timeline("2026-05-04 08:00", "Alarm", summary);

  test("and are numbered in that order; the others stand at the end", () => {
    const found = outline(report);
    expect(found.slice(found.indexOf("Impact"), found.indexOf("Root causes"))).toEqual([
      "Impact",
      "1 counts",
    ]);
    expect(found.slice(found.indexOf("Findings"), found.indexOf("Lessons learned"))).toEqual([
      "Findings",
      "2 line",
      "Timeline",
      "3 summary",
    ]);
    expect(found.slice(-2)).toEqual(["More figures", "4 alone"]);
  });

  test("a text names a figure, which becomes a link; a name that isn't there stays as it is", () => {
    const text = documentMarkdown(blocksOf(report));
    expect(text).toContain("- Half is lost [Figure 1](#figure-1).");
    expect(text).toContain(
      "- Two ([Figure 1](#figure-1), [Figure 2](#figure-2))"
        .replace(/ \(\[/, " \\([")
        .replace(/\)\)$/, ")\\)"),
    );
    const unknown = postmortem({ ...begun, summary: "See [figure: no-such]." });
    expect(documentMarkdown(blocksOf(unknown))).toContain("See \\[figure: no-such\\].");
  });

  test("a chart's title stands once, as its heading, its subtitle above the picture", async () => {
    const html = (await documentHtml("T", blocksOf(report))).replace(/<script[^]*?<\/script>/g, "");
    const body = html.slice(html.indexOf("<main>"));
    const shown = body.replace(/<(title|desc)>.*?<\/\1>|<details[^]*?<\/details>/g, "");
    const title = "Measurements per week by version, 2026-02-01 to 2026-05-01 UTC";
    expect(shown.replace(/<[^>]*>/g, "").split(title)).toHaveLength(2);
    expect(shown).toContain("The first and last week are incomplete (faded).");
  });

  test("a caption of one's own stands beside the chart's title, which says something else", async () => {
    const other = postmortem(begun).add(counts, { caption: "It fell" });
    const html = await documentHtml("T", blocksOf(other));
    expect(html).toContain("<h3>Figure 1: It fell</h3>");
    expect(html).toContain(">Measurements per week by version, 2026-02-01 to");
    const text = documentMarkdown(blocksOf(other));
    expect(text).toContain("### Figure 1\n\nIt fell\n\n![It fell](charts/");
    expect(documentMarkdown(blocksOf(report))).toMatch(/### Figure 1\n\n!\[Measurements per week/);
  });
});

describe("what the severity demands", () => {
  const demands = (fields: object, savedAt?: Date): string =>
    documentMarkdown(blocksOf(postmortem({ ...begun, ...fields }), savedAt));

  test("is overdue while somebody can still act", () => {
    expect(demands({})).toContain(
      "- [ ] Response: overdue by 23 h 20 min, due 2026-05-04 10:40 UTC",
    );
  });

  test("of an incident that is over says what is on record, and how late it was", () => {
    const over = { resolvedAt: "2026-05-05 09:00" };
    const none = "- [ ] Response: none is on record; it was due 2026-05-04 10:40 UTC";
    expect(demands(over)).toContain(none);
    expect(demands({}, new Date("2029-03-18"))).toContain(none);
    expect(demands({ ...over, respondedAt: "2026-05-04 12:50" })).toContain(
      "- [x] Response: late: it began 2 h 10 min after it was due, 2026-05-04 10:40 UTC",
    );
  });
});

test("names of files end with a whole word", () => {
  const long = "The median duration of a run of web connectivity in every country of the world";
  const name = figureName(long, new Set());
  expect(name).toBe("the-median-duration-of-a-run-of-web-connectivity-in-every");
  expect(figureName("x".repeat(100), new Set())).toBe("x".repeat(60));
  expect(figureName("a b", new Set())).toBe("a-b");
});
