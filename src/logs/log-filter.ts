import type { TableInfo } from "../database/table-info.js";
import { ProbelabError } from "../base/error.js";
import { bind, raw, sql, type Sql } from "../query/sql.js";
import { whereSql, whereText, type Match, type Where } from "../query/where.js";
import type { ColumnOf } from "../query/columns.js";
import { logColumn } from "./log-table.js";
import { priorityNumber, prioritySql, type Priority } from "./priority.js";

/** Which lines count; all conditions must hold. */
export interface LogFilter {
  /** The emitting program (SYSLOG_IDENTIFIER): one, a list, or `prefix()`. */
  readonly identifier?: Match;
  /** The host that wrote the line, where the table has the column. */
  readonly host?: Match;
  /** This severity and worse, as `journalctl -p`: `"err"` or 3 keeps 0 to 3. */
  readonly priority?: Priority;
  /** A text that the message holds, upper and lower case as given. */
  readonly contains?: string;
  /** A pattern that the message matches somewhere, in RE2's syntax; of a RegExp, the flags i, m and s count. */
  readonly matches?: string | RegExp;
  /** Conditions on any column, as for measurements: `{ _PID: { above: 1000 } }`. */
  readonly where?: Where<LogColumn>;
}

/** The options that filter lines, in every question on them. */
export const LOG_FILTERS = Object.keys({
  identifier: true,
  host: true,
  priority: true,
  contains: true,
  matches: true,
  where: true,
} satisfies Record<keyof LogFilter, true>);

/** The columns of a log table: a field of a line, or a column's own name. */
export type LogColumn = ColumnOf<"logs">;

/** The conditions of a filter, its values bound; none where all lines count. */
export function logConditions(filter: LogFilter, table: TableInfo): Sql[] {
  const conditions = whereSql(filterWhere(filter), (name) => logColumn(name, table));
  if (filter.priority !== undefined) {
    const priority = bind("priority", "UInt8", priorityNumber(filter.priority));
    conditions.push(sql`${raw(prioritySql(table))} <= ${priority}`);
  }
  const message = logColumn("message", table).sql;
  if (filter.contains !== undefined) {
    const contains = bind("contains", "String", checkText(filter.contains, "contains"));
    conditions.push(sql`position(${message}, ${contains}) > 0`);
  }
  if (filter.matches !== undefined) {
    const matches = bind("matches", "String", patternText(filter.matches));
    conditions.push(sql`match(${message}, ${matches})`);
  }
  return conditions;
}

/** What of a filter is told as conditions on columns. */
function filterWhere({ identifier, host, where }: LogFilter): Where {
  return {
    ...(identifier !== undefined && { identifier }),
    ...(host !== undefined && { host }),
    ...where,
  };
}

/** The filter in words: `identifier = api, contains "timed out"`; "" for none. */
export function logFilterText(filter: LogFilter): string {
  const { priority, contains, matches } = filter;
  const equal = whereText(filterWhere(filter));
  return [
    ...(equal === "" ? [] : [equal]),
    ...(priority === undefined ? [] : [`priority ${priority} and worse`]),
    ...(contains === undefined ? [] : [`contains ${JSON.stringify(contains)}`]),
    ...(matches === undefined ? [] : [`matches ${String(matches)}`]),
  ].join(", ");
}

function patternText(pattern: string | RegExp): string {
  if (!(pattern instanceof RegExp)) return checkText(pattern, "matches");
  const flags = [...pattern.flags].filter((flag) => "ims".includes(flag)).join("");
  // match() lets a dot stand for a line's end too, unlike JavaScript.
  const dot = flags.includes("s") ? "" : "(?-s)";
  return `${dot}${flags === "" ? "" : `(?${flags})`}${pattern.source}`;
}

function checkText(value: unknown, option: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new ProbelabError(
    `Can't search for ${option}: ${JSON.stringify(value) ?? "undefined"}: pass a text of at least one letter, or leave ${option} out.`,
  );
}
