import { createRequire } from "node:module";
import { readWidths } from "./font-face.js";

/** What the pictures are written in; Arial, Helvetica and Liberation Sans have the same widths. */
export const FONT_FAMILY = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

export type FontWeight = 400 | 700;

const require = createRequire(import.meta.url);
const FILES = {
  400: "@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf",
  700: "@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf",
} as const;
const known = new Map<FontWeight, Map<number, number>>();

/** Paths of the shipped font, regular and bold, as TTF files. */
export function fontFiles(): string[] {
  return [require.resolve(FILES[400]), require.resolve(FILES[700])];
}

/** Width of a text in pixels, without kerning. */
export function textWidth(text: string, size: number, weight: FontWeight = 400): number {
  let ems = 0;
  for (const character of text) ems += characterWidth(character.codePointAt(0) ?? 0, weight);
  return ems * size;
}

/** True where the shipped font has no glyph for one of the characters. */
export function needsOtherFont(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0x20 && !isShipped(code)) return true;
  }
  return false;
}

/** True where the shipped font has a glyph for the character. */
export function isShipped(code: number): boolean {
  return widths(400).has(code);
}

function characterWidth(code: number, weight: FontWeight): number {
  if (code < 0x20 || (code >= 0x300 && code < 0x370) || (code >= 0x200b && code <= 0x200f)) {
    return 0;
  }
  // Ideographs and symbols fill an em; other scripts are about as wide as Latin.
  return widths(weight).get(code) ?? (code >= 0x2e80 ? 1 : 0.6);
}

function widths(weight: FontWeight): Map<number, number> {
  let read = known.get(weight);
  if (read === undefined) known.set(weight, (read = readWidths(require.resolve(FILES[weight]))));
  return read;
}
