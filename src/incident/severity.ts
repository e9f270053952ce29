import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { DAY, HOUR } from "../time/span.js";
import { formatInstant } from "../time/time-zone.js";

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

const SEVERITIES: readonly Severity[] = Object.freeze(
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
 * A demand of a severity, and its state: `done`; `late`, done after its deadline; `overdue`, not done at
 * its deadline; `missing`, demanded and not yet there; `not demanded` by this severity.
 */
export interface Demand {
  readonly demand:
    "response" | "conference call" | "call leader" | "postmortem" | "sterile investigation";
  readonly state: "done" | "late" | "overdue" | "missing" | "not demanded";
  /** The response's alone: the policy gives no other demand a time. */
  readonly deadline?: Date;
  /** Milliseconds after the deadline, where `late` or `overdue`. */
  readonly overBy?: number;
  /** Milliseconds left until the deadline, where the response is `missing`. */
  readonly left?: number;
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

/**
 * The demands of an incident's severity at a moment, in the order of the policy's table (section 1.2).
 * Only the response has a deadline, and is in time at that very instant. What is dated after `now` isn't
 * there yet.
 *
 * @param written true where the postmortem is complete.
 */
export function demandsOf(incident: Recorded, written: boolean, now: Date): readonly Demand[] {
  const { detectedAt, respondedAt, call, leader, sterile } = incident;
  const about = findSeverity(incident.severity);
  const demand = (name: Demand["demand"], isDemanded: boolean, isThere: boolean): Demand => ({
    demand: name,
    state: !isDemanded ? "not demanded" : isThere ? "done" : "missing",
  });
  const happened = (time: string | null) => time !== null && Date.parse(time) <= +now;
  const deadline = new Date(Date.parse(detectedAt) + about.responseTime * HOUR);
  const begun = respondedAt !== null && happened(respondedAt) ? Date.parse(respondedAt) : undefined;
  const overBy = (begun ?? +now) - +deadline;
  const response = { demand: "response", deadline } as const;
  return [
    overBy > 0
      ? { ...response, state: begun === undefined ? "overdue" : "late", overBy }
      : begun === undefined
        ? { ...response, state: "missing", left: 0 - overBy }
        : { ...response, state: "done" },
    demand("conference call", about.conferenceCall, happened(call)),
    demand("call leader", about.callLeader, leader !== null),
    demand("postmortem", about.postmortem, written),
    demand("sterile investigation", about.sterile, sterile === true),
  ];
}

/** True for a demand that is met, also late. */
export function isDone({ state }: Demand): boolean {
  return state === "done" || state === "late";
}

/** Days after the detection in which what nobody told can still be done. */
const ACTING = 30;

/** True while somebody can still meet a deadline. */
export function canAct({ resolvedAt, detectedAt }: Recorded, now: Date): boolean {
  return resolvedAt === null && +now - Date.parse(detectedAt) <= ACTING * DAY;
}

/** A demand in words: `Response: not recorded, due 2026-05-01 20:00 UTC, 3 h left`; after the incident, what is on record. */
export function demandText(demand: Demand, incident: Recorded, now: Date): string {
  const { state, deadline, overBy, left } = demand;
  const name = `${demand.demand.slice(0, 1).toUpperCase()}${demand.demand.slice(1)}`;
  const due = deadline === undefined ? "" : `${formatInstant(deadline, "UTC")} UTC`;
  const words = (): string => {
    if (state === "late") {
      return `late: it began ${formatDuration(overBy ?? 0)} after it was due, ${due}`;
    }
    if (demand.demand === "postmortem" && state === "missing") return "not complete";
    if (state === "overdue" && canAct(incident, now)) {
      return `overdue by ${formatDuration(overBy ?? 0)}, due ${due}`;
    }
    if (state === "overdue") return `none is on record; it was due ${due}`;
    if (left !== undefined) return `not recorded, due ${due}, ${formatDuration(left)} left`;
    if (state === "missing") return "not recorded";
    return due === "" ? state : `${state}, due ${due}`;
  };
  return `${name}: ${words()}`;
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

/** Milliseconds in their two largest units: `3 d 4 h`, `1 h 30 min`, `20 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return milliseconds > 0 ? "less than 1 s" : "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
}
