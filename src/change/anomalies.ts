import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import { type MeasureColumn, type Origin } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { readInstant } from "../time/instant.js";
import { bucketNoun, usualLength } from "../time/step.js";
import { between, formatRange, last } from "../time/time-range.js";
import { declines, type Decline } from "./decline.js";
import { ALONE, Flow, thresholds, type Season } from "./expected.js";
import type { Finding } from "./finding.js";
import { amountText, learning, readFlows, type Flows, type FlowSeries } from "./flows.js";
import { number, percent } from "./words.js";
import { median } from "../base/statistics.js";

/** What `anomalies` takes besides. */
export interface AnomaliesOptions {
  /** How many false alarms four weeks may have, in the whole answer; default 1. */
  readonly falseAlarms?: number;
  /** From when on is judged: a Date, a time, or a span such as `"24 hours"` before the range's end. Default: all that isn't learnt from. */
  readonly since?: Date | string;
  /** How long after its measurement a row may be stored, such as `"2 hours"` (`lab.anomalies` finds it out): buckets that ended later than that before the question aren't judged. Default: none. */
  readonly lag?: string;
  /** Name of the measure; default: the one that charts draw. */
  readonly measure?: string;
}

/** What `anomalies` answers: `result` has a row for each alarm, the most that is missing first. */
export interface AnomaliesFinding extends Finding {
  /**
   * The series behind the alarms: `t`, the dimensions, the measure, `expected`, `limit` (a single
   * bucket below it is an alarm) and `state`: learning, usual, drop, stop, gap, silence, late,
   * incomplete, unknown.
   */
  readonly buckets: Result;
  /**
   * The smallest drop, as a share, that two buckets in a row tell in 99 of 100 cases, of what was
   * judged (of several groups, the middle one of those that can); null where they don't tell a
   * complete stop.
   */
  readonly least: number | null;
}

type Kind = "drop" | "stop" | "gap" | "silence" | "decline";

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

/** So far apart alarmed buckets are one alarm. */
const TOGETHER_MS = 3 * 3_600_000;
/** The part of the stated rate that goes to slow declines. */
const TO_DECLINES = 0.1;

/**
 * Alarms on drops of a flow and on its slow decline over weeks, at a stated rate of false alarms.
 *
 * Each bucket is judged by buckets before it only. What is expected follows the hour of the week
 * (the middle of past weeks) and the latest buckets; an alarm is raised where a bucket, or two in a
 * row, come further below that than this series has come before at the stated rate: the threshold
 * is the series' own (peaks over threshold; Siffer et al. 2017). The first four weeks are learnt
 * from, of a group those after its first row. A tenth of the rate goes to declines: the level of five to eight weeks, tested at each end
 * of a week. Of several groups each is a series of its own, with an equal part of the rate.
 *
 * An alarm is a `drop`; a `stop`, where a group has no row at all while others go on; a `gap`,
 * where no group has a row and rows come again; `silence`, where none comes until the end; or a
 * `decline`. Incomplete buckets, and those for which rows may still come (`lag`), aren't judged.
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
  const action = "find anomalies";
  checkOptions(options, { ...RULES }, action);
  const flows = await readFlows(counts, options.measure, action);
  const { season, series } = flows;
  const below = series.flatMap(({ values }) => values).find((value) => (value ?? 0) < 0);
  if (below !== undefined) {
    throw new ProbelabError(
      `Can't ${action} in ${flows.measure.name}: it holds ${String(below)}. Only numbers from 0 up have a flow; name another measure.`,
    );
  }
  const rate = options.falseAlarms ?? 1;
  const end = judgedEnd(flows, options.lag);
  const from = Math.max(flows.season ? learning(flows.season) : 0, firstOf(flows, options.since));
  if (season === undefined || from >= end.at || series.length === 0) {
    return finding(flows, options, [], [], { verdict: cantTell(flows, end.at, from), least: null });
  }
  const gap = Math.max(1, Math.round(TOGETHER_MS / usualLength(flows.time.every)));
  const watched = series.map(({ values }, at) => {
    const first =
      flows.buckets[0]?.complete === false ? [null, ...values.slice(1, end.at)] : values;
    const began = beginning(flows, series[at]!);
    const seen = watchFlow(first.slice(began, end.at), season, {
      ...flows,
      rate: rate / series.length,
      gap,
    });
    return later(seen, began);
  });
  const alarms = series.flatMap((flow, at) =>
    alarmsOf(flows, flow, watched[at]!, { from, gap, end: end.at }),
  );
  alarms.sort((a, b) => b.expected - b.observed - (a.expected - a.observed));
  const leasts = watched.map(({ least }, at) =>
    median(least.slice(Math.max(from, beginning(flows, series[at]!) + learning(season)))),
  );
  const verdict = sentence(flows, alarms, { rate, from, end, leasts });
  const least = median(leasts.filter((each) => each <= 1));
  return finding(flows, options, alarms, watched, {
    verdict,
    least: Number.isNaN(least) ? null : least,
    rest: end.state,
  });
}

/** What is known of each bucket of a series, each from buckets before it only. */
export interface Watched {
  /** Expected by past weeks, and with the latest buckets followed. */
  readonly usual: number[];
  readonly next: number[];
  /** Below it a single bucket is an alarm. */
  readonly limit: number[];
  /** The smallest drop, as a share, that this bucket and the one before tell in 99 of 100 cases; above 1: none. */
  readonly least: number[];
  readonly alarmed: boolean[];
  readonly declines: Decline[];
}

