import { ProbelabError } from "../base/error.js";
import type { TimeRange } from "../time/time-range.js";

/** Steps per second of a column that counts them since 1970. */
export const UNITS = {
  seconds: 1,
  milliseconds: 1e3,
  microseconds: 1e6,
  nanoseconds: 1e9,
} as const;

/** Unit of a number, or a text of digits, since 1970. */
export type Unit = keyof typeof UNITS;

/** Forms of an instant in text; a fraction of the second may follow `ss`. */
export const TEXT_FORMS = [
  "YYYY-MM-DD hh:mm:ss",
  "YYYY-MM-DDThh:mm:ss",
  "YYYY-MM-DD hh:mm:ssZ",
  "YYYY-MM-DDThh:mm:ssZ",
  "YYYY-MM-DD hh:mm:ss+00:00",
  "YYYY-MM-DDThh:mm:ss+00:00",
] as const;

/** Unit of a number or form of a text, which the type does not say. */
export type TimeForm =
  | { readonly unit: Unit; readonly digits?: boolean }
  | {
      readonly text: (typeof TEXT_FORMS)[number];
      /** Digits of the fraction; given only before a Z, where other lengths sort differently. */
      readonly fraction?: number;
    };

/** The finest step of a column. */
export type Resolution = "day" | "second" | "millisecond" | "microsecond" | "nanosecond";

/** Reads and bounds a column of instants in its own type. */
export interface StoredTime {
  /** The column's name, quoted. */
  readonly sql: string;
  /**
   * A bound value of the column's own type, so that the primary index is used. Bounds lie within
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
  /** SQL for the seconds from one raw value to another, a Float64. */
  seconds(from: string, to: string): string;
}

/** The years in which an instant of a measurement or a log line can lie. */
export const PLAUSIBLE = { start: new Date("1990-01-01"), end: new Date("2100-01-01") } as const;

/** Before it lies only what stands for "no time": 0, '', the 1970 of a default. */
export const EARLIEST = new Date("1970-01-02");

/**
 * Reads and writes the instants of a column in its own type: DateTime, DateTime64, Date, numbers
 * counting seconds to nanoseconds since 1970 UTC, text `YYYY-MM-DD hh:mm:ss[.f…]` in UTC, or text of
 * such a number's digits.
 *
 * @param name the column.
 * @param type ClickHouse's name of its type; Nullable and LowCardinality are looked through.
 * @param form what its numbers count, or how its text is written; null stands for seconds, and for
 *   `YYYY-MM-DD hh:mm:ss`.
 * @throws ProbelabError for any other type.
 */
