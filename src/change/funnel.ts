import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { answerOrigin, type Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { boundsSql, plainType } from "../database/time-column.js";
import { fieldText, instantSql } from "../logs/lines.js";
import type { Logs } from "../logs/logs.js";
import type { Measurements } from "../measurements/measurements.js";
import { countDistinct } from "../query/measure.js";
import type { Origin } from "../result/origin.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import { between, checkRange, formatRange, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { DAY, HOUR, MINUTE, WEEK } from "../time/span.js";
import { weekBefore } from "./compare.js";
import { originOfAll, type Finding } from "./finding.js";
import { CERTAIN, USUAL } from "./thresholds.js";
import { percent, signedPercent } from "./words.js";

/** What `lab.funnel` takes. */
export interface FunnelOptions {
  /** The time to ask about; the same hours of the week before are what is usual. */
  readonly range: TimeRange;
}

/** The answer of `lab.funnel`; `found` where a step lost reports or, in a range up to now, somebody is silent. */
export interface FunnelFinding extends Finding {
  readonly kind: "funnel";
  /** How fresh the data is now: a row for the measurement table and for each program that logs. */
  readonly freshness: Finding;
}

/** A row of the funnel: a step. */
export type FunnelRow = {
  step: Step;
  now: number | null;
  before: number | null;
  /** The share of the step before that came through; of the first step, of the week before. */
  passed: number | null;
  passed_before: number | null;
  /** By how much the share that came through changed: −0.3 is 30 % fewer than usual. */
  change: number | null;
};

/** The steps in order, and who lost reports where a step is the one that did. */
const CULPRITS = {
  "check-in": "It is the probes: fewer check in, or check-in doesn't answer them",
  submit: "It is the probes or their way to the collector: they check in and don't submit",
  accepted: "It is the pipeline: reports are submitted and not accepted",
  stored: "It is ingestion: reports are accepted and not stored",
};
type Step = keyof typeof CULPRITS;
const STEPS = Object.keys(CULPRITS) as Step[];
/** Where not even this loss would show, the funnel can't tell. */
const NOTHING_SHOWS = 0.95;

/**
 * `lab.funnel({ range })`: how many check-ins, submitted, accepted and stored reports there were, by
 * the forms of the deployment's log lines, against the same hours of the week before; and which
 * step lost them. What is stored is the product of the shares that each step lets through, so the
 * step whose share fell most lost most. Hours whose rows may still be stored, by the lag of the
 * last day, are left out.
 */
export async function funnel(
  logs: Logs,
  measurements: Measurements,
  freshness: () => Promise<Finding>,
  options: FunnelOptions,
): Promise<FunnelFinding> {
  const action = "tell which step lost reports";
  refuseUnknown(options, ["range"], action);
  const asked = checkRange((options as FunnelOptions | undefined)?.range, action);
  const fresh = await freshness();
  const [newest] = fresh.result.rows() as FreshnessRow[];
  const lag = newest?.program === null ? (newest.lag_q95 ?? 0) * 1000 : 0;
  const present = +fresh.result.origin.range!.end;
  const stored = new Date(Math.floor((present - lag) / MINUTE) * MINUTE);
  const isCut = lag > MINUTE && stored < asked.end && stored > asked.start;
  const range = isCut ? { ...asked, end: stored } : asked;
  const earlier = weekBefore(range);
  const weeks = Math.round((+range.start - +earlier.start) / WEEK);
  const when = weeks === 1 ? "the week before" : `${weeks} weeks before`;
  const now = await stepsOf(logs, measurements, range);
  const then = await stepsOf(logs, measurements, earlier);
  const rows: Judged[] = [];
  for (const step of STEPS) {
    const [n, m] = [now.counts[step], then.counts[step]];
    const from = rows.findLast((row) => row.now !== null && row.before !== null);
    const whole = { now: from === undefined ? m : from.now, before: from?.before ?? m };
    const passed = share(n, whole.now);
    const usual = share(m, whole.before);
    const change = passed === null || usual === null || usual === 0 ? null : passed / usual - 1;
    const expected = ((m ?? 0) * (whole.now ?? 0)) / Math.max(1, whole.before ?? 0);
    const row = { step, now: n, before: m, passed, passed_before: usual, change };
    // What is accepted and stored is a part of what was submitted; submissions are no part of check-ins.
    const loss =
      from?.step === "submit" || from?.step === "accepted"
        ? lossOfPart(n ?? 0, whole.now ?? 0, m ?? 0, whole.before ?? 0)
        : lossOf(n ?? 0, expected, m ?? 0);
    rows.push({ ...row, ...loss });
  }
  const unknown = [...new Set([...now.unknown, ...then.unknown])];
  const cut = "The newest are left out, as rows may still be stored (by the lag of the last day).";
  const { text, found } = verdict(rows, unknown, formatRange(range), when);
  // Who is silent now says nothing about a range that ended long ago.
  const isNow = +asked.end > present - HOUR;
  const answers = [...now.asked, ...then.asked];
  const origin = originOfAll(
    (answers.length > 0 ? answers : [fresh.result]).map(({ origin }) => origin),
    {
      dimensions: [{ name: "step", order: STEPS }],
      measures: [
        { ...column("now", "Now", "reports"), main: true },
        column("before", `${when.charAt(0).toUpperCase()}${when.slice(1)}`, "reports"),
        column("passed", "Share that came through", "share"),
        column("passed_before", "The same, before", "share"),
        column("change", "Change of that share", "share"),
      ],
    },
    [...(isCut ? [cut] : []), ...unknown],
  );
  const shown = rows.map(({ errors: _, least: __, ...row }): FunnelRow => row);
  return {
    kind: "funnel",
    sentence: isNow ? `${text} ${fresh.sentence}` : text,
    found: found || (isNow && fresh.found),
    result: new Result(resultOfRows(shown).table, { ...origin, range }),
    freshness: fresh,
  };
}

const column = (name: string, label: string, unit: string) =>
  ({ name, label, unit, additive: false, missing: "gap" }) as const;

/** A step, how many standard errors its loss is from none, and the least loss that would be enough. */
type Judged = FunnelRow & { readonly errors: number; readonly least: number };

/**
 * How many standard errors a step's loss is from none, and the least loss that would be enough: of
 * Poisson counts on the scale of square roots (F. J. Anscombe, Biometrika 35, 1948).
 */
function lossOf(came: number, expected: number, before: number) {
  const root = (count: number) => Math.sqrt(count + 3 / 8);
  const error = Math.sqrt(1 + expected / Math.max(1, before)) / 2;
  const enough = Math.max(0, root(expected) - CERTAIN * error) ** 2 - 3 / 8;
  const least = (expected - Math.max(0, enough)) / Math.max(1, expected);
  return {
    errors: (root(expected) - root(came)) / error,
    least: Math.max(USUAL, least),
  };
}

/** The same of a part of the step before, on the scale of arcsines (ibid.). */
function lossOfPart(came: number, of: number, before: number, ofBefore: number) {
  const angle = (part: number, all: number) => Math.asin(Math.sqrt((part + 3 / 8) / (all + 3 / 4)));
  const error = Math.sqrt(1 / (4 * of + 2) + 1 / (4 * ofBefore + 2));
  const usual = angle(before, ofBefore);
  const enough = Math.sin(Math.max(0, usual - CERTAIN * error)) ** 2;
  return {
    errors: (usual - angle(came, of)) / error,
    least: Math.max(USUAL, 1 - enough / Math.sin(usual) ** 2),
  };
}

interface Steps {
  readonly counts: Readonly<Record<Step, number | null>>;
  /** Why steps are unknown, a clause each. */
  readonly unknown: readonly string[];
  readonly asked: readonly Result<object>[];
}

async function stepsOf(logs: Logs, measurements: Measurements, range: TimeRange): Promise<Steps> {
  const unknown: string[] = [];
  const asked: Result<object>[] = [];
  const attempt = async <Row extends object>(what: string, ask: () => Promise<Result<Row>>) => {
    try {
      const answer = await ask();
      asked.push(answer);
      return answer.rows();
    } catch (error) {
      if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
      unknown.push(`${what} can't be told, because: ${error.message}`);
      return undefined;
    }
  };
  const noForm = (what: string) =>
    unknown.push(`${what} can't be told: no line has their form, ${formatRange(range)}`);
  const lists = await attempt("check-ins", () => logs.checkIn({ range, every: "all" }));
  const submitted = await attempt("submissions", () => logs.submissions({ range }));
  const checkIns = Number(lists?.[0]?.lists ?? 0);
  if (lists !== undefined && checkIns === 0) noForm("check-ins");
  const first = { "check-in": checkIns || null };
  if (submitted !== undefined && submitted.length > 0) {
    const without = (...kinds: string[]) =>
      submitted.filter(({ finding }) => !kinds.includes(finding)).length;
    const accepted = without("refused", "unreadable");
    const stored = without("refused", "unreadable", "missing");
    return { counts: { ...first, submit: submitted.length, accepted, stored }, unknown, asked };
  }
  if (submitted !== undefined) noForm("submissions");
  const measures = { reports: countDistinct("report_id") };
  const question = { range, every: "all", measures } as const;
  const reports = await attempt("stored reports", () => measurements.ask(question));
  const stored = reports === undefined ? null : Number(reports[0]?.reports ?? 0);
  return { counts: { ...first, submit: null, accepted: null, stored }, unknown, asked };
}

function share(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

function verdict(rows: readonly Judged[], unknown: readonly string[], span: string, when: string) {
  const shown = (value: number | null) => (value === null ? "unknown" : grouped(value));
  const steps = rows
    .map(({ step, now, before }) => `${step} ${shown(now)} (${shown(before)} ${when})`)
    .join(", ");
  const tail = `${steps}.${unknown.length === 0 ? "" : ` ${unknown.join("; ")}.`}`;
  const known = rows.filter((row) => row.change !== null);
  const [worst, ...others] = known
    .filter((row) => row.change! < -USUAL && row.errors > CERTAIN)
    .sort((a, b) => a.change! - b.change!);
  if (worst === undefined) {
    const least = Math.max(...known.map((row) => row.least));
    const cantTell =
      known.length === 0
        ? `no step is known in both ${span} and ${when}`
        : least > NOTHING_SHOWS
          ? `so few came that not even a loss of ${percent(NOTHING_SHOWS)} would show`
          : undefined;
    if (cantTell !== undefined) {
      return {
        text: `Can't tell which step lost reports, because ${cantTell}: ${tail}`,
        found: false,
      };
    }
    const lacking = rows.filter((row) => row.change === null).map(({ step }) => step);
    const which = lacking.length === 0 ? "" : ` that is known (unknown: ${lacking.join(", ")})`;
    const text = `No step${which} lost more of its reports than ${when}, ${span}: ${tail} A loss of ${percent(least)} more would show.`;
    return { text, found: false };
  }
  const isOpen =
    worst.step === "stored" &&
    rows.some(({ step, change }) => step === "accepted" && change === null);
  const where = isOpen
    ? "Fewer reports are stored, but which step lost them can't be told"
    : CULPRITS[worst.step];
  const more = others.map(({ step, change }) => `; ${step} too (${signedPercent(change!)})`);
  const text = `${where}: ${signedPercent(worst.change!)} against ${when}, ${span}${more.join("")}: ${tail}`;
  return { text, found: true };
}

/** A row of a funnel's freshness: the measurement table, or a program of the log table. */
export type FreshnessRow = {
  table: string;
  program: string | null;
  newest: Date;
  /** The longest silence of the week before the newest row, in seconds, to five minutes. */
  longest_silence: number;
  /** How long after its measurement a row was stored, in seconds: median and 95th percentile; null where unknown. */
  lag_q50: number | null;
  lag_q95: number | null;
  /** Seconds from the newest row to the present. */
  age: number;
  /** Null where it was seen too seldom to be judged. */
  silent: boolean | null;
};

/** Columns that hold the time of storing. */
const STORED_AT =
  /^(?:(?:inserted|stored|ingested|received|processed|submitted|uploaded)(?:_at|_time|_ts)?|(?:insert|storage|ingestion|ingest|arrival|submission|upload|receive)_(?:time|at|ts|timestamp))$/i;
const STEP = 300;
/** What was seen in fewer steps of a week has no rhythm to fall out of. */
const FEWEST = 5;
/** Nobody is silent within so many seconds. */
const USUAL_SILENCE = 900;

/**
 * The newest measurement and how far storing lags behind measurement, and the newest log line of each
 * program; a row for each, the measurements first.
 *
 * The lag is that of the rows of the last day: from the time of measurement to that of a column such
 * as `inserted_at`, or to the time that `measurement_uid` begins with (when the collector took it).
 * A table or a program is silent where its newest row is older than twice the longest silence of
 * the week before it, and than 15 minutes; what was seen in fewer than five steps of five minutes
 * isn't judged (null). The present is that of the clock; for an embedded database whose data ended
 * earlier it is the newest row of all.
 */
export async function freshness(
  measurements: Database,
  openLogs: () => Promise<Database>,
): Promise<Finding> {
  const stored = await readAges("measurements", () => measurements);
  const logged = await readAges("logs", openLogs);
  const parts = [...stored.rows, ...logged.rows];
  const newest = Math.max(...parts.map((row) => Number(row.newest)));
  const present = Date.now();
  const isPast = measurements.embedded && parts.length > 0 && newest < present;
  const now = new Date(isPast ? newest : present);
  const rows = parts.map(({ seen, ...row }): FreshnessRow => {
    const age = (+now - Number(row.newest)) / 1000;
    const silent = seen < FEWEST ? null : age > Math.max(2 * row.longest_silence, USUAL_SILENCE);
    return { ...row, age, silent };
  });
  const measured = stored.rows.length > 0 ? rows[0] : undefined;
  const lines = measured ? rows.slice(1) : rows;
  const made = resultOfRows(rows);
  const origin = originOfAll(
    [stored, logged].map(({ origin }) => ({ ...made.origin, ...origin })),
    {
      dimensions: [
        { name: "table", order: [...new Set(rows.map((row) => row.table))] },
        { name: "program", order: [...new Set(rows.map((row) => row.program))] },
      ],
      measures: [
        { ...column("age", "Age of the newest row", "s"), main: true },
        column("lag_q50", "Lag of storing, median", "s"),
        column("lag_q95", "Lag of storing, 95th percentile", "s"),
      ],
      kinds: { newest: "time" },
    },
    [...stored.notes, ...logged.notes],
  );
  const silent = lines.some(({ silent }) => silent);
  const goOn = lines.some(({ silent }) => silent === false);
  const head = measured?.silent
    ? `Measurements have stopped${goOn ? " while logs go on" : ""}`
    : silent
      ? "Programs have fallen silent"
      : measured?.silent === false
        ? "Measurements have not stopped"
        : "Can't tell whether measurements have stopped";
  const measurement = measured
    ? `the newest measurement is of ${formatInstant(measured.newest, "UTC")} UTC, ${duration(measured.age)} old; ${stored.text}`
    : stored.text;
  const programs = lines.length === 0 ? logged.text : programsText(lines);
  return {
    kind: "freshness",
    sentence: `${head}, as of ${formatInstant(now, "UTC")} UTC: ${measurement}; ${programs}.`,
    found: measured?.silent === true || silent,
    result: new Result(made.table, {
      ...origin,
      range: between(new Date((parts.length > 0 ? newest : +now) - 7 * DAY), new Date(+now + 1)),
    }),
  };
}

/** The newest rows of a table by program, before the present is known. */
interface Ages {
  /** `seen` is the number of steps of the week that it was seen in. */
  readonly rows: readonly (Omit<FreshnessRow, "age" | "silent"> & { readonly seen: number })[];
  /** A clause on the lag of storing, or why the table can't be read. */
  readonly text: string;
  readonly origin?: Omit<Origin, "columns" | "reductions" | "notes">;
  readonly notes: readonly string[];
}

async function readAges(
  role: "measurements" | "logs",
  open: () => Database | Promise<Database>,
): Promise<Ages> {
  const what = role === "logs" ? "log lines" : role;
  const none = (text: string, notes: readonly string[] = []): Ages => ({ rows: [], text, notes });
  try {
    const database = await open();
    const table = await database.table(role);
    const newest = await newestRow(database.rows, table);
    if (newest !== null) return await askAges(database, table, newest, role === "logs");
    return none(`${table.name} holds no ${what.replace(/s$/, "")}`, table.notes);
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
    return none(`${what} can't be told, because: ${error.message.replace(/\.$/, "")}`);
  }
}

/** The longest silence of the week before the newest row and the last day's lag, by program. */
async function askAges(
  database: Database,
  table: TableInfo,
  newest: Date,
  isLog: boolean,
): Promise<Ages> {
  const { name, notes, time } = table;
  const range = between(new Date(+newest - 7 * DAY), new Date(+newest + 1000));
  const bounds = boundsSql(time, range);
  const stored = isLog ? {} : storedColumn(table);
  const lag = stored.sql
    ? `dateDiff('second', _t, ${stored.sql})`
    : "CAST(NULL, 'Nullable(Int64)')";
  const program = isLog ? `ifNull(${fieldText("identifier", table)}, '')` : "NULL";
  const step = `intDiv(toUnixTimestamp64Milli(_t), ${STEP * 1000})`;
  const question = {
    sql: `WITH ${instantSql(table)} AS _t, if(_t >= {day:DateTime64(3)}, ${lag}, NULL) AS _lag
SELECT ${program} AS program, toUnixTimestamp64Milli(max(_t)) AS newest, uniqExact(${step}) AS seen,
  arrayMax(arrayDifference(arraySort(groupUniqArray(toInt64(${step}))))) * ${STEP} AS silence,
  quantilesExactIf(0.5, 0.95)(_lag, isNotNull(_lag)) AS lags, countIf(isNotNull(_lag)) AS known
FROM ${table.from}
WHERE ${[bounds.sql, time.usable ?? "1"].join(" AND ")}
GROUP BY program
ORDER BY newest, program`,
    parameters: { ...bounds.parameters, day: new Date(+newest - DAY) },
  };
  const answer = await database.ask({ ...question, action: "tell how fresh the data is" });
  const rows = (answer.table.objects() as Record<string, unknown>[]).map((row) => {
    const lags = row["lags"] as ArrayLike<number>;
    const [q50, q95] = Number(row["known"]) > 0 ? Array.from(lags, Number) : [];
    return {
      table: name,
      program: (row["program"] as string | null) ?? null,
      newest: new Date(Number(row["newest"])),
      longest_silence: Number(row["silence"]),
      lag_q50: q50 ?? null,
      lag_q95: q95 ?? null,
      seen: Number(row["seen"]),
    };
  });
  const [{ lag_q50: median = null, lag_q95: high = null } = {}] = rows;
  const text =
    median === null
      ? `how far storing lags behind can't be told, because ${stored.why ?? `no ${stored.name} of the last day tells a time`}`
      : `stored ${duration(median)} after measurement in the median, ${duration(high!)} at the 95th percentile (by ${stored.name})`;
  return { rows, text, origin: answerOrigin(database, question, range, answer), notes };
}

/** The column that holds the time of storing, or why none does. */
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

function programsText(lines: readonly FreshnessRow[]): string {
  const judged = lines.filter(({ silent }) => silent !== null);
  const silent = judged.filter(({ silent }) => silent);
  const seldom = lines.length - judged.length;
  const unknown =
    seldom === 0 ? "" : `; ${counted(seldom, "program")} logged too rarely to be judged`;
  if (judged.length === 0) return "no program logs often enough to tell whether one is silent";
  if (silent.length === 0) {
    const age = duration(Math.min(...judged.map(({ age }) => age)));
    const all = judged.length === 1 ? "the one program logs" : `all ${judged.length} programs log`;
    return `${all} with no longer silence than usual (newest line ${age} old)${unknown}`;
  }
  const each = silent.map(
    ({ program, age, longest_silence: longest }) =>
      `${program || "no named program"} (${duration(age)}, never more than ${duration(longest)} in the week before)`,
  );
  return `silent: ${each.join(", ")} of ${counted(judged.length, "program")}${unknown}`;
}

/** `42 s`, `3 min`, `5 h`, `2 days`. */
function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 120) return `${Math.round(seconds)} s`;
  if (size < 7200) return `${Math.round(seconds / 60)} min`;
  if (size < 2 * 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
