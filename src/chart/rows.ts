import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { counted, grouped, lowered, textOf } from "../base/text.js";
import { isVersionColumn, type ResultColumns } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { valueKey } from "../result/json.js";
import { rowKeys, rowsByKey } from "../result/arquero-table.js";
import { buckets, BUCKETS, bucketStart, type Bucket } from "../time/bucket.js";
import { label } from "./render/label.js";
import type { Options } from "./options.js";
import {
  chartRoles,
  checkColumn,
  list,
  MOST_CATEGORIES,
  type DrawnRow,
  type Roles,
  type RowsKind,
} from "./roles.js";
import { chartSeries, MOST_SERIES, seriesDimension, type Series } from "./series.js";
import { commonStart, workTable } from "./work-table.js";

/** One point to draw. */
export interface Point {
  /** Milliseconds since the epoch, a number, or a text. */
  readonly x: number | string;
  /** null is a gap. */
  readonly y: number | null;
  /** y where a number can't hold all of its digits. */
  readonly exact?: bigint;
  /** Index into the series. */
  readonly series: number;
  /** Index into the panels. */
  readonly panel?: number;
  /** Start of the bucket whose end this is: the end of a step. */
  readonly from?: number;
  /** The ends of its band or interval, where both are known. */
  readonly low?: number;
  readonly high?: number;
  /** In a drawing with bands, the highest value of the slice that it stands for; y is the lowest. */
  readonly top?: number;
  /** Values of other columns, by field. */
  readonly extra?: Readonly<Record<string, Value>>;
}

/** What a chart draws of a Result, before its look is decided: roles, points, series, the order of x, what was left out. */
export interface Rows {
  readonly roles: Roles;
  /** In the order of x. */
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** Column of the series, where there is one. */
  readonly seriesName?: string;
  /** Buckets (or categories) along x, each once, in order. */
  readonly xs: readonly (number | string)[];
  /** The step of the buckets as drawn: coarser than asked for where they were regrouped. */
  readonly every?: Bucket;
  /** Those of `xs` that the range covers only in part. */
  readonly incomplete: ReadonlySet<number | string>;
  /** Those of them at the edges that aren't drawn. */
  readonly edges?: readonly (number | string)[];
  /** The category that holds all values beyond the top ones. */
  readonly restX?: string;
  /** True where the categories are a question's groups, which have no order of their own. */
  readonly unordered?: boolean;
  /** Columns of the ends of a band or of intervals, where there are any. */
  readonly intervalColumns?: readonly [string, string];
  /** The panels of all points, where there are several. */
  readonly panels?: readonly Series[];
  /** The value of its panel, of the points of one. */
  readonly panel?: Value;
  /** Rows and values left out or merged for this chart, a sentence each. */
  readonly sentences: readonly string[];
}

/** The category of rows without one. */
export const NONE = "(none)";
/** More panels can't be taken in. */
export const MOST_PANELS = 12;
const MOST_LINES = MOST_SERIES * MOST_PANELS;
// Where edges are drawn apart they repeat a few rows of each series.
const SPARE_ROWS = 4;

/**
 * The points of a chart, fewer than 5,000.
 *
 * @throws ProbelabError where they can't be drawn truthfully.
 */
