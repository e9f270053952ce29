import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { greatest, smallest } from "../base/statistics.js";
import { answerOrigin, type Database } from "../database/database.js";
import { newestRow, type TableInfo } from "../database/table-info.js";
import { boundsSql, plainType } from "../database/time-column.js";
import { fieldText, instantSql } from "../sources/logs/lines.js";
import type { Logs } from "../sources/logs/logs.js";
import type { Measurements } from "../sources/measurements/measurements.js";
import { countDistinct } from "../query/measure.js";
import { resultOfRows } from "../result/own-rows.js";
import { gapMeasure } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { between, checkRange, rangeText, type TimeRange } from "../time/time-range.js";
import { momentText } from "../time/time-zone.js";
import { DAY, durationText, HOUR, MINUTE, SECOND, WEEK } from "../time/span.js";
import { weekBefore } from "../change/cells/compare.js";
import { originOfAll, tell, type Finding } from "../change/finding.js";
import { CERTAIN, PART_TOLERANCE } from "../change/cells/thresholds.js";
import { signedPercent } from "../base/numbers.js";

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
  step: FunnelStep;
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
type FunnelStep = keyof typeof CULPRITS;
const STEPS = Object.keys(CULPRITS) as FunnelStep[];
/** The part that the pipeline and ingestion lose hardly varies from week to week: so much more is a loss. */
const LEAST_LOST = 0.01;
/** Losses (%) tested for; if the largest would go unseen, the funnel is inconclusive. */
const LOSSES = Array.from({ length: 95 }, (_, at) => 1 + at);

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
  const now = await countSteps(logs, measurements, range);
  const then = await countSteps(logs, measurements, earlier);
  const rows: JudgedStep[] = [];
  for (const step of STEPS) {
    const from = rows.findLast((row) => row.now !== null && row.before !== null);
    rows.push(judge(step, now.counts[step], then.counts[step], from));
  }
  const unknown = [...new Set([...now.unknown, ...then.unknown])];
  const { headline, evidence, details, found } = verdict(rows, unknown, rangeText(range), when);
  // Who is silent now says nothing about a range that ended long ago.
  const isNow = +asked.end > present - HOUR;
  const answers = [...now.answers, ...then.answers];
  const measures = [
    { ...gapMeasure("now", "Now", "reports"), main: true as const },
    gapMeasure("before", `${when.charAt(0).toUpperCase()}${when.slice(1)}`, "reports"),
    gapMeasure("passed", "By the step before", "share"),
    gapMeasure("passed_before", "The same, before", "share"),
    gapMeasure("change", "Change of that share", "share"),
  ];
  const cut = "The newest are left out, as rows may still be stored (by the lag of the last day).";
  const origin = originOfAll(
    (answers.length > 0 ? answers : [fresh.result]).map(({ origin }) => origin),
    { dimensions: [{ name: "step", order: STEPS }], measures },
    [...(isCut ? [cut] : []), ...unknown],
  );
  return {
    kind: "funnel",
    ...tell(headline, evidence, [
      ...details,
      ...(isNow ? [`${fresh.headline}. ${fresh.evidence}`, ...fresh.details] : []),
    ]),
    found: found || (isNow && fresh.found),
    result: resultOfRows<FunnelRow>(rows, { ...origin, range }, [
      "step",
      ...measures.map(({ name }) => name),
    ]),
    freshness: fresh,
  };
}

/** A step, whether it lost more than chance explains, whether that is enough to name it, and the least loss that would be (in percent). */
type JudgedStep = FunnelRow & {
  readonly isLoss: boolean;
  readonly isNamed: boolean;
  readonly least: number;
};

