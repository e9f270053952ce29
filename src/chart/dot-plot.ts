import { ProbelabError } from "../base/error.js";
import { categoryLabels, namesRoom, rowsHeight } from "./axes.js";
import { flipAxes, inOrder, refuseMany } from "./bar.js";
import { DOT } from "./dot.js";
import { INTERVAL, oneOf, PLOT_RULES } from "./options.js";
import { intervalLayer, layerData, type Kind, type Plot } from "./plot.js";
import type { VegaLiteSpec } from "./render/theme.js";
import type { Rows } from "./rows.js";
import { sizes } from "./stack.js";

/**
 * A dot for each category and series along a common scale, with its interval: values are compared by their
 * place, so that the scale need not begin at zero. Source: W. S. Cleveland, "Graphical methods for data
 * presentation", The American Statistician 38, 1984.
 */
export const DOT_PLOT: Kind = {
  ...DOT,
  name: "dotPlot",
  noun: "a dot plot",
  title: "Dot plot",
  options: { ...PLOT_RULES, sort: oneOf("value", "given"), interval: INTERVAL },
  categories: true,
  isAgainst: false,
  reduce: sizes("a dot plot").reduce,
  order: inOrder,
  arrange: (rows, options) => ({ ...rows, xs: inOrder(rows, options) }),
  size: (rows, { place }) => ({
    width: 560,
    height: rowsHeight([...categoryLabels(rows).values()], 1, namesRoom(place)),
  }),
  horizontal: (rows) => checkNames(rows),
  layers,
};

/** True. @throws ProbelabError for what are no categories, or too many. */
function checkNames({ roles, xs }: Rows): true {
  if (roles.xKind !== "category") {
    throw new ProbelabError(
      `Can't draw a dot plot along ${JSON.stringify(roles.x)}, which holds no names: take a column of text as x, or use chart.dot.`,
    );
  }
  refuseMany(xs, roles.x, "a row");
  return true;
}

/** A line for each category to its dots, which stand above their intervals. */
function layers(plot: Plot): VegaLiteSpec[] {
  const { rows, y, color, shape, tooltip } = plot;
  const x = { ...plot.x, axis: { ...(plot.x["axis"] as object), grid: true, gridDash: [1, 3] } };
  const known = rows.points.filter((point) => point.y !== null);
  const dots = {
    ...layerData(plot, known),
    mark: { type: "point", filled: true, opacity: 1, size: 60 },
    encoding: { x, y, color, ...(shape && { shape }), tooltip },
  };
  return [...intervalLayer(plot, known, undefined, { x, color }), dots].map(flipAxes);
}
