import { Temporal } from "temporal-polyfill";

/**
 * A Vega expression that writes an instant in a time zone: `utcFormat(t + offset, "%H:%M")`.
 *
 * Vega knows UTC and the process's zone only. Instants stay instants, on a UTC scale, so that the
 * hour which comes twice in autumn is drawn twice; only the text is shifted, by the zone's offsets
 * between the two instants.
 *
 * @param instant a Vega expression for milliseconds, such as `datum.value`.
 */
export function zoneExpression(
  instant: string,
  format: string,
  timeZone: string,
  [start, end]: readonly [number, number],
): string {
  const offset = offsetExpression(instant, timeZone, start, end);
  const shifted = offset === "0" ? instant : `+${instant} + (${offset})`;
  return `utcFormat(${shifted}, ${JSON.stringify(format)})`;
}

function offsetExpression(instant: string, timeZone: string, start: number, end: number): string {
  let at = Temporal.Instant.fromEpochMilliseconds(Math.round(start)).toZonedDateTimeISO(timeZone);
  const parts: string[] = [];
  for (;;) {
    const offset = String(at.offsetNanoseconds / 1e6);
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.epochMilliseconds > end) return [...parts, offset].join("");
    parts.push(`+${instant} < ${next.epochMilliseconds} ? ${offset} : `);
    at = next;
  }
}
