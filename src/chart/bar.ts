import { ProbelabError } from "../base/error.js";
import { buckets, BUCKETS } from "../time/bucket.js";
import { categoryLabels } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { specRow, type ChartKind, type Frame } from "./frame.js";
import { formatInstantIso } from "./label.js";
import type { VegaLiteSpec } from "./options.js";
import { stacked, stackOrder } from "./stack.js";

const MOST_CATEGORIES = 60;

/** Bars along time, as wide as their buckets, or one for each category; series are stacked. */
export const BAR: ChartKind = {
  name: "bar",
  drawn: "bars",
  title: "Bar chart",
  faded: "faded",
  sized: true,
  categories: true,
  end: (drawing, timeZone) =>
    drawing.roles.xKind === "category" || drawing.xs.length === 0
      ? undefined
      : barEnds(drawing, timeZone).get(Number(drawing.xs.at(-1))),
  layers,
};

/** Bars of values that can't be added up stand beside each other, where they are of categories. */
function layers(frame: Frame): VegaLiteSpec[] {
  const { fields, theme, width, x, y, colour, tooltip, timeZone } = frame;
  const { roles, series, xs, incomplete, restX } = frame.drawing;
  const isCategory = roles.xKind === "category";
  const many = series.length > 1;
  const beside = roles.measure?.additive === false && many;
  if (beside && !isCategory) {
    throw new ProbelabError(
      `Can't stack ${JSON.stringify(roles.y)} in bars: its values can't be added up; draw it with chart.line, or one series with colour: null.`,
    );
  }
  if (isCategory && xs.length > MOST_CATEGORIES) {
    throw new ProbelabError(
      `Can't draw a bar for each of ${xs.length} values of ${JSON.stringify(roles.x)}: ask for the largest with top: 20, or take at most ${MOST_CATEGORIES}.`,
    );
  }
  const drawing = beside ? frame.drawing : stacked(frame.drawing);
  const { rank, order } = stackOrder(drawing);
  const categories = isCategory ? categoryLabels(drawing) : undefined;
  const ends = isCategory ? undefined : barEnds(drawing, timeZone);
  const rest = series.length === 0 ? restX : undefined;
  const rows = drawing.points
    .filter((point) => point.y !== null)
    .map((point) => {
      const end = ends?.get(Number(point.x)) ?? Number(point.x);
      return {
        ...specRow(point, frame),
        ...(categories && { [fields.x]: categories.get(point.x) }),
        ...(ends && { end: roles.xKind === "time" ? formatInstantIso(end) : end }),
        ...rank(point),
        ...(incomplete.has(point.x) && { incomplete: true }),
        ...(point.x === rest && { other: true }),
      };
    });
  return [
    {
      ...frame.data(rows),
      mark: {
        type: "bar",
        orient: "vertical",
        stroke: theme.background,
        strokeWidth: ends && width / xs.length > 6 ? 1 : 0,
      },
      encoding: {
        x,
        ...(ends && { x2: { field: "end" } }),
        ...(beside && {
          xOffset: { field: fields.series, sort: series.map(({ label }) => label) },
        }),
        y: { ...y, stack: many && !beside ? "zero" : null },
        color:
          rest === undefined
            ? colour
            : { condition: { test: "datum.other", value: theme.neutral }, ...colour },
        ...(!beside && order),
        ...(incomplete.size > 0 && {
          fillOpacity: { condition: { test: "datum.incomplete", value: 0.4 }, value: 1 },
        }),
        tooltip,
      },
    },
  ];
}

/** Where the bar of each x ends. @throws ProbelabError for instants that are no buckets. */
function barEnds({ xs, every, roles }: Drawing, timeZone: string): Map<number, number> {
  const numbers = xs.map(Number);
  if (every !== undefined) {
    const [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    // The buckets may reach beyond the range that was asked for: they are counted from the data's.
    const wide = { start: new Date(first), end: new Date(last + 1), timeZone };
    return new Map(buckets(wide, every).map(({ start, end }) => [start.getTime(), end.getTime()]));
  }
  const step = Math.min(...numbers.slice(1).map((x, index) => x - (numbers[index] ?? 0)));
  const even = numbers.every((x) => Number.isInteger((x - (numbers[0] ?? 0)) / step));
  if (numbers.length > 1 && !even) {
    throw new ProbelabError(
      `Can't draw bars along ${JSON.stringify(roles.x)}: its values have no common step; group them by time (every: ${BUCKETS.map((b) => `"${b}"`).join(", ")}), or use chart.points.`,
    );
  }
  return new Map(numbers.map((x) => [x, x + (Number.isFinite(step) ? step : 1)]));
}
