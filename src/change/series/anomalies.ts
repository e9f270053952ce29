import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { median } from "../../base/statistics.js";
import { counted, grouped, lowered } from "../../base/text.js";
import { whereText } from "../../query/where.js";
import type { Result } from "../../result/result.js";
import { offsetAt } from "../../time/bucket.js";
import { readInstant } from "../../time/instant.js";
import { DAY, WEEK } from "../../time/span.js";
import { bucketNoun, usualLength, type Bucket } from "../../time/step.js";
import { between, last, rangeText } from "../../time/time-range.js";
import { momentText } from "../../time/time-zone.js";
import { foundTable, movedIn, tell, type Finding, type Moved, type Telling } from "../finding.js";
import { readFlows, type Flows, type FlowSeries } from "./flows.js";
import {
  learning,
  recovery,
  watchFlow,
  type Recovery,
  type Season,
  type Watched,
} from "./forecast.js";
import { amount, percent, signedPercent } from "../../base/numbers.js";

/** Options of `anomalies`. */
export interface AnomaliesOptions {
  /** How many false alarms four weeks may have, in the whole answer; default 1. */
  readonly falseAlarms?: number;
  /** Judge buckets from this time on: a Date, a time, or a span such as `"24 hours"` before the range's end. Default: all that isn't learned from. */
  readonly since?: Date | string;
  /** Longest delay before a row is stored, such as `"2 hours"` (`lab.anomalies` finds it out); buckets that may still fill aren't judged. Default: none. */
  readonly lag?: string;
  /** Name of the measure; default: the one that charts draw. */
  readonly measure?: string;
}

/** What `anomalies` answers: `result` has a row for each alarm, the most that is missing first. */
export interface AnomaliesFinding extends Finding {
  /**
   * The series behind the alarms: `t`, the dimensions, the measure, `expected`, `limit` (a single
   * bucket below it is an alarm) and `state`: learning, usual, drop, stop, gap, silence, incomplete,
   * unknown.
   */
  readonly buckets: Result;
  /**
   * The smallest drop, as a share, that two buckets in a row show in 99 of 100 cases, of what was
   * judged (of several groups, the middle one of those that can, where half of them can); null where
   * not even a complete stop shows.
   */
  readonly least: number | null;
}

const RULES: Rules<AnomaliesOptions> = {
  falseAlarms: {
    fits: (value) => typeof value === "number" && value > 0 && value <= 100,
    pass: "how many false alarms four weeks may have, a number above 0 and up to 100",
  },
  since: {
    fits: (value) => typeof value === "string" || value instanceof Date,
    pass: 'a Date, a time such as "2026-05-01 12:00", or a span such as "24 hours"',
  },
  lag: { fits: (value) => typeof value === "string", pass: 'a span such as "2 hours"' },
  measure: { fits: (value) => typeof value === "string", pass: "the name of a measure" },
};

const ACTION = "find anomalies";
/** What alarms leave out. */
export const SLOW = "A slow fall over weeks becomes usual and isn't looked for";
/** An alarm is close to its limit up to so many times as deep, on the logarithm. */
const NEAR = 1.25;
/** So far apart alarmed buckets are one alarm. */
const TOGETHER_MS = 3 * 3_600_000;

/** One alarm; `from` is its first bucket, `to` the one after its last. */
interface Alarm {
  readonly kind: "drop" | "stop" | "gap" | "silence";
  readonly series: FlowSeries;
  readonly from: number;
  readonly to: number;
  readonly observed: number;
  readonly expected: number;
}

/** A series, what is known of its buckets, and the first that isn't learned from. */
interface WatchedSeries {
  readonly series: FlowSeries;
  readonly watched: readonly Watched[];
  readonly first: number;
  /** What came since an alarm. */
  readonly after: (alarm: Pick<Alarm, "from" | "to">) => Recovery;
}

/** The buckets that are judged: from and up to; those after them may still get rows. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** How many buckets are learned from. */
  readonly learned: number;
}

