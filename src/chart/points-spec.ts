import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";

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

// The finest bin is 6 pixels wide: a full disc just fills it.
const BIN_AREAS = [2, 36];

/** A disc for each bin, as large as it holds rows. */
function bins({ drawing, fields, x, y, colour, tooltip, when }: Frame): VegaLiteSpec {
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
        scale: { range: BIN_AREAS, zero: true },
        legend: { title: "rows", tickCount: 3, format: "~s" },
      },
      tooltip: [...tooltip, { field: "rows", type: "quantitative", title: "rows", format: "," }],
    },
  };
}
