import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chart, postmortem, type Result, table, type Value } from "../../src/index.js";
import { type Table } from "../../src/chart/table.js";
import { notebookPage } from "../../src/notebook/notebook-page.js";
import { popplerMissing, popplerNote } from "../chart/support/poppler.js";
import { generator, makeResult, VERSIONS, weeklyCounts } from "../chart/support/sample-results.js";
import { overlaps, pagesOf, type Page } from "../incident/pdf-reader.js";
import { browserMissing, missingNote, WatchingBrowser } from "./watched-page.js";

const out = fileURLToPath(new URL("../../out/browser/", import.meta.url));

/** What `lab.runs.summary({ range, by: ["software_name", "software_version"] })` gives. */
function summary(): Result {
  const random = generator(3);
  const column = (most: number): Value[] => VERSIONS.map(() => Math.round(most * (1 + random())));
  const seconds = (name: string, label: string, most: number) => ({
    name,
    values: column(most),
    measure: { name, label, unit: "s", additive: false, missing: "gap" } as const,
  });
  const timed = [
    seconds("seconds_per_measurement", "Seconds per measurement, median", 6),
    ...[10, 30, 50, 70, 90].map((level) =>
      seconds(
        `q${level}`,
        level === 50 ? "Run duration, median" : `Run duration, ${level} %`,
        level * 20,
      ),
    ),
  ];
  const counted = (name: string, label: string) =>
    ({ name, label, unit: name, additive: true, missing: "zero" }) as const;
  return makeResult(
    {
      software_name: VERSIONS.map((_, at) => (at % 2 ? "probe-android-unattended" : "probe-cli")),
      software_version: [...VERSIONS],
      runs: column(40_000),
      measurements: column(1_300_000),
      single: VERSIONS.map(() => random() / 5),
      measurements_per_run: column(40),
      ...Object.fromEntries(timed.map(({ name, values }) => [name, values])),
    },
    {
      dimensions: [
        { name: "software_name", order: ["probe-android-unattended", "probe-cli"] },
        { name: "software_version", order: VERSIONS },
      ],
      measures: [
        counted("runs", "Runs"),
        counted("measurements", "Measurements"),
        {
          name: "single",
          label: "Share of runs with a single measurement",
          unit: "share",
          additive: false,
          missing: "gap",
        },
        {
          name: "measurements_per_run",
          label: "Measurements per run, median",
          unit: "measurements",
          additive: false,
          missing: "gap",
        },
        ...timed.map(({ measure }) => measure),
      ],
    },
  );
}

/** A table of many columns of numbers, after one of text. */
function numbers(columns: number): Table {
  const random = generator(columns);
  const names = Array.from({ length: columns }, (_, at) => `column_${at + 1}`);
  return table(
    makeResult({
      host: ["ams-pg.example.org", "hel-ps.example.org"],
      ...Object.fromEntries(
        names.map((name) => [name, [1, 2].map(() => Math.round(1e6 * random()))]),
      ),
    }),
    { bars: names.slice(0, 2) },
  );
}

const long = `https://example.org/${"path/".repeat(60)}`;
const TABLES: Record<string, Table> = {
  summary: table(summary(), { bars: ["runs", "q50"], caption: "Runs by version" }),
  narrow: table(makeResult({ cc: ["IT", "GE"], n: [12, 345] }), { bars: ["n"] }),
  "17 columns": numbers(16),
  "25 columns": numbers(24),
  "40 columns": numbers(39),
  "long texts": table(
    makeResult({
      cc: ["IT", "GE"],
      at: [new Date("2026-02-01T12:34:56Z"), new Date("2026-03-01T00:00:00Z")],
      message: ["connection refused by the collector ".repeat(9), "x".repeat(400)],
      input: [long, "https://example.org/"],
      n: [123_456, 7],
    }),
  ),
};

