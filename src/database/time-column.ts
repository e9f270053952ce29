import { ProbelabError } from "../base/error.js";
import { DAY } from "../time/span.js";
import type { TimeRange } from "../time/time-range.js";
import { plainType } from "./column-type.js";

export { plainType } from "./column-type.js";

/** What a number, or a text of its digits, counts since 1970: steps per second, and the engine's name of the step. */
export const UNITS = {
  seconds: { perSecond: 1, step: "second", convert: "fromUnixTimestamp64Second" },
  milliseconds: { perSecond: 1e3, step: "millisecond", convert: "fromUnixTimestamp64Milli" },
  microseconds: { perSecond: 1e6, step: "microsecond", convert: "fromUnixTimestamp64Micro" },
  nanoseconds: { perSecond: 1e9, step: "nanosecond", convert: "fromUnixTimestamp64Nano" },
} as const;

/** Unit of a number, or a text of digits, since 1970. */
export type Unit = keyof typeof UNITS;

/** What a column of numbers or digits counts; its type does not say. */
export interface TimeForm {
  readonly unit: Unit;
}

/** The finest step of a column. */
export type Resolution = "day" | (typeof UNITS)[Unit]["step"];

/** Reads and bounds a column of instants in its own type. */
export interface StoredTime {
  /** SQL of a raw value: the column's name, quoted. */
  readonly sql: string;
  /**
   * A bound value of the type of `sql`, so that the primary index is used. Bounds lie within
   * 1970-01-02 to 2100: what is outside is no time (0, '', the 1970 of a default).
   */
  bound(instant: Date): { readonly type: string; readonly value: string | number };
  /**
   * SQL that is true of the rows whose time can be read, for the WHERE of every question; null where
   * the bounds leave out all others.
   */
  readonly usable: string | null;
  /** Its finest step: a `day` can give no durations. */
  readonly resolution: Resolution;
  /** In words: `DateTime64(3)`, `microseconds in a UInt64`. */
  readonly written: string;
  /** SQL that turns a raw value (of the column, or its min or max) into a DateTime or DateTime64. */
  dateTime(raw: string): string;
  /** SQL for the steps from 1970 to a raw value, an Int64, and how many a second has; missing for fractions. */
  readonly ticks?: { readonly of: (raw: string) => string; readonly perSecond: number };
  /** SQL for the seconds from one raw value to another, a Float64. */
  seconds(from: string, to: string): string;
}

/** The years in which an instant of a measurement or a log line can lie. */
export const PLAUSIBLE = { start: new Date("1990-01-01"), end: new Date("2100-01-01") } as const;

/** Before it lies only what stands for "no time": 0, '', the 1970 of a default. */
export const EARLIEST = new Date("1970-01-02");

/** A regular expression for the digits that count a unit from 2001 on. */
export function digitsPattern(unit: Unit): string {
  return `^[1-4][0-9]{${8 + String(UNITS[unit].perSecond).length}}$`;
}

/** Seconds since 1970 have ten digits from here on. */
const DIGITS_FROM = new Date(1e12);

/**
 * Reads and writes the instants of a column in its own type: DateTime, DateTime64, Date, numbers
 * counting seconds to nanoseconds since 1970 UTC, or text of such a number's digits.
 *
 * @param name the column.
 * @param type ClickHouse's name of its type; Nullable and LowCardinality are looked through.
 * @param form what its numbers or digits count; null stands for seconds.
 * @throws ProbelabError for any other type.
 */
