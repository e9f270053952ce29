import { ProbelabError } from "../base/error.js";
import { columnKind, type ColumnSql } from "./where.js";
import { bind, raw, sql, type Sql } from "./sql.js";
import type { Source } from "./source.js";
import { isVersionColumn } from "../result/origin.js";
import { compareVersions } from "../result/version-order.js";

/**
 * Something to group by that is made of a column or of the time: plain data, made by the functions
 * of this file.
 *
 * @typeParam Column the column that it needs; `never` where it needs none.
 */
export interface Dimension<Name extends string = string, Column extends string = string> {
  readonly dimension: "hourOfDay" | "weekday" | "versionPart" | "bins";
  /** The column of the answer; another one with `by: { name: dimension }`. */
  readonly name: Name;
  readonly column?: Column;
  readonly parts?: number;
  readonly edges?: readonly number[];
}

/**
 * The hour of the day, `"00"` to `"23"`, of the range's zone: 24 groups at most, none is "other".
 *
 * @example
 * await lab.measurements.ask({ range, every: "all", by: [weekday(), hourOfDay()], measures: { n: count() } });
 */
export function hourOfDay(): Dimension<"hour_of_day", never> {
  return { dimension: "hourOfDay", name: "hour_of_day" };
}

/**
 * The day of the week, `"Monday"` first, of the range's zone.
 *
 * @example
 * await lab.measurements.ask({ range, every: "all", by: weekday(), measures: { n: count() } });
 */
export function weekday(): Dimension<"weekday", never> {
  return { dimension: "weekday", name: "weekday" };
}

/**
 * The first parts of a version: `versionPart("software_version", 2)` makes 3.10 of 3.10.2 and of
 * 3.10.0-rc1; a version with fewer parts stays as it is. Its column is `software_version_2`.
 *
 * @param parts how many, from 1.
 * @example
 * await lab.measurements.counts({ range, every: "week", by: versionPart("software_version", 2) });
 */
export function versionPart<Column extends string, Parts extends number>(
  column: Column,
  parts: Parts,
): Dimension<`${Column}_${Parts}`, Column> {
  if (!Number.isInteger(parts) || parts < 1) {
    throw new ProbelabError(
      `Can't take ${String(parts)} parts of ${column}: pass a whole number from 1, such as versionPart("${column}", 2).`,
    );
  }
  return { dimension: "versionPart", name: `${column}_${parts}`, column, parts };
}

/**
 * Numbers cut into bins, half-open: `bins("duration", [60, 600])` gives `< 60`, `60 to 600` and
 * `≥ 600`; a number alone is the width of bins from 0. Rows without a number are null.
 * Its column is `duration_bin`.
 *
 * @param at the edges, ascending, or the width of all bins.
 * @example
 * await lab.runs.ask({ range, every: "all", by: bins("duration", [60, 600]), measures: { runs: count() } });
 */
export function bins<Column extends string>(
  column: Column,
  at: readonly number[] | number,
): Dimension<`${Column}_bin`, Column> {
  const edges = typeof at === "number" ? [at] : at;
  const ascending = edges.every(
    (edge, index) => Number.isFinite(edge) && (index === 0 || edge > (edges[index - 1] as number)),
  );
  if (edges.length === 0 || !ascending || (typeof at === "number" && !(at > 0))) {
    throw new ProbelabError(
      `Can't cut ${column} into bins at ${JSON.stringify(at)}: pass ascending edges, such as bins("${column}", [0, 60, 600]), or one width above 0.`,
    );
  }
  return {
    dimension: "bins",
    name: `${column}_bin`,
    column,
    ...(typeof at === "number" ? { parts: at } : { edges: at }),
  };
}