/**
 * Alarms on drops of a flow, at a stated rate of false alarms.
 *
 * Each bucket is judged by buckets before it only. What is expected follows the hour of the week
 * (the middle of past weeks) and the latest buckets; an alarm is raised where a bucket, or two in a
 * row, come further below that than this series has come before at the stated rate: the threshold
 * is the series' own (peaks over threshold; Siffer et al. 2017). The first four weeks are learned
 * from, of a group those after its first row. Of several groups each is a series of its own, with an
 * equal part of the rate. A slow fall over weeks becomes usual and raises none:
 * `compare` two weeks.
 *
 * An alarm is a `drop`; a `stop`, where a group has no row at all while others go on; a `gap`,
 * where no group has a row and rows come again; or `silence`, where none comes until the end.
 * Incomplete buckets, and those for which rows may still come (`lag`), aren't judged.
 *
 * @param counts counts by the hour, best of eight weeks or more; other measures and buckets of which
 *   a whole number makes a week work, too.
 * @throws ProbelabError for a Result without buckets of time, or with values below 0.
 * @example
 * const counts = lab.measurements.counts({ range: last("8 weeks", { now: lab.now }), every: "hour" });
 * const drop = await anomalies(counts, { since: "24 hours" });
 * drop.sentence;
 */
export async function anomalies(
  counts: Result<object> | Promise<Result<object>>,
  options: AnomaliesOptions = {},
): Promise<AnomaliesFinding> {
  const { finding, newest, end } = await findAnomalies(counts, options);
  const { headline, evidence, details } = finding;
  return { ...finding, ...tell(headline, evidence, [end, ...details, newest]) };
}

/** What `anomalies` finds, and apart from its sentence what another may say in its own place. */
export interface FoundAnomalies {
  readonly finding: AnomaliesFinding;
  /** Of each series the smallest drop that shows, as a share; above 1 or NaN: not even a stop. */
  readonly leasts: readonly number[];
  /** Names the newest buckets, which aren't judged; "" where all are. */
  readonly newest: string;
  /** A sentence on whether the drop is over; "" without one that ended. */
  readonly end: string;
}

/** `anomalies`, with the parts of its answer. */
export async function findAnomalies(
  counts: Result<object> | Promise<Result<object>>,
  options: AnomaliesOptions = {},
): Promise<FoundAnomalies> {
  checkOptions(options, { ...RULES }, ACTION);
  const flows = await readFlows(counts, options.measure, ACTION);
  const { series, buckets } = flows;
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const below = known.find((value) => value < 0);
  if (below !== undefined) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${flows.measure.name}: it holds ${below}. Only numbers from 0 up have a flow; name another measure.`,
    );
  }
  const season = seasonOf(usualLength(flows.time.every));
  const span = spanOf(flows, season, options);
  const why = whyUnjudged(flows, season, span);
  if (season === undefined || why !== undefined) {
    const head = `Can't tell whether ${lowered(flows.measure.label)} dropped`;
    const finding = findingOf(flows, [], [], span, tell(head, why ?? "", []), []);
    return { finding, leasts: [], newest: "", end: "" };
  }
  const rate = options.falseAlarms ?? 1;
  const gap = Math.max(1, Math.round(TOGETHER_MS / usualLength(flows.time.every)));
  // Counts scatter as a Poisson process does at least, and of them 1 is added before the logarithm.
  const isCount = known.every(Number.isInteger);
  const learned = series.flatMap(({ values }) => values.slice(0, span.from));
  const usual = median(learned.filter((value): value is number => (value ?? 0) > 0)) || 1;
  const model = {
    rate: rate / series.length,
    gap,
    counts: isCount,
    floor: isCount ? 1 : usual / 20,
  };
  const clock = clockOf(flows);
  const judged = series.map((each): WatchedSeries => {
    const began = firstRow(each);
    const isUnknown = (at: number) => at < began || (at === 0 && !buckets[0]!.complete);
    const values = each.values.slice(0, span.to).map((value, at) => (isUnknown(at) ? null : value));
    const after: WatchedSeries["after"] = (alarm) => recoveryOf(flows, values, alarm);
    const local = watchFlow(clock.read(values), season, model);
    const watched = values.map((_, at) => local[clock.places[at]!]!);
    return { series: each, watched, first: began + span.learned, after };
  });
  const alarms = judged.flatMap((each) => alarmsOf(flows, each, gap, span));
  alarms.sort((a, b) => b.expected - b.observed - (a.expected - a.observed));
  const leasts = judged.map(({ watched, first }) =>
    median(watched.slice(Math.max(span.from, first)).map(({ least }) => least)),
  );
  const telling = tellingOf(flows, alarms, judged, span, leasts, rate);
  const [most] = alarms;
  const moved = most === undefined ? [] : [alarmMoved(flows, most)];
  const finding = { ...findingOf(flows, alarms, judged, span, telling, leasts), moved };
  const found = { finding, leasts, newest: newestText(flows, span) };
  if (most === undefined || most.to >= span.to) return { ...found, end: "" };
  const { after } = judged.find((each) => each.series === most.series)!;
  const label = lowered(labelOf(flows, most.series));
  return { ...found, end: endText(label, after(most), flows.time.every).join(": ") };
}

