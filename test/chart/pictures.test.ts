import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { decodePng, OTHER_PIXELS, pixelDifference } from "./support/png-image.js";
import { PICTURES } from "./support/pictures.js";

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
});
