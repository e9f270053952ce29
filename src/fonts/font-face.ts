import { closeSync, openSync, readSync } from "node:fs";

/** The first face of a font file. */
export interface FontFace {
  readonly path: string;
  /** What the font calls itself: `Noto Sans CJK SC`; "" where it has no name. */
  readonly family: string;
  has(code: number): boolean;
}

type Tables = (tag: string) => Buffer;

const LARGEST_TABLE = 8_000_000;
const FAMILY = 1;

/**
 * The first face of a TrueType or OpenType font or collection: only its directory, names and map of
 * characters are read (a font library would take half a second to load). @throws for another file.
 *
 * Source: the OpenType specification, chapters "OpenType font file", name, cmap.
 */
export function readFontFace(path: string): FontFace {
  return withTables(path, (table) => {
    const codes = new Set<number>();
    for (const [code] of characterGlyphs(table("cmap"))) codes.add(code);
    return { path, family: familyOf(table), has: (code) => codes.has(code) };
  });
}

/** The advance width of each character of a font, in ems. Source: head, hhea, hmtx, cmap. */
export function readWidths(path: string): Map<number, number> {
  return withTables(path, (table) => {
    const em = table("head").readUInt16BE(18);
    const lastMetric = table("hhea").readUInt16BE(34) - 1;
    const metrics = table("hmtx");
    const widths = new Map<number, number>();
    for (const [code, glyph] of characterGlyphs(table("cmap"))) {
      widths.set(code, metrics.readUInt16BE(Math.min(glyph, lastMetric) * 4) / em);
    }
    return widths;
  });
}

function withTables<T>(path: string, use: (table: Tables) => T): T {
  const file = openSync(path, "r");
  try {
    const read = (offset: number, length: number): Buffer => {
      const bytes = Buffer.alloc(Math.min(length, LARGEST_TABLE));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset));
    };
    const start = read(0, 16);
    const first = start.toString("latin1", 0, 4) === "ttcf" ? start.readUInt32BE(12) : 0;
    const entries = read(first + 12, read(first, 12).readUInt16BE(4) * 16);
    return use((tag) => {
      for (let at = 0; at < entries.length; at += 16) {
        if (entries.toString("latin1", at, at + 4) !== tag) continue;
        return read(entries.readUInt32BE(at + 8), entries.readUInt32BE(at + 12));
      }
      throw new TypeError(`The font has no table ${tag}`);
    });
  } finally {
    closeSync(file);
  }
}

/** The characters of a cmap with their glyphs, in order. */
function* characterGlyphs(cmap: Buffer): Generator<[number, number]> {
  const places = Array.from({ length: cmap.readUInt16BE(2) }, (_, index) =>
    cmap.readUInt32BE(8 + index * 8),
  );
  const full = places.find((place) => cmap.readUInt16BE(place) === 12);
  const basic = places.find((place) => cmap.readUInt16BE(place) === 4);
  if (full !== undefined) yield* segmentedGlyphs(cmap, full);
  else if (basic !== undefined) yield* basicGlyphs(cmap, basic);
  else throw new TypeError("The font has no character map of format 4 or 12");
}

function* segmentedGlyphs(cmap: Buffer, at: number): Generator<[number, number]> {
  let last = -1;
  for (let group = 0; group < cmap.readUInt32BE(at + 12); group++) {
    const [start, end, glyph] = [0, 4, 8].map((field) =>
      cmap.readUInt32BE(at + 16 + group * 12 + field),
    ) as [number, number, number];
    if (start <= last || end > 0x10ffff)
      throw new TypeError("The font's characters are in disorder");
    last = end;
    for (let code = start; code <= end; code++) yield [code, glyph + code - start];
  }
}

function* basicGlyphs(cmap: Buffer, at: number): Generator<[number, number]> {
  const segments = cmap.readUInt16BE(at + 6);
  const ends = at + 14;
  const starts = ends + segments + 2;
  const [deltas, offsets] = [starts + segments, starts + 2 * segments];
  for (let segment = 0; segment < segments; segment += 2) {
    const start = cmap.readUInt16BE(starts + segment);
    const end = cmap.readUInt16BE(ends + segment);
    const delta = cmap.readUInt16BE(deltas + segment);
    const offset = cmap.readUInt16BE(offsets + segment);
    for (let code = start; code <= end && code < 0xffff; code++) {
      const listed =
        offset === 0 ? code : cmap.readUInt16BE(offsets + segment + offset + (code - start) * 2);
      const glyph = offset === 0 || listed !== 0 ? (listed + delta) & 0xffff : 0;
      if (glyph !== 0) yield [code, glyph];
    }
  }
}

function familyOf(table: Tables): string {
  try {
    const names = table("name");
    const texts = names.readUInt16BE(4);
    for (let at = 6; at < 6 + names.readUInt16BE(2) * 12; at += 12) {
      if (names.readUInt16BE(at + 6) !== FAMILY) continue;
      const offset = texts + names.readUInt16BE(at + 10);
      const bytes = Buffer.from(names.subarray(offset, offset + names.readUInt16BE(at + 8)));
      const isMac = names.readUInt16BE(at) === 1;
      return isMac ? bytes.toString("latin1") : bytes.swap16().toString("utf16le");
    }
  } catch {
    // a damaged name is no reason not to draw with the font
  }
  return "";
}
