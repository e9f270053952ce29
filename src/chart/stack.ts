import { ProbelabError } from "../base/error.js";
import type { Drawing, Point } from "./draw-rows.js";
import { lowered, words } from "../render/label.js";

/** Every series at every x. @throws ProbelabError for what can't be added up, or is unknown. */
export function stacked(drawing: Drawing): Drawing {
  const { roles, series, points, xs } = drawing;
  if (series.length < 2) return drawing;
  const refusal = (why: string): ProbelabError =>
    new ProbelabError(`Can't stack ${JSON.stringify(roles.y)}: ${why}; draw it with chart.line.`);
  if (roles.measure && !roles.measure.additive) {
    throw refusal(`its values (${roles.measure.label.toLowerCase()}) can't be added up`);
  }
  const at = new Map(points.map((point) => [`${point.series} ${point.x}`, point]));
  const filled = xs.flatMap((x) =>
    series.map((_, index): Point => {
      const point = at.get(`${index} ${x}`);
      if (point !== undefined && point.y !== null) return point;
      if (roles.measure?.missing === "gap") {
        throw refusal("it is unknown for some of the series, which isn't zero");
      }
      return { x, y: 0, series: index };
    }),
  );
  const negative = filled.find(({ y }) => Number(y) < 0);
  if (negative) throw refusal(`it holds negative values such as ${negative.y}`);
  return { ...drawing, points: filled };
}

/** Every value as its share of all series at its x. @throws ProbelabError for what can't be added up. */
export function shares(drawing: Drawing): Drawing {
  const { roles, series } = drawing;
  if (series.length < 2) {
    throw new ProbelabError(
      `Can't draw shares of one series, each would be 100 %: pass the column of several series as color, or leave stack out.`,
    );
  }
  const { points } = stacked(drawing);
  const totals = new Map<Point["x"], number>();
  for (const { x, y } of points) totals.set(x, (totals.get(x) ?? 0) + Number(y));
  const { name, label } = roles.measure ?? { name: roles.y, label: words(roles.y) };
  return {
    ...drawing,
    roles: {
      ...roles,
      measure: {
        name,
        label: `Share of ${lowered(label)}`,
        unit: "share",
        additive: true,
        missing: "zero",
      },
    },
    points: points.map((point) => ({ ...point, y: Number(point.y) / (totals.get(point.x) || 1) })),
  };
}

/** The fields and channels by which Vega-Lite stacks series: the first of the legend is the top. */
export function stackOrder(drawing: Drawing): {
  readonly rank: (point: Point) => { rank?: number };
  readonly order: object;
} {
  const last = drawing.series.length - 1;
  if (last < 1) return { rank: () => ({}), order: {} };
  const order = { field: "rank", type: "quantitative", sort: "ascending" };
  return { rank: ({ series }) => ({ rank: last - series }), order: { order } };
}
