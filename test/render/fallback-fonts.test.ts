import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chart } from "../../src/index.js";
import { georgianFont, inGeorgian } from "../chart/support/georgian-font.js";
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
});
