import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fontFiles, needsOtherFont, textWidth } from "../../src/chart/render/font.js";
import { woffToTtf } from "../../src/chart/render/woff.js";

describe("textWidth", () => {
  // Arial's advance widths, in 1/2048 em: Arimo is made to have the same.
  test.each([
    ["A", 1366],
    ["i", 455],
    ["W", 1933],
    ["0123456789", 10 * 1139],
    [" ", 569],
    ["…", 2048],
    ["é", 1139],
    ["а", 1139],
  ])("%j is as wide as in Arial", (text, units) => {
    expect(textWidth(text, 2048)).toBeCloseTo(units, -0.3);
  });

  test("bold is wider, and widths add up", () => {
    expect(textWidth("Measurements", 16, 700)).toBeGreaterThan(textWidth("Measurements", 16));
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(textWidth(a + b, 10)).toBeCloseTo(textWidth(a, 10) + textWidth(b, 10), 6);
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  test("only scripts that the shipped font has not need another", () => {
    expect(needsOtherFont("Zürich Łódź Москва Αθήνα שלום …→".replace("→", ""))).toBe(false);
    expect(needsOtherFont("東京")).toBe(true);
  });
});

test("woffToTtf(woff) makes a file whose tables are where its directory says, checksums right", () => {
  for (const { woff } of fontFiles()) {
    const ttf = woffToTtf(woff);
    expect(ttf.readUInt32BE(0)).toBe(0x00010000);
    const tables = ttf.readUInt16BE(4);
    const names: string[] = [];
    for (let index = 0; index < tables; index++) {
      const entry = 12 + 16 * index;
      const name = ttf.toString("latin1", entry, entry + 4);
      names.push(name);
      const offset = ttf.readUInt32BE(entry + 8);
      const length = ttf.readUInt32BE(entry + 12);
      expect(offset % 4).toBe(0);
      expect(offset + length).toBeLessThanOrEqual(ttf.length);
      // The checksum of `head` leaves out its own field for the whole file's.
      if (name !== "head") expect(checksum(ttf, offset, length)).toBe(ttf.readUInt32BE(entry + 4));
    }
    expect(names).toEqual(expect.arrayContaining(["cmap", "glyf", "head", "hmtx"]));
  }
});

function checksum(bytes: Buffer, offset: number, length: number): number {
  let sum = 0;
  for (let at = 0; at < length; at += 4) sum = (sum + bytes.readUInt32BE(offset + at)) >>> 0;
  return sum;
}
