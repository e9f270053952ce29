import { ProbelabError } from "../base/error.js";
import { specRow, type Frame } from "./frame.js";
import type { Point } from "./draw-rows.js";
import type { VegaLiteSpec } from "../render/theme.js";

/** Bands of more series hide each other. */
const MOST_BANDS = 4;

/** A shaded band between the two ends of each point, drawn below its line. @throws ProbelabError for many series. */
export function bandLayer(frame: Frame, faded: boolean): VegaLiteSpec[] {
  const { drawing, fields, x, y, color } = frame;
  if (drawing.ends === undefined) return [];
  if (drawing.series.length > MOST_BANDS) {
    throw new ProbelabError(
      `Can't draw bands of ${drawing.series.length} series: they would hide each other; draw a panel for each with facet, or take at most ${MOST_BANDS} with top.`,
    );
  }
  return [
    {
      mark: { type: "area", fillOpacity: faded ? 0.1 : 0.2, strokeOpacity: 0 },
      encoding: { x, y: { ...y, field: fields.low }, y2: { field: fields.high }, color },
    },
  ];
}

/** The interval of each point as a line from end to end, drawn above its mark. */
export function intervalLayer(
  frame: Frame,
  points: readonly Point[],
  row: (point: Point) => VegaLiteSpec = (point) => specRow(point, frame),
  place: VegaLiteSpec = { x: frame.x, color: frame.color },
): VegaLiteSpec[] {
  const { fields, y, tooltip } = frame;
  const known = points.filter(({ low }) => low !== undefined);
  if (known.length === 0) return [];
  return [
    {
      ...frame.data(known.map(row)),
      mark: { type: "rule", strokeWidth: 1.5 },
      encoding: { ...place, y: { ...y, field: fields.low }, y2: { field: fields.high }, tooltip },
    },
  ];
}
