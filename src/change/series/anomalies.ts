import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { median } from "../../base/statistics.js";
import { counted, grouped, lowered } from "../../base/text.js";
import { whereText } from "../../query/where.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { offsetAt, type RangeBucket } from "../../time/bucket.js";
import { readInstant } from "../../time/instant.js";
import { DAY, WEEK } from "../../time/span.js";
import { bucketNoun, usualLength, type Bucket } from "../../time/step.js";
import { between, last, rangeText } from "../../time/time-range.js";
import { momentText } from "../../time/time-zone.js";
import { movedIn, tell, type Finding, type Moved, type Telling } from "../finding.js";
import { readFlows, type Flows, type FlowSeries } from "./flows.js";
import {
  learning,
  Watch,
  WINDOWS,
  type Drop,
  type Model,
  type Recovery,
  type Season,
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
};

const ACTION = "find anomalies";
/** What alarms leave out. */
export const SLOW = "A slow fall over weeks becomes usual and isn't looked for";
/** So far apart alarmed buckets are one alarm. */
const TOGETHER_MS = 3 * 3_600_000;
/** The newest buckets by which what would have shown is said. */
const SAID = 24;

/** One alarm; `from` is its first bucket, `to` the one after its last. */
export interface Alarm extends Omit<Drop, "seen"> {
  readonly kind: "drop" | "stop" | "gap" | "silence";
  readonly series: FlowSeries;
  readonly t: Date;
  readonly until: Date;
}

/** A series, what is known of its buckets, and the first that isn't learned from. */
interface WatchedSeries {
  readonly series: FlowSeries;
  readonly watch: Watch;
  /** Of each bucket, its place on the clock of the zone. */
  readonly places: readonly number[];
  readonly first: number;
  /** The smallest drop of two buckets, and of the most, that shows; above 1 or NaN: not even a stop. */
  readonly least: number;
  readonly leastLong: number;
  /** That of the most which may show. */
  readonly leastLikely: number;
}

/** The buckets that are judged: from and up to; those after them may still get rows. */
interface JudgedBuckets {
  readonly from: number;
  readonly to: number;
  /** How many buckets are learned from. */
  readonly learned: number;
}

/**
 * Alarms on drops of a flow, at a stated rate of false alarms.
 *
 * Each bucket is judged by buckets before it only. What is expected is the middle of the same hour of
 * past weeks at the level of the last days; an alarm is raised where the newest 1 to 24 buckets come
 * further below that than this series has come before at the stated rate (peaks over threshold; Siffer
 * et al. 2017). The first four weeks are learned from, of a group those after its first row. Of several
 * groups each is a series of its own, with an equal part of the rate. A slow fall over weeks becomes
 * usual and raises none: `compare` two weeks.
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
  /** The buckets that were judged, none where that can't be. */
  readonly judged: readonly RangeBucket[];
  readonly alarms: readonly Alarm[];
  /** Each series: its share of all rows, and the smallest drop of the most buckets that shows. */
  readonly seen: readonly Readonly<Record<"share" | "least" | "likely", number>>[];
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
  const flows = await readFlows(counts, ACTION);
  const { series, buckets } = flows;
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const below = known.find((value) => value < 0);
  if (below !== undefined) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${flows.measure.name}: it holds ${below}. Only numbers from 0 up have a flow; ask for another measure.`,
    );
  }
  const season = seasonOf(usualLength(flows.time.every));
  const span = spanOf(flows, season, options);
  const why = whyUnjudged(flows, season, span);
  if (season === undefined || why !== undefined) {
    const head = `Can't tell whether ${lowered(flows.measure.label)} dropped`;
    const telling = tell(head, why ?? "", []);
    const finding = findingOf(flows, [], [], span, telling);
    return { finding, judged: [], alarms: [], seen: [], newest: "", end: "" };
  }
  const rate = options.falseAlarms ?? 1;
  const isPart = series.length > 1;
  const model = { rate: rate / series.length, counts: known.every(Number.isInteger), isPart };
  const clock = placesOf(flows);
  const judged = series.map((each) => watchSeries(flows, each, clock, season, span, model));
  const alarms = judged
    .flatMap((each) => alarmsOf(flows, each, span))
    .sort((a, b) => b.expected - b.observed - (a.expected - a.observed));
  const telling = tellingOf(flows, alarms, judged, span, season, rate);
  const [most] = alarms;
  const isFollowed = most !== undefined && most.end.change !== null && most.kind !== "silence";
  const label = isFollowed ? lowered(labelOf(flows, most.series)) : "";
  const totals = series.map(({ values }) =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
  );
  const all = totals.reduce((a, b) => a + b, 0);
  return {
    finding: findingOf(flows, alarms, judged, span, telling),
    alarms,
    judged: buckets.slice(span.from, span.to),
    seen: judged.map(({ leastLong: least, leastLikely: likely }, at) => {
      return { share: totals[at]! / all, least, likely };
    }),
    newest: newestText(flows, span),
    end: isFollowed ? endText(label, most.end, flows.time.every).join(": ") : "",
  };
}

