import { refuseUnknown } from "../base/check-options.js";
import { optional } from "../base/error.js";
import { percent } from "../base/numbers.js";
import { greatest, median, smallest } from "../base/statistics.js";
import { counted, grouped } from "../base/text.js";
import { weekBefore } from "../change/cells/compare.js";
import type { Evidence } from "../change/cells/evidence.js";
import { explain, type Explanation } from "../change/cells/explain.js";
import { tell, type Finding, type Telling } from "../change/finding.js";
import {
  dropText,
  endText,
  findAnomalies,
  SLOW,
  type Alarm,
  type AnomaliesFinding,
  type FoundAnomalies,
} from "../change/series/anomalies.js";
import { elementText } from "../change/words.js";
import type { Where } from "../query/where.js";
import type { Result } from "../result/result.js";
import type { Measurements } from "../sources/measurements/measurements.js";
import { bucketStart } from "../time/bucket.js";
import { HOUR } from "../time/span.js";
import { between, checkRange, last, rangeText, type TimeRange } from "../time/time-range.js";
import { momentText } from "../time/time-zone.js";
import type { FreshnessRow } from "./funnel.js";

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
   * log line, comes any more; `recovered`: there was a drop, and half of it can't be missing any more;
   * `unsure`: there was a drop, and it isn't clear whether that is so; `usual`; `unknown`: no drop was seen, but half of a program, country or network
   * of 5 % of all could be lost for a day without an alarm.
   */
  readonly state: "dropping" | "silent" | "recovered" | "unsure" | "usual" | "unknown";
  /** When the alarm that goes on, else the largest, began. */
  readonly since: Date | null;
  /** The values of dimensions that account for it; null without a drop, or if that can't be asked. */
  readonly why: Explanation | null;
  /** The first of them along time, or by version, for `chart.evidence`. */
  readonly shown?: Evidence;
  /** How late rows are stored, and who is silent. */
  readonly freshness: Finding;
}

const ACTION = "judge whether the flow dropped";
/** False alarms of all series together in four weeks. */
export const STATED = 1;
/** What is watched; of dimensions the largest values one by one, the others as one group; the chance is shared. */
const WATCHED = [
  { by: [], noun: "", falseAlarms: 0.3 },
  { by: ["software_name"], top: 10, noun: "program", falseAlarms: 0.2 },
  { by: ["probe_cc"], top: 15, noun: "country", falseAlarms: 0.2 },
  { by: ["probe_asn"], top: 20, noun: "network", falseAlarms: 0.2 },
  { by: ["software_name", "probe_cc"], top: 4, noun: "program in a country", falseAlarms: 0.1 },
] as const;
/** Of parts with this share of all, half lost for a day must show, or nothing is said to be usual. */
const LEAST_PART = 0.05;
const LEAST_LOSS = 0.5;

/** What is asked, up to the present. */
interface Asked extends Required<Pick<LabAnomaliesOptions, "range" | "where">> {
  readonly measurements: Measurements;
  readonly signal: AbortSignal | undefined;
  readonly end: Date;
}

/** The alarms of the whole, or of each of its groups. */
interface GroupAlarms extends FoundAnomalies {
  readonly noun: string;
}

/** What the flow shows: the whole, its groups, and the alarm that goes on, else the largest. */
interface Look {
  readonly whole: GroupAlarms;
  readonly all: readonly GroupAlarms[];
  readonly shown: Alarm | undefined;
  readonly isOn: boolean;
  readonly shownIn: GroupAlarms;
}

/** The state, and what is said first of it. */
interface Verdict extends Pick<AnomaliesVerdict, "state" | "headline" | "evidence"> {
  readonly details?: readonly string[];
}

