import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import { readInstant } from "../../time/instant.js";
import { formatInstant } from "../../time/time-zone.js";
import { severityOf, type Severity, type SeverityNumber } from "./severities.js";

/** What is known of an incident; what isn't there yet is null or left out. */
export interface IncidentRecord {
  readonly severity: SeverityNumber;
  /** A Date, or a text read in UTC. */
  readonly detectedAt: Date | string;
  /** When the response began. */
  readonly respondedAt?: Date | string | null | undefined;
  /** Conference call: true, its link, or when it was held; a text that looks like a time is one. */
  readonly call?: boolean | string | Date | null | undefined;
  /** Call leader: true, or a name. */
  readonly leader?: boolean | string | null | undefined;
  /** Postmortem: true, its path or link, or when it was finished, as of `call`. */
  readonly postmortem?: boolean | string | Date | null | undefined;
  /** Whether the investigation is held sterile. */
  readonly sterile?: boolean | null | undefined;
}

/** How an incident is checked. */
export interface ChecklistOptions {
  /** The moment to look at; default the present. */
  readonly now?: Date | string;
}

const isKind = (value: unknown, ...kinds: readonly string[]): boolean =>
  value === null || kinds.includes(typeof value);
const isHeld = (value: unknown): boolean =>
  isKind(value, "boolean", "string") || value instanceof Date;
// What reads severities and times tells what is wrong with them.
const read: Rule = { fits: () => true, pass: "" };
const INCIDENT = {
  severity: read,
  detectedAt: read,
  respondedAt: read,
  call: { fits: isHeld, pass: "true, a link, or when it was held" },
  leader: { fits: (value) => isKind(value, "boolean", "string"), pass: "true or a name" },
  postmortem: { fits: isHeld, pass: "true, its path or link, or when it was finished" },
  sterile: { fits: (value) => isKind(value, "boolean"), pass: "true or false" },
} satisfies Rules<IncidentRecord>;

/** What a severity can demand. */
export type DemandName = "response" | "conference call" | "call leader" | "postmortem" | "sterile";

/**
 * `done`; `late`: done after its deadline; `overdue`: not done at its deadline; `missing`: demanded
 * and not yet there; `not demanded` by this severity.
 */
export type DemandState = "done" | "late" | "overdue" | "missing" | "not demanded";

