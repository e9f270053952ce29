import { intervalLayer, specRow, stepWidth, type ChartKind, type Frame } from "./frame.js";
import type { VegaLiteSpec } from "../render/theme.js";

// Beyond so many, dots are smaller and let others shine through.
const FEW_DOTS = 300;

/** A point per row. */
export const DOT: ChartKind = {
  name: "dot",
  drawn: "dots",
  title: "Scatter plot",
  faded: "hollow",
  sized: false,
  categories: false,
  layers: (frame) =>
    frame.drawing.points.some(({ count }) => count !== undefined) ? [bins(frame)] : layers(frame),
};

/** A shape and a color for each series, incomplete buckets hollow. */
function layers(frame: Frame): VegaLiteSpec[] {
  const { drawing, theme, x, y, color, shape, tooltip } = frame;
  const points = drawing.points.filter((point) => point.y !== null);
  const crowded = points.length > FEW_DOTS;
  const discs = [false, true].flatMap((hollow) => {
    const group = points.filter((point) => drawing.incomplete.has(point.x) === hollow);
    if (group.length === 0) return [];
    return {
      ...frame.data(group.map((point) => specRow(point, frame))),
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
  return [...intervalLayer(frame, points), ...discs];
}

/** A disc for each bin, as large as it holds rows. */
function bins(frame: Frame): VegaLiteSpec {
  const { drawing, x, y, color, tooltip } = frame;
  const largest = Math.max(...drawing.points.map(({ count = 0 }) => count));
  // Rounded down to one digit, and half of it.
  const digit = 10 ** Math.floor(Math.log10(largest));
  const top = Math.floor(largest / digit) * digit;
  const rows = { field: "rows", type: "quantitative" };
  return {
    ...frame.data(drawing.points.map((point) => specRow(point, frame))),
    mark: { type: "circle", opacity: 0.85 },
    encoding: {
      x,
      y,
      color,
      size: {
        ...rows,
        scale: { domain: [0, largest], range: [0, 0.8 * stepWidth(frame) ** 2] },
        legend: { title: "rows", values: [...new Set([1, Math.ceil(top / 2), top])], format: "~s" },
      },
      // Smaller ones on top, where two series share a bin.
      order: { ...rows, sort: "descending" },
      tooltip: [...tooltip, { ...rows, title: "rows", format: "," }],
    },
  };
}
