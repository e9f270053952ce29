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

/** Dimensions to group by: a column's name or a dimension, a list of them, or an object that names them. */
export type By<Name extends string = string> =
  GroupBy<Name> | readonly GroupBy<Name>[] | Readonly<Record<string, GroupBy<Name>>>;

type GroupBy<Name extends string> = Name | Dimension<string, Name>;

/** A dimension as a question asks it. */
export interface AskedDimension {
  readonly name: string;
  /** The table's column, where this is another name of it. */
  readonly of?: string;
  /** The expression that rows are grouped by: the stored column, since making it text takes processor time. */
  readonly key: Sql;
  /** Nullable text of a key. Keys of one text are one value. */
  readonly text: (key: Sql) => Sql;
  /** True where the type, or the nature of it, says that there are few values. */
  readonly few: boolean;
  /** The value's text in the answer. */
  readonly label: (text: string) => string;
  /** The order of a legend; missing: by size. */
  readonly compare?: (a: string, b: string) => number;
  /** How many values there are by nature (hours, weekdays, bins), all of which are kept; 0: any number. */
  readonly natural: number;
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const numeric = (a: string, b: string): number => Number(a) - Number(b);

/** The dimensions of `by`, each with the name of its column. */
export function namedBy(by: By | undefined): readonly (readonly [string, string | Dimension])[] {
  if (typeof by === "string") return [[by, by]];
  if (isDimension(by)) return [[by.name, by]];
  if (!Array.isArray(by)) return Object.entries((by ?? {}) as Record<string, string | Dimension>);
  return (by as readonly (string | Dimension)[]).map((one) => {
    if (typeof one === "string" || isDimension(one)) return [nameOf(one), one];
    throw new ProbelabError(
      `Can't group by ${JSON.stringify(one) ?? "undefined"}: pass columns' names, such as by: ["probe_cc", "test_name"].`,
    );
  });
}

function isDimension(by: unknown): by is Dimension {
  return typeof by === "object" && by !== null && typeof (by as Dimension).dimension === "string";
}

/** The name of a dimension's column by itself. */
export function nameOf(one: string | Dimension): string {
  return typeof one === "string" ? one : one.name;
}

/**
 * The dimensions of `by`, each once.
 *
 * @param taken names of the answer's other columns.
 * @throws ProbelabError for unknown columns, and for names that occur twice, are taken or unsafe.
 */
export function dimensionsOf(
  by: By,
  source: Source,
  timeZone: string,
  taken: readonly string[],
): AskedDimension[] {
  const seen = new Set<string>();
  return namedBy(by).map(([name, dimension]) => {
    if (seen.size === seen.add(name).size) {
      throw new ProbelabError(
        `Can't group by ${name} twice: name each column of by once, or { ${name}: …, ${name}_2: … } for two of one column.`,
      );
    }
    const reason =
      name === "t"
        ? "that is the column of time"
        : ["__proto__", "constructor", "prototype"].includes(name)
          ? "JavaScript gives that name another meaning"
          : taken.includes(name)
            ? "another column of the answer has that name"
            : undefined;
    if (reason === undefined) return dimensionOf(name, dimension, source, timeZone);
    const other = `${name.replace(/\W|^_+|_+$/g, "")}_2`;
    const of = typeof dimension === "string" ? JSON.stringify(dimension) : "…";
    throw new ProbelabError(
      `Can't name a dimension ${JSON.stringify(name)}: ${reason}. Give it another name, such as by: { ${other}: ${of} }.`,
    );
  });
}

/** The SQL of a dimension and how its values are read. */
export function dimensionOf(
  name: string,
  wanted: string | Dimension,
  source: Source,
  timeZone: string,
): AskedDimension {
  const plain = { name, label: (text: string) => text, natural: 0 };
  if (typeof wanted === "string") {
    const own = {
      ...plain,
      ...(wanted !== name && { of: wanted }),
      ...keyed(source.column(wanted)),
    };
    return isVersionColumn(wanted) ? { ...own, compare: compareVersions } : own;
  }
  const few = { few: true, compare: numeric };
  switch (wanted.dimension) {
    case "hourOfDay": {
      if (source.daysOnly !== undefined) {
        throw new ProbelabError(
          `Can't group by the hour of the day: ${source.daysOnly}. Group by weekday(), or ask with every: "day".`,
        );
      }
      const key = raw(`toHour(${source.instant}, '${timeZone}')`);
      const label = (text: string) => text.padStart(2, "0");
      return { name, key, text: asText, ...few, label, natural: 24 };
    }
    case "weekday": {
      const key = raw(`toDayOfWeek(${source.instant}, 0, '${timeZone}')`);
      const label = (text: string) => WEEKDAYS[Number(text) - 1] ?? text;
      return { name, key, text: asText, ...few, label, natural: 7 };
    }
    case "versionPart": {
      // Digits joined by dots, behind what stands before the first digit ("v3.10").
      const pattern = `^[^0-9]*[0-9]+(?:\\.[0-9]+){0,${(wanted.parts ?? 1) - 1}}`;
      const partOf = (text: Sql): Sql => {
        const part = sql`extract(assumeNotNull(${text}), ${bind("version", "String", pattern)})`;
        return sql`if(isNull(${text}), NULL, if(empty(${part}), assumeNotNull(${text}), ${part}))`;
      };
      const key = keyed(source.column(wanted.column ?? ""), partOf);
      return { ...plain, ...key, compare: compareVersions };
    }
    case "bins":
      return { name, ...few, ...binsOf(wanted, source) };
  }
  throw new ProbelabError(
    `Can't group by ${JSON.stringify(wanted)}: pass a column's name, hourOfDay(), weekday(), versionPart(column, parts) or bins(column, edges).`,
  );
}

/** Types that are grouped by as they are stored; others (arrays, maps, tuples) by their text. */
const STORED =
  /^(?:Nullable\(|LowCardinality\()*(?:String|FixedString|U?Int\d+|Enum|Bool|UUID|IPv[46]|Date)/;

type Key = Pick<AskedDimension, "key" | "text" | "few">;

/** Groups by a column as it is stored where its type allows. */
function keyed({ sql: column, type }: ColumnSql, more = (text: Sql): Sql => text): Key {
  const text = (key: Sql) => more(asText(key));
  const few = /^(LowCardinality|Enum|Bool|Nullable\((Enum|Bool))/.test(type);
  return STORED.test(type)
    ? { key: column, text, few }
    : { key: text(column), text: (key) => key, few: false };
}

function binsOf(wanted: Dimension, source: Source) {
  const { column = "", edges, parts: width = 1 } = wanted;
  const found = source.column(column);
  if (columnKind(found.type) !== "number") {
    throw new ProbelabError(
      `Can't cut ${column}, a ${found.type}, into bins: only numbers have an order. Group by the column itself, or pass a column of numbers.`,
    );
  }
  const number = sql`toFloat64(${found.sql})`;
  const unit = found.unit === undefined ? "" : ` ${found.unit}`;
  const bin =
    edges === undefined
      ? sql`floor(${number} / ${raw(String(width))})`
      : sql`arrayCount(edge -> ifNull(${number}, nan) >= edge, ${raw(`[${edges.join(", ")}]`)})`;
  const key = sql`if(isNull(${found.sql}) OR NOT isFinite(ifNull(${number}, nan)), NULL, ${asText(bin)})`;
  const label = (text: string): string => {
    const at = Number(text);
    if (edges === undefined) return `${tidy(at * width)} to ${tidy((at + 1) * width)}${unit}`;
    const [low, high] = [edges[at - 1], edges[at]];
    if (low === undefined) return `< ${high}${unit}`;
    return high === undefined ? `≥ ${low}${unit}` : `${low} to ${high}${unit}`;
  };
  const natural = edges === undefined ? 0 : edges.length + 1;
  return { key, text: (key: Sql) => key, label, few: natural > 0, natural };
}

/** Without the noise of floating point: 0.3, not 0.30000000000000004. */
function tidy(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** A value as text, null where the row has none. */
export function asText(value: Sql): Sql {
  return sql`toNullable(toString(${value}))`;
}
