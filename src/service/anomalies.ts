import { refuseUnknown } from "../base/check-options.js";
import { optional } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { greatest, smallest } from "../base/statistics.js";
import {
  endText,
  findAnomalies,
  recoveryOf,
  SLOW,
  type AnomaliesFinding,
  type FoundAnomalies,
} from "../change/series/anomalies.js";
import { weekBefore } from "../change/cells/compare.js";
import type { Evidence } from "../change/cells/evidence.js";
import { explain, type Explanation } from "../change/cells/explain.js";
import { tell, type Finding } from "../change/finding.js";
import { readFlows } from "../change/series/flows.js";
import type { FreshnessRow } from "./funnel.js";
import { UNKNOWN, type Recovery } from "../change/series/forecast.js";
import { percent } from "../base/numbers.js";
import { elementText } from "../change/words.js";
import type { Measurements } from "../sources/measurements/measurements.js";
import type { Where } from "../query/where.js";
import type { Result } from "../result/result.js";
import { between, checkRange, last, rangeText, type TimeRange } from "../time/time-range.js";
import { HOUR, WEEK } from "../time/span.js";
import { momentText } from "../time/time-zone.js";

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
  /** When the alarm that goes on, else the largest, began. */
  readonly since: Date | null;
  /** The values of dimensions that account for it; null without a drop, or if that can't be asked. */
  readonly why: Explanation | null;
  /** The first of them along time, or by version, for `chart.evidence`. */
  readonly shown?: Evidence;
  /** How late rows are stored, and who is silent. */
  readonly freshness: Finding;
}

/** The state, and what is said first of it. */
interface Verdict extends Pick<AnomaliesVerdict, "state" | "headline" | "evidence"> {
  readonly details?: readonly string[];
}

const ACTION = "judge whether the flow dropped";
/** Whose largest values are looked at one by one; the others are one group. */
const GROUPS = [
  { by: ["software_name"], top: 10, noun: "program", plural: "programs", falseAlarms: 0.25 },
  { by: ["probe_cc"], top: 15, noun: "country", plural: "countries", falseAlarms: 0.25 },
  {
    by: ["software_name", "probe_cc"],
    top: 4,
    noun: "program in a country",
    plural: "programs in a country",
    falseAlarms: 0.1,
  },
] as const;
/** False alarms of the whole in four weeks; with its groups some 1.1. */
const FALSE_ALARMS = 0.5;
/** Where less than this drop of two hours shows nothing, the flow is too thin to judge. */
const BLIND = 0.95;

/** What is asked, up to the present. */
interface Asked {
  readonly measurements: Measurements;
  readonly where: Where;
  readonly signal: AbortSignal | undefined;
  readonly range: TimeRange;
  readonly end: Date;
}

interface AlarmRow {
  readonly t: Date;
  readonly until: Date;
  readonly kind: string;
  readonly observed: number;
  readonly expected: number;
  readonly software_name?: string | null;
  readonly probe_cc?: string | null;
}

/** The alarms of the whole, or of each of its groups. */
interface Watch extends Omit<FoundAnomalies, "finding" | "end"> {
  readonly found: AnomaliesFinding;
  readonly alarms: readonly AlarmRow[];
}

/** What the flow shows: the whole, its groups, and the alarm that goes on, else the largest. */
interface Look {
  readonly whole: Watch;
  readonly groups: readonly (Watch & Omit<(typeof GROUPS)[number], "by" | "top">)[];
  readonly all: readonly Watch[];
  /** The hours of the whole that are judged, and the end of the last. */
  readonly judged: readonly Date[];
  readonly known: number;
  readonly shown: AlarmRow | undefined;
  /** True if it goes on. */
  readonly isOn: boolean;
  readonly shownIn: Watch;
}

