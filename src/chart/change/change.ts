import { ProbelabError } from "../../base/error.js";
import { isPromise, shownValue } from "../../base/text.js";
import { isFinding, type Finding } from "../../change/finding.js";
import { textWidth } from "../../fonts/shipped-font.js";
import { isResult, type Result } from "../../result/result.js";
import { BAR } from "../bar.js";
import { Chart } from "../chart-value.js";
import { specText, wrap } from "../../render/label.js";
import { checkChartOptions, type ChangeChartOptions, type ChangeRecord } from "../options.js";
import { drawnResult, resultChart } from "../result-chart.js";
import { ages, causes, changedValues, steps } from "./bars.js";
import { changesInLines } from "./change-points.js";
import type { Figure } from "./figure.js";
import { alarms } from "./flow.js";

const FIGURES: Readonly<
  Record<string, (result: Result, record: ChangeRecord, options: ChangeChartOptions) => Figure>
> = {
  explain: causes,
  compare: changedValues,
  "change points": changesInLines,
  anomalies: alarms,
  freshness: ages,
  funnel: steps,
};

const MOST_LINES = 2;

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
  if (kind === "release") {
    return resultChart(result, BAR, {
      x: "measure",
      y: "relative",
      interval: ["relative_low", "relative_high"],
      title: releaseTitle(result),
      horizontal: true,
      sort: "given",
      color: null,
      height: 160,
      width: 560,
      ...(withSentence && { subtitle: sentence }),
      ...options,
    });
  }
  const drawn = drawnOf(finding);
  if (drawn === result) return drawChange(result, { kind, sentence }, options, withSentence);
  const measure = measureOf(finding, drawn);
  return drawChange(drawn, { kind, sentence, rows: result.rows(), measure }, options, withSentence);
}

/** "3.10.0 compared with 3.9.1", by the labels of the table's columns. */
function releaseTitle({ origin }: Result): string {
  const label = (name: string) =>
    origin.columns.measures.find((measure) => measure.name === name)?.label;
  return `${label("now")} compared with ${label("previous")}`;
}

/** The chart of what is kept of a finding. */
export function drawChange(
  result: Result,
  record: ChangeRecord,
  options: ChangeChartOptions,
  withSentence = true,
): Chart {
  const figure = FIGURES[record.kind]!(result, record, options);
  const { spec, rows, live } = drawnResult(
    figure.result,
    figure.kind,
    { ...figure.options, ...options },
    {
      ...figure,
      sentence: record.sentence,
      lines: (widest) => (withSentence ? cutLines(record.sentence, widest) : []),
    },
  );
  return new Chart(spec, result, rows, { change: record, options }, live);
}

/** The Result behind a finding's table that its picture is of: the series that were searched, or the table. */
function drawnOf(finding: Finding): Result {
  const { asked, buckets } = finding as Finding & { asked?: unknown; buckets?: unknown };
  if (finding.kind === "change points" && isResult(asked)) return asked;
  if (finding.kind === "anomalies" && isResult(buckets)) return buckets;
  return finding.result;
}

/** The measure that was searched: the finding's own is called after it. */
function measureOf({ result }: Finding, drawn: Result): string {
  const { measures } = drawn.origin.columns;
  const [own] = result.origin.columns.measures;
  const found = measures.find(({ label }) => own?.label === `${label}, change`) ?? measures[0];
  return found?.name ?? "";
}

/** A finding's sentence on two lines, cut at a word where it is longer: all of it is in the description. */
function cutLines(sentence: string, width: number): string[] {
  const lines = wrap([sentence], width, 12);
  if (lines.length <= MOST_LINES) return lines;
  let last = lines[MOST_LINES - 1]!;
  while (textWidth(`${last} …`, 12) > width && last.includes(" ")) {
    last = last.slice(0, last.lastIndexOf(" "));
  }
  return [...lines.slice(0, MOST_LINES - 1), specText(`${last} …`)];
}