/** The words of a table: those of text may be cut where they are long, or after a hyphen. */
function cellTexts({ model }: Table): { heads: string[]; values: string[] } {
  const values = model.rows.flatMap((cells) =>
    cells.flatMap(({ text }, at) =>
      model.columns[at]?.number ? [text.replace(/ %$/, "")] : text.split(/\s+|(?<=-)/),
    ),
  );
  return {
    heads: model.columns.flatMap(({ title }) => title.split(/\s+/)),
    values: values.filter((text) => text.length <= 10),
  };
}

/** Words beyond the paper's margins, or over each other. */
function faults(pages: readonly Page[], margin: number): string[] {
  return pages.flatMap(({ width, words }) => [
    ...words
      .filter(({ left, right }) => left < margin || right > width - margin)
      .map(({ text }) => `${text} outside`),
    ...overlaps(words),
  ]);
}

const missing = browserMissing || popplerMissing;
describe.skipIf(missing)(`a wide table in print${missingNote}${popplerNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
    mkdirSync(out, { recursive: true });
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  /** The printed pages of a file, as a browser prints it without being told anything. */
  const print = async (path: string, name: string): Promise<Page[]> => {
    const { page } = await browser.openFile(path);
    const margin = { top: "1cm", bottom: "1cm", left: "1cm", right: "1cm" };
    const pdf = await page.pdf({ format: "A4", margin, preferCSSPageSize: true });
    writeFileSync(join(out, `print-${name.replaceAll(" ", "-")}.pdf`), pdf);
    return pagesOf(pdf);
  };
  const check = (shown: Table, pages: readonly Page[]): void => {
    const words = pages.flatMap((page) => page.words.flatMap(({ text }) => text.split(/(?<=-)/)));
    const { heads, values } = cellTexts(shown);
    expect(heads.filter((text) => !words.includes(text))).toEqual([]);
    expect(values.filter((text) => !words.includes(text))).toEqual([]);
    expect(faults(pages, 25)).toEqual([]);
  };

  test.each(Object.keys(TABLES))(
    "saved, %s: every header and value is on the paper",
    async (name) => {
      const shown = TABLES[name]!;
      const path = await shown.save(join(browser.folder, "table.html"));
      check(shown, await print(path, name));
    },
  );

  test.each(["summary", "40 columns"])(
    "on the page of a notebook, %s: every header and value is on the paper",
    async (name) => {
      const shown = TABLES[name]!;
      const html = await notebookPage(
        {
          nbformat: 4,
          nbformat_minor: 5,
          metadata: {},
          cells: [
            { cell_type: "markdown", id: "a", source: "# Week 12", metadata: {} },
            {
              cell_type: "code",
              id: "b",
              source: "table(await lab.runs.summary({ range }))",
              metadata: {},
              execution_count: 1,
              outputs: [
                {
                  output_type: "display_data",
                  data: { "text/html": shown.html, "text/plain": shown.markdown },
                  metadata: {},
                },
              ],
            },
          ],
        },
        "week",
      );
      const path = join(browser.folder, "notebook.html");
      writeFileSync(path, html);
      check(shown, await print(path, `notebook ${name}`));
    },
  );

  test.each(["summary", "40 columns"])(
    "in a postmortem, %s: every header and value is on the paper",
    async (name) => {
      const shown = TABLES[name]!;
      const told = postmortem({
        title: "Short runs",
        severity: 2,
        detectedAt: "2026-03-20 08:40",
        authors: ["A. Operator"],
        summary: "Runs end early.",
      })
        .add(chart.area(weeklyCounts(), { width: 300, height: 90 }), { name: "counts" })
        .timeline("2026-03-20 08:40", `Alarm ${"W".repeat(80)}`, long)
        .action({
          what: `Alert on run length ${"W".repeat(80)}`,
          type: "detect",
          owner: "A. Operator",
          due: "2026-06-01",
        })
        .add(shown, { name: "versions" });
      const now = "2026-05-05T10:00:00Z";
      const folder = await told.save(join(browser.folder, `report-${name.length}`), { now });
      check(shown, await print(join(folder, "postmortem.html"), `postmortem ${name}`));
    },
  );
});
