import { inspect } from "node:util";
import { checkOptions, type Rule } from "../../base/check-options.js";
import { checklist } from "./checklist.js";
import { SEVERITIES, severityOf, type SeverityNumber } from "./severities.js";

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

type FactName = (typeof FACTS)[number][0];

/** What is known of an event, by the parts of section 1.1. `"unknown"` is a doubt not yet settled. */
export type Facts = { readonly [Fact in FactName]?: boolean | "unknown" | undefined };

/** A fact with the severity that it makes an event. */
export interface Fact {
  readonly fact: FactName;
  readonly severity: SeverityNumber;
  /** The part of the severity's meaning. */
  readonly meaning: string;
}

/** The severity that follows from facts; the lists have the highest severity first. */
export class SeveritySuggestion {
  /** The highest severity of the facts that are true or in doubt; null where there is none. */
  readonly severity: SeverityNumber | null;
  /** The severity if every doubt turns out false. */
  readonly certain: SeverityNumber | null;
  /** The facts that are true. */
  readonly reasons: readonly Fact[];
  /** The facts in doubt, which count until they are settled. */
  readonly doubts: readonly Fact[];
  /** Facts that weren't given and would raise the severity. */
  readonly open: readonly Fact[];

  constructor(facts: Facts) {
    const all = FACTS.map(([fact, severity, meaning]): Fact => ({ fact, severity, meaning }));
    const reasons = all.filter(({ fact }) => facts[fact] === true);
    const doubts = all.filter(({ fact }) => facts[fact] === "unknown");
    const counting = all.find((each) => reasons.includes(each) || doubts.includes(each));
    this.severity = counting?.severity ?? null;
    this.certain = reasons[0]?.severity ?? null;
    this.reasons = reasons;
    this.doubts = doubts;
    this.open = all.filter(
      ({ fact, severity }) => severity < (this.severity ?? 5) && facts[fact] === undefined,
    );
  }

  toString(): string {
    const { severity, certain, reasons, doubts, open } = this;
    const least = certain === null ? "no severity" : `severity ${certain}`;
    const line = ({ fact, severity: number, meaning }: Fact) => `  ${number}  ${meaning} (${fact})`;
    return [
      severity === null
        ? "No severity: no fact is true or in doubt."
        : `Severity ${severity}${severity === certain ? "" : ` in doubt (${least} if every doubt turns out false)`}`,
      ...reasons.map(line),
      ...doubts.map((each) => `${line(each)}: unknown, so it counts`),
      ...(open.length > 0
        ? [`Not given, and would be higher: ${open.map(({ fact }) => fact).join(", ")}.`]
        : []),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

const known: Rule = {
  fits: (value) => [true, false, "unknown"].includes(value as boolean),
  pass: 'true, false or "unknown"; in doubt "unknown", which counts',
};

export const severity = Object.assign(severityOf, {
  /** The four severities, the highest (1) first. */
  all: SEVERITIES,

  /**
   * The severity that follows from facts, by the meanings of section 1.1. "When in doubt about severity,
   * the higher severity is chosen": a fact that is `"unknown"` counts until it is settled. A fact that
   * isn't given doesn't count, or every event would be of severity 1.
   *
   * @throws ProbelabError for a fact that the policy doesn't know.
   * @example
   * severity.suggest({ monitoringOutage: true, downtimeForManyUsers: "unknown" }).severity; // 2
   */
  suggest(this: void, facts: Facts): SeveritySuggestion {
    const rules = Object.fromEntries(FACTS.map(([fact]) => [fact, known]));
    checkOptions(facts ?? null, rules, "suggest a severity");
    return new SeveritySuggestion(facts);
  },

  checklist,
});