/** Share of the previous step that got through, against the week before. @param from the step before that is known. */
function judge(
  step: FunnelStep,
  now: number | null,
  before: number | null,
  from: JudgedStep | undefined,
): JudgedStep {
  const [of, ofBefore] = [from ? from.now : before, from ? from.before : before];
  const passed = now !== null && of ? now / of : null;
  const usual = before !== null && ofBefore ? before / ofBefore : null;
  const change = passed === null || !usual ? null : passed / usual - 1;
  // What is accepted and stored is a part of what was submitted; submissions are no part of check-ins.
  const isPart = from?.step === "submit" || from?.step === "accepted";
  const matters = isPart ? LEAST_LOST : PART_TOLERANCE;
  /** By the test of two shares with their common one; of what is no part, of two Poisson counts. */
  const isCertain = (loss: number) => {
    if (!of || !ofBefore || !usual) return false;
    const common = (usual * (1 - loss) * of + usual * ofBefore) / (of + ofBefore);
    const variance = common * (isPart ? 1 - common : 1) * (1 / of + 1 / ofBefore);
    return (usual * loss) / Math.sqrt(variance) > CERTAIN;
  };
  const least = LOSSES.find((loss) => loss / 100 >= matters && isCertain(loss / 100)) ?? 100;
  const isLoss = change !== null && isCertain(-change);
  const row = { step, now, before, passed, passed_before: usual, change };
  return { ...row, isLoss, isNamed: isLoss && -change >= matters, least };
}

interface Steps {
  readonly counts: Readonly<Record<FunnelStep, number | null>>;
  /** Why steps are unknown, a clause each. */
  readonly unknown: readonly string[];
  readonly answers: readonly Result<object>[];
}

async function countSteps(
  logs: Logs,
  measurements: Measurements,
  range: TimeRange,
): Promise<Steps> {
  const unknown: string[] = [];
  const answers: Result<object>[] = [];
  /** @param form chooses the rows of lines that have a known form. */
  const ask = async <Row extends object>(
    what: string,
    question: () => Promise<Result<Row>>,
    form?: (row: Row) => boolean,
  ): Promise<Row[] | undefined> => {
    const answer = await attempt(what, question);
    if (typeof answer === "string") {
      unknown.push(answer);
      return undefined;
    }
    answers.push(answer);
    const rows = answer.rows().filter(form ?? (() => true));
    if (form !== undefined && rows.length === 0) {
      unknown.push(`${what} can't be counted: no line has their form, ${rangeText(range)}`);
    }
    return rows;
  };
  const all = { range, every: "all" } as const;
  const lists = await ask(
    "check-ins",
    () => logs.checkIn(all),
    (row) => Number(row.lists) > 0,
  );
  const counts = { "check-in": lists?.[0] ? Number(lists[0].lists) : null };
  const reports = await ask(
    "submissions",
    () => logs.submissions({ range }),
    () => true,
  );
  if (reports?.[0]) {
    const count = (...lost: readonly string[]) =>
      reports.filter(({ finding }) => !lost.includes(finding)).length;
    const accepted = count("refused", "unreadable");
    const stored = count("refused", "unreadable", "missing");
    return { counts: { ...counts, submit: count(), accepted, stored }, unknown, answers };
  }
  const measures = { reports: countDistinct("report_id") };
  const held = await ask("stored reports", () => measurements.ask({ ...all, measures }));
  const stored = held ? Number(held[0]?.reports ?? 0) : null;
  return { counts: { ...counts, submit: null, accepted: null, stored }, unknown, answers };
}

/** What a question answers, or a clause on why it can't: the table, a column or the right to read it may be missing. */
async function attempt<T>(what: string, ask: () => Promise<T>): Promise<T | string> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProbelabError) || error.code === "ABORTED") throw error;
    if (error.code === "UNKNOWN_TABLE") return `${what} can't be counted: their table isn't there`;
    return `${what} can't be counted, because: ${error.message.replace(/\.$/, "")}`;
  }
}

