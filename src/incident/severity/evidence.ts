import { readInstant } from "../../time/instant.js";

/** What shows that something is there: true, a text that says where or who, or its time. */
export type Evidence = boolean | string | Date | null | undefined;

// A date, alone or with a time of day: also what can't be read as one and should be told, such as
// 2026-05-01 12:00 CET, but no path that begins with a date, such as 2026-05-01-outage.md.
const TIME =
  /^(?:[+-]\d{6}|\d{4})-\d{1,2}-\d{1,2}(?:$|Z$|\[|[+-]\d\d:\d\d$|[T ]+\d[\d:.,+ -]*(?:(?<=\d) ?[A-Z]{1,4})?(?:\[.*)?$)/i;

/**
 * When the evidence is dated: a Date, or a text that looks like a time; null where it has none.
 *
 * @throws ProbelabError for a time that can't be read.
 */
export function datedAt(evidence: Evidence, what: string): Date | null {
  const dated =
    evidence instanceof Date || (typeof evidence === "string" && TIME.test(evidence.trim()));
  return dated ? readInstant(evidence, "UTC", `time of the ${what}`) : null;
}

/** Whether evidence without a time is there: an empty text is none. */
export function isThere(evidence: Evidence): boolean {
  return typeof evidence === "string" ? evidence.trim() !== "" : evidence === true;
}
