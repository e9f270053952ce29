import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { georgianFont, inGeorgian } from "../chart/support/georgian-font.js";
import { pdfObjects } from "../chart/support/pdf-objects.js";
import { pdfText, popplerMissing, popplerNote } from "../chart/support/poppler.js";
import { decodePng } from "../chart/support/png-image.js";
import { weeklyCounts } from "../chart/support/sample-results.js";

const WORD = inGeorgian("probelab");
const own = process.env.PROBELAB_FONTS;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "probelab-fonts-"));
  process.env.PROBELAB_FONTS = folder;
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  if (own === undefined) delete process.env.PROBELAB_FONTS;
  else process.env.PROBELAB_FONTS = own;
});

const titled = (title: string) => chart.area(weeklyCounts(), { width: 200, height: 60, title });
const install = (name = "deep/er/Kartuli Sans.ttf"): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, georgianFont());
  return path;
};

describe("a picture with a script that the shipped font has not", () => {
  test("PNG: drawn with the machine's font, as it would be in Latin", async () => {
    const boxes = decodePng(await titled(WORD).png({ scale: 1 }));
    install();
    process.env.PROBELAB_FONTS = join(folder, "deep");
    const drawn = decodePng(await titled(WORD).png({ scale: 1 }));
    const differing = boxes.pixels.filter((value, at) => value !== drawn.pixels[at]).length;
    expect(differing).toBeGreaterThan(200);
  });

  test("PDF: the font is embedded, and no box is drawn", async () => {
    install();
    const pdf = await titled(`x ${WORD} y`).pdf();
    const names = pdfObjects(pdf).flatMap(
      ({ text }) => /\/BaseFont \/\w+\+(\w+)/.exec(text)?.[1] ?? [],
    );
    expect(new Set(names)).toEqual(new Set(["Arimo", "Kartu"]));
    expect((await titled(`x ${WORD} y`).pdf()).equals(pdf)).toBe(true);
  });

  test.skipIf(popplerMissing)(`PDF: the text is still its characters${popplerNote}`, async () => {
    install();
    expect(pdfText(await titled(`Łódź ${WORD} y`).pdf())).toContain(`Łódź ${WORD} y`);
  });
});

test.each(["👨‍👩‍👧‍👦 family", "مرحبا"])(
  "%j ends in a PDF, whatever fonts the machine has",
  async (text) => {
    delete process.env.PROBELAB_FONTS;
    expect((await titled(text).pdf()).toString("latin1", 0, 5)).toBe("%PDF-");
  },
);
