import { readFileSync } from "node:fs";
import { fontFiles } from "../../../src/fonts/shipped-font.js";

const SHIFT = 0x10d0 - 0x61;

/**
 * A font that has no Latin: the shipped one with the pictures of a to z under the first letters of
 * the Georgian alphabet, and another name. Stands for a font of the machine.
 */
export function georgianFont(): Buffer {
  const font = readFileSync(fontFiles()[0] ?? "");
  const [cmap] = place(font, "cmap");
  const map = georgianMap(glyphOfA(font, cmap));
  map.copy(font, cmap);
  const [name, length] = place(font, "name");
  const wide = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
  for (const [from, to] of [
    [wide("Arimo"), wide("Kartu")],
    [Buffer.from("Arimo"), Buffer.from("Kartu")],
  ] as const) {
    const end = name + length;
    for (let at = font.indexOf(from, name); at >= 0 && at < end; at = font.indexOf(from, at + 1)) {
      to.copy(font, at);
    }
  }
  return font;
}

/** The word in Georgian letters that this font draws as the Latin one. */
export function inGeorgian(word: string): string {
  return [...word]
    .map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + SHIFT))
    .join("");
}

/** The number of the picture of "a", with those of the other letters after it. */
function glyphOfA(font: Buffer, cmap: number): number {
  for (let index = 0; index < font.readUInt16BE(cmap + 2); index++) {
    const at = cmap + font.readUInt32BE(cmap + 8 + index * 8);
    if (font.readUInt16BE(at) !== 4) continue;
    const segments = font.readUInt16BE(at + 6);
    for (let segment = 0; segment < segments; segment += 2) {
      const start = font.readUInt16BE(at + 16 + segments + segment);
      const end = font.readUInt16BE(at + 14 + segment);
      const delta = font.readUInt16BE(at + 16 + 2 * segments + segment);
      if (start <= 0x61 && end >= 0x7a) return (0x61 + delta) & 0xffff;
    }
  }
  throw new TypeError("The font has no a");
}

/** A cmap of format 12 with one group. */
function georgianMap(glyph: number): Buffer {
  const map = Buffer.alloc(40);
  map.writeUInt16BE(1, 2); // one subtable, of Windows, full Unicode
  map.writeUInt16BE(3, 4);
  map.writeUInt16BE(10, 6);
  map.writeUInt32BE(12, 8);
  map.writeUInt16BE(12, 12);
  map.writeUInt32BE(28, 16);
  map.writeUInt32BE(1, 24);
  map.writeUInt32BE(0x61 + SHIFT, 28);
  map.writeUInt32BE(0x7a + SHIFT, 32);
  map.writeUInt32BE(glyph, 36);
  return map;
}

function place(font: Buffer, tag: string): [number, number] {
  for (let index = 0; index < font.readUInt16BE(4); index++) {
    const entry = 12 + index * 16;
    if (font.toString("latin1", entry, entry + 4) === tag) {
      return [font.readUInt32BE(entry + 8), font.readUInt32BE(entry + 12)];
    }
  }
  throw new TypeError(`The font has no table ${tag}`);
}
