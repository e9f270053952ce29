import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter } from "node:path";

/** The fonts of pictures; Arial, Helvetica and Liberation Sans have the same widths. */
export const FONT_FAMILY = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

export type FontWeight = 400 | 700;

const require = createRequire(import.meta.url);
const FILES = {
  400: "@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf",
  700: "@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf",
} as const;

/**
 * The fonts that resvg draws a text with: the shipped one, and where that has not every character,
 * those in the folders of `PROBELAB_FONTS` (separated as in `PATH`) or else of the machine.
 */
export function fontOptions(text: string) {
  const needed = [...text].some(isBeyond);
  const { PROBELAB_FONTS: folders } = process.env;
  const fontDirs = folders?.split(delimiter).filter((folder) => folder !== "");
  return {
    fontFiles: [require.resolve(FILES[400]), require.resolve(FILES[700])],
    ...(needed && fontDirs && { fontDirs }),
    loadSystemFonts: needed && fontDirs === undefined,
    defaultFontFamily: "Arimo",
    sansSerifFamily: "Arimo",
  };
}

/** Width of a text in pixels, without kerning. */
export function textWidth(text: string, size: number, weight: FontWeight = 400): number {
  let ems = 0;
  for (const character of text) ems += characterWidth(character.codePointAt(0) ?? 0, weight);
  return ems * size;
}

// Spaces, controls, invisible formatting and the replacement character need no glyph of their own.
const INVISIBLE = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Variation_Selector}\ufffd]/u;

/** True for a character for which the shipped font has no glyph. */
function isBeyond(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code > 0x7e && !widths(400).has(code) && !INVISIBLE.test(character);
}

function characterWidth(code: number, weight: FontWeight): number {
  if (code < 0x20 || (code >= 0x300 && code < 0x370) || (code >= 0x200b && code <= 0x200f)) {
    return 0;
  }
  // Ideographs and symbols fill an em; other scripts are about as wide as Latin.
  return widths(weight).get(code) ?? (code >= 0x2e80 ? 1 : 0.6);
}

const known = new Map<FontWeight, Map<number, number>>();

/**
 * The advance width of each character of the shipped font, in ems. A font library would take half a
 * second to load. Source: the OpenType specification, tables head, hhea, hmtx, and cmap of format 4.
 */
function widths(weight: FontWeight): Map<number, number> {
  const before = known.get(weight);
  if (before !== undefined) return before;
  const font = readFileSync(require.resolve(FILES[weight]));
  const table = (tag: string): Buffer => {
    const at = font.indexOf(tag, 12, "latin1");
    return font.subarray(font.readUInt32BE(at + 8));
  };
  const em = table("head").readUInt16BE(18);
  const lastMetric = table("hhea").readUInt16BE(34) - 1;
  const metrics = table("hmtx");
  const cmap = table("cmap");
  const maps = Array.from({ length: cmap.readUInt16BE(2) }, (_, at) =>
    cmap.subarray(cmap.readUInt32BE(8 + at * 8)),
  );
  const map = maps.find((each) => each.readUInt16BE(0) === 4)!;
  const segments = map.readUInt16BE(6); // twice their number: each value has two bytes
  const found = new Map<number, number>();
  for (let at = 14; at < 14 + segments; at += 2) {
    const [end, start] = [map.readUInt16BE(at), map.readUInt16BE(at + segments + 2)];
    const delta = map.readUInt16BE(at + 2 * segments + 2);
    const place = at + 3 * segments + 2;
    const offset = map.readUInt16BE(place);
    for (let code = start; code <= end && code < 0xffff; code++) {
      const listed = offset === 0 ? code : map.readUInt16BE(place + offset + (code - start) * 2);
      const glyph = offset === 0 || listed !== 0 ? (listed + delta) & 0xffff : 0;
      if (glyph === 0) continue;
      found.set(code, metrics.readUInt16BE(Math.min(glyph, lastMetric) * 4) / em);
    }
  }
  known.set(weight, found);
  return found;
}
