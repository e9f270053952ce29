import { inflateSync } from "node:zlib";

/** One table of a font file. */
interface FontTable {
  readonly tag: string;
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
      bytes: stored.length < length ? inflateSync(stored) : stored,
    };
  });
}