/** The first bucket with a row; the number of buckets where there is none. */
function firstRow({ values }: FlowSeries): number {
  const at = values.findIndex((value) => (value ?? 0) > 0);
  return at < 0 ? values.length : at;
}

/** True if a series is back after a drop, by its values up to the last one that can be judged; see {@link recovery}. */
export function recoveryOf(
  flows: Flows,
  values: readonly (number | null)[],
  drop: { readonly from: number; readonly to: number },
): Recovery {
  const { places, read } = clockOf(flows);
  const known = read(values).map((value) => value ?? 0);
  const [from, to] = [places[drop.from]!, places[drop.to - 1]! + 1];
  const season = seasonOf(usualLength(flows.time.every))!;
  const at = (end: number, shortest = 1) =>
    recovery(known.slice(0, end), { from, to }, season, shortest);
  const now = at(known.length);
  if (now.state === "recovered") return now;
  // What was told once isn't taken back for a single low bucket, or because a shorter window says less.
  for (let end = known.length - 1; end > Math.max(to, known.length - season.week); end -= 1) {
    const before = at(end);
    if (before.state === "below" && before.buckets > 1) break;
    if (before.state !== "recovered") continue;
    const longer = at(known.length, 2);
    return longer.state === "below" ? longer : { ...longer, state: "recovered" };
  }
  return now;
}

/** A series on the clock of its zone: an hour that it skips is as the one before, one that it repeats counts once. */
function clockOf({ buckets, range, time }: Flows) {
  const local = buckets.map(({ start }) => +start + offsetAt(+start, range.timeZone));
  const places = local.map((ms) => Math.round((ms - local[0]!) / usualLength(time.every)));
  const read = (values: readonly (number | null)[]) => {
    const all: (number | null)[] = [];
    values.forEach((value, at) => {
      if (places[at]! > all.length) all.push(all.at(-1)!);
      all[places[at]!] = value;
    });
    return all;
  };
  return { places, read };
}

/** Undefined where no whole number of buckets makes a week. */
function seasonOf(length: number): Season | undefined {
  if (length === WEEK) return { day: 1, week: 1 };
  if (WEEK % length !== 0) return undefined;
  return { day: DAY % length === 0 ? DAY / length : 1, week: WEEK / length };
}

function spanOf(
  { buckets, result, range, series }: Flows,
  season: Season | undefined,
  { since, lag = "0 seconds" }: AnomaliesOptions,
): Span {
  const { askedAt } = result.origin;
  const known = lag === "0 seconds" ? askedAt : last(lag, { now: askedAt }).start;
  const to = buckets.findLastIndex(({ complete, end }) => complete && end <= known) + 1;
  const start =
    typeof since === "string" && !/^\d{4}-/.test(since)
      ? last(since, { now: range.end, timeZone: range.timeZone }).start
      : since && readInstant(since, range.timeZone, "since of anomalies");
  const at = start === undefined ? 0 : buckets.findIndex(({ end }) => end > start);
  const learned = season ? learning(season) : 0;
  // Hours before the first row aren't hours without measurements.
  const first = series.reduce((least, one) => Math.min(least, firstRow(one)), Infinity);
  const from = Math.max(learned + first, at < 0 ? buckets.length : at);
  return { from, to, learned };
}

