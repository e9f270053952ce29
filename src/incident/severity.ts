import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { DAY, durationText, HOUR } from "../time/span.js";
import { momentText } from "../time/time-zone.js";

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

const POLICY = [
  [
    "Serious security breach or data loss; serious loss of privacy for users or team members; legal risk.",
    ...([2, "2 h", true, true, true, true] as const),
  ],
  [
    "Downtime affecting usability for a significant fraction of users (for example probes unable to submit measurements); serious security vulnerability.",
    ...([8, "8 h", true, false, true, true] as const),
  ],
  [
    "Downtime or poor performance of secondary services; anything that becomes a severity 2 event if not handled within 24 hours; outages of monitoring infrastructure.",
    ...([24, "24 h", false, false, false, true] as const),
  ],
  [
    "Any other event that needs attention within 7 days.",
    ...([7 * 24, "7 d", false, false, false, false] as const),
  ],
] as const;

const SEVERITIES: readonly Severity[] = Object.freeze(
  POLICY.map(([meaning, hours, hoursText, call, leader, postmortem, sterile], at) =>
    Object.freeze({
      number: (at + 1) as SeverityNumber,
      meaning,
      responseTime: hours,
      responseTimeText: hoursText,
      conferenceCall: call,
      callLeader: leader,
      postmortem,
      sterile,
    }),
  ),
);

/** A demand of an incident's severity at a moment. */
export interface Demand {
  readonly done: boolean;
  /** True for a response that is overdue, while somebody can still begin it. */
  readonly overdue: boolean;
  /** `Response: not recorded, due 1 May 2026 20:00 UTC, 3 h left` */
  readonly text: string;
}

/** What is recorded of an incident; times are ISO 8601 in UTC. */
export interface Recorded {
  readonly severity: SeverityNumber;
  readonly detectedAt: string;
  readonly respondedAt: string | null;
  readonly resolvedAt: string | null;
  /** When the conference call was held. */
  readonly call: string | null;
  /** The leader of the call. */
  readonly leader: string | null;
  /** True where the incident was the only priority while it was investigated. */
  readonly sterile: boolean | null;
}

/** Days after the detection in which a response that nobody recorded can still begin. */
const ACTING = 30;

/**
 * What an incident's severity demands, in the order of the policy's table (section 1.2), and what of it
 * is there at a moment. Only the response has a deadline, and is in time at that very instant. What is
 * dated after `now` isn't there yet.
 *
 * @param written true where the postmortem is complete.
 */
export function demandsOf(incident: Recorded, written: boolean, now: Date): readonly Demand[] {
  const { detectedAt, respondedAt, resolvedAt, call, leader, sterile } = incident;
  const about = findSeverity(incident.severity);
  const happened = (time: string | null) => time !== null && Date.parse(time) <= +now;
  const deadline = Date.parse(detectedAt) + about.responseTime * HOUR;
  const due = momentText(new Date(deadline), "UTC");
  const canAct = resolvedAt === null && +now - Date.parse(detectedAt) <= ACTING * DAY;
  const begun = happened(respondedAt);
  const overBy = (begun ? Date.parse(respondedAt!) : +now) - deadline;
  const isOpen = overBy > 0 && !begun;
  const response =
    begun && overBy > 0
      ? `late: it began ${durationText(overBy, 2)} after it was due, ${due}`
      : begun
        ? `done, due ${due}`
        : !isOpen
          ? `not recorded, due ${due}, ${durationText(-overBy, 2)} left`
          : canAct
            ? `overdue by ${durationText(overBy, 2)}, due ${due}`
            : `none recorded; due ${due}`;
  const demand = (isDemanded: boolean, name: string, done: boolean, open = "not recorded") =>
    isDemanded ? [{ done, overdue: false, text: `${name}: ${done ? "done" : open}` }] : [];
  return [
    { done: begun, overdue: isOpen && canAct, text: `Response: ${response}` },
    ...demand(about.conferenceCall, "Conference call", happened(call)),
    ...demand(about.callLeader, "Call leader", leader !== null),
    ...demand(about.postmortem, "Postmortem", written, "not complete"),
    ...demand(about.sterile, "Sterile investigation", sterile === true),
  ];
}

function findSeverity(number: SeverityNumber): Severity {
  const found = SEVERITIES.find((each) => each.number === number);
  if (found !== undefined) return found;
  throw new ProbelabError(
    `Can't use ${shownValue(number)} as a severity: pass the number 1, 2, 3 or 4; 1 is the highest.`,
  );
}

/**
 * A severity of the operations policy by its number.
 *
 * @throws ProbelabError for anything but the numbers 1 to 4.
 * @example
 * severity(2).responseTimeText; // "8 h"
 */
export const severity = Object.assign(findSeverity, {
  /** The four severities, the highest (1) first. */
  all: SEVERITIES,
});
