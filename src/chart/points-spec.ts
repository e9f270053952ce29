import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";
import { stepWidth } from "./step-width.js";

/** The layer of a points chart: a shape and a colour for each series, incomplete buckets hollow. */
export function pointsLayers(frame: Frame): VegaLiteSpec[] {
  if (frame.drawing.points.some(({ count }) => count !== undefined)) return [bins(frame)];
  const { drawing, fields, theme, x, y, colour, shape, tooltip, when } = frame;
  const points = drawing.points.filter((point) => point.y !== null);
  const groups = [false, true].map((hollow) =>
    points.filter((point) => drawing.incomplete.has(point.x) === hollow),
  );
  return groups.flatMap((group, hollow) =>
    group.length === 0
      ? []
      : [
          {
            data: { values: group.map((point) => specRow(point, fields, drawing)) },
            ...(when.length > 0 && { transform: when }),
            mark: {
              type: "point",
              filled: true,
              opacity: points.length > 300 ? 0.6 : 0.9,
              size: points.length > 300 ? 20 : 42,
              ...(hollow && { filled: false, fill: theme.background, strokeWidth: 1.5 }),
            },
            encoding: { x, y, color: colour, ...(shape && { shape }), tooltip },
          },
        ],
  );
}

/** A disc for each bin, as large as it holds rows. */
function bins(frame: Frame): VegaLiteSpec {
  const { drawing, fields, x, y, colour, tooltip, when } = frame;
  const largest = Math.max(...drawing.points.map(({ count = 0 }) => count));
  // Rounded down to one digit, and half of it.
  const digit = 10 ** Math.floor(Math.log10(largest));
  const top = Math.floor(largest / digit) * digit;
  return {
    data: { values: drawing.points.map((point) => specRow(point, fields, drawing)) },
    ...(when.length > 0 && { transform: when }),
    mark: { type: "circle", opacity: 0.85 },
    encoding: {
      x,
      y,
      color: colour,
      size: {
        field: "rows",
        type: "quantitative",
        scale: { domain: [0, largest], range: [0, 0.8 * stepWidth(frame) ** 2] },
        legend: { title: "rows", values: [...new Set([1, Math.ceil(top / 2), top])], format: "~s" },
      },
      // Smaller ones on top, where two series share a bin.
      order: { field: "rows", type: "quantitative", sort: "descending" },
      tooltip: [...tooltip, { field: "rows", type: "quantitative", title: "rows", format: "," }],
    },
  };
}
