import { ProbelabError } from "../base/error.js";
import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { grouped } from "../base/text.js";
import { daysOnly, type Extra, type Source, type SourceColumn } from "../query/source.js";
import { and, bind, nested, print, raw, select, sql, type Sql } from "../query/sql.js";
import { whereSql, type Where } from "../query/where.js";
import { LENGTHS } from "../time/span.js";
import type { TimeRange } from "../time/time-range.js";
import {
  dedupeNotes,
  filtered,
  FirstColumns,
  identityKeys,
  measurementsFrom,
  onceOverall,
  type MeasurementFilter,
} from "./measurement-source.js";

/** Runs are read this far beyond the range, so that those at its edges are whole. */
const MARGIN = LENGTHS.day;

/** A run's columns besides the dimensions of its first measurement. */
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
 * A run belongs to the bucket in which it starts; it is read whole, over the range's edges by a
 * day, and counts where it starts inside the range. Grouping by report_id alone keeps a run that
 * crosses a bucket's edge in one piece. Measurements without a report_id are of no run.
 *
 * Its columns: `start` (a Date), `duration` (seconds from its first measurement's start to its
 * last's), `measurements`, `seconds_per_measurement` (duration / (measurements − 1), null for a run
 * of one), and every column of the table as its first measurement has it (see {@link FirstColumns}).
 *
 * `where` on these four chooses runs; on a column of the table it chooses the measurements that
 * runs are made of.
 */
export function runSource(table: TableInfo, filter: MeasurementFilter): Source {
  const { time } = table;
  const { range } = filter;
  const entries = Object.entries(filter.where);
  const runWhere: Where = Object.fromEntries(entries.filter(([name]) => isOwn(name)));
  const where: Where = Object.fromEntries(entries.filter(([name]) => !isOwn(name)));
  const { conditions, explained } = filtered(table, range, where);
  const first = new FirstColumns(table);
  const column = (name: string): SourceColumn =>
    isOwn(name) ? runColumn(table, name) : first.column(name);
  const runConditions = whereSql(runWhere, column, "run");
  const noReport = withoutReport(table);
  /** Measurements without a report are kept as one run, so that they can be counted. */
  const orNoReport = (condition: Sql): Sql =>
    noReport === undefined ? condition : sql`((${condition}) OR _no_report)`;
  const start = time.bound(range.start);
  const end = time.bound(range.end);
  const inRange = sql`_first >= ${bind("start", start.type, start.value)} AND _first < ${bind("end", end.type, end.value)}`;
  const from = (): Sql => {
    const runs = nested(
      select({
        columns: [
          ["_first", raw(`min(${time.sql})`)],
          ["_last", raw(`max(${time.sql})`)],
          ["_n", raw("count()")],
          ...(noReport === undefined ? [] : [["_no_report", ofNoReport(table, noReport)] as const]),
          ...first.selected,
        ],
        from: measurementsFrom(table, filter, widen(range), conditions),
        groupBy: identityKeys(table, "report_id"),
        having: [orNoReport(inRange)],
      }),
    );
    return runConditions.length === 0
      ? runs
      : sql`${runs}\nWHERE ${orNoReport(and(runConditions))}`;
  };
  const unusableNote = (database: Database, signal: AbortSignal | undefined): Promise<Extra> => {
    const question = select({
      columns: [["n", raw("count()")]],
      from: measurementsFrom(table, filter, range, [
        ...conditions,
        ...(noReport ? [noReport] : []),
      ]),
    });
    return noReportNote(database, question, signal);
  };
  return {
    many: "runs",
    column,
    instant: time.dateTime("_first"),
    ...daysOnly(table),
    ...onceOverall(table, filter.dedupe),
    ...(noReport !== undefined && { unusable: raw("_no_report"), unusableNote }),
    from,
    notes: [WHOLE_RUNS, ...dedupeNotes(table, filter.dedupe), ...table.notes],
    ...explained,
  };
}

/** The condition for measurements without a report, on the grouped columns: once a run, not once a row. */
function ofNoReport(table: TableInfo, noReport: Sql): Sql {
  const keys = identityKeys(table, "report_id");
  const ofNone = identityKeys(table, "report_id", "''");
  return keys.length === 1 ? noReport : and(keys.map((key, at) => sql`${key} = ${ofNone[at]!}`));
}

/** Says how many rows belong to no run. @param question gives them as `n`. */
export async function noReportNote(
  database: Database,
  question: Sql,
  signal: AbortSignal | undefined,
): Promise<Extra> {
  const request = { ...print(question), action: "count runs", signal };
  const { table, ...cost } = await database.ask(request);
  const n = Number(table.get("n", 0));
  const [have, belong, are] =
    n === 1 ? ["measurement has", "it belongs", "is"] : ["measurements have", "they belong", "are"];
  const note = `${grouped(n)} ${have} no report_id: ${belong} to no run and ${are} left out.`;
  return { notes: n === 0 ? [] : [note], rowsRead: cost.rowsRead, bytesRead: cost.bytesRead };
}

/** A note of every question on runs. */
export const WHOLE_RUNS =
  "Runs that cross the range's edges are counted whole (read up to 24 hours beyond it), in the bucket in which they start.";

export function isOwn(name: string): name is OwnColumn {
  return (RUN_COLUMNS as readonly string[]).includes(name);
}

export function runColumn({ time, name: table }: TableInfo, name: OwnColumn): SourceColumn {
  if (name === "start") {
    const start = `toDateTime64(${time.dateTime("_first")}, 3, 'UTC')`;
    return { sql: raw(start), type: "DateTime64(3, 'UTC')" };
  }
  if (name === "measurements") {
    return { sql: raw("_n"), type: "UInt64", label: "Measurements per run", unit: "measurements" };
  }
  if (time.resolution === "day") {
    throw new ProbelabError(
      `Can't tell how long runs take: ${time.sql} of ${table} is a Date, which has no hours. Count runs or measurements instead, or configure a time column with hours and seconds.`,
    );
  }
  const seconds = `(${time.seconds("_first", "_last")})`;
  const known = { finite: true, unit: "s" } as const;
  return name === "duration"
    ? { sql: raw(seconds), type: "Float64", label: "Run duration", ...known }
    : {
        sql: raw(`if(_n > 1, ${seconds} / (_n - 1), NULL)`),
        type: "Nullable(Float64)",
        label: "Seconds per measurement",
        ...known,
      };
}

/** True (1) for a measurement of no report; undefined where the column's type has no such value. */
export function withoutReport(table: TableInfo): Sql | undefined {
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

function widen({ start, end }: TimeRange): { start: Date; end: Date } {
  // A DateTime holds no other instants.
  const [first, last] = [0, Date.UTC(2106, 1, 7)];
  return {
    start: new Date(Math.max(+start - MARGIN, first)),
    end: new Date(Math.min(+end + MARGIN, last)),
  };
}
