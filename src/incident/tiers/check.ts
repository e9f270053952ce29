import { dependencyViolations, hardDependencyViolations } from "./dependency-rules.js";
import { failoverViolations, redundancyViolations } from "./failover-rules.js";
import type { Graph } from "./graph.js";
import { causedSeverities, hardDependents, reclassify } from "./reclassify.js";
import { TierReport, type BrokenRule } from "./report.js";
import { reviewsOf } from "./reviews.js";
import { ruleName } from "./rules.js";
import { severityViolations } from "./severity-rule.js";
import { preProductionViolations, stageViolations } from "./stage-rules.js";
import type { Situation, Violation } from "./violation.js";

const RULES = [
  severityViolations,
  preProductionViolations,
  dependencyViolations,
  hardDependencyViolations,
  stageViolations,
  failoverViolations,
  redundancyViolations,
];

/** Checks a graph against section 1.3, reclassifies to a fixed point, and tells the reviews of 1.4. */
export function checkGraph(graph: Graph): TierReport {
  const caused = causedSeverities(graph);
  const { tiers, reclassified } = reclassify(graph, caused);
  const shared = { graph, caused, dependents: hardDependents(graph) };
  const written: Situation = {
    ...shared,
    tiers: new Map([...graph.components.values()].map(({ name, tier }) => [name, tier])),
    reclassified: new Map(),
  };
  const resulting: Situation = {
    ...shared,
    tiers,
    reclassified: new Map(reclassified.map((each) => [each.component, each])),
  };
  const [before, after] = [violations(written), violations(resulting)];
  const broken = [...new Set([...before.keys(), ...after.keys()])].flatMap((key): BrokenRule[] => {
    // As it stands after all is reclassified, where that changes it.
    const violation = after.get(key) ?? before.get(key);
    if (violation === undefined) return [];
    const { rule, component, path, message, remedy } = violation;
    return [
      {
        rule,
        name: ruleName(rule),
        component,
        path,
        message,
        remedy: after.has(key) ? remedy : "Reclassify as told below.",
        written: before.has(key),
        resulting: after.has(key),
      },
    ];
  });
  broken.sort(
    (a, b) =>
      a.rule - b.rule ||
      compare(a.component, b.component) ||
      compare(a.path.join("\n"), b.path.join("\n")) ||
      compare(a.message, b.message),
  );
  return new TierReport(graph, broken, reclassified, reviewsOf(graph, tiers));
}

/** What is broken, by what it is told apart by in both situations. */
function violations(situation: Situation): Map<string, Violation> {
  const found = RULES.flatMap((rule) => rule(situation));
  // The path of rule 3 is one of reclassification; the ends and the sentence's verb tell others.
  return new Map(
    found.map((each) => [
      JSON.stringify([
        each.rule,
        each.component,
        each.rule === 3 ? "" : each.path,
        each.rule === 7 ? each.message : "",
      ]),
      each,
    ]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
