import type { TableInfo } from "../database/table-info.js";
import { filtered, measurementsFrom } from "../measurements/measurement-source.js";
import { withoutReport } from "../measurements/run-source.js";
import { raw, select, sql, type Column, type Sql } from "../query/sql.js";
import type { Where } from "../query/where.js";
import { last, type TimeRange } from "../time/time-range.js";
import { columnOf } from "./held.js";

/**
 * The pieces of runs in a table: a row for each run, hour of UTC and combination of dimensions, with
 * its first and last time as the table writes them and its measurements.
 *
 * Whatever hours a question is about, the measurements of a run that it sees are whole pieces, so
 * counts and runs made of pieces are those of the table. A run is known by 128 bits of its
 * report_id's hash: two of 10⁹ share one with a probability of 10⁻²¹.
 */
export function piecesSql(
  table: TableInfo,
  dimensions: readonly string[],
  range: Pick<TimeRange, "start" | "end">,
  where: Where,
): Sql {
  const { time } = table;
  const report = table.column("report_id");
  const nullable = /Nullable\(/.test(table.columns.get("report_id") ?? "");
  const known = nullable ? `assumeNotNull(${report})` : report;
  const { conditions } = filtered(table, last("1 hour", { now: range.end }), where);
  return select({
    columns: [
      ["_hour", hourOf(time.dateTime(time.sql))],
      ["_run", raw(`any(reinterpretAsUInt128(sipHash128(${known})))`)],
      ["_no_report", sql`toUInt8(any(${withoutReport(table) ?? raw("0")}))`],
      ["_first", raw(`min(${time.sql})`)],
      ["_last", raw(`max(${time.sql})`)],
      ["_measurements", raw("count()")],
      ...dimensions.map((name): Column => [columnOf(name), raw(table.column(name))]),
    ],
    from: measurementsFrom(table, {}, range, conditions),
    groupBy: [raw(report), "_hour", ...dimensions.map(columnOf)],
  });
}

/** The columns of a piece, besides its dimensions; the table's own may be called so, those of `piecesSql` are `_hour` … */
export const PIECE = ["hour", "run", "no_report", "first", "last", "measurements"] as const;

function hourOf(instant: string): Sql {
  return raw(`toDateTime(intDiv(toUnixTimestamp(${instant}), 3600) * 3600, 'UTC')`);
}
