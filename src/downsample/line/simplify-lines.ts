import { CostHeap } from "./cost-heap.js";
import { Polyline } from "./polyline.js";

/** A line to be drawn with fewer corners. */
export interface LineCorners {
  /** Pixel column of each corner, with its fraction; ascending. */
  readonly x: Float64Array;
  /** Height of each corner in pixels. */
  readonly y: Float64Array;
  /** 1 where a gap follows the corner. */
  readonly breaks: Uint8Array;
  /** 1 where the corner must stay. */
  readonly fixed: Uint8Array;
}

/** A corner whose absence changes less than this, in pixels, is not kept though there is room. */
const WORTHLESS = 0.01;

/**
 * Takes corners out of several lines until at most `budget` are left in all of them, each time the
 * one whose absence changes the fewest pixels. So a flat or short line gives its share away. Then
 * those go that change next to nothing. More than `budget` stay where more are fixed.
 *
 * @param columns width of the picture in pixel columns.
 * @returns for each line, 1 where the corner stays.
 */
export function simplifyLines(
  lines: readonly LineCorners[],
  columns: number,
  budget: number,
): Uint8Array[] {
  const polylines = lines.map((line) => new Polyline(line.x, line.y, line.breaks, columns));
  const kept = lines.map((line) => new Uint8Array(line.x.length).fill(1));
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.x.length);
  let left = starts.at(-1)!;
  const lineOf = new Int32Array(left);
  const heap = new CostHeap(left);
  lines.forEach((line, number) => {
    const start = starts[number]!;
    lineOf.fill(number, start, starts[number + 1]);
    for (let i = 1; i + 1 < line.x.length; i++) {
      if (line.fixed[i] === 0) heap.set(start + i, polylines[number]!.cost(i));
    }
  });
  while (left > budget || heap.least() < WORTHLESS) {
    const item = heap.pop();
    if (item < 0) break;
    const number = lineOf[item]!;
    const start = starts[number]!;
    const line = polylines[number]!;
    const corner = item - start;
    const before = line.previous(corner);
    const after = line.next(corner);
    line.remove(corner);
    kept[number]![corner] = 0;
    left--;
    for (const near of [before, after, line.previous(before), line.next(after)]) {
      if (near >= 0 && heap.has(start + near)) heap.set(start + near, line.cost(near));
    }
  }
  return kept;
}
