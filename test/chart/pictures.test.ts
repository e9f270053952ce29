import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { decodePng, type Image } from "./support/png-image.js";
import { annotations, PICTURES, small } from "./support/pictures.js";
import { weeklyDurations } from "./support/sample-results.js";

const directory = new URL("snapshots/", import.meta.url);
// The same library draws the same pixels; what remains is rounding of blended edges between kinds
// of processor: a channel may differ by 8 of 255, and one pixel in a thousand by more.
const SAME_COLOUR = 8;
const OTHER_PIXELS = 0.001;

describe("pictures look as they did (make them anew with UPDATE_PICTURES=1, then look at them)", () => {
  test.each(Object.entries(PICTURES))("%s", async (name, drawn) => {
    const png = await drawn.png({ scale: 1 });
    const file = fileURLToPath(new URL(`${name}.png`, directory));
    if (process.env.UPDATE_PICTURES) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(file, png);
    }
    expect(existsSync(file), `${file} is missing`).toBe(true);
    const [seen, kept] = [decodePng(png), decodePng(readFileSync(file))];
    expect([seen.width, seen.height]).toEqual([kept.width, kept.height]);
    expect(difference(seen, kept)).toBeLessThan(OTHER_PIXELS);
  });

  test("another colour, another title and a shifted point are seen", async () => {
    const seen = decodePng(await PICTURES["line-light"].png({ scale: 1 }));
    const others = [
      chart.line(weeklyDurations(), { ...small, y: "q50", annotations, theme: "dark" }),
      chart.line(weeklyDurations(), { ...small, y: "q50" }),
    ];
    for (const other of others) {
      const image = decodePng(await other.png({ scale: 1 }));
      if (image.height === seen.height)
        expect(difference(seen, image)).toBeGreaterThan(OTHER_PIXELS);
      else expect(image.height).not.toBe(seen.height);
    }
  });
});

/** Share of the pixels that differ visibly. */
function difference(one: Image, two: Image): number {
  let different = 0;
  for (let at = 0; at < one.pixels.length; at += 4) {
    for (let channel = at; channel < at + 4; channel++) {
      if (Math.abs((one.pixels[channel] ?? 0) - (two.pixels[channel] ?? 0)) <= SAME_COLOUR)
        continue;
      different++;
      break;
    }
  }
  return different / (one.width * one.height);
}
