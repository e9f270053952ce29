import { fontParts } from "../../../src/chart/render/font.js";
import { mergeFonts } from "../../../src/chart/render/merge-fonts.js";

const SHIFT = 0x10d0 - 0x61;

/**
 * A font that has no Latin: the shipped one with the pictures of a to z under the first letters of
 * the Georgian alphabet, and another name. Stands for a font of the machine.
 */
export function georgianFont(): Buffer {
  const [latin] = fontParts()[0]?.parts ?? [];
  const font = Buffer.from(mergeFonts(latin ? [latin] : []));
  const [cmap] = place(font, "cmap");
  const groups = font.readUInt32BE(cmap + 12 + 12);
  for (let group = 0; group < groups; group++) {
    const at = cmap + 28 + group * 12;
    font.writeUInt32BE(font.readUInt32BE(at) + SHIFT, at);
    font.writeUInt32BE(font.readUInt32BE(at + 4) + SHIFT, at + 4);
  }
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

function place(font: Buffer, tag: string): [number, number] {
  for (let index = 0; index < font.readUInt16BE(4); index++) {
    const entry = 12 + index * 16;
    if (font.toString("latin1", entry, entry + 4) === tag) {
      return [font.readUInt32BE(entry + 8), font.readUInt32BE(entry + 12)];
    }
  }
  throw new TypeError(`The font has no table ${tag}`);
}
