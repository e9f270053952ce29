import { ProbelabError } from "../error.js";
import type { Drawing, Point } from "./draw-rows.js";
import { splitEdges } from "./edges.js";
import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";

/** Pixels of the line between two areas, and of the thinnest area that it leaves enough of. */
const SEPARATOR = 0.75;
const THINNEST = 3;

/** Layers of an area chart, stacked where there are several series; incomplete buckets faded. */
export function areaLayers(frame: Frame): VegaLiteSpec[] {
  const { fields, theme, x, y, colour, tooltip, when } = frame;
  const drawing = stackable(frame.drawing);
  const parts = splitEdges(drawing);
  const last = drawing.series.length - 1;
  const stacked = last > 0;
  const separated = stacked && isSeparable(drawing, frame);
  const layer = (points: readonly Point[], faded: boolean): VegaLiteSpec => ({
    data: {
      values: points.map((point) => ({
        ...specRow(point, fields, drawing),
        // The first of the legend is the top of the stack.
        ...(stacked && { rank: last - point.series }),
      })),
    },
    ...(when.length > 0 && { transform: when }),
    mark: {
      type: "area",
      fillOpacity: (stacked ? 0.9 : 0.55) * (faded ? 0.4 : 1),
      ...(stacked
        ? {
            stroke: theme.background,
            strokeWidth: separated ? SEPARATOR : 0,
            strokeJoin: "round",
          }
        : { line: { strokeWidth: 2, ...(faded && { strokeDash: [3, 3] }) } }),
    },
    encoding: {
      x,
      y: { ...y, stack: stacked ? "zero" : null },
      color: squares(colour),
      ...(stacked && { order: { field: "rank", type: "quantitative", sort: "ascending" } }),
      tooltip,
    },
  });
  return [
    ...(parts.whole.length > 0 ? [layer(parts.whole, false)] : []),
    ...[parts.before, parts.after]
      .filter((points) => points.length > 0)
      .map((points) => layer(points, true)),
  ];
}

/**
 * Whether lines between the areas leave enough of each: they would hide an area that is as thin as
 * they are, or that has a step every few pixels.
 */
function isSeparable({ points, xs }: Drawing, { width, height }: Frame): boolean {
  if (xs.length > width / 5) return false;
  const totals = new Map<number | string, number>();
  for (const { x, y } of points) totals.set(x, (totals.get(x) ?? 0) + Number(y));
  const thinnest = (THINNEST / height) * Math.max(0, ...totals.values());
  return points.every(({ y }) => y === 0 || Number(y) >= thinnest);
}

/** The colours' legend with squares, as an area has no points. */
function squares(colour: VegaLiteSpec): VegaLiteSpec {
  if (colour.legend === undefined) return colour;
  return { ...colour, legend: { ...colour.legend, symbolType: "square" } };
}

/**
 * A stack needs every series at every x: what is missing counts as zero where the measure says so.
 *
 * @throws ProbelabError where the values can't be added up, or one of them is unknown.
 */
export function stackable(drawing: Drawing): Drawing {
  const { roles, series, points, xs } = drawing;
  if (series.length < 2) return drawing;
  const name = JSON.stringify(roles.y);
  if (roles.measure && !roles.measure.additive) {
    throw new ProbelabError(
      `Can't stack ${name}: its values (${roles.measure.label.toLowerCase()}) can't be added up; draw it with chart.line.`,
    );
  }
  const at = new Map(points.map((point) => [`${point.series} ${point.x}`, point]));
  const filled = xs.flatMap((x) =>
    series.map((_, index): Point => {
      const point = at.get(`${index} ${x}`);
      if (point !== undefined && point.y !== null) return point;
      if (roles.measure?.missing === "gap") {
        throw new ProbelabError(
          `Can't stack ${name}: it is unknown for some of the series, which isn't zero; draw it with chart.line.`,
        );
      }
      return { x, y: 0, series: index };
    }),
  );
  const negative = filled.find(({ y }) => Number(y) < 0);
  if (negative) {
    throw new ProbelabError(
      `Can't stack ${name}: it holds negative values such as ${negative.y}; draw it with chart.line.`,
    );
  }
  return { ...drawing, points: filled };
}
