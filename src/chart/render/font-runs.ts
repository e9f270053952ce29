import { isShipped } from "./font.js";
import type { FontFace } from "./font-face.js";

/** Family names of the machine's fonts in an SVG for a PDF: this and their place in the list. */
export const FALLBACK_FAMILY = "probelab-fallback-";

const TEXT = /(<text(?:\s+[\w:.-]+="[^"]*")*\s*>)(.*?)(<\/text>)/gs;
const CHARACTER = /&#?\w+;|[\s\S]/gu;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** A stretch of text in one font and one direction. */
interface Run {
  face: number;
  right: boolean;
  text: string;
}

/**
 * The SVG with each stretch of text that the shipped font can't draw as a `tspan` in one of the
 * fonts given: svg-to-pdfkit knows one font for an element, where browsers choose by character.
 * Words that are written from right to left are put in the order in which they are seen.
 */
export function withFontRuns(svg: string, faces: readonly FontFace[]): string {
  return svg.replace(TEXT, (whole, open: string, content: string, close: string) => {
    if (!/[^\u0000-\u007e]/.test(content)) return whole;
    const parts = content.split(/(<[^<>]*>)/);
    return `${open}${parts.map((part) => (part.startsWith("<") ? part : spans(part, faces))).join("")}${close}`;
  });
}

function spans(text: string, faces: readonly FontFace[]): string {
  const runs: Run[] = [];
  for (const [token] of text.matchAll(CHARACTER)) {
    const code = token.codePointAt(0) ?? 0;
    const last = runs.at(-1);
    const neutral =
      token.length > 1 && token.startsWith("&") ? false : /[\s\p{M}\p{Cf}]/u.test(token);
    const other = code > 0x7e && !isShipped(code);
    const found = other ? faces.findIndex((face) => face.has(code)) : -1;
    const right = RIGHT_TO_LEFT.test(token);
    const joins = neutral && (found === -1 || found === last?.face);
    if (last && (joins || (last.face === found && last.right === right))) last.text += token;
    else runs.push({ face: found, right, text: token });
  }
  return runs.map((run) => span(run, faces)).join("");
}

/**
 * fontkit turns words of fonts that have shaping tables round, with the space after them; the
 * letters of others, and the order of the words, are left to us.
 */
function span({ face, right, text }: Run, faces: readonly FontFace[]): string {
  const [, words = "", after = ""] = /^(.*?)(\s*)$/su.exec(text) ?? [];
  const parts = words.split(/(\s+)/);
  if (right) parts.reverse();
  const shaped = faces[face]?.shaped ?? false;
  return [...parts, after]
    .map((part) => {
      const seen = right && !shaped ? reversed(part) : part;
      return face < 0 || part.trim() === ""
        ? seen
        : `<tspan font-family="${FALLBACK_FAMILY}${face}">${seen}</tspan>`;
    })
    .join("");
}

/** Letters in reverse, each with the marks that belong to it. */
function reversed(word: string): string {
  return (word.match(/&#?\w+;|\P{M}\p{M}*|\p{M}+/gu) ?? []).reverse().join("");
}
