import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { anomalies, type AnomaliesFinding } from "../change/anomalies.js";
import { weekBefore } from "../change/compare.js";
import { explain, type Explanation } from "../change/explain.js";
import type { Finding } from "../change/finding.js";
import { readFlows } from "../change/flows.js";
import type { FreshnessRow } from "../change/freshness.js";
import { recovery, type Recovery } from "../change/recovery.js";
import { percent } from "../change/words.js";
import type { Measurements } from "../measurements/measurements.js";
import type { Where } from "../query/where.js";
import type { Result } from "../result/result.js";
import { between, checkRange, last, type TimeRange } from "../time/time-range.js";
import { HOUR, WEEK } from "../time/span.js";

/** Options of `lab.anomalies`. */
export interface LabAnomaliesOptions {
  /** The time in question, up to the present: `last("7 days", { now: lab.now })`. The eight weeks before it are learnt from. */
  readonly range: TimeRange;
  /** Filter of the measurements. */
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** The answer of `lab.anomalies`: an alarm, and what else is known of it. */
export interface AnomaliesVerdict extends AnomaliesFinding {
  /**
   * `dropping`: fewer come than expected, until the last whole hour; `silent`: no measurement, or no
   * log line, comes any more; `recovered`: there was a drop, and the latest hours are back in their
   * interval, of the whole and of each part that was named; `unsure`: there was a drop, and too
   * few rows came since to tell; `usual`; `unknown`: not even a complete stop of two hours could be
   * told.
   */
  readonly state: "dropping" | "silent" | "recovered" | "unsure" | "usual" | "unknown";
  /** The state in one short sentence; `sentence` begins with it. */
  readonly verdict: string;
  /** When the alarm that goes on, else the largest, began. */
  readonly since: Date | null;
  /** The values of dimensions that account for it; null without a drop, or if that can't be asked. */
  readonly why: Explanation | null;
  /** How late rows are stored, and who is silent. */
  readonly freshness: Finding;
}

/** Programs that are looked at one by one; the others are one group. */
const PROGRAMS = 10;
/** Of the false alarm in four weeks that is accepted, half for the whole and half for all programs. */
const FALSE_ALARMS = 0.5;

interface AlarmRow {
  readonly t: Date;
  readonly until: Date;
  readonly kind: string;
  readonly observed: number;
  readonly expected: number;
  readonly software_name?: string | null;
}

/**
 * `lab.anomalies({ range })`: did the flow of measurements drop? `anomalies` over the counts of each hour, of
 * the whole and of each program, without the hours for which rows may still be stored (by the
 * lag of the last day); what is behind the drop, against the same hours of the week
 * before; and whether it is over, in the whole and in each part that is named.
 */
export async function flowAnomalies(
  measurements: Measurements,
  freshness: () => Promise<Finding>,
  options: LabAnomaliesOptions,
): Promise<AnomaliesVerdict> {
  const action = "judge whether the flow dropped";
  refuseUnknown(options, ["range", "where", "signal"], action);
  const range = checkRange((options as LabAnomaliesOptions | undefined)?.range, action);
  const { where = {}, signal } = options;
  const fresh = await freshness();
  const lines = (fresh.result as Result<FreshnessRow>).rows();
  const measured = lines[0]?.program === null ? lines[0] : undefined;
  // A present that lies before the range's end: the data of an embedded database ended.
  const present = measured === undefined ? +range.end : +measured.newest + measured.age * 1000;
  const end = new Date(Math.min(+range.end, Math.max(present, +range.start + 1)));
  const { timeZone } = range;
  const learnt = last("8 weeks", { now: range.start, timeZone });
  const hourly = {
    range: between(learnt.start, end, { timeZone }),
    every: "hour" as const,
    ...(signal && { signal }),
  };
  const lag = Math.ceil((measured?.lag_q95 ?? 0) / 60);
  const alarmOptions = {
    since: range.start,
    falseAlarms: FALSE_ALARMS,
    ...(lag > 0 && { lag: `${lag} minutes` }),
  };
  const whole = await anomalies(measurements.counts({ ...hourly, where }), alarmOptions);
  const programs = await optional(async () =>
    anomalies(
      measurements.counts({ ...hourly, where, by: "software_name", top: PROGRAMS }),
      alarmOptions,
    ),
  );
  const judged = (whole.buckets as Result<{ t: Date; state: string }>)
    .rows()
    .filter(({ state }) => !["learning", "late", "incomplete", "unknown"].includes(state));
  const known = judged.length === 0 ? 0 : Number(judged.at(-1)!.t) + HOUR;

  const rowsOf = (found: AnomaliesFinding | null) =>
    (found === null ? [] : (found.result as Result<object>).rows()) as AlarmRow[];
  const isOn = ({ kind, until }: AlarmRow) =>
    Number(until) > known - (kind === "decline" ? WEEK : HOUR);
  // A program is named only if the whole shows no alarm.
  const candidates = [whole, programs];
  const shownIn =
    candidates.find((found) => rowsOf(found).some(isOn)) ??
    candidates.find((found) => rowsOf(found).length > 0) ??
    whole;
  const alarms = rowsOf(shownIn);
  const shown = alarms.find(isOn) ?? alarms[0];
  /** Undefined for the group of all other programs, which no filter names. */
  const programWhere = (name: string | null): Where | undefined =>
    name === null || name === "other" ? undefined : { ...where, software_name: name };
  const partWhere =
    (shown?.software_name === undefined ? undefined : programWhere(shown.software_name)) ?? where;
  const of = shownIn === programs ? ` of software_name ${shown?.software_name ?? "(none)"}` : "";

  // Programs that are silent now say nothing of a range that ended long ago.
  const silence = +range.end > present - HOUR ? silenceOf(lines) : undefined;
  const isSilent = measured?.silent === true || shown?.kind === "silence";
  const why =
    shown === undefined || isSilent
      ? null
      : await optional(() => explainAlarm(measurements, shown, { ...options, where: partWhere }));
  const head = await verdictOf();
  const verdicts = shownIn === whole ? [whole.sentence] : [shownIn.sentence, whole.sentence];
  if (shownIn === whole && programs !== null && alarms.length === 0)
    verdicts.push(programs.sentence);
  const sentences = [head.verdict, ...verdicts, why?.found ? why.sentence : "", fresh.sentence];
  return {
    ...shownIn,
    ...head,
    why,
    freshness: fresh,
    found: !["usual", "unknown"].includes(head.state),
    since: isSilent ? (measured?.newest ?? shown?.t ?? null) : (shown?.t ?? null),
    sentence: [...new Set(sentences)].filter((text) => text !== "").join(" "),
  };

  async function verdictOf(): Promise<Pick<AnomaliesVerdict, "state" | "verdict">> {
    if (isSilent) return { state: "silent", verdict: "No measurement comes any more." };
    if (shown !== undefined && isOn(shown)) {
      const verdict = `Fewer measurements${of} come than expected, until now.`;
      return { state: "dropping", verdict };
    }
    if (silence !== undefined) return { state: "silent", verdict: silence };
    if (shown !== undefined) return afterDrop(shown);
    if (judged.length > 0 && whole.least !== null) {
      const part =
        programs?.least == null ? "" : `, or ${percent(programs.least)} fewer of a usual program,`;
      const verdict = `No drop of measurements seen; two hours with ${percent(whole.least)} fewer${part} would have shown.`;
      return { state: "usual", verdict };
    }
    return { state: "unknown", verdict: "Can't tell whether measurements dropped." };
  }

  /** Judges whether each alarmed series and each named part are back. */
  async function afterDrop(
    largest: AlarmRow,
  ): Promise<Pick<AnomaliesVerdict, "state" | "verdict">> {
    const every = candidates.flatMap(rowsOf);
    const [from, to] = [
      Math.min(...every.map(({ t }) => Number(t))),
      Math.max(...every.map(({ until }) => Number(until))),
    ];
    const parts = [
      ...[...new Set(every.map(({ software_name }) => software_name))].map((name) => ({
        label:
          name === undefined ? "measurements" : `measurements of software_name ${name ?? "(none)"}`,
        where: name === undefined ? where : programWhere(name),
        isNamed: name === largest.software_name,
      })),
      ...(why?.found ? why.causes : [])
        .filter(({ where, change }) => change < 0 && Object.keys(where).length > 0)
        .map(({ text, where: values }) => ({
          label: text,
          where: { ...partWhere, ...(values as Where) },
          isNamed: true,
        })),
    ];
    const judgements = await Promise.all(
      parts.map(async ({ label, where: rows, isNamed }) => {
        const readAgain =
          rows &&
          (() => readFlows(measurements.counts({ ...hourly, where: rows }), undefined, action));
        const flows = readAgain && (await optional(readAgain));
        if (!flows?.series[0] || largest.kind === "decline") {
          return { label, isNamed, state: "unsure", change: null, hours: 0 } as const;
        }
        const place = (at: number) => {
          const found = flows.buckets.findIndex(({ start }) => +start >= at);
          return found < 0 ? flows.buckets.length : found;
        };
        const counts = flows.series[0].values.slice(0, place(known)).map((value) => value ?? 0);
        return { label, isNamed, ...recovery(counts, { from: place(from), to: place(to) }) };
      }),
    );
    const below = judgements.find(({ state }) => state === "below");
    if (below !== undefined) {
      const verdict = `The drop goes on: ${below.label} ${latest(below)}.`;
      return { state: "dropping", verdict };
    }
    // A program whose alarm isn't the one shown may have too few rows to judge its end.
    const named = judgements.filter(({ isNamed }) => isNamed);
    const unsure = named.find(({ state }) => state === "unsure");
    if (unsure !== undefined) {
      const change = unsure.change === null ? "" : ` (${latest(unsure)})`;
      const verdict = `There was a drop; too little came since to tell whether ${unsure.label} recovered${change}.`;
      return { state: "unsure", verdict };
    }
    const parted = named.length === 1 ? "" : ", and so is each part named below";
    const verdict = `There was a drop, and it is over: measurements${of} are back as expected (${latest(named[0]!)})${parted}.`;
    return { state: "recovered", verdict };
  }
}

/** `−47 % in the last 3 hours` */
function latest({ change, hours }: Recovery): string {
  const sign = change !== null && change > 0 ? "+" : "";
  return `${sign}${percent(change ?? 0)} in the last ${hours === 1 ? "hour" : counted(hours, "hour")}`;
}

/** A sentence where all programs that log often enough to be judged have fallen silent. */
function silenceOf(lines: readonly FreshnessRow[]): string | undefined {
  const judged = lines.filter(({ program, silent }) => program !== null && silent !== null);
  if (judged.length === 0 || !judged.every(({ silent }) => silent)) return undefined;
  const age = Math.min(...judged.map((line) => line.age));
  const longest = Math.max(...judged.map((line) => line.longest_silence));
  const minutes = (seconds: number) => counted(Math.round(seconds / 60), "minute");
  return `No log line comes any more: ${counted(judged.length, "program")} silent for ${minutes(age)}, at most ${minutes(longest)} before.`;
}

/** Null where the columns, the rights or the memory for it are missing: the rest is still worth knowing. */
async function optional<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProbelabError && error.code !== "ABORTED") return null;
    throw error;
  }
}

function explainAlarm(
  measurements: Measurements,
  { t, until }: AlarmRow,
  { range, where, signal }: LabAnomaliesOptions,
): Promise<Explanation> {
  const after = between(t, until, { timeZone: range.timeZone });
  return explain(measurements, {
    before: weekBefore(after),
    after,
    ...(where && { where }),
    ...(signal && { signal }),
  });
}
