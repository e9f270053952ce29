import { ProbelabError } from "../base/error.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { formatRange } from "../time/time-range.js";
import { drawing, lacking, noNumbers, sameColumn, textAxis, type Columns } from "./check-roles.js";
import type { ChartOptions } from "./options.js";
import { unusedName } from "./unused-name.js";

export type MarkType = "line" | "area" | "bar" | "points";

/** What the columns of a Result are in a chart. */
export interface Roles {
  readonly x: string;
  readonly xKind: "time" | "number" | "category";
  /** The step of the time column, where x is one. */
  readonly every?: Bucket;
  readonly y: string;
  /** The text of the one place along x, which is no column of the Result then. */
  readonly single?: string;
  /** What y measures; missing for a column of free SQL. */
  readonly measure?: MeasureColumn;
  /** Columns whose values tell the series apart. */
  readonly series: readonly string[];
  /** Dimensions of the Result that the chart doesn't show: their rows must be added up. */
  readonly hidden: readonly string[];
}

/** What a column holds; `empty` where nothing tells. */
export type ColumnKind = "time" | "number" | "text" | "empty";

/**
 * Which column goes where: as the options say, else as the Result's columns mean, else (free SQL)
 * the first column of dates, of numbers and of text. A bar of one row without a place stands at the
 * Result's range.
 *
 * @throws ProbelabError for a column that the Result has not or that can't be drawn so.
 */
export function chartRoles(result: Result, mark: MarkType, options: ChartOptions): Roles {
  const { time, dimensions, measures } = result.origin.columns;
  const names = result.columnNames;
  const kinds = new Map(names.map((name) => [name, kindOf(result, name)]));
  const of = (kind: ColumnKind): string | undefined =>
    names.find((name) => kinds.get(name) === kind);
  const columns = { mark, kinds, numRows: result.numRows, asked: measures.length > 0 };
  const { x: wantedX, y: wantedY, colour } = options;
  for (const [option, name] of Object.entries({ x: wantedX, y: wantedY, colour })) {
    if (typeof name === "string") checkColumn(names, name, `${drawing(mark)} with ${option}: `);
  }
  const meant = wantedX ?? time?.name ?? dimensions[0]?.name ?? of("time");
  const others = dimensions.map(({ name }) => name).filter((name) => name !== meant);
  const left = measures.filter(({ name }) => name !== meant);
  const measured = wantedY ?? defaultMeasure(left, mark, options, others)?.name;
  const along = meant ?? guessX(columns, measured, measures);
  const y = measured ?? names.find((name) => kinds.get(name) === "number" && name !== along);
  const single =
    mark === "bar" && along === undefined && result.numRows <= 1
      ? result.origin.range
        ? formatRange(result.origin.range)
        : "all rows"
      : undefined;
  const x = single === undefined ? along : unusedName(names, "range");
  if (x === undefined || y === undefined) throw lacking(columns, along);
  if (x === y) throw sameColumn(columns, x);
  if (!["number", "empty"].includes(kinds.get(y) ?? "")) throw noNumbers(columns, y);
  const xKind = { time: "time", number: "number", text: "category", empty: "category" } as const;
  const kind = x === time?.name ? "time" : xKind[kinds.get(x) ?? "text"];
  if (kind === "category" && mark !== "bar") throw textAxis(columns, x, y);
  const series = seriesColumns(colour, others, dimensions.length > 0, () => {
    const text = names.find((name) => kinds.get(name) === "text" && name !== x);
    return text === undefined ? [] : [text];
  });
  const measure = measures.find(({ name }) => name === y);
  return {
    x,
    xKind: kind,
    ...(single !== undefined && { single }),
    ...(x === time?.name && { every: time.every }),
    y,
    ...(measure && { measure }),
    series: series.filter((name) => name !== x),
    hidden: others.filter((name) => !series.includes(name)),
  };
}

/** Where nothing tells what is along the axis: numbers, but y, which bars come after text. */
function guessX(
  { mark, kinds }: Columns,
  y: string | undefined,
  measures: readonly MeasureColumn[],
): string | undefined {
  const names = [...kinds.keys()];
  const text = names.find((name) => kinds.get(name) === "text");
  const numbers = names.filter((name) => kinds.get(name) === "number" && name !== y);
  // Bars are of values, they don't stand at them.
  const places =
    mark === "bar"
      ? numbers.filter((name) => !measures.some((each) => each.name === name))
      : numbers;
  // One must be left to be y.
  const number = y === undefined && numbers.length < 2 ? undefined : places[0];
  return mark === "bar" ? (text ?? number) : (number ?? text);
}

/** The names as `"t", "runs"`. */
export function list(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ") || "none";
}

/** Throws where a column is none of the Result's. */
export function checkColumn(names: readonly string[], name: string, before: string): void {
  if (names.includes(name)) return;
  throw new ProbelabError(
    `Can't ${before}there is no column ${JSON.stringify(name)}; the columns are ${list(names)}.`,
  );
}

/** What the question is about, unless the chart adds up values that can't be. */
function defaultMeasure(
  measures: readonly MeasureColumn[],
  mark: MarkType,
  { colour }: ChartOptions,
  others: readonly string[],
): MeasureColumn | undefined {
  const main = measures.find((measure) => measure.main) ?? measures[0];
  const series = seriesColumns(colour, others, true, () => []);
  const stacked = (mark === "area" || mark === "bar") && series.length > 0;
  const added = stacked || others.some((name) => !series.includes(name));
  if (main?.additive === true || !added) return main;
  return measures.find(({ additive }) => additive) ?? main;
}

function seriesColumns(
  colour: string | null | undefined,
  dimensions: readonly string[],
  known: boolean,
  guess: () => string[],
): readonly string[] {
  if (colour === null) return [];
  if (colour !== undefined) return [colour];
  return known ? dimensions : guess();
}

/** What all values of a column are; `text` where they are of several kinds. */
function kindOf(result: Result, name: string): ColumnKind {
  const column = result.table.getter(name);
  let kind: ColumnKind = "empty";
  for (let row = 0; row < result.numRows && kind !== "text"; row++) {
    const value = column(row) as Value;
    if (value === null || value === undefined) continue;
    const own = valueKind(value);
    kind = kind === "empty" || kind === own ? own : "text";
  }
  if (kind !== "empty") return kind;
  const { kinds = {} } = result.origin.columns;
  return (Object.hasOwn(kinds, name) && kinds[name]) || "empty";
}

function valueKind(value: Value): ColumnKind {
  if (value instanceof Date) return "time";
  return typeof value === "number" || typeof value === "bigint" ? "number" : "text";
}
