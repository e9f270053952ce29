import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";

/** The layer of a points chart: a shape and a colour for each series, incomplete buckets hollow. */
export function pointsLayers(frame: Frame): VegaLiteSpec[] {
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
