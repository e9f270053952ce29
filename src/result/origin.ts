import type { Value } from "./json.js";
import type { Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";

/** The question behind a Result, the server, and what was done to the rows. Never holds a credential. */
export interface Origin {
  /** The SQL as it was sent; its values are in `parameters`. Empty where no database was asked. */
  readonly sql: string;
  /** The values bound to the SQL's `{name:Type}` placeholders. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * The time that was asked for, as far as the rows still cover it. Missing for rows given by hand,
   * and for rows that were changed so that the time they cover is unknown.
   */
  readonly range?: TimeRange;
  /** The filter in words: `software_name = probe-cli`. Missing without a filter, and for free SQL. */
  readonly filter?: string;
  /** The database: `embedded:DIR`, or scheme, host, port and database of a server's URL. */
  readonly source: string;
  /** ClickHouse's version. */
  readonly server: string;
  /** Rows that the server read for it. */
  readonly rowsRead: number;
  /** Bytes that the server read for it, uncompressed. */
  readonly bytesRead: number;
  /** From the question to the table, in seconds. */
  readonly seconds: number;
  /** When it was asked. */
  readonly askedAt: Date;
  /** Number of repeats after failed connections; missing if there were none. */
  readonly retries?: number;
  /** The meaning of the columns. */
  readonly columns: ResultColumns;
  /** Sentences on rows that were left out or merged, in order. */
  readonly reductions: readonly string[];
  /** Other sentences for the reader: an incomplete bucket, an empty answer. */
  readonly notes: readonly string[];
}

/** The meaning of a Result's columns; empty lists for free SQL and rows given by hand. */
export interface ResultColumns {
  /** The bucket column, its step, and the buckets of the range in order; missing where the result has no time. */
  readonly time?: TimeColumn;
  /** The dimensions that rows are grouped by, outermost first. */
  readonly dimensions: readonly DimensionColumn[];
  /** The measures. */
  readonly measures: readonly MeasureColumn[];
  /** Kinds of values by column of free SQL, as the server gives them: an empty column has no value to show it. */
  readonly kinds?: Readonly<Record<string, ValueKind>>;
}

/** Values on an axis of time, values on an axis of numbers, or categories. */
export type ValueKind = "time" | "number" | "text";

/** The column that holds the start of each bucket, as a Date. */
export interface TimeColumn {
  readonly name: string;
  readonly every: Bucket;
  /** Starts of the buckets that the range covers only in part, at its edges. */
  readonly incomplete: readonly Date[];
}

/** A column that the rows are grouped by; its values are text, null where the row has none. */
export interface DimensionColumn {
  readonly name: string;
  /** The table's column, where this is another name of it: its values are written as those are. */
  readonly of?: string;
  /** Every value that occurs, in the order a legend lists them: versions by component, others by size, the rest last. */
  readonly order: readonly (string | null)[];
  /** The label of the row that holds all values beyond `top`, where there is one. */
  readonly other?: string;
  /** True where that order is the values' own (hours, weekdays, bins), not that of their size. */
  readonly ordered?: true;
}

/** A column that holds numbers. */
export interface MeasureColumn {
  readonly name: string;
  /** For an axis or a header: `Run duration, median`. */
  readonly label: string;
  /** `measurements`, `runs`, `s`, `share` (0 to 1). */
  readonly unit: string;
  /** True where values of buckets may be added up (counts); false for quantiles, shares, means. */
  readonly additive: boolean;
  /** The two additive columns whose quotient it is: rows are added up by adding up those. */
  readonly quotient?: readonly [part: string, whole: string];
  /** The measure that the question is about; charts draw it by default. */
  readonly main?: true;
  /**
   * The values that the rows which it counts have in some columns: of two measures that differ in one of them
   * no row is counted twice. Missing where that isn't known.
   */
  readonly only?: Readonly<Record<string, readonly Value[]>>;
  /** The meaning of a missing row: nothing happened (`zero`), or nothing is known (`gap`). */
  readonly missing: "zero" | "gap";
  /** The columns of the ends of each value's interval, where the question asked for them. */
  readonly interval?: readonly [string, string];
}

/** A measure whose rows can't be added up, and of which a missing row tells nothing. */
export function gapMeasure(name: string, label: string, unit: string): MeasureColumn {
  return { name, label, unit, additive: false, missing: "gap" };
}

/** What questions cost together. */
export function costOf(
  ...parts: readonly (Pick<Origin, "rowsRead" | "bytesRead"> & { readonly seconds?: number })[]
): Pick<Origin, "rowsRead" | "bytesRead" | "seconds"> {
  return {
    rowsRead: parts.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
    bytesRead: parts.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    seconds: parts.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
  };
}

/** The time zone of an Origin's range, UTC where it has none. */
export function zoneOf({ range }: Pick<Origin, "range">): string {
  return range?.timeZone ?? "UTC";
}

/** True for a column of software versions, which are ordered by component: 3.9 before 3.10. */
export function isVersionColumn(name: string): boolean {
  return /(?:^|_)version$/i.test(name);
}
