import { ProbelabError } from "../error.js";

/** Names of the priorities 0 to 7, as journalctl and syslog (RFC 5424, section 6.2.1) have them. */
export const PRIORITIES = [
  "emerg",
  "alert",
  "crit",
  "err",
  "warning",
  "notice",
  "info",
  "debug",
] as const;

/** A syslog priority by number or name; 0 is the most severe. */
export type Priority = number | (typeof PRIORITIES)[number];

/**
 * The number of a priority.
 *
 * @throws ProbelabError for anything but 0 to 7 or a name.
 * @example
 * priorityNumber("err"); // 3
 */
export function priorityNumber(priority: unknown): number {
  const named = PRIORITIES.indexOf(priority as (typeof PRIORITIES)[number]);
  const number = named >= 0 ? named : priority;
  if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= 7) {
    return number;
  }
  throw new ProbelabError(
    `Can't use the priority ${JSON.stringify(priority) ?? String(priority)}: pass 0 (emerg) to 7 (debug), or a name: ${PRIORITIES.join(", ")}.`,
  );
}
