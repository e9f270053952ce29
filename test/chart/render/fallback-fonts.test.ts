import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chart } from "../../../src/index.js";
import { weeklyCounts } from "../support/sample-results.js";

// Debian: fonts-dejavu-core.
const DEJAVU = "/usr/share/fonts/truetype/dejavu";
const missing = existsSync(join(DEJAVU, "DejaVuSans.ttf")) ? "" : ` (skipped: no ${DEJAVU})`;
const own = process.env.PROBELAB_FONTS;
let empty = "";

beforeEach(() => {
  empty = mkdtempSync(join(tmpdir(), "probelab-fonts-"));
});
afterEach(() => {
  rmSync(empty, { recursive: true, force: true });
  if (own === undefined) delete process.env.PROBELAB_FONTS;
  else process.env.PROBELAB_FONTS = own;
});

test.skipIf(missing !== "")(
  `PNG draws a script that the shipped font hasn't with a font of PROBELAB_FONTS${missing}`,
  async () => {
    const drawn = async (folder: string) => {
      process.env.PROBELAB_FONTS = folder;
      const titled = chart.area(weeklyCounts(), { width: 200, height: 60, title: "პრობელაბი" });
      return titled.png({ scale: 1 });
    };
    const [boxes, letters] = [await drawn(empty), await drawn(DEJAVU)];
    expect(letters.equals(boxes)).toBe(false);
  },
);