function verdict(
  rows: readonly JudgedStep[],
  unknown: readonly string[],
  span: string,
  when: string,
) {
  const shown = rows.filter(({ now, before }) => now !== null || before !== null);
  const text = (value: number | null) => (value === null ? "unknown" : grouped(value));
  const steps = shown
    .map(({ step, now, before }) => `${step} ${text(now)} (${text(before)} ${when})`)
    .join(", ");
  // One remedy for all steps that lack the same.
  const why = [...new Set(unknown.map((one) => one.charAt(0).toUpperCase() + one.slice(1)))];
  const details = [...(steps === "" ? [] : [`${span}: ${steps}`]), ...why];
  const known = rows.filter((row) => row.change !== null);
  const losses = known.filter(({ isLoss }) => isLoss).sort((a, b) => a.change! - b.change!);
  const [worst, ...others] = losses.filter(({ isNamed }) => isNamed);
  if (worst !== undefined) {
    const isOpen =
      worst.step === "stored" &&
      rows.some(({ step, change }) => step === "accepted" && change === null);
    const culprit = isOpen
      ? "Fewer reports are stored, but which step lost them is unknown"
      : CULPRITS[worst.step];
    const more = others.map(({ step, change }) => `; ${step} too (${signedPercent(change!)})`);
    const evidence = `${signedPercent(worst.change!)} against ${when}${more.join("")}`;
    return { headline: culprit, evidence, details, found: true };
  }
  const cantTell = (evidence: string) => {
    return { headline: "Can't tell which step lost reports", evidence, details, found: false };
  };
  if (known.length === 0) return cantTell(`No step is known in both ${span} and ${when}`);
  if (known.some(({ least }) => least === 100)) {
    return cantTell(`So few came that not even a loss of ${LOSSES.at(-1)} % would show`);
  }
  const [small] = losses;
  const least = known.map(({ step, least }) => `${least} % at ${step}`).join(", ");
  return {
    headline: `No step${known.length < rows.length ? " that is known" : ""} lost much more of its reports than ${when}`,
    evidence: `A loss would be named from ${least}`,
    details: [
      ...details,
      ...(small
        ? [`The greatest loss is small: ${small.step} ${signedPercent(small.change!)}`]
        : []),
    ],
    found: false,
  };
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
const SLICE = 300;
/** Programs seen in fewer steps a week aren't judged. */
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
  const stored = await agesOf("measurements", () => measurements);
  const logged = await agesOf("logs", openLogs);
  const parts = [...stored.rows, ...logged.rows];
  const newest = greatest(parts.map((row) => Number(row.newest)));
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
  const columns = {
    dimensions: [
      { name: "table", order: [...new Set(rows.map((row) => row.table))] },
      { name: "program", order: [...new Set(rows.map((row) => row.program))] },
    ],
    measures: [
      { ...gapMeasure("age", "Age of the newest row", "s"), main: true as const },
      gapMeasure("lag_q50", "Lag of storing, median", "s"),
      gapMeasure("lag_q95", "Lag of storing, 95th percentile", "s"),
    ],
    kinds: { newest: "time" as const },
  };
  const origins = [stored, logged].flatMap(({ origin }) => (origin ? [origin] : []));
  const notes = [...stored.notes, ...logged.notes];
  const silent = lines.some(({ silent }) => silent);
  const goOn = lines.some(({ silent }) => silent === false);
  const head = measured?.silent
    ? `Measurements have stopped${goOn ? " while logs go on" : ""}`
    : silent
      ? "Programs have fallen silent"
      : measured?.silent === false
        ? "Measurements have not stopped"
        : "Can't tell whether measurements have stopped";
  const at = (time: Date) => momentText(time, "UTC");
  const measurement = measured
    ? `The newest measurement is of ${at(measured.newest)}, ${duration(measured.age)} old`
    : stored.text;
  const programs = lines.length === 0 ? logged.text : programsText(lines);
  return {
    kind: "freshness",
    ...tell(head, measurement, [measured && stored.text, programs, `As of ${at(now)}`]),
    found: measured?.silent === true || silent,
    result: resultOfRows(rows, {
      ...(origins.length > 0 ? originOfAll(origins, columns, notes) : { columns, notes }),
      range: between(new Date((parts.length > 0 ? newest : +now) - WEEK), new Date(+now + 1)),
    }),
  };
}

/** A row of freshness before the present is known; `seen` is the number of steps of the week that it was seen in. */
type ProgramAge = Omit<FreshnessRow, "age" | "silent"> & { readonly seen: number };

