import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { escapeXml } from "../../base/xml.js";
import type { Finding } from "../../change/finding.js";
import { pngSize } from "../render/png.js";
import { resultHtml } from "../table.js";
import { htmlText } from "../table-outputs.js";
import { changeChart } from "./change.js";

const SCALE = 2;

/** What a notebook shows of a finding: its sentence, its chart's picture and its table; as text the sentence. */
export async function findingBundle(finding: Finding): Promise<MimeBundle> {
  const html = [
    `<p><strong>${htmlText(finding.sentence)}</strong></p>\n`,
    await picture(finding),
    resultHtml(finding.result),
  ];
  return { data: { "text/html": html.join(""), "text/plain": finding.sentence }, metadata: {} };
}

/** The chart, or why there is none. */
async function picture(finding: Finding): Promise<string> {
  try {
    const chart = changeChart(finding, {});
    const png = await chart.png({ scale: SCALE });
    const { width, height } = pngSize(png, SCALE);
    const words = escapeXml(String(chart.spec.description));
    return `<p><img alt="${words}" width="${width}" height="${height}" src="data:image/png;base64,${png.toString("base64")}"/></p>\n`;
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    return `<p><small>${htmlText(error.message)}</small></p>\n`;
  }
}
