import type { Drawing, Point } from "./draw-rows.js";
import {
  pointsBySeries,
  specRow,
  splitEdges,
  stepWidth,
  type ChartKind,
  type Frame,
} from "./frame.js";
import { areasOfSteps, nearestEdges } from "./hover.js";
import type { DrawOptions } from "./options.js";
import type { VegaLiteSpec } from "../render/theme.js";
import { shares, stacked, stackOrder } from "./stack.js";
import { lastEnd, stepEnds, stepPoints } from "./steps.js";

/** Pixels of the line between two areas, and of the thinnest area that it leaves enough of. */
const SEPARATOR = 0.75;
const THINNEST = 3;

/** Width of the column that stands for a value without a neighbour: a share of its bucket's. */
const COLUMN = 0.6;
/** Pixels of the narrowest one, and of the only one of a chart. */
const NARROWEST = 2;
const LONE = 40;

// What is counted by bucket is so in all of it, not on its way to the next.
const ends = (drawing: Drawing, timeZone: string, options: DrawOptions) =>
  stepEnds(
    drawing,
    timeZone,
    options,
    drawing.every !== undefined && drawing.roles.measure?.additive === true,
  );

/** Areas along time or numbers, stacked where there are several series; of counts by bucket in steps. */
export const AREA: ChartKind = {
  name: "area",
  drawn: "an area",
  title: "Area chart",
  faded: "faded",
  sized: true,
  categories: false,
  end: (drawing, timeZone, options) => lastEnd(ends(drawing, timeZone, options)),
  arrange: (drawing, { stack }) => (stack === "normalize" ? shares(drawing) : drawing),
  layers,
  hover: (frame) => {
    const drawing = stacked(frame.drawing);
    const steps = ends(drawing, frame.timeZone, frame.options);
    return steps ? areasOfSteps(frame, drawing, steps) : nearestEdges(frame, drawing);
  },
};

// Incomplete buckets are faded. Values that no area can show, as it joins neighbours, are narrow
// columns.
function layers(frame: Frame): VegaLiteSpec[] {
  const { theme, x, y, color, tooltip } = frame;
  const drawing = stacked(frame.drawing);
  const { whole, before, after } = splitEdges(drawing);
  const steps = ends(drawing, frame.timeZone, frame.options);
  const several = drawing.series.length > 1;
  const { rank, order } = stackOrder(drawing);
  const separated = several && isSeparable(drawing, frame);
  const outline = { stroke: theme.background, strokeJoin: "round" };
  const layer = (points: readonly Point[], mark: VegaLiteSpec): VegaLiteSpec => ({
    ...frame.data(points.map((point) => ({ ...specRow(point, frame), ...rank(point) }))),
    mark,
    encoding: {
      x,
      y: { ...y, stack: several ? "zero" : null },
      color: squares(color),
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
        ? { ...outline, strokeWidth: separated ? SEPARATOR : 0 }
        : { line: { strokeWidth: 2, ...(faded && { strokeDash: [3, 3] }) } }),
    });
  const columns = (points: readonly Point[], faded: boolean): VegaLiteSpec =>
    layer(points, {
      type: "bar",
      orient: "vertical",
      size: drawing.xs.length === 1 ? LONE : Math.max(NARROWEST, COLUMN * stepWidth(frame)),
      // Half of one at the edge, which would cover the labels of the axis.
      clip: true,
      fillOpacity: 0.9 * (faded ? 0.4 : 1),
      ...(separated && { ...outline, strokeWidth: SEPARATOR }),
    });
  const drawn = (points: readonly Point[], faded: boolean): VegaLiteSpec[] => {
    if (points.length === 0) return [];
    if (steps) {
      const own = faded ? points.filter(({ x }) => drawing.incomplete.has(x)) : points;
      return [area(stepPoints(own, steps, several), faded)];
    }
    const alone = standingAlone(points);
    const joined = points.filter((point) => !alone.has(point));
    // At an edge the complete bucket is there to join: its own part draws it.
    const own = [...alone].filter((point) => !faded || drawing.incomplete.has(point.x));
    return [
      ...(joined.some(({ y }) => y !== null) || own.length === 0 ? [area(joined, faded)] : []),
      ...(own.length > 0 ? [columns(own, faded)] : []),
    ];
  };
  return [...drawn(whole, false), ...drawn(before, true), ...drawn(after, true)];
}

/** The values between two gaps, or the only ones of their series: an area needs two neighbours. */
export function standingAlone(points: readonly Point[]): Set<Point> {
  const alone = new Set<Point>();
  for (const own of pointsBySeries(points).values()) {
    own.forEach((point, index) => {
      const joined = [own[index - 1], own[index + 1]].some((next) => (next?.y ?? null) !== null);
      if (point.y !== null && !joined) alone.add(point);
    });
  }
  // In the order of the points, which stacks and legends follow.
  return new Set(points.filter((point) => alone.has(point)));
}

// Whether lines between the areas leave enough of each: they would hide an area that is as thin as
// they are, or that has a step every few pixels.
function isSeparable({ points, xs }: Drawing, { width, height }: Frame): boolean {
  if (xs.length > width / 5) return false;
  const totals = new Map<number | string, number>();
  for (const { x, y } of points) totals.set(x, (totals.get(x) ?? 0) + Number(y));
  const thinnest = (THINNEST / height) * Math.max(0, ...totals.values());
  return points.every(({ y }) => y === 0 || Number(y) >= thinnest);
}

/** The colors' legend with squares, as an area has no points. */
function squares(color: VegaLiteSpec): VegaLiteSpec {
  if (color.legend === undefined) return color;
  return { ...color, legend: { ...color.legend, symbolType: "square" } };
}