/** The newest row, the longest silence of the week before it and the last day's lag, by program; `text` says how far storing lags, or why there is no row. */
async function agesOf(role: "measurements" | "logs", open: () => Database | Promise<Database>) {
  const isLog = role === "logs";
  const ages = await attempt(isLog ? "log lines" : role, async () => {
    const database = await open();
    const table = await database.table(role);
    const { name, notes, time } = table;
    const newest = (await newestRow(database.rows, table))?.at ?? null;
    if (newest === null) {
      return { rows: [], notes, text: `${name} holds no ${isLog ? "log line" : "measurement"}` };
    }
    const range = between(new Date(+newest - WEEK), new Date(+newest + 1000));
    const bounds = boundsSql(time, range);
    const stored = isLog ? {} : storedColumn(table);
    const program = isLog ? `ifNull(${fieldText("identifier", table)}, '')` : "NULL";
    const lag = stored.sql
      ? `dateDiff('second', _t, ${stored.sql})`
      : "CAST(NULL, 'Nullable(Int64)')";
    const step = `toInt64(intDiv(toUnixTimestamp64Milli(_t), ${SLICE * 1000}))`;
    const question = {
      sql: `WITH ${instantSql(table)} AS _t, if(_t >= {day:DateTime64(3)}, ${lag}, NULL) AS _lag
SELECT ${program} AS program, max(_t) AS newest, uniqExact(${step}) AS seen,
  arrayMax(arrayDifference(arraySort(groupUniqArray(${step})))) * ${SLICE} AS longest_silence,
  quantileExactOrNull(0.5)(_lag) AS lag_q50, quantileExactOrNull(0.95)(_lag) AS lag_q95
FROM ${table.from}
WHERE ${[bounds.sql, time.usable ?? "1"].join(" AND ")}
GROUP BY program
ORDER BY newest, program`,
      parameters: { ...bounds.parameters, day: new Date(+newest - DAY) },
    };
    const answer = await database.ask({ ...question, action: "tell how fresh the data is" });
    const rows = (answer.table.objects() as Omit<ProgramAge, "table">[]).map((row) => ({
      table: name,
      ...row,
    }));
    const [{ lag_q50: median = null, lag_q95: high = null } = {}] = rows;
    const text =
      median === null
        ? `How far storing lags behind is unknown, because ${stored.why ?? `no ${stored.name} of the last day gives a time`}`
        : `Stored ${duration(median)} after measurement in the median, ${duration(high!)} at the 95th percentile (by ${stored.name})`;
    return { rows, text, origin: answerOrigin(database, question, range, answer), notes };
  });
  return typeof ages === "string" ? { rows: [], notes: [], text: ages } : ages;
}

/** `20260504101112…`: ids of digits alone may be hashes. */
const BEGINS_WITH_TIME =
  "^20[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]";

/** The column that holds the time of storing, or why none does. */
function storedColumn(table: TableInfo): { name?: string; sql?: string; why?: string } {
  if (table.time.resolution === "day") return { why: `${table.timeName} gives only the day` };
  for (const [name, type] of table.columns) {
    if (STORED_AT.test(name) && plainType(type).startsWith("DateTime")) {
      return { name, sql: table.column(name) };
    }
  }
  if (table.columns.has("measurement_uid")) {
    const uid = `toString(${table.column("measurement_uid")})`;
    const time = `parseDateTimeBestEffortOrNull(substring(${uid}, 1, 14), 'UTC')`;
    return {
      name: "measurement_uid",
      sql: `if(match(${uid}, '${BEGINS_WITH_TIME}'), ${time}, NULL)`,
    };
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
    seldom === 0 ? "" : `; ${counted(seldom, "other program")} logged too rarely to be judged`;
  if (judged.length === 0) return "no program logs often enough to tell whether one is silent";
  if (silent.length === 0) {
    const age = duration(smallest(judged.map(({ age }) => age)));
    const all = judged.length === 1 ? "the one program logs" : `all ${judged.length} programs log`;
    return `${all} with no longer silence than usual (newest line ${age} old)${unknown}`;
  }
  const each = silent.map(
    ({ program, age, longest_silence: longest }) =>
      `${program || "no named program"} (${duration(age)}, never more than ${duration(longest)} in the week before)`,
  );
  return `Silent: ${each.join(", ")} of ${counted(judged.length, "program")}${unknown}`;
}

/** Seconds in words. */
function duration(seconds: number): string {
  return durationText(seconds * SECOND);
}
