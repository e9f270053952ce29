import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";

/** A zone in brackets; an annotation with an equals sign gives the calendar, which changes no instant. */
const ZONE = /\[!?([^\]=]+)\]/;

/**
 * An instant from what an analyst writes: a Date, or a text. A text with `Z` or an offset is exact;
 * one with a zone in brackets, as `Temporal.ZonedDateTime` writes it, is read in that zone, and its
 * offset, where it has one, must be that zone's; any other (`"2026-05-01"`, `"2026-05-01 12:00"`)
 * is read in `timeZone`. Of a wall time that clocks show twice it is the earlier.
 *
 * @param role what it is, for the error: "time of a mark".
 * @throws ProbelabError for what can't be read, in whole: nothing in a text is ignored.
 * @example
 * readInstant("2026-11-02T09:00+01:00[Europe/Berlin]", "UTC", "time of a mark"); // 08:00 UTC
 */
export function readInstant(value: unknown, timeZone: string, role: string): Date {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  const text = typeof value === "string" ? value.trim() : "";
  const zone = ZONE.exec(text)?.[1];
  const readers =
    zone === undefined
      ? [
          () => Temporal.Instant.from(text),
          () => Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone),
        ]
      : [() => Temporal.ZonedDateTime.from(text)];
  for (const read of readers) {
    try {
      return new Date(read().epochMilliseconds);
    } catch {
      // The next one may read it.
    }
  }
  const remedy =
    zone === undefined
      ? ""
      : `; the clocks of ${zone} must know it, with the offset that they show then`;
  throw new ProbelabError(
    `Can't read ${shownValue(value)} as the ${role}: pass a Date or a text such as "2026-05-01" or "2026-05-01T12:00:00Z"${remedy}.`,
  );
}
