import type { ColumnTable } from "arquero";
import { refuseUnknown } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import { LOG_COLUMNS } from "../../database/config.js";
import { answerOrigin, type Database } from "../../database/database.js";
import { unknownColumn, type TableInfo } from "../../database/table-info.js";
import { maskOf, maskResult, type Change } from "../../result/mask.js";
import type { ColumnOf } from "../../query/row-types.js";
import { tableBounds } from "../../query/source.js";
import { and, bind, print, raw, sql, type Sql } from "../../query/sql.js";
import { whereSql, whereText, type Match, type Where } from "../../query/where.js";
import type { Origin } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { checkRange, rangeText, type TimeRange } from "../../time/time-range.js";
import { prioritySql, type Priority } from "./priority.js";

/** A field of a line; `priority` and `host` only where the table has them. */
export type LogField = keyof typeof LOG_COLUMNS;

/** A column of a log table: a field of a line, or a column's own name. */
export type LogColumn = ColumnOf<"logs">;

/** Conditions on lines; all must hold. */
export interface LogFilter {
  /** The emitting program (SYSLOG_IDENTIFIER): one, a list, or `prefix()`. */
  readonly identifier?: Match;
  /** The host of the line, where the table has the column. */
  readonly host?: Match;
  /** This severity and worse, as `journalctl -p`: `"err"` or 3 keeps 0 to 3. */
  readonly priority?: Priority;
  /** A text in the message; upper and lower case differ. */
  readonly contains?: string;
  /** A pattern that matches in the message, in RE2's syntax; of a RegExp the flags i, m and s count. */
  readonly matches?: string | RegExp;
  /** Conditions on any column, as for measurements: `{ _PID: { gt: 1000 } }`. */
  readonly where?: Where<LogColumn>;
}

/** Names of the filter's options. */
export const LOG_FILTERS = Object.keys({
  identifier: true,
  host: true,
  priority: true,
  contains: true,
  matches: true,
  where: true,
} satisfies Record<keyof LogFilter, true>);

/** Options of every question on the logs. */
export interface LogOptions extends LogFilter {
  /** The time to ask about, half-open: `last("1 hour")` or `between(a, b)`. */
  readonly range: TimeRange;
  /** True hides e-mail and IP addresses in the answer: `[IPv4]`, and of groups `[IPv4 2]`. @default false */
  readonly mask?: boolean;
  /** Stops the query at the server. @default the interrupt of the running cell */
  readonly signal?: AbortSignal;
}

/** The lines of a question: a table, bounded on its sort key in its own type, and filtered. */
export class Lines {
  private constructor(
    readonly database: Database,
    readonly table: TableInfo,
    readonly range: TimeRange,
    readonly filter: LogFilter,
    readonly conditions: readonly Sql[],
    /** The same without the bounds of the range. */
    readonly matching: readonly Sql[],
  ) {}

  /** Opens the lines of a range. @throws ProbelabError for a filter that the table can't answer. */
  static async open(database: Database, range: TimeRange, filter: LogFilter): Promise<Lines> {
    const table = await database.table("logs");
    const bounds = tableBounds(table, range);
    const matching = await filterConditions(database, table, filter, bounds);
    return new Lines(database, table, range, filter, [...bounds, ...matching], matching);
  }

  /**
   * Checks the options of a question and opens its lines.
   *
   * @param more names of the options beside those of every question.
   */
  static async checked(
    database: Database,
    options: LogOptions,
    action: string,
    more: readonly string[] = [],
  ): Promise<Lines> {
    refuseUnknown(options, ["range", "mask", "signal", ...LOG_FILTERS, ...more], action);
    const range = checkRange((options as LogOptions | undefined)?.range, action);
    return Lines.open(database, range, options);
  }

  /** FROM and WHERE. @param more conditions. */
  from(...more: readonly Sql[]): Sql {
    return fromLines(this.table, [...this.conditions, ...more]);
  }

  /** Asks a question; gives the answer's table and its origin, without the columns' meaning. */
  async ask(
    question: Sql,
    action: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly table: ColumnTable; readonly origin: Origin }> {
    const printed = print(question);
    const answer = await this.database.ask({ ...printed, action, signal });
    const words = filterText(this.filter);
    const origin: Origin = {
      ...answerOrigin(this.database, printed, this.range, answer),
      ...(words !== "" && { filter: words }),
      columns: { dimensions: [], measures: [] },
      reductions: [],
      notes: tableNotes(this.table),
    };
    return { table: answer.table, origin };
  }

  /** Says why an answer is empty: no line in the range, or none that matches, with the programs there are; `otherwise` where some match. */
  async whyNone(otherwise?: string): Promise<string> {
    const { database, table, range } = this;
    const any = print(sql`SELECT 1 ${this.from()} LIMIT 1`);
    if (otherwise && (await database.rows(any.sql, any.parameters, LOOK)).length > 0) {
      return otherwise;
    }
    if (await database.isChanged()) {
      return `${table.name} was altered or filled anew since it was looked at: ask again.`;
    }
    const question = print(sql`SELECT ${raw(fieldText("identifier", table))} AS program
${fromLines(table, tableBounds(table, range))}
GROUP BY program
ORDER BY count() DESC, program
LIMIT 9`);
    const programs = await database.rows<{ program: string | null }>(
      question.sql,
      question.parameters,
      LOOK,
    );
    const span = rangeText(range);
    if (programs.length === 0) return `${table.name} holds no line of ${span}.`;
    const { where = {}, ...fields } = this.filter;
    const by = [
      ...LOG_FILTERS.filter((name) => fields[name as keyof typeof fields] !== undefined),
      ...Object.keys(where),
    ];
    const names = programs.slice(0, 8).map(({ program }) => program || "no named program");
    const more = programs.length > 8 ? " and others" : "";
    return `No line of ${span} matches ${by.length === 0 ? "the question" : `the filter by ${by.join(", ")}`}; there are lines of ${names.join(", ")}${more}.`;
  }
}