/** Of each bucket, its place on the clock of the zone. */
function placesOf({ buckets, range, time }: Flows): number[] {
  const local = buckets.map(({ start }) => +start + offsetAt(+start, range.timeZone));
  return local.map((ms) => Math.round((ms - local[0]!) / usualLength(time.every)));
}

/** Reads a series on the clock of its zone, up to the last bucket that can be judged. */
function watchSeries(
  flows: Flows,
  series: FlowSeries,
  places: readonly number[],
  season: Season,
  span: JudgedBuckets,
  model: Omit<Model, "gap">,
): WatchedSeries {
  const began = firstRow(series);
  // An hour that the clock skips is as the one before, one that it repeats counts once.
  const values: (number | null)[] = [];
  for (const [at, value] of series.values.slice(0, span.to).entries()) {
    if (places[at]! > values.length) values.push(values.at(-1)!);
    const isUnknown = at < began || (at === 0 && !flows.buckets[0]!.complete);
    values[places[at]!] = isUnknown ? null : value;
  }
  const gap = Math.max(1, Math.round(TOGETHER_MS / usualLength(flows.time.every)));
  const watch = new Watch(values, season, { ...model, gap });
  const first = began + span.learned;
  const from = Math.max(span.from, first, span.to - SAID);
  const said = places.slice(from, span.to);
  const leastOf = (buckets: number, isTogether?: boolean) =>
    median(said.map((at) => watch.least(at, buckets, isTogether)));
  const [most, known] = [WINDOWS.at(-1)!, { series, watch, places, first, least: leastOf(2) }];
  return { ...known, leastLong: leastOf(most), leastLikely: leastOf(most, true) };
}

/** The first bucket with a row; the number of buckets where there is none. */
function firstRow({ values }: FlowSeries): number {
  const at = values.findIndex((value) => (value ?? 0) > 0);
  return at < 0 ? values.length : at;
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
): JudgedBuckets {
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
  { from, to, learned }: JudgedBuckets,
): string | undefined {
  const noun = bucketNoun(time.every, true);
  if (season === undefined) {
    return `no whole number of ${noun} makes a week: ask with every: "hour" or "day".`;
  }
  const first = series.reduce((least, one) => Math.min(least, firstRow(one)), to);
  const rows = Math.max(0, to - first);
  if (from < to && rows > learned) return undefined;
  return rows <= learned
    ? `The first ${grouped(learned)} ${noun} with rows are learned from and the answer has ${grouped(rows)} complete ones: ask for a longer range.`
    : `None of the ${grouped(buckets.length)} ${noun} from since on (number ${grouped(from + 1)}) is complete, stored and after those that are learned from.`;
}

/** The alarms of a series that end within what is judged, or go on. */
function alarmsOf(
  flows: Flows,
  judged: WatchedSeries,
  { from: start, to: end }: JudgedBuckets,
): Alarm[] {
  const { series, watch, places } = judged;
  const isEmpty = (from: number, to: number) =>
    flows.series.every(({ values }) => values.slice(from, to).every((value) => !value));
  return watch.drops.flatMap((drop): Alarm[] => {
    const from = places.findIndex((place) => place >= drop.from);
    const to = places.findLastIndex((place) => place < drop.to) + 1;
    if (from < judged.first || (to <= start && drop.end.state !== "below")) return [];
    const known = series.values.slice(from, to).filter((value) => value !== null).length;
    const per = flows.measure.additive ? 1 : Math.max(1, known);
    const [observed, expected] = [drop.observed / per, drop.expected / per];
    const none = isEmpty(to, end) ? "silence" : "gap";
    const kind = observed > 0 ? "drop" : isEmpty(from, to) ? none : "stop";
    const when = { t: flows.buckets[from]!.start, until: flows.buckets[to - 1]!.end };
    const { end: after, lows } = drop;
    return [{ ...when, kind, series, from, to, observed, expected, lows, end: after }];
  });
}