/**
 * Reads a series forward: the numeric part of `anomalies`. Buckets that are learnt from are never alarmed.
 *
 * @param values null where nothing is known.
 * @param options `rate`: false alarms in four weeks; `gap`: alarmed buckets at most that many apart
 *   are one alarm; `counts` and `floor` as for {@link Flow}.
 */
export function watchFlow(
  values: readonly (number | null)[],
  season: Season,
  options: { rate: number; gap: number; counts: boolean; floor: number },
): Watched {
  const flow = new Flow(season, options.floor, options.counts);
  const expectations = values.map((value) => flow.next(value));
  const drops = (options.rate * (1 - TO_DECLINES)) / (4 * season.week);
  const scores = expectations.map(({ score }) => score);
  const limits = thresholds(scores, season, drops, options.gap);
  const learnt = learning(season);
  const logs = values.map((value) => (value === null ? NaN : Math.log(value + options.floor)));
  return {
    usual: expectations.map(({ usual }) => flow.value(usual)),
    next: expectations.map(({ next }) => flow.value(next)),
    limit: expectations.map(({ next, spread }, at) =>
      flow.value(next - (limits[at]! + ALONE) * spread),
    ),
    least: expectations.map(({ next, spread }, at) =>
      leastDrop(flow.value(next), spread, limits[at]!, options.floor),
    ),
    alarmed: scores.map((score, at) => at >= learnt && score !== null && score > limits[at]!),
    declines: declines(logs, season, (options.rate * TO_DECLINES) / 4),
  };
}

/**
 * The first bucket with a row of a group: hours before it aren't hours without measurements, from
 * which a group that began lately would seem to stop at its first quiet hour. 0 of the whole.
 */
function beginning({ series }: Flows, { values }: FlowSeries): number {
  return series.length === 1
    ? 0
    : Math.max(
        0,
        values.findIndex((value) => (value ?? 0) > 0),
      );
}

/** What was read of a series from its bucket `began` on, at the places of all buckets. */
function later(seen: Watched, began: number): Watched {
  const unknown = new Array<number>(began).fill(NaN);
  return {
    usual: [...unknown, ...seen.usual],
    next: [...unknown, ...seen.next],
    limit: [...unknown, ...seen.limit],
    least: [...unknown, ...seen.least],
    alarmed: [...new Array<boolean>(began).fill(false), ...seen.alarmed],
    declines: seen.declines.map((each) => ({
      ...each,
      from: each.from + began,
      to: each.to + began,
    })),
  };
}

/**
 * The smallest drop of two buckets whose score is above the limit in 99 of 100 cases: 2.33 spreads
 * beyond it, where what is left scatters as counts do, more the fewer there are. 2 if there is none.
 */
function leastDrop(expected: number, spread: number, limit: number, floor: number): number {
  for (let drop = 0.01; drop < 1.005; drop += 0.01) {
    const left = expected * Math.max(0, 1 - drop);
    const below = (Math.SQRT2 * Math.log((expected + floor) / (left + floor))) / spread;
    const scatter = Math.sqrt((expected + floor) / (left + floor));
    if (below - limit >= 2.33 * (drop < 0.995 ? scatter : 0)) return Math.min(1, drop);
  }
  return 2;
}

