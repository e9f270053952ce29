import { inspect } from "node:util";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import type { SeverityNumber } from "./severities.js";

/** What an operator knows of a fact; `"unknown"` is a doubt that was raised and not yet settled. */
export type Known = boolean | "unknown";

const FACTS = [
  ["seriousSecurityBreach", 1, "Serious security breach"],
  ["seriousDataLoss", 1, "Serious data loss"],
  ["seriousPrivacyLoss", 1, "Serious loss of privacy for users or team members"],
  ["legalRisk", 1, "Legal risk"],
  ["downtimeForManyUsers", 2, "Downtime affecting usability for a significant fraction of users"],
  ["seriousVulnerability", 2, "Serious security vulnerability"],
  ["secondaryServiceDown", 3, "Downtime of secondary services"],
  ["secondaryServicePoor", 3, "Poor performance of secondary services"],
  ["becomesSeverity2In24h", 3, "Becomes a severity 2 event if not handled within 24 hours"],
  ["monitoringOutage", 3, "Outage of monitoring infrastructure"],
  ["needsAttentionIn7d", 4, "Any other event that needs attention within 7 days"],
] as const;

/** The name of a fact of the policy, such as `monitoringOutage`. */
export type FactName = (typeof FACTS)[number][0];

/**
 * What can be said of an event, each fact from the policy's meanings (section 1.1) and nothing
 * else. How serious is serious, and what is a significant fraction, the policy leaves to people.
 *
 * - Severity 1: `seriousSecurityBreach`, `seriousDataLoss`, `seriousPrivacyLoss` (for users or team
 *   members), `legalRisk`.
 * - Severity 2: `downtimeForManyUsers` (for a significant fraction of users, such as probes unable
 *   to submit), `seriousVulnerability`.
 * - Severity 3: `secondaryServiceDown`, `secondaryServicePoor` (performance of secondary services),
 *   `becomesSeverity2In24h` (if not handled), `monitoringOutage`.
 * - Severity 4: `needsAttentionIn7d`.
 */
export type Facts = { readonly [Fact in FactName]?: Known | undefined };

/** The severity of a fact that is true, and the part of section 1.1 that says so. */
export interface FactRule {
  readonly fact: FactName;
  readonly severity: SeverityNumber;
  /** The part of the severity's meaning. */
  readonly rule: string;
}

/** All facts, the highest severity first. */
export const FACT_RULES: readonly FactRule[] = FACTS.map(([fact, severity, rule]) =>
  Object.freeze({ fact, severity, rule }),
);

/** A severity with the facts that it follows from. */
export class SeveritySuggestion {
  /** The highest severity of the facts that are true or in doubt; null where there is none. */
  readonly severity: SeverityNumber | null;
  /** By the facts that are true alone: what is left should every doubt be settled as false. */
  readonly certain: SeverityNumber | null;
  /** The facts that are true, the highest severity first. */
  readonly reasons: readonly FactRule[];
  /** The facts that are `"unknown"`: each counts until it is settled. */
  readonly unsure: readonly FactRule[];
  /** Facts of a higher severity that nobody mentioned: they don't count, but should be looked at. */
  readonly unasked: readonly FactRule[];

  constructor(facts: Facts) {
    const known = (fact: FactName) => (Object.hasOwn(facts, fact) ? facts[fact] : undefined);
    this.reasons = FACT_RULES.filter(({ fact }) => known(fact) === true);
    this.unsure = FACT_RULES.filter(({ fact }) => known(fact) === "unknown");
    this.certain = this.reasons[0]?.severity ?? null;
    const both = FACT_RULES.find((each) => [...this.reasons, ...this.unsure].includes(each));
    this.severity = both?.severity ?? null;
    const above = this.severity ?? 5;
    this.unasked = FACT_RULES.filter(
      ({ fact, severity }) => severity < above && known(fact) === undefined,
    );
  }

  /** A line for the outcome, then a line per fact. */
  toString(): string {
    const { severity, certain, unasked } = this;
    const least = certain === null ? "no severity" : `severity ${certain}`;
    const doubt = severity === certain ? "" : ` in doubt (${least} if every doubt turns out false)`;
    const line = ({ fact, severity: number, rule }: FactRule) => `  ${number}  ${rule} (${fact})`;
    return [
      severity === null
        ? "No severity: none of the facts told is true or in doubt."
        : `Severity ${severity}${doubt}`,
      ...this.reasons.map(line),
      ...this.unsure.map((each) => `${line(each)}: unknown, so it counts`),
      ...(unasked.length > 0
        ? [`Not told, and would be higher: ${unasked.map(({ fact }) => fact).join(", ")}.`]
        : []),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * The severity that follows from what is known of an event, by the meanings of section 1.1.
 *
 * The highest severity of all facts that are true is taken, and "when in doubt about severity, the
 * higher severity is chosen": a fact said to be `"unknown"` is such a doubt and counts as true
 * until it is settled. A fact that isn't mentioned is no doubt (else every event would be of
 * severity 1) and doesn't count; those that would raise the severity are listed in `unasked`.
 * Where nothing is true or in doubt, `severity` is null: an alarm may turn out to be none.
 *
 * @throws ProbelabError for a fact that the policy doesn't know, or another value than true, false,
 *   `"unknown"`.
 * @example
 * suggest({ monitoringOutage: true, downtimeForManyUsers: "unknown" }).severity; // 2
 */
export function suggest(facts: Facts): SeveritySuggestion {
  if (typeof facts !== "object" || facts === null || Array.isArray(facts)) {
    throw new ProbelabError(
      `Can't suggest a severity from ${shownValue(facts)}: pass an object of facts, such as { downtimeForManyUsers: true, seriousDataLoss: "unknown" }.`,
    );
  }
  for (const [fact, value] of Object.entries(facts) as [string, unknown][]) {
    if (!FACT_RULES.some((each) => each.fact === fact)) {
      throw new ProbelabError(
        `Can't suggest a severity from the fact ${shownValue(fact)}: the facts are ${FACT_RULES.map((each) => each.fact).join(", ")}.`,
      );
    }
    if (![true, false, "unknown", undefined].includes(value as Known)) {
      throw new ProbelabError(
        `Can't suggest a severity from ${fact}: ${shownValue(value)}: write true, false or "unknown"; in doubt "unknown", which counts.`,
      );
    }
  }
  return new SeveritySuggestion(facts);
}
