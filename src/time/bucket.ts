import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";
import { grouped } from "../base/text.js";
import { BUCKETS, stepOf, usualLength, type Bucket, type Step } from "./step.js";
import { formatRange, type TimeRange } from "./time-range.js";
import { DAY } from "./span.js";

export { BUCKETS, checkBucket, type Bucket } from "./step.js";

/** One bucket of a range. */
export interface RangeBucket {
  readonly start: Date;
  /** The start of the next bucket. */
  readonly end: Date;
  /** False where the range covers only a part of it: such a bucket looks like a drop. */
  readonly complete: boolean;
}

/**
 * All buckets that a range touches, in order, the incomplete ones at its edges marked.
 *
 * @throws ProbelabError for what is no step of time.
 * @example
 * buckets(between("2026-05-01", "2026-05-11"), "week").map((b) => b.complete); // [false, true]
 */
export function buckets(range: TimeRange, every: Bucket): RangeBucket[] {
  const result: RangeBucket[] = [];
  const step = stepOf(every);
  let start = startAt(+range.start, step, range.timeZone);
  while (start < +range.end) {
    const end = startAfter(start, step, range.timeZone);
    const complete = start >= +range.start && end <= +range.end;
    result.push({ start: new Date(start), end: new Date(end), complete });
    start = end;
  }
  return result;
}

/**
 * The finest bucket whose rows fit a budget: one row a bucket and series, over the whole range.
 *
 * @param budgetRows most rows, such as 4,999 for a chart.
 * @param seriesCount how many series are asked for, at least 1.
 * @throws ProbelabError when not even months fit.
 * @example
 * autoBucket(last("3 months", { now: "2026-05-01" }), 4_999, 6); // "3 hours"
 */
export function autoBucket(range: TimeRange, budgetRows: number, seriesCount: number): Bucket {
  const most = budgetRows / Math.max(1, seriesCount);
  const fitting = BUCKETS.find((every) => countBuckets(range, every, most) <= most);
  if (fitting !== undefined) return fitting;
  throw new ProbelabError(
    `Can't fit ${grouped(seriesCount)} series over ${formatRange(range)} into ${grouped(budgetRows)} rows, not even by month: ask for fewer series (top) or a shorter range.`,
  );
}

/** Counts the buckets that a range touches; Infinity if there are surely more than `most`. */
function countBuckets(range: TimeRange, every: Bucket, most: number): number {
  const start = range.start.getTime();
  const end = range.end.getTime();
  // Clocks that are set back make buckets longer than they are named, by hours altogether.
  if (every !== "month" && (end - start - DAY) / usualLength(every) > most) return Infinity;
  return buckets(range, every).length;
}

/**
 * The start of the bucket that an instant falls in: the last start at or before it.
 *
 * Buckets start when the clocks of the zone show a multiple of the step:
 * - seconds, minutes and hours that divide an hour (`"15 minutes"`): each time the clocks show a
 *   multiple or are changed, so that an hour that they show twice is two buckets;
 * - those that divide a day (`"90 minutes"`, `"3 hours"`): counted from each midnight, the first
 *   time that the clocks show it: at 0, 3, 6 … o'clock;
 * - those that divide neither (`"7 minutes"`, `"5 hours"`): even steps from 1970-01-01T00:00Z,
 *   whatever the zone;
 * - days: at midnight, several counted from 1970-01-01; weeks: on Monday (ISO 8601), several counted
 *   from 1970-01-05; months and years: on the first, several counted from January of year 0, so that
 *   3 months are quarters.
 *
 * Where the clocks are set forward past a multiple the bucket starts at that change. So no bucket
 * overlaps another, whatever a zone does. ClickHouse's `toStartOf…` differ from that on some days on
 * which a zone changes by anything but whole hours, so questions ask by these starts.
 *
 * @example
 * const instant = new Date("2026-10-03T15:45:00Z"); // the clocks went from 02:00 to 02:30 at 15:30Z
 * bucketStart(instant, "hour", "Australia/Lord_Howe"); // 2026-10-03T15:30:00.000Z
 */
