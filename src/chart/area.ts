import type { Point } from "./rows.js";
import { bucketRow, splitEdges, standingAlone, type Kind, type Plot, layerData } from "./plot.js";
import { oneOf, PLOT_RULES } from "./options.js";
import type { VegaLiteSpec } from "./render/theme.js";
import { shares, stacked, sizes, stepEnds, stepPoints, withMissingSteps } from "./stack.js";

/** Areas along time or numbers, stacked where there are several series; of counts by bucket in steps. */
export const AREA: Kind = {
  name: "area",
  title: "Area chart",
  faded: "faded",
  options: { ...PLOT_RULES, stack: oneOf("sum", "normalize") },
  ...sizes("an area", true),
  categories: false,
  bucketEnds: stepEnds,
  arrange: (given, { stack }) => {
    const rows = withMissingSteps(given);
    return stack === "normalize" ? shares(rows) : stacked(rows);
  },
  layers,
  hover: stepUnderPointer,
};

// Incomplete buckets are faded. A value between two gaps, which no area shows, is a dot.
function layers(plot: Plot): VegaLiteSpec[] {
  const { rows, bucketEnds: steps, theme, x, y, color, tooltip, width } = plot;
  const several = rows.series.length > 1;
  const { whole, before, after } = splitEdges(rows);
  // Lines between areas would hide one that has a step every few pixels.
  const line = rows.xs.length <= width / 5 ? 0.75 : 0;
  // The legend with squares, as an area has no points.
  const legend = color["legend"] !== undefined && {
    legend: { ...(color["legend"] as VegaLiteSpec), symbolType: "square" },
  };
  const layer = (points: readonly Point[], mark: VegaLiteSpec): VegaLiteSpec => ({
    ...layerData(plot, several ? withStackEnds(points) : points),
    mark,
    encoding: {
      x,
      y: { ...y, stack: null, ...(several && { field: "upper" }) },
      ...(several && mark["type"] === "area" && { y2: { field: "lower" } }),
      color: { ...color, ...legend },
      tooltip,
    },
  });
  const area = (points: readonly Point[], faded: boolean): VegaLiteSpec =>
    layer(points, {
      type: "area",
      ...(steps && { interpolate: "step-after" }),
      fillOpacity: (several ? 0.9 : 0.55) * (faded ? 0.4 : 1),
      ...(several
        ? { stroke: theme.background, strokeJoin: "round", strokeWidth: line }
        : { line: { strokeWidth: 2, ...(faded && { strokeDash: [3, 3] }) } }),
    });
  const drawn = (points: readonly Point[], faded: boolean): VegaLiteSpec[] => {
    if (points.length === 0) return [];
    if (steps) {
      const own = faded ? points.filter(({ x }) => rows.incomplete.has(x)) : points;
      return [area(stepPoints(own, steps, several), faded)];
    }
    const alone = standingAlone(points);
    const joined = points.filter((point) => !alone.includes(point));
    // At an edge the complete bucket is there to join: its own part draws it.
    const own = alone.filter(({ x }) => !faded || rows.incomplete.has(x));
    const dot = { type: "point", filled: true, opacity: faded ? 0.4 : 1 };
    return [
      ...(joined.length > 0 ? [area(joined, faded)] : []),
      ...(own.length > 0 ? [layer(own, dot)] : []),
    ];
  };
  return [...drawn(whole, false), ...drawn(before, true), ...drawn(after, true)];
}

/** Points with the lower and the upper end of each in its stack: Vega's own stack takes null for zero. */
function withStackEnds(points: readonly Point[]): Point[] {
  const reached = new Map<Point["x"], number>();
  const ends = new Map<Point, object>();
  // The first of the legend is the top.
  for (const point of points.toSorted((a, b) => b.series - a.series)) {
    const lower = reached.get(point.x) ?? 0;
    const upper = point.y === null ? null : lower + point.y;
    reached.set(point.x, upper ?? lower);
    ends.set(point, { lower, upper });
  }
  return points.map((point) => ({ ...point, extra: { ...point.extra, ...ends.get(point) } }));
}

/** The row of the step under the pointer: Vega's tooltip of an area is that of the nearest start of one. */
function stepUnderPointer(plot: Plot): VegaLiteSpec | undefined {
  if (plot.bucketEnds === undefined) return undefined;
  const { points, series } = plot.rows;
  const several = series.length > 1;
  return {
    ...layerData(plot, several ? withStackEnds(points) : points, bucketRow),
    mark: { type: "bar", orient: "vertical", opacity: 0 },
    encoding: {
      x: plot.x,
      x2: { field: "end" },
      y: { ...plot.y, stack: null, ...(several && { field: "upper" }) },
      ...(several && { y2: { field: "lower" } }),
      tooltip: plot.tooltip,
    },
  };
}