/** A demand of a severity, and how it stands. */
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
  readonly severity: Severity;
  readonly detectedAt: Date;
  /** The moment that the states hold for. */
  readonly now: Date;
  readonly demands: readonly Demand[];

  constructor(severity: Severity, detectedAt: Date, now: Date, demands: readonly Demand[]) {
    this.severity = severity;
    this.detectedAt = detectedAt;
    this.now = now;
    this.demands = demands;
  }

  /** The demands that are overdue, then those that are missing and have no deadline. */
  get overdue(): Demand[] {
    return this.demands.filter(
      ({ state, deadline }) => state === "overdue" || (state === "missing" && !deadline),
    );
  }

  toString(): string {
    const { severity, detectedAt, now } = this;
    return [
      `Severity ${severity.number}, detected ${formatInstant(detectedAt, "UTC")} UTC, as of ${formatInstant(now, "UTC")} UTC`,
      ...this.demands.map((each) => `  ${each.demand.padEnd(15)}  ${stateText(each)}`),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * When the response to an incident must have begun.
 *
 * @throws ProbelabError for an unknown severity, or a time that can't be read.
 * @example
 * deadline(2, "2026-05-01T12:00:00Z").toISOString(); // "2026-05-01T20:00:00.000Z"
 */
export function deadline(severity: SeverityNumber, detectedAt: Date | string): Date {
  const { responseTime } = severityOf(severity);
  const detected = readInstant(detectedAt, "UTC", "time of detection");
  return new Date(detected.getTime() + responseTime * 3_600_000);
}

/**
 * What the incident's severity demands, and what of it is there.
 *
 * Only the response has a deadline, and is in time at that very instant; the other demands are
 * `missing` until they are there. What is dated after `now`, by a Date or by a text that looks like
 * a time (`"2026-05-01 12:00"`), isn't there yet.
 *
 * @throws ProbelabError for an unknown field or severity, a value that a field doesn't take, a time
 *   that can't be read, and a response, a call, a postmortem or a `now` before the detection.
 * @example
 * checklist({ severity: 1, detectedAt: "2026-05-01 12:00", call: true }, { now: "2026-05-01 15:00" });
 */
export function checklist(incident: IncidentRecord, options: ChecklistOptions = {}): Checklist {
  const given: unknown = incident;
  if (typeof given !== "object" || !given || Array.isArray(given) || given instanceof Promise) {
    throw new ProbelabError(
      `Can't check ${shownValue(given)} as an incident: pass an object, { severity: 2, detectedAt: "2026-05-01T12:00:00Z" }.`,
    );
  }
  checkOptions(given, INCIDENT, "check an incident");
  checkOptions(options, { now: read } satisfies Rules<ChecklistOptions>, "check an incident");
  const severity = severityOf(incident.severity);
  const detectedAt = new Date(readInstant(incident.detectedAt, "UTC", "time of detection"));
  const now = new Date(readInstant(options.now ?? new Date(), "UTC", "time now"));
  if (now < detectedAt) {
    throw new ProbelabError(
      `Can't check an incident at ${formatInstant(now, "UTC")} UTC, before it was detected at ${formatInstant(detectedAt, "UTC")} UTC: pass a later now, or correct detectedAt.`,
    );
  }
  /** When something was, after the detection; null where it has no time. */
  const timeOf = (what: string, field: "respondedAt" | "call" | "postmortem"): Date | null => {
    const value = incident[field];
    const isText =
      typeof value === "string" && (field === "respondedAt" || TIME.test(value.trim()));
    if (!isText && !(value instanceof Date)) return null;
    const at = readInstant(value, "UTC", `time of the ${what}`);
    if (at >= detectedAt) return at;
    throw new ProbelabError(
      `Can't use a ${what} at ${formatInstant(at, "UTC")} UTC, before the detection at ${formatInstant(detectedAt, "UTC")} UTC: correct ${field} or detectedAt; a date alone is its midnight.`,
    );
  };
  const dated = (demand: DemandName, demanded: boolean, field: "call" | "postmortem"): Demand => {
    const at = timeOf(demand, field);
    return open(demand, demanded, at === null ? incident[field] : at <= now);
  };
  return new Checklist(severity, detectedAt, now, [
    response(timeOf("response", "respondedAt"), deadline(severity.number, detectedAt), now),
    dated("conference call", severity.conferenceCall, "call"),
    open("call leader", severity.callLeader, incident.leader),
    dated("postmortem", severity.postmortem, "postmortem"),
    open("sterile", severity.sterile, incident.sterile),
  ]);
}

/** What shows that a demand is met: true, a text that says where or who, or its time. */
type Proof = boolean | string | Date | null | undefined;

// A date, alone or with a time of day: also one that can't be read, which should be told, such as
// 2026-05-01 12:00 CET, but no path that begins with a date, such as 2026-05-01-outage.md.
const TIME = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[T ]+\d{1,2}:)/i;

/** A demand without a deadline; an empty text proves nothing. */
function open(demand: DemandName, demanded: boolean, proof: Proof): Demand {
  const isThere = typeof proof === "string" ? proof.trim() !== "" : proof === true;
  return { demand, state: !demanded ? "not demanded" : isThere ? "done" : "missing" };
}

function response(begun: Date | null, deadline: Date, now: Date): Demand {
  const demand = "response";
  const answered = begun !== null && begun <= now;
  const overBy = (answered ? begun : now).getTime() - deadline.getTime();
  if (overBy > 0) return { demand, state: answered ? "late" : "overdue", deadline, overBy };
  if (answered) return { demand, state: "done", deadline };
  return { demand, state: "missing", deadline, left: 0 - overBy };
}

/** How a demand stands, in words: `missing, due 2026-05-01 20:00 UTC, 3 h left`. */
export function stateText({ state, deadline, overBy, left }: Demand): string {
  const due = deadline === undefined ? "" : `, due ${formatInstant(deadline, "UTC")} UTC`;
  if (overBy !== undefined) return `${state} by ${formatDuration(overBy)}${due}`;
  if (left !== undefined) return `${state}${due}, ${formatDuration(left)} left`;
  return `${state}${state === "done" ? due : ""}`;
}

/** Milliseconds as the two largest units that count: `3 d 4 h`, `1 h 30 min`, `20 s`. */
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
