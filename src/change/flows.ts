import { shownValue } from "../base/text.js";
import { nearName } from "../base/near-name.js";
import { ProbelabError } from "../base/error.js";
import { columnValues, rowKeys, rowsByKey } from "../result/arquero-table.js";
import type { MeasureColumn, TimeColumn } from "../result/origin.js";
import { isResult, type Result } from "../result/result.js";
import { buckets, nextBucket, type RangeBucket } from "../time/bucket.js";
import { usualLength } from "../time/step.js";
import { between, type TimeRange } from "../time/time-range.js";
import { zoneOf } from "../result/origin.js";
import { learning, type Season } from "./forecast.js";
import { DAY, WEEK } from "../time/span.js";

/** One group of an answer along its buckets. */
export interface FlowSeries {
  /** The values of the dimensions, in their order. */
  readonly group: readonly (string | null)[];
  /** As a sentence names it: `probe_cc IT, test_name web_connectivity`; "" where there is no dimension. */
  readonly name: string;
  /** A value for each bucket; null where nothing is known of it. */
  readonly values: readonly (number | null)[];
}

/** An answer as series of one measure. */
export interface Flows {
  readonly result: Result<object>;
  readonly measure: MeasureColumn;
  readonly time: TimeColumn;
  readonly range: TimeRange;
  readonly buckets: readonly RangeBucket[];
  /** Undefined where no whole number of buckets makes a week. */
  readonly season: Season | undefined;
  readonly series: readonly FlowSeries[];
  /** Whether the values are counts; what is added before the logarithm is 1 then. */
  readonly counts: boolean;
  readonly floor: number;
}

/**
 * Takes an answer apart: a series for each group, with a value for each bucket of the range.
 *
 * @param name the measure; default: what the question is about.
 * @throws ProbelabError for what is no Result, has no buckets of time or no such measure, or holds what
 *   is no number.
 */
export async function readFlows(
  input: Result<object> | Promise<Result<object>>,
  name: string | undefined,
  action: string,
): Promise<Flows> {
  const result = await input;
  if (!isResult(result)) {
    throw new ProbelabError(
      `Can't ${action}: no Result was given. Pass one with buckets of time, such as lab.measurements.counts({ range: last("8 weeks"), every: "hour" }).`,
    );
  }
  const { time, dimensions, measures } = result.origin.columns;
  if (time === undefined) {
    throw new ProbelabError(
      `Can't ${action}: the Result has no buckets of time. Ask with every: "hour" (or another step).`,
    );
  }
  const measure = findMeasure(measures, name, action);
  const starts = columnValues(result.table, time.name).map(Number);
  const range = result.origin.range ?? rangeOf(starts, time, zoneOf(result.origin));
  const all = range === undefined ? [] : buckets(range, time.every);
  const places = new Map(all.map(({ start }, at) => [start.getTime(), at]));
  const cells = columnValues(result.table, measure.name);
  const names = dimensions.map(({ name }) => name);
  const none = measure.missing === "zero" ? 0 : null;
  const columns = names.map((name) => columnValues(result.table, name));
  const series = [...rowsByKey(rowKeys(result.table, names)).values()].map((rows): FlowSeries => {
    const values = all.map<number | null>(() => none);
    for (const row of rows) {
      const at = places.get(starts[row]!);
      if (at !== undefined) values[at] = checked(cells[row], measure, action);
    }
    const group = columns.map((column) => (column[rows[0]!] ?? null) as string | null);
    const name = names.map((each, at) => `${each} ${group[at] ?? "(none)"}`).join(", ");
    return { group, name, values };
  });
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const counts = known.every(Number.isInteger);
  return {
    result,
    measure,
    time,
    buckets: all,
    series,
    counts,
    range: range ?? between(new Date(0), new Date(1)),
    season: seasonOf(usualLength(time.every)),
    floor: counts ? 1 : firstMedian(series, seasonOf(usualLength(time.every))) / 20,
  };
}

function checked(value: unknown, { name }: MeasureColumn, action: string): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  if (Number.isFinite(number)) return number;
  throw new ProbelabError(
    `Can't ${action} of ${name}: it holds ${shownValue(value)}, which is no number; name another measure.`,
  );
}

function findMeasure(
  measures: readonly MeasureColumn[],
  name: string | undefined,
  action: string,
): MeasureColumn {
  const names = measures.map(({ name }) => name);
  const found =
    name === undefined
      ? (measures.find(({ main }) => main) ?? measures[0])
      : measures.find((each) => each.name === name);
  if (found !== undefined) return found;
  const near = name === undefined ? undefined : nearName(name, names);
  const which =
    name === undefined ? "the Result has no measure" : `no measure ${JSON.stringify(name)}`;
  const remedy =
    names.length === 0
      ? "Name it in columns of the query, such as { n: count() }"
      : `${near === undefined ? "" : `Did you mean ${near}? `}Its measures are ${names.join(", ")}`;
  throw new ProbelabError(`Can't ${action}: ${which}. ${remedy}.`);
}

function rangeOf(starts: readonly number[], { every }: TimeColumn, zone: string) {
  if (starts.length === 0) return undefined;
  const ends = starts.reduce((a, b) => Math.max(a, b));
  const start = new Date(starts.reduce((a, b) => Math.min(a, b)));
  return between(start, nextBucket(new Date(ends), every, zone), { timeZone: zone });
}

function seasonOf(length: number): Season | undefined {
  if (length === WEEK) return { day: 1, week: 1 };
  if (WEEK % length !== 0) return undefined;
  return { day: DAY % length === 0 ? DAY / length : 1, week: WEEK / length };
}

/** The usual size of what is no count, of the buckets that are learnt from only. */
function firstMedian(series: readonly FlowSeries[], season: Season | undefined): number {
  const first = series
    .flatMap(({ values }) => values.slice(0, season ? learning(season) : 0))
    .filter((value): value is number => value !== null && value > 0)
    .sort((a, b) => a - b);
  return first[first.length >> 1] ?? 1;
}

/** A value of the measure in words: `1,204 measurements`, `12.3 s`. */
export function amountText(value: number, { unit, additive }: MeasureColumn): string {
  const text = additive
    ? Math.round(value).toLocaleString("en-US")
    : String(Number(value.toPrecision(3)));
  return unit === "share" ? text : `${text} ${unit}`;
}
