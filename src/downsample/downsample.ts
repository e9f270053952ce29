import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { Result } from "../result/result.js";
import { counted } from "./counted.js";
import { everyNth } from "./kernels/every-nth.js";
import { lttb } from "./kernels/lttb.js";
import { m4 } from "./kernels/m4.js";
import { minMaxLttb } from "./kernels/min-max-lttb.js";
import { minMax } from "./kernels/min-max.js";
import { pixelAxis } from "./kernels/pixel-axis.js";
import { MOST_ROWS } from "../base/limits.js";
import { checkCount } from "./limits.js";
import { reduceLines } from "./line/reduce-lines.js";
import { logGaps } from "./log-gaps.js";
import { numericColumn } from "./numeric-column.js";
import { pickRows } from "../result/arquero-table.js";
import { lineSentence, methodSentence } from "./sentences.js";
import { splitSeries, type SeriesRows } from "./split-series.js";

/** The ways that `downsample` picks rows. */
export const METHODS = ["auto", "m4", "minMax", "lttb", "minMaxLttb", "everyNth"] as const;

/** A way to pick rows. */
export type Method = (typeof METHODS)[number];

/** What `downsample` takes. */
export interface DownsampleOptions {
  /** Column along the line: numbers or Dates. Rows without a finite x are left out. */
  readonly x: string;
  /** Column of values: numbers. Null, NaN and infinite values are gaps of the line. */
  readonly y: string;
  /** Column that tells the series apart; one series without it. */
  readonly series?: string;
  /** Most rows to keep, 1 to 4,999, the default. */
  readonly maxRows?: number;
  /** Width of the picture in pixels, default 1,000. */
  readonly width?: number;
  /** Height of the picture in pixels, default 400; used by `auto` only. */
  readonly height?: number;
  /** Default linear. On a log scale values of zero and below are gaps. */
  readonly yScale?: "linear" | "log";
  /**
   * Default `auto`: the rows that draw the same picture as all rows do, or, where these are too many,
   * those without which it would change most. `m4`: first, last, lowest and highest of each pixel
   * column (fewer columns where they don't fit). The others are for comparison: `minMax`, `lttb` and
   * `minMaxLttb` can lose shapes, `everyNth` loses spikes.
   */
  readonly method?: Method;
}

/**
 * Fewer rows of a table that draw the same line: a table of at most `maxRows` is given back as it is.
 *
 * The rows keep their order and all their columns. The same rows in give the same rows out. Of a
 * Result the origin tells what was done.
 *
 * @throws ProbelabError when a column is missing or no number, an option can't be used, or there are
 *   more series than rows to draw them with.
 * @example
 * const small = downsample(table, { x: "t", y: "latency", series: "probe_cc" });
 * small.numRows(); // at most 4,999
 */
export function downsample(data: ColumnTable, options: DownsampleOptions): ColumnTable;
export function downsample<Row extends object>(
  data: Result<Row>,
  options: DownsampleOptions,
): Result<Row>;
export function downsample<Row extends object>(
  data: ColumnTable | Result<Row>,
  options: DownsampleOptions,
): ColumnTable | Result<Row> {
  checkNames(options);
  const table = data instanceof Result ? data.table : data;
  const method = options.method ?? "auto";
  if (!METHODS.includes(method)) {
    throw new ProbelabError(
      `Can't downsample by the method ${JSON.stringify(method)}: pass ${METHODS.map((m) => `"${m}"`).join(", ")}.`,
    );
  }
  const maxRows = checkCount(options.maxRows ?? MOST_ROWS, "maxRows", MOST_ROWS);
  const width = checkCount(options.width ?? 1_000, "width", 100_000);
  const height = checkCount(options.height ?? 400, "height", 100_000);
  const yScale = options.yScale ?? "linear";
  const x = numericColumn(table, options.x).values;
  const y = logGaps(numericColumn(table, options.y).values, yScale);
  if (table.numRows() <= maxRows) return data;
  const series = splitSeries(table, options.series, x, y);
  if (series.length > maxRows) {
    throw new ProbelabError(
      `Can't keep a row of each of ${counted(series.length, "series", "series")} in ${counted(maxRows, "row")}: filter the series, or merge the small ones.`,
    );
  }
  const [start, end] = extent(series);
  const picture = { start, end, width, height, yScale };
  const from = table.numRows();
  let kept: readonly Int32Array[];
  let sentence: (rows: number) => string;
  if (method === "auto") {
    const line = reduceLines(series, picture, maxRows);
    kept = line.kept;
    sentence = (rows) => lineSentence(from, rows, line, width);
  } else {
    kept = pick(series, method, start, end, width, maxRows);
    sentence = (rows) => methodSentence(from, rows, method);
  }
  const rows = tableRows(series, kept);
  const smaller = pickRows(table, rows);
  if (!(data instanceof Result)) return smaller;
  const reductions = [...data.origin.reductions, sentence(rows.length)];
  return data.with<Row>(smaller, { reductions });
}

/** TypeScript says so too, but plain JavaScript and `any` pass it by. */
function checkNames(options: DownsampleOptions): void {
  const known = ["x", "y", "series", "maxRows", "width", "height", "yScale", "method"];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearName(unknown, known);
  throw new ProbelabError(
    `Can't downsample with ${JSON.stringify(unknown)}: ${near === undefined ? "pass" : `did you mean ${near}? Pass`} ${known.slice(0, -1).join(", ")} or ${known.at(-1)}.`,
  );
}

/** Lowest and highest x of all series; 0 and 0 where there are none. */
export function extent(series: readonly SeriesRows[]): [number, number] {
  if (series.length === 0) return [0, 0];
  let start = Infinity;
  let end = -Infinity;
  for (const { x } of series) {
    start = Math.min(start, x[0]!);
    end = Math.max(end, x.at(-1)!);
  }
  return [start, end];
}

function tableRows(series: readonly SeriesRows[], kept: readonly Int32Array[]): Int32Array {
  const rows = new Int32Array(kept.reduce((sum, places) => sum + places.length, 0));
  let size = 0;
  series.forEach((one, i) => {
    for (const place of kept[i]!) rows[size++] = one.rows[place]!;
  });
  return rows.sort();
}

function pick(
  series: readonly SeriesRows[],
  method: Exclude<Method, "auto">,
  start: number,
  end: number,
  width: number,
  maxRows: number,
): Int32Array[] {
  const share = series.length > 0 ? Math.floor(maxRows / series.length) : 0;
  switch (method) {
    case "everyNth":
      return series.map(({ x }) => everyNth(x.length, share));
    case "minMax":
      return series.map(({ y }) => minMax(y, share));
    case "lttb":
      return series.map(({ x, y }) => lttb(x, y, share));
    case "minMaxLttb":
      return series.map(({ x, y }) => minMaxLttb(x, y, share));
    case "m4":
      return m4Columns(series, start, end, width, maxRows);
  }
}

function m4Columns(
  series: readonly SeriesRows[],
  start: number,
  end: number,
  width: number,
  maxRows: number,
): Int32Array[] {
  for (let columns = width; columns >= 1; columns = Math.floor(columns * 0.97)) {
    const axis = pixelAxis(start, end, columns);
    const kept = series.map(({ x, y }) => m4(x, y, axis));
    if (kept.reduce((sum, rows) => sum + rows.length, 0) <= maxRows) return kept;
  }
  throw new ProbelabError(
    `Can't keep the first, last, lowest and highest row of ${counted(series.length, "series", "series")} in ${counted(maxRows, "row")}: filter the series, or use the method "auto".`,
  );
}
