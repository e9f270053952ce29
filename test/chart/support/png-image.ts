import { inflateSync } from "node:zlib";

/** A decoded PNG: 4 bytes (red, green, blue, alpha) a pixel. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** The chunks of a PNG, by type. */
export function pngChunks(png: Buffer): { type: string; data: Buffer; crc: number }[] {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString("latin1", at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
      crc: png.readUInt32BE(at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

/** Decodes a PNG of 8-bit RGBA or RGB, not interlaced, as resvg and Chromium write. */
export function decodePng(png: Buffer): Image {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = { 2: 3, 6: 4 }[png[25] ?? 0];
  if (png[24] !== 8 || channels === undefined || png[28] !== 0) {
    throw new TypeError("Not 8-bit RGBA or RGB");
  }
  const data = pngChunks(png).filter(({ type }) => type === "IDAT");
  const raw = inflateSync(Buffer.concat(data.map((chunk) => chunk.data)));
  const stride = width * channels;
  const pixels = new Uint8Array(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)] ?? 0;
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column >= channels ? (pixels[at - channels] ?? 0) : 0;
      const up = row > 0 ? (pixels[at - stride] ?? 0) : 0;
      const corner = row > 0 && column >= channels ? (pixels[at - stride - channels] ?? 0) : 0;
      let guess = 0;
      if (filter === 1) guess = left;
      else if (filter === 2) guess = up;
      else if (filter === 3) guess = (left + up) >> 1;
      else if (filter === 4) guess = paeth(left, up, corner);
      pixels[at] = (raw[row * (stride + 1) + 1 + column] ?? 0) + guess;
    }
  }
  return { width, height, pixels: channels === 4 ? pixels : opaque(pixels) };
}

function opaque(pixels: Uint8Array): Uint8Array {
  const full = new Uint8Array((pixels.length / 3) * 4).fill(255);
  for (let at = 0; at < pixels.length; at++) full[at + Math.floor(at / 3)] = pixels[at] ?? 0;
  return full;
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [toLeft, toUp] = [Math.abs(estimate - left), Math.abs(estimate - up)];
  const toCorner = Math.abs(estimate - corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

// The same library draws the same pixels; what remains is rounding of blended edges between kinds
// of processor: a channel may differ by 8 of 255, and one pixel in a thousand by more.
const SAME_COLOUR = 8;
export const OTHER_PIXELS = 0.001;

/** Share of the pixels that differ visibly. */
export function pixelDifference(one: Image, two: Image): number {
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
