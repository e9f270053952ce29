import { inflateSync } from "node:zlib";

/** One table of a font file. */
interface FontTable {
  readonly tag: string;
  readonly checksum: number;
  readonly bytes: Buffer;
}

/**
 * The tables of a WOFF 1.0 font, inflated, in the file's order (by tag).
 *
 * Source: https://www.w3.org/TR/WOFF/
 */
export function woffTables(woff: Buffer): FontTable[] {
  if (woff.toString("latin1", 0, 4) !== "wOFF") throw new TypeError("Not a WOFF 1.0 font");
  return Array.from({ length: woff.readUInt16BE(12) }, (_, index) => {
    const entry = 44 + index * 20;
    const offset = woff.readUInt32BE(entry + 4);
    const stored = woff.subarray(offset, offset + woff.readUInt32BE(entry + 8));
    const length = woff.readUInt32BE(entry + 12);
    return {
      tag: woff.toString("latin1", entry, entry + 4),
      checksum: woff.readUInt32BE(entry + 16),
      bytes: stored.length < length ? inflateSync(stored) : stored,
    };
  });
}

/** The same font as a TTF file: resvg reads no WOFF. */
export function woffToTtf(woff: Buffer): Buffer {
  const tables = woffTables(woff);
  const power = Math.floor(Math.log2(tables.length));
  const head = Buffer.alloc(12 + 16 * tables.length);
  woff.copy(head, 0, 4, 8); // flavor
  head.writeUInt16BE(tables.length, 4);
  head.writeUInt16BE(2 ** power * 16, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE((tables.length - 2 ** power) * 16, 10);
  const parts: Buffer[] = [head];
  let offset = head.length;
  tables.forEach(({ tag, checksum, bytes }, index) => {
    const entry = 12 + index * 16;
    head.write(tag, entry, "latin1");
    head.writeUInt32BE(checksum, entry + 4);
    head.writeUInt32BE(offset, entry + 8);
    head.writeUInt32BE(bytes.length, entry + 12);
    const padding = -bytes.length & 3;
    parts.push(bytes, Buffer.alloc(padding));
    offset += bytes.length + padding;
  });
  return Buffer.concat(parts);
}