/**
 * `lab.anomalies({ range })`: did the flow of measurements drop? `anomalies` over the measurements of
 * each hour, of the whole, of each program, country, and program in a country, without the hours for which rows may still be stored
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
  const asked: Asked = { measurements, where, signal, range, end };
  const look = await lookAt(asked, Math.ceil((measured?.lag_q95 ?? 0) / 60));
  const { whole, shown, shownIn } = look;
  // Programs that are silent now say nothing of a range that ended long ago.
  const silence = +range.end > present - HOUR ? silenceOf(lines) : undefined;
  const isSilent = measured?.silent === true || shown?.kind === "silence";
  const why = shown && !isSilent ? await whyOf(asked, shown) : null;
  const verdict = await judge();
  const others = shown === undefined ? [] : [shownIn, whole];
  const texts = [
    ...(verdict.details ?? []),
    ...(why?.found ? [`${why.headline}. ${why.evidence}`, ...why.details] : []),
    ...others.flatMap(({ found: { headline, evidence, details } }) =>
      evidence === verdict.evidence ? details : [`${headline}. ${evidence}`, ...details],
    ),
    whole.newest,
    `${fresh.headline}. ${fresh.evidence}`,
    ...fresh.details,
  ];
  // What the first parts say already isn't said again.
  const first = [verdict.headline, verdict.evidence].map((text) => text.replace(/\.$/, ""));
  const details = [...new Set(texts)].filter(
    (text) => !text || !first.some((one) => one !== "" && text.includes(one)),
  );
  return {
    ...shownIn.found,
    ...tell(verdict.headline, verdict.evidence, details),
    state: verdict.state,
    why,
    ...(why?.found && why.shown && { shown: why.shown }),
    freshness: fresh,
    moved: [...new Set([shownIn, whole].flatMap(({ found: { moved = [] } }) => moved))],
    found: !["usual", "unknown"].includes(verdict.state),
    since: isSilent ? (measured?.newest ?? shown?.t ?? null) : (shown?.t ?? null),
  };

  function judge(): Verdict | Promise<Verdict> {
    const timeText = (time: Date) => momentText(time, range.timeZone);
    if (isSilent) {
      const newest = measured ? `The newest is of ${timeText(measured.newest)}` : "";
      return { state: "silent", headline: "No measurement comes any more", evidence: newest };
    }
    if (shown !== undefined && look.isOn) {
      const lost = percent(1 - shown.observed / shown.expected);
      const [came, due] = [shown.observed, shown.expected].map((n) => grouped(Math.round(n)));
      return {
        state: "dropping",
        headline: `Measurements${ofName(shown)} are down by ${lost} until now`,
        evidence: `${came} came instead of about ${due} since ${timeText(shown.t)}`,
      };
    }
    if (silence !== undefined) {
      return { state: "silent", headline: "No log line comes any more", evidence: silence };
    }
    return shown === undefined ? quiet(asked, look) : isItOver(asked, look, shown, why);
  }
}

/** Measurements by the hour, of eight weeks before the range and up to the present unless another is asked. */
function hourly({ measurements, range, end, signal }: Asked, more: object) {
  const { timeZone } = range;
  return measurements.counts({
    range: between(last("8 weeks", { now: range.start, timeZone }).start, end, { timeZone }),
    every: "hour",
    ...(signal && { signal }),
    ...more,
  });
}

/** Looks for alarms. @param lag minutes in which rows may still be stored. */
async function lookAt(asked: Asked, lag: number): Promise<Look> {
  const { where, range } = asked;
  const since = { since: range.start, ...(lag > 0 && { lag: `${lag} minutes` }) };
  const watch = async (group: object, falseAlarms: number): Promise<Watch> => {
    const counts = hourly(asked, { ...group, where });
    const { finding: found, ...more } = await findAnomalies(counts, { ...since, falseAlarms });
    return { ...more, found, alarms: (found.result as Result<object>).rows() as AlarmRow[] };
  };
  const whole = await watch({}, FALSE_ALARMS);
  const groups: Look["groups"][number][] = [];
  for (const { by, top, ...group } of GROUPS) {
    const own = await optional(() => watch({ by, top }, group.falseAlarms));
    if (own !== null) groups.push({ ...own, ...group });
  }
  const all = [whole, ...groups];
  const judged = (whole.found.buckets as Result<{ t: Date; state: string }>)
    .rows()
    .filter(({ state }) => !["learning", "incomplete", "unknown"].includes(state))
    .map(({ t }) => t);
  const known = judged.length === 0 ? 0 : Number(judged.at(-1)!) + HOUR;
  const isOn = ({ until }: AlarmRow) => Number(until) > known - HOUR;
  // A program is named only where the whole shows no alarm.
  const on = all.find(({ alarms }) => alarms.some(isOn));
  const shownIn = on ?? all.find(({ alarms }) => alarms.length > 0) ?? whole;
  const shown = shownIn.alarms.find(isOn) ?? shownIn.alarms[0];
  return { whole, groups, all, judged, known, shown, isOn: on !== undefined, shownIn };
}

