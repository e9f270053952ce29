import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { cleanText, isPromise, shownValue } from "../../base/text.js";
import { isFinding, type Finding } from "../../change/finding.js";
import { htmlText, tableHtml } from "../../render/table-outputs.js";
import { isResult, type Result } from "../../result/result.js";
import { Chart } from "../chart-value.js";
import { checkChartOptions, type ChangeChartOptions, type ChangeRecord } from "../options.js";
import { drawnResult } from "../result-chart.js";
import { tableModel } from "../table.js";
import { causes, changedValues, releaseMeasures, series, steps, type Figure } from "./figures.js";

const FIGURES: Readonly<Record<string, (result: Result, record: ChangeRecord) => Figure>> = {
  explain: causes,
  compare: changedValues,
  "change points": series,
  anomalies: series,
  funnel: steps,
  release: releaseMeasures,
};

/** Characters of the sentences above a picture, some four lines: all are in the description. */
const LONGEST = 560;
/** Rows of a finding's table in a cell. */
const MOST_ROWS = 20;

/** The chart of a finding; see `chart.change`. @param withSentence whether its sentence stands in the picture. */
export function changeChart(
  finding: Finding,
  options: ChangeChartOptions,
  withSentence = true,
): Chart {
  if (!isFinding(finding)) {
    const what = isPromise(finding) ? "a Promise" : shownValue(finding);
    throw new ProbelabError(
      `Can't draw ${what} as a change: pass what explain, compare, changePoints, anomalies, lab.anomalies, lab.release or lab.funnel answered, chart.change(await explain(lab.measurements, { before, after })).`,
    );
  }
  checkChartOptions(options, "change", "draw a change");
  const { kind, sentence, result } = finding;
  if (kind === "freshness") {
    throw new ProbelabError(
      "Can't draw how fresh the data is: it has no chart. Show its table, finding.result.",
    );
  }
  const drawn = drawnOf(finding);
  const rows = drawn === result ? {} : { rows: result.rows() };
  return drawChange(drawn, { kind, sentence, ...rows }, options, withSentence);
}

/** The chart of what is kept of a finding. */
export function drawChange(
  result: Result,
  record: ChangeRecord,
  options: ChangeChartOptions,
  withSentence = true,
): Chart {
  const figure = FIGURES[record.kind]!(result, record);
  const { spec, rows, live } = drawnResult(
    figure.result,
    figure.kind,
    { ...figure.options, ...options },
    {
      ...figure,
      sentence: record.sentence,
      first: withSentence ? firstSentences(record.sentence) : "",
    },
  );
  return new Chart(spec, result, rows, { change: record, options }, live);
}

/** The sentences that fit above a picture. */
function firstSentences(text: string): string {
  const cut = cleanText(text, LONGEST);
  const end = cut.endsWith("…") ? cut.lastIndexOf(". ") + 1 : 0;
  return end > 0 ? `${cut.slice(0, end)} …` : cut;
}

/** The Result behind a finding's table that its picture is of: the series that were searched, or the table. */
function drawnOf(finding: Finding): Result {
  const { asked, buckets } = finding as Finding & { asked?: unknown; buckets?: unknown };
  if (finding.kind === "change points" && isResult(asked)) return asked;
  if (finding.kind === "anomalies" && isResult(buckets)) return buckets;
  return finding.result;
}

/**
 * What a notebook shows of a finding: its chart, and below it its sentence and its table; as text the sentence.
 * @param show what it shows of a chart.
 */
export async function findingBundles(
  finding: Finding,
  show: (chart: Chart) => Promise<MimeBundle | undefined>,
): Promise<readonly MimeBundle[]> {
  const { kind, sentence, result } = finding;
  let drawn: MimeBundle | undefined;
  let reason = "";
  try {
    if (kind !== "freshness") drawn = await show(changeChart(finding, {}, false));
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    reason = `<p><small>${htmlText(error.message)}</small></p>\n`;
  }
  const { dimensions, measures } = result.origin.columns;
  // Of causes without the columns that their names repeat.
  const columns = [...dimensions, ...measures].map(({ name }) => name);
  const model = tableModel(result, { limit: MOST_ROWS, ...(kind === "explain" && { columns }) });
  const html = `<p>${htmlText(sentence)}</p>\n${reason}${tableHtml(model)}`;
  const text = { data: { "text/html": html, "text/plain": sentence }, metadata: {} };
  return drawn === undefined ? [text] : [drawn, text];
}
