import type { Database } from "../../database/database.js";
import { askSource, GROUP_OPTIONS, type By, type GroupOptions } from "../../query/ask.js";
import type { Measure } from "../../query/measure.js";
import { daysOnly, tableBounds, type Source, type SourceColumn } from "../../query/source.js";
import { and, bind, raw, sql, type Sql } from "../../query/sql.js";
import type { Result } from "../../result/result.js";
import type { TimeRange } from "../../time/time-range.js";
import {
  filterText,
  Lines,
  LOG_FILTERS,
  logColumn,
  masked,
  fieldText,
  tableNotes,
  type LogColumn,
  type LogFilter,
  type LogOptions,
} from "./lines.js";

/** A column to group lines by; `"pattern"` is the shape of the message: `answered <ip> in <n> ms`. */
export type LogGroup = LogColumn | "pattern";

/** Options of grouped questions on the logs. */
export interface LogGroupOptions<B extends By<LogGroup> = By<LogGroup>>
  extends LogFilter, Pick<LogOptions, "mask">, Omit<GroupOptions<LogGroup, B>, "where"> {}

/** Names of those options. */
export const GROUPED_OPTIONS = [...new Set([...GROUP_OPTIONS, ...LOG_FILTERS, "mask"])];

/** A narrower kind of lines. */
export interface LineKind {
  /** More conditions, such as "is a check-in". */
  readonly only: readonly Sql[];
  /** Columns that are computed of a line. */
  readonly computed: Readonly<Record<string, SourceColumn>>;
  /** The name of rows, where they aren't messages. */
  readonly rowNoun: string;
}

/** Asks the lines of a range: a row a line, with its fields and the columns of the table. */
export async function askLog(
  database: Database,
  options: LogGroupOptions,
  measures: Readonly<Record<string, Measure<unknown>>>,
  action: string,
  kind?: LineKind,
): Promise<Result> {
  // The condition is one of the lines.
  const { where: _, ...grouped } = options;
  const result = await askSource(
    database,
    (range) => lineSource(database, range, options, kind),
    grouped,
    measures,
    { action, filterText: filterText(options) },
  );
  return masked(result, options);
}

/** The lines of a range as a source of questions. */
export async function lineSource(
  database: Database,
  range: TimeRange,
  filter: LogFilter,
  { only, computed, rowNoun }: LineKind = { only: [], computed: {}, rowNoun: "messages" },
): Promise<Source> {
  const lines = await Lines.open(database, range, filter);
  const { table } = lines;
  return {
    kind: "logs",
    rowNoun,
    column: (name) => {
      if (Object.hasOwn(computed, name)) return computed[name]!;
      if (name !== "pattern" || table.columns.has(name)) return logColumn(name, table);
      return { sql: patternSql(raw(fieldText("message", table))), type: "String" };
    },
    instant: table.time.dateTime(table.time.sql),
    ...daysOnly(table),
    from: (part) =>
      sql`${raw(table.from)}\nWHERE ${and([...tableBounds(table, part), ...lines.matching, ...only])}`,
    notes: tableNotes(table),
    whyEmpty: () => lines.whyNone(),
  };
}

const HEX = "[0-9a-fA-F]";
const GROUPS = `${HEX}{1,4}(?::${HEX}{1,4})*`;

/** Sixteen or more letters and digits with a digit among them; RE2 can't look ahead, so each place is listed. */
const LONG_ID = [
  ...Array.from({ length: 16 }, (_, at) => `[A-Za-z]{${at}}[0-9][A-Za-z0-9]{${15 - at},}`),
  "[A-Za-z]{16,}[0-9][A-Za-z0-9]*",
].join("|");

/** Patterns of varying text (RE2) and their replacements, in the order in which they are applied. */
const VARYING: readonly (readonly [find: string, put: string])[] = [
  ["[\\p{L}\\p{N}._%+-]+@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+", "<e-mail>"],
  ["\\b[0-9]{8}T[0-9]{6}Z_[a-z0-9]+_[A-Z]{2}_[0-9]+_[A-Za-z0-9-]+_[A-Za-z0-9]+", "<report-id>"],
  [`\\b${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}\\b`, "<uuid>"],
  [
    "\\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\\b",
    "<time>",
  ],
  [
    `(?:\\b(?:${HEX}{1,4}:){7}${HEX}{1,4}\\b|\\b${GROUPS}::(?:${GROUPS}\\b|\\B)|\\B::${GROUPS}\\b)`,
    "<ip>",
  ],
  ["\\b[0-9]{1,3}(?:\\.[0-9]{1,3}){3}\\b", "<ip>"],
  ["\\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\\b", "<time>"],
  ["\\b([a-z_]*(?:cc|country_code)=)[A-Z]{2}\\b", "\\1<cc>"],
  ["\\b[0-9]+(?:\\.[0-9]+)*\\b", "<n>"],
  [`\\b(?:0x)?${HEX}{8,}\\b`, "<id>"],
  [`\\b(?:${LONG_ID})\\b`, "<id>"],
  ["[0-9]+(?:\\.[0-9]+)*", "<n>"],
];

/**
 * SQL for the shape of a message, in which numbers, addresses, times, ids and country codes are
 * replaced: `answered 203.0.113.7 in 80 ms` has the shape `answered <ip> in <n> ms`.
 */
function patternSql(message: Sql): Sql {
  return VARYING.reduce(
    (text, [find, put]) =>
      sql`replaceRegexpAll(${text}, ${bind("find", "String", find)}, ${bind("put", "String", put)})`,
    message,
  );
}
