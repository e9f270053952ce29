import type { TableInfo } from "../database/table-info.js";
import { NOTHING, tableBounds, type Source } from "../query/source.js";
import { and, raw, sql, type Sql } from "../query/sql.js";
import type { TimeRange } from "../time/time-range.js";
import { logColumn, logConditions, type LogFilter } from "./log-filter.js";
import { logNotes } from "./log-table.js";
import { whyNoLines } from "./why-no-lines.js";

/** Which lines are asked about. */
export interface LogLines {
  readonly range: TimeRange;
  readonly filter: LogFilter;
  /** Conditions that a preset adds, such as "is a check-in". */
  readonly only?: readonly Sql[];
  /** Columns that a preset computes of a line. */
  readonly computed?: Readonly<
    Record<
      string,
      { readonly sql: Sql; readonly type: string; readonly label: string; readonly unit: string }
    >
  >;
  /** What a row is, where not a message. */
  readonly many?: string;
}

/** The log lines of a range: a row a line, with the fields of a line and the columns of the table. */
export function logSource(table: TableInfo, asked: LogLines): Source {
  const { range, filter, only = [], computed = {}, many = "messages" } = asked;
  const conditions = [...tableBounds(table, range), ...logConditions(filter, table), ...only];
  return {
    many,
    column: (name) => (Object.hasOwn(computed, name) ? computed[name]! : logColumn(name, table)),
    instant: table.time.dateTime(table.time.sql),
    from: () => sql`${raw(table.from)}\nWHERE ${and(conditions)}`,
    notes: logNotes(table),
    whyEmpty: async (database) => ({
      ...NOTHING,
      notes: [await whyNoLines(database, { table, range, filter })],
    }),
    missingValues: () => Promise.resolve(NOTHING),
  };
}
