import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { counted, grouped } from "../base/text.js";
import { INTERVAL, oneOf, PLOT_RULES } from "./options.js";
import { rowsInOnePlace, type Point } from "./rows.js";
import { intervalLayer, specRow, type Kind, type Plot, layerData } from "./plot.js";
import type { VegaLiteSpec } from "./render/theme.js";

/** Pixels between the dots of two series at one time. */
const APART = 5;

// Beyond so many, dots are smaller and let others shine through.
const FEW_DOTS = 300;

/** A point per row. */
export const DOT: Kind = {
  name: "dot",
  noun: "dots",
  title: "Scatter plot",
  faded: "hollow",
  options: { ...PLOT_RULES, "x.type": oneOf("linear", "log"), interval: INTERVAL },
  sizes: false,
  categories: false,
  extent: "interval",
  isAgainst: true,
  reduce: ({ result }) => {
    if (result.numRows() <= MOST_ROWS) return { result, sentences: [] };
    throw new ProbelabError(
      `Can't draw ${counted(result.numRows(), "row")} as dots, a chart of these takes at most ${grouped(MOST_ROWS)}: count them in the question (every, by; in SQL GROUP BY), and draw chart.heatmap or chart.histogram.`,
    );
  },
  shared: (result, roles, lines) => {
    const columns = [roles.x, ...(lines === undefined ? [] : [lines]), roles.y];
    const found = rowsInOnePlace(result, roles, columns);
    return found === undefined ? [] : [`${found.said}: points that hide each other.`];
  },
  layers,
};

/** A shape and a color for each series, incomplete buckets hollow. */
function layers(plot: Plot): VegaLiteSpec[] {
  const { rows, theme, x, y, color, shape, tooltip } = plot;
  // Those of "other" lie below the named ones.
  const isNamed = ({ series }: Point): number => Number(rows.series[series]?.other !== true);
  const points = rows.points
    .filter((point) => point.y !== null)
    .sort((a, b) => isNamed(a) - isNamed(b));
  const count = rows.series.length;
  // Intervals of the same time stand beside each other; the tooltip has their time.
  const dodged = rows.intervalColumns !== undefined && count > 1 && rows.roles.xKind === "time";
  const pixel = (plot.domain[1] - plot.domain[0]) / plot.width;
  const row = (point: Point): VegaLiteSpec => {
    if (!dodged) return specRow(point, plot);
    const x = Number(point.x) + (point.series - (count - 1) / 2) * APART * pixel;
    return specRow({ ...point, x: Math.round(x), from: Number(point.x) }, plot);
  };
  const crowded = points.length > FEW_DOTS;
  const discs = [false, true].flatMap((hollow) => {
    const group = points.filter((point) => rows.incomplete.has(point.x) === hollow);
    if (group.length === 0) return [];
    return {
      ...layerData(plot, group, row),
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
  return [...intervalLayer(plot, points, row), ...discs];
}
