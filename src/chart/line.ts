import type { Point } from "./draw-rows.js";
import { bandLayer } from "./extents.js";
import { pointsBySeries, specRow, splitEdges, type ChartKind, type Frame } from "./frame.js";
import { nearestPoints } from "./hover.js";
import type { VegaLiteSpec } from "../render/theme.js";

// Up to so many points a series has a marker at each; beyond, a few along the line.
const MARKED_POINTS = 60;
const SPARSE_MARKERS = 8;

/** Lines along time or numbers; null is a gap. */
export const LINE: ChartKind = {
  name: "line",
  drawn: "a line",
  title: "Line chart",
  faded: "dashed",
  sized: false,
  categories: false,
  layers,
  hover: (frame) => ({ layers: [nearestPoints(frame)] }),
};

/** The lines, their markers as second cue, incomplete buckets dashed. */
function layers(frame: Frame): VegaLiteSpec[] {
  const { drawing, theme, x, y, color, shape, tooltip } = frame;
  const { whole, before, after } = splitEdges(drawing);
  const sparse = drawing.xs.length > MARKED_POINTS;
  const encoding = { x, y, color };
  const rows = (points: readonly Point[]): VegaLiteSpec[] =>
    points.map((point) => specRow(point, frame));
  const line = (points: readonly Point[], dashed: boolean): VegaLiteSpec => {
    const drawn = {
      mark: {
        type: "line",
        strokeWidth: sparse || dashed ? 1.5 : 2,
        strokeJoin: "round",
        ...(dashed && { strokeDash: [3, 3] }),
      },
      encoding,
    };
    const band = bandLayer(frame, dashed);
    return {
      data: { values: rows(points) },
      ...(band.length > 0 ? { layer: [...band, drawn] } : drawn),
    };
  };
  const markers = (points: readonly Point[], look: VegaLiteSpec): VegaLiteSpec => ({
    ...frame.data(rows(points)),
    mark: { type: "point", filled: true, opacity: 1, size: 42, strokeWidth: 1.5, ...look },
    encoding: { ...encoding, ...(shape && { shape }), tooltip },
  });
  const marked = sparse ? sparseMarkers(whole) : whole.filter(({ y }) => y !== null);
  const hollow = [...before, ...after].filter(
    ({ x, y }) => drawing.incomplete.has(x) && y !== null,
  );
  return [
    ...(whole.length > 0 ? [line(whole, false)] : []),
    ...[before, after].filter(({ length }) => length > 0).map((points) => line(points, true)),
    ...(marked.length > 0 ? [markers(marked, {})] : []),
    ...(hollow.length > 0 ? [markers(hollow, { filled: false, fill: theme.background })] : []),
  ];
}

/** Points of each series, spread evenly, staggered among the series; all that stand alone. */
function sparseMarkers(points: readonly Point[]): Point[] {
  const bySeries = pointsBySeries(points);
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
