import { ProbelabError } from "../base/error.js";
import { isEnds, PLOT_RULES } from "./options.js";
import { reduceLineChart } from "./reduce-line-chart.js";
import { label } from "./render/label.js";
import { rowsInOnePlace, type Point, type Rows } from "./rows.js";
import { specRow, splitEdges, standingAlone, type Kind, type Plot, layerData } from "./plot.js";
import { withoutRest } from "./rest.js";
import type { VegaLiteSpec } from "./render/theme.js";

// Up to so many points a series has a marker at each.
const MARKED_POINTS = 60;
/** Bands of more series hide each other. */
const MOST_BANDS = 4;

/** Lines along time or numbers; null is a gap. */
export const LINE: Kind = {
  name: "line",
  noun: "a line",
  title: "Line chart",
  faded: "dashed",
  options: {
    ...PLOT_RULES,
    band: { fits: isEnds, pass: 'the columns of its two ends, ["q10", "q90"]' },
  },
  sizes: false,
  categories: false,
  extent: "band",
  reduce: reduceLineChart,
  shared: (result, roles, lines) => {
    const columns = [roles.x, ...(lines === undefined ? [] : [lines])];
    const found = rowsInOnePlace(result, roles, columns);
    const same = columns.map((name) => label(name)).join(" and ");
    const runs = `the line runs through several values of ${label(roles.y)} at the same ${same}`;
    return found === undefined ? [] : [`${found.said}: ${runs}.`];
  },
  arrange: (rows, options) => withoutRest(withoutEdges(rows), options, ["series"]),
  layers,
  hover: nearestPoint,
};

/** Counts without the incomplete buckets at the edges, to which a line would plunge; other values with them. */
function withoutEdges(rows: Rows): Rows {
  const { incomplete, points, roles, xs } = rows;
  const whole = xs.filter((x) => !incomplete.has(x));
  if (roles.measure?.additive !== true || whole.length === 0) return rows;
  return {
    ...rows,
    xs: whole,
    points: points.filter(({ x }) => !incomplete.has(x)),
    edges: xs.filter((x) => incomplete.has(x)),
  };
}

/** The lines, their markers as second cue, incomplete buckets dashed. */
function layers(plot: Plot): VegaLiteSpec[] {
  const { rows, theme, x, y, color, shape, tooltip } = plot;
  const { whole, before, after } = splitEdges(rows);
  const sparse = rows.xs.length > MARKED_POINTS;
  const encoding = { x, y, color };
  const values = (points: readonly Point[]): VegaLiteSpec[] =>
    painted(points, plot).map((point) => specRow(point, plot));
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
    const band = bandLayer(plot, dashed);
    if (points.some(({ top }) => top !== undefined))
      return { data: { values: values(points) }, ...denseLine(plot) };
    return {
      data: { values: values(points) },
      ...(band.length > 0 ? { layer: [...band, drawn] } : drawn),
    };
  };
  const markers = (points: readonly Point[], look: VegaLiteSpec): VegaLiteSpec => ({
    ...layerData(plot, painted(points, plot)),
    mark: { type: "point", filled: true, opacity: 1, size: 42, strokeWidth: 1.5, ...look },
    encoding: { ...encoding, ...(shape && { shape }), tooltip },
  });
  const marked = sparse ? standingAlone(whole) : whole.filter(({ y }) => y !== null);
  const hollow = [...before, ...after].filter(({ x, y }) => rows.incomplete.has(x) && y !== null);
  return [
    ...(whole.length > 0 ? [line(whole, false)] : []),
    ...[before, after].filter(({ length }) => length > 0).map((points) => line(points, true)),
    ...(marked.length > 0 ? [markers(marked, {})] : []),
    ...(hollow.length > 0 ? [markers(hollow, { filled: false, fill: theme.background })] : []),
  ];
}

/** Points in the order in which their series are drawn over each other: that of the legend, but "other" first. */
function painted(points: readonly Point[], { rows: { series } }: Plot): readonly Point[] {
  const rank = ({ series: at }: Point): number => (series[at]?.other === true ? -1 : at);
  return points.toSorted((a, b) => rank(a) - rank(b));
}

/** Lines some of whose points stand for all values up to their top: areas, as thin as a line where they don't. */
function denseLine({ x, y, color }: Plot): VegaLiteSpec {
  return {
    mark: { type: "area", strokeWidth: 1.5, strokeJoin: "round", fillOpacity: 1 },
    encoding: {
      ...{ x, y: { ...y, stack: null }, y2: { field: "top" }, color },
      stroke: "field" in color ? { ...color, legend: null } : color,
    },
  };
}

/** A shaded band between the two ends of each point, drawn below its line. @throws ProbelabError for many series. */
function bandLayer(plot: Plot, faded: boolean): VegaLiteSpec[] {
  const { rows, fields, x, y, color } = plot;
  if (rows.intervalColumns === undefined) return [];
  if (rows.series.length > MOST_BANDS) {
    throw new ProbelabError(
      `Can't draw bands of ${rows.series.length} series: they would hide each other; draw a panel for each with facet, or take at most ${MOST_BANDS} with top.`,
    );
  }
  return [
    {
      mark: { type: "area", fillOpacity: faded ? 0.1 : 0.2, strokeOpacity: 0 },
      encoding: { x, y: { ...y, field: fields.low }, y2: { field: fields.high }, color },
    },
  ];
}

/** The row nearest to the pointer: its tooltip, and a ring around its point. */
function nearestPoint(plot: Plot, name: string): VegaLiteSpec {
  const { rows, fields, theme, x, y, tooltip } = plot;
  const own = [fields.x, ...(fields.series === undefined ? [] : [fields.series])];
  const select = { type: "point", fields: own, nearest: true, on: "mouseover", clear: "mouseout" };
  // The same rows as the line's, which a compiled chart holds once.
  return {
    ...layerData(plot, painted(rows.points, plot)),
    layer: [
      {
        transform: [{ filter: `isValid(datum.${fields.y})` }],
        params: [{ name, select }],
        mark: { type: "point", opacity: 0 },
        encoding: { x, y, tooltip },
      },
      {
        transform: [{ filter: { param: name, empty: false } }],
        mark: { type: "point", filled: false, size: 110, strokeWidth: 1.5, color: theme.text },
        encoding: { x, y },
      },
    ],
  };
}
