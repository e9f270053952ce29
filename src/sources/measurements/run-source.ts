import { ProbelabError } from "../../base/error.js";
import type { Database } from "../../database/database.js";
import type { TableInfo } from "../../database/table-info.js";
import { plainType } from "../../database/time-column.js";
import { grouped } from "../../base/text.js";
import { daysOnly, type Extra, type Source, type SourceColumn } from "../../query/source.js";
import {
  and,
  bind,
  nested,
  print,
  raw,
  select,
  sql,
  type Column,
  type Sql,
} from "../../query/sql.js";
import { whereSql, type Where } from "../../query/where.js";
import { DAY } from "../../time/span.js";
import type { Bounds } from "../../time/time-range.js";
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
 * A run belongs to the bucket in which it starts: it is read a day beyond the range and counts if it
 * starts inside. Grouping by report_id alone keeps a run that
 * crosses a bucket's edge in one piece. Measurements without a report_id are of no run, nor are those
 * that share one over more than a day: a placeholder.
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
  const inRange = (at: string, range: Bounds): Sql => {
    const [start, end] = [time.bound(range.start), time.bound(range.end)];
    return sql`${raw(at)} >= ${bind("start", start.type, start.value)} AND ${raw(at)} < ${bind("end", end.type, end.value)}`;
  };
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
    inRange: (range) => inRange("_first", range),
    where: ofRuns,
    lost: select({
      columns: [["n", raw("count()")]],
      from: measurementsFrom(table, filter, range, [
        ...conditions,
        ...(noReport ? [noReport] : []),
      ]),
    }),
    within: sql`countIf(${inRange(time.sql, range)})`,
    range,
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

/** What runs are made of: measurements, or the pieces of runs that a snapshot holds. */
interface RunParts {
  /** How the times of runs are written, and what the table is called. */
  readonly table: TableInfo;
  readonly first: FirstColumns;
  /** `_first`, `_last` and `_n`, over the parts of a run. */
  readonly columns: readonly Column[];
  /** True, over the parts of a run, for the measurements without a report; undefined where all have one. */
  readonly noReport: Sql | undefined;
  readonly from: (range: Bounds) => Sql;
  readonly groupBy: readonly Sql[];
  /** True for a run that starts in the range. */
  readonly inRange: (range: Bounds) => Sql;
  /** Conditions on the run. */
  readonly where: Where;
  /** Counts, as `n`, the measurements of the range without a report. */
  readonly lost: Sql;
  /** Counts, over the parts of a run, its measurements in the range. */
  readonly within: Sql;
  readonly range: Bounds;
  /** Runs that are held whole: gives the same columns of each, and those of its first measurement. */
  readonly whole?: (range: Bounds, first: FirstColumns["names"]) => Sql;
  readonly more: Pick<Source, "notes" | "filtered" | "whole">;
}

/** The runs that parts make up: the one place that says what a run is. */
export function runsOf(parts: RunParts): Source {
  const { table, first, noReport = raw("0"), whole } = parts;
  const column = (name: string): SourceColumn =>
    isOwn(name) ? runColumn(table, name) : first.column(name);
  const conditions = whereSql(parts.where, column, "run");
  const isLong =
    table.time.resolution === "day"
      ? raw("0")
      : raw(`${table.time.seconds("_first", "_last")} > ${RUN_MARGIN / 1000}`);
  /** What is no run is kept as one, so that it can be counted. */
  const orNoRun = (condition: Sql): Sql => sql`((${condition}) OR _no_run)`;
  const from = (range: Bounds): Sql => {
    const made = select({
      columns: [
        ...parts.columns,
        ["_no_run", sql`multiIf(${noReport}, 1, ${isLong}, 2, 0)`],
        ...first.selected,
      ],
      from: parts.from(range),
      groupBy: parts.groupBy,
      having: [orNoRun(parts.inRange(range))],
    });
    const runs = nested(
      whole === undefined ? made : sql`${whole(range, first.names)}\nUNION ALL\n${made}`,
    );
    return conditions.length === 0 ? runs : sql`${runs}\nWHERE ${orNoRun(and(conditions))}`;
  };
  const shared = select({
    columns: [["n", raw("sum(_within)")]],
    from: nested(
      select({
        columns: [...parts.columns.filter(([name]) => name !== "_n"), ["_within", parts.within]],
        from: parts.from(parts.range),
        groupBy: parts.groupBy,
        having: [sql`NOT (${noReport}) AND ${isLong}`],
      }),
    ),
  });
  return {
    kind: "runs",
    rowNoun: "runs",
    column,
    instant: table.time.dateTime("_first"),
    ...daysOnly(table),
    unusable: raw("_no_run"),
    unusableNotes: (kinds, database, signal) => {
      const asked = [
        { kind: 1, question: parts.lost, words: NONE },
        { kind: 2, question: shared, words: SHARED },
      ].filter(({ kind }) => kinds.has(kind));
      return Promise.all(
        asked.map(({ question, words }) => noRunNote(database, question, words, signal)),
      );
    },
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

/** What is said of one measurement, and of more, that belong to no run. */
const NONE = ["has no report_id", "have no report_id"] as const;
const LONG = "a report_id with others over more than 24 hours";
const SHARED = [`shares ${LONG}`, `share ${LONG}`] as const;

/** Says how many measurements belong to no run. @param question gives them as `n`. */
async function noRunNote(
  database: Database,
  question: Sql,
  [one, more]: readonly [one: string, more: string],
  signal: AbortSignal | undefined,
): Promise<Extra> {
  const request = { ...print(question), action: "count runs", signal };
  const { table, ...cost } = await database.ask(request);
  const n = Number(table.get("n", 0));
  const note =
    n === 1
      ? `1 measurement ${one}: it belongs to no run and is left out.`
      : `${grouped(n)} measurements ${more}: they belong to no run and are left out.`;
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
  // Of a FixedString that is one of zero bytes alone: binary ids may begin with one.
  const isEmpty = /^(String|UUID|FixedString.*)$/.test(plain) ? `empty(${column})` : undefined;
  if (!/Nullable\(/.test(type)) return isEmpty === undefined ? undefined : raw(isEmpty);
  return raw(isEmpty === undefined ? `isNull(${column})` : `ifNull(${isEmpty}, 1)`);
}

function widen({ start, end }: Bounds): Bounds {
  // A DateTime holds no other instants.
  const [first, last] = [0, Date.UTC(2106, 1, 7)];
  return {
    start: new Date(Math.max(+start - RUN_MARGIN, first)),
    end: new Date(Math.min(+end + RUN_MARGIN, last)),
  };
}
