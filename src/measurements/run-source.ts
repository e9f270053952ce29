import { ProbelabError } from "../base/error.js";
import type { Database } from "../database/database.js";
import type { TableInfo } from "../database/table-info.js";
import { plainType } from "../database/time-column.js";
import { grouped } from "../base/text.js";
import { daysOnly, type Extra, type Source, type SourceColumn } from "../query/source.js";
import { and, bind, nested, print, raw, select, sql, type Column, type Sql } from "../query/sql.js";
import { whereSql, type Where } from "../query/where.js";
import { DAY } from "../time/span.js";
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
export const RUN_MARGIN = DAY;

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
 * A run belongs to the bucket in which it starts; it is read over the range's edges by a day, where
 * a longer one is cut, and counts where it starts inside the range. Grouping by report_id alone keeps a run that
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
  const { ofRuns, ofParts } = splitWhere(filter.where);
  const { conditions, ...own } = filtered(table, range, ofParts);
  const noReport = withoutReport(table);
  return runsOf({
    table,
    first: new FirstColumns(table),
    columns: [
      ["_first", raw(`min(${time.sql})`)],
      ["_last", raw(`max(${time.sql})`)],
      ["_n", raw("count()")],
    ],
    noReport: noReport && ofNoReport(table, noReport),
    from: (range) => measurementsFrom(table, filter, widen(range), conditions),
    groupBy: identityKeys(table, "report_id"),
    inRange: (range) => {
      const [start, end] = [time.bound(range.start), time.bound(range.end)];
      return sql`_first >= ${bind("start", start.type, start.value)} AND _first < ${bind("end", end.type, end.value)}`;
    },
    where: ofRuns,
    lost: select({
      columns: [["n", raw("count()")]],
      from: measurementsFrom(table, filter, range, [
        ...conditions,
        ...(noReport ? [noReport] : []),
      ]),
    }),
    more: {
      ...onceOverall(table, filter.dedupe),
      notes: [WHOLE_RUNS, ...dedupeNotes(table, filter.dedupe), ...table.notes],
      ...own,
    },
  });
}

/** Conditions on runs, and those on what runs are made of. */
export function splitWhere(where: Where): { readonly ofRuns: Where; readonly ofParts: Where } {
  const entries = Object.entries(where);
  return {
    ofRuns: Object.fromEntries(entries.filter(([name]) => isOwn(name))),
    ofParts: Object.fromEntries(entries.filter(([name]) => !isOwn(name))),
  };
}

type Span = Pick<TimeRange, "start" | "end">;

/** What runs are made of: measurements, or the pieces of runs that a snapshot holds. */
interface RunParts {
  /** How the times of runs are written, and what the table is called. */
  readonly table: TableInfo;
  readonly first: FirstColumns;
  /** `_first`, `_last` and `_n`, over the parts of a run. */
  readonly columns: readonly Column[];
  /** Over the parts of a run: whether it is the measurements without a report; missing where all have one. */
  readonly noReport: Sql | undefined;
  readonly from: (range: Span) => Sql;
  readonly groupBy: readonly Sql[];
  /** Whether a run starts in the range. */
  readonly inRange: (range: Span) => Sql;
  /** Conditions on the run. */
  readonly where: Where;
  /** Counts, as `n`, the measurements of the range without a report. */
  readonly lost: Sql;
  /** Runs that are held whole: gives the same columns of each, and those of its first measurement. */
  readonly whole?: (range: Span, first: FirstColumns["names"]) => Sql;
  readonly more: Pick<Source, "notes" | "filtered" | "whole">;
}

/** The runs that parts make up: the one place that says what a run is. */
export function runsOf(parts: RunParts): Source {
  const { table, first, noReport, whole } = parts;
  const column = (name: string): SourceColumn =>
    isOwn(name) ? runColumn(table, name) : first.column(name);
  const conditions = whereSql(parts.where, column, "run");
  /** Measurements without a report are kept as one run, so that they can be counted. */
  const orNoReport = (condition: Sql): Sql =>
    noReport === undefined ? condition : sql`((${condition}) OR _no_report)`;
  const from = (range: Span): Sql => {
    const made = select({
      columns: [
        ...parts.columns,
        ...(noReport === undefined ? [] : [["_no_report", noReport] as const]),
        ...first.selected,
      ],
      from: parts.from(range),
      groupBy: parts.groupBy,
      having: [orNoReport(parts.inRange(range))],
    });
    const runs = nested(
      whole === undefined ? made : sql`${whole(range, first.names)}\nUNION ALL\n${made}`,
    );
    return conditions.length === 0 ? runs : sql`${runs}\nWHERE ${orNoReport(and(conditions))}`;
  };
  return {
    many: "runs",
    column,
    instant: table.time.dateTime("_first"),
    ...daysOnly(table),
    ...(noReport !== undefined && {
      unusable: raw("_no_report"),
      unusableNote: (database: Database, signal: AbortSignal | undefined) =>
        noReportNote(database, parts.lost, signal),
    }),
    from,
    ...parts.more,
  };
}

/** The condition for measurements without a report, on the grouped columns: once a run, not once a row. */
function ofNoReport(table: TableInfo, noReport: Sql): Sql {
  const keys = identityKeys(table, "report_id");
  const ofNone = identityKeys(table, "report_id", "''");
  return keys.length === 1 ? noReport : and(keys.map((key, at) => sql`${key} = ${ofNone[at]!}`));
}

/** Says how many rows belong to no run. @param question gives them as `n`. */
async function noReportNote(
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
  "A run counts when it starts; one that crosses an edge of the range is read up to 24 hours beyond it, and cut there.";

function isOwn(name: string): name is OwnColumn {
  return (RUN_COLUMNS as readonly string[]).includes(name);
}

function runColumn({ time, name: table }: TableInfo, name: OwnColumn): SourceColumn {
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

function widen({ start, end }: Span): Span {
  // A DateTime holds no other instants.
  const [first, last] = [0, Date.UTC(2106, 1, 7)];
  return {
    start: new Date(Math.max(+start - RUN_MARGIN, first)),
    end: new Date(Math.min(+end + RUN_MARGIN, last)),
  };
}
