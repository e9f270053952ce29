import { ProbelabError } from "../base/error.js";
import { textOf } from "../base/text.js";
import { isNaming } from "../result/column-words.js";
import { valueKey } from "../result/json.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import type { Checks, Options, KindName } from "./options.js";

/** A kind of chart, as far as it decides which columns and rows are drawn. */
export interface RowsKind {
  readonly name: KindName;
  /** Its marks, in errors: `a line`. */
  readonly noun: string;
  /** Checks of the options that it takes. */
  readonly options: Checks;
  /** True where a value is drawn as a size: it begins at zero, and those of several series are added up. */
  readonly sizes: boolean;
  /** True where texts can be along the axis; series of what can't be added up then stand beside each other. */
  readonly categories: boolean;
  /** The most series that can be told apart; default 24. */
  readonly mostSeries?: number;
  /** The option by which it draws a low and a high value of each point; default none. */
  readonly extent?: "band" | "interval";
  /** Brings the rows of a Result under those that a chart takes. @throws ProbelabError where that isn't true any more. */
  reduce(this: void, work: Work, roles: Roles, options: Options, most: number): Reduced;
  /** Says which rows stand in one place. @throws ProbelabError where they would hide each other. */
  shared(this: void, result: Result, roles: Roles, lines: string | undefined): string[];
}

/** A Result whose rows have one series column at most, and one row per x, series and panel. */
export interface Work {
  readonly result: Result;
  readonly series?: string;
  /** The column that tells series and panels apart. */
  readonly lines: string | undefined;
  readonly sentences: readonly string[];
}

/** Rows that a chart takes, and what was done to them. */
export interface Reduced {
  readonly result: Result;
  /** Those that are drawn, and where some are missing, in any order of x; default all of the Result. */
  readonly drawn?: readonly DrawnRow[];
  readonly sentences: readonly string[];
  /** Says where lines end, for want of rows. */
  readonly gaps?: readonly string[];
}

/** A row of a Result, or a missing one of its series and panel, at a place of its own. */
export interface DrawnRow {
  readonly row: number;
  readonly added?: { readonly x: number; readonly y: number };
  /** The highest value of the slice that it stands for, where that is not its own. */
  readonly top?: number;
}

/** The columns of a Result by their place in a chart. */
export interface Roles {
  readonly x: string;
  /** The table's column, where x is another name of it. */
  readonly xOf?: string;
  readonly xKind: "time" | "number" | "category";
  readonly y: string;
  /** The measure in y; missing for a column of free SQL. */
  readonly measure?: MeasureColumn;
  /** Columns whose values are the series. */
  readonly series: readonly string[];
  /** Column whose values are the panels. */
  readonly facet?: string;
  /** Dimensions of the Result, and its time, that the chart doesn't show: their rows must be added up. Of dots along a measure none: each is a row. */
  readonly hidden: readonly string[];
}

/** Kind of the values of a column; `empty` where it is unknown. */
type ColumnKind = "time" | "number" | "text" | "empty";

/**
 * Which column goes where: as the options say, else as the Result's columns mean, else (free SQL) the
 * first column of dates, of numbers and of text. @throws ProbelabError for what can't be drawn so.
 */
