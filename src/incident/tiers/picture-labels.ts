import { textWidth } from "../../chart/render/font.js";
import type { Box, BoxSize, Point } from "./picture-layout.js";

/** The rules that an arrow breaks, at its curve. */
export interface LabelRow extends Point {
  readonly text: string;
  readonly width: number;
}

export const LABEL_SIZE = 10;
export const LABEL_HEIGHT = 16;
const APART = 2;

// Along the curve and up or down from it, the nearest to its middle first; a label stays
// beside its own arrow.
const PLACES: readonly (readonly [along: number, down: number])[] = [0.5, 0.42, 0.58, 0.34, 0.66]
  .flatMap((along) => [0, -5, 5, -9, 9, -12, 12].map((down) => [along, down] as const))
  .sort((a, b) => cost(a) - cost(b));

/**
 * A label for each way, at its middle, or near it where that would hide another label or a box:
 * ways between the same boxes run side by side, nearer than a label is high.
 */
export function placeLabels(
  ways: readonly { readonly rules: readonly number[]; readonly points: readonly Point[] }[],
  boxes: readonly Box[],
  size: BoxSize,
): LabelRow[] {
  const taken = boxes.map(({ x, y }) => ({ x, y, ...size }));
  return ways.map(({ rules, points }) => {
    const text = `rule ${[...rules].sort((a, b) => a - b).join(", ")}`;
    const width = Math.ceil(textWidth(text, LABEL_SIZE, 700)) + 8;
    const places = PLACES.map(([along, down]) => {
      const { x, y } = onCurve(points, along);
      return { x, y: y + down, width, height: LABEL_HEIGHT };
    });
    const free = places.find((place) => !taken.some((other) => meet(place, other)));
    const { x, y } = free ?? places[0] ?? { x: 0, y: 0 };
    taken.push({ x, y, width, height: LABEL_HEIGHT });
    return { text, width, x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 };
  });
}

function cost([along, down]: readonly [number, number]): number {
  return Math.abs(along - 0.5) * 60 + Math.abs(down);
}

function meet(a: Point & BoxSize, b: Point & BoxSize): boolean {
  return (
    Math.abs(a.x - b.x) < (a.width + b.width) / 2 + APART &&
    Math.abs(a.y - b.y) < (a.height + b.height) / 2 + APART
  );
}

/** A place on the curve as it is drawn: a uniform cubic B-spline over the points, clamped at its ends. */
function onCurve(points: readonly Point[], along: number): Point {
  const last = points.length - 1;
  const at = along * last;
  const knot = Math.min(Math.floor(at), Math.max(0, last - 1));
  const t = at - knot;
  const weights = [
    (1 - t) ** 3,
    3 * t ** 3 - 6 * t ** 2 + 4,
    -3 * t ** 3 + 3 * t ** 2 + 3 * t + 1,
    t ** 3,
  ];
  const place = { x: 0, y: 0 };
  weights.forEach((weight, step) => {
    const point = points[Math.min(last, Math.max(0, knot - 1 + step))] ?? place;
    place.x += (point.x * weight) / 6;
    place.y += (point.y * weight) / 6;
  });
  return place;
}
