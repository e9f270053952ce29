import { ProbelabError } from "../error.js";
import type { TimeRange } from "../time/time-range.js";

/** How a table writes an instant in one of its columns. */
export interface TimeColumn {
  /** The column's name, quoted. */
  readonly sql: string;
  /** A bound value of the column's own type, so that the primary index is used. */
  bound(instant: Date): { readonly type: string; readonly value: string | number };
  /** SQL that turns a raw value (of the column, or its min or max) into a DateTime or DateTime64. */
  dateTime(raw: string): string;
  /** SQL for the seconds from one raw value to another, a Float64. */
  seconds(from: string, to: string): string;
  /** SQL that a row must fulfil to have a time at all, beside the bounds; missing where these do. */
  readonly usable?: string | null;
  /** `"day"` where the column tells no time of the day. */
  readonly resolution?: string;
}

/** Steps per second of an integer column. */
const UNITS = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 } as const;

/**
 * Reads and writes the instants of a column in its own type: DateTime, DateTime64, Date, integers
 * counting seconds to nanoseconds since 1970 UTC, text `YYYY-MM-DD hh:mm:ss[.f…]` in UTC, or text of
 * such an integer's digits.
 *
 * @param name the column.
 * @param type ClickHouse's name of its type; Nullable and LowCardinality are looked through.
 * @param sample one value of the column as text: tells the unit of an integer and the form of a text.
 * @throws ProbelabError for any other type.
 */
export function timeColumn(name: string, type: string, sample: string | null): TimeColumn {
  const sql = quoteIdentifier(name);
  const plain = plainType(type);
  const nullable = /Nullable\(/.test(type);
  const known = (raw: string) => (nullable ? `assumeNotNull(${raw})` : raw);
  if (plain === "DateTime" || plain.startsWith("DateTime(")) {
    return {
      sql,
      bound: (instant) => ({ type: "DateTime('UTC')", value: ceilTo(instant, 1) }),
      dateTime: known,
      seconds: (from, to) =>
        `toFloat64(toInt64(toUnixTimestamp(${known(to)})) - toInt64(toUnixTimestamp(${known(from)})))`,
    };
  }
  const precision = /^DateTime64\((\d)/.exec(plain)?.[1];
  if (precision !== undefined) {
    const nano = Number(precision) > 6;
    const ticks = (raw: string) => `toUnixTimestamp64${nano ? "Nano" : "Micro"}(${known(raw)})`;
    return {
      sql,
      bound: (instant) => ({
        type: `DateTime64(${Math.max(3, Number(precision))}, 'UTC')`,
        value: (instant.getTime() / 1000).toFixed(3),
      }),
      dateTime: known,
      seconds: (from, to) => `(${ticks(to)} - ${ticks(from)}) / ${nano ? "1e9" : "1e6"}`,
    };
  }
  if (plain === "Date" || plain === "Date32") {
    return {
      sql,
      bound: (instant) => ({
        type: plain,
        value: new Date(Math.ceil(instant.getTime() / 86_400_000) * 86_400_000)
          .toISOString()
          .slice(0, 10),
      }),
      dateTime: (raw) => `toDateTime(${known(raw)}, 'UTC')`,
      seconds: (from, to) => `toFloat64(dateDiff('second', ${known(from)}, ${known(to)}))`,
    };
  }
  if (/^U?Int(32|64)$/.test(plain)) {
    const unit = integerUnit(sample, plain.endsWith("32"));
    const convert = { s: "Second", ms: "Milli", us: "Micro", ns: "Nano" }[unit];
    return {
      sql,
      bound: (instant) => ({ type: plain, value: integerBound(instant, unit) }),
      dateTime: (raw) => `fromUnixTimestamp64${convert}(toInt64(${known(raw)}))`,
      seconds: (from, to) => `(toInt64(${known(to)}) - toInt64(${known(from)})) / ${UNITS[unit]}`,
    };
  }
  if (plain === "String" || plain.startsWith("FixedString")) {
    if (sample !== null && /^\d+$/.test(sample)) return digitColumn(sql, sample, known);
    const dateTime = (raw: string) =>
      `parseDateTime64BestEffort(toString(${known(raw)}), 6, 'UTC')`;
    const micro = (raw: string) => `toUnixTimestamp64Micro(${dateTime(raw)})`;
    return {
      sql,
      bound: (instant) => ({ type: "String", value: textBound(instant, sample) }),
      dateTime,
      seconds: (from, to) => `(${micro(to)} - ${micro(from)}) / 1e6`,
    };
  }
  throw new ProbelabError(
    `Can't bound a query by ${name}, a ${type}: a time column is a DateTime, DateTime64, Date, an integer since 1970 or text such as "2026-05-01 12:00:00".`,
  );
}

/** Text of digits sorts as its numbers do while all have the same length, as all of 2001 to 2286 have. */
function digitColumn(sql: string, sample: string, known: (raw: string) => string): TimeColumn {
  const unit = integerUnit(sample, false);
  const convert = { s: "Second", ms: "Milli", us: "Micro", ns: "Nano" }[unit];
  const number = (raw: string) => `toInt64OrZero(toString(${known(raw)}))`;
  return {
    sql,
    bound: (instant) => ({
      type: "String",
      value: integerBound(instant, unit).padStart(sample.length, "0"),
    }),
    dateTime: (raw) => `fromUnixTimestamp64${convert}(${number(raw)})`,
    seconds: (from, to) => `(${number(to)} - ${number(from)}) / ${UNITS[unit]}`,
  };
}

/** The type inside Nullable(…) and LowCardinality(…). */
export function plainType(type: string): string {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  return inner === undefined ? type : plainType(inner);
}

/** An identifier in backquotes. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replace(/\\/g, "\\\\").replace(/`/g, "\\`")}\``;
}

/** `column >= start AND column < end` with the values to bind. */
export function boundsSql(
  column: TimeColumn,
  range: Pick<TimeRange, "start" | "end">,
  prefix = "range",
): { sql: string; parameters: Record<string, string | number> } {
  const start = column.bound(range.start);
  const end = column.bound(range.end);
  return {
    sql: `${column.sql} >= {${prefix}_start:${start.type}} AND ${column.sql} < {${prefix}_end:${end.type}}`,
    parameters: { [`${prefix}_start`]: start.value, [`${prefix}_end`]: end.value },
  };
}

// A column of whole steps satisfies x >= t exactly where x >= ceil(t), and x < t where x < ceil(t).
function ceilTo(instant: Date, perSecond: number): number {
  return Math.ceil((instant.getTime() * perSecond) / 1000);
}

function integerBound(instant: Date, unit: keyof typeof UNITS): string {
  if (unit === "s") return String(ceilTo(instant, 1));
  return String(BigInt(instant.getTime()) * BigInt(UNITS[unit] / 1e3));
}

function integerUnit(sample: string | null, narrow: boolean): keyof typeof UNITS {
  const digits = sample?.replace(/^-/, "").length ?? 0;
  if (narrow || digits <= 11) return "s";
  if (digits <= 14) return "ms";
  return digits <= 17 ? "us" : "ns";
}

function textBound(instant: Date, sample: string | null): string {
  const fraction = sample?.includes(".") ?? false;
  const exact = fraction ? instant : new Date(ceilTo(instant, 1) * 1000);
  const text = exact.toISOString().slice(0, -1);
  const spaced = sample?.[10] === "T" ? text : text.replace("T", " ");
  return spaced.endsWith(".000") ? spaced.slice(0, -4) : spaced;
}
