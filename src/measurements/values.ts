import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { answerOrigin, type Database } from "../database/database.js";
import { plainType } from "../database/time-column.js";
import { grouped } from "../base/text.js";
import { m4Sql } from "../downsample/sql/m4-sql.js";
import { dedupeNotes, tableColumn } from "./measurement-source.js";
import type { MeasurementColumn } from "./questions.js";
import { asText } from "../query/dimension.js";
import { tableBounds } from "../query/source.js";
import { and, bind, print, raw, select, sql, type Sql } from "../query/sql.js";
import { type Where, whereSql, whereText } from "../query/where.js";
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
export async function values(database: Database, options: ValuesOptions): Promise<Result> {
  const action = "read values";
  refuseUnknown(options, OPTIONS, action);
  const range = checkRange((options as ValuesOptions | undefined)?.range, action);
  const { y, by, top = 6, other = true, width = 1000, where = {}, signal } = options;
  const table = await database.table("measurements");
  const { time } = table;
  const taken = y === "t" || by === "t" ? "t" : by === y ? y : undefined;
  if (taken !== undefined) {
    throw new ProbelabError(
      `Can't ${action} of a column ${taken} ${taken === "t" ? "along time: that is the answer's column of time" : "by itself"}. Ask lab.measurements.ask, whose by and measures take names of your own.`,
    );
  }
  const { type, sql: column } = tableColumn(table, y);
  if (!/^(U?Int(8|16|32|64)|Float(32|64))$/.test(plainType(type))) {
    throw new ProbelabError(
      `Can't draw ${y} along time: it is a ${type}. Pass a column of numbers, or count with lab.measurements.counts({ by: "${y}" }).`,
    );
  }
  if (!Number.isInteger(top) || top < 1 || top > 200) {
    throw new ProbelabError(
      `Can't keep ${String(top)} series of values: pass top: a whole number from 1 to 200.`,
    );
  }
  const find = (name: string) => tableColumn(table, name);
  const conditions = [...tableBounds(table, range), ...whereSql(where, find)];
  const from = `${table.from}${table.merges ? " FINAL" : ""}`;
  const text = by === undefined ? null : asText(find(by).sql);
  const kept =
    text === null
      ? null
      : await largest(database, raw(from), text, conditions, top, { action, signal });
  const merged = kept !== null && kept.others > 0 && other;
  const columns = Math.max(
    1,
    Math.min(width, Math.floor(MOST_ROWS / (6 * ((kept?.names.length || 1) + Number(merged))))),
  );
  const names = bind("kept", "Array(Nullable(String))", kept?.names ?? []);
  const isKept = text && sql`has(${names}, ${text})`;
  const series =
    text &&
    (merged ? sql`if(${isKept!}, ${text}, ${bind("other", "String", kept.otherLabel)})` : text);
  const only = print(
    and(kept !== null && kept.others > 0 && !other ? [...conditions, isKept!] : conditions),
  );
  const seriesSql = series === null ? null : print(series);
  const timeType = table.columns.get(table.timeName) ?? "";
  const plain = /^Date(Time(64)?)?\b/.test(timeType);
  const m4 = m4Sql({
    from,
    where: only.sql,
    x: plain
      ? { sql: time.sql, type: timeType }
      : {
          sql: `toDateTime64(${time.dateTime(time.sql)}, 6, 'UTC')`,
          type: "DateTime64(6, 'UTC')",
        },
    y: {
      sql: print(column).sql,
      type: plainType(type) === type ? type : `Nullable(${plainType(type)})`,
    },
    ...(seriesSql !== null && { series: seriesSql.sql }),
    start: range.start,
    end: range.end,
    width: columns,
  });
  const parameters = { ...only.parameters, ...seriesSql?.parameters, ...m4.parameters };
  const types = new Map([["x", plain ? timeType : "DateTime64(6, 'UTC')"]]);
  const question = { sql: m4.sql, parameters };
  const answer = await database.ask({ ...question, action, types, signal });
  const renamed = answer.table.rename({ x: "t", y, ...(by !== undefined && { series: by }) });
  const rows = renamed.numRows();
  const cost = answerOrigin(database, question, range, answer);
  const filter = whereText(where);
  return new Result(renamed, {
    ...cost,
    rowsRead: cost.rowsRead + (kept?.rowsRead ?? 0),
    bytesRead: cost.bytesRead + (kept?.bytesRead ?? 0),
    ...(filter !== "" && { filter }),
    columns: {
      dimensions: [],
      measures: [{ name: y, label: y, unit: "", additive: false, missing: "gap", main: true }],
    },
    reductions: [
      ...(kept === null || by === undefined ? [] : restSentence(by, kept, other)),
      `${grouped(rows)} values: first, last, lowest and highest of ${grouped(columns)} equal slices of time.`,
    ],
    notes: [
      ...dedupeNotes(table, undefined),
      ...table.notes,
      ...(rows === 0 ? ["No measurement matches in the range."] : []),
    ],
  });
}

interface Kept {
  /** The values with the most measurements, null and "" apart. */
  readonly names: readonly (string | null)[];
  readonly others: number;
  readonly otherMeasurements: number;
  readonly otherLabel: string;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

async function largest(
  database: Database,
  from: Sql,
  text: Sql,
  conditions: readonly Sql[],
  top: number,
  call: { readonly action: string; readonly signal: AbortSignal | undefined },
): Promise<Kept> {
  const groups = select({
    columns: [
      ["name", text],
      ["n", raw("count()")],
      ["all", raw("sum(n) OVER ()")],
      ["groups", raw("count() OVER ()")],
    ],
    from,
    where: conditions,
    groupBy: ["name"],
    orderBy: [raw("n DESC"), raw("name")],
  });
  const answer = await database.ask({
    ...print(sql`${groups}\nLIMIT ${raw(String(top))}`),
    ...call,
  });
  const found = answer.table.objects() as Record<string, Value>[];
  const names = found.map((row) => (row["name"] as string | null) ?? null);
  const [first] = found;
  const inAll = Number(first?.["all"] ?? 0);
  return {
    names,
    others: Number(first?.["groups"] ?? 0) - names.length,
    otherMeasurements: inAll - found.reduce((sum, row) => sum + Number(row["n"]), 0),
    otherLabel: names.includes("other") ? "other (rest)" : "other",
    rowsRead: answer.rowsRead,
    bytesRead: answer.bytesRead,
  };
}

function restSentence(by: string, kept: Kept, other: boolean): string[] {
  const { names, others, otherMeasurements, otherLabel } = kept;
  if (others <= 0) return [];
  const which = others === 1 ? "one other" : `${grouped(others)} others`;
  const held = `${which} with ${grouped(otherMeasurements)} measurements`;
  return [
    `The ${names.length} series of ${by} with the most measurements; ${other ? `"${otherLabel}" holds ${held}` : `${held} left out`}.`,
  ];
}
