import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { newTable } from "../result/arquero-table.js";
import type { MeasureColumn, Origin } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { nextBucket, type RangeBucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { between, formatRange, last } from "../time/time-range.js";
import { Flow, type Season } from "./expected.js";
import type { Finding } from "./finding.js";
import { amountText, readFlows, type Flows } from "./flows.js";
import { quantileOf } from "../base/statistics.js";

/** What `forecast` takes besides. */
export interface ForecastOptions {
  /** How far beyond the range is told, up to four weeks: `"1 week"`, the default; `"0 hours"` for nothing. */
  readonly ahead?: string;
  /** The share of buckets that the band should hold; default 0.95. */
  readonly band?: number;
  /** The measure; default: what the question is about. */
  readonly y?: string;
}

const RULES: Rules<ForecastOptions> = {
  ahead: { fits: (value) => typeof value === "string", pass: 'a span, such as "1 week"' },
  band: {
    fits: (value) => typeof value === "number" && value >= 0.5 && value <= 0.999,
    pass: "the share that the band should hold, from 0.5 to 0.999, such as 0.95",
  },
  y: { fits: (value) => typeof value === "string", pass: "the name of a measure" },
};

/** Buckets further back don't tell how wide the band is. */
const MEMORY_WEEKS = 16;
const MOST_AHEAD_MS = 28 * 86_400_000;

/**
 * The flow that past weeks lead one to expect, for each bucket of the range and some beyond it, with
 * a band: columns `t`, the dimensions, the measure, `expected`, `low`, `high`.
 *
 * What is expected of a bucket is the middle of the same time of day of the last 28 days, with the
 * weekly deviation of up to eight weeks, at the median level of the last week: outages and holidays
 * among them don't move it. The band holds the share of buckets that it held of the past 16 weeks
 * (split conformal prediction; Lei et al., Distribution-Free Predictive Inference for Regression,
 * 2018), scaled by the spread of the time of day. Each bucket is told from buckets before it only;
 * the first two weeks are learnt from.
 *
 * @param counts counts by the hour, best of eight weeks; other measures and buckets of which a whole
 *   number makes a week work, too. Each group is a series of its own.
 * @throws ProbelabError for a Result without buckets of time, or with values below 0.
 * @example
 * const counts = lab.measurements.counts({ range: last("8 weeks", { now: lab.now }), every: "hour" });
 * const expected = await forecast(counts, { ahead: "3 days" });
 * chart.line(expected.result, { y: "expected" });
 */
export async function forecast(
  counts: Result<object> | Promise<Result<object>>,
  options: ForecastOptions = {},
): Promise<Finding> {
  const action = "forecast";
  checkOptions(options, { ...RULES }, action);
  const flows = await readFlows(counts, options.y, action);
  const { season, series, measure, time, range } = flows;
  const ahead = aheadOf(flows, options.ahead ?? "1 week");
  const all = [...flows.buckets, ...ahead];
  const asOf = flows.result.origin.askedAt;
  const band = options.band ?? 0.95;
  const known = series.map(({ values }) =>
    // What is incomplete, or not over yet, looks like a drop and tells nothing.
    values.map((value, at) => (all[at]!.complete && all[at]!.end <= asOf ? value : null)),
  );
  const bands = known.map((values) =>
    season === undefined ? [] : expect([...values, ...ahead.map(() => null)], season, band, flows),
  );
  const { dimensions } = flows.result.origin.columns;
  const rows = series.flatMap((flow, place) =>
    all.map((bucket, at) => ({
      flow,
      bucket,
      value: flow.values[at] ?? null,
      expectation: bands[place]![at],
    })),
  );
  const like = (name: string, label: string): MeasureColumn => {
    const { unit, additive } = measure;
    return { name, label, unit, additive, missing: "gap" };
  };
  const percent = `${Number((100 * band).toFixed(1))} %`;
  const table = newTable(flows.result.table, [
    [time.name, rows.map(({ bucket }) => bucket.start)],
    ...dimensions.map(({ name }, at): [string, unknown] => [
      name,
      rows.map(({ flow }) => flow.group[at]),
    ]),
    [measure.name, rows.map(({ value }) => value)],
    ["expected", rows.map(({ expectation }) => expectation?.expected ?? null)],
    ["low", rows.map(({ expectation }) => expectation?.low ?? null)],
    ["high", rows.map(({ expectation }) => expectation?.high ?? null)],
  ]);
  const origin: Partial<Origin> = {
    columns: {
      ...flows.result.origin.columns,
      measures: [
        { ...measure, missing: "gap" },
        like("expected", "Expected"),
        like("low", `Lower end of the ${percent} band`),
        like("high", `Upper end of the ${percent} band`),
      ],
    },
    reductions: flows.result.origin.reductions,
    range: between(range.start, all.at(-1)?.end ?? range.end, { timeZone: range.timeZone }),
  };
  return {
    kind: "forecast",
    sentence: sentence(flows, known, bands, ahead, percent),
    found: false,
    result: flows.result.with<Record<string, Value>>(table, origin),
  };
}

/** What is expected of a bucket, in the measure's own unit. */
export interface Band {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Expected values and their band, each from values before it: the numeric part of `forecast`.
 *
 * @param values null where nothing is known.
 * @returns for each bucket its band; undefined for those that are learnt from.
 */
export function expect(
  values: readonly (number | null)[],
  season: Season,
  band: number,
  { counts, floor }: { readonly counts: boolean; readonly floor: number },
): (Band | undefined)[] {
  const flow = new Flow(season, floor, counts);
  const { day, week } = season;
  const first = Math.max(2 * week, 30);
  const misses: number[] = [];
  let width = { low: NaN, high: NaN };
  return values.map((value, at) => {
    const { usual, spread } = flow.next(value);
    if (at >= first && (at % day === 0 || Number.isNaN(width.low))) {
      const past = misses.slice(Math.max(week, at - MEMORY_WEEKS * week), at);
      const sorted = Float64Array.from(past.filter((miss) => !Number.isNaN(miss))).sort();
      // Of n past errors each end leaves out one in n + 1 more, so that the band holds for the next one.
      const tail = Math.max(0, ((1 - band) / 2) * (1 - 1 / (sorted.length + 1)));
      width = { low: quantileOf(sorted, tail), high: quantileOf(sorted, 1 - tail) };
    }
    misses.push(value === null ? NaN : (Math.log(value + floor) - usual) / spread);
    if (at < first || Number.isNaN(width.low)) return undefined;
    const end = (by: number) => flow.value(usual + by * spread);
    return {
      expected: flow.value(usual),
      low: end(Math.min(0, width.low)),
      high: end(Math.max(0, width.high)),
    };
  });
}

function aheadOf({ buckets, time, range }: Flows, ahead: string): RangeBucket[] {
  // A span is a duration: how far `last` goes back from an instant.
  const length = /^0\b/.test(ahead)
    ? 0
    : range.end.getTime() - last(ahead, { now: range.end }).start.getTime();
  if (length > MOST_AHEAD_MS) {
    throw new ProbelabError(
      `Can't forecast ${ahead} ahead: what past weeks tell holds for up to four weeks. Pass ahead: "4 weeks" or less.`,
    );
  }
  const beyond: RangeBucket[] = [];
  let start = buckets.at(-1)?.end;
  if (start === undefined) return beyond;
  const until = start.getTime() + length;
  for (;;) {
    const end = nextBucket(start, time.every, range.timeZone);
    if (end.getTime() > until) return beyond;
    beyond.push({ start, end, complete: true });
    start = end;
  }
}

function sentence(
  flows: Flows,
  known: readonly (readonly (number | null)[])[],
  expectedBands: readonly (readonly (Band | undefined)[])[],
  ahead: readonly RangeBucket[],
  percent: string,
): string {
  const { measure, time, season, buckets, range, series } = flows;
  const noun = bucketNoun(time.every, true);
  const cant = `Can't tell what ${measure.label} to expect, because`;
  if (season === undefined) {
    return `${cant} no whole number of ${noun} makes a week: ask with every: "hour" or "day".`;
  }
  if (series.length === 0) return `${cant} the answer has no row.`;
  const past = expectedBands.flatMap((seriesBands, place) =>
    seriesBands.slice(0, buckets.length).flatMap((band, at) => {
      const value = known[place]![at];
      return band === undefined || value === null || value === undefined
        ? []
        : [{ ...band, value }];
    }),
  );
  if (past.length === 0) {
    return `${cant} the first ${Math.max(2 * season.week, 30).toLocaleString("en-US")} ${noun} are learnt from and the answer has ${buckets.length.toLocaleString("en-US")}: ask for a longer range.`;
  }
  const share = (part: typeof past) => `${((100 * part.length) / past.length).toFixed(1)} %`;
  const below = past.filter(({ value, low }) => value < low);
  const held = past.filter(({ value, low, high }) => value >= low && value <= high);
  const next = expectedBands.flatMap((seriesBands) =>
    seriesBands.slice(buckets.length).filter((band) => band !== undefined),
  );
  const total = (bands: readonly Band[]) => bands.reduce((all, { expected }) => all + expected, 0);
  // Medians of scattered counts add up to less than the counts do: as much less as they did before.
  const scale = past.reduce((all, { value }) => all + value, 0) / total(past) || 1;
  const due = amountText((total(next) * scale) / (measure.additive ? 1 : next.length), measure);
  const coming =
    next.length === 0
      ? ""
      : `${measure.label}${series.length === 1 ? "" : ` of ${series.length.toLocaleString("en-US")} groups`}: about ${due} expected${measure.additive ? "" : " on average"}, ${formatRange(between(ahead[0]!.start, ahead.at(-1)!.end, { timeZone: range.timeZone }))}, as past weeks went. `;
  return `${coming}Of ${past.length.toLocaleString("en-US")} past ${noun} ${share(held)} lay inside the ${percent} band that earlier weeks predicted, ${share(below)} below it.`;
}