export function bucketStart(instant: Date, every: Bucket, timeZone: string): Date {
  return new Date(startAt(+instant, stepOf(every), timeZone));
}

/** The start of the bucket after the one that begins at `start`. */
export function nextBucket(start: Date, every: Bucket, timeZone: string): Date {
  return new Date(startAfter(+start, stepOf(every), timeZone));
}

function startAt(ms: number, step: Step, timeZone: string): number {
  const { begins, size, origin } = step;
  if (begins === "epoch") return floorTo(ms, size);
  if (begins !== "month") {
    const { from, offset } = steadyOffset(ms, timeZone);
    const start = floorTo(ms + offset - origin, size) + origin - offset;
    if (begins === "clock") return Math.max(start, from);
    // Clocks that were set back may have shown the start before: no zone sets them back by a day.
    if (start - DAY >= from) return start;
  }
  let start = firstInstantAt(floorWall(wallClock(ms, timeZone), step), timeZone);
  // Clocks that were set back over a multiple show the bucket before it once more.
  for (let next = start; next <= ms; next = startAfter(start, step, timeZone)) start = next;
  return start;
}

function startAfter(ms: number, step: Step, timeZone: string): number {
  const { begins, size, origin } = step;
  if (begins === "epoch") return ms + size;
  if (begins !== "month") {
    const { until, offset } = steadyOffset(ms, timeZone);
    const next = floorTo(ms + offset - origin, size) + size + origin - offset;
    if (begins === "clock") return Math.min(next, until);
    if (next < until) return next;
  }
  let wall = floorWall(wallClock(ms, timeZone), step);
  for (;;) {
    wall = wall.add(begins === "month" ? { months: size } : { milliseconds: size });
    const next = firstInstantAt(wall, timeZone);
    if (next > ms) return next;
  }
}

function floorTo(value: number, size: number): number {
  return Math.floor(value / size) * size;
}

/** The multiple of the step that a wall clock showed last. */
function floorWall(local: Temporal.PlainDateTime, { begins, size, origin }: Step) {
  if (begins === "month") {
    const months = floorTo(local.year * 12 + local.month - 1, size);
    return new Temporal.PlainDateTime(Math.floor(months / 12), (months % 12) + 1, 1);
  }
  const shown = local.toZonedDateTime("UTC").epochMilliseconds;
  return wallClock(floorTo(shown - origin, size) + origin, "UTC");
}

/** Milliseconds by which a zone's clocks are ahead of UTC at an instant (ms since 1970). */
export function offsetAt(ms: number, timeZone: string): number {
  return zoned(ms, timeZone).offsetNanoseconds / 1e6;
}

/** The time on the clocks of a zone at an instant (ms since 1970). */
function wallClock(ms: number, timeZone: string): Temporal.PlainDateTime {
  return zoned(ms, timeZone).toPlainDateTime();
}

/**
 * The first instant at which the clocks of a zone show a time or, where they are set forward past
 * it, a later one: the instant of that change.
 */
function firstInstantAt(wall: Temporal.PlainDateTime, timeZone: string): number {
  const first = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  if (first.toPlainDateTime().equals(wall)) return first.epochMilliseconds;
  const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  return steadyOffset(later.epochMilliseconds, timeZone).from;
}

/** The time in which the clocks of a zone keep an offset: [from, until) in ms since 1970. */
interface SteadyOffset {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
}

// By zone the time that was asked for last: buckets follow each other.
const steady = new Map<string, SteadyOffset>();

/** The offset at an instant (ms since 1970), and between which changes the clocks keep it. */
export function steadyOffset(ms: number, timeZone: string): SteadyOffset {
  const known = steady.get(timeZone);
  if (known !== undefined && ms >= known.from && ms < known.until) return known;
  const at = zoned(ms, timeZone);
  const found = {
    from:
      at.add({ nanoseconds: 1 }).getTimeZoneTransition("previous")?.epochMilliseconds ?? -Infinity,
    until: at.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity,
    offset: at.offsetNanoseconds / 1e6,
  };
  steady.set(timeZone, found);
  return found;
}

function zoned(ms: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
}
