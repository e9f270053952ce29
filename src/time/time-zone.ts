import { Temporal } from "temporal-polyfill";
import { ProbelabError } from "../base/error.js";

/** The IANA name as given, once it is known to exist. */
export function checkTimeZone(name: string): string {
  try {
    if (/^[+-]/.test(name)) throw new RangeError("offset");
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return name;
  } catch {
    throw new ProbelabError(
      `Can't use the time zone ${JSON.stringify(name)}: pass an IANA name such as "UTC" or "Europe/Rome".`,
    );
  }
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** As people write it: `1 May 2026` at midnight of the zone, else `1 May 2026 12:30`; seconds are left out. */
export function dateText(instant: Date, timeZone: string): string {
  if (Number.isNaN(instant.getTime())) return "an invalid Date";
  const { day, month, year, time } = written(instant, timeZone);
  return `${day} ${month} ${year}${time === "00:00" ? "" : ` ${time}`}`;
}

/** Two instants, the year once where it is the same: `9 Oct and 23 Oct 2026`, with `word` between them. */
export function pairText(from: Date, until: Date, timeZone: string, word: string): string {
  const [first, last] = [dateText(from, timeZone), dateText(until, timeZone)];
  const [year, same] = [from, until].map((each) => ` ${written(each, timeZone).year}`);
  return `${year === same ? first.replace(year!, "") : first} ${word} ${last}`;
}

/** A moment with its time of day and zone, also at midnight: `1 May 2026 00:00 UTC`. */
export function momentText(instant: Date, timeZone: string): string {
  const { day, month, year, time } = written(instant, timeZone);
  return `${day} ${month} ${year} ${time} ${timeZone}`;
}

/** The parts of a written date; the time of the day to the minute. */
export function written(instant: Date, timeZone: string) {
  const local = Temporal.Instant.fromEpochMilliseconds(+instant).toZonedDateTimeISO(timeZone);
  const { day, month, year } = local;
  const time = local.toPlainTime().toString({ smallestUnit: "minute" });
  return { day, month: MONTHS[month - 1]!, year, time };
}

/** For tables, and what is copied: `2026-05-01` at midnight of the zone, else `2026-05-01 12:30`, `… 12:30:05` or `… 12:30:05.250`. */
export function formatInstant(instant: Date, timeZone: string): string {
  if (Number.isNaN(instant.getTime())) return "an invalid Date";
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime();
  const date = local.toPlainDate().toString();
  if (local.millisecond)
    return `${date} ${local.toPlainTime().toString({ fractionalSecondDigits: 3 })}`;
  if (local.second) return `${date} ${local.toPlainTime().toString({ smallestUnit: "second" })}`;
  if (local.hour || local.minute) {
    return `${date} ${local.toPlainTime().toString({ smallestUnit: "minute" })}`;
  }
  return date;
}
