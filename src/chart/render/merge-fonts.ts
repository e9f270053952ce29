import { characterGlyphs } from "./glyph-widths.js";
import { woffTables } from "./woff.js";

/** The tables of a part, by tag. */
type Tables = ReadonlyMap<string, Buffer>;

const COPIED = ["OS/2", "head", "hhea", "name", "post"];

/**
 * One TTF font of WOFF parts that a font was split into by script.
 *
 * resvg falls back from font to font by whole words, which fails where a word needs two parts:
 * Łódź. Outlines, widths and characters are kept; hints and kerning are left out, so that text is
 * as wide as it was measured. Source: the OpenType specification, chapters glyf, loca, hmtx, cmap.
 *
 * @param parts of one font, with the same size of the em; what two have comes from the first.
 */
export function mergeFonts(parts: readonly Buffer[]): Buffer {
  const read = parts.map(
    (part) => new Map(woffTables(part).map(({ tag, bytes }) => [tag, bytes])) as Tables,
  );
  const characters = new Map<number, number>();
  const glyphs: Buffer[] = [];
  const metrics: Uint8Array[] = [];
  for (const tables of read) {
    const first = glyphs.length;
    for (const [character, glyph] of characterGlyphs(table(tables, "cmap"))) {
      if (!characters.has(character)) characters.set(character, first + glyph);
    }
    glyphs.push(...glyphOutlines(tables).map((outline) => shifted(outline, first)));
    metrics.push(horizontalMetrics(tables));
  }
  const base = read[0] ?? new Map<string, Buffer>();
  const made = new Map<string, Buffer>(COPIED.map((tag) => [tag, Buffer.from(table(base, tag))]));
  made.set("maxp", largestProfile(read, glyphs.length));
  made.get("head")?.writeInt16BE(1, 50); // offsets of 32 bits
  made.get("hhea")?.writeUInt16BE(glyphs.length, 34); // metrics of every glyph
  made.set("post", Buffer.concat([Buffer.from([0, 3, 0, 0]), table(base, "post").subarray(4, 32)]));
  made.set("hmtx", Buffer.concat(metrics));
  made.set("cmap", characterMap(characters));
  const padded = glyphs.map((outline) =>
    Buffer.concat([outline, Buffer.alloc(-outline.length & 3)]),
  );
  const offsets = Buffer.alloc((padded.length + 1) * 4);
  padded.reduce((offset, { length }, index) => {
    offsets.writeUInt32BE(offset + length, (index + 1) * 4);
    return offset + length;
  }, 0);
  made.set("glyf", Buffer.concat(padded));
  made.set("loca", offsets);
  return ttf(made);
}

function table(tables: Tables, tag: string): Buffer {
  const bytes = tables.get(tag);
  if (bytes === undefined) throw new TypeError(`The font has no table ${tag}`);
  return bytes;
}

function glyphOutlines(tables: Tables): Buffer[] {
  const [loca, glyf] = [table(tables, "loca"), table(tables, "glyf")];
  const long = table(tables, "head").readInt16BE(50) === 1;
  const offset = (index: number): number =>
    long ? loca.readUInt32BE(index * 4) : loca.readUInt16BE(index * 2) * 2;
  return Array.from({ length: table(tables, "maxp").readUInt16BE(4) }, (_, index) =>
    glyf.subarray(offset(index), offset(index + 1)),
  );
}

/** The outline with the glyphs that it is composed of (accents) found `by` places later. */
function shifted(outline: Buffer, by: number): Buffer {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return outline;
  const copy = Buffer.from(outline);
  for (let at = 10; ;) {
    const flags = copy.readUInt16BE(at);
    copy.writeUInt16BE(copy.readUInt16BE(at + 2) + by, at + 2);
    at += 4 + (flags & 0x1 ? 4 : 2) + (flags & 0x8 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0);
    if (!(flags & 0x20)) return copy;
  }
}

function horizontalMetrics(tables: Tables): Buffer {
  const glyphs = table(tables, "maxp").readUInt16BE(4);
  const listed = table(tables, "hhea").readUInt16BE(34);
  const hmtx = table(tables, "hmtx");
  const full = Buffer.alloc(glyphs * 4);
  for (let glyph = 0; glyph < glyphs; glyph++) {
    const bearing = glyph < listed ? glyph * 4 + 2 : listed * 4 + (glyph - listed) * 2;
    full.writeUInt16BE(hmtx.readUInt16BE(Math.min(glyph, listed - 1) * 4), glyph * 4);
    full.writeInt16BE(hmtx.readInt16BE(bearing), glyph * 4 + 2);
  }
  return full;
}

/** The largest of each of the parts' limits. */
function largestProfile(parts: readonly Tables[], glyphs: number): Buffer {
  const largest = Buffer.from(table(parts[0] ?? new Map<string, Buffer>(), "maxp"));
  for (const tables of parts) {
    for (let at = 6; at < largest.length; at += 2) {
      const limit = table(tables, "maxp").readUInt16BE(at);
      if (limit > largest.readUInt16BE(at)) largest.writeUInt16BE(limit, at);
    }
  }
  largest.writeUInt16BE(glyphs, 4);
  return largest;
}

/** A cmap of format 12, a group for each character. */
function characterMap(characters: ReadonlyMap<number, number>): Buffer {
  const sorted = [...characters].sort(([a], [b]) => a - b);
  const map = Buffer.alloc(28 + sorted.length * 12);
  map.writeUInt16BE(1, 2); // one subtable, of Windows, full Unicode
  map.writeUInt16BE(3, 4);
  map.writeUInt16BE(10, 6);
  map.writeUInt32BE(12, 8);
  map.writeUInt16BE(12, 12);
  map.writeUInt32BE(16 + sorted.length * 12, 16);
  map.writeUInt32BE(sorted.length, 24);
  sorted.forEach(([character, glyph], index) => {
    map.writeUInt32BE(character, 28 + index * 12);
    map.writeUInt32BE(character, 32 + index * 12);
    map.writeUInt32BE(glyph, 36 + index * 12);
  });
  return map;
}

function ttf(tables: ReadonlyMap<string, Buffer>): Buffer {
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
  const power = Math.floor(Math.log2(sorted.length));
  const head = Buffer.alloc(12 + 16 * sorted.length);
  head.writeUInt32BE(0x00010000, 0);
  head.writeUInt16BE(sorted.length, 4);
  head.writeUInt16BE(2 ** power * 16, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE((sorted.length - 2 ** power) * 16, 10);
  const parts: Buffer[] = [head];
  let offset = head.length;
  sorted.forEach(([tag, bytes], index) => {
    const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
    const entry = 12 + index * 16;
    head.write(tag, entry, "latin1");
    head.writeUInt32BE(checksum(padded), entry + 4);
    head.writeUInt32BE(offset, entry + 8);
    head.writeUInt32BE(bytes.length, entry + 12);
    parts.push(padded);
    offset += padded.length;
  });
  return Buffer.concat(parts);
}

function checksum(padded: Buffer): number {
  let sum = 0;
  for (let at = 0; at < padded.length; at += 4) sum = (sum + padded.readUInt32BE(at)) >>> 0;
  return sum;
}
