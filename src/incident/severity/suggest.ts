import { inspect } from "node:util";
import { ProbelabError } from "../../base/error.js";
import { shown } from "../shown.js";
import { FACT_RULES, type FactName, type FactRule, type Facts } from "./facts.js";
import type { SeverityNumber } from "./severities.js";

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

  constructor(reasons: readonly FactRule[], unsure: readonly FactRule[], mentioned: Set<FactName>) {
    this.reasons = reasons;
    this.unsure = unsure;
    this.severity = highest([...reasons, ...unsure]);
    this.certain = highest(reasons);
    const above = this.severity ?? 5;
    this.unasked = FACT_RULES.filter(
      ({ fact, severity }) => severity < above && !mentioned.has(fact),
    );
  }

  /** A line for the outcome, then a line per fact. */
  toString(): string {
    const { severity, certain, unasked } = this;
    const least = certain === null ? "no severity" : `severity ${certain}`;
    const inDoubt =
      severity !== certain ? ` in doubt (${least} if every doubt turns out false)` : "";
    return [
      severity === null
        ? "No severity: none of the facts told is true or in doubt."
        : `Severity ${severity}${inDoubt}`,
      ...this.reasons.map(({ fact, severity, rule }) => `  ${severity}  ${rule} (${fact})`),
      ...this.unsure.map(
        ({ fact, severity, rule }) => `  ${severity}  ${rule} (${fact}): unknown, so it counts`,
      ),
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
      `Can't suggest a severity from ${shown(facts)}: pass an object of facts, such as { downtimeForManyUsers: true, seriousDataLoss: "unknown" }.`,
    );
  }
  for (const [fact, value] of Object.entries(facts)) check(fact, value);
  const given = (value: unknown): FactRule[] =>
    FACT_RULES.filter(({ fact }) => Object.hasOwn(facts, fact) && facts[fact] === value);
  const mentioned = FACT_RULES.map(({ fact }) => fact).filter(
    (fact) => Object.hasOwn(facts, fact) && facts[fact] !== undefined,
  );
  return new SeveritySuggestion(given(true), given("unknown"), new Set(mentioned));
}

function highest(rules: readonly FactRule[]): SeverityNumber | null {
  return rules.reduce<SeverityNumber | null>(
    (least, { severity }) => (least === null || severity < least ? severity : least),
    null,
  );
}

function check(fact: string, value: unknown): void {
  if (!FACT_RULES.some((each) => each.fact === fact)) {
    throw new ProbelabError(
      `Can't suggest a severity from the fact ${shown(fact)}: the facts are ${FACT_RULES.map((each) => each.fact).join(", ")}.`,
    );
  }
  if (value === true || value === false || value === "unknown" || value === undefined) return;
  throw new ProbelabError(
    `Can't suggest a severity from ${fact}: ${shown(value)}: write true, false or "unknown"; in doubt "unknown", which counts.`,
  );
}
