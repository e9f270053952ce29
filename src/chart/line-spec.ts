import type { Point } from "./draw-rows.js";
import { splitEdges } from "./edges.js";
import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";

// Up to so many points a series has a marker at each; beyond, a few along the line.
const MARKED_POINTS = 60;
const SPARSE_MARKERS = 8;

/** Layers of a line chart: the lines, their markers as second cue, incomplete buckets dashed. */
export function lineLayers(frame: Frame): VegaLiteSpec[] {
  const { drawing, fields, theme, x, y, colour, shape, tooltip, when } = frame;
  const parts = splitEdges(drawing);
  const sparse = drawing.xs.length > MARKED_POINTS;
  const encoding = { x, y, color: colour };
  const size = { type: "point", filled: true, opacity: 1, size: 42, strokeWidth: 1.5 };
  const rows = (points: readonly Point[]): VegaLiteSpec[] =>
    points.map((point) => specRow(point, fields, drawing));
  const line = (points: readonly Point[], dash: boolean): VegaLiteSpec => ({
    data: { values: rows(points) },
    mark: {
      type: "line",
      strokeWidth: sparse ? 1.5 : 2,
      strokeJoin: "round",
      ...(dash && { strokeDash: [3, 3], strokeWidth: 1.5 }),
    },
    encoding,
  });
  const marked = sparse ? sparseMarkers(parts.whole) : parts.whole.filter(({ y }) => y !== null);
  const hollow = [...parts.before, ...parts.after].filter(
    (point) => drawing.incomplete.has(point.x) && point.y !== null,
  );
  const marker = (points: readonly Point[], mark: VegaLiteSpec): VegaLiteSpec => ({
    data: { values: rows(points) },
    ...(when.length > 0 && { transform: when }),
    mark: { ...size, ...mark },
    encoding: { ...encoding, ...(shape && { shape }), tooltip },
  });
  return [
    ...(parts.whole.length > 0 ? [line(parts.whole, false)] : []),
    ...[parts.before, parts.after]
      .filter((points) => points.length > 0)
      .map((points) => line(points, true)),
    ...(marked.length > 0 ? [marker(marked, {})] : []),
    ...(hollow.length > 0 ? [marker(hollow, { filled: false, fill: theme.background })] : []),
  ];
}

/** Points of each series, spread evenly, staggered among the series; all that stand alone. */
function sparseMarkers(points: readonly Point[]): Point[] {
  const bySeries = new Map<number, Point[]>();
  for (const point of points) {
    const own = bySeries.get(point.series);
    if (own) own.push(point);
    else bySeries.set(point.series, [point]);
  }
  return [...bySeries].flatMap(([series, own]) => {
    const step = Math.max(1, Math.floor(own.length / SPARSE_MARKERS));
    const first = Math.floor((step * ((series % 7) + 0.5)) / 7);
    return own.filter(({ y }, index) => {
      if (y === null) return false;
      const before = own[index - 1]?.y ?? null;
      const after = own[index + 1]?.y ?? null;
      return (bySeries.size > 1 && index % step === first) || (before === null && after === null);
    });
  });
}
