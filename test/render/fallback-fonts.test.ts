import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { readFontFace } from "../../src/fonts/font-face.js";
import { otherFonts, shownText, systemFontFiles } from "../../src/fonts/other-fonts.js";
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

describe("otherFonts(text)", () => {
  test("asks for none where the shipped font has every character, or it is not shown", () => {
    install();
    for (const text of [
      "Łódź Москва Αθήνα שלום Việt … ‘’",
      shownText(`<svg><desc>${WORD}</desc><metadata>${WORD}</metadata><text x="1">a</text></svg>`),
      "zero\u200bwidth \u200f\u202e marks\ufeff \u00a0 \ufffd \u0001",
    ]) {
      expect(otherFonts(text, "PNG")).toEqual([]);
    }
  });

  test("finds the font that has the characters", () => {
    const path = install();
    writeFileSync(join(folder, "broken.ttf"), "no font");
    writeFileSync(join(folder, "cut.otf"), georgianFont().subarray(0, 200));
    writeFileSync(join(folder, "notes.txt"), georgianFont());
    const faces = otherFonts(`${WORD} 東京 a 東`, "PNG");
    expect(faces.map((face) => face.path)).toEqual([path]);
    expect(faces[0]?.has(WORD.codePointAt(0) ?? 0)).toBe(true);
    expect(faces[0]?.has(0x61)).toBe(false);
  });

  test("takes as few fonts as it can, those made for text first", () => {
    for (const name of ["Mono.ttf", "Kartu Sans Bold.ttf", "Kartu Sans Regular.ttf", "unifont.ttf"])
      install(name);
    const faces = otherFonts(WORD, "PNG");
    expect(faces.map((face) => face.path)).toEqual([join(folder, "Kartu Sans Regular.ttf")]);
  });
});

test("PROBELAB_FONTS names folders, separated as in PATH; empty there is no font", () => {
  const path = install();
  process.env.PROBELAB_FONTS = [join(folder, "absent"), join(folder, "deep")].join(delimiter);
  expect(systemFontFiles()).toEqual([path]);
  process.env.PROBELAB_FONTS = "";
  expect(systemFontFiles()).toEqual([]);
});

test("readFontFace(path) reads a collection by its first face's name", () => {
  const font = georgianFont();
  const shifted = Buffer.from(font);
  const head = Buffer.alloc(16);
  head.write("ttcf", 0, "latin1");
  head.writeUInt32BE(0x00010000, 4);
  head.writeUInt32BE(1, 8);
  head.writeUInt32BE(16, 12);
  for (let index = 0; index < font.readUInt16BE(4); index++) {
    const at = 12 + index * 16 + 8;
    shifted.writeUInt32BE(font.readUInt32BE(at) + 16, at);
  }
  const path = join(folder, "Kartu.ttc");
  writeFileSync(path, Buffer.concat([head, shifted]));
  const face = readFontFace(path);
  expect(face.family).toMatch(/^Kartu/);
  expect(face.has(0x10d0)).toBe(true);
});

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

describe("a warning names what no font has", () => {
  /** The warnings of texts that are drawn one after the other by a new process. */
  async function warnings(...drawn: (readonly [string, "PNG" | "PDF"])[]): Promise<string[]> {
    vi.resetModules();
    const fonts = await import("../../src/fonts/other-fonts.js");
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    for (const [text, format] of drawn) fonts.otherFonts(text, format);
    const said = warn.mock.calls.map(([warning]) => String(warning));
    warn.mockRestore();
    return said;
  }

  test.each([
    ["東京", "PNG", /The PNG shows boxes for "東京", .*\(on Debian fonts-noto-cjk\)/],
    ["ก", "PDF", /The PDF .*fonts-noto-core/],
    ["😀東", "PNG", /fonts-noto-color-emoji and fonts-noto-cjk/],
    ["ꀀꀁꀂꀃꀄꀅꀆꀇꀈꀉ", "PNG", /"ꀀꀁꀂꀃꀄꀅꀆꀇ" and 2 more/],
  ] as const)("%j in a %s", async (text, format, sentence) => {
    const [said, ...more] = await warnings([text, format]);
    expect(more).toEqual([]);
    expect(said).toMatch(sentence);
    expect(said?.split(/\. /)).toHaveLength(1);
  });

  test("once for each package that helps, and format", async () => {
    const said = await warnings(["東", "PNG"], ["京", "PNG"], ["ก", "PNG"], ["東", "PDF"]);
    expect(said).toHaveLength(3);
  });
});
