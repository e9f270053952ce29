import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { glyphWidths } from "./glyph-widths.js";

/** What the pictures are written in; Arial, Helvetica and Liberation Sans have the same widths. */
export const FONT_FAMILY = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

/** The scripts that the shipped font covers, the commonest first. */
const SUBSETS = ["latin", "latin-ext", "cyrillic", "greek", "vietnamese", "hebrew"] as const;

export type FontWeight = 400 | 700;

const require = createRequire(import.meta.url);
const widths = new Map<string, Map<number, number>>();

/** The shipped font's parts, as WOFF files, for each weight. */
export function fontParts(): { weight: FontWeight; parts: Buffer[] }[] {
  return ([400, 700] as const).map((weight) => ({
    weight,
    parts: SUBSETS.map((subset) => readFont(subset, weight)),
  }));
}

/** Width of a text in pixels, without kerning. */
export function textWidth(text: string, size: number, weight: FontWeight = 400): number {
  let ems = 0;
  for (const character of text) ems += characterWidth(character.codePointAt(0) ?? 0, weight);
  return ems * size;
}

/** True where the shipped font has no picture for one of the characters. */
export function needsOtherFont(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0x20 && !isShipped(code)) return true;
  }
  return false;
}

/** True where the shipped font has a glyph for the character. */
export function isShipped(code: number): boolean {
  return shippedWidth(code, 400) !== undefined;
}

function characterWidth(code: number, weight: FontWeight): number {
  if (code < 0x20 || (code >= 0x300 && code < 0x370) || (code >= 0x200b && code <= 0x200f)) {
    return 0;
  }
  // Ideographs and symbols fill an em; other scripts are about as wide as Latin.
  return shippedWidth(code, weight) ?? (code >= 0x2e80 ? 1 : 0.6);
}

function shippedWidth(code: number, weight: FontWeight): number | undefined {
  for (const subset of SUBSETS) {
    const width = widthsOf(subset, weight).get(code);
    if (width !== undefined) return width;
  }
  return undefined;
}

function widthsOf(subset: string, weight: FontWeight): Map<number, number> {
  const key = `${subset}-${weight}`;
  let map = widths.get(key);
  if (map === undefined) widths.set(key, (map = glyphWidths(readFont(subset, weight))));
  return map;
}

function readFont(subset: string, weight: FontWeight): Buffer {
  return readFileSync(
    require.resolve(`@fontsource/arimo/files/arimo-${subset}-${weight}-normal.woff`),
  );
}
