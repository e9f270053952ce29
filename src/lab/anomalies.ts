import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { endText, findAnomalies, recoveryOf, type AnomaliesFinding } from "../change/anomalies.js";
import { weekBefore } from "../change/compare.js";
import { explain, type Explanation } from "../change/explain.js";
import type { Finding } from "../change/finding.js";
import { readFlows } from "../change/flows.js";
import type { FreshnessRow } from "../change/funnel.js";
import { UNSURE } from "../change/forecast.js";
import { percent } from "../change/words.js";
import type { Measurements } from "../measurements/measurements.js";
import type { Where } from "../query/where.js";
import type { Result } from "../result/result.js";
import { between, checkRange, formatRange, last, type TimeRange } from "../time/time-range.js";
import { HOUR } from "../time/span.js";

/** Options of `lab.anomalies`. */
export interface LabAnomaliesOptions {
  /** The time in question, up to the present: `last("7 days", { now: lab.now })`. The eight weeks before it are learned from. */
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
   * few rows came since to judge that; `usual`; `unknown`: not even a complete stop of two hours would
   * have shown.
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

const ACTION = "judge whether the flow dropped";
/** Programs that are looked at one by one; the others are one group. */
const PROGRAMS = 10;
/** Of one false alarm in four weeks half for the whole, half for all programs. */
const FALSE_ALARMS = 0.5;

interface AlarmRow {
  readonly t: Date;
  readonly until: Date;
  readonly kind: string;
  readonly software_name?: string | null;
}

/** The alarms of the whole, or of each program; of the whole also whether it fell slowly. */
interface Looked {
  readonly found: AnomaliesFinding;
  readonly slow: string;
  readonly alarms: readonly AlarmRow[];
}

/**
 * `lab.anomalies({ range })`: did the flow of measurements drop? `anomalies` over the measurements of
 * each hour, of the whole and of each program, without the hours for which rows may still be stored
 * (by the lag of the last day); what is behind the drop, against the same hours of the week before;
 * and whether it is over, in the whole and in each part that is named.
 */
export async function flowAnomalies(
  measurements: Measurements,
  freshness: () => Promise<Finding>,
  options: LabAnomaliesOptions,
): Promise<AnomaliesVerdict> {
  refuseUnknown(options, ["range", "where", "signal"], ACTION);
  const range = checkRange((options as LabAnomaliesOptions | undefined)?.range, ACTION);
  const { where = {}, signal } = options;
  const fresh = await freshness();
  const lines = (fresh.result as Result<FreshnessRow>).rows();
  const measured = lines[0]?.program === null ? lines[0] : undefined;
  // A present that lies before the range's end: the data of an embedded database ended.
  const present = measured === undefined ? +range.end : +measured.newest + measured.age * 1000;
  const end = new Date(Math.min(+range.end, Math.max(present, +range.start + 1)));
  const { timeZone } = range;
  const hourly = {
    range: between(last("8 weeks", { now: range.start, timeZone }).start, end, { timeZone }),
    every: "hour" as const,
    ...(signal && { signal }),
  };
  const lag = Math.ceil((measured?.lag_q95 ?? 0) / 60);
  const judging = {
    since: range.start,
    falseAlarms: FALSE_ALARMS,
    ...(lag > 0 && { lag: `${lag} minutes` }),
  };
  const counts = (asked: object) => measurements.counts({ ...hourly, ...asked });
  const look = async (group: object): Promise<Looked> => {
    const { finding: found, slow } = await findAnomalies(counts({ ...group, where }), judging);
    return { found, slow, alarms: (found.result as Result<object>).rows() as AlarmRow[] };
  };
  const whole = await look({});
  const programs = await optional(() => look({ by: "software_name", top: PROGRAMS }));
  const looked = [whole, ...(programs ? [programs] : [])];
  const judged = (whole.found.buckets as Result<{ t: Date; state: string }>)
    .rows()
    .filter(({ state }) => !["learning", "incomplete", "unknown"].includes(state));
  const known = judged.length === 0 ? 0 : Number(judged.at(-1)!.t) + HOUR;
  const isOn = ({ until }: AlarmRow) => Number(until) > known - HOUR;
  // A program is named only where the whole shows no alarm.
  const shownIn =
    looked.find(({ alarms }) => alarms.some(isOn)) ??
    looked.find(({ alarms }) => alarms.length > 0) ??
    whole;
  const shown = shownIn.alarms.find(isOn) ?? shownIn.alarms[0];
  const partOf = (name: string | null | undefined): Where | undefined =>
    // No filter names the group of all other programs.
    name === undefined
      ? where
      : name === null || name === "other"
        ? undefined
        : { ...where, software_name: name };
  const ofName = ({ software_name: name }: AlarmRow) =>
    name === undefined ? "" : ` of software_name ${name ?? "(none)"}`;
  const partWhere = (shown && partOf(shown.software_name)) ?? where;

  // Programs that are silent now say nothing of a range that ended long ago.
  const silence = +range.end > present - HOUR ? silenceOf(lines) : undefined;
  const isSilent = measured?.silent === true || shown?.kind === "silence";
  const why =
    shown === undefined || isSilent
      ? null
      : await optional(() => {
          const after = between(shown.t, shown.until, { timeZone });
          const asked = { before: weekBefore(after), after, where: partWhere };
          return explain(measurements, { ...asked, ...(signal && { signal }) });
        });
  const head = await verdictOf();
  const others = shown === undefined ? looked : [shownIn, whole];
  const texts = [
    head.verdict,
    ...others.map(({ found }) => found.sentence),
    ...(shown !== undefined && whole.slow !== "" ? [whole.slow] : []),
    ...(why?.found ? [why.sentence] : []),
    fresh.sentence,
  ];
  return {
    ...shownIn.found,
    ...head,
    why,
    freshness: fresh,
    found: !["usual", "unknown"].includes(head.state),
    since: isSilent ? (measured?.newest ?? shown?.t ?? null) : (shown?.t ?? null),
    sentence: [...new Set(texts)].join(" "),
  };

  async function verdictOf(): Promise<Pick<AnomaliesVerdict, "state" | "verdict">> {
    if (isSilent) return { state: "silent", verdict: "No measurement comes any more." };
    if (shown !== undefined && isOn(shown)) {
      const verdict = `Fewer measurements${ofName(shown)} come than expected, until now.`;
      return { state: "dropping", verdict };
    }
    if (silence !== undefined) return { state: "silent", verdict: silence };
    if (shown !== undefined) return afterDrop(shown);
    const { least } = whole.found;
    const slow = whole.slow && ` ${whole.slow}`;
    if (judged.length === 0 || least === null) {
      return { state: "unknown", verdict: `Can't tell whether measurements dropped.${slow}` };
    }
    const part = programs?.found.least ?? null;
    const smaller = part === null ? "" : `, or ${percent(part)} fewer of a usual program,`;
    const verdict = `No sudden drop of measurements seen; two hours with ${percent(least)} fewer${smaller} would have shown.${slow}`;
    return { state: "usual", verdict };
  }

  /** Judges whether each alarmed series and each named part are back. */
  async function afterDrop(
    largest: AlarmRow,
  ): Promise<Pick<AnomaliesVerdict, "state" | "verdict">> {
    const all = looked.flatMap(({ alarms }) => alarms);
    const from = Math.min(...all.map(({ t }) => Number(t)));
    const to = Math.max(...all.map(({ until }) => Number(until)));
    const asked = new Map<string, { where: Where | undefined; isNamed: boolean }>();
    for (const row of all) {
      const isNamed = row.software_name === largest.software_name;
      asked.set(`measurements${ofName(row)}`, { where: partOf(row.software_name), isNamed });
    }
    for (const { text, where, change } of why?.found ? why.causes : []) {
      if (change >= 0 || Object.keys(where).length === 0) continue;
      // Users go from version to version: what one held before doesn't say what it should hold.
      const { software_version: version, ...rest } = where;
      if (version !== undefined && Object.keys(rest).length === 0) continue;
      asked.set(text, { where: { ...partWhere, ...(rest as Where) }, isNamed: true });
    }
    const judgements = await Promise.all(
      [...asked].map(async ([label, { where: own, isNamed }]) => {
        const ask = () => readFlows(counts({ where: own }), undefined, ACTION);
        const flows = own && (await optional(ask));
        if (!flows?.series[0]) return { label, isNamed, ...UNSURE };
        const place = (at: number) => flows.buckets.filter(({ start }) => +start < at).length;
        const values = flows.series[0].values.slice(0, place(known));
        const drop = { from: place(from), to: place(to) };
        return { label, isNamed, ...recoveryOf(flows, values, drop) };
      }),
    );
    const named = judgements.filter(({ isNamed }) => isNamed);
    // A program whose alarm isn't the one shown may have too few rows to judge its end.
    const deciding =
      judgements.find(({ state }) => state === "below") ??
      named.find(({ state }) => state === "unsure") ??
      named[0]!;
    const state = ({ below: "dropping", unsure: "unsure", recovered: "recovered" } as const)[
      deciding.state
    ];
    const when = ` of ${formatRange(between(largest.t, largest.until, { timeZone }))}`;
    const parts = state === "recovered" && named.length > 1 ? " So is each part named below." : "";
    return { state, verdict: `${endText(deciding.label, deciding, "hour", when)}${parts}` };
  }
}

/** A sentence where all programs that log often enough to be judged have fallen silent. */
function silenceOf(lines: readonly FreshnessRow[]): string | undefined {
  const judged = lines.filter(({ program, silent }) => program !== null && silent !== null);
  if (judged.length === 0 || !judged.every(({ silent }) => silent)) return undefined;
  const minutes = (seconds: number) => counted(Math.round(seconds / 60), "minute");
  const age = minutes(Math.min(...judged.map((line) => line.age)));
  const longest = minutes(Math.max(...judged.map((line) => line.longest_silence)));
  return `No log line comes any more: ${counted(judged.length, "program")} silent for ${age}, at most ${longest} before.`;
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
