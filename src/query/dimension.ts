import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { columnKind, type ColumnSql } from "./where.js";
import {
  asText,
  comparedAs,
  edgeList,
  edgesReached,
  evenBin,
  hourIn,
  partOrAll,
  weekdayIn,
  whereNumber,
} from "./clickhouse.js";
import { bind, type Sql } from "./sql.js";
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
  const isWidth = typeof at === "number";
  const edges = isWidth ? [at] : Array.isArray(at) ? (at as readonly number[]) : [];
  const ascending = edges.every(
    (edge, index) => Number.isFinite(edge) && (index === 0 || edge > (edges[index - 1] as number)),
  );
  if (edges.length === 0 || !ascending || (isWidth && !(at >= LEAST_WIDTH))) {
    throw new ProbelabError(
      `Can't cut ${column} into bins at ${shownValue(at)}: pass ascending edges, such as bins("${column}", [0, 60, 600]), or one width of at least ${LEAST_WIDTH}.`,
    );
  }
  return {
    dimension: "bins",
    name: `${column}_bin`,
    column,
    ...(isWidth ? { parts: at } : { edges }),
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
  /** The value's text in the answer. */
  readonly label: (text: string) => string;
  /** The order of a legend; missing: by size. */
  readonly compare?: (a: string, b: string) => number;
  /** How many values there are by nature (hours, weekdays, bins), all of which are kept; 0: any number. */
  readonly natural: number;
}

/** Narrower bins have no number that JavaScript can count to. */
const LEAST_WIDTH = 1e-9;

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

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

/** What a kind of dimension groups by, and how its values are read. */
type KindOf = (wanted: Dimension, source: Source, timeZone: string) => Omit<AskedDimension, "name">;

const itself = (text: string): string => text;
const byNumber = (a: string, b: string): number => Number(a) - Number(b);

/** All that there is to say of each kind of dimension. */
const KINDS: Readonly<Record<Dimension["dimension"], KindOf>> = {
  hourOfDay(_, { instant, daysOnly }, timeZone) {
    if (daysOnly !== undefined) {
      throw new ProbelabError(
        `Can't group by the hour of the day: ${daysOnly}. Group by weekday(), or ask with every: "day".`,
      );
    }
    const label = (text: string) => text.padStart(2, "0");
    const key = hourIn(instant, timeZone);
    return { key, text: asText, label, compare: byNumber, natural: 24 };
  },
  weekday(_, { instant }, timeZone) {
    const label = (text: string) => WEEKDAYS[Number(text) - 1] ?? text;
    const key = weekdayIn(instant, timeZone);
    return { key, text: asText, label, compare: byNumber, natural: 7 };
  },
  versionPart({ column = "", parts = 1 }, source) {
    // Digits joined by dots, behind what stands before the first digit ("v3.10").
    const pattern = `^[^0-9]*[0-9]+(?:\\.[0-9]+){0,${parts - 1}}`;
    const partOf = (text: Sql) => partOrAll(text, bind("version", "String", pattern));
    const key = keyed(source.column(column), partOf);
    return { ...key, label: itself, compare: compareVersions, natural: 0 };
  },
  bins({ column = "", edges, parts: width = 1 }, source) {
    const { sql: number, type, unit } = source.column(column);
    if (columnKind(type) !== "number") {
      throw new ProbelabError(
        `Can't cut ${column}, a ${type}, into bins: only numbers have an order. Group by the column itself, or pass a column of numbers.`,
      );
    }
    const bin =
      edges === undefined
        ? evenBin(number, type, width)
        : edgesReached(comparedAs(number, type, false).column, edgeList(edges, type));
    const unitText = unit === undefined ? "" : ` ${unit}`;
    const label = (text: string): string => {
      const at = Number(text);
      if (edges === undefined) return `${tidy(at * width)} to ${tidy((at + 1) * width)}${unitText}`;
      const [low, high] = [edges[at - 1], edges[at]];
      if (low === undefined) return `< ${high}${unitText}`;
      return high === undefined ? `≥ ${low}${unitText}` : `${low} to ${high}${unitText}`;
    };
    const natural = edges === undefined ? 0 : edges.length + 1;
    return {
      key: whereNumber(number, asText(bin)),
      text: (key) => key,
      label,
      compare: byNumber,
      natural,
    };
  },
};

/** The SQL of a dimension and how its values are read. */
export function dimensionOf(
  name: string,
  wanted: string | Dimension,
  source: Source,
  timeZone: string,
): AskedDimension {
  if (typeof wanted === "string") {
    const own = { name, label: itself, natural: 0, ...keyed(source.column(wanted)) };
    return {
      ...own,
      ...(wanted !== name && { of: wanted }),
      ...(isVersionColumn(wanted) && { compare: compareVersions }),
    };
  }
  if (Object.hasOwn(KINDS, wanted.dimension)) {
    return { name, ...KINDS[wanted.dimension](wanted, source, timeZone) };
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
  more = (text: Sql): Sql => text,
): Pick<AskedDimension, "key" | "text"> {
  const text = (key: Sql) => more(asText(key));
  return STORED.test(type) ? { key: column, text } : { key: text(column), text: (key) => key };
}

/** Without the noise of floating point: 0.3, not 0.30000000000000004. */
function tidy(value: number): string {
  return String(Number(value.toPrecision(12)));
}
