import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { escapeXml } from "../../base/xml.js";
import type { Finding } from "../../change/finding.js";
import { pngSize } from "../render/png.js";
import { tableModel } from "../table-model.js";
import { htmlText, tableHtml } from "../table-outputs.js";
import { changeChart } from "./change.js";

const SCALE = 2;
const MOST_ROWS = 20;

/** What a notebook shows of a finding: its sentence, its chart's picture and its table; as text the sentence. */
export async function findingBundle(finding: Finding): Promise<MimeBundle> {
  const html = [`<p>${htmlText(finding.sentence)}</p>\n`, await picture(finding), tableOf(finding)];
  return { data: { "text/html": html.join(""), "text/plain": finding.sentence }, metadata: {} };
}

/** The chart, or why there is none. */
async function picture(finding: Finding): Promise<string> {
  try {
    const chart = changeChart(finding, {}, false);
    const png = await chart.png({ scale: SCALE });
    const { width, height } = pngSize(png, SCALE);
    const words = escapeXml(String(chart.spec.description));
    return `<p><img alt="${words}" width="${width}" height="${height}" src="data:image/png;base64,${png.toString("base64")}"/></p>\n`;
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    return `<p><small>${htmlText(error.message)}</small></p>\n`;
  }
}

/** Its first rows: of a forecast those to come, of causes without the columns that their names repeat. */
function tableOf({ kind, result }: Finding): string {
  const { dimensions, measures } = result.origin.columns;
  if (kind === "forecast") {
    const values = result.column(measures[0]!.name);
    const last = values.findLastIndex((value) => value !== null);
    const coming = result.filter((_, at) => at > last);
    return tableHtml(tableModel(coming.numRows > 0 ? coming : result, { limit: MOST_ROWS }));
  }
  const own = [...dimensions, ...measures].map(({ name }) => name);
  return tableHtml(
    tableModel(result, { limit: MOST_ROWS, ...(kind === "explain" && { columns: own }) }),
  );
}