/** What is behind an alarm, against the same hours of the week before; null if that can't be asked. */
function whyOf(asked: Asked, shown: AlarmRow): Promise<Explanation | null> {
  const { measurements, range, where, signal } = asked;
  return optional(() => {
    const after = between(shown.t, shown.until, { timeZone: range.timeZone });
    const compared = { before: weekBefore(after), after, where: partOf(where, shown) ?? where };
    return explain(measurements, { ...compared, ...(signal && { signal }) });
  });
}

/** Judges whether a drop is over: each alarmed series and each named part must be back. */
async function isItOver(
  asked: Asked,
  { all, known }: Look,
  largest: AlarmRow,
  why: Explanation | null,
): Promise<Verdict> {
  const { where, range, end } = asked;
  const { timeZone } = range;
  const rows = all.flatMap(({ alarms }) => alarms);
  /** The time of an alarm and of those within a week of it: one weeks away has its own past. */
  const timeOf = ({ t, until }: AlarmRow) => {
    const near = rows.filter((row) => +row.t <= +until + WEEK && +row.until >= +t - WEEK);
    const from = smallest(near.map((row) => Number(row.t)));
    return { from, to: greatest(near.map((row) => Number(row.until))) };
  };
  const drop = timeOf(largest);
  const series = new Map<
    string,
    { where: Where | undefined; isNamed: boolean; drop: typeof drop; row?: AlarmRow }
  >();
  for (const row of rows) {
    const label = `measurements${ofName(row)}`;
    // The largest alarm of a series comes first.
    if (series.has(label)) continue;
    const isNamed = ofName(row) === ofName(largest);
    series.set(label, { where: partOf(where, row), isNamed, drop: timeOf(row), row });
  }
  for (const { text, where: own, change } of why?.found ? why.causes : []) {
    if (change >= 0 || Object.keys(own).length === 0) continue;
    // Users go from version to version: what one held before doesn't say what it should hold.
    const { software_version: version, ...rest } = own;
    if (version !== undefined && Object.keys(rest).length === 0) continue;
    const part = { ...(partOf(where, largest) ?? where), ...(rest as Where) };
    series.set(text, { where: part, isNamed: true, drop });
  }
  // As many weeks before a drop as lie since it, and eight more, show what such a time holds.
  const earliest = smallest([...series.values()].map(({ drop }) => drop.from));
  const weeks = Math.ceil((known - earliest) / WEEK) + 8;
  const { start } = last(`${weeks} weeks`, { now: new Date(earliest), timeZone });
  const past = between(start, end, { timeZone });
  const judgements: (Recovery & { readonly label: string; readonly isNamed: boolean })[] = [];
  // One after the other: each reads months, and at an incident the server has enough to do.
  for (const [label, { where: own, isNamed, drop, row }] of series) {
    // No filter names the group of all others: it is in the answer that showed its alarm.
    const held = all.find(({ alarms }) => row && alarms.includes(row))?.found.buckets;
    const answer = () => (own || !held ? hourly(asked, { where: own, range: past }) : held);
    const flows = await optional(() => readFlows(answer(), undefined, ACTION));
    const names = own || !row ? [] : namesOf(row);
    const found = flows?.series.find(({ group }) => names.every(([by, is]) => group[by] === is));
    if (flows === null || found === undefined) {
      judgements.push({ label, isNamed, ...UNKNOWN });
      continue;
    }
    const place = (at: number) => flows.buckets.filter(({ start }) => +start < at).length;
    const values = found.values.slice(0, place(known));
    const places = { from: place(drop.from), to: place(drop.to) };
    judgements.push({ label, isNamed, ...recoveryOf(flows, values, places) });
  }
  const named = judgements.filter(({ isNamed }) => isNamed);
  // A program whose alarm isn't the one shown may have too few rows to judge its end.
  const deciding =
    judgements.find(({ state }) => state === "below") ??
    named.find(({ state }) => state === "unsure") ??
    named[0]!;
  const state = ({ below: "dropping", unsure: "unsure", recovered: "recovered" } as const)[
    deciding.state
  ];
  const when = ` noticed ${rangeText(between(largest.t, largest.until, { timeZone }))}`;
  const isEach = state === "recovered" && named.length > 1;
  const [headline, evidence = ""] = endText(deciding.label, deciding, "hour", when);
  return {
    state,
    headline: headline!,
    evidence,
    details: isEach ? ["So is each part named below"] : [],
  };
}

