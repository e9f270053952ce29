import {
  checklist,
  deadline,
  type ChecklistOptions,
  type Demand,
  type IncidentRecord,
} from "./checklist.js";
import { SEVERITIES, severityOf } from "./severities.js";
import { suggest } from "./suggest.js";

/** The four severities of incidents: what they mean, what they demand, what is overdue. */
export const severity = {
  /** The four, the highest (1) first: meaning, response time, call, leader, postmortem, sterile. */
  all: SEVERITIES,
  /**
   * One of them. @throws ProbelabError for anything but the numbers 1 to 4.
   * @example
   * severity.of(2).responseTimeText; // "8 h"
   */
  of: severityOf,
  /**
   * The severity that follows from facts; in doubt (`"unknown"`) the higher one; null where no fact
   * is true or in doubt.
   * @throws ProbelabError for a fact that the policy doesn't know.
   * @example
   * severity.suggest({ monitoringOutage: true, downtimeForManyUsers: "unknown" }).severity; // 2
   */
  suggest,
  /**
   * When the response must have begun.
   * @throws ProbelabError for an unknown severity, or a time that can't be read.
   * @example
   * severity.deadline(2, "2026-05-01T12:00:00Z"); // 2026-05-01T20:00:00.000Z
   */
  deadline,
  /**
   * Every demand of the incident's severity and its state at `now` (default the present).
   * @throws ProbelabError for a field that isn't known, and times that can't be read or are out of order.
   * @example
   * severity.checklist({ severity: 1, detectedAt: "2026-05-01T12:00:00Z" }, { now: "2026-05-01T15:00:00Z" });
   */
  checklist,
  /**
   * What is still owed at `now`: the response after its deadline (`overdue`), and what else the
   * severity demands and isn't there (`missing`: the policy gives it no time).
   * @throws ProbelabError as `checklist`.
   * @example
   * severity.overdue({ severity: 1, detectedAt: "2026-05-01T12:00:00Z" }, { now: "2026-05-01T15:00:00Z" });
   */
  overdue(incident: IncidentRecord, options: ChecklistOptions = {}): Demand[] {
    return checklist(incident, options).overdue;
  },
} as const;
