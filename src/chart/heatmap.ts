import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { greatest, smallest } from "../base/statistics.js";
import type { Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { shortLabels } from "./axes.js";
import type { Rows, Point } from "./rows.js";
import { bucketRow, type Kind, type Plot, type Prepared, layerData } from "./plot.js";
import { column, flag, format, PICTURE_RULES, text, type Options } from "./options.js";
import type { VegaLiteSpec } from "./render/theme.js";
import { withoutRest } from "./rest.js";
import { list } from "./roles.js";
import { bucketEnds, sizes } from "./stack.js";
import { bucketStart, steadyOffset } from "../time/bucket.js";
import { dateText } from "../time/time-zone.js";
import { HOUR, WEEK } from "../time/span.js";

/** Pixels of a cell, and of the whole at least and at most. */
const CELL = { width: 34, height: 20, least: 560, most: 1000 } as const;
const MOST_UP = 60;

const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");

/**
 * A cell for each x and each value of a second column, which are its series; the
 * measure is its color.
 */
export const HEATMAP: Kind = {
  name: "heatmap",
  title: "Heat map",
  faded: "in a dashed frame",
  options: {
    ...PICTURE_RULES,
    ...{ x: column, "x.label": text, y: column, color: column, format, other: flag },
  },
  ...sizes("a heat map"),
  categories: true,
  mostSeries: MOST_UP,
  bucketEnds: (rows, timeZone) => bucketEnds(rows, timeZone, "a heat map"),
  size: ({ xs, series, roles }) => ({
    height: Math.max(60, series.length * CELL.height),
    ...(roles.xKind === "category" && {
      width: Math.min(CELL.most, Math.max(CELL.least, xs.length * CELL.width)),
    }),
  }),
  prepare,
  arrange: (given, options, origin) => {
    const merged = given.series.some(({ other }) => other) || given.restX !== undefined;
    const rows = withoutRest(given, options, ["series", "x"]);
    return { ...rows, points: allCells(rows, origin, merged) };
  },
  notes: (rows, origin) => [
    ...(rows.points.some(({ y }) => y === null) ? ["Dots: no value."] : []),
    ...unequalTimes(rows, origin),
  ],
  layers,
};

/** The measure as y of each cell, the second column as its series. */
function prepare(result: Result, { x, y, color, format: yFormat, ...look }: Options): Prepared {
  const { time, dimensions } = result.origin.columns;
  const along = x ?? time?.name ?? dimensions.filter(({ name }) => name !== y).at(-1)?.name;
  const up = y ?? dimensions.find(({ name }) => name !== along)?.name;
  if (up === along && up !== undefined) {
    throw new ProbelabError(
      `Can't draw a heat map with ${list([up])} as x and as y: pass two columns of ${list(result.columnNames())}.`,
    );
  }
  const given = { x: along, y: color, yFormat, color: up };
  const known = Object.entries(given).filter(([, value]) => typeof value === "string");
  return { result, options: { ...look, ...Object.fromEntries(known) } };
}

/**
 * A point for each cell. One without a row is 0 where the question counts; it is unknown where the question merged groups into "other" or left some out.
 */
function allCells({ points, xs, series, roles }: Rows, origin: Origin, merged: boolean): Point[] {
  if (series.length === 0) return [...points];
  if (xs.length * series.length > MOST_ROWS) {
    throw new ProbelabError(
      `Can't draw a heat map of ${xs.length} times ${series.length} cells, a chart takes fewer than 5,000: ask with a coarser every or a smaller top.`,
    );
  }
  const whole = !merged && origin.reductions.length === 0;
  const none = whole && roles.measure?.missing === "zero" ? 0 : null;
  const at = new Map(points.map((point) => [`${point.series} ${point.x}`, point]));
  return xs.flatMap((x) =>
    series.map((_, index) => at.get(`${index} ${x}`) ?? { x, y: none, series: index }),
  );
}

const HOUR_OF_DAY = /^([01]\d|2[0-3])$/;

/** Counts by day of the week or by hour of the day aren't alike in a range that has some of them more often. */
function unequalTimes({ roles, series, xs }: Rows, { range }: Origin): string[] {
  if (range === undefined || roles.measure?.additive !== true) return [];
  const { start, end, timeZone } = range;
  const isAlong = (fits: (name: string) => boolean): boolean =>
    [series.map(({ label }) => label), xs].some(
      (names) => names.length > 1 && names.every((name) => fits(String(name))),
    );
  const notes: string[] = [];
  const weeks = (+end - +start) / WEEK;
  // A change of the clocks is an hour.
  const isWhole = Math.abs(weeks - Math.round(weeks)) * WEEK <= HOUR;
  if (!isWhole && isAlong((name) => WEEKDAYS.includes(name))) {
    notes.push("The range is not whole weeks: some weekdays occur once more than others.");
  }
  if (!isAlong((name) => HOUR_OF_DAY.test(name))) return notes;
  for (let own = steadyOffset(+start, timeZone); own.until < +end;) {
    const next = steadyOffset(own.until, timeZone);
    const day = dateText(bucketStart(new Date(own.until), "day", timeZone), timeZone);
    const fewer = next.offset > own.offset;
    notes.push(`Clocks change on ${day}: an hour of it ${fewer ? "is missing" : "counts twice"}.`);
    own = next;
  }
  return notes;
}

function layers(plot: Plot): VegaLiteSpec[] {
  const { rows, bucketEnds: ends, fields, theme, width, height, x, y, tooltip } = plot;
  const { roles, series, xs, points, incomplete } = rows;
  if (fields.series === undefined) {
    throw new ProbelabError(
      `Can't draw a heat map along ${list([roles.x])} alone: it needs two columns; ask with by: [weekday(), hourOfDay()], or pass y.`,
    );
  }
  const close = { paddingInner: 0, paddingOuter: 0 };
  const labels = series.map(({ label }) => label);
  const upright = {
    field: fields.series,
    type: "nominal",
    sort: labels,
    scale: { domain: labels, ...close },
    axis: { title: null, domain: false, ticks: false, ...shortLabels(labels, 220) },
  };
  const across = ends ? x : { ...x, scale: { ...(x.scale as VegaLiteSpec), ...close } };
  const place = { x: across, y: upright, ...(ends && { x2: { field: "end" } }) };
  const { labelExpr, title } = y.axis as VegaLiteSpec;
  const known = points.filter((point) => point.y !== null);
  const unknown = points.filter((point) => point.y === null);
  const partly = known.filter((point) => incomplete.has(point.x));
  // What can be nothing begins at nothing; a median of 600 s has a span of its own.
  const zero = roles.measure?.additive === true || roles.measure?.unit === "share";
  const values = known.map((point) => Number(point.y));
  const isChange =
    /, change\b/.test(roles.measure?.label ?? "") || smallest(values) * greatest(values) < 0;
  const far = Math.max(-smallest(values), greatest(values));
  // What rose and what fell by as much are as far from the middle, which is no change.
  const colorScale = isChange
    ? { range: theme.diverging, domain: [-far, far] }
    : { range: theme.ramp, zero, nice: true };
  const gap = Math.min(width / xs.length, height / series.length) > 6 ? 1 : 0;
  const layer = (some: readonly Point[], drawn: VegaLiteSpec): VegaLiteSpec[] =>
    some.length === 0 ? [] : [{ ...layerData(plot, some, bucketRow), ...drawn }];
  return [
    ...layer(known, {
      mark: { type: "rect", stroke: theme.background, strokeWidth: gap },
      encoding: {
        ...place,
        color: {
          field: fields.y,
          type: "quantitative",
          scale: { ...colorScale, interpolate: "lab" },
          legend: { title, labelExpr, gradientLength: Math.max(60, Math.min(160, height)) },
        },
        tooltip,
      },
    }),
    ...layer(partly, {
      mark: { type: "rect", filled: false, stroke: theme.muted, strokeDash: [2, 2] },
      encoding: place,
    }),
    ...layer(unknown, {
      mark: { type: "point", shape: "circle", filled: true, size: 5, color: theme.neutral },
      encoding: { x: ends ? { ...x, field: "middle" } : across, y: upright },
    }),
  ];
}