export function chartRoles(result: Result, kind: RowsKind, options: Options): Roles {
  const { measures, ...columns } = result.origin.columns;
  const { x: wantedX, y: wantedY, color, facet, stack } = options;
  const names = result.columnNames().filter((name) => name !== facet);
  const dimensions = columns.dimensions.filter(({ name }) => name !== facet);
  const draw = `draw ${kind.noun}`;
  const refusal = (why: string): ProbelabError => new ProbelabError(`Can't ${draw} ${why}.`);
  for (const [option, given] of Object.entries({ x: wantedX, y: wantedY, color })) {
    for (const name of [given ?? []].flat()) checkColumn(names, name, `${draw} with ${option}: `);
  }
  if (facet !== undefined) checkColumn(result.columnNames(), facet, `${draw} with facet: `);
  const time = names.includes(columns.time?.name ?? "") ? columns.time : undefined;
  const holds = new Map(names.map((name) => [name, columnKind(result, name)]));
  const named = (...kinds: ColumnKind[]): string[] =>
    names.filter((name) => kinds.includes(holds.get(name) ?? "empty"));
  const amounts = named("number").filter((name) => name !== wantedX || kind.categories);
  const naming = amounts.filter(
    (name) => isNaming(name) && name !== wantedY && !measures.some((each) => each.name === name),
  );
  // Numbers that name something are values like texts, as long as others are left to be drawn.
  if (named("number").length > naming.length) for (const name of naming) holds.set(name, "text");
  const isCategory = (name = ""): boolean =>
    name !== time?.name && ["text", "empty"].includes(holds.get(name) ?? "");
  // Rows that aren't grouped have instants, and dimensions that are series.
  const instants = named("time").filter((name) => !measures.some((each) => each.name === name));
  const instant = kind.categories ? undefined : instants[0];
  const meant = wantedX ?? time?.name ?? instant ?? dimensions[0]?.name ?? named("time")[0];
  const others = dimensions.map(({ name }) => name).filter((name) => name !== meant);
  const shown = color === null ? [] : color === undefined ? others : [color].flat();
  const alongMeasure = !kind.sizes && measures.some(({ name }) => name === meant);
  const grouped = [...(time ? [time.name] : []), ...others];
  const hidden = grouped.filter((name) => !alongMeasure && name !== meant && !shown.includes(name));
  // What the question is about, unless the chart adds up values that can't be: bars of categories
  // can stand beside each other.
  const free = measures.filter(({ name }) => name !== meant);
  const main = free.find((measure) => measure.main) ?? free[0];
  const dodged = stack === false || (stack === undefined && isCategory(meant));
  const stacks = kind.sizes && !(kind.categories && dodged) && shown.length > 0;
  const adds = ({ additive, quotient }: MeasureColumn): boolean =>
    additive || (!stacks && quotient?.every((name) => names.includes(name)) === true);
  const added = stacks || hidden.length > 0;
  const instead = added && main && !adds(main) ? free.find(({ additive }) => additive) : main;
  const measured = wantedY ?? (instead ?? main)?.name;
  const numbers = named("number");
  const x = meant ?? guessX();
  const y = measured ?? numbers.find((name) => name !== x);
  if (x === undefined || y === undefined) {
    const what =
      numbers.length === 0
        ? `of numbers: ${CONVERT}`
        : x === undefined
          ? `along the axis beside ${list(numbers)}: ask with every: "auto", select a time, a number or a text in the query, or show it with table`
          : `of numbers beside ${JSON.stringify(x)}: pass another one as x, or use chart.bar`;
    throw refusal(`of a Result with the columns ${list(names)}: it needs a column ${what}`);
  }
  if (x === y) {
    throw refusal(
      `with ${JSON.stringify(x)} as x and as y: pass two columns of ${list(names)}, or leave out x`,
    );
  }
  if (!["number", "empty"].includes(holds.get(y) ?? "")) {
    const such = `pass a column of numbers, such as ${list(numbers)}`;
    const remedy = numbers.length === 0 ? CONVERT : such;
    throw refusal(`with y: ${JSON.stringify(y)}, which holds ${holds.get(y)}: ${remedy}`);
  }
  const xKind =
    isCategory(x) ||
    (kind.categories &&
      holds.get(x) === "number" &&
      new Set(result.column(x).map(valueKey)).size <= MOST_CATEGORIES)
      ? "category"
      : x === time?.name || holds.get(x) === "time"
        ? "time"
        : "number";
  if (xKind === "category" && !kind.categories) {
    const along = named("time", "number").filter((name) => name !== x && name !== y);
    const pass = `pass a column of times or numbers as x, ${list(along)}, or `;
    throw refusal(
      isDates(result, x)
        ? `along ${JSON.stringify(x)}, which holds dates as text: make times of them, rows(own, { ${x}: "day" })`
        : `along ${JSON.stringify(x)}, which holds text: ${along.length > 0 ? pass : ""}use chart.bar`,
    );
  }
  const guess = dimensions.length === 0 && color === undefined;
  const series = (guess ? named("text") : shown).filter((name) => name !== x);
  const measure = measures.find(({ name }) => name === y);
  const xOf = dimensions.find(({ name }) => name === x)?.of;
  return {
    x,
    ...(xOf !== undefined && { xOf }),
    xKind,
    y,
    ...(measure && { measure }),
    series: guess ? series.slice(0, 1) : series,
    ...(facet !== undefined && { facet }),
    hidden,
  };

  /** Guesses the column along the axis: a number other than y; for bars text first. */
  function guessX(): string | undefined {
    const text = named("text")[0];
    const rest = numbers.filter((name) => name !== measured);
    // Bars are of values, they don't stand at them.
    const places = kind.categories
      ? rest.filter((name) => !measures.some((each) => each.name === name))
      : rest;
    // One must be left to be y.
    const number = measured === undefined && rest.length < 2 ? undefined : places[0];
    return kind.categories ? (text ?? number) : (number ?? text);
  }
}

/** True for a column of texts that begin with a date. */
function isDates(result: Result, name: string): boolean {
  const known = result.column(name).filter((value) => value !== null && value !== undefined);
  return known.length > 0 && known.every((value) => /^\d{4}-\d{2}-\d{2}/.test(textOf(value)));
}

const CONVERT =
  "count or convert in the query (count() AS n, toFloat64OrNull(text) AS n), or show it with table";

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

/** More bars or cells have no room for their names. */
export const MOST_CATEGORIES = 60;

/** The years that an axis takes: Vega looks for seconds for the ticks of 500,000 years. */
const [FIRST_TIME, LAST_TIME] = [Date.parse("0001-01-01"), Date.parse("9999-12-31T23:59:59.999Z")];

/**
 * Kind of all values of a column; `text` where they are of several kinds.
 *
 * @throws ProbelabError for a time that isn't of the years 1 to 9999.
 */
function columnKind(result: Result, name: string): ColumnKind {
  const kinds = new Set<ColumnKind>();
  const column = result.table.getter(name);
  for (let row = 0; row < result.numRows() && kinds.size < 2; row++) {
    const value = column(row) as Value;
    if (value === null || value === undefined) continue;
    if (value instanceof Date && (+value < FIRST_TIME || +value > LAST_TIME)) {
      throw new ProbelabError(
        `Can't draw ${JSON.stringify(name)}: it holds ${value.toISOString()}, and an axis takes the years 1 to 9999. Leave out the rows of broken clocks.`,
      );
    }
    const number = typeof value === "number" || typeof value === "bigint";
    kinds.add(value instanceof Date ? "time" : number ? "number" : "text");
  }
  const [kind, second] = kinds;
  if (kind !== undefined) return second === undefined ? kind : "text";
  const known = result.origin.columns.kinds ?? {};
  return (Object.hasOwn(known, name) && known[name]) || "empty";
}
