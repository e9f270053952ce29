import { ProbelabError } from "../base/error.js";
import { buckets, BUCKETS } from "../time/bucket.js";
import { stackable } from "./area-spec.js";
import type { Drawing } from "./draw-rows.js";
import { categoryLabels, specRow } from "./fields.js";
import type { Frame, VegaLiteSpec } from "./frame.js";
import { formatInstantIso } from "./instant.js";
import { list } from "./roles.js";

const MOST_CATEGORIES = 60;

/** Layers of a bar chart: a bar as wide as its bucket, or one a category; series stacked. */
export function barLayers(frame: Frame, timeZone: string): VegaLiteSpec[] {
  const { fields, theme, width, x, y, colour, tooltip, when } = frame;
  const { roles } = frame.drawing;
  const side = roles.measure?.additive === false && frame.drawing.series.length > 1;
  if (side && roles.xKind !== "category") {
    throw new ProbelabError(
      `Can't stack ${JSON.stringify(roles.y)} in bars: its values can't be added up; draw it with chart.line, or one series with colour: null.`,
    );
  }
  const drawing = side ? frame.drawing : stackable(frame.drawing);
  if (roles.xKind === "category" && drawing.xs.length > MOST_CATEGORIES) {
    throw new ProbelabError(
      `Can't draw a bar for each of ${drawing.xs.length} values of ${JSON.stringify(roles.x)}: ask for the largest with top: 20, or take at most ${MOST_CATEGORIES}.`,
    );
  }
  const categories = roles.xKind === "category" ? categoryLabels(drawing) : undefined;
  const ends = roles.xKind === "category" ? undefined : barEnds(drawing, timeZone);
  const last = drawing.series.length - 1;
  const rest = last < 0 ? drawing.restX : undefined;
  const values = drawing.points
    .filter(({ y }) => y !== null)
    .map((point) => ({
      ...specRow(point, fields, drawing, categories),
      ...(ends && { end: end(ends.get(Number(point.x)) ?? Number(point.x), roles.xKind) }),
      ...(last > 0 && { rank: last - point.series }),
      ...(drawing.incomplete.has(point.x) && { incomplete: true }),
      ...(point.x === rest && { other: true }),
    }));
  return [
    {
      data: { values },
      ...(when.length > 0 && { transform: when }),
      mark: {
        type: "bar",
        orient: "vertical",
        stroke: theme.background,
        strokeWidth: ends && width / drawing.xs.length > 6 ? 1 : 0,
      },
      encoding: {
        x,
        ...(ends && { x2: { field: "end" } }),
        ...(side && {
          xOffset: { field: fields.series, sort: drawing.series.map(({ label }) => label) },
        }),
        y: { ...y, stack: last > 0 && !side ? "zero" : null },
        color:
          rest === undefined
            ? colour
            : { condition: { test: "datum.other", value: theme.neutral }, ...colour },
        ...(last > 0 &&
          !side && { order: { field: "rank", type: "quantitative", sort: "ascending" } }),
        ...(drawing.incomplete.size > 0 && {
          fillOpacity: { condition: { test: "datum.incomplete", value: 0.4 }, value: 1 },
        }),
        tooltip,
      },
    },
  ];
}

/** Where the bar of each x ends. @throws ProbelabError for instants that are no buckets. */
export function barEnds({ xs, every, roles }: Drawing, timeZone: string): Map<number, number> {
  const numbers = xs.map(Number);
  if (every !== undefined) {
    const [first, last] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    // The buckets may reach beyond the range that was asked for: they are counted from the data's.
    const wide = { start: new Date(first), end: new Date(last + 1), timeZone };
    return new Map(buckets(wide, every).map(({ start, end }) => [start.getTime(), end.getTime()]));
  }
  const step = Math.min(...numbers.slice(1).map((x, index) => x - (numbers[index] ?? 0)));
  const even = numbers.every((x) => Number.isInteger(((x - (numbers[0] ?? 0)) / step) * 1));
  if (numbers.length > 1 && !even) {
    throw new ProbelabError(
      `Can't draw bars along ${list([roles.x])}: its values have no common step; group them by time (every: ${BUCKETS.map((b) => `"${b}"`).join(", ")}), or use chart.points.`,
    );
  }
  return new Map(numbers.map((x) => [x, x + (Number.isFinite(step) ? step : 1)]));
}

function end(x: number, kind: "time" | "number" | "category"): string | number {
  return kind === "time" ? formatInstantIso(x) : x;
}
