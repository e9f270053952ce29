import type { PdfDocument, PdfKit } from "../../../chart/render/pdf-document.js";
import type { Span } from "./blocks.js";
import { textPieces, type Piece, type TextStyle } from "./pdf-text.js";

/** A piece with its width in points. */
export interface SetPiece extends Piece {
  readonly width: number;
}

/** A line of a text: its pieces from left to right. */
export interface Line {
  readonly pieces: readonly SetPiece[];
  readonly width: number;
}

// Where a line may end without a space: in Chinese and Japanese nearly everywhere, in what is wider
// than a line (addresses as a rule) after these.
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const WORDS =
  / +|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}][、。，．）」』】！？：；]*|[^ \p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const PARTS = /[^/?&=_.,;:\-]*[/?&=_.,;:\-]+|[^/?&=_.,;:\-]+/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LONG = 60;

/** Breaks a text into lines no wider than `width` points; what is wider than a line is cut. */
export function breakLines(
  pdf: PdfDocument,
  spans: readonly Span[],
  width: number,
  style: TextStyle,
): Line[] {
  const lines: Line[] = [];
  let line: SetPiece[] = [];
  let used = 0;
  let space: SetPiece | undefined;
  const end = (): void => {
    lines.push(finished(line));
    [line, used, space] = [[], 0, undefined];
  };
  const put = (pieces: readonly SetPiece[]): void => {
    if (space !== undefined && used > 0) append(line, space);
    for (const piece of pieces) append(line, piece);
    used += (space !== undefined && used > 0 ? space.width : 0) + widthOf(pieces);
    space = undefined;
  };
  const place = (pieces: readonly SetPiece[], parts: Split): void => {
    const wide = widthOf(pieces);
    if (used > 0 && used + (space?.width ?? 0) + wide > width) {
      // A long word begins where it is: a line of its own would leave a hole before it.
      if (wide <= width || used > width * 0.7) end();
    }
    if (used + wide <= width || parts === undefined) return put(pieces);
    for (const piece of pieces) {
      for (const text of parts.cut(piece.text))
        place([measured(pdf.kit, piece, text, style)], parts.next);
    }
  };
  for (const word of words(pdf, spans, style)) {
    if (word.space) space = word.pieces[0];
    else place(word.pieces, IN_PARTS);
  }
  if (line.length > 0) end();
  return lines;
}

/** How a word that is wider than the line is cut, and how its parts are. */
type Split = { readonly cut: (text: string) => Iterable<string>; readonly next: Split } | undefined;
const IN_CHARACTERS: Split = { cut: characters, next: undefined };
const IN_PARTS: Split = { cut: (text) => text.match(PARTS) ?? [text], next: IN_CHARACTERS };

/** Characters with the marks on them. */
function* characters(text: string): Iterable<string> {
  for (const [character] of text.matchAll(/\P{M}\p{M}{0,8}|\p{M}/gsu)) yield character;
}

interface Word {
  readonly space: boolean;
  readonly pieces: SetPiece[];
}

/** The words and the spaces between them; a word may consist of several pieces. */
function words(pdf: PdfDocument, spans: readonly Span[], style: TextStyle): Word[] {
  const found: Word[] = [];
  for (const piece of textPieces(pdf, spans, style)) {
    for (const [text] of piece.text.matchAll(WORDS)) {
      const space = text.startsWith(" ");
      const last = found.at(-1);
      const set = measured(pdf.kit, piece, space ? " " : text, style);
      const joined = last && !last.space && !space && !breaksAfter(last) && !CJK.test(text);
      if (joined) last.pieces.push(set);
      else found.push({ space, pieces: [set] });
    }
  }
  return found;
}

function breaksAfter({ pieces }: Word): boolean {
  return CJK.test(pieces.at(-1)?.text.slice(0, 1) ?? "");
}

const known = new WeakMap<PdfKit, Map<string, number>>();

function measured(kit: PdfKit, piece: Piece, text: string, style: TextStyle): SetPiece {
  if (text.length <= LONG)
    return { ...piece, text, width: textWidth(kit, piece.font, text, style) };
  // Laying out a megabyte at once would take minutes.
  let width = 0;
  for (const character of text) width += textWidth(kit, piece.font, character, style);
  return { ...piece, text, width };
}

function textWidth(kit: PdfKit, font: string, text: string, { size }: TextStyle): number {
  const widths = known.get(kit) ?? new Map<string, number>();
  known.set(kit, widths);
  const key = `${size} ${font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    width = kit.font(font).fontSize(size).widthOfString(text);
    widths.set(key, width);
  }
  return width;
}

function widthOf(pieces: readonly SetPiece[]): number {
  return pieces.reduce((sum, { width }) => sum + width, 0);
}

/** Adds a piece to a line, to its last piece where both are alike. */
function append(line: SetPiece[], piece: SetPiece): void {
  const last = line.at(-1);
  const alike = last?.font === piece.font && last.link === piece.link && last.goTo === piece.goTo;
  if (last === undefined || !alike || isTurned(last) || isTurned(piece)) line.push(piece);
  else {
    const both = { ...last, text: last.text + piece.text, width: last.width + piece.width };
    line[line.length - 1] = both;
  }
}

function isTurned(piece: Piece | undefined): boolean {
  return piece !== undefined && RIGHT_TO_LEFT.test(piece.text);
}

/** A line with the words of right-to-left scripts in the order in which they are read. */
function finished(pieces: readonly SetPiece[]): Line {
  const ordered: SetPiece[] = [];
  for (let at = 0; at < pieces.length;) {
    let end = at + 1;
    if (isTurned(pieces[at])) {
      for (let next = end; next < pieces.length; next++) {
        if (isTurned(pieces[next])) end = next + 1;
        else if (pieces[next]?.text !== " ") break;
      }
    }
    ordered.push(...pieces.slice(at, end).reverse());
    at = end;
  }
  return { pieces: ordered, width: widthOf(ordered) };
}
