import type { Drawing, Point } from "./draw-rows.js";

/** The points of a line or an area, those of incomplete buckets apart. */
export interface Parts {
  /** Points of complete buckets. */
  readonly whole: readonly Point[];
  /** From the first incomplete buckets to the first complete one. */
  readonly before: readonly Point[];
  /** From the last complete bucket to the incomplete ones after it. */
  readonly after: readonly Point[];
}

/**
 * Cuts the points where incomplete buckets begin and end. The complete bucket beside them is in
 * both parts, so that the parts join.
 */
export function splitEdges({ points, xs, incomplete }: Drawing): Parts {
  if (incomplete.size === 0) return { whole: points, before: [], after: [] };
  const complete = xs.map((x) => !incomplete.has(x));
  const first = complete.indexOf(true);
  const last = complete.lastIndexOf(true);
  if (first < 0) return { whole: [], before: points, after: [] };
  const at = new Map(xs.map((x, index) => [x, index]));
  const within = (from: number, to: number): Point[] =>
    points.filter(({ x }) => {
      const index = at.get(x) ?? -1;
      return index >= from && index <= to;
    });
  return {
    whole: within(first, last),
    before: first > 0 ? within(0, first) : [],
    after: last < xs.length - 1 ? within(last, xs.length - 1) : [],
  };
}
