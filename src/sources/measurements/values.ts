import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { answerOrigin } from "../../database/database.js";
import { grouped } from "../../base/text.js";
import { askRoom, type QuestionSource, type MeasurementColumn } from "./questions.js";
import { asText } from "../../query/clickhouse.js";
import { count } from "../../query/measure.js";
import { m4Sql } from "../../query/m4-sql.js";
import { Plan } from "../../query/plan.js";
import { bind, print, sql, type Sql } from "../../query/sql.js";
import { whereText, type Where } from "../../query/where.js";
import { costOf, gapMeasure } from "../../result/origin.js";
import { downsample } from "../../result/downsample/downsample.js";
import { Result, type Value } from "../../result/result.js";
import { checkRange, type TimeRange } from "../../time/time-range.js";

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
  /** Number of series that keep their name, those with the most measurements first; the rest is "other". @default 6 */
  readonly top?: number;
  /** False leaves out what is beyond the top, and says so; true makes it "other". @default true */
  readonly other?: boolean;
  /** Pixel columns of the chart that will draw them. @default 1000 */
  readonly width?: number;
  /** Filter: column to value, list of values, `prefix()`, or a comparison. */
  readonly where?: Where<MeasurementColumn>;
  /** Stops the query at the server. @default the interrupt of the running cell */
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

/** Most rows to ask for; pixel columns of 50 series at 1,000 pixels. */
const MOST_ASKED = 300_000;

const OPTIONS = ["range", "y", "by", "top", "other", "width", "where", "signal"];

/** `lab.measurements.values`: see there. */
export async function values(of: QuestionSource, options: ValuesOptions): Promise<Result> {
  const action = "read values";
  refuseUnknown(options, OPTIONS, action);
  const range = checkRange((options as ValuesOptions | undefined)?.range, action);
  const { y, by, top = 6, other = true, width = 1000, where = {}, signal } = options;
  const taken = y === "t" || by === "t" ? "t" : by === y ? y : undefined;
  if (taken !== undefined) {
    throw new ProbelabError(
      `Can't ${action} of a column ${taken} ${taken === "t" ? "along time: that is the answer's column of time" : "by itself"}. Ask lab.measurements.ask, whose by and measures take names of your own.`,
    );
  }
  if (!Number.isInteger(top) || top < 1 || top > 200) {
    throw new ProbelabError(
      `Can't keep ${String(top)} series of values: pass top: a whole number from 1 to 200.`,
    );
  }
  const source = await of.measurements({ range, where });
  const { sql: number, type } = new Plan(source).number(y, "draw along time");
  const sized = { range, by, top, other, where, every: "all", ...(signal && { signal }) } as const;
  const sizes =
    by === undefined
      ? undefined
      : (await askRoom(of, "measurements", { ...sized, by }, { n: count() }, { action })).origin;
  const { order = [], other: rest } = sizes?.columns.dimensions[0] ?? {};
  let series: Sql | undefined;
  let from = (range: TimeRange) => source.from(range);
  if (by !== undefined) {
    const names = order.filter((name) => rest === undefined || name !== rest);
    const name = asText(source.column(by).sql);
    const isKept = sql`has(${bind("kept", "Array(Nullable(String))", names)}, ${name})`;
    series =
      rest === undefined ? name : sql`if(${isKept}, ${name}, ${bind("other", "String", rest)})`;
    if (rest === undefined && !other) from = (range) => sql`${source.from(range)} AND ${isKept}`;
  }
  const slices = Math.floor(MOST_ASKED / (6 * (order.length || 1)));
  const columns = Math.max(1, Math.min(width, slices));
  const drawn = {
    source: { from, instant: source.instant },
    y: number,
    gaps: /Float|Nullable/.test(type),
  };
  const question = { ...print(m4Sql({ ...drawn, series, range, width: columns })), action, signal };
  const answer = await of.database.ask(question);
  const asked = answer.table.rename({ y, ...(by !== undefined && { series: by }) });
  const cost = answerOrigin(of.database, question, range, answer);
  const filter = whereText(where);
  const known = sizes?.columns.dimensions[0];
  const result = new Result(asked, {
    ...cost,
    ...costOf(cost, ...(sizes ? [sizes] : [])),
    ...(filter !== "" && { filter }),
    columns: {
      dimensions: known ? [known] : [],
      measures: [{ ...gapMeasure(y, y, ""), main: true }],
    },
    reductions: [
      ...(sizes?.reductions ?? []),
      `${grouped(asked.numRows())} values: first, last, lowest and highest of ${grouped(columns)} equal slices of time.`,
    ],
    notes: [
      ...source.notes,
      ...(asked.numRows() === 0 ? ["No measurement matches in the range."] : []),
    ],
  });
  const line = { x: "t", y, width, ...(by !== undefined && { series: by }) };
  return downsample(result, line);
}
