import { ProbelabError } from "../base/error.js";
import { answerOrigin, type Answer, type Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { boundsSql, plainType } from "../database/time-column.js";
import { fieldText } from "../logs/lines.js";
import { partialOf, type Origin } from "../result/origin.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import type { Finding } from "./finding.js";
import { DAY } from "../time/span.js";

/** A row of what `freshness` of a funnel holds: the measurement table, or a program of the log table. */
export type FreshnessRow = {
  table: string;
  program: string | null;
  newest: Date;
  /** Seconds from the newest row to the present. */
  age: number;
  /** The longest silence of the week before the newest row, in seconds, to five minutes. */
  longest_silence: number;
  /** Null where it was seen too seldom to be judged. */
  silent: boolean | null;
  /** How long after its measurement a row was stored, in seconds: median and 95th percentile; null where nothing tells. */
  lag_q50: number | null;
  lag_q95: number | null;
};

/** Columns that deployments tell the time of storing by. */
const STORED_AT =
  /^(?:(?:inserted|stored|ingested|received|processed|submitted|uploaded)(?:_at|_time|_ts)?|(?:insert|storage|ingestion|ingest|arrival|submission|upload|receive)_(?:time|at|ts|timestamp))$/i;

const STEP = 300;
/** What was seen in fewer steps of a week has no rhythm to fall out of. */
const FEWEST = 5;

/**
 * The newest measurement and how far storing lags behind measurement, and the
 * newest log line of each program; a row for each, the measurements first.
 *
 * The lag is that of the rows of the last day: from the time of measurement to that of a column such
 * as `inserted_at`, or to the time that `measurement_uid` begins with (when the collector took it).
 * A table or a program is silent where its newest row is older than twice the longest silence of
 * the week before it, and than 15 minutes; what was seen in fewer than five steps of five minutes
 * isn't judged (null). The present is that of the clock; for an embedded
 * database whose data ended earlier it is the newest row of all.
 */
export async function freshness(
  measurements: Database,
  openLogs: () => Promise<Database>,
): Promise<Finding> {
  const parts: Part[] = [
    await part("measurements", () => measurementPart(measurements)),
    await part("log lines", async () => logPart(await openLogs())),
  ];
  const rows = parts.flatMap((part) => part.rows);
  const newest = Math.max(...rows.map((row) => row.newest.getTime()));
  const present = new Date();
  const now =
    measurements.embedded && rows.length > 0 && newest < present.getTime()
      ? new Date(newest)
      : present;
  for (const row of rows) {
    row.age = (now.getTime() - row.newest.getTime()) / 1000;
    row.silent = row.seen < FEWEST ? null : row.age > Math.max(2 * row.longest_silence, 900);
  }
  const aq = await import("arquero");
  const names = [
    "table",
    "program",
    "newest",
    "age",
    "longest_silence",
    "silent",
    "lag_q50",
    "lag_q95",
  ] as const;
  const table = aq.table(
    Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])),
  );
  const first = parts.find((part) => part.origin !== undefined)?.origin;
  const range = between(
    new Date((rows.length > 0 ? newest : now.getTime()) - 7 * DAY),
    new Date(now.getTime() + 1),
  );
  const origin: Origin = {
    parameters: {},
    source: measurements.source,
    server: measurements.version,
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: present,
    ...first,
    range,
    ...partialOf(...parts.map((part) => part.origin)),
    sql: parts.flatMap((part) => part.origin?.sql ?? []).join("\n\n-- and of the logs:\n"),
    columns: {
      dimensions: [
        { name: "table", order: [...new Set(rows.map((row) => row.table))] },
        { name: "program", order: [...new Set(rows.map((row) => row.program))] },
      ],
      measures: [
        {
          name: "age",
          label: "Age of the newest row",
          unit: "s",
          additive: false,
          main: true,
          missing: "gap",
        },
        {
          name: "lag_q50",
          label: "Lag of storing, median",
          unit: "s",
          additive: false,
          missing: "gap",
        },
        {
          name: "lag_q95",
          label: "Lag of storing, 95th percentile",
          unit: "s",
          additive: false,
          missing: "gap",
        },
      ],
      kinds: { newest: "time" },
    },
    reductions: [],
    notes: [...new Set(parts.flatMap((part) => part.notes))],
  };
  return {
    kind: "freshness",
    sentence: sentence(parts, rows, now),
    found: rows.some((row) => row.silent === true),
    result: new Result(table, origin),
  };
}

