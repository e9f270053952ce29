import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { readInstant } from "../../time/instant.js";
import { formatInstant } from "../../time/time-zone.js";
import { severityOf, type Severity, type SeverityNumber } from "./severities.js";

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
// severityOf and readInstant check these themselves.
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

/** What a severity can demand. */
export type DemandName =
  "response" | "conference call" | "call leader" | "postmortem" | "sterile investigation";

/**
 * `done`; `late`: done after its deadline; `overdue`: not done at its deadline; `missing`: demanded
 * and not yet there; `not demanded` by this severity.
 */
export type DemandState = "done" | "late" | "overdue" | "missing" | "not demanded";

/** A demand of a severity, and its state. */
export interface Demand {
  readonly demand: DemandName;
  readonly state: DemandState;
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

  /** What is still owed: an overdue response, and missing demands without a deadline. */
  get owed(): Demand[] {
    return this.demands.filter(
      ({ state, deadline }) => state === "overdue" || (state === "missing" && !deadline),
    );
  }

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

/**
 * Lists what the incident's severity demands (section 1.2), and what of it is there. Only the response
 * has a deadline, and is in time at that very instant. What is dated after `now` isn't there yet.
 *
 * @throws ProbelabError for an unknown field or severity, a time that can't be read, and a response, a
 *   call or a `now` before the detection.
 * @example
 * severity.checklist({ severity: 1, detectedAt: "2026-05-01 12:00", leader: "Ada" }, { now: "2026-05-01 15:00" });
 */
export function checklist(incident: IncidentRecord, options: ChecklistOptions = {}): Checklist {
  checkOptions(incident ?? null, INCIDENT, "check an incident");
  checkOptions(options, { now: read } satisfies Rules<ChecklistOptions>, "check an incident");
  const severity = severityOf(incident.severity);
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
      ? call === true
      : afterDetection(call, "time of the conference call") <= now;
  const demand = (name: DemandName, isDemanded: boolean, proof: unknown): Demand => {
    // An empty text proves nothing.
    const isThere = typeof proof === "string" ? proof.trim() !== "" : proof === true;
    return { demand: name, state: !isDemanded ? "not demanded" : isThere ? "done" : "missing" };
  };
  const deadline = new Date(+detectedAt + severity.responseTime * 3_600_000);
  return new Checklist(severity, detectedAt, now, [
    response(begun, deadline, now),
    demand("conference call", severity.conferenceCall, isHeld),
    demand("call leader", severity.callLeader, leader),
    demand("postmortem", severity.postmortem, postmortem),
    demand("sterile investigation", severity.sterile, sterile),
  ]);
}

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