export function chartRows(result: Result, kind: RowsKind, options: Options): Rows {
  const roles = chartRoles(result, kind, options);
  const ends = endsOf(result, roles, kind, options);
  const work = workTable(result, roles);
  const shared = kind.shared(work.result, roles, work.lines);
  const isCut = (result.origin.columns.time?.incomplete ?? []).length > 0;
  const lines = new Set(work.lines && work.result.column(work.lines).map(valueKey)).size || 1;
  const most = isCut ? MOST_ROWS - SPARE_ROWS * Math.min(MOST_LINES, lines) : MOST_ROWS;
  const reduced = kind.reduce(work, roles, options, most);
  if (ends !== undefined && reduced.sentences.length > 0) {
    throw new ProbelabError(
      `Can't draw ${counted(result.numRows(), "row")} with a ${ends.option}, which can't be reduced as ${kind.noun} can: ask with a coarser every and a smaller top, or leave ${ends.option} out.`,
    );
  }
  const { table } = reduced.result;
  const { columns } = reduced.result.origin;
  const drawn: readonly DrawnRow[] =
    reduced.drawn ?? Array.from({ length: table.numRows() }, (_, row) => ({ row }));
  const isBanded = drawn.some(({ top }) => top !== undefined);
  const read = (name: string): readonly Value[] => {
    const get = table.getter(name) as (row: number) => Value;
    return drawn.map(({ row }) => get(row));
  };
  const own = (name: string): readonly Value[] =>
    read(name).map((value, at) => (drawn[at]!.added ? null : value));
  const [xs, ys] = [read(roles.x), own(roles.y)];
  const keys = work.series === undefined ? [] : read(work.series);
  const facets = roles.facet === undefined ? [] : read(roles.facet);
  const [lows, highs] = ends?.columns.map(own) ?? [];
  const extras = (options.extras ?? []).map((name) => [`_${name}`, own(name)] as const);
  const series = chartSeries(keys, seriesDimension(columns, work.series, keys), work.series);
  const panels = chartSeries(facets, seriesDimension(columns, roles.facet, facets), roles.facet);
  const panelAt = new Map(panels.map(({ value }, at) => [valueKey(value), at]));
  const { mostSeries = MOST_SERIES } = kind;
  if (series.length > mostSeries) {
    throw new ProbelabError(
      `Can't draw ${series.length} series of ${JSON.stringify(work.series)} that can be told apart: ask for the largest with top: 6, or take at most ${mostSeries}.`,
    );
  }
  const index = new Map(series.map(({ value }, at) => [valueKey(value), at]));
  const left = { infinite: 0, placeless: 0, low: 0 };
  const points = drawn.flatMap(({ added, top }, row): Point[] => {
    const x = added?.x ?? xPlace(xs[row], roles.xKind);
    if (x === undefined) left.placeless++;
    if (x === undefined) return [];
    const y = added?.y ?? toNumber(ys[row]);
    if (options.xType === "log" && Number(x) <= 0) {
      left.low++;
      return [];
    }
    const below = options.yType === "log" && y <= 0;
    if (y === Infinity || y === -Infinity) left.infinite++;
    if (below) left.low++;
    const others = extras.map(([field, values]) => [field, values[row] ?? null] as const);
    return [
      {
        x,
        y: Number.isFinite(y) && !below ? y : null,
        ...(typeof ys[row] === "bigint" && !Number.isSafeInteger(y) && { exact: ys[row] }),
        series: index.get(valueKey(keys[row])) ?? 0,
        ...(panels.length > 0 && { panel: panelAt.get(valueKey(facets[row]))! }),
        ...endsAt(lows?.[row], highs?.[row], options.yType),
        ...(isBanded && Number.isFinite(y) && { top: top ?? y }),
        ...(others.length > 0 && { extra: Object.fromEntries(others) }),
      },
    ];
  });
  const along = seriesDimension(columns, roles.x, xs);
  const isCategory = roles.xKind === "category";
  if (!isCategory) points.sort((a, b) => Number(a.x) - Number(b.x));
  const places = isCategory
    ? withBetween(chartSeries(xs, along).map(({ value }) => value)).map((value) =>
        xPlace(value, "category")!,
      )
    : points.map(({ x }) => x);
  const time = roles.x === columns.time?.name ? columns.time : undefined;
  const incomplete = time?.incomplete ?? incompleteBuckets(result.origin, roles, places);
  const leftOut = (rows: number, one: string, which: string): string[] =>
    rows === 0 ? [] : [`${counted(rows, one)}${which} left out.`];
  return {
    roles,
    points,
    series,
    ...(work.series !== undefined && { seriesName: work.series }),
    ...(panels.length > 0 && { panels }),
    xs: [...new Set(places)],
    ...(time && { every: time.every }),
    ...(along?.other !== undefined && { restX: along.other }),
    ...(ends && { intervalColumns: ends.columns }),
    unordered: along?.ordered !== true && !isVersionColumn(roles.x),
    incomplete: new Set(incomplete.map((start) => start.getTime())),
    sentences: [
      ...work.sentences,
      ...shared,
      ...reduced.sentences,
      ...(reduced.gaps ?? []),
      ...(ends ? [endsSentence(columns, ends)] : []),
      ...leftOut(left.infinite, "infinite value", ""),
      ...leftOut(left.low, "value", " of zero or below"),
      ...leftOut(left.placeless, "row", ` without ${roles.x}`),
    ],
  };
}