/**
 * `lab.anomalies({ range })`: did the flow of measurements drop? `anomalies` over the measurements of
 * each hour, of the whole, of each program, country, network, and program in a country, without the hours
 * for which rows may still be stored (by the lag of the last day); what is behind the drop, against the
 * same hours of the week before; and whether it is over, where it was seen: other parts have alarms of
 * their own.
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
  const asked: Asked = { measurements, where, signal, range, end };
  const look = await lookAt(asked, Math.ceil((measured?.lag_q95 ?? 0) / 60));
  const { whole, shown, shownIn } = look;
  // Programs that are silent now say nothing of a range that ended long ago.
  const silence = +range.end > present - HOUR ? silenceOf(lines) : undefined;
  const isSilent = measured?.silent === true || shown?.kind === "silence";
  const why = shown && !isSilent ? await whyOf(asked, shown) : null;
  const timeText = (time: Date) => momentText(time, range.timeZone);
  const newest = measured ? `The newest is of ${timeText(measured.newest)}` : "";
  const verdict: Verdict = isSilent
    ? { state: "silent", headline: "No measurement comes any more", evidence: newest }
    : shown && look.isOn
      ? goingOn(shown, timeText)
      : silence !== undefined
        ? { state: "silent", headline: "No log line comes any more", evidence: silence }
        : shown
          ? isItOver(asked, shown)
          : quiet(asked, look);
  const sentences = ({ headline, evidence, details }: Telling) => [
    `${headline}. ${evidence}`,
    ...details,
  ];
  const watches = shown === undefined ? [whole] : [...new Set([shownIn, whole])];
  const details = [
    ...(verdict.details ?? []),
    ...(why?.found ? sentences(why) : []),
    ...(shown === undefined ? [] : watches.flatMap(({ finding }) => sentences(finding))),
    whole.newest,
    ...sentences(fresh),
  ];
  return {
    ...shownIn.finding,
    ...tell(verdict.headline, verdict.evidence, [...new Set(details)]),
    state: verdict.state,
    why,
    ...(why?.found && why.shown && { shown: why.shown }),
    freshness: fresh,
    moved: watches.flatMap(({ finding }) => finding.moved ?? []),
    found: !["usual", "unknown"].includes(verdict.state),
    since: isSilent ? (measured?.newest ?? shown?.t ?? null) : (shown?.t ?? null),
  };
}

/** Measurements by the hour up to the present; whole weeks, so that an hour is judged alike whenever it is asked. */
function hourly({ measurements, range, end, signal }: Asked, from: Date, more: object) {
  const { timeZone } = range;
  const start = bucketStart(last("8 weeks", { now: from, timeZone }).start, "week", timeZone);
  const asked = { range: between(start, end, { timeZone }), every: "hour", ...more } as const;
  return measurements.counts({ ...asked, ...(signal && { signal }) });
}

/** Looks for alarms. @param lag minutes in which rows may still be stored. */
export async function lookAt(asked: Asked, lag: number): Promise<Look> {
  const since = { since: asked.range.start, ...(lag > 0 && { lag: `${lag} minutes` }) };
  const watch = async ({ noun, falseAlarms, ...group }: (typeof WATCHED)[number]) => {
    const counts = hourly(asked, asked.range.start, { ...group, where: asked.where });
    return { ...(await findAnomalies(counts, { ...since, falseAlarms })), noun };
  };
  const whole = await watch(WATCHED[0]);
  const all: GroupAlarms[] = [whole];
  for (const group of WATCHED.slice(1)) {
    const own = await optional(() => watch(group));
    if (own !== null) all.push(own);
  }
  const known = whole.judged.at(-1)?.end ?? asked.range.start;
  const largest = all.find(({ alarms }) => alarms.length > 0) ?? whole;
  // Of many series one is low by chance: others than the largest alarm go on where they were low twice.
  const isOn = (alarm: Alarm) => {
    const { state, change } = alarm.end;
    if (change === null) return alarm.until >= known;
    return state === "below" && (alarm === largest.alarms[0] || alarm.lows > 1);
  };
  // A part is named only where the whole shows no alarm.
  const on = all.find(({ alarms }) => alarms.some(isOn));
  const shownIn = on ?? largest;
  const shown = shownIn.alarms.find(isOn) ?? shownIn.alarms[0];
  return { whole, all, shown, isOn: on !== undefined, shownIn };
}

