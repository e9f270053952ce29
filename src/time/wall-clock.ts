import { Temporal } from "temporal-polyfill";

/** Milliseconds by which a zone's clocks are ahead of UTC at an instant (ms since 1970). */
export function offsetAt(ms: number, timeZone: string): number {
  return zoned(ms, timeZone).offsetNanoseconds / 1e6;
}

/** What the clocks of a zone show at an instant (ms since 1970). */
export function wallClock(ms: number, timeZone: string): Temporal.PlainDateTime {
  return zoned(ms, timeZone).toPlainDateTime();
}

/**
 * The first instant at which the clocks of a zone show a time or, where they are set forward past
 * it, a later one: the instant of that change.
 */
export function firstInstantAt(wall: Temporal.PlainDateTime, timeZone: string): number {
  const first = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  if (first.toPlainDateTime().equals(wall)) return first.epochMilliseconds;
  const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  return offsetChange(first.epochMilliseconds, later.epochMilliseconds, timeZone);
}

/** The instant in (from, to] at which the offset becomes another one; the two differ in it. */
export function offsetChange(from: number, to: number, timeZone: string): number {
  const before = offsetAt(from, timeZone);
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, timeZone) === before) low = middle;
    else high = middle;
  }
  return high;
}

function zoned(ms: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
}
