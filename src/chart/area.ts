import type { Point } from "./draw-rows.js";
import {
  bucketRow,
  specRow,
  splitEdges,
  standingAlone,
  type ChartKind,
  type Frame,
} from "./frame.js";
import type { VegaLiteSpec } from "./render/theme.js";
import { shares, stacked, stackOrder, stepEnds, stepPoints, withMissing } from "./stack.js";

/** Areas along time or numbers, stacked where there are several series; of counts by bucket in steps. */
export const AREA: ChartKind = {
  name: "area",
  drawn: "an area",
  title: "Area chart",
  faded: "faded",
  marks: "sizes",
  everyBucket: true,
  categories: false,
  ends: stepEnds,
  arrange: (given, { stack }) => {
    const drawing = withMissing(given);
    return stack === "normalize" ? shares(drawing) : drawing;
  },
  layers,
  hover: stepUnderPointer,
};

// Incomplete buckets are faded. A value between two gaps, which no area shows, is a dot.
function layers(frame: Frame): VegaLiteSpec[] {
  const { theme, x, y, color, tooltip, width } = frame;
  const drawing = stacked(frame.drawing);
  const { whole, before, after } = splitEdges(drawing);
  const { ends: steps } = frame;
  const several = drawing.series.length > 1;
  const { rank, order } = stackOrder(drawing);
  // Lines between areas would hide one that has a step every few pixels.
  const line = drawing.xs.length <= width / 5 ? 0.75 : 0;
  // The legend with squares, as an area has no points.
  const legend = color["legend"] !== undefined && {
    legend: { ...(color["legend"] as VegaLiteSpec), symbolType: "square" },
  };
  const layer = (points: readonly Point[], mark: VegaLiteSpec): VegaLiteSpec => ({
    ...frame.data(points.map((point) => ({ ...specRow(point, frame), ...rank(point) }))),
    mark,
    encoding: {
      x,
      y: { ...y, stack: several ? "zero" : null },
      color: { ...color, ...legend },
      ...order,
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
      const own = faded ? points.filter(({ x }) => drawing.incomplete.has(x)) : points;
      return [area(stepPoints(own, steps, several), faded)];
    }
    const alone = standingAlone(points);
    const joined = points.filter((point) => !alone.includes(point));
    // At an edge the complete bucket is there to join: its own part draws it.
    const own = alone.filter(({ x }) => !faded || drawing.incomplete.has(x));
    const dot = { type: "point", filled: true, opacity: faded ? 0.4 : 1 };
    return [
      ...(joined.length > 0 ? [area(joined, faded)] : []),
      ...(own.length > 0 ? [layer(own, dot)] : []),
    ];
  };
  return [...drawn(whole, false), ...drawn(before, true), ...drawn(after, true)];
}

/** The row of the step under the pointer: Vega's tooltip of an area is that of the nearest start of one. */
function stepUnderPointer(frame: Frame): VegaLiteSpec | undefined {
  if (frame.ends === undefined) return undefined;
  const drawing = stacked(frame.drawing);
  const { rank, order } = stackOrder(drawing);
  return {
    ...frame.data(drawing.points.map((point) => ({ ...bucketRow(point, frame), ...rank(point) }))),
    mark: { type: "bar", orient: "vertical", opacity: 0 },
    encoding: {
      x: frame.x,
      x2: { field: "end" },
      y: { ...frame.y, stack: drawing.series.length > 1 ? "zero" : null },
      ...(frame.fields.series !== undefined && { detail: { field: frame.fields.series } }),
      ...order,
      tooltip: frame.tooltip,
    },
  };
}
