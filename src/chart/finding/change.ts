import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { cleanText, isPromise, shownValue } from "../../base/text.js";
import { isFinding, type Finding } from "../../change/finding.js";
import type { Evidence } from "../../change/cells/evidence.js";
import { sentenceText } from "../../change/words.js";
import { htmlText, tableHtml } from "../render/table-outputs.js";
import { isResult, type Result } from "../../result/result.js";
import { Chart } from "../chart-value.js";
import {
  checkChartOptions,
  PICTURE_RULES,
  type ChangeChartOptions,
  type ChangeRecord,
} from "../options.js";
import { drawnResult } from "../spec.js";
import { tableModel, type TableOptions } from "../table.js";
import {
  causes,
  changedValues,
  flow,
  releaseMeasures,
  runsByVersion,
  searchedSeries,
  steps,
  type FindingPicture,
} from "./figures.js";

const FIGURES: Readonly<Record<string, (result: Result, record: ChangeRecord) => FindingPicture>> =
  {
    explain: causes,
    compare: changedValues,
    "change points": searchedSeries,
    anomalies: searchedSeries,
    funnel: steps,
    release: releaseMeasures,
    "runs by version": runsByVersion,
    flow,
  };

/** Characters of the sentences above a picture, some four lines: all are in the description. */
const LONGEST_SENTENCE = 560;
/** Rows of a finding's table. */
const TABLE_ROWS = 20;

function checkFinding(finding: Finding, options: ChangeChartOptions): void {
  if (!isFinding(finding)) {
    const what = isPromise(finding) ? "a Promise" : shownValue(finding);
    throw new ProbelabError(
      `Can't draw ${what} as a change: pass what explain, compare, changePoints, anomalies, lab.anomalies, lab.release or lab.funnel answered, chart.change(await explain(lab.measurements, { before, after })).`,
    );
  }
  checkChartOptions(options, PICTURE_RULES, "draw a change");
}

/** The chart of a finding; see `chart.change`. @param withSentence whether its sentence stands in the picture. */
export function changeChart(
  finding: Finding,
  options: ChangeChartOptions,
  withSentence = true,
): Chart {
  checkFinding(finding, options);
  const { kind, sentence, result } = finding;
  if (kind === "freshness") {
    throw new ProbelabError(
      "Can't draw how fresh the data is: it has no chart. Show its table, finding.result.",
    );
  }
  // The series that were searched, or the table.
  const { asked, buckets } = finding as Finding & { asked?: unknown; buckets?: unknown };
  const searched = kind === "change points" ? asked : kind === "anomalies" ? buckets : undefined;
  const isSearched = isResult(searched);
  const record = { kind, sentence, ...(isSearched && { rows: result.rows() }) };
  return drawChange(isSearched ? searched : result, { ...record, bare: !withSentence }, options);
}

/** The chart of a finding's evidence, undefined where it has none; see `chart.evidence`. */
export function evidenceChart(
  finding: Finding,
  options: ChangeChartOptions,
  withSentence = true,
): Chart | undefined {
  checkFinding(finding, options);
  const { shown, sentence } = finding as Finding & { readonly shown?: Evidence };
  if (shown === undefined) return undefined;
  return drawChange(shown.result, { kind: shown.of, sentence, bare: !withSentence }, options);
}

/** The chart of what is kept of a finding. */
export function drawChange(
  result: Result,
  record: ChangeRecord,
  options: ChangeChartOptions,
): Chart {
  const figure = FIGURES[record.kind]!(result, record);
  const { spec, data, screen } = drawnResult(
    figure.result,
    figure.kind,
    { ...figure.options, ...options },
    {
      ...figure,
      sentence: record.sentence,
      first: record.bare ? "" : firstSentences(record.sentence),
    },
  );
  return new Chart(spec, result, data, { change: record, options }, screen);
}

/** The sentences that fit above a picture. */
function firstSentences(text: string): string {
  const cut = cleanText(text, LONGEST_SENTENCE);
  const end = cut.endsWith("…") ? cut.lastIndexOf(". ") + 1 : 0;
  return end > 0 ? `${cut.slice(0, end)} …` : cut;
}

/** The sentence by how much the measure moved over all rows, and since when, of a finding whose evidence doesn't say it. */
export function howMuchOf({ evidence, details, moved = [] }: Finding): string | undefined {
  const isIt = (text: string): boolean => moved.some(({ ranges }) => text.includes(ranges));
  return isIt(evidence) ? undefined : details.find(isIt);
}

/**
 * The options of a finding's table. Of causes it shows what adds up to the change: before and after of one
 * hold rows of others, and their names repeat the other columns.
 */
export function findingTable({ kind, result }: Finding): TableOptions {
  const { dimensions, measures } = result.origin.columns;
  const columns = [...dimensions, ...measures].map(({ name }) => name);
  const sum = columns.filter((name) => name !== "before" && name !== "after");
  return { limit: TABLE_ROWS, ...(kind === "explain" && { columns: sum }) };
}

/** What a finding says as data, for pages that take their title from it. */
export const FINDING_TYPE = "application/vnd.probelab.finding+json";

/**
 * What a notebook shows of a finding: its headline in bold with the evidence, its charts, and, folded, the rest
 * and its table. As text the headline and evidence first, then the rest: nothing is said twice.
 * @param show what it shows of a chart.
 */
export async function findingBundles(
  finding: Finding,
  show: (chart: Chart) => Promise<MimeBundle | undefined>,
): Promise<readonly MimeBundle[]> {
  const { kind, headline, evidence, result } = finding;
  const howMuch = howMuchOf(finding);
  const details = finding.details.filter((text) => text !== howMuch);
  const drawn: MimeBundle[] = [];
  let reason = "";
  try {
    const charts =
      kind === "freshness"
        ? []
        : [evidenceChart(finding, {}, false), changeChart(finding, {}, false)];
    for (const chart of charts) {
      const bundle = chart && (await show(chart));
      if (bundle) drawn.push(bundle);
    }
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    reason = `<p><small>${htmlText(error.message)}</small></p>\n`;
  }
  const model = tableModel(result, findingTable(finding));
  const first = sentenceText(headline);
  const bundle = (html: string, text: string, more: object = {}): MimeBundle => ({
    data: { "text/html": html, "text/plain": text, ...more },
    metadata: {},
  });
  const said = bundle(
    `<p><strong>${htmlText(first)}</strong></p>\n${[howMuch ?? "", evidence]
      .filter(Boolean)
      .map((text) => `<p>${htmlText(text)}</p>\n`)
      .join("")}`,
    [first, howMuch, evidence].filter(Boolean).join(" "),
    { [FINDING_TYPE]: { headline, evidence, details: finding.details } },
  );
  const rest = `<details><summary>More, and the table</summary>
${details.map((text) => `<p>${htmlText(text)}</p>\n`).join("")}${tableHtml(model)}</details>\n`;
  return [said, ...drawn, bundle(reason + rest, details.join(" "))];
}
