import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import type { Finding } from "../../change/finding.js";
import type { Chart } from "../chart-value.js";
import { tableModel } from "../table.js";
import { htmlText, tableHtml } from "../../render/table-outputs.js";
import { changeChart } from "./change.js";

const MOST_ROWS = 20;

/**
 * What a notebook shows of a finding: its chart, and below it its sentence and its table; as text the sentence.
 * @param show what it shows of a chart.
 */
export async function findingBundles(
  finding: Finding,
  show: (chart: Chart) => Promise<MimeBundle | undefined>,
): Promise<readonly MimeBundle[]> {
  let drawn: MimeBundle | undefined;
  let reason = "";
  try {
    drawn = await show(changeChart(finding, {}, false));
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    reason = `<p><small>${htmlText(error.message)}</small></p>\n`;
  }
  const html = `<p>${htmlText(finding.sentence)}</p>\n${reason}${tableOf(finding)}`;
  const text = { data: { "text/html": html, "text/plain": finding.sentence }, metadata: {} };
  return drawn === undefined ? [text] : [drawn, text];
}

/** The first rows; of causes without the columns that their names repeat. */
function tableOf({ kind, result }: Finding): string {
  const { dimensions, measures } = result.origin.columns;
  const own = [...dimensions, ...measures].map(({ name }) => name);
  return tableHtml(
    tableModel(result, { limit: MOST_ROWS, ...(kind === "explain" && { columns: own }) }),
  );
}
