import { closeSync, openSync, readSync } from "node:fs";
import { characterGlyphs } from "./glyph-widths.js";

/** A face of a font file, as far as choosing it goes. */
export interface FontFace {
  readonly path: string;
  /** What the font calls itself: `Noto Sans CJK SC`; "" where it has no name. */
  readonly family: string;
  /** In a collection (`.ttc`) the PostScript name by which the face is found. */
  readonly name?: string;
  /** Outlines in glyf or CFF: what a PDF can hold. Bitmaps and colour fonts have none. */
  readonly outlines: boolean;
  /** It has tables by which letters are joined and ordered. */
  readonly shaped: boolean;
  has(code: number): boolean;
}

type Read = (offset: number, length: number) => Buffer;

const LARGEST_TABLE = 8_000_000;
const FAMILY = 1;
const POST_SCRIPT = 6;

/**
 * The first face of a TrueType or OpenType font or collection. Its directory, names and map of
 * characters are read, not its outlines, which may be tens of megabytes.
 *
 * Source: the OpenType specification, chapters "OpenType font file", name, cmap.
 *
 * @throws where the file is no such font.
 */
export function readFontFace(path: string): FontFace {
  const file = openSync(path, "r");
  try {
    const read: Read = (offset, length) => {
      const bytes = Buffer.alloc(Math.min(length, LARGEST_TABLE));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
    };
    const start = read(0, 16);
    const first = start.toString("latin1", 0, 4) === "ttcf" ? start.readUInt32BE(12) : 0;
    const tables = directory(read, first);
    const table = (tag: string): Buffer => {
      const place = tables.get(tag);
      if (place === undefined) throw new TypeError(`The font has no table ${tag}`);
      return read(...place);
    };
    const ranges = characterRanges(table("cmap"));
    const names = tables.has("name") ? table("name") : undefined;
    return {
      path,
      family: names ? familyOf(names) : "",
      ...(first !== 0 && { name: nameOf(table("name"), POST_SCRIPT) }),
      outlines: tables.has("glyf") || tables.has("CFF "),
      shaped: ["GSUB", "GPOS", "morx"].some((tag) => tables.has(tag)),
      has: (code) => within(ranges, code),
    };
  } finally {
    closeSync(file);
  }
}

function directory(read: Read, at: number): Map<string, [number, number]> {
  const count = read(at, 12).readUInt16BE(4);
  const entries = read(at + 12, count * 16);
  return new Map(
    Array.from({ length: count }, (_, index) => [
      entries.toString("latin1", index * 16, index * 16 + 4),
      [entries.readUInt32BE(index * 16 + 8), entries.readUInt32BE(index * 16 + 12)],
    ]),
  );
}

/** First and last character of each range that has glyphs, in order. */
function characterRanges(cmap: Buffer): number[] {
  for (let index = 0; index < cmap.readUInt16BE(2); index++) {
    const offset = cmap.readUInt32BE(4 + index * 8 + 4);
    if (cmap.readUInt16BE(offset) === 12) return groups(cmap, offset);
  }
  const ranges: number[] = [];
  for (const [character] of characterGlyphs(cmap)) {
    if (ranges.at(-1) === character - 1) ranges[ranges.length - 1] = character;
    else ranges.push(character, character);
  }
  return ranges;
}

function groups(cmap: Buffer, offset: number): number[] {
  return Array.from({ length: cmap.readUInt32BE(offset + 12) }, (_, index) => [
    cmap.readUInt32BE(offset + 16 + index * 12),
    cmap.readUInt32BE(offset + 20 + index * 12),
  ]).flat();
}

function within(ranges: readonly number[], code: number): boolean {
  let [low, high] = [0, ranges.length / 2 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[middle * 2] ?? 0)) high = middle - 1;
    else if (code > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

function familyOf(names: Buffer): string {
  try {
    return nameOf(names, FAMILY);
  } catch {
    return ""; // a damaged name is no reason not to draw with the font
  }
}

/** A name of the font, by its number in the table. */
function nameOf(names: Buffer, wanted: number): string {
  const texts = names.readUInt16BE(4);
  for (let index = 0; index < names.readUInt16BE(2); index++) {
    const at = 6 + index * 12;
    if (names.readUInt16BE(at + 6) !== wanted) continue;
    const offset = texts + names.readUInt16BE(at + 10);
    const bytes = Buffer.from(names.subarray(offset, offset + names.readUInt16BE(at + 8)));
    return names.readUInt16BE(at) === 1
      ? bytes.toString("latin1")
      : bytes.swap16().toString("utf16le");
  }
  return "";
}
