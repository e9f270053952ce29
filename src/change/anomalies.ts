import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { median } from "../base/statistics.js";
import { counted } from "../base/text.js";
import { newTable } from "../result/arquero-table.js";
import type { MeasureColumn, ResultColumns } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { readInstant } from "../time/instant.js";
import { bucketNoun, usualLength } from "../time/step.js";
import { between, formatRange, last } from "../time/time-range.js";
import type { Finding } from "./finding.js";
import { amountText, readFlows, type Flows, type FlowSeries } from "./flows.js";
import { learning, watchFlow, type Watched } from "./forecast.js";
import { number, percent } from "./words.js";

/** What `anomalies` takes besides. */
export interface AnomaliesOptions {
  /** How many false alarms four weeks may have, in the whole answer; default 1. */
  readonly falseAlarms?: number;
  /** From when on is judged: a Date, a time, or a span such as `"24 hours"` before the range's end. Default: all that isn't learned from. */
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

/** A series with what was read of it, and the first bucket that is judged. */
interface Judged {
  readonly series: FlowSeries;
  readonly watched: Watched;
  readonly first: number;
}

/**
 * Alarms on drops of a flow, at a stated rate of false alarms.
 *
 * Each bucket is judged by buckets before it only. What is expected follows the hour of the week
 * (the middle of past weeks) and the latest buckets; an alarm is raised where a bucket, or two in a
 * row, come further below that than this series has come before at the stated rate: the threshold
 * is the series' own (peaks over threshold; Siffer et al. 2017). The first four weeks are learned
 * from, of a group those after its first row. Of several groups each is a series of its own, with an
 * equal part of the rate. A slow fall over weeks becomes usual: `changePoints` tells it.
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
  checkOptions(options, { ...RULES }, ACTION);
  const flows = await readFlows(counts, options.measure, ACTION);
  const { season, series, buckets } = flows;
  const below = series.flatMap(({ values }) => values).find((value) => (value ?? 0) < 0);
  if (below !== undefined) {
    throw new ProbelabError(
      `Can't ${ACTION} in ${flows.measure.name}: it holds ${String(below)}. Only numbers from 0 up have a flow; name another measure.`,
    );
  }
  const rate = options.falseAlarms ?? 1;
  const end = judgedEnd(flows, options.lag);
  const from = Math.max(season ? learning(season) : 0, firstOf(flows, options.since));
  if (season === undefined || from >= end.at || series.length === 0) {
    return finding(flows, [], [], end, { sentence: cantTell(flows, end.at, from), least: null });
  }
  const gap = Math.max(1, Math.round(TOGETHER_MS / usualLength(flows.time.every)));
  const judged = series.map((each): Judged => {
    // Hours before a group's first row aren't hours without measurements; of the whole they are.
    const began = series.length === 1 ? 0 : each.values.findIndex((value) => (value ?? 0) > 0);
    const isUnknown = (at: number) => at < began || (at === 0 && !buckets[0]!.complete);
    const values = each.values.slice(0, end.at).map((value, at) => (isUnknown(at) ? null : value));
    const watched = watchFlow(values, season, { ...flows, rate: rate / series.length, gap });
    return { series: each, watched, first: Math.max(0, began) + learning(season) };
  });
  const alarms = judged.flatMap((each) => alarmsOf(flows, each, { from, gap, end: end.at }));
  alarms.sort((a, b) => b.expected - b.observed - (a.expected - a.observed));
  const leasts = judged.map(({ watched, first }) =>
    median(watched.least.slice(Math.max(from, first))),
  );
  const least = median(leasts.filter((each) => each <= 1));
  return finding(flows, alarms, judged, end, {
    sentence: sentence(flows, alarms, judged, { rate, from, end, leasts }),
    least: Number.isNaN(least) ? null : least,
  });
}

/** The bucket after the last that is judged, and why those after it aren't. */
interface End {
  readonly at: number;
  readonly state: "late" | "incomplete";
}

function judgedEnd({ buckets, result }: Flows, lag = "0 seconds"): End {
  const { askedAt } = result.origin;
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

function alarmsOf(
  flows: Flows,
  { series, watched, first }: Judged,
  { from, gap, end }: { from: number; gap: number; end: number },
): Alarm[] {
  const { values } = series;
  const events: { from: number; to: number }[] = [];
  for (let at = Math.max(from, first); at < end; at++) {
    if (!watched.alarmed[at]) continue;
    const open = events.at(-1);
    if (open !== undefined && at - open.to < gap) open.to = at + 1;
    else events.push({ from: at, to: at + 1 });
  }
  const sum = (some: readonly (number | null)[], from: number, to: number) =>
    some.slice(from, to).reduce<number>((all, value) => all + (value ?? 0), 0);
  const none = (at: number) => flows.series.every((each) => (each.values[at] ?? 0) === 0);
  return events.map(({ from, to: until }): Alarm => {
    let to = until;
    // The hour after a drop is alarmed with the one before it, though it is nearer to what was
    // expected of it than to the loss.
    while (to - from > 1) {
      const lost = sum(values, from, to - 1) / sum(watched.usual, from, to - 1);
      if ((values[to - 1] ?? 0) / watched.usual[to - 1]! <= (1 + lost) / 2) break;
      to--;
    }
    const places = Array.from({ length: to - from }, (_, k) => from + k);
    const known = places.filter((at) => values[at] !== null).length;
    const per = flows.measure.additive ? 1 : Math.max(1, known);
    const [usual, next] = [watched.usual, watched.next].map((of) => sum(of, from, to) / per);
    const observed = sum(values, from, to) / per;
    const kind = !places.every((at) => (values[at] ?? 0) === 0)
      ? "drop"
      : !places.every(none)
        ? "stop"
        : Array.from({ length: end - to }, (_, k) => to + k).every(none)
          ? "silence"
          : "gap";
    return { kind, series, from, to, observed, expected: Math.max(usual!, next!) };
  });
}

function cantTell({ measure, season, time, series, buckets }: Flows, end: number, from: number) {
  const whether = `Can't tell whether ${measure.label} dropped, because`;
  const noun = bucketNoun(time.every, true);
  if (season === undefined) {
    return `${whether} no whole number of ${noun} makes a week: ask with every: "hour" or "day".`;
  }
  if (series.length === 0)
    return `${whether} the answer has no row: nothing can be learned from it.`;
  if (end <= learning(season)) {
    return `${whether} the first ${number(learning(season))} ${noun} are learned from and the answer has ${number(end)} complete ones: ask for a longer range.`;
  }
  return `${whether} none of the ${number(buckets.length)} ${noun} from since on (number ${number(from + 1)}) is complete, stored and after those that are learned from.`;
}

function sentence(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly Judged[],
  known: { rate: number; from: number; end: End; leasts: readonly number[] },
): string {
  const { measure, series, buckets } = flows;
  const { rate, from, end, leasts } = known;
  const noun = bucketNoun(flows.time.every, true);
  const span = spanText(flows, from, end.at);
  const groups = series.length === 1 ? "" : ` in ${number(series.length)} groups`;
  const stated = `about ${rate} false ${rate === 1 ? "alarm" : "alarms"} in 4 weeks ${rate === 1 ? "is" : "are"} accepted`;
  const young = judged.filter(({ first }) => first > from).length;
  const tail = [
    ...(young === 0
      ? []
      : [
          ` ${counted(young, "group")} began so late that the first ${number(learning(flows.season!))} ${noun} of ${young === 1 ? "it" : "each"} are learned from and aren't judged.`,
        ]),
    ...(end.at === buckets.length
      ? []
      : [
          ` The last ${noun} (${number(buckets.length - end.at)}) ${end.state === "late" ? "may still get rows" : "are incomplete"} and aren't judged.`,
        ]),
  ].join("");
  const whether = `Can't tell whether ${measure.label} dropped`;
  if (series.every(({ values }) => values.every((value) => !value))) {
    return `${whether}, because all values are 0.`;
  }
  const [first, ...others] = alarms;
  if (first !== undefined) {
    const which =
      others.length === 0 ? "the only alarm" : `the largest of ${number(alarms.length)} alarms`;
    return `${alarmText(flows, first)}, ${which}${groups} in ${span}; ${stated}.${tail}`;
  }
  const blind = leasts.filter((least) => least > 1).length;
  const seeing = leasts.filter((least) => least <= 1);
  const hours = `${number(end.at - from)} ${noun}, ${span}`;
  if (blind + seeing.length === 0) return `${whether}${groups}.${tail}`;
  if (seeing.length === 0) {
    return `${whether} for two ${noun}${groups}, because so few or such scattered values don't tell even a complete stop from chance; nothing longer was seen in ${hours}: ask with a coarser every.${tail}`;
  }
  const smaller = `A drop of ${percent(median(seeing))} or more over two ${noun} would have been noticed${series.length === 1 ? "" : " in the usual group"}`;
  const unseen = blind === 0 ? "" : `, in ${number(blind)} of the groups not even a stop`;
  return `No drop of ${measure.label}${groups} in ${hours}. ${smaller}${unseen}; ${stated}.${tail}`;
}

/** From one bucket to before another: "2026-05-01 to 2026-05-01 06:00 UTC". */
function spanText({ buckets, range: { timeZone } }: Flows, from: number, to: number): string {
  return formatRange(between(buckets[from]!.start, buckets[to - 1]!.end, { timeZone }));
}

function alarmText(flows: Flows, { kind, series, from, to, observed, expected }: Alarm): string {
  const { measure } = flows;
  const when = spanText(flows, from, to);
  const of = series.name === "" ? measure.label : `${measure.label} of ${series.name}`;
  const [came, due] = [amountText(observed, measure), amountText(expected, measure)];
  switch (kind) {
    case "drop":
      return `${of} dropped to ${came} instead of about ${due} (${percent(observed / expected - 1)}), ${when}`;
    case "stop":
      return `${of} stopped while other groups went on (0 instead of about ${due}), ${when}`;
    case "gap":
      return `A gap: not a single row of any group instead of about ${due}, ${when}, and rows again after it, so either nothing was measured or what was measured is not stored`;
    case "silence":
      return `Silence: no row of any group since ${when.split(" to ")[0]} (about ${due} expected): the flow has stopped, or rows are not stored yet`;
  }
}

function finding(
  flows: Flows,
  alarms: readonly Alarm[],
  judged: readonly Judged[],
  end: End,
  told: Pick<AnomaliesFinding, "sentence" | "least">,
): AnomaliesFinding {
  const { result, buckets, measure } = flows;
  const { dimensions } = result.origin.columns;
  const { reductions, notes } = result.origin;
  const table = newTable(result.table, [
    ["t", alarms.map(({ from }) => buckets[from]!.start)],
    ["until", alarms.map(({ to }) => buckets[to - 1]!.end)],
    ["kind", alarms.map(({ kind }) => kind)],
    ...dimensions.map(({ name }, k): [string, Value[]] => [
      name,
      alarms.map(({ series }) => series.group[k] ?? null),
    ]),
    ["observed", alarms.map(({ observed }) => observed)],
    ["expected", alarms.map(({ expected }) => expected)],
    ["change", alarms.map(({ observed, expected }) => observed / expected - 1)],
  ]);
  const columns: ResultColumns = {
    dimensions: [
      { name: "kind", order: [...new Set(alarms.map(({ kind }) => kind))] },
      ...dimensions,
    ],
    measures: [
      like(measure, "observed", measure.label),
      like(measure, "expected", "Expected"),
      { name: "change", label: "Change", unit: "share", additive: false, missing: "gap" },
    ],
    kinds: { t: "time", until: "time" },
  };
  return {
    ...told,
    kind: "anomalies",
    found: alarms.length > 0,
    result: result.with(table, { columns, reductions, notes }),
    buckets: bucketTable(flows, alarms, judged, end),
  };
}

function like({ unit, additive }: MeasureColumn, name: string, label: string): MeasureColumn {
  return { name, label, unit, additive, missing: "gap" };
}

function bucketTable(
  { result, buckets, series, measure, time }: Flows,
  alarms: readonly Alarm[],
  judged: readonly Judged[],
  end: End,
): Result {
  const rows = series.flatMap((flow, place) =>
    buckets.map((bucket, at) => {
      const { watched, first = Infinity } = judged[place] ?? {};
      const isJudged = watched !== undefined && at >= first;
      const alarm = alarms.find((each) => each.series === flow && each.from <= at && at < each.to);
      const state = !isJudged
        ? "learning"
        : at >= end.at
          ? bucket.complete
            ? end.state
            : "incomplete"
          : flow.values[at] === null
            ? "unknown"
            : (alarm?.kind ?? "usual");
      const expected = isJudged ? (watched.next[at] ?? null) : null;
      const limit = isJudged ? (watched.limit[at] ?? null) : null;
      return { flow, t: bucket.start, value: flow.values[at], expected, limit, state };
    }),
  );
  const { columns, reductions } = result.origin;
  const table = newTable(result.table, [
    [time.name, rows.map(({ t }) => t)],
    ...columns.dimensions.map(({ name }, k): [string, Value[]] => [
      name,
      rows.map(({ flow }) => flow.group[k] ?? null),
    ]),
    [measure.name, rows.map(({ value }) => value)],
    ["expected", rows.map(({ expected }) => expected)],
    ["limit", rows.map(({ limit }) => limit)],
    ["state", rows.map(({ state }) => state)],
  ]);
  const measures = [
    measure,
    like(measure, "expected", "Expected"),
    like(measure, "limit", "Alarm below"),
  ];
  const kinds = { state: "text" as const };
  return result.with<Record<string, Value>>(table, {
    columns: { ...columns, measures, kinds },
    reductions,
  });
}
