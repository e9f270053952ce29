import { ProbelabError } from "../base/error.js";
import type { Where } from "./where.js";
import type { Confidence } from "./wilson.js";

declare const VALUE: unique symbol;
declare const COLUMN: unique symbol;

/**
 * What is measured of the rows of a bucket and group: plain data, made by the functions of this
 * file, so that a question can be written down and asked again.
 *
 * @typeParam V what a cell of the answer holds.
 * @typeParam C the columns that it needs.
 */
export interface Measure<V = number | null, C extends string = string> {
  readonly measure:
    | "count"
    | "sum"
    | "distinct"
    | "mean"
    | "min"
    | "max"
    | "quantile"
    | "earliest"
    | "latest"
    | "share"
    | "shareLow"
    | "shareHigh"
    | "ratio"
    | "perMinute";
  readonly column?: string;
  readonly level?: number;
  readonly where?: Where;
  /** The measures that a ratio or a rate is made of. */
  readonly of?: readonly Measure<unknown>[];
  readonly confidence?: Confidence;
  readonly complement?: boolean;
  /** For an axis or a header; default: what the column and the measure are. */
  readonly label?: string;
  /** Default: that of the column, `share` of a share. */
  readonly unit?: string;
  readonly [VALUE]?: V;
  readonly [COLUMN]?: C;
}

/** What every measure takes besides. */
export interface MeasureOptions<C extends string = string> {
  /** Which rows of the source it is about; default: all that the question keeps. */
  readonly where?: Where<C>;
  readonly label?: string;
  readonly unit?: string;
}

type OfRows<V> = <C extends string = never>(options?: MeasureOptions<C>) => Measure<V, C>;
type OfColumn<V> = <C extends string>(column: C, options?: MeasureOptions<C>) => Measure<V, C>;

function ofRows<V>(measure: Measure["measure"]): OfRows<V> {
  return (options = {}) => ({ measure, ...options });
}

function ofColumn<V>(measure: Measure["measure"]): OfColumn<V> {
  return (column, options = {}) => ({ measure, column, ...options });
}

/**
 * How many rows. Adds up; a bucket without rows is 0.
 *
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { measurements: count(), italian: count({ where: { probe_cc: "IT" } }) } });
 */
export const count = ofRows<number>("count");

/**
 * When the first row was, a Date (UTC instant, milliseconds); null where there is none.
 *
 * @example
 * await lab.measurements.ask({ range, every: "all", by: "software_version", measures: { first: earliest() } });
 */
export const earliest = ofRows<Date | null>("earliest");

/**
 * When the last row was, a Date (UTC instant, milliseconds); null where there is none.
 *
 * @example
 * await lab.logs.ask({ range, every: "all", by: "identifier", measures: { last: latest() } });
 */
export const latest = ofRows<Date | null>("latest");

/**
 * The sum of a column of numbers; what is no number (null, NaN, infinite) is left out. Adds up.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { seconds: sum("duration", { unit: "s" }) } });
 */
export const sum = ofColumn<number>("sum");

/**
 * How many different values a column has, exactly; null is none. Doesn't add up.
 *
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { networks: distinct("probe_asn") } });
 */
export const distinct = ofColumn<number>("distinct");

/**
 * The mean of a column of numbers; null where no row has one.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { mean: mean("duration") } });
 */
export const mean = ofColumn<number | null>("mean");

/**
 * The least number of a column; null where no row has one.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { shortest: min("duration") } });
 */
export const min = ofColumn<number | null>("min");

/**
 * The greatest number of a column; null where no row has one.
 *
 * @example
 * await lab.runs.ask({ range, every: "week", measures: { longest: max("duration") } });
 */
export const max = ofColumn<number | null>("max");

/**
 * A quantile of a column of numbers: exact, interpolated linearly (R-7 of Hyndman and Fan, "Sample
 * quantiles in statistical packages", 1996, as NumPy and d3); null where no row has one.
 *
 * @param level from 0 (the least) to 1 (the greatest); 0.5 is the median.
 * @throws ProbelabError for another level.
 * @example
 * quantile(0.9, "duration");
 */
export function quantile<C extends string>(
  level: number,
  column: C,
  options: MeasureOptions<C> = {},
): Measure<number | null, C> {
  if (!(level >= 0 && level <= 1)) {
    throw new ProbelabError(
      `Can't give the quantile ${String(level)}: pass a number from 0 to 1, such as quantile(0.5, ${JSON.stringify(column)}).`,
    );
  }
  return { measure: "quantile", level, column, ...options };
}

/**
 * The share of rows that match, 0 to 1; null where there is no row. Without a condition it only
 * tells what a column of free SQL holds: `lab.query(…, { columns: { blocked: share() } })`.
 *
 * @example
 * share({ anomaly: "t" });
 */
export function share<C extends string = never>(
  matching?: Where<C>,
  options: Omit<MeasureOptions, "where"> & { readonly of?: Where<C> } = {},
): Measure<number | null, C> {
  const { of, ...rest } = options;
  return {
    measure: "share",
    ...(matching && { of: [count({ where: matching })] }),
    ...(of && { where: of }),
    ...rest,
  };
}

/** What the ends of an interval take besides. */
export interface IntervalOptions extends Omit<MeasureOptions, "where"> {
  /** How sure the interval is to hold the true share: 0.9, 0.95 (default) or 0.99. */
  readonly confidence?: Confidence;
}

type End = <C extends string>(
  matching: Where<C>,
  options?: IntervalOptions,
) => Measure<number | null, C>;

function end(measure: "shareLow" | "shareHigh"): End {
  return (matching, { confidence = 0.95, ...options } = {}) => ({
    ...{ measure, of: [count({ where: matching })], confidence },
    ...options,
  });
}

/**
 * The low end of the Wilson interval of a share: how small the true share may well be.
 *
 * @example
 * const where = { anomaly: "t" };
 * await lab.measurements.ask({ range, every: "day", measures: { share: share(where), low: shareLow(where), high: shareHigh(where) } });
 */
export const shareLow = end("shareLow");

/**
 * The high end of the Wilson interval of a share.
 *
 * @example
 * shareHigh({ anomaly: "t" }); // beside share and shareLow of the same rows: charts draw the interval
 */
export const shareHigh = end("shareHigh");

/**
 * One additive measure by another: `ratio(sum("bytes"), count())`; null where the second is 0.
 *
 * @param options `complement`: true gives what is left to 1.
 * @example
 * await lab.measurements.ask({ range, every: "day", measures: { failed: ratio(count({ where: { msm_failure: "t" } }), count()) } });
 */
export function ratio<A extends string, B extends string>(
  of: Measure<number, A>,
  by: Measure<number, B>,
  options: Omit<MeasureOptions, "where"> & { readonly complement?: boolean } = {},
): Measure<number | null, A | B> {
  return { measure: "ratio", of: [of, by], ...options };
}

/**
 * An additive measure by the minutes of its bucket that the range covers.
 *
 * @example
 * await lab.logs.ask({ range, every: "hour", by: "identifier", measures: { per_minute: perMinute(count()) } });
 */
export function perMinute<C extends string>(
  of: Measure<number, C>,
  options: Omit<MeasureOptions, "where"> = {},
): Measure<number, C> {
  return { measure: "perMinute", of: [of], ...options };
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
