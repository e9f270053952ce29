import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";
import { readInstant } from "./instant.js";
import { readSpan, whyAmbiguous } from "./span.js";
import { checkTimeZone, formatInstant, written } from "./time-zone.js";

/** A half-open span of time, [start, end), and the time zone of its calendar; as text "2026-02-01 to 2026-05-01 UTC". */
export interface TimeRange {
  /** The first instant that belongs to the range. */
  readonly start: Date;
  /** The first instant after the range. */
  readonly end: Date;
  /** IANA name; buckets (days, weeks, months) begin at midnight of this zone. */
  readonly timeZone: string;
}

/** Where a range begins and ends, whatever its zone. */
export type Bounds = Pick<TimeRange, "start" | "end">;

/**
 * The time up to now: `last("3 months")`, `last("90d")`.
 *
 * Months and years are calendar steps in `timeZone`: a month before 31 March is the last day of
 * February. The range is half-open, [now − duration, now).
 *
 * @param duration a whole number and a unit: second, minute, hour, day, week, month or year, with
 *   or without s, or short: s, sec, min, h, hr, d, w, wk, mo, y, yr; a unit alone means one of it.
 *   `"3m"` is refused: it may be minutes or months.
 * @param options `now` (default: the present; for a database whose data ends earlier take
 *   `lab.now`), `timeZone` (IANA name, default UTC).
 * @throws ProbelabError when the duration can't be read or the time zone is unknown.
 * @example
 * const range = last("3 months", { now: new Date("2026-05-01T00:00:00Z") });
 * String(range); // "2026-02-01 to 2026-05-01 UTC"
 */
export function last(
  duration: string,
  options: { now?: Date | string; timeZone?: string } = {},
): TimeRange {
  const timeZone = checkTimeZone(options.timeZone ?? "UTC");
  const span = readSpan(duration);
  if (span === undefined) {
    throw new ProbelabError(
      `Can't read the duration ${JSON.stringify(duration)}: ${whyAmbiguous(duration) ?? 'write a whole number and a unit, such as last("3 months"), last("36 hours"), last("90d") or last("week")'}.`,
    );
  }
  const end =
    options.now === undefined
      ? new Date()
      : readInstant(options.now, timeZone, "now of a time range");
  const start = Temporal.Instant.fromEpochMilliseconds(end.getTime())
    .toZonedDateTimeISO(timeZone)
    .subtract({ [`${span.unit}s`]: span.count });
  return makeRange(new Date(start.epochMilliseconds), end, timeZone);
}

/**
 * The time from `start` up to, and without, `end`.
 *
 * A text without an offset (`"2026-05-01"`, `"2026-05-01 12:00"`) is read in `timeZone`; one with
 * `Z` or an offset, and a Date, is an exact instant.
 *
 * @param options `timeZone`: IANA name, default UTC.
 * @throws ProbelabError when a bound can't be read, end is not after start, or a bound lies
 *   outside 1970-01-01 to 2106-02-07, the time that a ClickHouse DateTime can hold.
 * @example
 * String(between("2026-05-01", "2026-05-08")); // "2026-05-01 to 2026-05-08 UTC"
 */
export function between(
  start: Date | string,
  end: Date | string,
  options: { timeZone?: string } = {},
): TimeRange {
  const timeZone = checkTimeZone(options.timeZone ?? "UTC");
  return makeRange(
    readInstant(start, timeZone, "start of a time range"),
    readInstant(end, timeZone, "end of a time range"),
    timeZone,
  );
}

/**
 * `"2026-02-01 to 2026-05-01 UTC"`; with the time of day where a bound is not at midnight; a range
 * of a millisecond, which holds one instant, as that instant.
 */
export function formatRange(range: TimeRange): string {
  const start = formatInstant(range.start, range.timeZone);
  if (range.end.getTime() - range.start.getTime() === 1) return `${start} ${range.timeZone}`;
  const end = formatInstant(range.end, range.timeZone);
  return `${start} to ${end} ${range.timeZone}`;
}

/**
 * As people write it, the year once, the last day of whole days: `"1–7 May 2026"` of 2026-05-01 to
 * 2026-05-08, `"27 Apr–3 May 2026"`; else with the zone: `"1 May 2026 06:00–14:00 UTC"`,
 * `"1 May 22:00 – 2 May 2026 04:00 UTC"`. Whole days of another zone name it, too.
 */
export function rangeText({ start, end, timeZone }: TimeRange): string {
  const from = written(start, timeZone);
  // The range holds its end's eve, not its end.
  const isMidnight = +end % 60_000 === 0 && written(end, timeZone).time === "00:00";
  const to = isMidnight
    ? { ...written(new Date(+end - 1), timeZone), time: "24:00" }
    : written(end, timeZone);
  const isWhole = isMidnight && from.time === "00:00" && +start % 60_000 === 0;
  const last = `${to.day} ${to.month} ${to.year}`;
  const inYear = from.year === to.year;
  const isDay = inYear && from.month === to.month && from.day === to.day;
  const first = [
    from.day,
    ...(isWhole && inYear && from.month === to.month ? [] : [from.month]),
    ...(inYear ? [] : [from.year]),
  ].join(" ");
  if (isWhole)
    return `${isDay ? "" : `${first}–`}${last}${timeZone === "UTC" ? "" : ` ${timeZone}`}`;
  if (!isDay) return `${first} ${from.time} – ${last} ${to.time} ${timeZone}`;
  return `${last} ${from.time}${from.time === to.time ? "" : `–${to.time}`} ${timeZone}`;
}

/** The range that a query was given, as the option of that name, checked: every query is bounded in time. */
export function checkRange(value: unknown, action: string, option = "range"): TimeRange {
  const range = value as Partial<TimeRange> | null | undefined;
  if (!(range?.start instanceof Date) || !(range.end instanceof Date)) {
    throw new ProbelabError(
      `Can't ${action} without a time range: pass { ${option}: last("3 months") } or { ${option}: between("2026-05-01", "2026-05-08") }.`,
    );
  }
  return makeRange(range.start, range.end, checkTimeZone(range.timeZone ?? "UTC"));
}

const LATEST = Date.UTC(2106, 1, 7);

function makeRange(start: Date, end: Date, timeZone: string): TimeRange {
  const from = start.getTime();
  const to = end.getTime();
  if (!(to > from)) {
    throw new ProbelabError(
      `Can't use a time range that ends at ${formatInstant(end, timeZone)}, not after its start ${formatInstant(start, timeZone)}: swap the two bounds, or move the end.`,
    );
  }
  if (from < 0 || to > LATEST) {
    throw new ProbelabError(
      `Can't use the time range ${formatInstant(start, timeZone)} to ${formatInstant(end, timeZone)}: ClickHouse's DateTime holds 1970-01-01 to 2106-02-07, take bounds inside it.`,
    );
  }
  const range: TimeRange = { start: new Date(from), end: new Date(to), timeZone };
  // Not enumerable: a range is compared, spread and written down as its three fields.
  Object.defineProperty(range, "toString", { value: () => formatRange(range) });
  return Object.freeze(range);
}
