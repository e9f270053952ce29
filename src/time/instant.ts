import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";

// Date, time, offset and annotations of RFC 9557, in the extended and the basic form.
const SHAPE =
  /^(?:[+-]\d{6}|\d{4})-?\d\d-?\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)?(?<offset>Z|[+-]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)?)?)?(?<annotations>(?:\[[^\]]*\])*)$/i;

// Annotations with an equals sign give the calendar and the like, which change no instant.
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
  const parts: { offset?: string; annotations?: string } = SHAPE.exec(text)?.groups ?? {};
  const { offset, annotations = "" } = parts;
  const zone = ZONE.exec(annotations)?.[1];
  const zoned = (how: "reject" | "ignore") =>
    Temporal.ZonedDateTime.from(text, { offset: how }).epochMilliseconds;
  let remedy = `pass a Date or a text such as "2026-05-01" or "2026-05-01T12:00:00Z".`;
  try {
    if (!SHAPE.test(text)) throw new RangeError("no time");
    // Each of the three refuses what it would have to ignore, but for an offset in a PlainDateTime.
    if (zone !== undefined) return new Date(zoned("reject"));
    return new Date(
      offset === undefined
        ? Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds
        : Temporal.Instant.from(text).epochMilliseconds,
    );
  } catch {
    if (zone !== undefined && offset !== undefined && isTime(() => zoned("ignore"))) {
      remedy = `clocks of ${zone} don't show that time with the offset ${offset}; leave out or correct one of the two.`;
    }
  }
  throw new ProbelabError(`Can't read ${shown(value)} as the ${role}: ${remedy}`);
}

function isTime(read: () => number): boolean {
  try {
    return Number.isFinite(read());
  } catch {
    return false;
  }
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Date) return "an invalid Date";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
