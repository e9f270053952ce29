import { fallbackFonts } from "../../../chart/render/fallback-fonts.js";
import { isShipped } from "../../../chart/render/font.js";
import { warnOfMissing } from "../../../chart/render/missing-characters.js";
import { PDF_FONT, type PdfDocument } from "../../../chart/render/pdf-document.js";
import { pdfFont } from "../../../chart/render/pdf-font.js";
import { escapeXml } from "../../../chart/render/xml.js";
import { cleanText } from "../../../chart/label.js";
import type { Span } from "./blocks.js";

/** How a text is set; sizes in points. */
export interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
  readonly colour?: string;
}

/** A stretch of text of one font, that leads to an address or a place in the document, or nowhere. */
export interface Piece {
  readonly text: string;
  /** The name under which the document knows the font. */
  readonly font: string;
  readonly link?: string;
  readonly goTo?: string;
}

/** The name of the place in the document where a figure stands. */
export function destination(figureNumber: string): string {
  return figureNumber.toLowerCase().replace(" ", "-");
}

/** Spans in stretches of one font each: the shipped one, and for other scripts the machine's. */
export function textPieces(
  { kit }: PdfDocument,
  spans: readonly Span[],
  style: TextStyle,
): Piece[] {
  const own = style.bold ? PDF_FONT.bold : PDF_FONT.regular;
  const texts = spans.map((span) => plainText(span.text));
  const whole = texts.join("");
  const { faces, missing } = /[^\u0000-\u007e]/.test(whole)
    ? fallbackFonts(`<text>${escapeXml(whole)}</text>`, { outlines: true })
    : { faces: [], missing: [] };
  warnOfMissing(missing, "PDF");
  const lost = new Set(missing);
  return spans.flatMap((span, index) => {
    const leads =
      "link" in span
        ? { link: span.link }
        : "figure" in span
          ? { goTo: destination(span.text) }
          : {};
    // pdfkit draws a glyph that the font hasn't got wider than it says.
    const drawn = [...(texts[index] ?? "")].map((each) => (lost.has(each) ? "\ufffd" : each));
    return fontRuns(drawn, (code) => {
      const face = code < 0x7f || isShipped(code) ? undefined : faces.find((one) => one.has(code));
      return face === undefined ? own : pdfFont(kit, face);
    }).map((run) => ({ ...run, ...leads }));
  });
}

function fontRuns(text: readonly string[], fontOf: (code: number) => string): Piece[] {
  const runs: { text: string; font: string }[] = [];
  for (const character of text) {
    // A space belongs to what is before it.
    const last = runs.at(-1);
    const font = character === " " && last ? last.font : fontOf(character.codePointAt(0) ?? 0);
    if (last?.font === font) last.text += character;
    else runs.push({ text: character, font });
  }
  return runs;
}

// cleanText trims; spaces between spans must stay.
function plainText(text: string): string {
  const clean = cleanText(text);
  if (clean === "") return text === "" ? "" : " ";
  return `${/^\s/.test(text) ? " " : ""}${clean}${/\s$/.test(text) ? " " : ""}`;
}
