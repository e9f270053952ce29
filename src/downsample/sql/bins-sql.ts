import { ProbelabError } from "../../error.js";
import type { BoundSql } from "./m4-sql.js";
import { ticksOf } from "./ticks.js";

/** What bins are made of, as ClickHouse SQL. Expressions are the caller's own text: no values in them. */
export interface BinsSource {
  /** A table, or a subquery in brackets. */
  readonly from: string;
  /** Condition that bounds x (by the sort key) and whatever else; its own parameters are the caller's. */
  readonly where?: string;
  /** Expression of x and its ClickHouse type: a time or a number; not null. */
  readonly x: { readonly sql: string; readonly type: string };
  /** Expression of y: a number. */
  readonly y: string;
  /** Expression of the series; one series without it. */
  readonly series?: string;
  /** Lowest and highest x: Dates (or milliseconds) for times, else numbers. */
  readonly xAxis: readonly [Date | number, Date | number];
  /** Lowest and highest y. */
  readonly yAxis: readonly [number, number];
  /** Cells along x and y, whole numbers from 1 to 10,000. */
  readonly columns: number;
  readonly rows: number;
}

/**
 * Counts points in two-dimensional bins, in ClickHouse: the cells that `sortIntoCells` in
 * points/cells.ts finds. Points outside the axes, and those without a finite x and y, are left out.
 *
 * The answer has `series` (where asked for), `column` and `row` from 0 (row 0 is the lowest y), and
 * `count`; one row for each occupied cell, ordered by series, column and row.
 *
 * @throws ProbelabError when the type of x can't be used, or a number of cells is none.
 */
export function binsSql(source: BinsSource): BoundSql {
  const { columns, rows } = source;
  for (const cells of [columns, rows]) {
    if (Number.isInteger(cells) && cells >= 1 && cells <= 10_000) continue;
    throw new ProbelabError(
      `Can't count points in ${String(cells)} cells along an axis: pass a whole number from 1 to 10,000.`,
    );
  }
  const ticks = ticksOf(source.x.type);
  const x = `toFloat64(${ticks.sql(source.x.sql)})`;
  const y = `toFloat64(${source.y})`;
  const [left, right] = source.xAxis.map((value) => Number(value) * ticks.perUnit);
  const [low, high] = source.yAxis;
  const by = source.series === undefined ? "" : "series, ";
  const sql = `SELECT ${by}${cell("bin_x", "x", columns)} AS column, ${cell("bin_y", "y", rows)} AS row, count() AS count
FROM (
  SELECT ${source.series === undefined ? "" : `${source.series} AS series, `}${x} AS bin_x, ${y} AS bin_y
  FROM ${source.from}${source.where === undefined ? "" : `\n  WHERE ${source.where}`}
)
WHERE bin_x BETWEEN {bin_left:Float64} AND {bin_right:Float64}
  AND bin_y BETWEEN {bin_low:Float64} AND {bin_high:Float64}
GROUP BY ${by}column, row
ORDER BY ${by}column, row`;
  return { sql, parameters: { bin_left: left!, bin_right: right!, bin_low: low, bin_high: high } };
}

/** The same operations in the same order as in points/cells.ts, so that both round alike. */
function cell(value: string, axis: "x" | "y", cells: number): string {
  const [low, high] = axis === "x" ? ["bin_left", "bin_right"] : ["bin_low", "bin_high"];
  const start = `{${low}:Float64} / 2`;
  const span = `({${high}:Float64} / 2 - ${start})`;
  return `toUInt16(if(${span} > 0, least(floor((${value} / 2 - ${start}) / ${span} * ${cells}), ${cells - 1}), 0))`;
}
