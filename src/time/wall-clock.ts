import { Temporal } from "temporal-polyfill";

/** Milliseconds by which a zone's clocks are ahead of UTC at an instant (ms since 1970). */
export function offsetAt(ms: number, timeZone: string): number {
  return zoned(ms, timeZone).offsetNanoseconds / 1e6;
}

/** The time on the clocks of a zone at an instant (ms since 1970). */
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
  return steadyOffset(later.epochMilliseconds, timeZone).from;
}

/** The time in which the clocks of a zone keep an offset: [from, until) in ms since 1970. */
export interface SteadyOffset {
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
