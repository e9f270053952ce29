import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { answerOrigin } from "../database/database.js";
import { plainType } from "../database/time-column.js";
import { grouped } from "../base/text.js";
import { m4Sql } from "../downsample/sql/m4-sql.js";
import { measurementSource } from "./measurement-source.js";
import { askRoom, type Asked, type MeasurementColumn } from "./questions.js";
import { asText } from "../query/dimension.js";
import { count } from "../query/measure.js";
import { bind, print, sql, type Sql } from "../query/sql.js";
import { type Where, whereText } from "../query/where.js";
import { Result, type Value } from "../result/result.js";
import { checkRange, type TimeRange } from "../time/time-range.js";

/** Options of `lab.measurements.values`. */
export interface ValuesOptions<
  Y extends MeasurementColumn = MeasurementColumn,
  B extends MeasurementColumn = MeasurementColumn,
> {
  /** The time to ask about, half-open: `last("3 months")` or `between(a, b)`. */
  readonly range: TimeRange;
  /** The column of numbers to draw, such as `test_runtime`. */
  readonly y: Y;
  /** The column whose values are the series; without it there is one. */
  readonly by?: B;
  /** Number of series that keep their name, those with the most measurements first; the rest is "other". Default 6. */
  readonly top?: number;
  /** False leaves out what is beyond the top, and says so (default true: it is "other"). */
  readonly other?: boolean;
  /** Pixel columns of the chart that will draw them; default 1000. */
  readonly width?: number;
  /** Filter: column to value, list of values, `prefix()`, or a comparison. */
  readonly where?: Where<MeasurementColumn>;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** A row of `lab.measurements.values`: null where a measurement has no number. Any columns where names are known only when it is asked. */
export type ValuesRow<Y extends string, B extends string> = string extends Y | B
  ? Record<string, Value>
  : {
      [Name in "t" | Y | B]: Name extends "t"
        ? Date
        : Name extends Y
          ? number | null
          : string | null;
    };

const OPTIONS = ["range", "y", "by", "top", "other", "width", "where", "signal"];

/** `lab.measurements.values`: see there. */
export async function values(of: Asked, options: ValuesOptions): Promise<Result> {
  const action = "read values";
  refuseUnknown(options, OPTIONS, action);
  const range = checkRange((options as ValuesOptions | undefined)?.range, action);
  const { y, by, top = 6, other = true, width = 1000, where = {}, signal } = options;
  const { database } = of;
  const table = await database.table("measurements");
  const taken = y === "t" || by === "t" ? "t" : by === y ? y : undefined;
  if (taken !== undefined) {
    throw new ProbelabError(
      `Can't ${action} of a column ${taken} ${taken === "t" ? "along time: that is the answer's column of time" : "by itself"}. Ask lab.measurements.ask, whose by and measures take names of your own.`,
    );
  }
  const all = measurementSource(table, { range, where });
  const { type, sql: column } = all.column(y);
  const plain = plainType(type);
  if (!/^(U?Int(8|16|32|64)|Float(32|64))$/.test(plain)) {
    throw new ProbelabError(
      `Can't draw ${y} along time: it is a ${type}. Pass a column of numbers, or count with lab.measurements.counts({ by: "${y}" }).`,
    );
  }
  if (!Number.isInteger(top) || top < 1 || top > 200) {
    throw new ProbelabError(
      `Can't keep ${String(top)} series of values: pass top: a whole number from 1 to 200.`,
    );
  }
  const sized = { range, by, top, other, where, every: "all", ...(signal && { signal }) } as const;
  const sizes =
    by === undefined
      ? undefined
      : (await askRoom(of, "measurements", { ...sized, by }, { n: count() }, { action })).origin;
  const { order = [], other: rest } = sizes?.columns.dimensions[0] ?? {};
  let rows = all.from(range);
  let series: Sql | undefined;
  if (by !== undefined) {
    const names = order.filter((name) => rest === undefined || name !== rest);
    series = asText(all.column(by).sql);
    const isKept = sql`has(${bind("kept", "Array(Nullable(String))", names)}, ${series})`;
    if (rest !== undefined) {
      series = sql`if(${isKept}, ${series}, ${bind("other", "String", rest)})`;
    } else if (!other) {
      rows = sql`${rows} AND ${isKept}`;
    }
  }
  const { time } = table;
  const timeType = table.columns.get(table.timeName) ?? "";
  const x = /^Date(Time(64)?)?\b/.test(timeType)
    ? { sql: time.sql, type: timeType }
    : { sql: `toDateTime64(${time.dateTime(time.sql)}, 6, 'UTC')`, type: "DateTime64(6, 'UTC')" };
  const slices = Math.floor(MOST_ROWS / (6 * (order.length || 1)));
  const columns = Math.max(1, Math.min(width, slices));
  const from = print(rows);
  const named = series && print(series);
  const m4 = m4Sql({
    from: from.sql,
    x,
    y: { sql: print(column).sql, type: plain === type ? type : `Nullable(${plain})` },
    ...(named && { series: named.sql }),
    ...{ start: range.start, end: range.end, width: columns },
  });
  const parameters = { ...from.parameters, ...named?.parameters, ...m4.parameters };
  const question = { sql: m4.sql, parameters, action, signal };
  const answer = await database.ask({ ...question, types: new Map([["x", x.type]]) });
  const drawn = answer.table.rename({ x: "t", y, ...(by !== undefined && { series: by }) });
  const cost = answerOrigin(database, question, range, answer);
  const filter = whereText(where);
  return new Result(drawn, {
    ...cost,
    rowsRead: cost.rowsRead + (sizes?.rowsRead ?? 0),
    bytesRead: cost.bytesRead + (sizes?.bytesRead ?? 0),
    ...(filter !== "" && { filter }),
    columns: {
      dimensions: [],
      measures: [{ name: y, label: y, unit: "", additive: false, missing: "gap", main: true }],
    },
    reductions: [
      ...(sizes?.reductions ?? []),
      `${grouped(drawn.numRows())} values: first, last, lowest and highest of ${grouped(columns)} equal slices of time.`,
    ],
    notes: [
      ...all.notes,
      ...(drawn.numRows() === 0 ? ["No measurement matches in the range."] : []),
    ],
  });
}
