import type { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../error.js";
import type { TimeRange } from "./time-range.js";
import { firstInstantAt, offsetAt, offsetChange, wallClock } from "./wall-clock.js";

/** The steps that time is cut into, from the finest to the coarsest. */
export const BUCKETS = ["minute", "hour", "3 hours", "6 hours", "day", "week", "month"] as const;

/**
 * A step of time. Weeks start on Monday (ISO 8601); all begin at midnight of the range's zone, and
 * steps of several hours begin again at each midnight: at 0, 3, 6 … o'clock of the wall clock.
 */
export type Bucket = (typeof BUCKETS)[number];

/** One bucket of a range. */
export interface RangeBucket {
  readonly start: Date;
  /** The start of the next bucket. */
  readonly end: Date;
  /** False where the range covers only a part of it: such a bucket looks like a drop. */
  readonly complete: boolean;
}

/** The bucket name as given, once it is known. */
export function checkBucket(every: unknown): Bucket {
  if (BUCKETS.includes(every as Bucket)) return every as Bucket;
  throw new ProbelabError(
    `Can't group by ${JSON.stringify(every) ?? "undefined"}: pass every: ${BUCKETS.map((b) => `"${b}"`).join(", ")}, "auto" or "all".`,
  );
}

/**
 * All buckets that a range touches, in order, the incomplete ones at its edges marked.
 *
 * @example
 * buckets(between("2026-05-01", "2026-05-11"), "week").map((b) => b.complete); // [false, true]
 */
export function buckets(range: TimeRange, every: Bucket): RangeBucket[] {
  const result: RangeBucket[] = [];
  let start = bucketStart(range.start, every, range.timeZone);
  while (start < range.end) {
    const end = nextBucket(start, every, range.timeZone);
    result.push({ start, end, complete: start >= range.start && end <= range.end });
    start = end;
  }
  return result;
}

const UTC_SIZES = {
  minute: 60_000,
  hour: 3_600_000,
  "3 hours": 10_800_000,
  "6 hours": 21_600_000,
  day: 86_400_000,
} as const;

/** The first instant of 1972-02-01: since then every zone's offset is of whole minutes. */
const WHOLE_MINUTES = Date.UTC(1972, 1, 1);

/**
 * The start of the bucket that an instant falls in: the last start at or before it.
 *
 * Buckets start when the clocks of the zone show a multiple of the step: a whole minute or hour each
 * time they show it (an hour that the clocks show twice is two buckets), 0, 3, 6 … o'clock and
 * midnight the first time. Where the clocks are set forward past a multiple the bucket starts at
 * that change. So no bucket overlaps another, whatever a zone does: an hour takes 30 minutes where
 * half an hour of it is skipped, and 90 where half of it comes again. ClickHouse's `toStartOf…`
 * differ from that on some days on which a zone changes by anything but whole hours; `bucketSql`
 * then asks by these starts.
 *
 * @example
 * const instant = new Date("2026-10-03T15:45:00Z"); // the clocks went from 02:00 to 02:30 at 15:30Z
 * bucketStart(instant, "hour", "Australia/Lord_Howe"); // 2026-10-03T15:30:00.000Z
 */
export function bucketStart(instant: Date, every: Bucket, timeZone: string): Date {
  const ms = instant.getTime();
  if (timeZone === "UTC" && every !== "week" && every !== "month") {
    return new Date(floorTo(ms, UTC_SIZES[every]));
  }
  if (every === "minute" && ms >= WHOLE_MINUTES) return new Date(floorTo(ms, UTC_SIZES.minute));
  if (every === "minute" || every === "hour") {
    return new Date(evenStart(ms, UTC_SIZES[every], timeZone));
  }
  let wall = calendarStart(wallClock(ms, timeZone), every);
  // Clocks that were set back over a multiple show the bucket before it once more.
  if (offsetAt(ms - UTC_SIZES.day, timeZone) > offsetAt(ms, timeZone)) {
    let next = calendarNext(wall, every);
    while (firstInstantAt(next, timeZone) <= ms) {
      wall = next;
      next = calendarNext(wall, every);
    }
  }
  return new Date(firstInstantAt(wall, timeZone));
}

/** The start of the bucket after the one that begins at `start`. */
export function nextBucket(start: Date, every: Bucket, timeZone: string): Date {
  const ms = start.getTime();
  if (every === "minute" && ms >= WHOLE_MINUTES) return new Date(ms + UTC_SIZES.minute);
  if (every === "minute" || every === "hour") {
    return new Date(evenNext(ms, UTC_SIZES[every], timeZone));
  }
  let wall = calendarStart(wallClock(ms, timeZone), every);
  for (;;) {
    wall = calendarNext(wall, every);
    const next = firstInstantAt(wall, timeZone);
    if (next > ms) return new Date(next);
  }
}

/** The last instant up to `ms` at which the wall clock came to a multiple of `size`. */
function evenStart(ms: number, size: number, timeZone: string): number {
  const offset = offsetAt(ms, timeZone);
  const start = floorTo(ms + offset, size) - offset;
  if (offsetAt(start, timeZone) === offset) return start;
  const change = offsetChange(start, ms, timeZone);
  const before = offsetAt(change - 1, timeZone);
  const passed = floorTo(change + offset, size) > floorTo(change - 1 + before, size);
  return passed ? change : evenStart(change - 1, size, timeZone);
}

/** The first instant after `ms` at which the wall clock comes to a multiple of `size`. */
function evenNext(ms: number, size: number, timeZone: string): number {
  const offset = offsetAt(ms, timeZone);
  const next = floorTo(ms + offset, size) + size - offset;
  if (offsetAt(next, timeZone) === offset) return next;
  const change = offsetChange(ms, next, timeZone);
  return evenStart(change, size, timeZone) === change ? change : evenNext(change, size, timeZone);
}

function floorTo(value: number, size: number): number {
  return Math.floor(value / size) * size;
}

type CalendarBucket = Exclude<Bucket, "minute" | "hour">;

const HOURS = { "3 hours": 3, "6 hours": 6 } as const;

/** The multiple of the step that a wall clock showed last. */
function calendarStart(
  local: Temporal.PlainDateTime,
  every: CalendarBucket,
): Temporal.PlainDateTime {
  const midnight = local.toPlainDate().toPlainDateTime();
  switch (every) {
    case "3 hours":
    case "6 hours":
      return midnight.with({ hour: local.hour - (local.hour % HOURS[every]) });
    case "day":
      return midnight;
    case "week":
      return midnight.subtract({ days: local.dayOfWeek - 1 });
    case "month":
      return midnight.with({ day: 1 });
  }
}

function calendarNext(wall: Temporal.PlainDateTime, every: CalendarBucket): Temporal.PlainDateTime {
  if (every === "3 hours" || every === "6 hours") return wall.add({ hours: HOURS[every] });
  return wall.add({ [`${every}s`]: 1 });
}
