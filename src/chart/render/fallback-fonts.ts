import { isShipped } from "./font.js";
import type { FontFace } from "./font-face.js";
import { systemFonts } from "./system-fonts.js";
import { noteFonts } from "./used-fonts.js";

/** What a picture needs beside the shipped font. */
export interface Fallback {
  /** Fonts of this machine, the one that has most of the characters first. */
  readonly faces: readonly FontFace[];
  /** Characters that no font here has: boxes in the picture. */
  readonly missing: readonly string[];
}

// Spaces, controls, invisible formatting and the replacement character need no glyph of their own.
const INVISIBLE = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Variation_Selector}\ufffd]/u;
const TEXT = /<text\b[^>]*>(.*?)<\/text>/gs;

/**
 * The fonts of this machine that draw what the shipped font can't.
 *
 * @param svg a picture; the texts that it shows are looked at, not its description or origin.
 * @param options `outlines`: only fonts with outlines, as a PDF needs them.
 */
export function fallbackFonts(svg: string, options: { outlines: boolean }): Fallback {
  let needed = otherCharacters([...svg.matchAll(TEXT)].map(([, text = ""]) => text).join(""));
  if (needed.length === 0) return { faces: [], missing: [] };
  const usable = systemFonts().filter((face) => face.outlines || !options.outlines);
  const faces: FontFace[] = [];
  while (needed.length > 0) {
    const counts = usable.map((face) => needed.filter((code) => face.has(code)).length);
    const most = Math.max(0, ...counts);
    const best = usable[counts.indexOf(most)];
    if (most === 0 || best === undefined) break;
    faces.push(best);
    needed = needed.filter((code) => !best.has(code));
  }
  const fallback = { faces, missing: needed.map((code) => String.fromCodePoint(code)) };
  noteFonts(fallback);
  return fallback;
}

/** The characters of a text that the shipped font has no glyph for, each once. */
function otherCharacters(text: string): number[] {
  const seen = new Set<number>();
  for (const [character] of text.matchAll(/[^\u0000-\u007e]/gu)) {
    const code = character.codePointAt(0) ?? 0;
    if (!isShipped(code) && !INVISIBLE.test(character)) seen.add(code);
  }
  return [...seen];
}
