import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderAsync } from "@resvg/resvg-js";
import { fontFiles, needsOtherFont, textWidth } from "../../src/fonts/shipped-font.js";

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

test("words of all the scripts that the font has are drawn whole, as wide as they were measured", async () => {
  const size = 40;
  for (const text of ["Łódź", "Zażółć", "Řeka", "Москва", "Αθήνα", "Việt", "Åben"]) {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="80"><text x="50" y="50" font-family="Arimo" font-size="${size}" kerning="0">${text}|</text></svg>`;
    const image = await renderAsync(svg, {
      font: { fontFiles: fontFiles(), loadSystemFonts: false },
    });
    const { pixels, width, height } = image;
    let right = 0;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if ((pixels[(y * width + x) * 4 + 3] ?? 0) > 128) right = Math.max(right, x);
      }
    }
    // The bar stands in the middle of its width.
    expect(Math.abs(right - (50 + textWidth(text, size) + textWidth("|", size) / 2))).toBeLessThan(
      3,
    );
  }
});