/** Undefined where something can be judged. */
function whyUnjudged(
  { time, series, buckets }: Flows,
  season: Season | undefined,
  { from, to, learned }: Span,
): string | undefined {
  const noun = bucketNoun(time.every, true);
  if (season === undefined) {
    return `no whole number of ${noun} makes a week: ask with every: "hour" or "day".`;
  }
  if (series.length === 0) return "the answer has no row: nothing can be learned from it.";
  const rows = to - series.reduce((least, one) => Math.min(least, firstRow(one)), Infinity);
  if (rows <= 0) return "all values are 0.";
  if (from < to && rows > learned) return undefined;
  return rows <= learned
    ? `The first ${grouped(learned)} ${noun} with rows are learned from and the answer has ${grouped(rows)} complete ones: ask for a longer range.`
    : `None of the ${grouped(buckets.length)} ${noun} from since on (number ${grouped(from + 1)}) is complete, stored and after those that are learned from.`;
}

/** Where a stop that is noticed at a bucket began: its first zero. */
function beginOf(values: FlowSeries["values"], at: number): number {
  return values[at] === 0 ? values.findLastIndex((value, i) => i < at && value !== 0) + 1 : at;
}

function alarmsOf(
  flows: Flows,
  { series, watched, first, after }: WatchedSeries,
  gap: number,
  { from: start, to: end }: Span,
): Alarm[] {
  const { values } = series;
  const all: { from: number; to: number }[] = [];
  for (let at = first; at < end; at++) {
    if (!watched[at]!.alarmed) continue;
    const open = all.at(-1);
    if (open !== undefined && at - open.to < gap) open.to = at + 1;
    else all.push({ from: beginOf(values, at), to: at + 1 });
  }
  // What dropped earlier and has not come back isn't usual, though it is alarmed no more.
  const isLong = ({ from, to }: (typeof all)[number]) => to - from > 1;
  const earlier = all.find(
    (event) => event.to <= start && isLong(event) && after(event).state === "below",
  );
  const events = [...(earlier ? [earlier] : []), ...all.filter(({ to }) => to > start)];
  const sum = (some: readonly (number | null)[], from: number, to: number) =>
    some.slice(from, to).reduce<number>((all, value) => all + (value ?? 0), 0);
  const [usual, next] = [watched.map((each) => each.usual), watched.map((each) => each.next)];
  const isEmpty = (from: number, to: number) =>
    flows.series.every(({ values }) => sum(values, from, to) === 0);
  return events.map(({ from, to: until }): Alarm => {
    let to = until;
    // The hour after a drop is alarmed with the one before it, though it is nearer to what was
    // expected of it than to the loss.
    while (to - from > 1) {
      const lost = sum(values, from, to - 1) / sum(usual, from, to - 1);
      if ((values[to - 1] ?? 0) / usual[to - 1]! <= (1 + lost) / 2) break;
      to--;
    }
    const known = values.slice(from, to).filter((value) => value !== null).length;
    const per = flows.measure.additive ? 1 : Math.max(1, known);
    const expected = Math.max(sum(usual, from, to), sum(next, from, to)) / per;
    const observed = sum(values, from, to) / per;
    const none = isEmpty(to, end) ? "silence" : "gap";
    const kind = observed > 0 ? "drop" : isEmpty(from, to) ? none : "stop";
    return { kind, series, from, to, observed, expected };
  });
}

