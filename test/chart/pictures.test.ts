import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { decodePng, OTHER_PIXELS, pixelDifference } from "./support/png-image.js";
import { annotations, PICTURES, small } from "./support/pictures.js";
import { weeklyDurations } from "./support/sample-results.js";

const directory = new URL("snapshots/", import.meta.url);

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
    expect(pixelDifference(seen, kept)).toBeLessThan(OTHER_PIXELS);
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
        expect(pixelDifference(seen, image)).toBeGreaterThan(OTHER_PIXELS);
      else expect(image.height).not.toBe(seen.height);
    }
  });
});
