import { decode } from "fast-png";

/** How two pictures differ. */
export interface PictureDifference {
  /** Pixels that differ visibly. */
  readonly pixels: number;
  /** Their share of all, from 0 to 1. */
  readonly share: number;
  /** False where the difference is more than rounding. */
  readonly same: boolean;
}

// The same library draws the same pixels; what remains is rounding of blended edges between kinds of
// processor: a channel may differ by 8 of 255, and here and there one by more. A digit that was
// changed is small against the picture, but not against a tile of it.
const SAME_COLOUR = 8;
const TILE = 32;
const OTHER_OF_TILE = 16;
const OTHER_SHARE = 0.001;

/** Compares two PNG pictures; those of different sizes, and what is no PNG, differ as a whole. */
export function pictureDifference(one: Uint8Array, other: Uint8Array): PictureDifference {
  const [a, b] = [pixels(one), pixels(other)];
  if (a?.width !== b?.width || a?.height !== b?.height || a?.channels !== b?.channels || !a || !b) {
    return { pixels: a ? a.width * a.height : 0, share: 1, same: false };
  }
  const columns = Math.ceil(a.width / TILE);
  const tiles = new Uint32Array(columns * Math.ceil(a.height / TILE));
  let different = 0;
  for (let pixel = 0; pixel < a.width * a.height; pixel++) {
    const at = pixel * a.channels;
    let differs = false;
    for (let channel = 0; channel < a.channels; channel++) {
      differs ||= Math.abs((a.data[at + channel] ?? 0) - (b.data[at + channel] ?? 0)) > SAME_COLOUR;
    }
    if (!differs) continue;
    different++;
    const tile =
      Math.floor(Math.floor(pixel / a.width) / TILE) * columns +
      Math.floor((pixel % a.width) / TILE);
    tiles[tile] = (tiles[tile] ?? 0) + 1;
  }
  const share = different / (a.width * a.height);
  const same = share <= OTHER_SHARE && tiles.every((count) => count <= OTHER_OF_TILE);
  return { pixels: different, share, same };
}

function pixels(png: Uint8Array) {
  try {
    const picture = decode(png);
    return picture.depth === 8 ? picture : null;
  } catch {
    return null;
  }
}
