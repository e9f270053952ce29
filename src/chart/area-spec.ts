import { ProbelabError } from "../base/error.js";
import { standingAlone } from "./area-columns.js";
import type { Drawing, Point } from "./draw-rows.js";
import { splitEdges } from "./edges.js";
import { specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";
import { stepWidth } from "./step-width.js";

/** Pixels of the line between two areas, and of the thinnest area that it leaves enough of. */
const SEPARATOR = 0.75;
const THINNEST = 3;

/** Width of the column that stands for a value without a neighbour: a share of its bucket's. */
const COLUMN = 0.6;
/** Pixels of the narrowest one, and of the only one of a chart. */
const NARROWEST = 2;
const LONE = 40;

/**
 * Layers of an area chart, stacked where there are several series; incomplete buckets faded. Values
 * that no area can show, as it joins neighbours, are narrow columns.
 */
export function areaLayers(frame: Frame): VegaLiteSpec[] {
  const { fields, theme, x, y, colour, tooltip, when } = frame;
  const drawing = stackable(frame.drawing);
  const { whole, before, after } = splitEdges(drawing);
  const last = drawing.series.length - 1;
  const stacked = last > 0;
  const separated = stacked && isSeparable(drawing, frame);
  const outline = { stroke: theme.background, strokeJoin: "round" };
  const layer = (points: readonly Point[], mark: VegaLiteSpec): VegaLiteSpec => ({
    data: {
      values: points.map((point) => ({
        ...specRow(point, fields, drawing),
        // The first of the legend is the top of the stack.
        ...(stacked && { rank: last - point.series }),
      })),
    },
    ...(when.length > 0 && { transform: when }),
    mark,
    encoding: {
      x,
      y: { ...y, stack: stacked ? "zero" : null },
      color: squares(colour),
      ...(stacked && { order: { field: "rank", type: "quantitative", sort: "ascending" } }),
      tooltip,
    },
  });
  const area = (points: readonly Point[], faded: boolean): VegaLiteSpec =>
    layer(points, {
      type: "area",
      fillOpacity: (stacked ? 0.9 : 0.55) * (faded ? 0.4 : 1),
      ...(stacked
        ? { ...outline, strokeWidth: separated ? SEPARATOR : 0 }
        : { line: { strokeWidth: 2, ...(faded && { strokeDash: [3, 3] }) } }),
    });
  const column = (points: readonly Point[], faded: boolean): VegaLiteSpec =>
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
    const { joined, alone } = standingAlone(points);
    // At an edge the complete bucket is there to join: its own part draws it.
    const own = alone.filter((point) => !faded || drawing.incomplete.has(point.x));
    return [
      ...(joined.some(({ y }) => y !== null) || own.length === 0 ? [area(joined, faded)] : []),
      ...(own.length > 0 ? [column(own, faded)] : []),
    ];
  };
  return [...drawn(whole, false), ...drawn(before, true), ...drawn(after, true)];
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
