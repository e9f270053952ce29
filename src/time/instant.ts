import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../error.js";

/**
 * An instant from what an analyst writes: a Date, or a text. A text without an offset
 * (`"2026-05-01"`, `"2026-05-01 12:00"`) is read in `timeZone`, one with `Z` or an offset is exact.
 *
 * @param role what it is, for the error: "time of a mark".
 * @throws ProbelabError for what can't be read.
 */
export function readInstant(value: unknown, timeZone: string, role: string): Date {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  if (typeof value === "string") {
    const text = value.trim();
    try {
      return /(?:z|[+-]\d\d(?::?\d\d)?)$/i.test(text) && /\d[t ]\d/i.test(text)
        ? new Date(Temporal.Instant.from(text).epochMilliseconds)
        : new Date(Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds);
    } catch {
      // told below, with the value
    }
  }
  const shown = value instanceof Date ? "an invalid Date" : (JSON.stringify(value) ?? "undefined");
  throw new ProbelabError(
    `Can't read ${shown} as the ${role}: pass a Date or a text such as "2026-05-01" or "2026-05-01T12:00:00Z".`,
  );
}
