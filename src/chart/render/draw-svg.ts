import { createRequire } from "node:module";
import { fallbackFonts } from "./fallback-fonts.js";
import { FALLBACK_FAMILY, withFontRuns } from "./font-runs.js";
import { warnOfMissing } from "./missing-characters.js";
import { PDF_FONT, type PdfDocument, type PdfKit } from "./pdf-document.js";
import { pdfFont } from "./pdf-font.js";
import { svgForPdf } from "./pdf-svg.js";
import { safePicture } from "./safe-picture.js";
import { unescapeXml } from "./xml.js";

/** What svg-to-pdfkit exports; it comes without types. */
type SvgToPdf = (
  kit: PdfKit,
  svg: string,
  x: number,
  y: number,
  options: Record<string, unknown>,
) => void;

const require = createRequire(import.meta.url);
const EMPTY =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII=";

/** Points for each CSS pixel. */
export const POINTS_PER_PIXEL = 0.75;

/** Width and height of an SVG document of ours, in CSS pixels. */
export function svgSize(svg: string): { width: number; height: number } {
  const root = /<svg[^>]*>/.exec(svg)?.[0] ?? "";
  const [width, height] = ["width", "height"].map((name) =>
    Number(new RegExp(` ${name}="([\\d.]+)"`).exec(root)?.[1] ?? 0),
  );
  return { width: width ?? 0, height: height ?? 0 };
}

/**
 * Draws an SVG document of a chart on the current page, as vectors and text that can be selected,
 * tagged as a figure whose alternative text is the SVG's description, else its title.
 *
 * Nothing is read or asked for: links to web pages stay, other addresses are left out.
 *
 * @param x, y of its upper left corner, in points.
 * @param width in points; the height follows.
 * @returns the height in points.
 */
export async function drawSvg(
  pdf: PdfDocument,
  svg: string,
  x: number,
  y: number,
  width: number,
): Promise<number> {
  const size = svgSize(svg);
  const height = (width * size.height) / size.width;
  const { faces, missing } = fallbackFonts(svg, { outlines: true });
  warnOfMissing(missing, "PDF");
  const { kit } = pdf;
  const pictures = svg.includes("<image") ? await safePicture() : () => undefined;
  const ready = withFontRuns(svgForPdf(svg, pictures), faces);
  const family = (name: string, bold: boolean): string => {
    const face = name.startsWith(FALLBACK_FAMILY)
      ? faces[Number(name.slice(FALLBACK_FAMILY.length))]
      : undefined;
    if (face === undefined) return bold ? PDF_FONT.bold : PDF_FONT.regular;
    return pdfFont(kit, face);
  };
  const draw = (): void =>
    (require("svg-to-pdfkit") as SvgToPdf)(kit, ready, x, y, {
      width,
      height,
      fontCallback: family,
      imageCallback: (link: string) => (link.startsWith("data:image/png;base64,") ? link : EMPTY),
      warningCallback: () => undefined,
    });
  // A place on the page, which pdfkit knows and its types don't.
  const figure = { alt: alternative(svg), bbox: [x, y, x + width, y + height] };
  pdf.add(kit.struct("Figure", figure, draw));
  return height;
}

function alternative(svg: string): string {
  const [desc, title] = ["desc", "title"].map(
    (name) => new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(svg)?.[1],
  );
  return unescapeXml(desc ?? title ?? "Chart");
}
