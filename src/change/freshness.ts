import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { answerOrigin, type Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { boundsSql, plainType } from "../database/time-column.js";
import { fieldText } from "../logs/lines.js";
import type { MeasureColumn, Origin } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { DAY } from "../time/span.js";
import { originOfAll, type Finding } from "./finding.js";

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
/** Nobody is silent within so many seconds. */
const USUAL_SILENCE = 900;

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
  const stored = await told("measurements", () => measuredPart(measurements));
  const logged = await told("log lines", async () => loggedPart(await openLogs()));
  const parts = [...stored.rows, ...logged.rows];
  const newest = Math.max(...parts.map((row) => Number(row.newest)));
  const present = Date.now();
  const isPast = measurements.embedded && parts.length > 0 && newest < present;
  const now = new Date(isPast ? newest : present);
  const judge = ({ seen, ...row }: Part): FreshnessRow => {
    const age = (+now - Number(row.newest)) / 1000;
    const silent = seen < FEWEST ? null : age > Math.max(2 * row.longest_silence, USUAL_SILENCE);
    return { ...row, age, silent };
  };
  const [measured] = stored.rows.map(judge);
  const lines = logged.rows.map(judge);
  const rows = [...(measured ? [measured] : []), ...lines];
  const range = between(new Date((parts.length > 0 ? newest : +now) - 7 * DAY), new Date(+now + 1));
  const unasked: Origin = {
    ...{ sql: "", parameters: {}, source: measurements.source, server: measurements.version },
    ...{ rowsRead: 0, bytesRead: 0, seconds: 0, askedAt: new Date(present) },
    ...{ columns: { dimensions: [], measures: [] }, reductions: [], notes: [] },
  };
  const answers = [stored.origin, logged.origin].flatMap((origin) => origin ?? []);
  const table = resultOfRows(rows).table;
  const seconds = (name: string, label: string): MeasureColumn => {
    return { name, label, unit: "s", additive: false, missing: "gap" };
  };
  const origin = originOfAll(
    (answers.length > 0 ? answers : [unasked]).map(
      (origin) => new Result(table, { ...unasked, ...origin }),
    ),
    {
      dimensions: [
        { name: "table", order: [...new Set(rows.map((row) => row.table))] },
        { name: "program", order: [...new Set(rows.map((row) => row.program))] },
      ],
      measures: [
        { ...seconds("age", "Age of the newest row"), main: true },
        seconds("lag_q50", "Lag of storing, median"),
        seconds("lag_q95", "Lag of storing, 95th percentile"),
      ],
      kinds: { newest: "time" },
    },
    [...stored.notes, ...logged.notes],
  );
  const head = verdict(measured?.silent, lines);
  const measurement = measured
    ? `the newest measurement is of ${formatInstant(measured.newest, "UTC")} UTC, ${duration(measured.age)} old; ${stored.text}`
    : stored.text;
  const programs = lines.length === 0 ? logged.text : programsText(lines);
  return {
    kind: "freshness",
    sentence: `${head}, as of ${formatInstant(now, "UTC")} UTC: ${measurement}; ${programs}.`,
    found: rows.some(({ silent }) => silent === true),
    result: new Result(table, { ...origin, range }),
  };
}

/** A row before the present is known: `seen` is the number of steps of the week that it was seen in. */
type Part = Omit<FreshnessRow, "age" | "silent"> & { readonly seen: number };

interface Told {
  readonly rows: readonly Part[];
  /** What is told of storing, or why nothing can be told; a clause. */
  readonly text: string;
  readonly origin?: Omit<Origin, "columns" | "reductions" | "notes">;
  readonly notes: readonly string[];
}

/** What can be told; why not, where the database's user may not read it or it isn't there. */
async function told(what: string, ask: () => Promise<Told>): Promise<Told> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
    const why = error.message.replace(/\.$/, "");
    return { rows: [], text: `${what} can't be told, because: ${why}`, notes: [] };
  }
}

async function measuredPart(database: Database): Promise<Told> {
  const table = await database.table("measurements");
  const stored = storedColumn(table);
  const asked = await askAges(database, table, "NULL", "measurement", stored.sql);
  const lag = asked.rows[0]?.lag_q50 ?? null;
  const text =
    lag === null
      ? `how far storing lags behind can't be told, because ${stored.why ?? `no ${stored.name} of the last day tells a time`}`
      : `stored ${duration(lag)} after measurement in the median, ${duration(asked.rows[0]!.lag_q95!)} at the 95th percentile (by ${stored.name})`;
  return asked.rows.length === 0 ? asked : { ...asked, text };
}

