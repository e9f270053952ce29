import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";

/** 1 is the highest severity. */
export type SeverityNumber = 1 | 2 | 3 | 4;

/** A severity of the operations policy: what it means (1.1) and demands (1.2). */
export interface Severity {
  readonly number: SeverityNumber;
  /** The policy's own words. */
  readonly meaning: string;
  /** In hours, from the detection until the response begins. */
  readonly responseTime: number;
  /** As the policy writes it: `"2 h"`, `"7 d"`. */
  readonly responseTimeText: string;
  readonly conferenceCall: boolean;
  readonly callLeader: boolean;
  readonly postmortem: boolean;
  /** During the investigation the incident is the only priority; all else is postponed. */
  readonly sterile: boolean;
}

const MEANINGS = [
  "Serious security breach or data loss; serious loss of privacy for users or team members; legal risk.",
  "Downtime affecting usability for a significant fraction of users (for example probes unable to submit measurements); serious security vulnerability.",
  "Downtime or poor performance of secondary services; anything that becomes a severity 2 event if not handled within 24 hours; outages of monitoring infrastructure.",
  "Any other event that needs attention within 7 days.",
] as const;

// Number, response time in hours and in words, then call, leader, postmortem and sterile.
const WORKFLOW = [
  [1, 2, "2 h", true, true, true, true],
  [2, 8, "8 h", true, false, true, true],
  [3, 24, "24 h", false, false, false, true],
  [4, 7 * 24, "7 d", false, false, false, false],
] as const;

/** The four severities, the highest (1) first. */
export const SEVERITIES: readonly Severity[] = Object.freeze(
  WORKFLOW.map(
    ([number, responseTime, responseTimeText, conferenceCall, callLeader, postmortem, sterile]) =>
      Object.freeze({
        number,
        meaning: MEANINGS[number - 1] ?? "",
        responseTime,
        responseTimeText,
        conferenceCall,
        callLeader,
        postmortem,
        sterile,
      }),
  ),
);

/**
 * A severity of the operations policy by its number.
 *
 * @throws ProbelabError for anything but the numbers 1 to 4.
 * @example
 * severity(2).responseTimeText; // "8 h"
 */
export function severityOf(number: SeverityNumber): Severity {
  const found = SEVERITIES.find((each) => each.number === number);
  if (found !== undefined) return found;
  throw new ProbelabError(
    `Can't use ${shownValue(number)} as a severity: pass the number 1, 2, 3 or 4; 1 is the highest.`,
  );
}