function tellingOf(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly WatchedSeries[],
  { from, to, learned }: JudgedBuckets,
  season: Season,
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
    const where = first.from < from ? `It began before ${span}` : `${which}${groups} in ${span}`;
    const [head, evidence] = alarmText(flows, first);
    return tell(head!, evidence!, [`${where}; ${stated}`, late]);
  }
  const cant = `Can't tell whether ${label} dropped`;
  const known = judged.filter(({ leastLong }) => !Number.isNaN(leastLong));
  const seeing = known.filter(({ leastLong }) => leastLong <= 1);
  const blind = known.length - seeing.length;
  const hours = `${grouped(to - from)} ${noun}, ${span}`;
  if (known.length === 0) return tell(`${cant}${groups}`, late, []);
  if (seeing.length === 0) {
    const few = `Values are so few or so scattered that even a complete stop could be chance: ask with a coarser every`;
    return tell(`${cant}${groups}`, few, [`${hours}, were looked at`, late]);
  }
  const where = series.length === 1 ? "" : ` in ${grouped(seeing.length)} of the groups`;
  const unseen = blind === 0 ? "" : `, in the other ${grouped(blind)} not even a stop`;
  return tell(
    `No sudden drop of ${label}${groups}`,
    `${seenText(seeing, season, time.every)} would have been noticed${where}${unseen}`,
    [`${hours}, were judged; ${stated}`, SLOW, late],
  );
}

/** "a drop of 23 %". */
export function dropText(least: number, more = ""): string {
  const share = percent(least);
  return share === "100 %" ? "a complete stop" : `a drop of ${share}${more}`;
}

/** Which drops of two buckets, and of the most that are judged together, show. */
function seenText(seeing: readonly WatchedSeries[], { day }: Season, every: Bucket): string {
  const most = WINDOWS.findLast((length) => length <= Math.max(2, day))!;
  const two = median(seeing.map(({ least }) => least));
  const long = median(seeing.map(({ leastLong }) => leastLong));
  const noun = bucketNoun(every, true);
  const short = two <= 1 ? `${dropText(two, " or more")} over two ${noun}` : "";
  const other = `${dropText(long, " or more")} over ${grouped(most)} ${noun}`;
  return upper([short, most > 2 && long < two ? other : ""].filter(Boolean).join(", or "));
}

const upper = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

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

function newestText({ buckets, time }: Flows, { to }: JudgedBuckets): string {
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
  { state, change, buckets, chance }: Recovery,
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
        `${latest} against what was expected before it (up to ${percent(chance)} either way is usual)`,
      ];
    case "unsure":
      return [`It is not clear yet whether the drop${when} is over`, latest];
  }
}

function findingOf(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly WatchedSeries[],
  span: JudgedBuckets,
  telling: Telling,
): AnomaliesFinding {
  const { result, buckets, measure, time } = flows;
  const { columns } = result.origin;
  const groups = columns.dimensions.map(({ name }) => name);
  const { unit, additive } = measure;
  const like = (name: string, label: string) =>
    ({ name, label, unit, additive, missing: "gap" }) as const;
  const change = { ...like("change", "Change"), unit: "share", additive: false };
  const rows = alarms.map(({ t, until, kind, series, observed, expected }) => {
    const found = { t, until, kind, ...series.group, observed, expected };
    return { ...found, change: observed / expected - 1 };
  });
  const ofBuckets = flows.series.flatMap(({ group, values }, place) => {
    const { watch, places, first = Infinity } = judged[place] ?? {};
    const own = alarms.filter(({ series }) => series === flows.series[place]);
    return buckets.map(({ start }, at) => {
      const alarm = own.find(({ from, to }) => from <= at && at < to);
      const known = values[at] === null ? "unknown" : (alarm?.kind ?? "usual");
      const state = at < first ? "learning" : at >= span.to ? "incomplete" : known;
      const bucket = { ...group, [time.name]: start, [measure.name]: values[at] ?? null, state };
      if (state === "learning") return bucket;
      const { expected, limit } = watch!.bucket(places![at]!);
      return { ...bucket, expected, limit };
    });
  });
  const kinds = [...new Set(alarms.map(({ kind }) => kind))];
  const names = ["t", "until", "kind", ...groups, "observed", "expected", "change"];
  const bucketNames = [time.name, ...groups, measure.name, "expected", "limit", "state"];
  const seeing = judged.map(({ least }) => least).filter((least) => least <= 1);
  return {
    kind: "anomalies",
    ...telling,
    found: alarms.length > 0,
    moved: alarms.slice(0, 1).map((alarm) => alarmMoved(flows, alarm)),
    least: 2 * seeing.length < judged.length || seeing.length === 0 ? null : median(seeing),
    result: resultOfRows(
      rows,
      {
        ...result.origin,
        columns: {
          dimensions: [{ name: "kind", order: kinds }, ...columns.dimensions],
          measures: [like("observed", measure.label), like("expected", "Expected"), change],
          kinds: { t: "time", until: "time" },
        },
      },
      names,
    ),
    buckets: resultOfRows(
      ofBuckets,
      {
        ...result.origin,
        columns: {
          ...columns,
          measures: [measure, like("expected", "Expected"), like("limit", "Alarm limit")],
          kinds: { state: "text" },
        },
      },
      bucketNames,
    ),
  };
}
