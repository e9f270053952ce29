import { fallbackFonts } from "../../../chart/render/fallback-fonts.js";
import { isShipped } from "../../../chart/render/font.js";
import type { FontFace } from "../../../chart/render/font-face.js";
import { warnOfMissing } from "../../../chart/render/missing-characters.js";
import { PDF_FONT, type PdfDocument } from "../../../chart/render/pdf-document.js";
import { pdfFont } from "../../../chart/render/pdf-font.js";
import { escapeXml } from "../../../chart/render/xml.js";
import { cleanText } from "../../../chart/label.js";
import type { Span } from "./blocks.js";

export const INK = "#1f2328";
export const SOFT = "#59636e";
export const LINE = "#d1d9e0";
const LINK = "#0a5cad";

/** How a text is set; sizes and lengths in points. */
export interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
  readonly colour?: string;
  readonly align?: "left" | "right";
}

/** The name of the place in the document where a figure stands. */
export function destination(figureNumber: string): string {
  return figureNumber.toLowerCase().replace(" ", "-");
}

/**
 * Writes spans at a place, wrapped in a width, in the shipped font, and other scripts in the
 * machine's. Links lead to their address or figure. Breaks to the next page where the text does.
 */
export function writeSpans(
  { kit }: PdfDocument,
  spans: readonly Span[],
  place: { readonly x: number; readonly y: number; readonly width: number },
  style: TextStyle,
): void {
  const runs = spans.flatMap((span) => {
    const options =
      "link" in span
        ? { link: span.link, underline: true }
        : "figure" in span
          ? { goTo: destination(span.text), underline: true }
          : { link: null, goTo: null, underline: false };
    return fontRuns(plainText(span.text)).map((run) => ({ ...run, options }));
  });
  if (runs.length === 0) return;
  for (const [index, { text, face, options }] of runs.entries()) {
    kit.font(face === undefined ? ownFont(style) : pdfFont(kit, face)).fontSize(style.size);
    kit.fillColor("link" in options && options.link === null ? (style.colour ?? INK) : LINK);
    const set = {
      ...options,
      width: place.width,
      align: style.align ?? "left",
      lineGap: style.size * 0.25,
      continued: index < runs.length - 1,
    } as PDFKit.Mixins.TextOptions;
    if (index === 0) kit.text(text, place.x, place.y, set);
    else kit.text(text, set);
  }
  kit.fillColor(INK);
}

/** The height that spans take in a width. */
export function spansHeight(
  { kit }: PdfDocument,
  spans: readonly Span[],
  width: number,
  style: TextStyle,
): number {
  kit.font(ownFont(style)).fontSize(style.size);
  const text = spans.map((span) => plainText(span.text)).join("");
  return kit.heightOfString(text === "" ? " " : text, { width, lineGap: style.size * 0.25 });
}

/** Width of a text on one line. */
export function textLength({ kit }: PdfDocument, text: string, style: TextStyle): number {
  kit.font(ownFont(style)).fontSize(style.size);
  return kit.widthOfString(plainText(text));
}

function ownFont({ bold }: TextStyle): string {
  return bold ? PDF_FONT.bold : PDF_FONT.regular;
}

// cleanText trims; spaces between spans must stay.
function plainText(text: string): string {
  const [, before = "", after = ""] = /^(\s*)[\s\S]*?(\s*)$/.exec(text) ?? [];
  return `${before === "" ? "" : " "}${cleanText(text)}${after === "" || text.trim() === "" ? "" : " "}`;
}

/** The text in stretches of one font each; undefined is the shipped one. */
function fontRuns(text: string): { text: string; face: FontFace | undefined }[] {
  if (!/[^\u0000-\u007e]/.test(text)) return text === "" ? [] : [{ text, face: undefined }];
  const { faces, missing } = fallbackFonts(`<text>${escapeXml(text)}</text>`, { outlines: true });
  warnOfMissing(missing, "PDF");
  const runs: { text: string; face: FontFace | undefined }[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const face = code < 0x7f || isShipped(code) ? undefined : faces.find((each) => each.has(code));
    const last = runs.at(-1);
    if (last && last.face === face) last.text += character;
    else runs.push({ text: character, face });
  }
  return runs;
}
