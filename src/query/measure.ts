import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import type { Where } from "./where.js";
import { CONFIDENCES, type Confidence } from "./wilson.js";

declare const VALUE: unique symbol;
declare const COLUMN: unique symbol;

/**
 * A measure of the rows of a bucket and group: plain data, made by the functions of this file, so
 * that a question can be written down and asked again.
 *
 * @typeParam V the type of its values.
 * @typeParam C the columns that it needs.
 */
export interface Measure<V = number | null, C extends string = string> {
  readonly measure:
    | "count"
    | "sum"
    | "countDistinct"
    | "mean"
    | "min"
    | "max"
    | "quantile"
    | "share"
    | "ratio"
    | "rate";
  readonly column?: string;
  readonly level?: number;
  readonly where?: Where;
  /** The measures that a share, a ratio or a rate is made of. */
  readonly of?: readonly Measure<unknown>[];
  /** Of a share: the confidence of the interval that is given beside it. */
  readonly interval?: Confidence;
  /** Of a rate. */
  readonly per?: RateUnit;
  /** For an axis or a header. @default made of the column and the measure */
  readonly label?: string;
  /** @default the unit of the column; `share` for a share */
  readonly unit?: string;
  readonly [VALUE]?: V;
  readonly [COLUMN]?: C;
}

/** Options of every measure. */
export interface MeasureOptions<C extends string = string> {
  /** Rows of the question that are measured. @default all */
  readonly where?: Where<C>;
  /** For an axis or a header. @default made of the column and the measure */
  readonly label?: string;
  /** @default the unit of the column */
  readonly unit?: string;
}

type OfColumn<V> = <C extends string>(column: C, options?: MeasureOptions<C>) => Measure<V, C>;

function ofColumn<V>(measure: Measure["measure"]): OfColumn<V> {
  return (column, options = {}) => ({ measure, column, ...options });
}

/**
 * Counts rows. Adds up; 0 in a bucket without rows.
 *
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { measurements: count(), italian: count({ where: { probe_cc: "IT" } }) } });
 */
export function count<C extends string = never>(
  options: MeasureOptions<C> = {},
): Measure<number, C> {
  return { measure: "count", ...options };
}

/**
 * Adds up a column of numbers, without null, NaN and infinite values. Adds up; 0 in a bucket without rows.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { seconds: sum("duration", { unit: "s" }) } });
 */
export const sum = ofColumn<number>("sum");

/**
 * Counts the distinct values of a column, exactly, without null. Doesn't add up; 0 in a bucket without rows.
 *
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { networks: countDistinct("probe_asn") } });
 */
export const countDistinct = ofColumn<number>("countDistinct");

/**
 * The mean of a column of numbers; null where no row has one.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { mean: mean("duration") } });
 */
export const mean = ofColumn<number | null>("mean");

/** `min` and `max`: of the rows' time a Date, of a column of numbers a number. */
interface Extreme {
  <C extends string = never>(column: "time", options?: MeasureOptions<C>): Measure<Date | null, C>;
  <C extends string>(column: C, options?: MeasureOptions<C>): Measure<number | null, C>;
}

/**
 * The smallest number of a column, or with `"time"` the time of the first row, a Date (UTC,
 * milliseconds); null where no row has one.
 *
 * @example
 * await lab.measurements.ask({ range, every: "all", by: "software_version", measures: { first: min("time") } });
 */
export const min: Extreme = ofColumn<never>("min");

/**
 * The largest number of a column, or with `"time"` the time of the last row, a Date (UTC,
 * milliseconds); null where no row has one.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { longest: max("duration") } });
 */
export const max: Extreme = ofColumn<never>("max");

/**
 * A quantile of a column of numbers, exact and interpolated linearly (R-7 of Hyndman and Fan, "Sample
 * quantiles in statistical packages", 1996, as in NumPy and d3); null where no row has a number.
 *
 * @param level from 0 (the smallest) to 1 (the largest); 0.5 is the median.
 * @throws ProbelabError for another level.
 * @example
 * quantile(0.9, "duration");
 */