/** One alarm. */
interface Alarm {
  readonly kind: Kind;
  readonly series: FlowSeries;
  /** The first bucket and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly observed: number;
  readonly expected: number;
}

function alarmsOf(
  flows: Flows,
  series: FlowSeries,
  watched: Watched,
  { from, gap, end }: { from: number; gap: number; end: number },
): Alarm[] {
  const events: { from: number; to: number }[] = [];
  for (let at = from; at < end; at++) {
    if (!watched.alarmed[at]) continue;
    const open = events.at(-1);
    if (open !== undefined && at - open.to < gap) open.to = at + 1;
    else events.push({ from: at, to: at + 1 });
  }
  for (const event of events) {
    // The hour after a drop is alarmed with the one before it, though it is nearer to what was
    // expected of it than to the loss.
    const lost = (to: number) => {
      const [came, due] = [series.values, watched.usual].map((values) =>
        values.slice(event.from, to).reduce<number>((sum, value) => sum + (value ?? 0), 0),
      );
      return came! / due!;
    };
    while (event.to - event.from > 1) {
      const [last, due] = [series.values[event.to - 1] ?? 0, watched.usual[event.to - 1]!];
      if (last / due <= (1 + lost(event.to - 1)) / 2) break;
      event.to--;
    }
  }
  const mean = (values: readonly (number | null)[], event: { from: number; to: number }) => {
    const known = values.slice(event.from, event.to).filter((value) => value !== null);
    const sum = known.reduce((all, value) => all + value, 0);
    return flows.measure.additive ? sum : sum / Math.max(1, known.length);
  };
  const drops = events.map((event): Alarm => {
    const kind = kindOf(flows, series, event, end);
    const expected = Math.max(mean(watched.usual, event), mean(watched.next, event));
    return { ...event, kind, series, observed: mean(series.values, event), expected };
  });
  const slow = watched.declines
    .filter(({ to }) => to > from)
    .map(({ from, to, fall }): Alarm => {
      const observed = mean(series.values, { from: to - flows.season!.week, to });
      return { kind: "decline", series, from, to, observed, expected: observed / (1 - fall) };
    });
  return [...drops, ...slow];
}

/** Tells a drop from a group that stopped, from buckets without any row, and from silence. */
function kindOf(
  flows: Flows,
  { values }: FlowSeries,
  { from, to }: { from: number; to: number },
  end: number,
): Kind {
  const none = (at: number) => flows.series.every((each) => (each.values[at] ?? 0) === 0);
  const places = Array.from({ length: to - from }, (_, k) => from + k);
  if (!places.every((at) => (values[at] ?? 0) === 0)) return "drop";
  if (!places.every(none)) return "stop";
  for (let at = to; at < end; at++) if (!none(at)) return "gap";
  return "silence";
}

/** The bucket after the last that is judged, and why those after it aren't. */
function judgedEnd(
  { buckets, result }: Flows,
  lag = "0 seconds",
): { at: number; state: "late" | "incomplete" } {
  const askedAt = result.origin.askedAt;
  const known = lag === "0 seconds" ? askedAt : last(lag, { now: askedAt }).start;
  let at = buckets.length;
  while (at > 0 && !(buckets[at - 1]!.complete && buckets[at - 1]!.end <= askedAt)) at--;
  const whole = at;
  while (at > 0 && buckets[at - 1]!.end > known) at--;
  return { at, state: at < whole ? "late" : "incomplete" };
}

function firstOf({ buckets, range }: Flows, since: AnomaliesOptions["since"]): number {
  if (since === undefined) return 0;
  const isSpan = typeof since === "string" && !/^\d{4}-/.test(since);
  const from = isSpan
    ? last(since, { now: range.end, timeZone: range.timeZone }).start
    : readInstant(since, range.timeZone, "since of anomalies");
  const at = buckets.findIndex(({ end }) => end > from);
  return at < 0 ? buckets.length : at;
}

function cantTell({ measure, season, time, series, buckets }: Flows, end: number, from: number) {
  const whether = `Can't tell whether ${measure.label} dropped, because`;
  if (season === undefined) {
    return `${whether} no whole number of ${bucketNoun(time.every, true)} makes a week: ask with every: "hour" or "day".`;
  }
  if (series.length === 0)
    return `${whether} the answer has no row: nothing can be learnt from it.`;
  const needed = learning(season);
  if (end <= needed) {
    return `${whether} the first ${number(needed)} ${bucketNoun(time.every, true)} are learnt from and the answer has ${number(end)} complete ones: ask for a longer range.`;
  }
  return `${whether} none of the ${number(buckets.length)} ${bucketNoun(time.every, true)} from since on (number ${number(from + 1)}) is complete, stored and after those that are learnt from.`;
}

function sentence(
  flows: Flows,
  alarms: readonly Alarm[],
  {
    rate,
    from,
    end,
    leasts,
  }: {
    rate: number;
    from: number;
    end: ReturnType<typeof judgedEnd>;
    leasts: readonly number[];
  },
): string {
  const { measure, series, buckets, time, range } = flows;
  const judged = end.at - from;
  const span = formatRange(
    between(buckets[from]!.start, buckets[end.at - 1]!.end, { timeZone: range.timeZone }),
  );
  const groups = series.length === 1 ? "" : ` in ${number(series.length)} groups`;
  const stated = `about ${rate} false ${rate === 1 ? "alarm" : "alarms"} in 4 weeks ${rate === 1 ? "is" : "are"} accepted`;
  const left =
    end.at === buckets.length
      ? ""
      : ` The last ${bucketNoun(time.every, true)} (${number(buckets.length - end.at)}) ${end.state === "late" ? "may still get rows" : "are incomplete"} and aren't judged.`;
  const learnt = learning(flows.season!);
  const young = series.filter((each) => beginning(flows, each) + learnt > from).length;
  const learned =
    young === 0
      ? ""
      : ` ${counted(young, "group")} began so late that the first ${number(learnt)} ${bucketNoun(time.every, true)} of ${young === 1 ? "it" : "each"} are learnt from and aren't judged.`;
  const flat = series.every(({ values }) => values.every((value) => !value));
  if (flat) return `Can't tell whether ${measure.label} dropped, because all values are 0.`;
  const [first] = alarms;
  if (first === undefined) {
    const noun = bucketNoun(time.every, true);
    const none = leasts.filter((least) => least > 1).length;
    const judgedGroups = leasts.filter((least) => !Number.isNaN(least)).length;
    if (judgedGroups === 0) {
      return `Can't tell whether ${measure.label} dropped${groups}.${learned}${left}`;
    }
    if (none === judgedGroups) {
      return `Can't tell whether ${measure.label} dropped for two ${noun}${groups}, because so few or such scattered values don't tell even a complete stop from chance; nothing longer was seen in ${number(judged)} ${noun}, ${span}: ask with a coarser every.${learned}${left}`;
    }
    const least = median(leasts.filter((each) => each <= 1));
    const smaller = `A drop of ${percent(least)} or more over two ${noun} would have been noticed${series.length === 1 ? "" : " in the usual group"}`;
    const blind = none === 0 ? "" : `, in ${number(none)} of the groups not even a stop`;
    return `No drop of ${measure.label}${groups} in ${number(judged)} ${noun}, ${span}. ${smaller}${blind}; ${stated}.${learned}${left}`;
  }
  const others =
    alarms.length === 1 ? "the only alarm" : `the largest of ${number(alarms.length)} alarms`;
  return `${alarmText(flows, first)}, ${others}${groups} in ${span}; ${stated}.${learned}${left}`;
}

function alarmText(flows: Flows, { kind, series, from, to, observed, expected }: Alarm): string {
  const { measure, buckets, range, season } = flows;
  const when = formatRange(
    between(buckets[from]!.start, buckets[to - 1]!.end, { timeZone: range.timeZone }),
  );
  const of = series.name === "" ? measure.label : `${measure.label} of ${series.name}`;
  const [was, due] = [amountText(observed, measure), amountText(expected, measure)];
  const by = percent(observed / expected - 1);
  switch (kind) {
    case "drop":
      return `${of} dropped to ${was} instead of about ${due} (${by}), ${when}`;
    case "stop":
      return `${of} stopped while other groups went on (0 instead of about ${due}), ${when}`;
    case "gap":
      return `A gap: not a single row of any group instead of about ${due}, ${when}, and rows again after it, so either nothing was measured or what was measured is not stored`;
    case "silence":
      return `Silence: no row of any group since ${when.split(" to ")[0]} (about ${due} expected): the flow has stopped, or rows are not stored yet`;
    case "decline":
      return `${of} declined slowly to ${was} in the last ${season!.week === 1 ? "bucket" : "week"} (${by} over the weeks ${when})`;
  }
}

function finding(
  flows: Flows,
  options: AnomaliesOptions,
  alarms: readonly Alarm[],
  watched: readonly Watched[],
  {
    verdict,
    least,
    rest = "incomplete",
  }: { verdict: string; least: number | null; rest?: "late" | "incomplete" },
): AnomaliesFinding {
  const { result, buckets, measure } = flows;
  const dimensions = result.origin.columns.dimensions;
  const groups = (of: readonly FlowSeries[]): [string, unknown][] =>
    dimensions.map(({ name }, at) => [name, of.map(({ group }) => group[at])]);
  const like = (name: string, label: string): MeasureColumn => {
    const { unit, additive, missing } = measure;
    return { name, label, unit, additive, missing };
  };
  const notes = result.origin.notes;
  const table = newTable(result.table, [
    ["t", alarms.map(({ from }) => buckets[from]!.start)],
    ["until", alarms.map(({ to }) => buckets[to - 1]!.end)],
    ["kind", alarms.map(({ kind }) => kind)],
    ...groups(alarms.map((each) => each.series)),
    ["observed", alarms.map(({ observed }) => observed)],
    ["expected", alarms.map(({ expected }) => expected)],
    ["change", alarms.map(({ observed, expected }) => observed / expected - 1)],
  ]);
  const kinds = { t: "time", until: "time" } as const;
  const change = { name: "change", label: "Change", unit: "share", additive: false } as const;
  const columns: Origin["columns"] = {
    dimensions: [
      { name: "kind", order: [...new Set(alarms.map(({ kind }) => kind))] },
      ...dimensions,
    ],
    measures: [
      like("observed", measure.label),
      like("expected", "Expected"),
      { ...change, missing: "gap" },
    ],
    kinds,
  };
  return {
    kind: "anomalies",
    sentence: verdict,
    found: alarms.length > 0,
    least,
    result: result.with(table, { columns, reductions: result.origin.reductions, notes }),
    buckets: bucketTable(flows, alarms, watched, rest, like),
  };
}

function bucketTable(
  flows: Flows,
  alarms: readonly Alarm[],
  watched: readonly Watched[],
  rest: "late" | "incomplete",
  like: (name: string, label: string) => MeasureColumn,
): Result {
  const { result, buckets, series, measure, time, season } = flows;
  const rows = series.flatMap((flow, place) =>
    buckets.map((bucket, at) => ({ flow, bucket, at, expectation: watched[place] })),
  );
  const learnt = season ? learning(season) : Infinity;
  const firstJudged = new Map(series.map((flow) => [flow, beginning(flows, flow) + learnt]));
  const inAlarm = new Map<FlowSeries, Map<number, Kind>>();
  for (const { kind, series: flow, from, to } of alarms) {
    if (kind === "decline") continue;
    const places = inAlarm.get(flow) ?? new Map<number, Kind>();
    for (let at = from; at < to; at++) places.set(at, kind);
    inAlarm.set(flow, places);
  }
  const state = ({ flow, bucket, at, expectation }: (typeof rows)[number]): string => {
    if (expectation === undefined || at < firstJudged.get(flow)!) return "learning";
    if (at >= expectation.usual.length) return bucket.complete ? rest : "incomplete";
    if (flow.values[at] === null) return "unknown";
    return inAlarm.get(flow)?.get(at) ?? "usual";
  };
  const { dimensions } = result.origin.columns;
  const judged = (values: (expectation: Watched) => number[]) =>
    rows.map(({ flow, at, expectation }) =>
      expectation === undefined || at < firstJudged.get(flow)!
        ? null
        : (values(expectation)[at] ?? null),
    );
  const table = newTable(result.table, [
    [time.name, rows.map(({ bucket }) => bucket.start)],
    ...dimensions.map(({ name }, k): [string, unknown] => [
      name,
      rows.map(({ flow }) => flow.group[k]),
    ]),
    [measure.name, rows.map(({ flow, at }) => flow.values[at])],
    ["expected", judged(({ next }) => next)],
    ["limit", judged(({ limit }) => limit)],
    ["state", rows.map(state)],
  ]);
  const columns = {
    ...result.origin.columns,
    measures: [
      measure,
      { ...like("expected", "Expected"), missing: "gap" as const },
      { ...like("limit", "Alarm below"), missing: "gap" as const },
    ],
    kinds: { state: "text" as const },
  };
  return result.with<Record<string, Value>>(table, {
    columns,
    reductions: result.origin.reductions,
  });
}