export function timeColumn(name: string, type: string, form: TimeForm | null): StoredTime {
  const column = quoteIdentifier(name);
  const plain = plainType(type);
  const known = (raw: string) => (/Nullable\(/.test(type) ? `assumeNotNull(${raw})` : raw);
  /** `ticks` is SQL of a raw value as a number of steps, so many a second. */
  const made = (
    time: Pick<StoredTime, "bound" | "resolution" | "dateTime"> & Partial<StoredTime>,
    ticks: (raw: string) => string,
    perSecond: number,
  ): StoredTime => ({
    sql: column,
    usable: null,
    written: type,
    ...(plain !== "Float64" && { ticks: { of: ticks, perSecond } }),
    seconds: (from, to) => `(${ticks(to)} - ${ticks(from)}) / ${perSecond}`,
    ...time,
    bound: (instant) => time.bound(plausible(instant)),
  });
  const [, family, precision] = /^(DateTime64|DateTime|Date32|Date)\b(?:\((\d))?/.exec(plain) ?? [];
  if (family === "DateTime") {
    const bound = (instant: Date) => ({ type: "DateTime('UTC')", value: ceilTo(instant, 1) });
    const ticks = (raw: string) => `toInt64(toUnixTimestamp(${known(raw)}))`;
    return made({ resolution: "second", bound, dateTime: known }, ticks, 1);
  }
  if (family === "DateTime64") {
    const digits = Number(precision);
    const nano = digits > 6;
    const bound = (instant: Date) => ({
      type: `DateTime64(${Math.max(3, digits)}, 'UTC')`,
      value: (instant.getTime() / 1000).toFixed(3),
    });
    const ticks = (raw: string) => `toUnixTimestamp64${nano ? "Nano" : "Micro"}(${known(raw)})`;
    const resolution = Object.values(UNITS)[Math.ceil(digits / 3)]!.step;
    return made({ resolution, bound, dateTime: known }, ticks, nano ? 1e9 : 1e6);
  }
  if (family !== undefined) {
    const bound = (instant: Date) => ({
      type: plain,
      value: isoDate(Math.ceil(instant.getTime() / DAY) * DAY),
    });
    const dateTime = (raw: string) => `toDateTime(${known(raw)}, 'UTC')`;
    const ticks = (raw: string) => `toInt64(toUnixTimestamp(${dateTime(raw)}))`;
    return made({ resolution: "day", bound, dateTime }, ticks, 1);
  }
  const unit = form?.unit ?? "seconds";
  const { perSecond, step, convert } = UNITS[unit];
  const digits = isText(type);
  if (digits || /^U?Int(32|64)$/.test(plain)) {
    const bound = (instant: Date) => ({
      type: digits ? "String" : plain,
      value: count(digits && instant < DIGITS_FROM ? DIGITS_FROM : instant, unit),
    });
    const ticks = (raw: string) =>
      digits ? `toInt64OrZero(toString(${known(raw)}))` : `toInt64(${known(raw)})`;
    const dateTime = (raw: string) => `${convert}(${ticks(raw)})`;
    const written = `${unit} in ${digits ? "the digits of " : ""}a ${type}`;
    // Digits sort as their numbers do while all are as many, as all of 2001 to 2286 are.
    const usable = digits ? `match(toString(${known(column)}), '${digitsPattern(unit)}')` : null;
    return made({ resolution: step, bound, dateTime, written, usable }, ticks, perSecond);
  }
  if (plain === "Float64") {
    const bound = (instant: Date) => ({
      type: plain,
      value: (instant.getTime() / 1000) * perSecond,
    });
    const dateTime = (raw: string) =>
      `fromUnixTimestamp64Micro(toInt64(round(${known(raw)} * ${1e6 / perSecond})))`;
    const written = `${unit} in a ${type}`;
    return made({ resolution: "microsecond", bound, dateTime, written }, known, perSecond);
  }
  throw new ProbelabError(
    `Can't bound a query by ${name}, a ${type}: a time column is a DateTime, DateTime64, Date, or an integer, Float64 or digits since 1970. Name another column as time, or a view that gives this one as such.`,
  );
}

/** True if the type, or that inside Nullable(…) and LowCardinality(…), holds text. */
export function isText(type: string): boolean {
  const plain = plainType(type);
  return plain === "String" || plain.startsWith("FixedString");
}

/** An identifier in backquotes. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replace(/\\/g, "\\\\").replace(/`/g, "\\`")}\``;
}

/** `column >= start AND column < end`, and that the time can be read, with the values to bind. */
export function boundsSql(
  column: StoredTime,
  range: Pick<TimeRange, "start" | "end">,
  prefix = "range",
): { sql: string; parameters: Record<string, string | number> } {
  const start = column.bound(range.start);
  const end = column.bound(range.end);
  const conditions = [
    `${column.sql} >= {${prefix}_start:${start.type}}`,
    `${column.sql} < {${prefix}_end:${end.type}}`,
    ...(column.usable === null ? [] : [column.usable]),
  ];
  return {
    sql: conditions.join(" AND "),
    parameters: { [`${prefix}_start`]: start.value, [`${prefix}_end`]: end.value },
  };
}

function plausible(instant: Date): Date {
  const { end } = PLAUSIBLE;
  return instant < EARLIEST ? EARLIEST : instant > end ? end : instant;
}

// A column of whole steps satisfies x >= t exactly where x >= ceil(t), and x < t where x < ceil(t).
function ceilTo(instant: Date, perSecond: number): number {
  return Math.ceil((instant.getTime() * perSecond) / 1000);
}

function count(instant: Date, unit: Unit): string {
  if (unit === "seconds") return String(ceilTo(instant, 1));
  return String(BigInt(instant.getTime()) * BigInt(UNITS[unit].perSecond / 1e3));
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