export function timeColumn(name: string, type: string, form: TimeForm | null): StoredTime {
  const sql = quoteIdentifier(name);
  const plain = plainType(type);
  const known = (raw: string) => (/Nullable\(/.test(type) ? `assumeNotNull(${raw})` : raw);
  const made = (column: Omit<StoredTime, "sql" | "written">, written = type): StoredTime => ({
    ...column,
    sql,
    written,
    bound: (instant) => column.bound(plausible(instant)),
  });
  const [, family, precision] = /^(DateTime64|DateTime|Date32|Date)\b(?:\((\d))?/.exec(plain) ?? [];
  if (family === "DateTime") {
    return made({
      usable: null,
      resolution: "second",
      bound: (instant) => ({ type: "DateTime('UTC')", value: ceilTo(instant, 1) }),
      dateTime: known,
      seconds: (from, to) =>
        `toFloat64(toInt64(toUnixTimestamp(${known(to)})) - toInt64(toUnixTimestamp(${known(from)})))`,
    });
  }
  if (family === "DateTime64") {
    const digits = Number(precision);
    const nano = digits > 6;
    const ticks = (raw: string) => `toUnixTimestamp64${nano ? "Nano" : "Micro"}(${known(raw)})`;
    return made({
      usable: null,
      resolution: resolutionOf(10 ** digits),
      bound: (instant) => ({
        type: `DateTime64(${Math.max(3, digits)}, 'UTC')`,
        value: (instant.getTime() / 1000).toFixed(3),
      }),
      dateTime: known,
      seconds: (from, to) => `(${ticks(to)} - ${ticks(from)}) / ${nano ? "1e9" : "1e6"}`,
    });
  }
  if (family !== undefined) {
    return made({
      usable: null,
      resolution: "day",
      bound: (instant) => ({
        type: plain,
        value: new Date(Math.ceil(instant.getTime() / 86_400_000) * 86_400_000)
          .toISOString()
          .slice(0, 10),
      }),
      dateTime: (raw) => `toDateTime(${known(raw)}, 'UTC')`,
      seconds: (from, to) => `toFloat64(dateDiff('second', ${known(from)}, ${known(to)}))`,
    });
  }
  const unit = form !== null && "unit" in form ? form.unit : "seconds";
  const perSecond = UNITS[unit];
  const convert = `fromUnixTimestamp64${{ 1: "Second", 1e3: "Milli", 1e6: "Micro", 1e9: "Nano" }[perSecond]}`;
  if (/^U?Int(32|64)$/.test(plain)) {
    return made(
      {
        usable: null,
        resolution: resolutionOf(perSecond),
        bound: (instant) => ({ type: plain, value: count(instant, unit) }),
        dateTime: (raw) => `${convert}(toInt64(${known(raw)}))`,
        seconds: (from, to) => `(toInt64(${known(to)}) - toInt64(${known(from)})) / ${perSecond}`,
      },
      `${unit} in a ${type}`,
    );
  }
  if (plain === "Float64") {
    return made(
      {
        usable: null,
        resolution: "microsecond",
        bound: (instant) => ({ type: plain, value: (instant.getTime() / 1000) * perSecond }),
        dateTime: (raw) =>
          `fromUnixTimestamp64Micro(toInt64(round(${known(raw)} * ${1e6 / perSecond})))`,
        seconds: (from, to) => `(${known(to)} - ${known(from)}) / ${perSecond}`,
      },
      `${unit} in a ${type}`,
    );
  }
  if (isText(type)) {
    const text = `toString(${known(sql)})`;
    if (form !== null && "unit" in form) {
      const number = (raw: string) => `toInt64OrZero(toString(${known(raw)}))`;
      return made(
        {
          // Digits sort as their numbers do while all are as many, as all of 2001 to 2286 are.
          usable: `match(${text}, '${digitsPattern(unit)}')`,
          resolution: resolutionOf(perSecond),
          bound: (instant) => ({
            type: "String",
            value: count(instant < DIGITS_FROM ? DIGITS_FROM : instant, unit),
          }),
          dateTime: (raw) => `${convert}(${number(raw)})`,
          seconds: (from, to) => `(${number(to)} - ${number(from)}) / ${perSecond}`,
        },
        `${unit} in the digits of a ${type}`,
      );
    }
    const { text: written, fraction } = form ?? { text: TEXT_FORMS[0] };
    const dateTime = (raw: string) =>
      `parseDateTime64BestEffortOrZero(toString(${known(raw)}), 6, 'UTC')`;
    const micro = (raw: string) => `toUnixTimestamp64Micro(${dateTime(raw)})`;
    return made(
      {
        usable: textUsable(text, written, fraction),
        resolution: "microsecond",
        bound: (instant) => ({ type: "String", value: textBound(instant, written, fraction) }),
        dateTime,
        seconds: (from, to) => `(${micro(to)} - ${micro(from)}) / 1e6`,
      },
      `${written} in a ${type}`,
    );
  }
  throw new ProbelabError(
    `Can't bound a query by ${name}, a ${type}: a time column is a DateTime, DateTime64, Date, an integer or Float64 since 1970 or text such as "2026-05-01 12:00:00". Name another column as time, or a view that gives this one as such.`,
  );
}

/** True if the type, or that inside Nullable(…) and LowCardinality(…), holds text. */
export function isText(type: string): boolean {
  const plain = plainType(type);
  return plain === "String" || plain.startsWith("FixedString");
}

/** The type inside Nullable(…), LowCardinality(…) and SimpleAggregateFunction(f, …). */
export function plainType(type: string): string {
  const inner = /^(?:Nullable\(|LowCardinality\(|SimpleAggregateFunction\(\w+, )(.*)\)$/.exec(
    type,
  )?.[1];
  return inner === undefined ? type : plainType(inner);
}

/** An identifier in backquotes. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replace(/\\/g, "\\\\").replace(/`/g, "\\`")}\``;
}

/** `column >= start AND column < end` with the values to bind. */
export function boundsSql(
  column: StoredTime,
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

/** A regular expression for the digits that count a unit from 2001 on. */
function digitsPattern(unit: Unit): string {
  return `^[1-4][0-9]{${8 + String(UNITS[unit]).length}}$`;
}

/** Seconds since 1970 have ten digits from here on. */
const DIGITS_FROM = new Date(1e12);

/** SQL: whether a text is an instant of the calendar, written in a form. */
function textUsable(text: string, form: string, fraction?: number): string {
  const dots =
    fraction === undefined ? "([.][0-9]+)?" : fraction === 0 ? "" : `[.][0-9]{${fraction}}`;
  const pattern = form
    .replace("+", "[+]")
    .replace(/[YMD]/g, "[0-9]")
    .replace("hh:mm:ss", () => `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]${dots}`);
  return `(match(${text}, '^${pattern}$') AND isNotNull(parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')))`;
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

/**
 * The first characters that a text has from the instant on. Without a fraction's last zeros, since
 * `12:00:00` and `12:00:00.5` begin `12:00:00.500`; before a Z, which sorts after the digits and the
 * point, in whole steps of the column.
 */
function textBound(instant: Date, form: string, fraction?: number): string {
  const steps = fraction === undefined ? 1e3 : 10 ** Math.min(3, fraction);
  const text = new Date((ceilTo(instant, steps) * 1e3) / steps).toISOString().slice(0, -1);
  const bare = text.replace(/[.]?0{1,3}$/, "");
  return form[10] === "T" ? bare : bare.replace("T", " ");
}
