import type { Point } from "./draw-rows.js";

/** Points of an area, those apart that it can't draw: an area needs two neighbours. */
export interface AreaParts {
  readonly joined: readonly Point[];
  /** Between two gaps, or the only one of their series. */
  readonly alone: readonly Point[];
}

/** Takes the values that no neighbour joins out of the points, whose gaps stay where they are. */
export function standingAlone(points: readonly Point[]): AreaParts {
  const bySeries = new Map<number, Point[]>();
  for (const point of points) {
    const own = bySeries.get(point.series);
    if (own) own.push(point);
    else bySeries.set(point.series, [point]);
  }
  const alone = new Set<Point>();
  for (const own of bySeries.values()) {
    own.forEach((point, index) => {
      const joined = [own[index - 1], own[index + 1]].some((next) => (next?.y ?? null) !== null);
      if (point.y !== null && !joined) alone.add(point);
    });
  }
  return {
    joined: points.filter((point) => !alone.has(point)),
    alone: points.filter((point) => alone.has(point)),
  };
}
