import type { TableInfo } from "../database/table-info.js";
import { quoteIdentifier } from "../database/time-column.js";
import { ProbelabError } from "../error.js";
import { filterSql, type FilterValue, type Sql } from "../measurements/filter.js";
import { filterText } from "../measurements/filter-text.js";
import type { Prefix } from "../measurements/prefix.js";
import { columnOf } from "./log-table.js";
import { priorityNumber, prioritySql, type Priority } from "./priority.js";

/** Which lines count; all conditions must hold. */
export interface LogFilter {
  /** The emitting program (SYSLOG_IDENTIFIER): one, a list, or `prefix()`. */
  readonly identifier?: FilterValue | Prefix | readonly (FilterValue | Prefix)[];
  /** The host that wrote the line, where the table has the column. */
  readonly host?: FilterValue | Prefix | readonly (FilterValue | Prefix)[];
  /** This severity and worse, as `journalctl -p`: `"err"` or 3 keeps 0 to 3. */
  readonly priority?: Priority;
  /** A text that the message holds, upper and lower case as given. */
  readonly contains?: string;
  /** A pattern that the message matches somewhere, in RE2's syntax; of a RegExp, the flags i, m and s count. */
  readonly matches?: string | RegExp;
}

/** The condition of a filter, its values bound; null where all lines count. */
export function logFilterSql(filter: LogFilter, table: TableInfo): Sql | null {
  const where = Object.fromEntries(
    (["identifier", "host"] as const).flatMap((field) =>
      filter[field] === undefined ? [] : [[columnOf(field, table), filter[field]]],
    ),
  );
  const equal = filterSql(where, table);
  const conditions = equal === null ? [] : [equal.sql];
  const parameters: Record<string, unknown> = { ...equal?.parameters };
  if (filter.priority !== undefined) {
    parameters["priority"] = priorityNumber(filter.priority);
    conditions.push(`${prioritySql(table)} <= {priority:UInt8}`);
  }
  const message = quoteIdentifier(columnOf("message", table));
  if (filter.contains !== undefined) {
    parameters["contains"] = checkText(filter.contains, "contains");
    conditions.push(`position(${message}, {contains:String}) > 0`);
  }
  if (filter.matches !== undefined) {
    parameters["matches"] = patternText(filter.matches);
    conditions.push(`match(${message}, {matches:String})`);
  }
  return conditions.length === 0 ? null : { sql: conditions.join(" AND "), parameters };
}

/** The filter in words: `identifier = api, contains "timed out"`; "" for none. */
export function logFilterText(filter: LogFilter): string {
  const { identifier, host, priority, contains, matches } = filter;
  const equal = filterText({
    ...(identifier !== undefined && { identifier }),
    ...(host !== undefined && { host }),
  });
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
