import { woffTables } from "./woff.js";

/**
 * Width of each character of a font, in ems.
 *
 * Read from the font's own tables: head (units an em), hhea and hmtx (advance widths), cmap
 * format 4 (characters of the Basic Multilingual Plane). Source: the OpenType specification.
 */
export function glyphWidths(woff: Buffer): Map<number, number> {
  const tables = new Map(woffTables(woff).map(({ tag, bytes }) => [tag, bytes]));
  const table = (tag: string): Buffer => {
    const bytes = tables.get(tag);
    if (bytes === undefined) throw new TypeError(`The font has no table ${tag}`);
    return bytes;
  };
  const em = table("head").readUInt16BE(18);
  const metrics = table("hmtx");
  const lastMetric = table("hhea").readUInt16BE(34) - 1;
  const widths = new Map<number, number>();
  for (const [character, glyph] of characterGlyphs(table("cmap"))) {
    widths.set(character, metrics.readUInt16BE(Math.min(glyph, lastMetric) * 4) / em);
  }
  return widths;
}

/** The characters of a cmap with their glyphs. */
export function* characterGlyphs(cmap: Buffer): Generator<[number, number]> {
  const offset = formatFour(cmap);
  const segments = cmap.readUInt16BE(offset + 6) / 2;
  const ends = offset + 14;
  const starts = ends + segments * 2 + 2;
  const deltas = starts + segments * 2;
  const ranges = deltas + segments * 2;
  for (let segment = 0; segment < segments; segment++) {
    const at = segment * 2;
    const start = cmap.readUInt16BE(starts + at);
    const end = cmap.readUInt16BE(ends + at);
    const delta = cmap.readUInt16BE(deltas + at);
    const range = cmap.readUInt16BE(ranges + at);
    for (let character = start; character <= end && character < 0xffff; character++) {
      const listed =
        range === 0 ? character : cmap.readUInt16BE(ranges + at + range + (character - start) * 2);
      const glyph = range === 0 || listed !== 0 ? (listed + delta) & 0xffff : 0;
      if (glyph !== 0) yield [character, glyph];
    }
  }
}

function formatFour(cmap: Buffer): number {
  for (let index = 0; index < cmap.readUInt16BE(2); index++) {
    const offset = cmap.readUInt32BE(4 + index * 8 + 4);
    if (cmap.readUInt16BE(offset) === 4) return offset;
  }
  throw new TypeError("The font has no character map of format 4");
}