const LOOK = "look for log lines";

/** FROM and WHERE of lines under conditions. */
export function fromLines(table: TableInfo, conditions: readonly Sql[]): Sql {
  return sql`FROM ${raw(table.from)}\nWHERE ${and(conditions)}`;
}

/** The answer, with its addresses hidden where `mask` is set. @param change default: groups stay apart. */
export function masked(
  result: Result,
  { mask = false }: { readonly mask?: boolean },
  change: Change = maskOf({ numbered: true }),
): Result {
  return mask ? maskResult(result, change) : result;
}

/**
 * The notes on a table. Lines of a merging engine are counted as they are held: unlike a measurement
 * a line has no identity, so that two lines that say the same may be merged; and with FINAL the newest
 * few lines would take reading all.
 */
export function tableNotes({ name, engine, merges, notes }: TableInfo): string[] {
  if (!merges) return [...notes];
  return [
    `${name} is a ${engine}: lines that it will merge in the background are counted each, so the numbers may fall by themselves.`,
    ...notes,
  ];
}

/** The fields that the table has, in the order of a line. */
export function fieldsOf(table: TableInfo): LogField[] {
  return (Object.keys(LOG_COLUMNS) as LogField[]).filter((field) =>
    table.columns.has(LOG_COLUMNS[field]),
  );
}

/** A field of a line, or a column by its own name. @throws ProbelabError where the table has it not. */
export function logColumn(name: string, table: TableInfo): { sql: Sql; type: string } {
  const column = storedColumn(name, table);
  return { sql: raw(table.column(column)), type: table.columns.get(column) ?? "" };
}

/** SQL for a field of a line as text; null where a line has none, of the message empty. */
export function fieldText(field: LogField, table: TableInfo): string {
  const text = `toString(${table.column(storedColumn(field, table))})`;
  return field === "message" ? `ifNull(${text}, '')` : text;
}

/** SQL for the instant of a line, to the millisecond. @param raw SQL of a raw time of the table. */
export function instantSql({ time }: TableInfo, raw = time.sql): string {
  return `toDateTime64(${time.dateTime(raw)}, 3, 'UTC')`;
}

/** The conditions of a filter, its values bound. @param within bounds of the lines in time. */
export async function filterConditions(
  database: Database,
  table: TableInfo,
  filter: LogFilter,
  within: readonly Sql[],
): Promise<Sql[]> {
  const conditions = whereSql(filterWhere(filter), (name) => logColumn(name, table));
  const { priority, contains, matches } = filter;
  if (priority !== undefined) {
    const column = storedColumn("priority", table);
    conditions.push(await prioritySql(database, table, { column, priority, within }));
  }
  const message = logColumn("message", table).sql;
  if (contains !== undefined) {
    const text = bind("contains", "String", checkText(contains, "contains"));
    conditions.push(sql`position(${message}, ${text}) > 0`);
  }
  if (matches !== undefined) {
    const pattern = bind("matches", "String", patternText(matches));
    conditions.push(sql`match(${message}, ${pattern})`);
  }
  return conditions;
}

/** The filter in words: `identifier = api, contains "timed out"`; "" for none. */
export function filterText(filter: LogFilter): string {
  const { priority, contains, matches } = filter;
  return [
    whereText(filterWhere(filter)),
    priority === undefined ? "" : `priority ${priority} and worse`,
    contains === undefined ? "" : `contains ${JSON.stringify(contains)}`,
    matches === undefined ? "" : `matches ${String(matches)}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function filterWhere({ identifier, host, where }: LogFilter): Where {
  return {
    ...(identifier !== undefined && { identifier }),
    ...(host !== undefined && { host }),
    ...where,
  };
}

function storedColumn(name: string, table: TableInfo): string {
  const isField = Object.hasOwn(LOG_COLUMNS, name);
  const column = isField ? LOG_COLUMNS[name as LogField] : name;
  if (table.columns.has(column)) return column;
  if (!isField) throw unknownColumn(name, table.name, table.columns);
  throw new ProbelabError(
    `Can't use ${name}: ${table.name} has no column ${column}. It has ${[...table.columns.keys()].join(", ")}; leave ${name} out.`,
  );
}

function patternText(pattern: string | RegExp): string {
  if (!(pattern instanceof RegExp)) return checkText(pattern, "matches");
  const flags = [...pattern.flags].filter((flag) => "ims".includes(flag)).join("");
  // Unlike in JavaScript, a dot of match() stands for a line's end too.
  const dot = flags.includes("s") ? "" : "(?-s)";
  return `${dot}${flags === "" ? "" : `(?${flags})`}${pattern.source}`;
}

function checkText(value: unknown, option: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new ProbelabError(
    `Can't search for ${option}: ${shownValue(value)}: pass a text of at least one letter, or leave ${option} out.`,
  );
}
