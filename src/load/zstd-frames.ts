import type { FileHandle } from "node:fs/promises";

const MAGIC = 0xfd2fb528;

/**
 * Whether a zstd file ends where its last frame does. The engine takes the rows of a file that
 * lacks its last bytes without a word, so the frames are walked by their headers; the content is
 * skipped, and its damage left to the engine's checksums.
 *
 * Format: RFC 8878, sections 3.1.1 (frames, blocks) and 3.1.2 (skippable frames).
 */
export async function zstdState(
  file: FileHandle,
  size: number,
): Promise<"whole" | "cut" | "damaged"> {
  const read = windowReader(file, size);
  let at = 0;
  while (at < size) {
    const magic = await read(at, 4);
    if (magic === null) return "cut";
    const number = magic.readUInt32LE();
    if (number >>> 4 === 0x184d2a5) {
      const length = await read(at + 4, 4);
      if (length === null) return "cut";
      at += 8 + length.readUInt32LE();
      continue;
    }
    if (number !== MAGIC) return "damaged";
    const descriptor = (await read(at + 4, 1))?.readUInt8();
    if (descriptor === undefined) return "cut";
    at += 5 + headerBytes(descriptor);
    for (let last = false; !last;) {
      const header = (await read(at, 3))?.readUIntLE(0, 3);
      if (header === undefined) return "cut";
      last = (header & 1) === 1;
      const type = (header >> 1) & 3;
      if (type === 3) return "damaged";
      // A run-length block is one byte, however long its content.
      at += 3 + (type === 1 ? 1 : header >>> 3);
    }
    if (descriptor & 0b100) at += 4; // the checksum
  }
  return at === size ? "whole" : "cut";
}

/** Bytes of the frame header after its descriptor. */
function headerBytes(descriptor: number): number {
  const single = (descriptor >> 5) & 1;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const content = [single, 2, 4, 8][descriptor >> 6] ?? 0;
  return (single ? 0 : 1) + dictionary + content;
}

/** Reads a few bytes at an offset, from a window that is filled as rarely as can be. */
function windowReader(file: FileHandle, size: number) {
  const window = Buffer.alloc(1 << 20);
  let start = 0;
  let length = 0;
  return async (at: number, bytes: number): Promise<Buffer | null> => {
    if (at + bytes > size) return null;
    if (at < start || at + bytes > start + length) {
      start = at;
      length = (await file.read(window, 0, window.length, at)).bytesRead;
      if (length < bytes) return null;
    }
    return window.subarray(at - start, at - start + bytes);
  };
}
