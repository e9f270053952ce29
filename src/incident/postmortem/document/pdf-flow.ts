import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import type { Span } from "./blocks.js";
import { breakLines, type Line, type SetPiece } from "./pdf-lines.js";
import type { PdfPages } from "./pdf-pages.js";
import type { TextStyle } from "./pdf-text.js";

const INK = "#1f2328";
export const SOFT = "#59636e";
export const LINE = "#d1d9e0";
const LINK = "#0a5cad";

/** The ascent of the shipped font, and the distance of lines, in sizes. */
const ASCENT = 0.905;
const LEADING = 1.4;

/** Where text stands: its upper left corner, or its right edge where it is set to the right. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly align?: "left" | "right";
}

/** From one line to the next. */
export function lineHeight({ size }: TextStyle): number {
  return size * LEADING;
}

/** The height of lines. */
export function linesHeight(lines: readonly Line[], style: TextStyle): number {
  return lines.length * lineHeight(style);
}

/** Width of a text on one line. */
export function textLength(pdf: PdfDocument, text: string, style: TextStyle): number {
  return breakLines(pdf, [{ text }], Infinity, style)[0]?.width ?? 0;
}

/**
 * Draws lines on the current page, as content of an element of the structure: links lead to their
 * address or figure and are elements of their own.
 */
export function drawLines(
  pdf: PdfDocument,
  element: PDFKit.PDFStructureElement,
  lines: readonly Line[],
  place: Place,
  style: TextStyle,
): void {
  for (const { y, line } of rows(lines, place, style)) {
    let x = lineStart(line, place);
    for (const { linked, pieces } of stretches(line.pieces)) {
      const left = x;
      const draw = (): void => drawPieces(pdf, pieces, left, y, style);
      x += pieces.reduce((sum, { width }) => sum + width, 0);
      const [{ link, goTo } = { link: undefined, goTo: undefined }] = pieces;
      if (!linked) {
        element.add(draw);
        continue;
      }
      const inside = pdf.kit.struct("Link");
      element.add(inside);
      inside.add(draw);
      const box = [left, y, x - left, style.size * 1.2] as const;
      const about: object = { structParent: inside, Contents: new String(link ?? goTo) };
      // pdfkit knows `structParent` of a link, and its types don't.
      if (link !== undefined) pdf.kit.link(...box, link, about);
      else if (goTo !== undefined) pdf.kit.goTo(...box, goTo, about);
      inside.end();
    }
  }
}

/** Draws lines that are no content of the document, such as the foot of a page. */
export function drawArtifact(
  pdf: PdfDocument,
  lines: readonly Line[],
  place: Place,
  style: TextStyle,
): void {
  pdf.kit.markContent("Artifact", { type: "Pagination" });
  for (const { y, line } of rows(lines, place, style))
    drawPieces(pdf, line.pieces, lineStart(line, place), y, style);
  pdf.kit.endMarkedContent();
}

/** Sets a text over as many pages as it takes; two lines at least stand together. */
export function flow(
  pdf: PdfDocument,
  pages: PdfPages,
  element: PDFKit.PDFStructureElement,
  spans: readonly Span[],
  style: TextStyle,
  indent = 0,
): void {
  const place = { x: pages.left + indent, width: pages.width - indent };
  let rest: readonly Line[] = breakLines(pdf, spans, place.width, style);
  while (rest.length > 0) {
    pages.begin(lineHeight(style) * Math.min(2, rest.length));
    let count = Math.max(1, Math.floor(pages.room / lineHeight(style)));
    // No last line alone on a page.
    if (count === rest.length - 1 && count > 2) count--;
    const now = rest.slice(0, count);
    rest = rest.slice(count);
    drawLines(pdf, element, now, { ...place, y: pages.y }, style);
    pages.y += linesHeight(now, style);
  }
}

function* rows(lines: readonly Line[], { y }: Place, style: TextStyle) {
  for (const [index, line] of lines.entries()) yield { y: y + index * lineHeight(style), line };
}

function lineStart(line: Line, { x, width, align }: Place): number {
  return align === "right" ? x + width - line.width : x;
}

/** Pieces beside each other that lead to the same place. */
function stretches(pieces: readonly SetPiece[]): { linked: boolean; pieces: SetPiece[] }[] {
  const found: { linked: boolean; pieces: SetPiece[] }[] = [];
  for (const piece of pieces) {
    const last = found.at(-1)?.pieces;
    const before = last?.[0];
    if (last && before?.link === piece.link && before?.goTo === piece.goTo) last.push(piece);
    else found.push({ linked: (piece.link ?? piece.goTo) !== undefined, pieces: [piece] });
  }
  return found;
}

function drawPieces(
  { kit }: PdfDocument,
  pieces: readonly SetPiece[],
  left: number,
  y: number,
  style: TextStyle,
): void {
  let x = left;
  for (const { text, font, width, link, goTo } of pieces) {
    const leads = (link ?? goTo) !== undefined;
    kit.font(font).fontSize(style.size);
    kit.fillColor(leads ? LINK : (style.colour ?? INK));
    // Fonts of all heights stand on one line.
    kit.text(text, x, y + ASCENT * style.size, { lineBreak: false, baseline: "alphabetic" });
    if (leads) {
      const below = y + ASCENT * style.size + 1.2;
      kit
        .moveTo(x, below)
        .lineTo(x + width, below)
        .lineWidth(0.5)
        .stroke(LINK);
    }
    x += width;
  }
}
