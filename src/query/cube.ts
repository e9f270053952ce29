import { answerOrigin, type Database } from "../database/database.js";
import type { Origin } from "../result/origin.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { dimensionOf, type AskedDimension, type Dimension } from "./dimension.js";
import type { Measure } from "./measure.js";
import { Plan, ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";
import { partOf, rowsSql, type Source } from "./source.js";
import {
  and,
  join,
  nested,
  print,
  raw,
  select,
  sql,
  type Column,
  type PrintedSql,
  type Sql,
} from "./sql.js";
import { whereText, type Where } from "./where.js";
import { askAdding } from "./windows.js";

/** A function that opens a source for one question. */
export type OpenSource = (
  range: TimeRange,
  where: Where,
) => Promise<{ readonly database: Database; readonly source: Source }>;

/** A source and what questions of change take of it by default. */
export interface CubeSource {
  /** The room of the lab: `measurements`, `runs`, `logs`. */
  readonly room?: string;
  readonly open: OpenSource;
  /** Dimensions that are asked about unless others are named; those the table lacks are left out. */
  readonly dimensions: readonly string[];
}

/** The property of a room's questions that holds what asks their cells. */
const CELLS = Symbol("cells");

/** Makes the questions of a room ones whose cells can be asked for: `lab.measurements`, `lab.runs`. */
export function cubeSource<T extends object>(questions: T, source: CubeSource): T {
  return Object.defineProperty(questions, CELLS, { value: source, configurable: true });
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
  /** The number of different values in each row; undefined if the source lacks the column. */
  readonly different: Float64Array | undefined;
  /** The dimensions' names. */
  readonly names: readonly string[];
  /** Dimensions by default that the table lacks. */
  readonly lacking: readonly string[];
  readonly many: string;
  readonly origin: Omit<Origin, "columns" | "reductions">;
}

/** The cells to ask for. */
export interface CubeQuestion {
  readonly range: TimeRange;
  /** Columns and dimensions; `undefined` takes those of the source by default. */
  readonly by: readonly (string | Dimension)[] | undefined;
  readonly where: Where;
  /**
   * Measures that add up (counts and sums); or one count of different values, of which each is shared
   * out in equal parts to the cells that have it, so that the cells add up to the whole.
   */
  readonly measures: readonly Measure<unknown>[];
  /** A sum of which the squares are asked as well: the last of the values, for its noise. */
  readonly squares?: Measure<unknown> | undefined;
  /** A column whose different values are counted in each cell (within 1 % above 65,536), where the source has it. */
  readonly different?: string | undefined;
  /** For errors: "explain a change". */
  readonly action: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks for all cells of a range in one scan. The server groups by the columns as they are stored and
 * makes text of the groups only.
 *
 * @throws ProbelabError for unknown columns, and where there are more cells than an answer may have.
 */
export async function askCube(cube: CubeSource, options: CubeQuestion): Promise<Cube> {
  const { action, where, signal } = options;
  const range = checkRange(options.range, action);
  const { database, source } = await cube.open(range, where);
  const { by, lacking } =
    options.by === undefined ? present(cube.dimensions, source) : { by: options.by, lacking: [] };
  const planned = (source: Source) => {
    const dimensions = by.map((dimension) => {
      const name = typeof dimension === "string" ? dimension : dimension.name;
      return dimensionOf(name, dimension, source, range.timeZone);
    });
    const plan = new Plan(source);
    const measures = options.measures.map((measure, at) => plan.add(`m${at}`, measure, false));
    const squares = options.squares && squaresOf(plan, options.squares);
    const different = options.different && differentOf(plan, options.different);
    return { plan, dimensions, measures, squares, different };
  };
  const { plan, dimensions, measures, squares, different } = planned(source);
  const [first] = options.measures;
  const entity = first?.measure === "countDistinct" ? first : undefined;
  const aggregates = entity === undefined ? plan.aggregates.map(({ as }) => as) : ["_shared"];
  const question = cubeSql(plan, dimensions, entity, aggregates);
  const answer = await askAdding({
    range,
    source,
    sums: [ROWS, ...aggregates],
    ...(entity && { by: source.column(entity.column ?? "").sql }),
    ask: async (window, only) => {
      const { plan, dimensions } = planned(partOf((await cube.open(window, where)).source, only));
      const part = cubeSql(plan, dimensions, entity, aggregates);
      return database.ask({ ...part, action, signal });
    },
  });
  const { table } = answer;
  const rows = table.numRows();
  const text = dimensions.map(({ label }, at) => {
    const read = table.getter(`_d${at}`);
    return Array.from({ length: rows }, (_, row) => {
      const value = read(row) as string | null;
      return value === null ? null : label(value);
    });
  });
  const getters = [ROWS, ...aggregates].map((as) => [as, table.getter(as)] as const);
  const minutes = (+range.end - +range.start) / 60_000;
  const read = [
    ...measures.map(
      ({ value }) =>
        (row: AnswerRow) =>
          value(row, minutes),
    ),
    ...(squares === undefined ? [] : [(row: AnswerRow) => Number(row[squares])]),
    ...(different === undefined ? [] : [(row: AnswerRow) => Number(row[different])]),
  ];
  const values = read.map(() => new Float64Array(rows));
  const cell: Record<string, AnswerRow[string]> = {};
  for (let row = 0; row < rows; row += 1) {
    for (const [as, read] of getters) cell[as] = read(row) as AnswerRow[string];
    for (const [at, value] of read.entries()) {
      values[at]![row] = Number((entity === undefined ? value(cell) : cell["_shared"]) ?? 0);
    }
  }
  const filter = whereText(where);
  return {
    dimensions: text,
    rows,
    different: different === undefined ? undefined : values.pop(),
    values,
    measures,
    names: dimensions.map(({ name }) => name),
    lacking,
    many: source.many,
    origin: {
      ...answerOrigin(database, question, range, answer),
      ...(filter !== "" && { filter }),
      notes: [...answer.notes, ...source.notes],
    },
  };
}

function cubeSql(
  plan: Plan,
  dimensions: readonly AskedDimension[],
  entity: Measure<unknown> | undefined,
  aggregates: readonly string[],
): PrintedSql {
  const { source } = plan;
  const all: Column[] = [
    ...dimensions.map(({ key }, at): Column => [`_g${at}`, key]),
    ...(source.unusable === undefined ? [] : [["_unusable", source.unusable] as const]),
  ];
  const cells =
    entity === undefined
      ? select({
          columns: [
            ...all,
            [ROWS, rowsSql(source)],
            ...plan.aggregates.map(({ as, cell }): Column => [as, cell]),
          ],
          from: source.from(),
          groupBy: all.map(([name]) => name),
        })
      : sharedOut(plan, entity, all);
  return print(
    select({
      columns: [
        ...dimensions.map(({ text }, at): Column => [
          `_d${at}`,
          sql`toLowCardinality(${text(raw(`_g${at}`))})`,
        ]),
        ...[ROWS, ...aggregates].map((as): Column => [as, raw(as)]),
      ],
      from: nested(cells),
      ...(source.unusable !== undefined && { where: [raw("NOT _unusable")] }),
    }),
  );
}

/** The column of the sum of a column's squares. */
function squaresOf(plan: Plan, measure: Measure<unknown>): string {
  const { If, last } = plan.only(measure);
  const number = plan.number(measure.column ?? "", "sum the squares of").sql;
  return plan.aggregate(
    sql`sum${raw(If)}(${plan.times(sql`pow(toFloat64(${number}), 2)`)}${last})`,
    "sum",
  );
}

/** The column of how many different values a column has; undefined where the source lacks it. */
function differentOf(plan: Plan, column: string): string | undefined {
  // Each row of runs is one.
  if (plan.source.many === "runs") return plan.aggregate(sql`toFloat64(count())`, "sum");
  if (!has(plan.source, column)) return undefined;
  const value = plan.source.column(column).sql;
  return plan.aggregate(sql`toFloat64(uniqIf(${value}, notEmpty(toString(${value}))))`, "sum");
}

/** Each different value in equal parts to the cells that have it. */
function sharedOut(plan: Plan, entity: Measure<unknown>, keys: readonly Column[]): Sql {
  const { source } = plan;
  const value = source.column(entity.column ?? "");
  const { conditions } = plan.only(entity);
  const names = join(keys.map(([name]) => raw(name)));
  const rows = select({
    columns: [
      ...keys,
      [
        "_entity",
        conditions.length === 0 ? value.sql : sql`if(${and(conditions)}, ${value.sql}, NULL)`,
      ],
    ],
    from: source.from(),
  });
  const entities = select({
    columns: [
      ["_cells", sql`groupUniqArray((${names}, 0))`],
      ["_part", raw("1 / length(_cells)")],
    ],
    from: sql`${nested(rows)}\nWHERE isNotNull(_entity)`,
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

/** The dimensions that a source is asked about by default, as far as its table has them. */
export async function presentDimensions(
  { open, dimensions }: CubeSource,
  range: TimeRange,
  where: Where,
): Promise<readonly string[]> {
  return present(dimensions, (await open(range, where)).source).by;
}

function present(
  wanted: readonly string[],
  source: Source,
): { by: readonly string[]; lacking: readonly string[] } {
  return {
    by: wanted.filter((name) => has(source, name)),
    lacking: wanted.filter((name) => !has(source, name)),
  };
}

function has(source: Source, name: string): boolean {
  try {
    source.column(name);
    return true;
  } catch {
    return false;
  }
}
