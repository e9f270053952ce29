import type { Value } from "../result/result.js";
import type { Dimension } from "./dimension.js";
import type { Measure, ShareWithInterval } from "./measure.js";

declare global {
  /**
   * The columns of this deployment's tables, by table. Empty until `connect()` in a notebook
   * declares them: then an unknown column is a type error.
   */
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- declared anew by each deployment
  interface ProbelabColumns {}
}

/** The columns that the seed document names, to complete where nothing else is known. */
interface Suggested {
  measurements:
    | "measurement_start_time"
    | "software_name"
    | "software_version"
    | "test_name"
    | "report_id"
    | "probe_cc"
    | "probe_asn";
  logs: "message" | "identifier" | "priority" | "host" | "SYSLOG_IDENTIFIER";
}

/** The columns of a table: those declared of this deployment, else any. */
export type ColumnOf<Table extends keyof Suggested> = Table extends keyof ProbelabColumns
  ? keyof ProbelabColumns[Table] & string
  : // Any text, and the known ones complete.
    Suggested[Table] | (string & {});

/** Of a type made of several, the properties in one. */
type Flat<T> = { [Key in keyof T]: T[Key] };

/** The column that a dimension makes. */
type NameOf<D> = D extends string ? D : D extends Dimension<infer Name> ? Name : never;

/** The columns that `by` makes; `string` where the compiler can't know them. */
export type DimensionNames<B> = B extends string | Dimension
  ? NameOf<B>
  : B extends readonly (infer D)[]
    ? NameOf<D>
    : B extends Readonly<Record<infer Name, unknown>>
      ? Name
      : never;

/** The value type of a measure's column. */
type ValueOf<M> = M extends Measure<infer V> ? V : never;

/** The columns of the ends of a share's interval. */
type EndsOf<Name, M> = M extends ShareWithInterval ? `${Name & string}_${"low" | "high"}` : never;

/** `{ t: Date }`, nothing where the range is one bucket. Undefined: not given, and not "all" then. */
type Time<Every> = undefined extends Every
  ? { t: Date }
  : "all" extends Every
    ? Every extends "all"
      ? object
      : { t?: Date }
    : { t: Date };

/**
 * A row of a grouped answer: `t`, the dimensions, the measures. Where names are known only when the
 * question is asked, a row of any columns.
 */
export type GroupedRow<B, Every, M> = string extends DimensionNames<B> | keyof M
  ? Record<string, Value>
  : Flat<
      Time<Every> & { [Name in DimensionNames<B> & string]: string | null } & {
        -readonly [Name in keyof M]: ValueOf<M[Name]>;
      } & { [Name in keyof M as EndsOf<Name, M[Name]>]: number | null }
    >;

/** Digits without the zeros that begin them: "05" is "5". */
type Unpadded<Text extends string> = Text extends `0${infer Rest}`
  ? Rest extends ""
    ? "0"
    : Unpadded<Rest>
  : Text;

/** Decimals of a share as per cent: "1" is "10", "05" is "5", "025" is "2_5". */
type Percent<Decimals extends string> = Decimals extends `${infer A}${infer B}${infer Rest}`
  ? `${Unpadded<`${A}${B}`>}${Rest extends "" ? "" : `_${Rest}`}`
  : Unpadded<`${Decimals}0`>;

/** The column of a quantile: `q10`, `q50`, `q2_5`. */
export type QuantileName<Level extends number> = number extends Level
  ? string
  : `${Level}` extends `0.${infer Decimals}`
    ? `q${Percent<Decimals>}`
    : Level extends 0
      ? "q0"
      : Level extends 1
        ? "q100"
        : string;

/** The measures of quantiles, by their columns. */
export type QuantileMeasures<Levels extends readonly number[]> = {
  [Level in Levels[number] as QuantileName<Level>]: Measure;
};
