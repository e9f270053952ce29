import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { ProbelabError } from "../base/error.js";
import { explainEmpty, missingFromLists, type Filtered } from "../query/explain.js";
import { type Extra, type Source, type SourceColumn } from "../query/source.js";
import { and, bind, nested, print, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { whereSql, type Where } from "../query/where.js";
import { last, type TimeRange } from "../time/time-range.js";
import {
  distinctNotes,
  firstOf,
  measurementsFrom,
  tableColumn,
  type MeasurementFilter,
} from "./measurement-source.js";

/** Which runs are asked about. */
export interface RunFilter extends MeasurementFilter {
  /** How far beyond the range runs are read, so that those at its edges are whole; default "24 hours". */
  readonly margin?: string | undefined;
}

/** What a run has besides the dimensions of its first measurement. */
export const RUN_COLUMNS = [
  "start",
  "duration",
  "measurements",
  "seconds_per_measurement",
] as const;
type OwnColumn = (typeof RUN_COLUMNS)[number];

/**
 * The runs of a range: a row a run, the measurements that share a report_id.
 *
 * A run belongs to the bucket in which it starts; it is read whole, over the range's edges by the
 * margin, and counts where it starts inside the range. Grouping by report_id alone keeps a run that
 * crosses a bucket's edge in one piece. Measurements without a report_id are of no run.
 *
 * Its columns: `start` (a Date), `duration` (seconds from its first measurement's start to its
 * last's), `measurements`, `seconds_per_measurement` (duration / (measurements − 1), null for a run
 * of one), and every column of the table as its first measurement has it. Of measurements that share
 * the first instant see {@link firstOf}.
 *
 * `where` on these four chooses runs; on a column of the table it chooses the measurements that
 * runs are made of.
 */
export function runSource(table: TableInfo, asked: RunFilter): Source {
  const { time } = table;
  const { range } = asked;
  const margin = asked.margin ?? "24 hours";
  const isOfRun = ([name]: [string, unknown]) => (RUN_COLUMNS as readonly string[]).includes(name);
  const entries = Object.entries(asked.where);
  const runWhere: Where = Object.fromEntries(entries.filter(isOfRun));
  const where: Where = Object.fromEntries(entries.filter((entry) => !isOfRun(entry)));
  const find = (name: string) => tableColumn(table, name);
  const about: Filtered = { table, range, where, find };
  const conditions = whereSql(where, find);
  const dimensions = new Map<string, string>();
  const column = (name: string): SourceColumn => {
    if ((RUN_COLUMNS as readonly string[]).includes(name))
      return runColumn(table, name as OwnColumn);
    const { type } = find(name);
    if (!dimensions.has(name)) dimensions.set(name, `_c${dimensions.size}`);
    return { sql: raw(dimensions.get(name) as string), type };
  };
  const runConditions = whereSql(runWhere, column, "run");
  const noReport = withoutReport(table);
  const start = time.bound(range.start);
  const end = time.bound(range.end);
  const inRange = sql`_first >= ${bind("start", start.type, start.value)} AND _first < ${bind("end", end.type, end.value)}`;
  const from = (): Sql => {
    const runs = select({
      columns: [
        ["_first", raw(`min(${time.sql})`)],
        ["_last", raw(`max(${time.sql})`)],
        ["_n", raw("count()")],
        ...(noReport === undefined ? [] : [["_no_report", noReport] as const]),
        ...[...dimensions].map(([name, as]): Column => [as, firstOf(table, name)]),
      ],
      from: measurementsFrom(table, asked, widen(range, margin), conditions),
      groupBy: [raw(table.column("report_id"))],
      having: [noReport === undefined ? inRange : sql`(${inRange} OR _no_report)`],
    });
    if (runConditions.length === 0) return nested(runs);
    const kept =
      noReport === undefined ? and(runConditions) : sql`((${and(runConditions)}) OR _no_report)`;
    return sql`${nested(runs)}\nWHERE ${kept}`;
  };
  return {
    one: "run",
    many: "runs",
    table,
    column,
    instant: time.dateTime("_first"),
    ...(noReport !== undefined && {
      unusable: raw("_no_report"),
      unusableNote: async (database, signal): Promise<Extra> => {
        const question = print(
          select({
            columns: [["n", raw("count()")]],
            from: measurementsFrom(table, asked, range, [...conditions, noReport]),
          }),
        );
        const answer = await database.ask({ ...question, action: "count runs", signal });
        const n = Number(answer.table.get("n", 0));
        const notes =
          n === 0
            ? []
            : [
                `${n.toLocaleString("en-US")} ${n === 1 ? "measurement has" : "measurements have"} no report_id: ${n === 1 ? "it belongs" : "they belong"} to no run and ${n === 1 ? "is" : "are"} left out.`,
              ];
        return { notes, rowsRead: answer.rowsRead, bytesRead: answer.bytesRead };
      },
    }),
    from,
    notes: [
      `Runs are read up to ${margin} beyond the range, so that those at its edges are whole; a run counts where it starts.`,
      ...distinctNotes(table, asked.distinct),
      ...table.notes,
    ],
    whyEmpty: (database, signal) => explainEmpty(database, about, signal),
    missingValues: (database, signal) => missingFromLists(database, about, signal),
  };
}

function runColumn({ time, name: table }: TableInfo, name: OwnColumn): SourceColumn {
  const seconds = () => {
    if (time.resolution === "day") {
      throw new ProbelabError(
        `Can't tell how long runs take: ${time.sql} of ${table} is a Date, which tells days only. Count runs or measurements instead, or configure a time column with hours and seconds.`,
      );
    }
    return time.seconds("_first", "_last");
  };
  switch (name) {
    case "start":
      return {
        sql: raw(`toDateTime64(${time.dateTime("_first")}, 3, 'UTC')`),
        type: "DateTime64(3, 'UTC')",
      };
    case "duration":
      return {
        sql: raw(`(${seconds()})`),
        type: "Float64",
        finite: true,
        label: "Run duration",
        unit: "s",
      };
    case "measurements":
      return {
        sql: raw("_n"),
        type: "UInt64",
        label: "Measurements per run",
        unit: "measurements",
      };
    case "seconds_per_measurement":
      return {
        sql: raw(`if(_n > 1, (${seconds()}) / (_n - 1), NULL)`),
        type: "Nullable(Float64)",
        finite: true,
        label: "Seconds per measurement",
        unit: "s",
      };
  }
}

/** True (1) for a measurement of no report; undefined where the column's type has no such value. */
function withoutReport(table: TableInfo): Sql | undefined {
  const column = table.column("report_id");
  const type = table.columns.get("report_id") ?? "";
  const plain = plainType(type);
  const isEmpty = /^(String|UUID)$/.test(plain)
    ? `empty(${column})`
    : plain.startsWith("FixedString")
      ? `empty(toStringCutToZero(${column}))`
      : undefined;
  if (!/Nullable\(/.test(type)) return isEmpty === undefined ? undefined : raw(isEmpty);
  return raw(isEmpty === undefined ? `isNull(${column})` : `ifNull(${isEmpty}, 1)`);
}

function widen(range: TimeRange, margin: string): { start: Date; end: Date } {
  const before = last(margin, { now: range.start });
  const size = before.end.getTime() - before.start.getTime();
  return { start: before.start, end: new Date(range.end.getTime() + size) };
}
