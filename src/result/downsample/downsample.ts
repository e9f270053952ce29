import type { ColumnTable } from "arquero";
import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { MOST_ROWS } from "../../base/limits.js";
import { counted, grouped, shownValue } from "../../base/text.js";
import { isArqueroTable, pickRows } from "../arquero-table.js";
import { isResult, type Result } from "../result.js";
import { reduceLines } from "./reduce-lines.js";
import {
  checkCount,
  extent,
  heightColumn,
  isAscending,
  numericColumn,
  splitSeries,
  type Line,
} from "./series.js";

/** Options of `downsample`. */
export interface DownsampleOptions {
  /** Column along the line: numbers or Dates. Rows without a finite x are left out. */
  readonly x: string;
  /**
   * Column of values: numbers. Null, NaN and infinite values are gaps of the line. Of a chart with a log
   * scale `{ value: "latency", type: "log" }`: values of zero and below are gaps then.
   */
  readonly y: string | { readonly value: string; readonly type?: "linear" | "log" };
  /** Column whose values are the series; without it there is one series. */
  readonly series?: string;
  /** Most rows to keep, 1 to 4,999, the default. */
  readonly maxRows?: number;
  /** Width of the picture in pixels, default 1,000. */
  readonly width?: number;
}

const OPTIONS = ["x", "y", "series", "maxRows", "width"];

/**
 * Reduces a table to the rows that draw the same line: the first, last, lowest and highest of each pixel
 * column (M4), or of fewer, wider columns where these are more than `maxRows`. A table of at most `maxRows`
 * rows is returned as it is.
 *
 * The rows keep their order and all their columns. The same rows in give the same rows out. A Result's
 * origin says what was done.
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
  const such = 'downsample(table, { x: "t", y: "latency" })';
  const table: unknown = isResult(data) ? data.table : data;
  if (!isArqueroTable(table)) {
    throw new ProbelabError(
      `Can't downsample ${shownValue(data)}: pass a Result or an Arquero table, ${such}; of your own rows aq.from(rows).`,
    );
  }
  refuseUnknown(options ?? {}, OPTIONS, "downsample");
  const missing = ["x", "y"].find(
    (name) => !Object.hasOwn((options as object | undefined) ?? {}, name),
  );
  if (missing !== undefined) {
    throw new ProbelabError(`Can't downsample without ${missing}: name its column, ${such}.`);
  }
  const { value, type: yType = "linear" } =
    typeof options.y === "object" ? options.y : { value: options.y };
  const maxRows = checkCount(options.maxRows ?? MOST_ROWS, "maxRows", MOST_ROWS);
  const width = checkCount(options.width ?? 1_000, "width", 100_000);
  const x = numericColumn(table, options.x);
  const y = heightColumn(table, value, yType);
  const from = table.numRows();
  if (from <= maxRows) return data;
  // Rows that are in order needn't be copied.
  const isWhole = options.series === undefined && isAscending(x);
  const split = isWhole ? [] : splitSeries(table, options.series, x, y);
  const series: readonly Line[] = isWhole ? [{ key: undefined, x, y }] : split;
  if (series.length > maxRows) {
    throw new ProbelabError(
      `Can't keep a row of each of ${counted(series.length, "series", "series")} in ${counted(maxRows, "row")}: filter the series, or merge the small ones.`,
    );
  }
  const [start, end] = extent(series);
  const plot = { start, end, width, log: yType === "log" };
  const reduced = reduceLines(series, plot, maxRows);
  const rows = reduced.lines.flatMap(({ kept }, i) =>
    Array.from(kept, (place) => split[i]?.rows[place] ?? place),
  );
  const smaller = pickRows(table, Int32Array.from(rows).sort());
  if (!isResult(data)) return smaller;
  const sentence = lineSentence(from, rows.length, reduced.differs);
  return data.with<Row>(smaller, { reductions: [...data.origin.reductions, sentence] });
}

/** Says how the rows of a line were reduced, and how far its picture is off. */
export function lineSentence(before: number, after: number, differs: number): string {
  const off =
    differs === 0
      ? "the same picture"
      : `${differs < 0.01 ? "less than 1" : Math.round(100 * differs)} % of the picture differs`;
  return `${grouped(after)} of ${counted(before, "row")}; ${off}.`;
}