/** A dimension as a question asks it. */
export interface AskedDimension {
  readonly name: string;
  /** The table's column, where this is another name of it. */
  readonly of?: string;
  /** The expression that rows are grouped by: the stored column, since making it text takes processor time. */
  readonly key: Sql;
  /** Nullable text of a key. Keys of one text are one value. */
  readonly text: (key: Sql) => Sql;
  /** The text of a row: `text(key)`. */
  readonly sql: Sql;
  /** True where the type, or the nature of it, says that there are few values. */
  readonly few: boolean;
  /** The value's text in the answer. */
  readonly label: (text: string) => string;
  /** The order of a legend; undefined: by size. */
  readonly compare?: (a: string, b: string) => number;
  /** True where there are few values by nature, all of which are kept: hours, weekdays, bins. */
  readonly natural: boolean;
  /** The largest number of values, for natural dimensions. */
  readonly most: number;
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const numeric = (a: string, b: string): number => Number(a) - Number(b);

/** The SQL of a dimension and how its values are read. */
export function dimensionOf(
  name: string,
  wanted: string | Dimension,
  source: Source,
  timeZone: string,
): AskedDimension {
  if (typeof wanted === "string") {
    const version = isVersionColumn(wanted) ? { compare: compareVersions } : {};
    const of = wanted !== name && { of: wanted };
    return { ...PLAIN, ...version, name, ...of, ...keyed(source.column(wanted)) };
  }
  switch (wanted.dimension) {
    case "hourOfDay": {
      if (source.daysOnly !== undefined) {
        throw new ProbelabError(
          `Can't group by the hour of the day: ${source.daysOnly}. Group by weekday(), or ask with every: "day".`,
        );
      }
      const hour = raw(`toHour(${source.instant}, '${timeZone}')`);
      const label = (text: string) => text.padStart(2, "0");
      const key = keyed({ sql: hour, type: "UInt8" });
      return { name, ...key, few: true, label, compare: numeric, natural: true, most: 24 };
    }
    case "weekday": {
      const day = raw(`toDayOfWeek(${source.instant}, 0, '${timeZone}')`);
      const label = (text: string) => WEEKDAYS[Number(text) - 1] ?? text;
      const key = keyed({ sql: day, type: "UInt8" });
      return { name, ...key, few: true, label, compare: numeric, natural: true, most: 7 };
    }
    case "versionPart": {
      // Digits joined by dots, behind what stands before the first digit ("v3.10").
      const pattern = `^[^0-9]*[0-9]+(?:\\.[0-9]+){0,${(wanted.parts ?? 1) - 1}}`;
      const partOf = (text: Sql): Sql => {
        const part = sql`extract(assumeNotNull(${text}), ${bind("version", "String", pattern)})`;
        return sql`if(isNull(${text}), NULL, if(empty(${part}), assumeNotNull(${text}), ${part}))`;
      };
      const key = keyed(source.column(wanted.column ?? ""), partOf);
      return { ...PLAIN, name, ...key, compare: compareVersions };
    }
    case "bins":
      return binsOf(name, wanted, source);
  }
  throw new ProbelabError(
    `Can't group by ${JSON.stringify(wanted)}: pass a column's name, hourOfDay(), weekday(), versionPart(column, parts) or bins(column, edges).`,
  );
}

/** Types that are grouped by as they are stored; others (arrays, maps, tuples) by their text. */
const STORED =
  /^(?:Nullable\(|LowCardinality\()*(?:String|FixedString|U?Int\d+|Enum|Bool|UUID|IPv[46]|Date)/;

/** Groups by a column as it is stored where its type allows. */
function keyed(
  { sql: column, type }: ColumnSql,
  more: (text: Sql) => Sql = (text) => text,
): Pick<AskedDimension, "key" | "text" | "sql" | "few"> {
  const text = (key: Sql) => more(asText(key));
  const few = /^(LowCardinality|Enum|Bool|Nullable\((Enum|Bool))/.test(type);
  return STORED.test(type)
    ? { key: column, text, sql: text(column), few }
    : { ...asItIs(text(column)), few: false };
}

/** A key that is the text itself. */
function asItIs(text: Sql): Pick<AskedDimension, "key" | "text" | "sql"> {
  return { key: text, text: (key) => key, sql: text };
}

const PLAIN = { label: (text: string) => text, natural: false, most: Infinity } as const;

function binsOf(name: string, wanted: Dimension, source: Source): AskedDimension {
  const { column = "", edges, parts: width = 1 } = wanted;
  const found = source.column(column);
  if (columnKind(found.type) !== "number") {
    throw new ProbelabError(
      `Can't cut ${column}, a ${found.type}, into bins: only numbers have an order. Group by the column itself, or pass a column of numbers.`,
    );
  }
  const number = sql`toFloat64(${found.sql})`;
  const known = (bin: Sql) =>
    sql`if(isNull(${found.sql}) OR NOT isFinite(ifNull(${number}, nan)), NULL, ${asText(bin)})`;
  const unit = found.unit === undefined ? "" : ` ${found.unit}`;
  if (edges === undefined) {
    const label = (text: string) =>
      `${tidy(Number(text) * width)} to ${tidy((Number(text) + 1) * width)}${unit}`;
    const bin = known(sql`floor(${number} / ${raw(String(width))})`);
    const many = { few: false, natural: false, most: Infinity };
    return { name, ...asItIs(bin), label, compare: numeric, ...many };
  }
  const list = raw(`[${edges.join(", ")}]`);
  const bin = known(sql`arrayCount(edge -> ifNull(${number}, nan) >= edge, ${list})`);
  const label = (text: string): string => {
    const at = Number(text);
    const [low, high] = [edges[at - 1], edges[at]];
    if (low === undefined) return `< ${high}${unit}`;
    return high === undefined ? `≥ ${low}${unit}` : `${low} to ${high}${unit}`;
  };
  const few = { few: true, natural: true, most: edges.length + 1 };
  return { name, ...asItIs(bin), label, compare: numeric, ...few };
}

/** Without the noise of floating point: 0.3, not 0.30000000000000004. */
function tidy(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** A value as text, null where the row has none. */
export function asText(value: Sql): Sql {
  return sql`toNullable(toString(${value}))`;
}
