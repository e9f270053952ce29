import type { Point } from "./draw-rows.js";
import { intervalLayer, painted, specRow, type ChartKind, type Frame } from "./frame.js";
import type { VegaLiteSpec } from "./render/theme.js";

/** Pixels between the dots of two series at one time. */
const APART = 5;

// Beyond so many, dots are smaller and let others shine through.
const FEW_DOTS = 300;

/** A point per row. */
export const DOT: ChartKind = {
  name: "dot",
  drawn: "dots",
  title: "Scatter plot",
  faded: "hollow",
  marks: "points",
  categories: false,
  layers,
};

/** A shape and a color for each series, incomplete buckets hollow. */
function layers(frame: Frame): VegaLiteSpec[] {
  const { drawing, theme, x, y, color, shape, tooltip } = frame;
  const points = painted(
    drawing.points.filter((point) => point.y !== null),
    frame,
  );
  const count = drawing.series.length;
  // Intervals of the same time stand beside each other; the tooltip has their time.
  const dodged = drawing.ends !== undefined && count > 1 && drawing.roles.xKind === "time";
  const pixel = (frame.domain[1] - frame.domain[0]) / frame.width;
  const row = (point: Point): VegaLiteSpec => {
    if (!dodged) return specRow(point, frame);
    const x = Number(point.x) + (point.series - (count - 1) / 2) * APART * pixel;
    return specRow({ ...point, x: Math.round(x), from: Number(point.x) }, frame);
  };
  const crowded = points.length > FEW_DOTS;
  const discs = [false, true].flatMap((hollow) => {
    const group = points.filter((point) => drawing.incomplete.has(point.x) === hollow);
    if (group.length === 0) return [];
    return {
      ...frame.data(group.map(row)),
      mark: {
        type: "point",
        filled: true,
        opacity: crowded ? 0.6 : 0.9,
        size: crowded ? 20 : 42,
        ...(hollow && { filled: false, fill: theme.background, strokeWidth: 1.5 }),
      },
      encoding: { x, y, color, ...(shape && { shape }), tooltip },
    };
  });
  return [...intervalLayer(frame, points, row), ...discs];
}
