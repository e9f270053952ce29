import { open, readFile } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { zstdState } from "../../src/load/zstd-frames.js";
import { openDatabase, type TestDatabase } from "./open-database.js";
import { convert, put } from "./write-file.js";

let db: TestDatabase;
const frames: Buffer[] = [];
beforeAll(async () => {
  db = await openDatabase();
  // One frame of a short text, one of equal letters (run-length blocks), one of many blocks.
  const noise = Array.from({ length: 30_000 }, (_, n) => Math.sin(n).toString(36)).join("\n");
  for (const [name, text] of Object.entries({ short: "a\n", equal: "a".repeat(500_000), noise })) {
    const path = await put(db.folder, `${name}.txt`, text);
    const to = { path: `${path}.zst`, format: "TSVRaw", compression: "zstd" };
    frames.push(await readFile(await convert(db.writer, { path, format: "LineAsString" }, to)));
  }
  // A skippable frame of five bytes.
  frames.push(Buffer.from([0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5]));
});
afterAll(() => db[Symbol.asyncDispose]());

async function stateOf(content: Buffer): Promise<string> {
  const file = await open(await put(db.folder, "state.zst", content), "r");
  try {
    return await zstdState(file, content.length);
  } finally {
    await file.close();
  }
}

it("zstdState(file, size) is whole for frames one after the other, cut for every part of them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(frames.length - 1), { minLength: 1, maxLength: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (picks, share) => {
        const parts = picks.map((pick) => frames[pick] ?? Buffer.alloc(0));
        const whole = Buffer.concat(parts);
        expect(await stateOf(whole)).toBe("whole");
        const ends = new Set<number>();
        parts.reduce((end, part) => (ends.add(end + part.length), end + part.length), 0);
        const length = 1 + Math.floor(share * (whole.length - 2));
        if (!ends.has(length)) expect(await stateOf(whole.subarray(0, length))).toBe("cut");
      },
    ),
    { seed: 20260301, numRuns: 200 },
  );
});

it("zstdState(file, size) is damaged where a frame has no magic number", async () => {
  const [short = Buffer.alloc(0)] = frames;
  expect(await stateOf(Buffer.concat([short, Buffer.from("garbage")]))).toBe("damaged");
});
