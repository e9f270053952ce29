import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../error.js";
import type { TimeRange } from "./time-range.js";

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

const HOURS = { "3 hours": 3, "6 hours": 6 } as const;

const UTC_SIZES = {
  minute: 60_000,
  hour: 3_600_000,
  "3 hours": 10_800_000,
  "6 hours": 21_600_000,
  day: 86_400_000,
} as const;

/** The start of the bucket that an instant falls in. */
export function bucketStart(instant: Date, every: Bucket, timeZone: string): Date {
  const ms = instant.getTime();
  if (timeZone === "UTC" && every !== "week" && every !== "month") {
    const size = UTC_SIZES[every];
    return new Date(Math.floor(ms / size) * size);
  }
  const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  switch (every) {
    case "minute":
    case "hour":
      return new Date(
        local.round({ smallestUnit: every, roundingMode: "floor" }).epochMilliseconds,
      );
    case "3 hours":
    case "6 hours":
      return oClock(local.toPlainDate(), local.hour - (local.hour % HOURS[every]), timeZone);
    case "day":
      return midnight(local.toPlainDate(), timeZone);
    case "week":
      return midnight(local.toPlainDate().subtract({ days: local.dayOfWeek - 1 }), timeZone);
    case "month":
      return midnight(local.toPlainDate().with({ day: 1 }), timeZone);
  }
}

/** The start of the bucket after the one that begins at `start`. */
export function nextBucket(start: Date, every: Bucket, timeZone: string): Date {
  if (every === "minute") return new Date(start.getTime() + 60_000);
  const local = Temporal.Instant.fromEpochMilliseconds(start.getTime()).toZonedDateTimeISO(
    timeZone,
  );
  if (every === "hour") {
    // An hour of elapsed time, then its start again: zones shift by half hours too.
    const next = bucketStart(new Date(start.getTime() + 3_600_000), "hour", timeZone);
    // Where the clocks are set back by half an hour, that hour takes 90 minutes.
    return next > start
      ? next
      : bucketStart(new Date(start.getTime() + 5_400_000), "hour", timeZone);
  }
  if (every === "3 hours" || every === "6 hours") {
    const hour = local.hour - (local.hour % HOURS[every]) + HOURS[every];
    if (hour < 24) return oClock(local.toPlainDate(), hour, timeZone);
    return midnight(local.toPlainDate().add({ days: 1 }), timeZone);
  }
  return midnight(local.toPlainDate().add({ [`${every}s`]: 1 }), timeZone);
}

function midnight(date: Temporal.PlainDate, timeZone: string): Date {
  return new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
}

function oClock(date: Temporal.PlainDate, hour: number, timeZone: string): Date {
  const wall = date.toPlainDateTime({ hour });
  return new Date(wall.toZonedDateTime(timeZone).epochMilliseconds);
}
