import { ProbelabError } from "../base/error.js";
import { answerOrigin, type Database } from "../database/database.js";
import { columnValues } from "../result/arquero-table.js";
import type { Origin } from "../result/origin.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { dimensionOf, nameOf, type Dimension } from "./dimension.js";
import type { Measure } from "./measure.js";
import { mergeRows } from "./merge-rows.js";
import { Plan, ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";
import { cellsSql, unusable } from "./question-sql.js";
import {
  aboutDistinct,
  aboutValues,
  asCode,
  asFloat,
  countRows,
  distinctTuples,
  isEmptyText,
} from "./clickhouse.js";
import type { Source, SourceKind } from "./source.js";
import { and, nested, print, raw, select, sql, type Column, type Sql } from "./sql.js";
import { whereText, type Where } from "./where.js";
import { askInWindows } from "./windows.js";

/** A source and what questions of change take of it by default. */
export interface CubeSource {
  /** The room of the lab: `measurements`, `runs`, `logs`. */
  readonly room?: string;
  /** Opens the source for one question. */
  readonly open: (
    range: TimeRange,
    where: Where,
  ) => Promise<{ readonly database: Database; readonly source: Source }>;
  /** Dimensions that are asked about unless others are named; those the table lacks are left out. */
  readonly dimensions: readonly string[];
}

/** The property of a room's questions that holds what asks their cells. */
const CELLS = Symbol("cells");

/** Makes the questions of a room ones whose cells can be asked for: `lab.measurements`, `lab.runs`. */
export function cubeSource<T extends object>(questions: T, source: CubeSource): T {
  return Object.defineProperty(questions, CELLS, { value: source });
}

/** The options that `cubeSource` was called with for these questions, or undefined. */
export function cubeSourceOf(questions: unknown): CubeSource | undefined {
  return typeof questions === "object" && questions !== null
    ? (questions as { readonly [CELLS]?: CubeSource })[CELLS]
    : undefined;
}

/** The cells of a range: a row for each combination of the dimensions' values that occurs. */
export interface Cube {
  /** The text of each dimension in each row, null where the rows have none. */
  readonly dimensions: readonly (readonly (string | null)[])[];
  readonly rows: number;
  /** The value of each measure in each row. */
  readonly values: readonly Float64Array[];
  readonly measures: readonly PlannedMeasure[];
  /** The number of distinct values in each row; undefined if the source lacks the column. */
  readonly distinct: Float64Array | undefined;
  /** The rows that have none of them; undefined where each has one, or the source lacks the column. */
  readonly nameless: Float64Array | undefined;
  /** The dimensions' names. */
  readonly names: readonly string[];
  /** Dimensions by default that the table lacks. */
  readonly lacking: readonly string[];
  readonly kind: SourceKind;
  readonly rowNoun: string;
  readonly origin: Omit<Origin, "columns" | "reductions">;
}

/** The cells to ask for. */
export interface CubeQuestion {
  readonly range: TimeRange;
  /** Columns and dimensions; `undefined` takes those of the source by default. */
  readonly by: readonly (string | Dimension)[] | undefined;
  readonly where: Where;
  /**
   * Measures that add up (counts and sums); or one count of distinct values, of which each is shared
   * out in equal parts to the cells that have it, so that the cells add up to the whole.
   */
  readonly measures: readonly Measure<unknown>[];
  /** A sum of which the squares are asked as well: the last of the values, for its noise. */
  readonly squares?: Measure<unknown> | undefined;
  /** A column whose distinct values are counted in each cell (within 1 % above 65,536), where the source has it. */
  readonly distinct?: string | undefined;
  /** For errors: "explain a change". */
  readonly action: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks for all cells of a range in one scan (of windows of it, where the server can't answer at once).
 * The server groups by the columns as they are stored and makes text of the groups only.
 *
 * @throws ProbelabError for unknown columns, and where there are more cells than an answer may have.
 */
export async function askCube(cube: CubeSource, options: CubeQuestion): Promise<Cube> {
  const { action, where, signal } = options;
  const range = checkRange(options.range, action);
  const { database, source } = await cube.open(range, where);
  const lacking = options.by ? [] : cube.dimensions.filter((name) => !has(source, name));
  const by = options.by ?? cube.dimensions.filter((name) => !lacking.includes(name));
  const dimensions = by.map((one) => dimensionOf(nameOf(one), one, source, range.timeZone));
  const plan = new Plan(source);
  const measures = options.measures.map((measure, at) => plan.add(`m${at}`, measure, false));
  const minutes = (+range.end - +range.start) / 60_000;
  const [first] = options.measures;
  const entity = first?.measure === "countDistinct" ? first : undefined;
  const read = entity
    ? [valueOf("_shared")]
    : measures.map(
        ({ value }) =>
          (row: AnswerRow) =>
            Number(value(row, minutes) ?? 0),
      );
  if (options.squares) read.push(valueOf(squaresOf(plan, options.squares)));
  const distinct = options.distinct && distinctOf(plan, options.distinct);
  if (distinct) read.push(...distinct.map(valueOf));
  const { aggregates } = plan;
  const summed = entity ? [ROWS, "_shared"] : aggregates.map(({ as }) => as);
  const keys = dimensions.map(({ key }, at): Column => [`_g${at}`, key]);
  // Texts of more values than can be judged aren't sent: the answer is refused.
  const texts = dimensions.map(({ text }, at): Column => {
    const isFew = sql`${raw(`_n${at}`)} <= ${raw(String(MOST_JUDGED))}`;
    return [`_d${at}`, asCode(sql`if(${isFew}, ${text(raw(`_g${at}`))}, NULL)`)];
  });
  const names = dimensions.map(({ name }) => name);
  const many = dimensions.map((_, at): Column => [`_n${at}`, aboutValues(raw(`_g${at}`))]);
  const questionOf = (window: TimeRange) => {
    const cells = entity ? splitDistinct(plan, window, entity, keys) : cellsSql(plan, window, keys);
    const columns = [...many, ...texts, ...summed.map((as): Column => [as, raw(as)])];
    const usable =
      source.unusable === undefined
        ? cells
        : select({
            columns: [["*", raw("*")]],
            from: nested(cells),
            where: [raw("NOT _unusable")],
          });
    // One more than an answer may have tells that there are too many.
    const limited = sql`${usable}\nLIMIT ${raw(String(MOST_CELLS + 1))}`;
    return print(select({ columns, from: nested(limited) }));
  };
  const part = async (window: TimeRange) => {
    const answer = await database.ask({ ...questionOf(window), action, signal });
    const values = many.map(([as]) => Number(columnValues(answer.table, as)[0] ?? 0));
    refuseMany(names, values, answer.table.numRows(), action);
    return answer;
  };
  const answer = await askInWindows(plan, range, () => part(range), part);
  const natural = dimensions.map(() => ({ natural: 1 }));
  const table =
    answer.table ??
    (await import("arquero")).from(
      mergeRows(answer.windows, natural, aggregates, Infinity) as object[],
    );
  const rows = table.numRows();
  const found = dimensions.map((_, at) => columnValues(table, `_d${at}`));
  if (answer.windows.length > 0) {
    const values = found.map((column) => new Set(column).size);
    refuseMany(names, values, rows, action);
  }
  const values = read.map(() => new Float64Array(rows));
  const getters = summed.map((as) => [as, table.getter(as)] as const);
  const cell: Record<string, AnswerRow[string]> = {};
  for (let row = 0; row < rows; row += 1) {
    for (const [as, get] of getters) cell[as] = get(row) as AnswerRow[string];
    for (const [at, value] of read.entries()) values[at]![row] = value(cell);
  }
  const filter = whereText(where);
  return {
    dimensions: dimensions.map(({ label }, at) =>
      found[at]!.map((text) => (text === null ? null : label(text as string))),
    ),
    rows,
    nameless: distinct?.[1] === undefined ? undefined : values.pop(),
    distinct: distinct ? values.pop() : undefined,
    values,
    measures,
    names,
    lacking,
    kind: source.kind,
    rowNoun: source.rowNoun,
    origin: {
      ...answerOrigin(database, questionOf(range), range, answer),
      ...(filter !== "" && { filter }),
      notes: [...answer.notes, ...source.notes],
    },
  };
}

/** What can be judged in about a second, and read without blocking: values of a dimension, and cells. */
const MOST_JUDGED = 20_000;
const MOST_CELLS = 1_000_000;

/** @throws ProbelabError where there are too many cells, or too many values of a dimension. */
function refuseMany(
  names: readonly string[],
  values: readonly number[],
  cells: number,
  action: string,
): void {
  const text = (many: number) => many.toLocaleString("en-US");
  const large = names.find((_, at) => values[at]! > MOST_JUDGED);
  if (large !== undefined) {
    const others = names.filter((name) => name !== large).join(", ");
    throw new ProbelabError(
      `Can't ${action} by ${large}: it has more than ${text(MOST_JUDGED)} different values. Leave it out of dimensions${others === "" ? "" : ` (${others})`}, or ask about fewer rows with where.`,
    );
  }
  if (cells > MOST_CELLS) {
    throw new ProbelabError(
      `Can't ${action} by ${names.join(", ")}: more than ${text(MOST_CELLS)} combinations of their values occur. Take fewer dimensions, or ask about fewer rows with where.`,
    );
  }
}

function valueOf(as: string): (row: AnswerRow) => number {
  return (row) => Number(row[as] ?? 0);
}

/** The column of the sum of a column's squares. */
function squaresOf(plan: Plan, measure: Measure<unknown>): string {
  const number = plan.number(measure.column, "sum the squares of").sql;
  return plan.over(measure, "sum", plan.times(sql`pow(${asFloat(number)}, 2)`), "sum");
}

/** The columns of how many distinct values a column has, and of the rows that have none; undefined where the source lacks it. */
function distinctOf(plan: Plan, column: string): readonly string[] | undefined {
  // Each row of runs is one.
  if (plan.source.kind === "runs")
    return [plan.aggregate(asFloat(countRows([], undefined)), "sum")];
  if (!has(plan.source, column)) return undefined;
  const value = plan.source.column(column).sql;
  return [
    plan.aggregate(aboutDistinct(value), "sum"),
    plan.aggregate(asFloat(countRows([isEmptyText(value)], undefined)), "sum"),
  ];
}

/** Each distinct value in equal parts to the cells that have it. */
function splitDistinct(
  plan: Plan,
  range: TimeRange,
  entity: Measure<unknown>,
  by: readonly Column[],
): Sql {
  const { source } = plan;
  const keys = [...by, ...unusable(source)];
  const value = source.column(entity.column ?? "");
  const { conditions } = plan.only(entity);
  const one = conditions.length === 0 ? value.sql : sql`if(${and(conditions)}, ${value.sql}, NULL)`;
  const names = keys.map(([name]) => raw(name));
  const entities = select({
    columns: [
      ["_cells", distinctTuples(names)],
      ["_part", raw("1 / length(_cells)")],
    ],
    from: nested(select({ columns: [...keys, ["_entity", one]], from: source.from(range) })),
    where: [raw("isNotNull(_entity)")],
    groupBy: ["_entity"],
  });
  return select({
    columns: [
      ...keys.map(([name], at): Column => [name, raw(`_cell.${at + 1}`)]),
      [ROWS, raw("count()")],
      ["_shared", raw("sum(_part)")],
    ],
    from: sql`${nested(entities)}\nARRAY JOIN _cells AS _cell`,
    groupBy: keys.map(([name]) => name),
  });
}

function has(source: Source, name: string): boolean {
  try {
    source.column(name);
    return true;
  } catch {
    return false;
  }
}
