import { answerOrigin } from "../database/answer-origin.js";
import type { Database } from "../database/database.js";
import { unknownColumn } from "../database/table-info.js";
import { boundsSql, plainType, quoteIdentifier } from "../database/time-column.js";
import { m4Sql } from "../downsample/sql/m4-sql.js";
import { ProbelabError } from "../error.js";
import { filterSql } from "../measurements/filter.js";
import { dimensionSql, type MeasurementOptions } from "../measurements/question.js";
import { Result } from "../result/result.js";
import { checkRange } from "../time/time-range.js";

/** What `lab.values` takes. */
export interface ValuesOptions extends Pick<MeasurementOptions, "range" | "where" | "signal"> {
  /** The column of numbers to draw, such as `test_runtime`. */
  readonly y: string;
  /** A column that tells series apart; without it there is one. */
  readonly by?: string;
  /** How many series are kept, those with the most measurements first; the others are left out. Default 6. */
  readonly top?: number;
  /** Pixel columns of the chart that will draw them; default 1000. */
  readonly width?: number;
}

/** A chart draws fewer than 5,000 rows. */
const MOST_ROWS = 4_999;

/** `lab.values`: see {@link Lab.values}. */
export async function values(database: Database, options: ValuesOptions): Promise<Result> {
  const action = "read values";
  const range = checkRange((options as ValuesOptions | undefined)?.range, action);
  const { y, by, top = 6, width = 1000 } = options;
  const table = await database.table("measurements");
  const type = table.columns.get(y);
  for (const name of by === undefined ? [y] : [y, by]) {
    if (!table.columns.has(name)) throw unknownColumn(name, table.name, table.columns);
  }
  if (type === undefined || !/^(U?Int(8|16|32|64)|Float(32|64))$/.test(plainType(type))) {
    throw new ProbelabError(
      `Can't draw ${y} along time: it is a ${type}. Pass a column of numbers, or count with lab.measurements.counts({ by: "${y}" }).`,
    );
  }
  if (!Number.isInteger(top) || top < 1 || top > 200) {
    throw new ProbelabError(
      `Can't keep ${String(top)} series of values: pass top: a whole number from 1 to 200.`,
    );
  }
  const bounds = boundsSql(table.time, range);
  const filter = filterSql(options.where, table);
  const where = [bounds.sql, ...(filter ? [filter.sql] : [])].join(" AND ");
  const bound = { ...bounds.parameters, ...filter?.parameters };
  const kept = by === undefined ? null : await largest(database, by, where, bound, top);
  const series = by === undefined ? null : `ifNull(${dimensionSql(by)}, '')`;
  const columns = Math.max(
    1,
    Math.min(width, Math.floor(MOST_ROWS / (6 * (kept?.names.length || 1)))),
  );
  const time = table.columns.get("measurement_start_time") ?? "";
  const plain = /^Date(Time(64)?)?\b/.test(time);
  const m4 = m4Sql({
    from: table.from,
    where: kept === null ? where : `${where} AND has({kept:Array(String)}, ${series})`,
    x: plain
      ? { sql: table.time.sql, type: time }
      : {
          sql: `toDateTime64(${table.time.dateTime(table.time.sql)}, 6, 'UTC')`,
          type: "DateTime64(6, 'UTC')",
        },
    y: {
      sql: quoteIdentifier(y),
      type: plainType(type) === type ? type : `Nullable(${plainType(type)})`,
    },
    ...(series !== null && { series }),
    start: range.start,
    end: range.end,
    width: columns,
  });
  const parameters = { ...bound, ...m4.parameters, ...(kept && { kept: kept.names }) };
  const types = new Map([["x", plain ? time : "DateTime64(6, 'UTC')"]]);
  const { sql } = m4;
  const answer = await database.ask({ sql, parameters, action, types, signal: options.signal });
  const renamed = answer.table.rename({ x: "t", y, ...(by !== undefined && { series: by }) });
  const rows = renamed.numRows();
  return new Result(renamed, {
    ...answerOrigin(database, { sql, parameters }, range, answer),
    columns: {
      dimensions: [],
      measures: [{ name: y, label: y, unit: "", additive: false, missing: "gap", main: true }],
    },
    reductions: [
      ...(kept?.leftOut ?? []),
      `${rows.toLocaleString("en-US")} values: first, last, lowest and highest in each of ${columns.toLocaleString("en-US")} columns of time.`,
    ],
    notes: rows === 0 ? ["No measurement matches in the range."] : [],
  });
}

async function largest(
  database: Database,
  by: string,
  where: string,
  parameters: Record<string, unknown>,
  top: number,
) {
  const found = await database.rows<{ name: string; n: number; all: number; groups: number }>(
    `SELECT ifNull(${dimensionSql(by)}, '') AS name, count() AS n, sum(n) OVER () AS all, count() OVER () AS groups
     FROM fastpath WHERE ${where} GROUP BY name ORDER BY n DESC, name LIMIT ${top}`,
    parameters,
    "read values",
  );
  const names = found.map((row) => row.name);
  const [first] = found;
  const rest = Number(first?.all ?? 0) - found.reduce((sum, row) => sum + Number(row.n), 0);
  const others = Number(first?.groups ?? 0) - names.length;
  const leftOut =
    others > 0
      ? [
          `The ${names.length} series of ${by} with the most measurements; ${others === 1 ? "one other" : `${others.toLocaleString("en-US")} others`} with ${rest.toLocaleString("en-US")} measurements left out.`,
        ]
      : [];
  return { names, leftOut };
}
