import type { TableInfo } from "../database/table-info.js";
import { bucketSql } from "../database/bucket-sql.js";
import { quoteIdentifier } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import { last } from "../time/time-range.js";
import type { Sql } from "./filter.js";
import { dimensionSql, sourceSql, type Asked, type MeasurementOptions } from "./question.js";
import { topGroupsSql, indent, type CellMeasure } from "./top-groups.js";

/** What questions on runs take besides. A run is the measurements that share a report_id. */
export interface RunOptions extends MeasurementOptions {
  /** Which quantiles to give, each from 0 to 1; exact, interpolated linearly (R-7). Default 0.1, 0.5, 0.9. */
  readonly quantiles?: readonly number[];
  /** `"drop"` leaves runs of a single measurement out of the quantiles (default `"keep"`); `single` tells their share either way. */
  readonly singles?: "keep" | "drop";
  /** How far beyond the range runs are read, so that those at its edges are whole; default "24 hours". */
  readonly margin?: string;
}

/** A quantile and the column that holds it. */
export interface QuantileColumn {
  readonly level: number;
  /** `q10`, `q50`, `q2_5`. */
  readonly name: string;
}

/** The quantiles asked for, checked. */
export function quantileColumns(levels: readonly number[]): QuantileColumn[] {
  return levels.map((level, index) => {
    if (!(level >= 0 && level <= 1) || levels.indexOf(level) !== index) {
      throw new ProbelabError(
        `Can't give the quantile ${String(level)}: pass different numbers from 0 to 1, such as quantiles: [0.1, 0.5, 0.9].`,
      );
    }
    return { level, name: `q${String(Number((level * 100).toPrecision(12))).replace(".", "_")}` };
  });
}

/** "median", or "10th percentile". */
export function quantileLabel({ level, name }: QuantileColumn): string {
  if (level === 0.5) return "median";
  if (level === 0) return "shortest";
  if (level === 1) return "longest";
  const percent = name.slice(1).replace("_", ".");
  const ending = /(^|[^1])1$/.test(percent)
    ? "st"
    : /(^|[^1])2$/.test(percent)
      ? "nd"
      : /(^|[^1])3$/.test(percent)
        ? "rd"
        : "th";
  return `${percent}${ending} percentile`;
}

/** Something measured per run. */
export interface RunMeasure {
  /** SQL over runs: `_n` measurements, `_seconds` long. */
  readonly perRun: string;
  /** Which runs count, SQL; none means all. */
  readonly only?: string;
  readonly quantiles: readonly QuantileColumn[];
  /** Name of the array of quantiles in the answer. */
  readonly as: string;
}

/**
 * SQL for quantiles over runs by bucket and group.
 *
 * A run belongs to the bucket in which it starts; it is read whole, over the range's edges by the
 * margin, and counts where it starts inside the range. Grouping by report_id alone keeps a run that
 * crosses a bucket's edge in one piece.
 */
export function runsSql(asked: Asked, options: RunOptions, measures: readonly RunMeasure[]): Sql {
  const { range, every, by, table } = asked;
  const { time } = table;
  const wide = widen(range, options.margin ?? "24 hours");
  const source = sourceSql(asked, wide);
  const start = time.bound(range.start);
  const end = time.bound(range.end);
  const perRun = [
    `min(${time.sql}) AS _first`,
    `max(${time.sql}) AS _last`,
    "count() AS _n",
    ...by.map((column, index) => `${atStart(column, table, time.sql)} AS _c${index}`),
  ];
  const runs = `SELECT ${perRun.join(", ")}
${source.sql}
GROUP BY report_id
HAVING _first >= {start:${start.type}} AND _first < {end:${end.type}}`;
  const groups = [
    ...(every === null ? [] : [`${bucketSql(time.dateTime("_first"), every, range)} AS _t`]),
    ...by.map((_, index) => `${dimensionSql(`_c${index}`)} AS _d${index}`),
  ];
  const keys = groups.map((group) => group.slice(group.lastIndexOf(" ") + 1));
  const states = measures.map(({ perRun, only, quantiles, as }) => {
    const levels = quantiles.map(({ level }) => level).join(", ");
    const value = perRun.replaceAll("_seconds", `(${time.seconds("_first", "_last")})`);
    return only === undefined
      ? `quantilesExactInclusiveState(${levels})(${value}) AS ${as}`
      : `quantilesExactInclusiveStateIf(${levels})(${value}, ${only}) AS ${as}`;
  });
  const sums = ["count() AS _runs", "countIf(_n = 1) AS _single", "sum(_n) AS _measurements"];
  const cells = `SELECT ${[...groups, ...sums, ...states].join(", ")}
FROM (
${indent(runs)}
)${keys.length > 0 ? `\nGROUP BY ${keys.join(", ")}` : "\nHAVING _runs > 0"}`;
  const merged: CellMeasure[] = [
    ...["_runs", "_single", "_measurements"].map((name) => ({ sql: `sum(${name})`, as: name })),
    ...measures.map(({ quantiles, as }) => ({
      sql: `quantilesExactInclusiveMerge(${quantiles.map(({ level }) => level).join(", ")})(${as})`,
      as,
    })),
  ];
  return {
    sql: topGroupsSql(cells, asked, "sum(_runs)", merged),
    parameters: { ...source.parameters, start: start.value, end: end.value },
  };
}

/** A column's value at the run's first measurement: all of a run share it, unless the data is odd. */
function atStart(column: string, table: TableInfo, time: string): string {
  const name = quoteIdentifier(column);
  // argMin passes over nulls; a tuple keeps them.
  return /Nullable\(/.test(table.columns.get(column) ?? "")
    ? `argMin(tuple(${name}), ${time}).1`
    : `argMin(${name}, ${time})`;
}

/** `singles` as SQL over runs; undefined where all count. */
export function singlesSql(options: RunOptions): string | undefined {
  const { singles } = options as { singles?: unknown };
  if (singles === undefined || singles === "keep") return undefined;
  if (singles === "drop") return "_n > 1";
  throw new ProbelabError(
    `Can't use singles: ${JSON.stringify(singles)}: pass "keep" or "drop" for runs of a single measurement.`,
  );
}

/** The sentence that states the margin. */
export function marginNote(options: RunOptions): string {
  return `Runs are read up to ${options.margin ?? "24 hours"} beyond the range, so that those at its edges are whole; a run counts where it starts.`;
}

function widen(range: { start: Date; end: Date }, margin: string): { start: Date; end: Date } {
  const before = last(margin, { now: range.start });
  const size = before.end.getTime() - before.start.getTime();
  return { start: before.start, end: new Date(range.end.getTime() + size) };
}
