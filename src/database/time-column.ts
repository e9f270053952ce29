import { ProbelabError } from "../base/error.js";
import { DAY, HOUR } from "../time/span.js";
import type { TimeRange } from "../time/time-range.js";
import { plainType } from "./column-type.js";

export { plainType } from "./column-type.js";

/** Steps per second of a column that counts them since 1970. */
export const UNITS = {
  seconds: 1,
  milliseconds: 1e3,
  microseconds: 1e6,
  nanoseconds: 1e9,
} as const;

/** Unit of a number, or a text of digits, since 1970. */
export type Unit = keyof typeof UNITS;

/** The form in which a column of numbers or text writes instants; its type does not say. */
export type TimeForm =
  { readonly unit: Unit; readonly digits?: boolean } | { readonly text: string };

/** The finest step of a column. */
export type Resolution = "day" | "second" | "millisecond" | "microsecond" | "nanosecond";

/** Reads and bounds a column of instants in its own type. */
export interface StoredTime {
  /** SQL of a raw value: the column's name, quoted; of text that is no digits a DateTime64. */
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
  /** For text: conditions on the sort key that leave out most rows before `start` and from `end` on. */
  readonly coarse?: (range: Partial<Pick<TimeRange, "start" | "end">>) => string[];
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

const TIME_OF_DAY = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
const AFTER = "([.][0-9]+)? ?(Z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?)?$";

/**
 * Texts that are read as instants: to the second or finer, in UTC or with an offset. The engine reads a
 * date of zeros as the first of January of this year, so the year and the month are checked here.
 */
export const ISO_TEXT = `^(19[7-9]|20[0-9])[0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ T]${TIME_OF_DAY}${AFTER}`;

/** Texts of that form, also those that no calendar and no clock shows. */
export const ISO_FORM = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}${AFTER}`;

/** A regular expression for the digits that count a unit from 2001 on. */
export function digitsPattern(unit: Unit): string {
  return `^[1-4][0-9]{${8 + String(UNITS[unit]).length}}$`;
}

/** Seconds since 1970 have ten digits from here on. */
const DIGITS_FROM = new Date(1e12);

/**
 * Reads and writes the instants of a column in its own type: DateTime, DateTime64, Date, numbers
 * counting seconds to nanoseconds since 1970 UTC, text of such a number's digits, or text such as
 * `2026-05-01 12:00:00.5+02:00`, in UTC where it has no offset.
 *
 * @param name the column.
 * @param type ClickHouse's name of its type; Nullable and LowCardinality are looked through.
 * @param form what its numbers or digits count; null stands for seconds, and for text.
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
    const resolution = resolutionOf(10 ** digits);
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
  const unit = form !== null && "unit" in form ? form.unit : "seconds";
  const perSecond = UNITS[unit];
  const resolution = resolutionOf(perSecond);
  const convert = `fromUnixTimestamp64${{ 1: "Second", 1e3: "Milli", 1e6: "Micro", 1e9: "Nano" }[perSecond]}`;
  if (/^U?Int(32|64)$/.test(plain)) {
    const bound = (instant: Date) => ({ type: plain, value: count(instant, unit) });
    const ticks = (raw: string) => `toInt64(${known(raw)})`;
    const dateTime = (raw: string) => `${convert}(${ticks(raw)})`;
    const written = `${unit} in a ${type}`;
    return made({ resolution, bound, dateTime, written }, ticks, perSecond);
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
  if (!isText(type)) {
    throw new ProbelabError(
      `Can't bound a query by ${name}, a ${type}: a time column is a DateTime, DateTime64, Date, an integer or Float64 since 1970 or text such as "2026-05-01 12:00:00". Name another column as time, or a view that gives this one as such.`,
    );
  }
  const text = `toString(${known(column)})`;
  if (form !== null && "unit" in form) {
    const bound = (instant: Date) => ({
      type: "String",
      value: count(instant < DIGITS_FROM ? DIGITS_FROM : instant, unit),
    });
    const ticks = (raw: string) => `toInt64OrZero(toString(${known(raw)}))`;
    const dateTime = (raw: string) => `${convert}(${ticks(raw)})`;
    const written = `${unit} in the digits of a ${type}`;
    // Digits sort as their numbers do while all are as many, as all of 2001 to 2286 are.
    const usable = `match(${text}, '${digitsPattern(unit)}')`;
    return made({ resolution, bound, dateTime, written, usable }, ticks, perSecond);
  }
  return made(
    {
      sql: `parseDateTime64BestEffortOrZero(${text}, 6, 'UTC')`,
      resolution: "microsecond",
      written: `text in a ${type}`,
      usable: `match(${text}, '${ISO_TEXT}')`,
      // The clocks of the world are 12 hours behind UTC to 14 ahead of it.
      coarse: ({ start, end }) => [
        ...(start ? [`${column} >= '${isoDate(plausible(start).getTime() - 12 * HOUR)}'`] : []),
        ...(end ? [`${column} < '${isoDate(plausible(end).getTime() + 14 * HOUR + DAY)}'`] : []),
      ],
      bound: (instant) => ({
        type: "DateTime64(6, 'UTC')",
        value: (instant.getTime() / 1000).toFixed(3),
      }),
      dateTime: (raw) => raw,
    },
    (raw) => `toUnixTimestamp64Micro(${raw})`,
    1e6,
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
    ...(column.coarse?.(range) ?? []),
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

function resolutionOf(perSecond: number): Resolution {
  if (perSecond > 1e6) return "nanosecond";
  if (perSecond > 1e3) return "microsecond";
  return perSecond > 1 ? "millisecond" : "second";
}

// A column of whole steps satisfies x >= t exactly where x >= ceil(t), and x < t where x < ceil(t).
function ceilTo(instant: Date, perSecond: number): number {
  return Math.ceil((instant.getTime() * perSecond) / 1000);
}

function count(instant: Date, unit: Unit): string {
  if (unit === "seconds") return String(ceilTo(instant, 1));
  return String(BigInt(instant.getTime()) * BigInt(UNITS[unit] / 1e3));
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
