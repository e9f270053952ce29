import { ProbelabError } from "../../base/error.js";
import { cleanText } from "../label.js";
import { drawSvg, POINTS_PER_PIXEL, svgSize } from "./draw-svg.js";
import { openPdf } from "./pdf-document.js";
import { svgPicture } from "./svg.js";
import { unescapeXml } from "./xml.js";

/**
 * A Vega-Lite spec as a PDF document of one page, as large as the picture: vectors, text that can be
 * selected, the shipped font embedded, tagged, with the origin attached as `origin.json`.
 *
 * @param date what the document says about its time.
 */
export async function pdfPicture(spec: Record<string, unknown>, date: Date): Promise<Buffer> {
  const svg = await svgPicture(spec);
  const size = svgSize(svg);
  const [width, height] = [size.width * POINTS_PER_PIXEL, size.height * POINTS_PER_PIXEL];
  const title = unescapeXml(/<title>(.*?)<\/title>/s.exec(svg)?.[1] ?? "Chart");
  const usermeta = spec.usermeta as { probelab?: unknown } | undefined;
  try {
    const pdf = await openPdf({ title, date });
    pdf.kit.addPage({ size: [width, height], margin: 0 });
    await drawSvg(pdf, svg, 0, 0, width);
    pdf.attachJson("origin.json", usermeta?.probelab, "Where the chart's data comes from");
    return await pdf.bytes();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProbelabError(
      `Can't make a PDF of the chart (${cleanText(message, 300)}): save it as .svg or .png.`,
      { cause: error },
    );
  }
}