/** What is behind an alarm, against the same hours of the week before; null if that can't be asked. */
function whyOf(asked: Asked, shown: Alarm): Promise<Explanation | null> {
  const { measurements, range, where, signal } = asked;
  return optional(() => {
    const after = between(shown.t, shown.until, { timeZone: range.timeZone });
    const compared = { before: weekBefore(after), after, where: partOf(where, shown) ?? where };
    return explain(measurements, { ...compared, ...(signal && { signal }) });
  });
}

function goingOn(shown: Alarm, timeText: (time: Date) => string): Verdict {
  const lost = percent(1 - shown.observed / shown.expected);
  const [came, due] = [shown.observed, shown.expected].map((n) => grouped(Math.round(n)));
  return {
    state: "dropping",
    headline: `Measurements${ofName(shown)} are down by ${lost} until now`,
    evidence: `${came} came instead of about ${due} since ${timeText(shown.t)}`,
  };
}

/** Whether a drop is over in the rows that the alarm is of. */
function isItOver({ range: { timeZone } }: Asked, shown: Alarm): Verdict {
  const { state } = shown.end;
  const when = ` noticed ${rangeText(between(shown.t, shown.until, { timeZone }))}`;
  const [headline, evidence = ""] = endText(
    `measurements${ofName(shown)}`,
    shown.end,
    "hour",
    when,
  );
  return { state: state === "below" ? "dropping" : state, headline: headline!, evidence };
}

/** Without an alarm: which drop would have shown, if any. */
function quiet({ range: { timeZone } }: Asked, { whole, all }: Look): Verdict {
  const cant = { state: "unknown", headline: "Can't tell whether measurements dropped" } as const;
  const [first, last] = [whole.judged[0], whole.judged.at(-1)];
  if (first === undefined) return { ...cant, evidence: whole.finding.evidence };
  const hours = `${counted(whole.judged.length, "hour")} were judged`;
  const span = rangeText(between(first.start, last!.end, { timeZone }));
  const accepted = `about ${counted(STATED, "false alarm")} in 4 weeks is accepted`;
  const details = [`${hours}, ${span}; ${accepted}. ${SLOW}.`];
  const shows = all.flatMap(({ noun, seen }) => {
    const least = median(seen.map((each) => (each.least <= 1 ? each.least : 2)));
    return least <= 1 ? [`${dropText(least)}${noun === "" ? "" : ` of a usual ${noun}`}`] : [];
  });
  if (shows.length === 0)
    return { ...cant, evidence: "So few come that not even a stop of a day would show", details };
  const evidence = `Over 24 hours ${shows.join(", ")} would have shown`;
  const parts = all.slice(1).flatMap(({ seen }) => seen.filter(({ share }) => share >= LEAST_PART));
  return median((parts.length > 0 ? parts : whole.seen).map(({ likely }) => likely)) <= LEAST_LOSS
    ? { state: "usual", headline: "No sudden drop of measurements", evidence, details }
    : {
        state: "unknown",
        headline: "No drop was seen, but half of a program, country or network could be lost",
        ...{ evidence, details },
      };
}

/** The values that an alarm is of. */
const groupOf = ({ series }: Alarm) => Object.entries(series.group);

function ofName(alarm: Alarm): string {
  return groupOf(alarm).length === 0 ? "" : ` of ${elementText(alarm.series.group)}`;
}

/** The rows of an alarm; undefined of the group of all others, which no filter names. */
function partOf(where: Where, alarm: Alarm): Where | undefined {
  if (groupOf(alarm).some(([, value]) => value === null || value === "other")) return undefined;
  return { ...where, ...(alarm.series.group as Where) };
}

/** A sentence where all programs that log often enough to be judged have fallen silent. */
function silenceOf(lines: readonly FreshnessRow[]): string | undefined {
  const judged = lines.filter(({ program, silent }) => program !== null && silent !== null);
  if (judged.length === 0 || !judged.every(({ silent }) => silent)) return undefined;
  const minutes = (seconds: number) => counted(Math.round(seconds / 60), "minute");
  const age = minutes(smallest(judged.map((line) => line.age)));
  const longest = minutes(greatest(judged.map((line) => line.longest_silence)));
  return `${counted(judged.length, "program")} silent for ${age}, at most ${longest} before.`;
}