/** The buckets at the edges of a range that free SQL holds in part, where its times are the starts of buckets. */
function incompleteBuckets(
  { range }: Result["origin"],
  { xKind }: Roles,
  xs: readonly (number | string)[],
): Date[] {
  const times = [...new Set(xs.map(Number))];
  if (range === undefined || xKind !== "time" || times.length < 3) return [];
  const starts = (every: Bucket): boolean =>
    times.every((at) => +bucketStart(new Date(at), every, range.timeZone) === at);
  const every = BUCKETS.findLast(starts);
  // Days that are all Mondays are weeks; a year of days whose first is the only one known isn't.
  if (every === undefined || every === "minute") return [];
  return buckets(range, every)
    .filter(({ start, complete }) => !complete && times.includes(+start))
    .map(({ start }) => start);
}

interface Ends {
  readonly columns: readonly [string, string];
  readonly option: "band" | "interval";
}

/** The columns of a band or of intervals: as the options say, or as the question asked them beside the measure. */
function endsOf(
  { origin, table }: Result,
  { measure, hidden }: Roles,
  kind: RowsKind,
  { band, interval }: Options,
): Ends | undefined {
  const { extent: option } = kind;
  const wanted = band ?? interval;
  if (option === undefined) return undefined;
  if (wanted) {
    for (const name of wanted)
      checkColumn(table.columnNames(), name, `draw ${kind.noun} with ${option}: `);
    if (hidden.length === 0) return { columns: wanted, option };
    throw new ProbelabError(
      `Can't draw ${kind.noun} with ${option}: ${JSON.stringify(wanted)}, and without ${list(hidden)}: what is added up has no ${option}; take ${list(hidden)} as color, or ask for the result without it.`,
    );
  }
  const known = measure?.interval;
  const measured = known?.every((end) => origin.columns.measures.some(({ name }) => name === end));
  const draws = wanted === undefined && option === "interval" && hidden.length === 0;
  return known && measured && draws ? { columns: known, option } : undefined;
}

/** Names the ends: `Shaded: Run duration, 10 % to 90 %.` */
function endsSentence({ measures }: ResultColumns, { columns, option }: Ends): string {
  const labels = columns.map(
    (name) => measures.find((each) => each.name === name)?.label ?? label(name),
  );
  const [percent] = /[\d.]+ % interval/.exec(labels[0] ?? "") ?? [];
  const common = commonStart(labels);
  const from = percent === undefined ? labels[0] : `${percent}s`;
  const to = percent === undefined ? ` to ${lowered(labels[1]?.slice(common.length) ?? "")}` : "";
  return `${option === "band" ? "Shaded" : "Lines"}: ${from}${to}.`;
}

/** Whole numbers in order with those between them, which have no row, where all have room. */
function withBetween(values: readonly Value[]): readonly Value[] {
  const [first, last] = [values[0], values.at(-1)];
  const isRising = values.every(
    (value, at) => Number.isInteger(value) && (at === 0 || value! > values[at - 1]!),
  );
  if (!isRising || Number(last) - Number(first) >= MOST_CATEGORIES) return values;
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at);
}

function endsAt(low: Value, high: Value, yType: Options["yType"]): Partial<Point> {
  const [from, until] = [toNumber(low), toNumber(high)];
  const drawn = Number.isFinite(from) && Number.isFinite(until) && (yType !== "log" || from > 0);
  return drawn ? { low: from, high: until } : {};
}

function toNumber(value: Value): number {
  return value === null || value === undefined ? NaN : Number(value);
}

function xPlace(value: Value, kind: Roles["xKind"]): number | string | undefined {
  if (kind === "category" && typeof value !== "number") {
    return value === null || value === undefined ? NONE : textOf(value);
  }
  const number = toNumber(value);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * The rows that stand in one place, as they have the same in all `columns`, where a question has one for each:
 * `12 rows share a place`, and x of the first. Undefined where there are none.
 */
export function rowsInOnePlace(
  result: Result,
  { x, y, xKind }: Roles,
  columns: readonly string[],
): { readonly said: string; readonly first: Value } | undefined {
  const [xs, ys] = [result.column(x), result.column(y)];
  // Rows without a value hide nothing.
  const keys = rowKeys(result.table, columns).map((key, row) =>
    Number.isNaN(toNumber(ys[row])) || xPlace(xs[row], xKind) === undefined ? row : key,
  );
  const shared = [...rowsByKey(keys).values()].filter(({ length }) => length > 1);
  if (shared.length === 0) return undefined;
  return { said: `${grouped(shared.flat().length)} rows share a place`, first: xs[shared[0]![0]!] };
}
