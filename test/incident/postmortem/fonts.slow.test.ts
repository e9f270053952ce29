import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chart } from "../../../src/chart/chart.js";
import {
  MANIFEST,
  sha256,
  type Manifest,
} from "../../../src/incident/postmortem/folder/manifest.js";
import type { PostmortemRecord } from "../../../src/incident/postmortem/record.js";
import { verificationText } from "../../../src/incident/postmortem/verify/texts.js";
import { isAsSaved, verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
import { georgianFont, inGeorgian } from "../../chart/support/georgian-font.js";
import { weeklyCounts } from "../../chart/support/sample-results.js";
import { NOW, report } from "./report.js";

const WORD = inGeorgian("measurement");
const own = process.env.PROBELAB_FONTS;
let parent = "";
let saved = "";

const georgian = () => {
  const title = `${WORD} by week`;
  const content = chart.area(weeklyCounts(), { width: 300, height: 90, title });
  return report().add(content, { name: "georgian" });
};
const fonts = (name: string): string => {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};
const read = <T>(folder: string, path: string): T =>
  JSON.parse(readFileSync(join(folder, path), "utf8")) as T;

/** The lines of a verification where the machine has the fonts of a folder, and no others. */
async function verified(folder: string, machine: string) {
  process.env.PROBELAB_FONTS = machine;
  const verification = await verifyPostmortem(folder);
  const lines = verificationText(verification).trimEnd().split("\n").slice(1);
  return { lines, asSaved: isAsSaved(verification), redrawn: verification.redrawn };
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "probelab-fonts-"));
  writeFileSync(join(fonts("own"), "Kartu.ttf"), georgianFont());
  process.env.PROBELAB_FONTS = fonts("own");
  saved = await georgian().save(join(parent, "saved"), { now: NOW });
});
beforeEach(() => {
  process.env.PROBELAB_FONTS = fonts("own");
});
afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
  if (own === undefined) delete process.env.PROBELAB_FONTS;
  else process.env.PROBELAB_FONTS = own;
});

describe("a postmortem with characters that the shipped font has not", () => {
  test("records the family and the hash of the font that drew them, and no font where none did", async () => {
    const { versions } = read<PostmortemRecord>(saved, "postmortem.json");
    expect(versions).toEqual({
      probelab: expect.any(String) as string,
      node: process.versions.node,
      "font Kartu": sha256(georgianFont()),
    });
    expect(read<Manifest>(saved, MANIFEST).versions).toEqual(versions);
    const plain = await report().save(join(parent, "plain"), { now: NOW });
    expect(Object.keys(read<Manifest>(plain, MANIFEST).versions)).toEqual(["probelab", "node"]);
  });

  test("is the same picture where the same font is, wherever it lies", async () => {
    mkdirSync(join(fonts("moved"), "deep"), { recursive: true });
    writeFileSync(join(parent, "moved", "deep", "another name.ttf"), georgianFont());
    for (const machine of ["own", "moved"]) {
      const { lines, asSaved } = await verified(saved, fonts(machine));
      expect(asSaved).toBe(true);
      expect(lines).toContain("ok        4 charts drawn again from data/: the same pictures");
      expect(lines.at(-1)).toBe("The postmortem is as it was saved.");
    }
  });

  test("is compared by hash alone where no such font is, in the pictures that need it, and says so", async () => {
    const { lines, asSaved, redrawn } = await verified(saved, fonts("empty"));
    expect(asSaved).toBe(true);
    expect(lines).toContain("ok        3 charts drawn again from data/: the same pictures");
    expect(lines).toContain(
      "skipped   2 files that other versions of probelab or Node, or other fonts, write with other bytes: charts/georgian.png, postmortem.pdf",
    );
    expect(lines.at(-1)).toBe(
      "The postmortem is as it was saved, as far as this version and its fonts can tell: 2 files were compared by hash alone.",
    );
    expect(redrawn.filter(({ state }) => state !== "same")).toHaveLength(2);
  });

  test("was saved where no font had them: another font here is no fault of it", async () => {
    process.env.PROBELAB_FONTS = fonts("empty");
    const boxes = await georgian().save(join(parent, "boxes"), { now: NOW });
    expect((await verified(boxes, fonts("empty"))).lines.at(-1)).toBe(
      "The postmortem is as it was saved.",
    );
    const { lines, asSaved } = await verified(boxes, fonts("own"));
    expect(asSaved).toBe(true);
    expect(lines.join("\n")).toMatch(/or other fonts, write .*: charts\/georgian\.png, postmortem/);
  });

  test("without other fonts is told pixel by pixel, wherever it is looked at", async () => {
    process.env.PROBELAB_FONTS = fonts("own");
    const folder = await georgian().save(join(parent, "swapped"), { now: NOW });
    const manifest = read<Manifest>(folder, MANIFEST);
    const bytes = readFileSync(join(folder, "charts", "free.png"));
    writeFileSync(join(folder, "charts", "counts.png"), bytes);
    manifest.files["charts/counts.png"] = { sha256: sha256(bytes), bytes: bytes.length };
    writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest));
    const { lines, asSaved } = await verified(folder, fonts("empty"));
    expect(asSaved).toBe(false);
    expect(lines.join("\n")).toMatch(/^DIFFERS +charts\/counts\.png/m);
  });
});
