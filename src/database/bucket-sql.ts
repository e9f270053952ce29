import { bucketRuns, buckets, bucketStart, hasOddOffsets, type Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import { offsetAt } from "../time/wall-clock.js";

/**
 * SQL for the start of the bucket that a DateTime or DateTime64 inside a range falls in, as
 * DateTime64(3) in the range's zone: the same instant as `bucketStart` gives.
 *
 * ClickHouse's own functions for the usual steps, unless they would begin elsewhere, which is so
 * where the zone changes oddly (`hasOddOffsets`) and before 1970, where they end at 1970-01-01. There,
 * and for any other step (of which servers of different age begin some differently), the starts
 * themselves are written into the SQL, as runs of an even distance: most often it is one.
 *
 * @param range its zone is a checked IANA name.
 */
export function bucketSql(dateTime: string, every: Bucket, range: TimeRange): string {
  const { timeZone } = range;
  const zone = `'${timeZone}'`;
  const begin = FUNCTIONS.get(every);
  const first = bucketStart(range.start, every, timeZone);
  if (begin === undefined || isBefore1970(first, timeZone) || hasOddOffsets(range, every)) {
    return fromStarts(dateTime, every, range);
  }
  return `toDateTime64(${begin(dateTime, zone)}, 3, ${zone})`;
}

const FUNCTIONS: ReadonlyMap<string, (dateTime: string, zone: string) => string> = new Map([
  ["minute", (dateTime, zone) => `toStartOfMinute(${dateTime}, ${zone})`],
  ["hour", (dateTime, zone) => `toStartOfHour(${dateTime}, ${zone})`],
  ["3 hours", (dateTime, zone) => `toStartOfInterval(${dateTime}, INTERVAL 3 HOUR, ${zone})`],
  ["6 hours", (dateTime, zone) => `toStartOfInterval(${dateTime}, INTERVAL 6 HOUR, ${zone})`],
  ["day", (dateTime, zone) => `toStartOfDay(${dateTime}, ${zone})`],
  ["week", (dateTime, zone) => `toStartOfWeek(${dateTime}, 1, ${zone})`],
  ["month", (dateTime, zone) => `toStartOfMonth(${dateTime}, ${zone})`],
] satisfies [Bucket, (dateTime: string, zone: string) => string][]);

/** True before 1970 in UTC or on the clocks of the zone. */
function isBefore1970(instant: Date, timeZone: string): boolean {
  const ms = instant.getTime();
  return ms < 0 || (ms < 86_400_000 && ms + offsetAt(ms, timeZone) < 0);
}

function fromStarts(dateTime: string, every: Bucket, range: TimeRange): string {
  const runs = bucketRuns(buckets(range, every)).reverse();
  const starts = runs.map(({ from, step, count }) =>
    count === 1
      ? String(from)
      : `${from} + least(intDiv(_ms - ${from}, ${step}), ${count - 1}) * ${step}`,
  );
  const conditions = runs.slice(0, -1).flatMap(({ from }, i) => [`_ms >= ${from}`, starts[i]]);
  const earliest = starts.at(-1)!;
  const start =
    conditions.length === 0 ? earliest : `multiIf(${[...conditions, earliest].join(", ")})`;
  const ms = `toUnixTimestamp64Milli(toDateTime64(${dateTime}, 3, 'UTC'))`;
  const named = start.replace("_ms", () => `(${ms} AS _ms)`);
  return `fromUnixTimestamp64Milli(toInt64(${named}), '${range.timeZone}')`;
}