export function quantile<C extends string>(
  level: number,
  column: C,
  options: MeasureOptions<C> = {},
): Measure<number | null, C> {
  if (typeof level !== "number" || !(level >= 0 && level <= 1)) {
    throw new ProbelabError(
      `Can't give the quantile ${shownValue(level)}: pass a number from 0 to 1, such as quantile(0.5, ${JSON.stringify(column)}).`,
    );
  }
  return { measure: "quantile", level, column, ...options };
}

/** Options of {@link share}. */
export interface ShareOptions<C extends string = string> extends Omit<MeasureOptions, "where"> {
  /** The rows that it is a share of. @default all rows of the question */
  readonly of?: Where<C>;
  /** Adds the columns NAME_low and NAME_high, the ends of the Wilson interval of this confidence. */
  readonly interval?: Confidence;
}

/** A share that is given with the ends of its interval. */
export interface ShareWithInterval<C extends string = string> extends Measure<number | null, C> {
  readonly interval: Confidence;
}

/**
 * The share of rows that match, from 0 to 1; null where there is no row. With `interval` the columns
 * NAME_low and NAME_high hold the ends of its Wilson interval, which charts draw. Without a condition
 * it says what a column of free SQL holds: `lab.query(…, { columns: { blocked: share() } })`.
 *
 * @throws ProbelabError for another confidence than 0.9, 0.95 or 0.99.
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { blocked: share({ anomaly: "t" }, { interval: 0.95 }) } });
 */
export function share<C extends string = never>(
  matching: Where<C>,
  options: ShareOptions<C> & { readonly interval: Confidence },
): ShareWithInterval<C>;
export function share<C extends string = never>(
  matching?: Where<C>,
  options?: ShareOptions<C>,
): Measure<number | null, C>;
export function share<C extends string = never>(
  matching?: Where<C>,
  options: ShareOptions<C> = {},
): Measure<number | null, C> {
  const { of, interval, ...rest } = options;
  if (interval !== undefined && !(interval in CONFIDENCES)) {
    throw new ProbelabError(
      `Can't give the interval ${String(interval)} of a share: pass interval: 0.9, 0.95 or 0.99.`,
    );
  }
  return {
    measure: "share",
    ...(matching && { of: [count({ where: matching })] }),
    ...(of && { where: of }),
    ...(interval !== undefined && { interval }),
    ...rest,
  };
}

/**
 * Divides one additive measure by another: `ratio(sum("bytes"), count())`; null where the second is 0.
 *
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { failed: ratio(count({ where: { msm_failure: "t" } }), count()) } });
 */
export function ratio<A extends string, B extends string>(
  of: Measure<number, A>,
  by: Measure<number, B>,
  options: Omit<MeasureOptions, "where"> = {},
): Measure<number | null, A | B> {
  return { measure: "ratio", of: [of, by], ...options };
}

/** The units of time of {@link rate}. */
export type RateUnit = "second" | "minute" | "hour" | "day";

/**
 * Divides an additive measure by the time of its bucket that the range covers.
 *
 * @param unit second, minute, hour or day (24 hours).
 * @example
 * await lab.logs.ask({ range, every: "hour", by: "identifier", measures: { per_minute: rate(count(), "minute") } });
 */
export function rate<C extends string>(
  of: Measure<number, C>,
  unit: RateUnit,
  options: Omit<MeasureOptions, "where"> = {},
): Measure<number, C> {
  return { measure: "rate", of: [of], per: unit, ...options };
}

/** "median", or "10th percentile". */
export function quantileLabel(level: number): string {
  if (level === 0.5) return "median";
  if (level === 0) return "shortest";
  if (level === 1) return "longest";
  const percent = String(Number((level * 100).toPrecision(12)));
  const last = /(?:^|[^1])([123])$/.exec(percent)?.[1] ?? "0";
  return `${percent}${["th", "st", "nd", "rd"][Number(last)]} percentile`;
}
