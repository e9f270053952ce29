import { checkOptions } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { cleanText, isPromise, shownValue } from "../../base/text.js";
import { isFinding, type Finding } from "../../change/finding.js";
import { textWidth } from "../../fonts/shipped-font.js";
import { isResult, type Result } from "../../result/result.js";
import { Chart } from "../chart-value.js";
import { specText } from "../label.js";
import {
  CHART_RULES,
  type ChangeChartOptions,
  type ChangeRecord,
  type VegaLiteSpec,
} from "../options.js";
import { originRecord } from "../origin-record.js";
import { wrap } from "../sentences.js";
import { SCHEMA, THEMES, themeConfig } from "../theme.js";
import { changedValues, causes } from "./bars.js";
import { changesInLines } from "./change-points.js";
import { alarms, expectedBand } from "./flow.js";
import type { Canvas, ChangePicture } from "./picture.js";
import { ages, steps } from "./pipeline.js";

const PICTURES: Readonly<Record<string, (canvas: Canvas) => ChangePicture>> = {
  explain: causes,
  compare: changedValues,
  "change points": changesInLines,
  forecast: expectedBand,
  alarm: alarms,
  freshness: ages,
  funnel: steps,
};

const { title, subtitle, width, height, theme } = CHART_RULES;
const RULES = { title, subtitle, width, height, theme };
const MOST_LINES = 2;

/** The chart of a finding; see `chart.change`. @param told whether its sentence stands in the picture. */
export function changeChart(finding: Finding, options: ChangeChartOptions, told = true): Chart {
  if (!isFinding(finding)) {
    const what = isPromise(finding) ? "a Promise" : shownValue(finding);
    throw new ProbelabError(
      `Can't draw ${what} as a change: pass what explain, compare, changePoints, forecast, alarm, lab.freshness or lab.funnel answered, chart.change(await explain(lab.measurements, { before, after })).`,
    );
  }
  checkOptions(options, RULES, "draw a change");
  const { kind, sentence, result } = finding;
  const drawn = drawnOf(finding);
  if (drawn === result) return drawChange(result, { kind, sentence }, options, told);
  const measure = measureOf(finding, drawn);
  return drawChange(drawn, { kind, sentence, rows: result.rows(), measure }, options, told);
}

/** The chart of what is kept of a finding. */
export function drawChange(
  result: Result,
  record: ChangeRecord,
  options: ChangeChartOptions,
  withSentence = true,
): Chart {
  const look = THEMES[options.theme ?? "light"];
  const picture = PICTURES[record.kind]!({ result, record, options, theme: look });
  const { origin } = result;
  const text = cleanText(options.title ?? picture.title, 300);
  const told = [...picture.told, ...origin.reductions, ...origin.notes];
  const spec: VegaLiteSpec = {
    $schema: SCHEMA,
    description: cleanText(`${text}. ${record.sentence}`, 4_000),
    usermeta: { probelab: originRecord(origin, picture.told) },
    background: look.background,
    padding: 12,
    title: {
      text: wrap([text], picture.widest, 16, 700),
      subtitle: [
        ...(options.subtitle === undefined ? [] : wrap([options.subtitle], picture.widest, 12)),
        ...(withSentence ? cutLines(record.sentence, picture.widest) : []),
        ...wrap([...new Set(told)], picture.widest, 12),
      ],
      ...(picture.named === true && { frame: "bounds" }),
    },
    ...picture.spec,
    config: themeConfig(look),
  };
  return new Chart(spec, result, picture.rows, { change: record, options });
}

/** The Result behind a finding's table that its picture is of: the series that were searched, or the table. */
function drawnOf(finding: Finding): Result {
  const { asked, buckets } = finding as Finding & { asked?: unknown; buckets?: unknown };
  if (finding.kind === "change points" && isResult(asked)) return asked;
  if (finding.kind === "alarm" && isResult(buckets)) return buckets;
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