function tellingOf(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly WatchedSeries[],
  { from, to, learned }: Span,
  leasts: readonly number[],
  rate: number,
): Telling {
  const { series, time } = flows;
  const label = lowered(flows.measure.label);
  const noun = bucketNoun(time.every, true);
  const span = spanText(flows, from, to);
  const groups = series.length === 1 ? "" : ` in ${grouped(series.length)} groups`;
  const stated = `about ${counted(rate, "false alarm")} in 4 weeks ${rate === 1 ? "is" : "are"} accepted`;
  const young = judged.filter(({ first }) => first > from).length;
  const late =
    young === 0
      ? ""
      : `${counted(young, "group")} began so late that the first ${grouped(learned)} ${noun} of ${young === 1 ? "it" : "each"} are learned from and aren't judged`;
  const [first] = alarms;
  if (first !== undefined) {
    const own = alarms.filter((alarm) => alarm.to > from).length;
    const which = own === 1 ? "The only alarm" : `The largest of ${grouped(own)} alarms`;
    const where = first.to <= from ? `It began before ${span}` : `${which}${groups} in ${span}`;
    const days = ((to - from) * usualLength(time.every)) / DAY;
    const chance =
      isNearLimit(first, judged) &&
      `So short an alarm, so close to its limit, may be chance: about ${counted(Number(((rate * days) / 28).toPrecision(1)), "such alarm")} in ${counted(Math.ceil(days), "day")} would be`;
    const [head, evidence] = alarmText(flows, first);
    return tell(head!, evidence!, [chance, `${where}; ${stated}`, late]);
  }
  const cant = `Can't tell whether ${label} dropped`;
  const seeing = leasts.filter((least) => least <= 1);
  const blind = leasts.filter((least) => least > 1).length;
  const hours = `${grouped(to - from)} ${noun}, ${span}`;
  if (blind + seeing.length === 0) return tell(`${cant}${groups}`, late, []);
  if (seeing.length === 0) {
    return tell(
      `${cant} for two ${noun}${groups}`,
      `Values are so few or so scattered that even a complete stop could be chance: ask with a coarser every`,
      [`Longer drops weren't looked for in ${hours}`, late],
    );
  }
  const where = series.length === 1 ? "" : ` in ${grouped(seeing.length)} of the groups`;
  const shows = percent(median(seeing));
  const noticed = shows === "100 %" ? "A complete stop" : `A drop of ${shows} or more`;
  const unseen = blind === 0 ? "" : `, in the other ${grouped(blind)} not even a stop`;
  return tell(
    `No sudden drop of ${label}${groups}`,
    `${noticed} over two ${noun} would have been noticed${where}${unseen}`,
    [`${hours}, were judged; ${stated}`, SLOW, late],
  );
}

function alarmMoved(
  { result, measure, buckets, range: { timeZone } }: Flows,
  { series, from, to, observed, expected }: Alarm,
): Moved {
  const range = between(buckets[from]!.start, buckets[to - 1]!.end, { timeZone });
  const { filter } = result.origin;
  const rows = [filter, whereText(series.group)].filter(Boolean).join(", ");
  return movedIn(range, measure.label, rows, {
    change: observed - expected,
    by: `fell by ${percent(1 - observed / expected)}`,
    ranges: `in ${rangeText(range)} against what was expected`,
  });
}

/** True if an alarm of one or two buckets came little further below what was expected than it must. */
function isNearLimit({ series, from, to }: Alarm, judged: readonly WatchedSeries[]): boolean {
  const watched = judged.find((each) => each.series === series)!.watched.slice(from, to);
  const sum = (all: readonly (number | null)[]) =>
    all.reduce<number>((total, value) => total + (value ?? 0), 0);
  const depth = (value: number) => Math.log(sum(watched.map(({ next }) => next)) / value);
  const most = NEAR * depth(sum(watched.map(({ limit }) => limit)));
  return to - from <= 2 && depth(sum(series.values.slice(from, to))) < most;
}

function newestText({ buckets, time }: Flows, { to }: Span): string {
  const open = buckets.length - to;
  if (open === 0) return "";
  return open === 1
    ? `The last ${bucketNoun(time.every, false)} may still get rows and isn't judged.`
    : `The last ${grouped(open)} ${bucketNoun(time.every, true)} may still get rows and aren't judged.`;
}

/** From one bucket to before another: "1 May 2026 00:00–06:00 UTC". */
function spanText({ buckets, range: { timeZone } }: Flows, from: number, to: number): string {
  return rangeText(between(buckets[from]!.start, buckets[to - 1]!.end, { timeZone }));
}

function labelOf({ measure }: Flows, { name }: FlowSeries): string {
  return name === "" ? measure.label : `${measure.label} of ${name}`;
}