interface Part {
  readonly rows: (FreshnessRow & { readonly seen: number })[];
  /** What is told of storing, or why nothing can be told; a clause. */
  readonly lag?: string;
  readonly untold?: string;
  readonly origin?: Pick<
    Origin,
    | "sql"
    | "parameters"
    | "source"
    | "server"
    | "rowsRead"
    | "bytesRead"
    | "seconds"
    | "askedAt"
    | "partial"
  >;
  readonly notes: readonly string[];
}

/** What of a database can be told; why not, where its user may not read it or it isn't there. */
async function part(what: string, ask: () => Promise<Part>): Promise<Part> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
    return {
      rows: [],
      untold: `${what} can't be told, because: ${error.message.replace(/\.$/, "")}`,
      notes: [],
    };
  }
}

async function measurementPart(database: Database): Promise<Part> {
  const table = await database.table("measurements");
  const newest = await newestRow(database.rows, table);
  if (newest === null) return empty(table, "measurement");
  const stored = storedColumn(table);
  const instant = `toDateTime64(${table.time.dateTime(table.time.sql)}, 3, 'UTC')`;
  const lag =
    "sql" in stored
      ? `dateDiff('second', ${instant}, ${stored.sql})`
      : "CAST(NULL, 'Nullable(Int64)')";
  const lastDay = `${instant} >= {day:DateTime64(3)}`;
  const { answer, origin } = await askAges(database, table, newest, {
    group: "NULL",
    more: `quantileExactIf(0.5)(_lag, isNotNull(_lag)) AS lag_q50, quantileExactIf(0.95)(_lag, isNotNull(_lag)) AS lag_q95, countIf(isNotNull(_lag)) AS lags`,
    lag: `if(${lastDay}, ${lag}, NULL)`,
    day: new Date(newest.getTime() - DAY),
  });
  const rows = answer.map((row) => freshRow(table, newest, row));
  const [first] = answer;
  const known = Number(first?.["lags"] ?? 0) > 0;
  const shown = rows.map((row) => (known ? row : { ...row, lag_q50: null, lag_q95: null }));
  const why = "sql" in stored ? `no ${stored.name} of the last day tells a time` : stored.why;
  return {
    rows: shown,
    lag:
      known && "sql" in stored
        ? `stored ${duration(shown[0]?.lag_q50 ?? 0)} after measurement in the median, ${duration(shown[0]?.lag_q95 ?? 0)} at the 95th percentile (by ${stored.name})`
        : `how far storing lags behind can't be told, because ${why}`,
    origin,
    notes: table.notes,
  };
}

async function logPart(database: Database): Promise<Part> {
  const table = await database.table("logs");
  const newest = await newestRow(database.rows, table);
  if (newest === null) return empty(table, "line");
  const { answer, origin } = await askAges(database, table, newest, {
    group: `ifNull(${fieldText("identifier", table)}, '')`,
    more: "0 AS lags",
    lag: "NULL",
    day: newest,
  });
  const rows = answer.map((row) => freshRow(table, newest, row));
  return { rows, origin, notes: table.notes };
}

function empty(table: TableInfo, row: string): Part {
  return { rows: [], untold: `${table.name} holds no ${row}`, notes: table.notes };
}

/** The newest row and the longest silence by group, of the week before the table's newest row. */
async function askAges(
  database: Database,
  table: TableInfo,
  newest: Date,
  { group, more, lag, day }: { group: string; more: string; lag: string; day: Date },
) {
  const range = between(new Date(newest.getTime() - 7 * DAY), new Date(newest.getTime() + 1000));
  const bounds = boundsSql(table.time, range);
  const usable = table.time.usable === null ? [] : [table.time.usable];
  const question = {
    sql: `SELECT _group AS program, toUnixTimestamp64Milli(max(_t)) AS newest,
  arrayMax(arrayDifference(arraySort(groupUniqArray(toInt64(intDiv(toUnixTimestamp64Milli(_t), ${STEP * 1000})))))) * ${STEP} AS silence,
  uniqExact(intDiv(toUnixTimestamp64Milli(_t), ${STEP * 1000})) AS seen, ${more}
FROM (
  SELECT ${group} AS _group, toDateTime64(${table.time.dateTime(table.time.sql)}, 3, 'UTC') AS _t, ${lag} AS _lag
  FROM ${table.from}
  WHERE ${[bounds.sql, ...usable].join(" AND ")}
)
GROUP BY _group
ORDER BY newest, program`,
    parameters: { ...bounds.parameters, day },
  };
  const answer: Answer = await database.ask({ ...question, action: "tell how fresh the data is" });
  return {
    answer: answer.table.objects() as Record<string, unknown>[],
    origin: answerOrigin(database, question, range, answer),
  };
}

