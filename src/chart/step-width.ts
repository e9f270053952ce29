import type { Frame } from "./frame.js";

const WIDEST = 24;

/** Pixels between two neighbouring places along x, where they are nearest; at most 24. */
export function stepWidth({ drawing, domain: [start, end], width }: Frame): number {
  const xs = drawing.xs.map(Number);
  if (xs.length < 2 || start === end) return WIDEST;
  const gaps = xs.slice(1).map((x, index) => x - (xs[index] ?? 0));
  const narrowest = gaps.reduce((least, gap) => Math.min(least, gap), end - start);
  return Math.min(WIDEST, (narrowest / (end - start)) * width);
}
