import { counted, grouped } from "../base/text.js";
import type { ColumnTable } from "arquero";
import { newTable } from "../result/arquero-table.js";
import type { MeasureColumn, TimeColumn } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { bucketStart, nextBucket } from "../time/bucket.js";
import { usualLength } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { reduceLines } from "./reduce-lines.js";
import { extent, heightColumn, numericColumn, splitSeries, type SeriesRows } from "./series.js";

/** The columns of a line, and its length in pixels. */
export interface LinePlan {
  readonly x: string;
  readonly y: string;
  /** Column whose values are the series; without it there is one. */
  readonly series: string | undefined;
  readonly width: number;
  /** Default linear. A log scale draws only values above zero. */
  readonly yType: "linear" | "log" | undefined;
}

/**
 * The rows that draw the lines of a Result, and what was done to them. Missing buckets become rows: else
 * a line would run straight through a week of none.
 */
export function reduceLineChart(
  result: Result,
  plan: LinePlan,
  maxRows: number,
): { readonly result: Result; readonly sentences: readonly string[] } {
  const { table, origin } = result;
  const { time, measures } = origin.columns;
  const missing = measures.find(({ name }) => name === plan.y)?.missing;
  const { range } = origin;
  const fills = time?.name === plan.x && missing !== undefined && range !== undefined;
  const unchanged = { sentences: [], result };
  if (!fills && table.numRows() <= maxRows) return unchanged;
  const x = numericColumn(table, plan.x);
  const split = splitSeries(table, plan.series, x.values, heightColumn(table, plan.y, plan.yType));
  const series = fills ? split.map((series) => fillMissing(series, time, missing, range)) : split;
  const added = series.reduce(
    (sum, filled) => sum + filled.rows.filter((row) => row < 0).length,
    0,
  );
  if (table.numRows() + added <= maxRows) {
    if (added === 0) return unchanged;
    const whole = drawnTable(table, plan, x.dates, series);
    return { sentences: [], result: result.with(whole, origin) };
  }
  const [start, end] = extent(series);
  const line = reduceLines(series, { start, end, width: plan.width }, maxRows);
  const reduced = drawnTable(table, plan, x.dates, series, line.kept);
  const sentences = [lineSentence(table.numRows(), reduced.numRows(), line.slices, plan.width)];
  return { sentences, result: result.with(reduced, origin) };
}

/** Says how the rows of a line were reduced. */
export function lineSentence(before: number, after: number, slices: number, width: number): string {
  const each = slices < width ? `of ${grouped(slices)} equal slices` : "of each pixel column";
  return `${counted(before, "row")} drawn as ${grouped(after)}: first, last, lowest and highest ${each}.`;
}

/** Rows (of number −1) where buckets are missing, as few as draw the line: a gap, or zeros at both ends. */
function fillMissing(
  series: SeriesRows,
  time: TimeColumn,
  missing: MeasureColumn["missing"],
  range: TimeRange,
): SeriesRows {
  const { timeZone } = range;
  // Rows no further apart than this miss no bucket between them.
  const length = usualLength(time.every);
  const x: number[] = [];
  const y: number[] = [];
  const rows: number[] = [];
  const put = (at: number, value = missing === "zero" ? 0 : NaN, row = -1): void => {
    x.push(at);
    y.push(value);
    rows.push(row);
  };
  const startOf = (at: number): Date => bucketStart(new Date(at), time.every, timeZone);
  const after = (at: number): number => +nextBucket(startOf(at), time.every, timeZone);
  /** Fills the buckets from `start` up to, and without, the one that begins at `end`. */
  const fill = (start: number, end: number): void => {
    if (!(start < end)) return;
    put(start);
    const last = +startOf(end - 1);
    if (missing === "zero" && last > start) put(last);
  };
  if (missing === "zero") fill(+startOf(+range.start), series.x[0]!);
  for (let i = 0; i < series.x.length; i++) {
    const at = series.x[i]!;
    if (i > 0 && at - series.x[i - 1]! > length) fill(after(series.x[i - 1]!), at);
    put(at, series.y[i], series.rows[i]);
  }
  if (missing === "zero") fill(after(series.x.at(-1)!), after(+range.end - 1));
  if (x.length === series.x.length) return series;
  return {
    key: series.key,
    rows: Int32Array.from(rows),
    x: Float64Array.from(x),
    y: Float64Array.from(y),
  };
}

/** The rows at the `kept` places of their series, or all, and those of missing buckets, in the table's order. */
function drawnTable(
  table: ColumnTable,
  plan: LinePlan,
  dates: boolean,
  series: readonly SeriesRows[],
  kept?: readonly Int32Array[],
): ColumnTable {
  const rows = kept
    ? series.flatMap((filled, i) => [...kept[i]!].map((place) => filled.rows[place]!))
    : [...Array(table.numRows()).keys()];
  // A row of a missing bucket stands behind the row before it, and has only these columns.
  const drawn: { at: number; row?: number; values?: Readonly<Record<string, unknown>> }[] = rows
    .filter((row) => row >= 0)
    .map((row) => ({ at: row, row }));
  series.forEach((filled, i) => {
    for (const place of kept?.[i] ?? filled.rows.keys()) {
      if (filled.rows[place]! >= 0) continue;
      const before = filled.rows.subarray(0, place).findLast((row) => row >= 0) ?? -1;
      const [x, y] = [filled.x[place]!, filled.y[place]!];
      const values = {
        [plan.x]: dates ? new Date(x) : x,
        [plan.y]: Number.isFinite(y) ? y : null,
        ...(plan.series !== undefined && { [plan.series]: filled.key }),
      };
      drawn.push({ at: before + 0.5, values });
    }
  });
  drawn.sort((a, b) => a.at - b.at);
  const columns = table.columnNames().map((name): [string, unknown[]] => {
    const value = table.getter(name);
    return [
      name,
      drawn.map(({ row, values }) =>
        row === undefined ? (values?.[name] ?? null) : (value(row) as unknown),
      ),
    ];
  });
  return newTable(table, columns);
}