function alarmText(flows: Flows, { kind, series, from, to, observed, expected }: Alarm): string[] {
  const { measure } = flows;
  const when = spanText(flows, from, to);
  const of = labelOf(flows, series);
  const [came, due] = [observed, expected].map((value) =>
    amount(measure.additive ? Math.round(value) : value, measure.unit),
  );
  switch (kind) {
    case "drop":
      return [
        `${of} dropped by ${percent(1 - observed / expected)}`,
        `${came} instead of about ${due}, ${when}`,
      ];
    case "stop":
      return [`${of} stopped while other groups went on`, `0 instead of about ${due}, ${when}`];
    case "gap":
      return [
        `A gap: not a single row of any group`,
        `0 instead of about ${due}, ${when}; rows came again, so either nothing was measured or it is not stored`,
      ];
    case "silence":
      return [
        `Silence: no row of any group since ${momentText(flows.buckets[from]!.start, flows.range.timeZone)}`,
        `About ${due} were expected: the flow has stopped, or rows are not stored yet`,
      ];
  }
}

/**
 * Says whether a drop is over, of `label`: "The drop goes on: measurements −47 % in the last 3 hours."
 *
 * @param when such as " noticed 1 May 2026", where nothing before says it.
 */
export function endText(
  label: string,
  { state, change, buckets, usual }: Recovery,
  every: Bucket,
  when = "",
): string[] {
  const [one, more] = [bucketNoun(every, false), bucketNoun(every, true)];
  const span = buckets === 1 ? one : counted(buckets, one, more);
  const latest =
    change === null
      ? `too little is known of ${label} before it`
      : `${label} ${signedPercent(change)} in the last ${span}`;
  switch (state) {
    case "below":
      return [`The drop goes on: ${latest}`];
    case "recovered":
      return [
        `The drop${when} is over`,
        `${latest} against the same hours of the weeks before it (up to ${percent(usual[1])} either way is usual)`,
      ];
    case "unsure":
      return [`It is not clear yet whether the drop${when} is over`, latest];
  }
}

function findingOf(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly WatchedSeries[],
  span: Span,
  telling: Telling,
  leasts: readonly number[],
): AnomaliesFinding {
  const { result, buckets, measure, time } = flows;
  const { columns, reductions, notes } = result.origin;
  const groups = columns.dimensions.map(({ name }) => name);
  const { unit, additive } = measure;
  const like = (name: string, label: string) =>
    ({ name, label, unit, additive, missing: "gap" }) as const;
  const change = { ...like("change", "Change"), unit: "share", additive: false };
  const rows = alarms.map(({ from, to, kind, series, observed, expected }) => {
    const when = { t: buckets[from]!.start, until: buckets[to - 1]!.end };
    return { ...when, kind, ...series.group, observed, expected, change: observed / expected - 1 };
  });
  const ofBuckets = flows.series.flatMap(({ group, values }, place) => {
    const { watched, first = Infinity } = judged[place] ?? {};
    const own = alarms.filter(({ series }) => series === flows.series[place]);
    return buckets.map(({ start }, at) => {
      const alarm = own.find(({ from, to }) => from <= at && at < to);
      const known = values[at] === null ? "unknown" : (alarm?.kind ?? "usual");
      const state = at < first ? "learning" : at >= span.to ? "incomplete" : known;
      const bucket = { ...group, [time.name]: start, [measure.name]: values[at] ?? null, state };
      if (state === "learning") return bucket;
      return {
        ...bucket,
        expected: watched![at]?.next ?? null,
        limit: watched![at]?.limit ?? null,
      };
    });
  });
  const kinds = [...new Set(alarms.map(({ kind }) => kind))];
  const names = ["t", "until", "kind", ...groups, "observed", "expected", "change"];
  const bucketNames = [time.name, ...groups, measure.name, "expected", "limit", "state"];
  const seeing = leasts.filter((least) => least <= 1);
  return {
    kind: "anomalies",
    ...telling,
    found: alarms.length > 0,
    least: 2 * seeing.length < leasts.length || seeing.length === 0 ? null : median(seeing),
    result: result.with(foundTable(flows.result.table, names, rows), {
      columns: {
        dimensions: [{ name: "kind", order: kinds }, ...columns.dimensions],
        measures: [like("observed", measure.label), like("expected", "Expected"), change],
        kinds: { t: "time", until: "time" },
      },
      reductions,
      notes,
    }),
    buckets: result.with(foundTable(flows.result.table, bucketNames, ofBuckets), {
      columns: {
        ...columns,
        measures: [measure, like("expected", "Expected"), like("limit", "Alarm limit")],
        kinds: { state: "text" },
      },
      reductions,
    }),
  };
}
