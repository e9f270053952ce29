import { decode } from "fast-png";

// The same library draws the same pixels; what remains is rounding of blended edges between kinds of
// processor: a channel may differ by 8 of 255.
const SAME_COLOUR = 8;

/**
 * Share of the pixels of two PNG pictures that differ visibly, from 0 to 1; 1 where their sizes
 * differ, or one of them is no PNG.
 */
export function pictureDifference(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [pixels(one), pixels(other)];
  if (a === null || b === null || a.width !== b.width || a.height !== b.height) return 1;
  if (a.channels !== b.channels || a.depth !== b.depth) return 1;
  let different = 0;
  for (let at = 0; at < a.data.length; at += a.channels) {
    for (let channel = 0; channel < a.channels; channel++) {
      if (Math.abs((a.data[at + channel] ?? 0) - (b.data[at + channel] ?? 0)) > SAME_COLOUR) {
        different++;
        break;
      }
    }
  }
  return different / (a.width * a.height);
}

function pixels(png: Uint8Array) {
  try {
    return decode(png);
  } catch {
    return null;
  }
}
