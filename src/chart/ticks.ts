import { Temporal } from "temporal-polyfill";
import { BUCKETS, type Bucket } from "../time/bucket.js";

/** Where a time axis has its labels. */
export interface Ticks {
  /** Milliseconds since the epoch. */
  readonly at: readonly number[];
  /** Those with a second line: the first, and where the next larger unit begins. */
  readonly major: readonly number[];
  /** Strftime formats of both lines. */
  readonly format: string;
  readonly majorFormat: string;
}

interface Step {
  readonly unit: "minute" | "hour" | "day" | "week" | "month" | "year";
  readonly size: number;
}

const MS = { minute: 6e4, hour: 36e5, day: 864e5, week: 6048e5, month: 26298e5, year: 315576e5 };
const FINEST: Record<Bucket, number> = { ...MS, "3 hours": 3 * MS.hour, "6 hours": 6 * MS.hour };
const SIZES: Record<Step["unit"], readonly number[]> = {
  minute: [1, 5, 10, 15, 30],
  hour: [1, 2, 3, 6, 12],
  day: [1, 2, 4],
  week: [1, 2],
  month: [1, 2, 3, 6],
  year: [1, 2, 5, 10, 20, 50],
};
const STEPS: Step[] = (Object.keys(SIZES) as Step["unit"][]).flatMap((unit) =>
  SIZES[unit].map((size) => ({ unit, size })),
);

/**
 * At most `most` labels between two instants, on calendar steps of a time zone, never finer than
 * the buckets. Weeks are Mondays, as buckets are (Vega's own week ticks are Sundays).
 */
export function timeTicks(
  [start, end]: readonly [number, number],
  timeZone: string,
  most: number,
  every?: Bucket,
): Ticks {
  const finest = every ?? BUCKETS[0];
  const usable = STEPS.filter(({ unit, size }) => MS[unit] * size >= FINEST[finest]);
  const span = end - start;
  const step =
    usable.find(({ unit, size }) => span / (MS[unit] * size) <= most - 1) ?? usable.at(-1);
  if (step === undefined) throw new RangeError(`No step of time from ${finest}`);
  const at = stepsBetween(start, end, step, timeZone);
  const larger = { minute: "day", hour: "day", day: "year", week: "year", month: "year", year: "" };
  const unit = larger[step.unit];
  const key = (instant: number): string => {
    const date = zoned(instant, timeZone).toPlainDate().toString();
    return unit === "day" ? date : unit === "year" ? date.slice(0, -6) : "";
  };
  return {
    at,
    major: at.filter((tick, index) => index === 0 || key(tick) !== key(at[index - 1] ?? tick)),
    format: { day: "%H:%M", year: step.unit === "month" ? "%b" : "%b %-d", "": "%Y" }[unit] ?? "%Y",
    majorFormat: { day: "%b %-d, %Y", year: "%Y", "": "" }[unit] ?? "",
  };
}

function stepsBetween(start: number, end: number, step: Step, timeZone: string): number[] {
  const at: number[] = [];
  let tick = floor(zoned(start, timeZone), step);
  while (tick.epochMilliseconds <= end) {
    if (tick.epochMilliseconds >= start) at.push(tick.epochMilliseconds);
    tick = next(tick, step);
  }
  return at;
}

/** The last multiple of the step that isn't after the instant. */
function floor(instant: Temporal.ZonedDateTime, { unit, size }: Step): Temporal.ZonedDateTime {
  const day = instant.startOfDay();
  switch (unit) {
    case "minute":
      return instant.round({
        smallestUnit: "minute",
        roundingIncrement: size,
        roundingMode: "floor",
      });
    case "hour":
      return atHour(day, instant.hour - (instant.hour % size));
    case "day":
      return day.subtract({ days: (day.day - 1) % size });
    case "week": {
      const monday = day.subtract({ days: day.dayOfWeek - 1 });
      // Counted from a Monday, 1970-01-05, so that every chart cuts fortnights alike.
      const week = Math.round((dayNumber(monday) - 4) / 7);
      return monday.subtract({ weeks: ((week % size) + size) % size });
    }
    case "month":
      return day.with({ day: 1, month: day.month - ((day.month - 1) % size) });
    case "year":
      return day.with({ day: 1, month: 1, year: day.year - (day.year % size) });
  }
}

function next(tick: Temporal.ZonedDateTime, { unit, size }: Step): Temporal.ZonedDateTime {
  switch (unit) {
    case "minute":
      return tick.add({ minutes: size });
    case "hour": {
      const hour = tick.hour - (tick.hour % size) + size;
      const later =
        hour < 24 ? atHour(tick.startOfDay(), hour) : tick.add({ days: 1 }).startOfDay();
      // Where clocks are set, the hour may be the same again: time still goes on.
      return later.epochMilliseconds > tick.epochMilliseconds ? later : tick.add({ hours: size });
    }
    case "day": {
      const later = tick.add({ days: size });
      // Counted from the first of each month; a lone last day would crowd its label.
      const room = size === 1 || later.daysInMonth - later.day >= size / 2;
      return later.month === tick.month && room ? later : tick.with({ day: 1 }).add({ months: 1 });
    }
    case "week":
      return tick.add({ weeks: size });
    case "month":
      return tick.add({ months: size });
    case "year":
      return tick.add({ years: size });
  }
}

function atHour(day: Temporal.ZonedDateTime, hour: number): Temporal.ZonedDateTime {
  return day.withPlainTime({ hour });
}

function zoned(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.round(instant)).toZonedDateTimeISO(timeZone);
}

function dayNumber(date: Temporal.ZonedDateTime): number {
  return Math.round(Date.parse(`${date.toPlainDate().toString()}T00:00:00Z`) / MS.day);
}