async function loggedPart(database: Database): Promise<Told> {
  const table = await database.table("logs");
  return askAges(database, table, `ifNull(${fieldText("identifier", table)}, '')`, "line");
}

/**
 * The newest row and the longest silence by group, of the week before the table's newest row.
 *
 * @param stored SQL of the time of storing, of which the last day's lag is taken.
 */
async function askAges(
  database: Database,
  table: TableInfo,
  group: string,
  noun: string,
  stored?: string,
): Promise<Told> {
  const newest = await newestRow(database.rows, table);
  if (newest === null)
    return { rows: [], text: `${table.name} holds no ${noun}`, notes: table.notes };
  const range = between(new Date(+newest - 7 * DAY), new Date(+newest + 1000));
  const bounds = boundsSql(table.time, range);
  const usable = table.time.usable === null ? [] : [table.time.usable];
  const lag =
    stored === undefined ? "CAST(NULL, 'Nullable(Int64)')" : `dateDiff('second', _t, ${stored})`;
  const question = {
    sql: `WITH toDateTime64(${table.time.dateTime(table.time.sql)}, 3, 'UTC') AS _t, if(_t >= {day:DateTime64(3)}, ${lag}, NULL) AS _lag
SELECT ${group} AS program, toUnixTimestamp64Milli(max(_t)) AS newest,
  arrayMax(arrayDifference(arraySort(groupUniqArray(toInt64(intDiv(toUnixTimestamp64Milli(_t), ${STEP * 1000})))))) * ${STEP} AS silence,
  uniqExact(intDiv(toUnixTimestamp64Milli(_t), ${STEP * 1000})) AS seen,
  countIf(isNotNull(_lag)) AS lags, quantileExactIf(0.5)(_lag, isNotNull(_lag)) AS lag_q50, quantileExactIf(0.95)(_lag, isNotNull(_lag)) AS lag_q95
FROM ${table.from}
WHERE ${[bounds.sql, ...usable].join(" AND ")}
GROUP BY program
ORDER BY newest, program`,
    parameters: { ...bounds.parameters, day: new Date(+newest - DAY) },
  };
  const answer = await database.ask({ ...question, action: "tell how fresh the data is" });
  const rows = (answer.table.objects() as Record<string, unknown>[]).map((row): Part => {
    const hasLag = Number(row["lags"]) > 0;
    return {
      table: table.name,
      program: (row["program"] as string | null) ?? null,
      newest: new Date(Number(row["newest"])),
      longest_silence: Number(row["silence"]),
      seen: Number(row["seen"]),
      lag_q50: hasLag ? Number(row["lag_q50"]) : null,
      lag_q95: hasLag ? Number(row["lag_q95"]) : null,
    };
  });
  const origin = answerOrigin(database, question, range, answer);
  return { rows, text: "", origin, notes: table.notes };
}

/** The column that tells when a row was stored, or why none does. */
function storedColumn(table: TableInfo): { name?: string; sql?: string; why?: string } {
  if (table.time.resolution === "day") return { why: `${table.timeName} tells only the day` };
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

function verdict(measurements: boolean | null | undefined, lines: readonly FreshnessRow[]): string {
  if (measurements === true) {
    const goOn = lines.some(({ silent }) => silent === false);
    return goOn ? "Measurements have stopped while logs go on" : "Measurements have stopped";
  }
  if (lines.some(({ silent }) => silent === true)) return "Programs have fallen silent";
  if (measurements === false) return "Data comes as usual";
  return "Can't tell whether measurements come as usual";
}

function programsText(lines: readonly FreshnessRow[]): string {
  const judged = lines.filter(({ silent }) => silent !== null);
  const silent = judged.filter(({ silent }) => silent);
  const seldom = lines.length - judged.length;
  const untold =
    seldom === 0 ? "" : `; ${counted(seldom, "program")} logged too rarely to be judged`;
  if (judged.length === 0) return `no program logs often enough to tell whether one is silent`;
  if (silent.length === 0) {
    const age = duration(Math.min(...judged.map(({ age }) => age)));
    const all = judged.length === 1 ? "the one program logs" : `all ${judged.length} programs log`;
    return `${all} as often as before (newest line ${age} old)${untold}`;
  }
  const each = silent.map(
    ({ program, age, longest_silence: longest }) =>
      `${program || "no named program"} (${duration(age)}, never more than ${duration(longest)} in the week before)`,
  );
  return `silent: ${each.join(", ")} of ${counted(judged.length, "program")}${untold}`;
}

/** `42 s`, `3 min`, `5 h`, `2 days`. */
function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 120) return `${Math.round(seconds)} s`;
  if (size < 7200) return `${Math.round(seconds / 60)} min`;
  if (size < 2 * 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
