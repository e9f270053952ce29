import { Temporal } from "temporal-polyfill";
import { bucketStart, type Bucket } from "./bucket.js";
import type { TimeRange } from "./time-range.js";

const MINUTE = 60_000_000_000;
const HOUR = 3_600_000_000_000;

/**
 * True where a range's zone does, in its buckets or a day before them, what few zones did: change
 * its clocks by anything but an hour, or at anything but a whole hour (half an hour in
 * Australia/Lord_Howe, at 02:45 in Pacific/Chatham), or stand off UTC by seconds.
 *
 * Of all such changes of all zones from 1970 to 2037 some 40 kinds make ClickHouse's `toStartOf…`
 * begin buckets elsewhere than `bucketStart`; no other change does.
 */
export function hasOddOffsets(range: TimeRange, every: Bucket): boolean {
  const { timeZone } = range;
  if (timeZone === "UTC") return false;
  const from = bucketStart(range.start, every, timeZone).getTime() - 86_400_000;
  let zoned = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timeZone);
  if (zoned.offsetNanoseconds % MINUTE !== 0) return true;
  for (;;) {
    const changed = zoned.getTimeZoneTransition("next");
    if (changed === null || changed.epochMilliseconds >= range.end.getTime()) return false;
    const before = changed.subtract({ nanoseconds: 1 });
    if (isOdd(before, changed, every)) return true;
    zoned = changed;
  }
}

function isOdd(
  before: Temporal.ZonedDateTime,
  after: Temporal.ZonedDateTime,
  every: Bucket,
): boolean {
  const by = Math.abs(after.offsetNanoseconds - before.offsetNanoseconds);
  if (every === "minute") return by % MINUTE !== 0;
  return by !== 0 && (by !== HOUR || before.minute !== 59 || before.second !== 59);
}