/** Without an alarm: which drop would have shown, if any. */
function quiet({ range }: Asked, { whole, groups, judged, known, all }: Look): Verdict {
  const { least, headline, evidence, sentence } = whole.found;
  if (judged.length === 0 || least === null || least > BLIND) {
    const few = "So few come that nothing but a complete stop of two hours would show";
    return {
      state: "unknown",
      headline: "Can't tell whether measurements dropped",
      evidence: headline.startsWith("Can't") ? evidence : least === null ? "" : few,
      details: all.flatMap(({ found }) => [
        `${found.headline}. ${found.evidence}`,
        ...found.details,
      ]),
    };
  }
  const dropText = (least: number) =>
    percent(least) === "100 %" ? "a complete stop" : `a drop of ${percent(least)}`;
  const seen = new Map<string, string[]>();
  for (const { noun, found } of groups) {
    if (found.least === null) continue;
    const drop = dropText(found.least);
    seen.set(drop, [...(seen.get(drop) ?? []), noun]);
  }
  const unseen = groups.flatMap(({ noun, plural, leasts }) => {
    const blind = leasts.filter((each) => !(each <= 1)).length;
    if (blind === 0) return [];
    if (blind === leasts.length) return `Not even a stop of two hours would show of any ${noun}`;
    return `Not even a stop of two hours would show of ${blind} of ${leasts.length} ${plural}`;
  });
  const smaller = [...seen].map(([drop, nouns]) => `, or ${drop} of a usual ${nouns.join(" or ")}`);
  const hours = judged.filter((t) => t >= range.start);
  const rate = groups.reduce((sum, group) => sum + group.falseAlarms, FALSE_ALARMS);
  const accepted = counted(Number(rate.toPrecision(2)), "false alarm");
  const span = () => rangeText(between(hours[0]!, new Date(known), { timeZone: range.timeZone }));
  const told =
    hours.length === 0
      ? sentence
      : `${counted(hours.length, "hour")} were judged, ${span()}, with about ${accepted} accepted in 4 weeks. ${SLOW}.`;
  return {
    state: "usual",
    headline: "No sudden drop of measurements",
    evidence: `Over two hours ${dropText(least)} would have shown${smaller.join("")}`,
    details: [...unseen, told],
  };
}

/** The program and country that an alarm is of. */
function namesOf(row: AlarmRow) {
  return (["software_name", "probe_cc"] as const).flatMap((by) => {
    const value = row[by];
    return value === undefined ? [] : [[by, value] as const];
  });
}

function ofName(row: AlarmRow): string {
  const names = namesOf(row);
  return names.length === 0 ? "" : ` of ${elementText(Object.fromEntries(names))}`;
}

/** The rows of an alarm; undefined of the group of all others, which no filter names. */
function partOf(where: Where, row: AlarmRow): Where | undefined {
  const names = namesOf(row);
  if (names.some(([, value]) => value === null || value === "other")) return undefined;
  return { ...where, ...(Object.fromEntries(names) as Where) };
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
