import type { SeverityNumber } from "./severities.js";

/** What an operator knows of a fact; `"unknown"` is a doubt that was raised and not yet settled. */
export type Known = boolean | "unknown";

/**
 * What can be said of an event, each fact from the policy's meanings (section 1.1) and nothing
 * else. How serious is serious, and what is a significant fraction, the policy leaves to people.
 */
export interface Facts {
  /** Severity 1: a serious security breach. */
  readonly seriousSecurityBreach?: Known | undefined;
  /** Severity 1: serious data loss. */
  readonly seriousDataLoss?: Known | undefined;
  /** Severity 1: serious loss of privacy for users or team members. */
  readonly seriousPrivacyLoss?: Known | undefined;
  /** Severity 1: legal risk. */
  readonly legalRisk?: Known | undefined;
  /** Severity 2: downtime affecting usability for a significant fraction of users, for example probes unable to submit. */
  readonly downtimeForManyUsers?: Known | undefined;
  /** Severity 2: a serious security vulnerability. */
  readonly seriousVulnerability?: Known | undefined;
  /** Severity 3: downtime of secondary services. */
  readonly secondaryServiceDown?: Known | undefined;
  /** Severity 3: poor performance of secondary services. */
  readonly secondaryServicePoor?: Known | undefined;
  /** Severity 3: it becomes a severity 2 event if not handled within 24 hours. */
  readonly becomesSeverity2In24h?: Known | undefined;
  /** Severity 3: an outage of monitoring infrastructure. */
  readonly monitoringOutage?: Known | undefined;
  /** Severity 4: any other event that needs attention within 7 days. */
  readonly needsAttentionIn7d?: Known | undefined;
}

export type FactName = keyof Facts;

/** The severity of a fact that is true, and the part of section 1.1 that says so. */
export interface FactRule {
  readonly fact: FactName;
  readonly severity: SeverityNumber;
  /** The part of the severity's meaning. */
  readonly rule: string;
}

/** All facts, the highest severity first. */
export const FACT_RULES: readonly FactRule[] = Object.freeze(
  (
    [
      ["seriousSecurityBreach", 1, "Serious security breach"],
      ["seriousDataLoss", 1, "Serious data loss"],
      ["seriousPrivacyLoss", 1, "Serious loss of privacy for users or team members"],
      ["legalRisk", 1, "Legal risk"],
      [
        "downtimeForManyUsers",
        2,
        "Downtime affecting usability for a significant fraction of users",
      ],
      ["seriousVulnerability", 2, "Serious security vulnerability"],
      ["secondaryServiceDown", 3, "Downtime of secondary services"],
      ["secondaryServicePoor", 3, "Poor performance of secondary services"],
      ["becomesSeverity2In24h", 3, "Becomes a severity 2 event if not handled within 24 hours"],
      ["monitoringOutage", 3, "Outage of monitoring infrastructure"],
      ["needsAttentionIn7d", 4, "Any other event that needs attention within 7 days"],
    ] as const
  ).map(([fact, severity, rule]) => Object.freeze({ fact, severity, rule })),
);
