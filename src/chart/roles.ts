import { ProbelabError } from "../error.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import type { ChartOptions } from "./options.js";

export type MarkType = "line" | "area" | "bar" | "points";

/** What the columns of a Result are in a chart. */
export interface Roles {
  readonly x: string;
  readonly xKind: "time" | "number" | "category";
  /** The step of the time column, where x is one. */
  readonly every?: Bucket;
  readonly y: string;
  /** What y measures; missing for a column of free SQL. */
  readonly measure?: MeasureColumn;
  /** Columns whose values tell the series apart. */
  readonly series: readonly string[];
  /** Dimensions of the Result that the chart doesn't show: their rows must be added up. */
  readonly hidden: readonly string[];
}

/**
 * Which column goes where: as the options say, else as the Result's columns mean, else (free SQL)
 * the first column of dates, of numbers and of text.
 *
 * @throws ProbelabError for a column that the Result has not or that can't be drawn so.
 */
export function chartRoles(result: Result, mark: MarkType, options: ChartOptions): Roles {
  const { time, dimensions, measures } = result.origin.columns;
  const names = result.columnNames;
  const kinds = new Map(names.map((name) => [name, kindOf(result, name)]));
  const of = (kind: string): string | undefined => names.find((name) => kinds.get(name) === kind);
  const action = `draw ${article(mark)}`;
  for (const [option, name] of Object.entries({
    x: options.x,
    y: options.y,
    colour: options.colour,
  })) {
    if (typeof name === "string") checkColumn(names, name, `${action} with ${option}: `);
  }
  const guess = mark === "bar" ? (of("text") ?? of("number")) : (of("number") ?? of("text"));
  const x = options.x ?? time?.name ?? dimensions[0]?.name ?? of("time") ?? guess;
  const others = dimensions.map(({ name }) => name).filter((name) => name !== x);
  const y =
    options.y ??
    defaultMeasure(measures, mark, options, others)?.name ??
    names.find((name) => kinds.get(name) === "number" && name !== x);
  if (x === undefined || y === undefined) {
    throw new ProbelabError(
      `Can't ${action} of a Result with the columns ${list(names)}: it needs a column along the axis and one of numbers; name them as x and y.`,
    );
  }
  if (!["number", "empty"].includes(kinds.get(y) ?? "")) {
    throw new ProbelabError(
      `Can't ${action} with y: ${JSON.stringify(y)}, which holds ${kinds.get(y)}: pass a column of numbers, such as ${list(names.filter((name) => kinds.get(name) === "number"))}.`,
    );
  }
  const xKind = { time: "time", number: "number", text: "category", empty: "category" } as const;
  const kind = x === time?.name ? "time" : xKind[kinds.get(x) ?? "text"];
  if (kind === "category" && mark !== "bar") {
    throw new ProbelabError(
      `Can't ${action} along ${JSON.stringify(x)}, which holds text: pass x: a column of times or numbers, or use chart.bar.`,
    );
  }
  const series = seriesColumns(options.colour, others, dimensions.length > 0, () => {
    const text = names.find((name) => kinds.get(name) === "text" && name !== x);
    return text === undefined ? [] : [text];
  });
  const measure = measures.find(({ name }) => name === y);
  return {
    x,
    xKind: kind,
    ...(x === time?.name && { every: time.every }),
    y,
    ...(measure && { measure }),
    series: series.filter((name) => name !== x),
    hidden: others.filter((name) => !series.includes(name)),
  };
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

function kindOf(result: Result, name: string): "time" | "number" | "text" | "empty" {
  const column = result.table.getter(name);
  for (let row = 0; row < result.numRows; row++) {
    const value = column(row) as Value;
    if (value === null || value === undefined) continue;
    if (value instanceof Date) return "time";
    return typeof value === "number" || typeof value === "bigint" ? "number" : "text";
  }
  const { kinds = {} } = result.origin.columns;
  return (Object.hasOwn(kinds, name) && kinds[name]) || "empty";
}

function article(mark: MarkType): string {
  return { line: "a line", area: "an area", bar: "bars", points: "points" }[mark];
}
