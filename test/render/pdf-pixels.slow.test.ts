import { describe, expect, test } from "vitest";
import { PICTURES } from "../chart/support/pictures.js";
import { decodePng } from "../chart/support/png-image.js";
import { pdfPixels, popplerMissing, popplerNote } from "../chart/support/poppler.js";

const SCALE = 2;
// Two programs draw: edges and the strength of letters differ. Means of blocks of 4 CSS pixels show
// what is missing, moved or of another colour.
const BLOCK = 8;
const SAME_COLOUR = 26;
const OTHER_BLOCKS = 0.01;

interface Pixels {
  readonly width: number;
  readonly height: number;
  at(x: number, y: number, channel: number): number;
}

describe.skipIf(popplerMissing)(`a PDF is the same picture as the PNG${popplerNote}`, () => {
  test.each(["explore", "area-dark", "line-annotations", "heatmap-hours", "free-layers"] as const)(
    "%s",
    async (name) => {
      const drawn = PICTURES[name];
      const [png, pdf] = [await pngOf(drawn), pdfOf(await drawn.pdf())];
      expect(Math.abs(png.width - pdf.width)).toBeLessThanOrEqual(1);
      expect(Math.abs(png.height - pdf.height)).toBeLessThanOrEqual(1);
      expect(otherBlocks(png, pdf)).toBeLessThan(OTHER_BLOCKS);
    },
  );
});

async function pngOf(drawn: (typeof PICTURES)[keyof typeof PICTURES]): Promise<Pixels> {
  const { width, height, pixels } = decodePng(await drawn.png({ scale: SCALE }));
  return { width, height, at: (x, y, channel) => pixels[(y * width + x) * 4 + channel] ?? 0 };
}

function pdfOf(pdf: Buffer): Pixels {
  const { width, height, pixels } = pdfPixels(pdf, SCALE);
  return { width, height, at: (x, y, channel) => pixels[(y * width + x) * 3 + channel] ?? 0 };
}

/** Share of the blocks whose mean differs in a channel. */
function otherBlocks(one: Pixels, two: Pixels): number {
  const columns = Math.floor(Math.min(one.width, two.width) / BLOCK);
  const rows = Math.floor(Math.min(one.height, two.height) / BLOCK);
  let other = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const differs = [0, 1, 2].some(
        (channel) =>
          Math.abs(mean(one, column, row, channel) - mean(two, column, row, channel)) > SAME_COLOUR,
      );
      if (differs) other++;
    }
  }
  return other / (columns * rows);
}

function mean(picture: Pixels, column: number, row: number, channel: number): number {
  let sum = 0;
  for (let y = 0; y < BLOCK; y++) {
    for (let x = 0; x < BLOCK; x++) {
      sum += picture.at(column * BLOCK + x, row * BLOCK + y, channel);
    }
  }
  return sum / BLOCK ** 2;
}
