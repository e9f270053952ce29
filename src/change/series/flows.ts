import { valueText } from "../words.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import { columnValues, rowKeys, rowsByKey } from "../../result/arquero-table.js";
import { zoneOf, type MeasureColumn, type TimeColumn } from "../../result/origin.js";
import { isResult, type Result } from "../../result/result.js";
import { buckets, nextBucket, type RangeBucket } from "../../time/bucket.js";
import { between, type TimeRange } from "../../time/time-range.js";

/** One group of an answer along its buckets. */
export interface FlowSeries {
  /** The values of the dimensions, by their names. */
  readonly group: Readonly<Record<string, string | null>>;
  /** As a sentence names it: `probe_cc IT, test_name web_connectivity`; "" where there is no dimension. */
  readonly name: string;
  /** A value for each bucket; null where nothing is known of it. */
  readonly values: readonly (number | null)[];
}

/** An answer as series of one measure. */
export interface Flows {
  readonly result: Result;
  readonly measure: MeasureColumn;
  readonly time: TimeColumn;
  readonly range: TimeRange;
  readonly buckets: readonly RangeBucket[];
  readonly series: readonly FlowSeries[];
}

/**
 * Takes an answer apart: a series for each group, with a value for each bucket of the range, of the
 * measure that charts draw.
 *
 * @throws ProbelabError for what is no Result, has no buckets of time or no measure, or holds what is
 *   no number.
 */
export async function readFlows(
  input: Result<object> | Promise<Result<object>>,
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
  const measure = measures.find(({ main }) => main) ?? measures[0];
  if (measure === undefined) {
    throw new ProbelabError(
      `Can't ${action}: the Result has no measure. Ask with measures: { n: count() }.`,
    );
  }
  const starts = columnValues(result.table, time.name).map(Number);
  const range = result.origin.range ?? rangeOf(starts, time, zoneOf(result.origin));
  const all = starts.length === 0 && !result.origin.range ? [] : buckets(range, time.every);
  const places = new Map(all.map(({ start }, at) => [start.getTime(), at]));
  const cells = columnValues(result.table, measure.name);
  const names = dimensions.map(({ name }) => name);
  const columns = names.map((name) => columnValues(result.table, name));
  const groups = rowsByKey(rowKeys(result.table, names));
  const series = [...groups.values()].map((rows): FlowSeries => {
    const values = all.map<number | null>(() => (measure.missing === "zero" ? 0 : null));
    for (const row of rows) {
      const [at, value] = [places.get(starts[row]!), cells[row] ?? null];
      if (value !== null && !Number.isFinite(Number(value))) {
        throw new ProbelabError(
          `Can't ${action} of ${measure.name}: it holds ${shownValue(value)}, which is no number; ask for another measure.`,
        );
      }
      if (at !== undefined) values[at] = value === null ? null : Number(value);
    }
    const [first] = rows;
    const group = Object.fromEntries(
      names.map((name, at) => [name, columns[at]![first!] as string | null]),
    );
    return { group, name: seriesName(group), values };
  });
  return { result: result, measure, time, buckets: all, series, range };
}

/** `probe_cc IT, test_name web_connectivity`; "" for all rows. */
export function seriesName(group: FlowSeries["group"]): string {
  return Object.entries(group)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(", ");
}

function rangeOf(starts: readonly number[], { every }: TimeColumn, timeZone: string) {
  const first = starts.reduce((a, b) => Math.min(a, b), Infinity);
  if (first === Infinity) return between(new Date(0), new Date(1));
  const last = starts.reduce((a, b) => Math.max(a, b));
  return between(new Date(first), nextBucket(new Date(last), every, timeZone), { timeZone });
}
