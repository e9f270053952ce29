import type { Database } from "../database/database.js";
import { unknownColumn, type TableInfo } from "../database/table-info.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import type { Bucket } from "../time/bucket.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { filterSql, type Sql, type Where } from "./filter.js";
import { filterText } from "./filter-text.js";
import { pickBucket } from "./pick-bucket.js";

/** What every question on measurements takes. */
export interface MeasurementOptions {
  /** The time to ask about, half-open: `last("3 months")` or `between(a, b)`. */
  readonly range: TimeRange;
  /**
   * The bucket of time; `"all"` makes the whole range one, without the column `t`. Default `"auto"`
   * (for `summary` `"all"`): the finest that keeps the answer under 5,000 rows.
   */
  readonly every?: Bucket | "auto" | "all";
  /** The column, or columns, to group by: any of the table's own. */
  readonly by?: string | readonly string[];
  /** How many groups keep their name, the largest first; the rest is "other". Default 6; Infinity keeps all. */
  readonly top?: number;
  /** Which measurements count: column to value, list of values, or `prefix()`. */
  readonly where?: Where;
  /** True counts a measurement once that the table holds twice (default false). */
  readonly distinct?: boolean;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** The options, checked against the table. */
export interface Asked {
  readonly range: TimeRange;
  readonly every: Bucket | null;
  /** What was decided for the analyst, a sentence each. */
  readonly notes: readonly string[];
  readonly by: readonly string[];
  readonly top: number;
  readonly where: Where;
  readonly filter: Sql | null;
  /** The filter in words; "" without one. */
  readonly filterText: string;
  readonly table: TableInfo;
  readonly distinct: boolean;
  readonly action: string;
  readonly signal: AbortSignal | undefined;
  /** Says why an answer is empty; default: as of measurements. */
  readonly whyEmpty?: () => Promise<string>;
}

/** Checks a question before anything is asked but the table's columns. */
export async function checkQuestion(
  database: Database,
  options: MeasurementOptions,
  action: string,
  defaults: { every: "auto" | "all"; by: readonly string[]; top: number },
): Promise<Asked> {
  const range = checkRange((options as MeasurementOptions | undefined)?.range, action);
  const top = checkTop(options.top ?? defaults.top);
  const by = typeof options.by === "string" ? [options.by] : [...(options.by ?? defaults.by)];
  const table = await database.table("measurements");
  for (const [index, column] of by.entries()) {
    if (!table.columns.has(column)) throw unknownColumn(column, table.name, table.columns);
    if (by.indexOf(column) !== index) {
      throw new ProbelabError(`Can't group by ${column} twice: name each column of by once.`);
    }
  }
  const where = options.where ?? {};
  const wanted = options.every ?? defaults.every;
  const { every, notes } = pickBucket(wanted, range, by.length === 0 ? 1 : top + 1);
  return {
    range,
    every,
    notes,
    by,
    top,
    where,
    filter: filterSql(where, table),
    filterText: filterText(where),
    table,
    distinct: options.distinct ?? false,
    action,
    signal: options.signal,
  };
}

/** How many groups keep their name, once it is a number that can be. */
export function checkTop(top: number): number {
  if (top >= 1 && (!Number.isFinite(top) || Number.isInteger(top))) return top;
  throw new ProbelabError(
    `Can't keep the top ${String(top)} groups: pass top: 6, another whole number from 1, or Infinity for all.`,
  );
}

/**
 * FROM and WHERE of a question: the table bounded on its sort key in its own type and filtered.
 *
 * Duplicates, where they are to be counted once, are what the table's engine would merge (FINAL);
 * in a table that merges nothing, rows of one measurement_uid where there is such a column, else
 * rows that are equal in every column.
 */
export function sourceSql(asked: Asked, range: Pick<TimeRange, "start" | "end">): Sql {
  const { table, filter, distinct } = asked;
  const name = table.from;
  const bounds = boundsSql(table.time, range);
  const where = [bounds.sql, ...(filter ? [filter.sql] : [])].join(" AND ");
  const parameters = { ...bounds.parameters, ...filter?.parameters };
  if (!distinct) return { sql: `FROM ${name}\nWHERE ${where}`, parameters };
  if (/(Replacing|Collapsing|Coalescing)/.test(table.engine)) {
    return { sql: `FROM ${name} FINAL\nWHERE ${where}`, parameters };
  }
  const once = table.columns.has("measurement_uid")
    ? `SELECT * FROM ${name} WHERE ${where} LIMIT 1 BY measurement_uid`
    : `SELECT DISTINCT * FROM ${name} WHERE ${where}`;
  return { sql: `FROM (${once})`, parameters };
}

/** A column's value as text, null where the row has none. */
export function dimensionSql(column: string): string {
  return `toNullable(toString(${quoteIdentifier(column)}))`;
}
