import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted, lowered } from "../base/text.js";
import {
  endText,
  findAnomalies,
  recoveryOf,
  type AnomaliesFinding,
  type Found,
} from "../change/anomalies.js";
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
import { HOUR, WEEK } from "../time/span.js";

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
  readonly observed: number;
  readonly expected: number;
  readonly software_name?: string | null;
}

/** The alarms of the whole, or of each program; of the whole also whether it fell slowly. */
interface Looked extends Omit<Found, "finding" | "end"> {
  readonly found: AnomaliesFinding;
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
    const { finding: found, ...parts } = await findAnomalies(counts({ ...group, where }), judging);
    return { ...parts, found, alarms: (found.result as Result<object>).rows() as AlarmRow[] };
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
    ...(head.state === "usual" ? [judgedText()] : others.map(({ found }) => found.sentence)),
    ...(whole.newest ? [whole.newest] : []),
    ...(whole.slow && !head.verdict.toLowerCase().includes(whole.slow.text.toLowerCase())
      ? [`But ${lowered(whole.slow.text)}`]
      : []),
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
    const slow = whole.slow ? ` But ${lowered(whole.slow.text)}` : "";
    if (judged.length === 0 || least === null) {
      return { state: "unknown", verdict: `Can't tell whether measurements dropped.${slow}` };
    }
    const part = programs?.found.least ?? null;
    const smaller = part === null ? "" : `, or ${percent(part)} fewer of a usual program,`;
    const all = programs?.leasts ?? [];
    const blind = all.filter((each) => !(each <= 1)).length;
    const unseen =
      blind === 0
        ? ""
        : `; of ${blind} of ${all.length} programs not even a stop of two hours would`;
    const verdict = `No sudden drop of measurements seen; two hours with ${percent(least)} fewer${smaller} would have shown${unseen}.${slow}`;
    return { state: "usual", verdict };
  }

  function judgedText(): string {
    const asked = judged.filter(({ t }) => +t >= +range.start);
    if (asked.length === 0) return whole.found.sentence;
    const hours = formatRange(between(asked[0]!.t, new Date(known), { timeZone }));
    const accepted = counted(FALSE_ALARMS * looked.length, "false alarm");
    return `${counted(asked.length, "hour")} were judged, ${hours}, with about ${accepted} accepted in 4 weeks.`;
  }

  /** Judges whether each alarmed series and each named part are back. */
  async function afterDrop(
    largest: AlarmRow,
  ): Promise<Pick<AnomaliesVerdict, "state" | "verdict">> {
    const all = looked.flatMap(({ alarms }) => alarms);
    /** The time of an alarm and of those within a week of it: one weeks away has its own past. */
    const timeOf = ({ t, until }: AlarmRow) => {
      const near = all.filter((row) => +row.t <= +until + WEEK && +row.until >= +t - WEEK);
      const from = Math.min(...near.map((row) => Number(row.t)));
      return { from, to: Math.max(...near.map((row) => Number(row.until))) };
    };
    const drop = timeOf(largest);
    const asked = new Map<
      string,
      { where: Where | undefined; isNamed: boolean; drop: typeof drop }
    >();
    for (const row of all) {
      // The largest alarm of a series comes first.
      if (asked.has(`measurements${ofName(row)}`)) continue;
      const isNamed = row.software_name === largest.software_name;
      const where = partOf(row.software_name);
      asked.set(`measurements${ofName(row)}`, { where, isNamed, drop: timeOf(row) });
    }
    for (const { text, where, change } of why?.found ? why.causes : []) {
      if (change >= 0 || Object.keys(where).length === 0) continue;
      // Users go from version to version: what one held before doesn't say what it should hold.
      const { software_version: version, ...rest } = where;
      if (version !== undefined && Object.keys(rest).length === 0) continue;
      asked.set(text, { where: { ...partWhere, ...(rest as Where) }, isNamed: true, drop });
    }
    // As many weeks before a drop as lie since it, and eight more, show what such a time holds.
    const earliest = Math.min(...[...asked.values()].map(({ drop }) => drop.from));
    const weeks = Math.ceil((known - earliest) / WEEK) + 8;
    const { start } = last(`${weeks} weeks`, { now: new Date(earliest), timeZone });
    const past = between(start, end, { timeZone });
    const judgements = await Promise.all(
      [...asked].map(async ([label, { where: own, isNamed, drop }]) => {
        const ask = () => readFlows(counts({ where: own, range: past }), undefined, ACTION);
        const flows = own && (await optional(ask));
        if (!flows?.series[0]) return { label, isNamed, ...UNSURE };
        const place = (at: number) => flows.buckets.filter(({ start }) => +start < at).length;
        const values = flows.series[0].values.slice(0, place(known));
        const places = { from: place(drop.from), to: place(drop.to) };
        return { label, isNamed, ...recoveryOf(flows, values, places) };
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
    const text = `${endText(deciding.label, deciding, "hour", when)}${parts}`;
    const lost = shownIn.alarms.reduce((sum, row) => sum + row.expected - row.observed, 0);
    const isSlow = state !== "dropping" && whole.slow !== null && whole.slow.lost > lost;
    return { state, verdict: isSlow ? `${whole.slow.text} ${text}` : text };
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