function freshRow(
  table: TableInfo,
  newest: Date,
  row: Record<string, unknown>,
): Part["rows"][number] {
  const at = Number(row["newest"]);
  const lag = (name: string) =>
    row[name] === undefined || row[name] === null ? null : Number(row[name]);
  return {
    table: table.name,
    program: (row["program"] as string | null) ?? null,
    newest: Number.isFinite(at) ? new Date(at) : newest,
    age: 0,
    longest_silence: Number(row["silence"]),
    silent: false,
    seen: Number(row["seen"]),
    lag_q50: lag("lag_q50"),
    lag_q95: lag("lag_q95"),
  };
}

/** The column that tells when a row was stored, or why none does. */
function storedColumn(table: TableInfo): { name: string; sql: string } | { why: string } {
  if (table.time.resolution === "day") {
    return { why: `${table.timeName} tells only the day` };
  }
  for (const [name, type] of table.columns) {
    if (STORED_AT.test(name) && plainType(type).startsWith("DateTime")) {
      return { name, sql: table.column(name) };
    }
  }
  if (table.columns.has("measurement_uid")) {
    const uid = `toString(${table.column("measurement_uid")})`;
    const time = `parseDateTimeBestEffortOrNull(substring(${uid}, 1, 14), 'UTC')`;
    return { name: "measurement_uid", sql: `if(match(${uid}, '^[0-9]{14}'), ${time}, NULL)` };
  }
  return {
    why: `${table.name} has neither a measurement_uid nor a column for the time of storing, such as inserted_at`,
  };
}

function sentence(parts: readonly Part[], rows: readonly FreshnessRow[], now: Date): string {
  const [stored, logged] = parts;
  const [measured] = stored?.rows ?? [];
  const lines = logged?.rows ?? [];
  const silent = lines.filter((row) => row.silent === true);
  const judged = lines.filter((row) => row.silent !== null);
  const seldom = lines.length - judged.length;
  const present = `${formatInstant(now, "UTC")} UTC`;
  const measurements =
    measured === undefined
      ? (stored?.untold ?? "no measurement")
      : `the newest measurement is of ${formatInstant(measured.newest, "UTC")} UTC, ${duration(measured.age)} old; ${stored?.lag ?? ""}`;
  const programs =
    lines.length === 0
      ? (logged?.untold ?? "no log line")
      : silent.length === 0
        ? judged.length === 0
          ? "no program logs often enough to tell whether one is silent"
          : `${judged.length === 1 ? "the one program logs" : judged.length === 2 ? "both programs log" : `all ${judged.length} programs log`} as often as before (newest line ${duration(Math.min(...judged.map((row) => row.age)))} old)`
        : `silent ${silent.length === 1 ? "is" : "are"} ${silent.map((row) => `${row.program || "no named program"} (${duration(row.age)}, never more than ${duration(row.longest_silence)} in the week before)`).join(", ")} of ${judged.length} programs`;
  const untold =
    judged.length > 0 && seldom > 0
      ? `; ${seldom} ${seldom === 1 ? "logs" : "log"} too rarely to judge`
      : "";
  const verdict = verdictOf(measured?.silent, lines);
  return `${verdict}, as of ${present}: ${measurements}; ${programs}${untold}.`;
}

function verdictOf(
  measurements: boolean | null | undefined,
  lines: readonly FreshnessRow[],
): string {
  if (measurements === true) {
    if (lines.some(({ silent }) => silent === false)) {
      return "Measurements have stopped while logs go on";
    }
    return lines.length > 0
      ? "Nothing comes any more, neither measurements nor log lines"
      : "Measurements have stopped";
  }
  if (lines.some(({ silent }) => silent === true)) return "Programs have fallen silent";
  if (measurements === undefined && lines.length === 0) return "Can't tell how fresh the data is";
  return measurements === false
    ? "Data comes as usual"
    : "Can't tell whether measurements come as usual";
}

/** `42 s`, `3 min`, `5 h`, `2 days`. */
function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 120) return `${Math.round(seconds)} s`;
  if (size < 7200) return `${Math.round(seconds / 60)} min`;
  if (size < 2 * 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
