import { describe, expect, test } from "vitest";
import { chart, postmortem, type Postmortem, table } from "../../src/index.js";
import { documentBlocks } from "../../src/incident/document/document.js";
import { documentPdf } from "../../src/incident/document/pdf.js";
import { popplerMissing, popplerNote } from "../chart/support/poppler.js";
import { faultsOf, pagesOf, poppler, textOf } from "./pdf-reader.js";
import { pdfObjects } from "../chart/support/pdf-objects.js";
import { makeResult, versionSummary, weeklyCounts } from "../chart/support/sample-results.js";

const NOW = new Date("2026-05-05T10:00:00Z");
const begun = { title: "T", severity: 4, detectedAt: "2026-05-04" } as const;
const sentence = "The quick brown probe measures the slow network and tells the collector. ";
/** Words that can be counted. */
const counted = (count: number): string =>
  Array.from({ length: count }, (_, at) => `w${at}x`).join(" ");

function pdfOf(report: Postmortem): Promise<Buffer> {
  const { draft, figures } = report;
  const frame = { at: NOW, missing: true, end: "Saved." };
  const about = { title: draft.title, savedAt: NOW.toISOString() };
  return documentPdf(about, documentBlocks(draft, figures, frame));
}

describe.skipIf(popplerMissing)(`postmortem.pdf${popplerNote}`, () => {
  test("long words, addresses and titles are broken, and nothing of them is lost", async () => {
    const address = `https://example.org/${"path/".repeat(60)}?q=${"a".repeat(300)}`;
    const report = postmortem({
      ...begun,
      title: `Long ${"W".repeat(290)}`,
      summary: `${"M".repeat(900)} ${address} end.`,
      impact: ["x".repeat(5_000), "i".repeat(20_000)],
    })
      .finding("far", `https://example.org/${"l".repeat(9_000)}`)
      .timeline("2026-05-04", "y".repeat(700), `https://example.org/${"z".repeat(200)}`)
      .action({
        what: "v".repeat(700),
        owner: "u".repeat(90),
        reference: address,
        type: "t".repeat(60),
      });
    const pdf = await pdfOf(report);
    const pages = pagesOf(pdf);
    expect(faultsOf(pages)).toEqual([]);
    const text = textOf(pages).join("");
    for (const [letter, count] of [
      ["W", 290],
      ["M", 900],
      ["x", 5_000],
    ] as const) {
      expect(text.split(letter).length - 1, letter).toBeGreaterThanOrEqual(count);
    }
    const targets = pdfObjects(pdf).flatMap(({ text }) => /\/URI \((.*)\)$/m.exec(text)?.[1] ?? []);
    expect(new Set(targets)).toEqual(new Set([address, `https://example.org/${"z".repeat(200)}`]));
  });

  test("a finding of three pages, a row of three pages: whole, in order, heads again", async () => {
    const long = counted(2_400);
    const report = postmortem(begun)
      .finding(long)
      .finding("short")
      .timeline("2026-05-04 01:00", sentence.repeat(2))
      .timeline("2026-05-04 02:00", long, "https://example.org/a")
      .action({ what: sentence.repeat(30).slice(0, 2_000), reference: "https://example.org/b" })
      .action({ what: "small" });
    const pages = pagesOf(await pdfOf(report));
    expect(faultsOf(pages)).toEqual([]);
    const words = textOf(pages).filter((text) => /^w\d+x$/.test(text));
    expect(words).toEqual([...long.split(" "), ...long.split(" ")]);
    expect(textOf(pages).filter((text) => text === "(UTC)").length).toBeGreaterThan(2);
  });

  test("no heading stands alone at the end of a page, wherever the page ends", async () => {
    for (let lines = 0; lines < 60; lines += 9) {
      const summary = Array.from({ length: lines }, () => sentence.slice(0, 60));
      const report = postmortem({ ...begun, summary }).action({ what: sentence.repeat(8) });
      for (const { words, height } of pagesOf(await pdfOf(report))) {
        const last = words.filter(({ top }) => top < height - 50).at(-1);
        const size = (last?.bottom ?? 0) - (last?.top ?? 0);
        expect(size, `${lines} lines: ${last?.text}`).toBeLessThan(13);
      }
    }
  });

  test("other scripts and boxes for missing ones keep their places", async () => {
    const mixed = "مرحبا بالعالم שלום עולם 你好世界 Привет Γειά こんにちは 안녕 สวัสดี გამარჯობა ";
    const report = postmortem({
      ...begun,
      title: mixed,
      summary: mixed.repeat(12) + "你好世界".repeat(90),
      impact: [mixed, "after"],
    }).timeline("2026-05-04", mixed.repeat(3));
    expect(faultsOf(pagesOf(await pdfOf(report)))).toEqual([]);
  });

  test("a table of 60 rows and 8 columns, and four charts, each on its page with its title", async () => {
    const columns = Object.fromEntries(
      Array.from({ length: 8 }, (_, column) => [
        `column ${column}`,
        Array.from({ length: 60 }, (_, row) =>
          column % 2 ? row * 1000 * column : `row ${row} ${"of a table ".repeat(column)}`,
        ),
      ]),
    );
    const report = postmortem(begun).add(
      table(makeResult(columns), { bars: ["column 1"], limit: 100, caption: "Sixty rows" }),
    );
    for (let at = 0; at < 4; at++) {
      const size = { width: 300 + 400 * at, height: 100 + 200 * at };
      const counts = weeklyCounts({ versions: ["1.0"], other: false });
      report.add(chart.line(counts, { ...size, title: `Chart ${at}` }), {
        caption: at === 2 ? sentence.repeat(6) : `Caption ${at}`,
      });
    }
    report.finding("all", ...report.figures.map(({ content }) => content));
    const pdf = await pdfOf(report);
    const pages = pagesOf(pdf);
    const drawn = faultsOf(pages).filter((fault) => !/: (\d|Feb|Mar|Apr|20)/.test(fault));
    expect(drawn).toEqual([]);
    expect(textOf(pages).filter((text) => text === "row")).toHaveLength(60 * 4);
    const places = poppler("pdfinfo", pdf, ["-dests"]).match(/"figure-\d+"/g);
    expect(new Set(places).size).toBe(5);
    const links = pdfObjects(pdf).filter(({ text }) => /\/Subtype \/Link/.test(text));
    // A link that goes over the end of a line is two.
    const targets = links.flatMap(({ text }) => /\/Dest\s*(\([^)]*\)|\S+)/.exec(text)?.[1] ?? []);
    expect(new Set(targets).size).toBe(5);
  });

  test("is tagged: headings, lists, tables with their heads, links, figures; and has an outline", async () => {
    const counts = weeklyCounts();
    const report = postmortem({ ...begun, impact: ["one", "two https://example.org/"] })
      .add(chart.area(counts), { caption: "Counts" })
      .add(table(versionSummary()))
      .timeline("2026-05-04", "x", "https://example.org/x");
    const pdf = await pdfOf(report);
    const tree = poppler("pdfinfo", pdf, ["-struct"]);
    const names = "H1 H2 H3 P L LI Lbl LBody Table THead TR TH TD Link Figure".split(" ");
    for (const name of names) expect(tree, name).toMatch(new RegExp(`^ +${name}\\b`, "m"));
    expect(tree).toMatch(/Scope \/Column/);
    const outline = pdfObjects(pdf).flatMap(
      ({ text }) => /\/Title \(([^)]*)\)[^]*\/Dest/.exec(text)?.[1] ?? [],
    );
    expect(outline).toEqual(expect.arrayContaining(["Impact", "Timeline", "Figure 1: Counts"]));
  });

  test("100,000 characters without a space are broken, not laid out at once", async () => {
    const report = postmortem({ ...begun, summary: "<".repeat(100_000) });
    const pages = pagesOf(await pdfOf(report));
    expect(textOf(pages).join("").match(/&lt;/g)?.length).toBe(100_000);
  }, 240_000);
});
