import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { readInstant } from "../time/instant.js";
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

/** What is known of an incident; leave out what isn't there yet, or pass null. Texts of times are UTC. */
export interface IncidentRecord {
  readonly severity: SeverityNumber;
  readonly detectedAt: Date | string;
  /** When the response began. */
  readonly respondedAt?: Date | string | null | undefined;
  /** When the conference call was held; or true. */
  readonly call?: boolean | Date | string | null | undefined;
  /** The call leader's name; or true. */
  readonly leader?: boolean | string | null | undefined;
  /** The postmortem's path or link; or true. */
  readonly postmortem?: boolean | string | null | undefined;
  /** True if the incident was the only priority during the investigation. */
  readonly sterile?: boolean | null | undefined;
}

/** Options of `severity.checklist`. */
export interface ChecklistOptions {
  /** The moment to check at; default the present. */
  readonly now?: Date | string;
}

const isTruth = (value: unknown): boolean => value === null || typeof value === "boolean";
const isText = (value: unknown): boolean => isTruth(value) || typeof value === "string";
// findSeverity and readInstant check these themselves.
const read: Rule = { fits: () => true, pass: "" };
const INCIDENT = {
  severity: read,
  detectedAt: read,
  respondedAt: read,
  call: read,
  leader: { fits: isText, pass: "a name or true" },
  postmortem: { fits: isText, pass: "a path, a link or true" },
  sterile: { fits: isTruth, pass: "true or false" },
} satisfies Rules<IncidentRecord>;

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

/** The demands of an incident's severity at a moment, in the order of the policy's table. */
export class Checklist {
  constructor(
    readonly severity: Severity,
    readonly detectedAt: Date,
    /** The moment of the states. */
    readonly now: Date,
    readonly demands: readonly Demand[],
  ) {}

  toString(): string {
    const { severity, detectedAt, now } = this;
    return [
      `Severity ${severity.number}, detected ${formatInstant(detectedAt, "UTC")} UTC, as of ${formatInstant(now, "UTC")} UTC`,
      ...this.demands.map((each) => `  ${each.demand.padEnd(21)}  ${stateText(each)}`),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
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

  /**
   * Lists what the incident's severity demands (section 1.2), and what of it is there. Only the response
   * has a deadline, and is in time at that very instant. What is dated after `now` isn't there yet.
   *
   * @throws ProbelabError for an unknown field or severity, a time that can't be read, and a response, a
   *   call or a `now` before the detection.
   * @example
   * severity.checklist({ severity: 1, detectedAt: "2026-05-01 12:00", leader: "Ada" }, { now: "2026-05-01 15:00" });
   */
  checklist(this: void, incident: IncidentRecord, options: ChecklistOptions = {}): Checklist {
    checkOptions(incident ?? null, INCIDENT, "check an incident");
    checkOptions(options, { now: read } satisfies Rules<ChecklistOptions>, "check an incident");
    const about = findSeverity(incident.severity);
    const detectedAt = readInstant(incident.detectedAt, "UTC", "time of detection");
    const now = readInstant(options.now ?? new Date(), "UTC", "time now");
    const afterDetection = (value: Date | string, role: string): Date => {
      const at = readInstant(value, "UTC", role);
      if (at >= detectedAt) return at;
      throw new ProbelabError(
        `Can't use ${formatInstant(at, "UTC")} UTC as the ${role}: it is before the detection at ${formatInstant(detectedAt, "UTC")} UTC; correct one of the two.`,
      );
    };
    afterDetection(now, "time now");
    const { respondedAt, call, leader, postmortem, sterile } = incident;
    const begun = respondedAt == null ? null : afterDetection(respondedAt, "time of the response");
    const isHeld =
      call == null || typeof call === "boolean"
        ? call
        : afterDetection(call, "time of the conference call") <= now;
    const demand = (name: Demand["demand"], isDemanded: boolean, proof: unknown): Demand => {
      // An empty text proves nothing.
      const isThere = typeof proof === "string" ? proof.trim() !== "" : proof === true;
      return { demand: name, state: !isDemanded ? "not demanded" : isThere ? "done" : "missing" };
    };
    const deadline = new Date(+detectedAt + about.responseTime * 3_600_000);
    return new Checklist(about, detectedAt, now, [
      response(begun, deadline, now),
      demand("conference call", about.conferenceCall, isHeld),
      demand("call leader", about.callLeader, leader),
      demand("postmortem", about.postmortem, postmortem),
      demand("sterile investigation", about.sterile, sterile),
    ]);
  },
});

function response(begun: Date | null, deadline: Date, now: Date): Demand {
  const demand = "response";
  const answered = begun !== null && begun <= now;
  const overBy = +(answered ? begun : now) - +deadline;
  if (overBy > 0) return { demand, state: answered ? "late" : "overdue", deadline, overBy };
  if (answered) return { demand, state: "done", deadline };
  return { demand, state: "missing", deadline, left: 0 - overBy };
}

/** The state of a demand in words: `not recorded, due 2026-05-01 20:00 UTC, 3 h left`. */
export function stateText({ state, deadline, overBy, left }: Demand): string {
  const due = deadline === undefined ? "" : `, due ${formatInstant(deadline, "UTC")} UTC`;
  if (overBy !== undefined) return `${state} by ${formatDuration(overBy)}${due}`;
  if (left !== undefined) return `not recorded${due}, ${formatDuration(left)} left`;
  if (state === "missing") return "not recorded";
  return `${state}${state === "done" ? due : ""}`;
}

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
